"""Names without a value: what would have given one to a name for want of which a line fails, and did not.

Of `cannot access local variable 'rate'` it is the branch not taken, the line that raised, the `del`; of `name 'rate' is
not defined` the line of the module that comes later.
"""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.absences.failed_write_edges import FailedWriteEdges
from trio_debugmcp.runs.slicing.absences.unraised_edges import UnraisedEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement

_MOST_WRITERS = 4

_MOST_FRAMES = 20
"""Of a function in which a name of it would have been written: the last ones."""

_LINES = frozenset({rows.LINE})


class UnboundEdges:
    """The edges to what has left a name of one process without a value."""

    def __init__(
        self,
        past: PastProcess,
        decisions: Decisions,
        unraised: UnraisedEdges,
        failed_writes: FailedWriteEdges,
    ) -> None:
        self._past = past
        self._record = past.record
        self._decisions = decisions
        self._unraised = unraised
        self._failed_writes = failed_writes

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield what has given no value to the name for want of which a statement raised."""
        name = self._past.executions.unbound(execution.row)
        home = execution.scope.home(name) if name else None
        if home is not None and home is execution.scope:
            yield from self._of_local(execution, name)
        elif name:
            yield from self._of_outer(execution, home or execution.scope.module, name)

    # --- A name of the function itself --------------------------------------------------------------------------------

    def _of_local(self, execution: StatementExecution, name: str) -> Iterator[SliceEdge]:
        gone = self._past.values.name(execution, name, execution.row)
        if gone is not None and self._record.row(gone.row).text == rows.DELETED:
            yield SliceEdge(cost.COPY, SliceNode(gone.owner), f"{name} has no value after it")
            return
        yield from self._failed_writes.of_name(execution, name, 0)
        writers = [writer for writer in execution.scope.writers(name) if not _deletes(writer)]
        has_said = False
        for writer in writers[:_MOST_WRITERS]:
            for edge in self._of_writer(execution, writer, execution.frame, name):
                has_said = True
                yield edge
        yield SliceEdge(0.0, SliceNode(execution.row), _note_on(execution, name, writers, has_said))

    def _of_writer(
        self, execution: StatementExecution, writer: Statement, frame: int, name: str
    ) -> Iterator[SliceEdge]:
        """Yield what decided against a statement that would have given a name its value."""
        run = self._past.executions.last_run(writer, frame, execution.row)
        if run is not None:
            if writer.is_loop and self._past.blocks.entered(run) is False:
                yield SliceEdge(cost.ABSENCE, SliceNode(run.row), f"has no round, so {name} is not set")
            elif isinstance(writer.node, ast.ExceptHandler) and self._past.blocks.entered(run):
                yield SliceEdge(cost.ABSENCE, SliceNode(run.row), f"{name} has no value after its block")
            return
        skipped = self._else_of(writer, frame, execution.row)
        own = 0 if frame == execution.frame else frame
        decided = skipped or self._decisions.against(writer, execution, 0, own)
        if decided is not None:
            yield from self._decisions.not_reached(decided, f"so {name} is not set at line {writer.first}")
        else:
            yield from self._unraised.of_handler(writer, execution, frame)

    def _else_of(self, writer: Statement, frame: int, before: int) -> StatementExecution | None:
        """Return the line whose exception has led past the `else` in which a statement is."""
        for inner in (writer, *writer.outer()):
            if inner.branch == "orelse" and inner.parent is not None and isinstance(inner.parent.node, ast.Try):
                runs = [
                    self._past.executions.last_run(part, frame, before)
                    for body in inner.parent.block("body")
                    for part in (body, *body.all_inner())
                ]
                failed = [run for run in runs if run is not None and self._past.executions.raised(run.row) is not None]
                return max(failed, key=lambda run: run.row, default=None)
        return None

    # --- A name of a function around it, or of the module -------------------------------------------------------------

    def _of_outer(self, execution: StatementExecution, home: SourceScope, name: str) -> Iterator[SliceEdge]:
        frames = self._past.scopes.frames([home])[-_MOST_FRAMES:]
        writers = home.writers(name)
        for frame in frames[-1:]:
            for writer in writers[:_MOST_WRITERS]:
                yield from self._of_writer(execution, writer, frame, name)
        later = [writer for writer in writers if not self._has_run(writer, frames, execution.row)]
        if later and len(later) == len(writers):
            where = "the module" if home.parent is None else home.name.rpartition(".")[2]
            yield SliceEdge(0.0, SliceNode(execution.row), f"{where} sets {name} at line {later[0].first}, not run yet")
            under_way = self._record.back_of(_LINES, frames[-1], execution.row) if frames else 0
            if under_way:  # what the module was at
                yield SliceEdge(cost.COPY, SliceNode(under_way, aim="run"))
        elif not writers:
            yield from self._of_namesakes(execution, name)

    def _has_run(self, writer: Statement, frames: list[int], before: int) -> bool:
        return any(self._past.executions.last_run(writer, frame, before) is not None for frame in frames)

    def _of_namesakes(self, execution: StatementExecution, name: str) -> Iterator[SliceEdge]:
        """Yield lines of other functions and of classes that set a name which is not seen from here."""
        for scope in self._past.mentions.binding(name)[:_MOST_WRITERS]:
            if scope.module is not execution.scope.module or name in scope.parameters:
                continue
            what = f"the class {scope.name}" if isinstance(scope.node, ast.ClassDef) else scope.name
            for writer in scope.writers(name)[-1:]:
                runs = [
                    self._past.executions.last_run(writer, frame, execution.row)
                    for frame in self._past.scopes.frames([scope])[-1:]
                ]
                for run in (run for run in runs if run is not None):
                    yield SliceEdge(cost.NAMESAKE, SliceNode(run.row), f"is {name} of {what} alone")


def _note_on(execution: StatementExecution, name: str, writers: list[Statement], has_said: bool) -> str:
    """Return why a name is one of the function, and where it would get its value."""
    later = [writer for writer in writers if writer.first >= execution.statement.first]
    if not later or (has_said and len(later) < len(writers)):
        return ""
    line = later[0].first
    own = "this very line" if line == execution.statement.first else f"line {line}"
    module = execution.scope.module
    others = [writer for writer in module.writers(name) if writer.scope is not execution.scope]
    another = f", and not that of line {others[-1].first}" if others else ""
    return f"{own} sets {name}, which makes it a name of {execution.scope.name.rpartition('.')[2]} alone{another}"


def _deletes(writer: Statement) -> bool:
    return isinstance(writer.node, ast.Delete)
