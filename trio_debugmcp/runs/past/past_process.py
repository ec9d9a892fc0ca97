"""`PastProcess`: a recorded process as statements that ran and values that were, and which written call each was.

    call_of(past, execution, start)             # the call in a statement that has called the function of a START row
    path, ending = computed(past, execution)[0]     # `order.gross`, and the RETURN row of Order.gross

A read of an attribute that code of the program computes is a call of its getter; which functions are getters is known
from their decorators. The class of an object is known by the text that it had as a value.
"""

import ast
import re
from functools import lru_cache

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord, Row
from trio_debugmcp.runs.files.word_search import last_value_of
from trio_debugmcp.runs.past.block_outcomes import BlockOutcomes
from trio_debugmcp.runs.past.executions import StatementExecution, StatementExecutions
from trio_debugmcp.runs.past.recorded_scopes import RecordedScopes
from trio_debugmcp.runs.past.recorded_values import RecordedValues, type_name
from trio_debugmcp.runs.past.source_mentions import SourceMentions
from trio_debugmcp.runs.source.read_paths import ValuePath
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement
from trio_debugmcp.runs.source.statement_trees import defaults_of

_NEAR = 64
"""Rows before one about an object, in which most calls of its methods have it as their first argument."""

_WITH_VALUE = frozenset((rows.WRITE, rows.FIELD, rows.SEEN, rows.GAP, rows.SEEN_NAME, rows.RETURN, rows.RAISE))


_MOST_KEPT = 50_000


class RecordedClasses:
    """The classes of the objects of one record.

    Attributes:
        of: `_of`, of which the answers are kept: questions about many objects go through them twice.
    """

    def __init__(self, record: ProcessRecord) -> None:
        self._record = record
        self.of = lru_cache(_MOST_KEPT)(self._of)

    def _of(self, number: int, near: int = 0) -> str | None:
        """Return the name of the class of an object, from the text that it had as a value; None: it is not known.

        Of a class it is its own name: `Till.count` is stored in it, whatever a line calls it (`cls`, `type(self)`).
        `near`: a row about it: of thousands of objects only those that are not named there are looked for in the
        record.
        """
        record = self._record
        row = last_value_of(record.rows, number, near, _NEAR) if near else 0
        if not row or record.rows.word(row, 0) >> 60 not in _WITH_VALUE:
            row = record.forth_of(_WITH_VALUE, number, 0, by_value=True)
        return _class_in(record.text(row)) if row else None


@lru_cache(1000)
def _class_in(text: str) -> str | None:
    found = re.match(r"<?(?:class )?(\w+)", text)
    return None if found is None else found[1]


class PastProcess:
    """One recorded process.

    Attributes:
        record: its rows.
        scopes: its code as scopes of sources.
        mentions: where these call, store and pass on what has some name.
        executions: its statements as they ran.
        values: what names, attributes and items were.
        blocks: whether the blocks of conditions, loops and handlers were entered.
        classes: of its objects.
    """

    def __init__(self, record: ProcessRecord) -> None:
        self.record = record
        self.scopes = RecordedScopes(record)
        self.mentions = SourceMentions(record, self.scopes)
        self.executions = StatementExecutions(record, self.scopes)
        self.values = RecordedValues(record, self.scopes, self.executions)
        self.blocks = BlockOutcomes(record, self.executions, self.values)
        self.classes = RecordedClasses(record)


MAKERS = ("__init__", "__new__", "__post_init__")
"""Methods that are called where a class is."""


def call_of(past: PastProcess, execution: StatementExecution, start: Row) -> ast.Call | None:
    """Return the call in a statement that has called a function; None where none is written, or several fit."""
    calls = calls_of(past, execution, start)
    return calls[0] if len(calls) == 1 else None


def calls_of(past: PastProcess, execution: StatementExecution, start: Row) -> list[ast.Call]:
    """Return the calls in a statement that may have called a function: one, if each was made once, in their order."""
    named = _named(past, execution, start)
    if len(named) < 2 or start.kind != rows.START or not _are_made_once(execution.statement, named):
        return named
    if past.executions.has_more_calls(execution.row):
        return named
    starts = [other for other in past.executions.calls(execution.row) if other.kind == rows.START]
    places = [other.number for other in starts if _named(past, execution, other) == named]
    return [named[places.index(start.number)]] if len(places) == len(named) else named


def _named(past: PastProcess, execution: StatementExecution, start: Row) -> list[ast.Call]:
    """Return the calls in a statement that have the name of a function, or are the only ones that can be it."""
    name = past.record.code(start.key).name.rpartition(".")[2]
    if name == "<genexpr>":
        return []
    names = {name}
    if name in MAKERS:
        own = past.values.parameter(start, "self")
        made = type_name(own.text) if own is not None else ""
        names = {past.record.code(start.key).name.rpartition(".")[0].rpartition(".")[2], made, "cls"}
    calls = execution.statement.calls
    named = [call for call in calls if called(call) in names]
    is_decorated = bool(getattr(execution.statement.node, "decorator_list", ()))  # the interpreter calls decorators
    is_unwritten = is_decorated or attribute_of(past, execution, start) is not None
    return named if named or is_unwritten or not _is_only(calls, name) else calls


def attribute_of(past: PastProcess, execution: StatementExecution, start: Row) -> ast.Attribute | None:
    """Return the one attribute in a statement that a call of its getter has read; None: there is none, or several."""
    scope = past.scopes.of_code(start.key)
    if scope is None or not is_getter(scope):
        return None
    name = past.record.code(start.key).name.rpartition(".")[2]
    parts = (part for head in execution.statement.heads for part in ast.walk(head))
    read = [part for part in parts if isinstance(part, ast.Attribute) and part.attr == name]
    return read[0] if len(read) == 1 else None


def _are_made_once(statement: Statement, calls: list[ast.Call]) -> bool:
    """Whether a run of a statement makes each of some calls once, if nothing is raised: none depends on a value."""
    return not any(depends_on_value(call, *statement.heads) for call in calls)


def depends_on_value(call: ast.expr, *expressions: ast.AST) -> bool:
    """Whether expressions make a call as often as values say, if at all."""
    parts = [part for head in expressions for node in ast.walk(head) for part in _as_values_say(node)]
    return any(inner is call for part in parts for inner in ast.walk(part))


def _as_values_say(node: ast.AST) -> list[ast.AST]:
    """Return those parts of an expression that are evaluated as often as values say, if at all."""
    if isinstance(node, ast.BoolOp):
        return [*node.values[1:]]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Lambda):
        return [node.body]
    if isinstance(node, ast.Compare):
        return [*node.comparators[1:]]
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        children = [node, *node.generators]
        parts = [part for child in children for part in ast.iter_child_nodes(child)]
        return [part for part in parts if part not in node.generators and part is not node.generators[0].iter]
    return []


def argument(past: PastProcess, execution: StatementExecution, start: Row, name: str) -> list[ast.expr] | None:
    """Return the expressions that a parameter was given by a call; empty for its default; None: not known."""
    call, scope = call_of(past, execution, start), past.scopes.of_code(start.key)
    if scope is not None and isinstance(scope.node, ast.GeneratorExp):
        return [scope.node.generators[0].iter]
    parameters = scope.parameters if scope is not None else past.record.code(start.key).params
    if call is None or name not in parameters:
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return [keyword.value]
    starred = [argument for argument in call.args if isinstance(argument, ast.Starred)]
    spread = [keyword.value for keyword in call.keywords if keyword.arg is None]
    if starred or spread:
        return [*starred, *spread]
    if scope is None:  # generated, like the `__init__` of a data class
        return _at_place(call, parameters.index(name) - (parameters[0] == "self"))
    given = _by_place(call, scope, name) if _is_complete(call, scope) else None
    return given if given != [] or _may_be_default(past, start, scope, name) else None


def _by_place(call: ast.Call, scope: SourceScope, name: str) -> list[ast.expr] | None:
    node = scope.node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return None
    arguments = node.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg and arguments.vararg.arg == name:
        return list(call.args[len(positional) :]) or None
    if arguments.kwarg and arguments.kwarg.arg == name:
        return [keyword.value for keyword in call.keywords] or None
    if name not in positional:
        return []
    return _at_place(call, positional.index(name) - _is_bound(call, scope))


def _is_complete(call: ast.Call, scope: SourceScope) -> bool:
    """Whether a call gives all that has no default; if not, what it calls has made the call of the function."""
    arguments = getattr(scope.node, "args", None)
    if not isinstance(arguments, ast.arguments):
        return False
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    keywords = {keyword.arg for keyword in call.keywords}
    left = positional[_is_bound(call, scope) + len(call.args) :]
    left += [argument.arg for argument in arguments.kwonlyargs]
    defaults = defaults_of(scope.node)
    return all(name in defaults or name in keywords for name in left)


def _may_be_default(past: PastProcess, start: Row, scope: SourceScope, name: str) -> bool:
    """Whether a parameter has a default, and had no other value than that when the function was called."""
    default, had = defaults_of(scope.node).get(name), past.values.parameter(start, name)
    if not isinstance(default, ast.Constant) or not isinstance(default.value, int | None) or had is None:
        return default is not None
    return had.text == repr(default.value)


def _at_place(call: ast.Call, place: int) -> list[ast.expr] | None:
    if place < 0:
        return [call.func.value] if isinstance(call.func, ast.Attribute) else None
    return [call.args[place]] if place < len(call.args) else []


def _is_bound(call: ast.Call, scope: SourceScope) -> int:
    """Return 1 if the first parameter is not among the arguments: of a method, or of `__init__`."""
    if scope.parent is None or not isinstance(scope.parent.node, ast.ClassDef):
        return 0
    decorators = {getattr(decorator, "id", "") for decorator in getattr(scope.node, "decorator_list", ())}
    if "staticmethod" in decorators:
        return 0
    through_class = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == scope.parent.name
    return 0 if through_class and "classmethod" not in decorators else 1


def _is_only(calls: list[ast.Call], name: str) -> bool:
    """Whether one call is written, and the interpreter makes no other one of a function with that name."""
    return len(calls) == 1 and not (name[:2] == "__" and name != "__call__")


def called(call: ast.Call) -> str:
    """Return the last name of what a call calls."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def computed(past: PastProcess, execution: StatementExecution) -> list[tuple[ValuePath, Row]]:
    """Return the attributes that a statement has read by a call of their getter, each with how that ended."""
    paths = [read.path for read in execution.statement.reads if read.path.steps and not read.is_callee]
    found: list[tuple[ValuePath, Row]] = []
    for start in past.executions.calls(execution.row) if not past.executions.has_more_calls(execution.row) else ():
        scope = past.scopes.of_code(start.key)
        name = past.record.code(start.key).name.rpartition(".")[2]
        path = next((path for path in paths if path.steps[-1] == f".{name}"), None)
        if path is None or scope is None or not is_getter(scope):
            continue
        ending = past.executions.outcome(start.number)
        if ending is not None:
            found.append((path, ending))
            paths.remove(path)
    return found


def computed_value(past: PastProcess, execution: StatementExecution, path: ValuePath) -> Row | None:
    """Return the row with which a statement's read of a computed attribute returned; None: it did not read it so."""
    found = (ending for read, ending in computed(past, execution) if read == path and ending.kind == rows.RETURN)
    return next(found, None)


def getter_of(past: PastProcess, name: str) -> str | None:
    """Return the qualified name of a property of this name in recorded code; None: there is none that ran."""
    scopes = (past.scopes.of_code(code) for code in past.scopes.named(name))
    found = (scope.name.replace(".<locals>", "") for scope in scopes if scope is not None and is_getter(scope))
    return next(found, None)


def is_getter(scope: SourceScope) -> bool:
    """Whether a function computes an attribute: `@property`, `@cached_property` and the like."""
    if scope.parent is None or not isinstance(scope.parent.node, ast.ClassDef):
        return False
    decorators = [ast.unparse(node) for node in getattr(scope.node, "decorator_list", ())]
    return any("property" in decorator for decorator in decorators)
