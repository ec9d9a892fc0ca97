"""`Decisions`: what decided that a statement did not run: a condition, a loop, an exception, an early return."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import Statement


class Decisions:
    """The decisions of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def not_reached(self, decided: StatementExecution, note: str) -> Iterator[SliceEdge]:
        """Yield the line that decided against another one; where it raised, also what kept the exception."""
        yield SliceEdge(cost.ABSENCE, SliceNode(decided.row), note)
        kept = self._past.executions.ended(decided.row) if self._past.executions.raised(decided.row) else 0
        keeper = self._past.executions.at(kept) if kept and kept <= self._record.last else None
        if keeper is not None and keeper.frame == decided.frame and self._has_kept(keeper):
            does = "caught" if isinstance(keeper.statement.node, ast.ExceptHandler) else "suppressed"
            yield SliceEdge(cost.ABSENCE, SliceNode(keeper.row, aim="run"), f"{does} its exception")

    def _has_kept(self, keeper: StatementExecution) -> bool:
        """Whether an exception has ended at a handler or a `with`: a `finally` passes it on, as others of them may."""
        if isinstance(keeper.statement.node, ast.ExceptHandler):
            return self._past.blocks.entered(keeper) is True
        after = self._past.executions.ended(keeper.row)
        is_left = after > self._record.last or self._record.row(after).kind == rows.UNWIND
        return isinstance(keeper.statement.node, ast.With | ast.AsyncWith) and not is_left

    def against(
        self, writer: Statement, use: StatementExecution, since: int, frame: int = 0
    ) -> StatementExecution | None:
        """Return the run of the innermost statement around a writer that has run, and has not led to it."""
        above = set(map(id, use.statement.outer())) if not frame else set()
        failed = self._failed_before(writer, frame or use.frame, use.row)
        if failed is not None:
            return failed if failed.row > since else None
        for outer in writer.outer():
            if id(outer) in above or outer is use.statement:
                return None
            failed = self._failed_before(outer, frame or use.frame, use.row) if _is_entered(outer) else None
            if failed is not None:
                return failed if failed.row > since else None
            if not isinstance(outer.node, ast.If | ast.For | ast.AsyncFor | ast.While | ast.Match | ast.ExceptHandler):
                continue
            run = self._past.executions.last_run(outer, frame or use.frame, use.row)
            if run is not None:
                left = self._left_before(writer, outer, frame or use.frame, use.row)
                if left is not None and left.row > since:
                    return left
                is_recent = run.row > since or isinstance(outer.node, ast.If | ast.Match)
                return run if is_recent and not self._leads_to(run, writer, use) else None
        return self._left_before(writer, None, frame, use.row) if frame else None

    def in_round(self, writer: Statement, loop: Statement, frame: int, round_: range) -> StatementExecution | None:
        """Return the run of what kept a statement from running in a round of its loop; None: it has run, or nothing.

        `round_`: the rows of the round, from what its header wrote on.
        """
        ran = self._past.executions.last_run(writer, frame, round_.stop)
        if ran is not None and ran.row > round_.start:
            return None
        inner: Statement | None = writer
        while inner is not None and inner is not loop:
            around = inner.parent if inner.parent is not loop else None
            for decision in [*reversed(inner.before), *([around] if around is not None else [])]:
                run = self._past.executions.last_run(decision, frame, round_.stop)
                if run is not None and run.row > round_.start and self._keeps_out(run, is_around=decision is around):
                    return run
            if around is not None and isinstance(around.node, ast.ExceptHandler) and around.parent is not None:
                parts = around.parent.block("body")
                runs = [self._past.executions.last_run(part, frame, round_.stop) for part in parts]
                completed = [run for run in runs if run is not None and run.row > round_.start]
                return completed[-1] if completed else None
            inner = inner.parent
        return None

    def _keeps_out(self, run: StatementExecution, *, is_around: bool) -> bool:
        """Whether a statement has led past what is in it, or behind it in its block."""
        if is_around:
            return isinstance(run.statement.node, ast.If | ast.Match)
        has_left = any(inner.leaves for inner in run.statement.all_inner()) or run.statement.leaves
        return isinstance(run.statement.node, ast.If) and has_left and self._past.blocks.entered(run) is True

    def _left_before(
        self, writer: Statement, around: Statement | None, frame: int, before: int
    ) -> StatementExecution | None:
        """Return the run of a condition before a statement, in the blocks up to one, that has left them last."""
        inner: Statement | None = writer
        while inner is not None and inner is not around:
            for guard in reversed(inner.before):
                handlers = [part for part in guard.all_inner() if isinstance(part.node, ast.ExceptHandler)]
                for decision in [guard] if isinstance(guard.node, ast.If) else handlers:
                    ran = [
                        self._past.executions.last_run(leaf, frame, before)
                        for leaf in decision.all_inner()
                        if leaf.leaves
                    ]
                    last = max((run.row for run in ran if run is not None), default=0)
                    run = self._past.executions.last_run(decision, frame, last) if last else None
                    if run is not None:
                        return run
            inner = inner.parent
        return None

    def _leads_to(self, run: StatementExecution, writer: Statement, use: StatementExecution) -> bool:
        """Whether a condition has gone the way on which a statement is: then it decided nothing against it."""
        inner = writer
        while inner.parent is not None and inner.parent is not run.statement:
            inner = inner.parent
        if isinstance(run.statement.node, ast.ExceptHandler):
            return self._past.blocks.entered(run) is not False
        if isinstance(run.statement.node, ast.Match):  # the first line of the case has run since
            begun = [self._past.executions.last_run(first, run.frame, use.row + 1) for first in inner.inner[:1]]
            return any(first is not None and first.row > run.row for first in begun)
        return self._past.blocks.entered(run) in (None, inner.branch == "body")

    def _failed_before(self, writer: Statement, frame: int, before: int) -> StatementExecution | None:
        """Return the run of the statement before one in its block, if an exception left the block there."""
        for earlier in writer.before[-1:]:
            run = self._past.executions.last_run(earlier, frame, before)
            raised = self._past.executions.raised(run.row) if run is not None else None
            if raised is not None and raised.number < before:  # it may be under way, and raise for what is asked about
                return run
        return None


def _is_entered(statement: Statement) -> bool:
    """Whether what is in a block runs wherever the statement does."""
    return isinstance(statement.node, ast.With | ast.AsyncWith)
