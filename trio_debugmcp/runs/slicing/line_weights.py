"""How little a line tells to who has the answer: what is added to its distance when the lines of an answer are chosen.

A line is followed by its distance, and shown by its distance and its weight: an empty list that something else fills,
the header of a loop, a variable that is passed on and what a test itself does are on the way, and seldom where one
wants to arrive. What a note says of a line has no weight.
"""

import ast

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import MAKERS
from trio_debugmcp.runs.slicing.slicing_nodes import CONDITION, SliceEdge
from trio_debugmcp.runs.source.source_scopes import Statement
from trio_debugmcp.runs.source.statement_trees import is_empty_container

NEARNESS = 0.5
"""A unit of distance is so many units of weight."""

DEFAULT, SHARED_DEFAULT = 2.0, 0.0
"""The default of a parameter: a constant or a name, and one that was computed when the function was defined."""

ANOTHER_OUTCOME = 1.0
"""A line that is shown already: it has raised an exception in one run, and not in the other."""

_OWN, _OWN_CONSTANT = 3.0, 1.5
"""Of the test or script itself, which asks: it is read anyway. Not of one entry of a table of several lines."""

_EMPTY = 2.5
"""An empty container, or a constant of an object, to begin with."""

_HEADER, _HEADER_WITH_MORE = 2.0, 1.0
"""The header of a loop: what gave it says what it goes through; one that computes or pairs what it goes through."""

_VIEWS = ("enumerate", "range", "len", "iter", "list", "tuple", "reversed")
"""Functions whose result has all that they are given; of another one the header says what it goes through."""

_GIVEN, _GIVEN_EXPRESSION = 1.5, 0.8
"""Only what it gave to a call counts of it: a variable, or something else."""

_PASSED_ON = 2.2
"""The value of a variable is returned as it is."""

_WRAPPED = 4.0
"""A function that a decorator has made is returned: the definition that it decorates tells more."""

_COPY = 1.2
"""An attribute gets the value of a variable."""

_CALL = 1.0
"""A name gets the result of a recorded call that is given variables: what is in the function tells more."""

_DECISION = 1.2
"""A condition, unless it has decided on a constant or a result."""

_CHECK = 1.0
"""A condition that looks whether there is anything, and let it pass."""

_TEXT = 2.0
"""A text of the module that is written out."""

_CONSTANT = 0.5


def weight(execution: StatementExecution, edge: SliceEdge, root: int, *, has_called: bool) -> float:
    """Return what a line weighs.

    Args:
        execution: the line.
        edge: what leads to it, and what is wanted of it.
        root: the frame of the test or script itself.
        has_called: it has called recorded code.
    """
    statement, node = execution.statement, edge.node
    is_entry = node.focus and node.aim == "value" and statement.is_given and statement.first < statement.last
    has_order = len(getattr(statement.node, "decorator_list", ())) > 1  # of decorators
    is_entry = is_entry or (statement.is_definition and (node.focus or has_order))  # it is far from what asks
    own = _OWN_CONSTANT if _names_constants(statement) else _OWN
    heavy = own if execution.frame == root and not is_entry else 0.0
    if edge.node.aim == "argument":
        heavy += _GIVEN if all(_is_variable(part) for part in edge.node.focus) else _GIVEN_EXPRESSION
    if isinstance(statement.node, ast.If | ast.Match) or _is_condition(statement.node):
        heavy += _CHECK if edge.note and _checks_for_nothing(statement.node) else 0.0
        return heavy + (_DECISION if edge.cost >= CONDITION else 0.0)
    if execution.statement.is_given and _is_text(execution.statement.node):
        return heavy + _TEXT
    if execution.statement.is_passing_on:
        return heavy + (_WRAPPED if _returns_inner_function(execution) else _PASSED_ON)
    is_made = execution.scope.name.rpartition(".")[2] in MAKERS or not execution.scope.is_function
    return heavy + _weight_of(statement, statement.place_of(node.names), has_called, is_made)


def _returns_inner_function(execution: StatementExecution) -> bool:
    node = execution.statement.node
    name = node.value.id if isinstance(node, ast.Return) and isinstance(node.value, ast.Name) else ""
    return any(inner.name.rpartition(".")[2] == name and inner.is_function for inner in execution.scope.inner)


def _names_constants(statement: Statement) -> bool:
    """Whether all names that a statement sets are those of constants: `LINE = re.compile(…)`, which functions read."""
    return bool(statement.names) and all(name.isupper() for name in statement.names)


def _is_condition(node: ast.AST) -> bool:
    """Whether a loop compares something in each round, and so decides as an `if` does: `while queue and left < 9`.

    One that runs as long as there is something, or for ever, only goes through that.
    """
    return isinstance(node, ast.While) and any(isinstance(part, ast.Compare) for part in ast.walk(node.test))


def _is_text(node: ast.AST) -> bool:
    return isinstance(getattr(getattr(node, "value", None), "value", None), str)


def _checks_for_nothing(node: ast.AST) -> bool:
    """Whether a condition is `not name`, or `name is None`."""
    test = getattr(node, "test", None)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_variable(test.operand)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Is) or not _is_variable(test.left):
        return False
    return getattr(test.comparators[0], "value", ...) is None


def _weight_of(statement: Statement, place: int, has_called: bool, is_made: bool) -> float:
    node = statement.node
    if statement.is_loop:
        return _HEADER if _only_goes_through(getattr(node, "iter", None)) else _HEADER_WITH_MORE
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return 0.0
    return _weight_of_assignment(node, place, has_called, is_made)


def _weight_of_assignment(node: "ast.Assign | ast.AnnAssign", place: int, has_called: bool, is_made: bool) -> float:
    """Return what an assignment weighs; of one that gives several places their values, the part at one of them."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    value = node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
        if place >= 0:
            return _weight_of_pair(*pairs[place], has_called, is_made)
        return min((_weight_of_pair(part, given, has_called, is_made) for part, given in pairs), default=0.0)
    return 0.0 if value is None else _weight_of_pair(target, value, has_called, is_made)


def _weight_of_pair(target: ast.expr, value: ast.expr, has_called: bool, is_made: bool) -> float:
    """Return what weighs that a target gets a value: of several in one statement each is looked at by itself."""
    is_attribute = isinstance(target, ast.Attribute)
    if isinstance(target, ast.Subscript):
        return 0.0
    if is_empty_container(value) or (not has_called and _makes_something_empty(value)):
        return _EMPTY
    if isinstance(value, ast.Constant):
        return _EMPTY if is_attribute and is_made else _CONSTANT
    if is_attribute:
        return _COPY if isinstance(value, ast.Name | ast.Attribute) else 0.0
    return _CALL if has_called and isinstance(value, ast.Call) and _is_given_variables(value) else 0.0


def _only_goes_through(node: ast.expr | None) -> bool:
    """Whether a header goes through a variable, or all of it: `enumerate(names)`, `range(len(names))`, `d.items()`."""
    if node is None or _is_variable(node):
        return True
    if not isinstance(node, ast.Call) or len(node.args) > 1 or node.keywords:
        return False
    if isinstance(node.func, ast.Name) and node.func.id not in _VIEWS:
        return False
    target = node.func.value if isinstance(node.func, ast.Attribute) else None
    return _only_goes_through(target) and all(map(_only_goes_through, node.args))


def _makes_something_empty(value: ast.expr) -> bool:
    """Whether an expression calls a class without a value, by its name: `io.BytesIO()`, `set()`."""
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    if name == "defaultdict":
        return len(value.args) < 2 and not value.keywords
    return not value.args and not value.keywords and (name[:1].isupper() or name in ("list", "dict", "set", "deque"))


def _is_given_variables(call: ast.Call) -> bool:
    return all(_is_variable(part) for part in (*call.args, *(keyword.value for keyword in call.keywords)))


def _is_variable(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute | ast.Constant | ast.Starred)
