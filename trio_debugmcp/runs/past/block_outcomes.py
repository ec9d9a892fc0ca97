"""`BlockOutcomes`: whether the blocks of conditions, loops and handlers were entered.

    blocks.entered(execution)           # True, False; None: the record does not tell

A block on lines of its own has events of its own. One on the line of its head (`except KeyError: pass`) has none: there
what it has done, and what ran next, tell, or the recorded values of the condition; where they do not, it is not known.
"""

import ast
from collections.abc import Iterable

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord, Row
from trio_debugmcp.runs.past.executions import StatementExecution, StatementExecutions, next_event
from trio_debugmcp.runs.past.recorded_conditions import ConditionError, RecordedCondition
from trio_debugmcp.runs.past.recorded_values import RecordedValues
from trio_debugmcp.runs.source.read_paths import ValuePath, calls_in
from trio_debugmcp.runs.source.source_scopes import Statement
from trio_debugmcp.runs.source.statement_trees import heads_of, names_written

_CAUGHT_BY_ALL = frozenset({"BaseException"})

_NOT_OF_EXCEPTION = frozenset({"KeyboardInterrupt", "SystemExit", "GeneratorExit", "CancelledError", "Cancelled"})

_QUIET = (ast.Pass, ast.Break, ast.Continue)
"""What a block can be that raises nothing."""

_RAISES = frozenset({rows.RAISE})


class BlockOutcomes:
    """Which blocks of one process were entered: a way to see it for each kind of statement, hence so many methods."""

    def __init__(self, record: ProcessRecord, executions: StatementExecutions, values: RecordedValues) -> None:
        self._record = record
        self._executions = executions
        self._values = values

    def entered(self, execution: StatementExecution) -> bool | None:
        """Return whether the block of a condition, loop or handler was entered; None: the record does not tell."""
        if len(execution.statement.nodes) > 1:
            after = next_event(self._record, execution.row)
            following = self._executions.at(after) if after else None
            return self._on_one_line(execution, self._record.row(after) if after else None, following)
        over = self._executions.over(execution)  # an `await` in a condition may leave the frame, and decides nothing
        if over > self._record.last:
            return None
        following = self._executions.at(over)
        if following is None or following.frame != execution.frame:
            return False
        statement: Statement | None = following.statement
        while statement is not None and statement.parent is not execution.statement:
            statement = statement.parent
        return statement is not None and statement.branch in ("body", "cases")

    def _on_one_line(
        self, execution: StatementExecution, after: Row | None, following: StatementExecution | None
    ) -> bool | None:
        node, statement = execution.statement.node, following.statement if following is not None else None
        if isinstance(node, ast.ExceptHandler):
            return self._of_handler(execution, after, statement)
        if isinstance(node, ast.If):
            return self._of_condition(execution, after, statement)
        if isinstance(node, ast.While):  # all of its rounds are one row
            has_left = any(isinstance(inner, ast.Break | ast.Return) for inner in execution.statement.nodes)
            is_known = after is not None and after.kind in (rows.LINE, rows.RETURN)
            return False if is_known and not has_left and not self._executions.raised(execution.row) else None
        has_returned = any(isinstance(inner, ast.Return) for inner in execution.statement.nodes)
        is_left = has_returned and self._executions.ending(execution.row) is not None
        return bool(self._executions.effects(execution.row)) or is_left

    # --- Handlers -----------------------------------------------------------------------------------------------------

    def _of_handler(self, execution: StatementExecution, after: Row | None, following: Statement | None) -> bool | None:
        """One that does not catch is followed by another handler, or the exception leaves the frame."""
        handler = execution.statement
        is_quiet = all(isinstance(inner, _QUIET) or _returns_plainly(inner) for inner in handler.nodes[1:])
        if after is None:
            return self._names_it(execution)
        if after.kind != rows.LINE:
            return (
                self._names_it(execution) if after.kind == rows.UNWIND and not is_quiet else after.kind != rows.UNWIND
            )
        is_handler = following is not None and isinstance(following.node, ast.ExceptHandler)
        if following is None or (is_handler and following.parent is not handler.parent and not is_quiet):
            return self._names_it(execution)
        if is_handler:
            return False
        return self._names_it(execution) if _runs_anyway(following, handler) else True

    def _names_it(self, execution: StatementExecution) -> bool | None:
        """Whether the exception is of a type that a handler names; None: it may be of one of its bases."""
        node = execution.statement.node
        caught = node.type if isinstance(node, ast.ExceptHandler) else None
        if caught is None:
            return True
        number = self._record.back_of(_RAISES, execution.frame, execution.row)
        name = _type_of(self._record.text(self._record.row(number))) if number else ""
        parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
        names = {getattr(part, "id", getattr(part, "attr", "")) for part in parts}
        if "Exception" in names and name and name not in _NOT_OF_EXCEPTION:
            return True
        return True if name in names or names & _CAUGHT_BY_ALL else None

    # --- Conditions ---------------------------------------------------------------------------------------------------

    def _of_condition(
        self, execution: StatementExecution, after: Row | None, following: Statement | None
    ) -> bool | None:
        """By what the block did, by what ran next, and else by the condition's values."""
        statement = execution.statement
        raised = self._executions.raised(execution.row)
        if self._has_done(execution):
            return True
        if raised is not None:
            return True if _type_of(self._record.text(raised)) in _raised_by(statement.nodes[-1]) else None
        if following is not None and statement.block("orelse"):
            return not _is_in(following, statement, "orelse")
        is_open = following is not None and _runs_anyway(following, statement)
        known = None if is_open else self._by_next(execution, after, following)
        return self._judged(execution) if known is None else known

    def _has_done(self, execution: StatementExecution) -> bool:
        """Whether a line has written, called or yielded what its block alone does."""
        test, block = execution.statement.nodes[0], execution.statement.nodes[1:]
        written, inner_calls = _written(block) - _written([test]), _called(block) - _called([test])
        for effect in self._executions.effects(execution.row):
            label = self._record.label(effect.key)
            if label in written or (effect.kind == rows.FIELD and not _calls(test)):
                return True
        for start in self._executions.calls(execution.row):
            if self._record.code(start.key).name.rpartition(".")[2] in inner_calls:
                return True
        ending = self._executions.ending(execution.row)
        return ending is not None and ending.kind == rows.RETURN and self._record.text(ending) != "None"

    def _by_next(self, execution: StatementExecution, after: Row | None, following: Statement | None) -> bool | None:
        """Return what the next event shows of a block that leaves; None: it may come in both cases."""
        statement, last = execution.statement, execution.statement.nodes[-1]
        loop = next((outer for outer in statement.outer() if outer.is_loop), None)
        if after is None:
            return None
        if isinstance(last, ast.Return):
            return False if after.kind == rows.LINE else True if _has_more(statement, None) else None
        if isinstance(last, ast.Raise):
            return False
        if isinstance(last, ast.Break) and loop is not None:
            return following is None or not _is_in(following, loop, "body", itself=True)
        if isinstance(last, ast.Continue) and loop is not None:
            if following is not loop:
                return False
            return True if _has_more(statement, loop) else None
        return None

    def _judged(self, execution: StatementExecution) -> bool | None:
        """Return what a condition gives for the values that its line has read."""
        test = getattr(execution.statement.node, "test", None)
        if not isinstance(test, ast.expr):
            return None
        try:
            return RecordedCondition(ast.unparse(test)).held(lambda path: self._text(execution, path))
        except ConditionError:
            return None

    def _text(self, execution: StatementExecution, path: ValuePath) -> str | None:
        value = self._values.value(execution, path)
        return None if value is None else self._values.text_at(value, self._executions.settled(execution.row))


def _returns_plainly(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and (node.value is None or isinstance(node.value, ast.Constant | ast.Name))


def _type_of(text: str) -> str:
    """Return the name of the type of a recorded exception: of `KeyError('a')` this is `KeyError`."""
    return text.partition("(")[0]


def _raised_by(node: ast.AST) -> set[str]:
    """Return the name of what a statement raises, if it is one that does nothing else."""
    raised = node.exc if isinstance(node, ast.Raise) else None
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return {getattr(raised, "id", getattr(raised, "attr", ""))} - {""}


def _is_in(statement: Statement, outer: Statement, branch: str, *, itself: bool = False) -> bool:
    """Whether a statement is in a block of another one, or that one itself."""
    inner: Statement | None = statement
    while inner is not None and inner.parent is not outer:
        inner = inner.parent
    return (itself and statement is outer) or (inner is not None and inner.branch == branch)


def _runs_anyway(following: Statement, before: Statement) -> bool:
    """Whether a statement runs however a block around another one is left: the end of a `with`, a `finally`."""
    if isinstance(following.node, ast.With | ast.AsyncWith) and following in before.outer():
        return True
    around = [*before.outer()]
    return any(inner.branch == "finalbody" and inner.parent in around for inner in (following, *following.outer()))


def _has_more(statement: Statement, loop: Statement | None) -> bool:
    """Whether there is a line behind a statement that runs where it does not leave; of a loop: in its block."""
    inner: Statement | None = statement
    while inner is not None and inner is not loop:
        if inner.is_loop:  # its head comes again
            return True
        around = inner.parent
        siblings = around.inner if around is not None else inner.scope.body.own
        if any(other.branch == inner.branch and inner in other.before for other in siblings):
            return True
        inner = around
    return False


def _written(nodes: Iterable[ast.AST]) -> set[str]:
    return {name for node in nodes for name in names_written(node)}


def _calls(node: ast.AST) -> list[ast.Call]:
    return calls_in(*heads_of(node))


def _called(nodes: Iterable[ast.AST]) -> set[str]:
    calls = [call for node in nodes for call in _calls(node)]
    return {getattr(call.func, "id", getattr(call.func, "attr", "")) for call in calls}
