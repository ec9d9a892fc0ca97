"""How little a line tells to who has the answer: what is added to its distance when the lines of an answer are chosen.

A line is followed by its distance, and shown by its distance and its weight: an empty list that something else fills,
the header of a loop, a variable that is passed on and what a test itself does are on the way, and seldom where one
wants to arrive. What a note says of a line has no weight.
"""

import ast

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.slicing.slicing_nodes import CONDITION, SliceEdge
from trio_debugmcp.runs.source.source_scopes import Statement
from trio_debugmcp.runs.source.statement_trees import is_empty_container

NEARNESS = 0.5
"""A unit of distance is so many units of weight."""

DEFAULT, SHARED_DEFAULT = 2.0, 0.0
"""The default of a parameter: a constant or a name, and one that was computed when the function was defined."""

_OWN = 3.0
"""Of the test or script itself, which asks: it is read anyway."""

_EMPTY = 2.5
"""An empty container, or a constant of an object, to begin with."""

_HEADER = 2.0
"""The header of a loop: what gave it says what it goes through."""

_GIVEN, _GIVEN_EXPRESSION = 1.5, 0.8
"""Only what it gave to a call counts of it: a variable, or something else."""

_PASSED_ON = 2.2
"""The value of a variable is returned as it is."""

_COPY = 1.2
"""An attribute gets the value of a variable."""

_CALL = 1.0
"""A name gets the result of a recorded call that is given variables: what is in the function tells more."""

_DECISION = 1.2
"""A condition, unless it has decided on a constant or a result."""

_CONSTANT = 0.5


def weight(execution: StatementExecution, edge: SliceEdge, root: int, *, has_called: bool) -> float:
    """Return what a line weighs.

    Args:
        execution: the line.
        edge: what leads to it, and what is wanted of it.
        root: the frame of the test or script itself.
        has_called: it has called recorded code.
    """
    heavy = _OWN if execution.frame == root else 0.0
    if edge.node.aim == "argument":
        heavy += _GIVEN if all(_is_variable(part) for part in edge.node.focus) else _GIVEN_EXPRESSION
    if isinstance(execution.statement.node, ast.If | ast.Match):
        return heavy + (_DECISION if edge.cost >= CONDITION else 0.0)
    if execution.statement.is_passing_on:
        return heavy + _PASSED_ON
    return heavy + _weight_of(execution.statement, has_called)


def _weight_of(statement: Statement, has_called: bool) -> float:
    node = statement.node
    if statement.is_loop:
        return _HEADER
    return _weight_of_assignment(node, has_called) if isinstance(node, ast.Assign | ast.AnnAssign) else 0.0


def _weight_of_assignment(node: "ast.Assign | ast.AnnAssign", has_called: bool) -> float:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    is_attribute, value = isinstance(target, ast.Attribute), node.value
    if value is None or isinstance(target, ast.Subscript):
        return 0.0
    if is_empty_container(value):
        return _EMPTY
    if isinstance(value, ast.Constant):
        return _EMPTY if is_attribute else _CONSTANT
    if is_attribute:
        return _COPY if isinstance(value, ast.Name | ast.Attribute) else 0.0
    return _CALL if has_called and isinstance(value, ast.Call) and _is_given_variables(value) else 0.0


def _is_given_variables(call: ast.Call) -> bool:
    return all(_is_variable(part) for part in (*call.args, *(keyword.value for keyword in call.keywords)))


def _is_variable(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute | ast.Constant | ast.Starred)
