"""Conditions that only read and compare variables, judged as calls of functions that are given the variables.

    condition = made("total > 3 and not paid")      # None for one that may do more
    condition(frame.f_locals)                       # or NOT_QUICK: a name is not that of a local variable with a value

To evaluate a text in a frame takes twice as long, and a false condition is judged at each hit. Nothing is called in one
of these: a function could look at the frame from which it is called, and find other variables there.
"""

from typing import Any, Callable, Mapping

_ONLY_AST = 0x400
"""Flag of `compile`: `ast.PyCF_ONLY_AST`. The module `ast` is not loaded into the program for it."""

_PARTS = frozenset(
    (
        *("Expression", "Name", "Load", "Constant", "Attribute", "Subscript", "Slice", "Tuple", "List"),
        *("IfExp", "BoolOp", "And", "Or", "UnaryOp", "Not", "USub", "UAdd", "Invert"),
        *("BinOp", "Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow", "BitAnd", "BitOr", "BitXor"),
        *("LShift", "RShift", "Compare", "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot", "In", "NotIn"),
    )
)
"""Kinds of nodes of conditions that only read and compare."""

_MOST_NAMES = 8
"""Names in a condition: all are read at each hit, also those that `and` would have left out."""

NOT_QUICK: Any = object()


def made(condition: str) -> Callable[[Mapping[str, Any]], Any] | None:
    """Return a condition, whose text is known to be an expression, as a function; None if it is not one of these.

    The function raises what the condition raises.
    """
    names = _names_in(compile(condition, "<breakpoint>", "eval", _ONLY_AST, dont_inherit=True))
    if names is None or not 1 <= len(names) <= _MOST_NAMES:
        return None
    variables, other = "variables", "other"
    while {variables, other} & {*names}:
        variables, other = f"{variables}_", f"{other}_"
    read = "; ".join(f"{name} = {variables}[{name!r}]" for name in names)
    text = f"def judged({variables}):\n try: {read}\n except KeyError: return {other}\n return (\n{condition}\n)\n"
    made: dict[str, Any] = {other: NOT_QUICK, "KeyError": KeyError}
    try:
        exec(compile(text, "<breakpoint>", "exec", dont_inherit=True), made)
    except (SyntaxError, ValueError):  # a name that no variable can have: `__debug__`
        return None
    function: Callable[[Mapping[str, Any]], Any] = made["judged"]
    return function


def _names_in(tree: Any) -> list[str] | None:
    """Return the names that an expression reads; None if it may do more than read and compare."""
    names: dict[str, None] = {}
    pending = [tree]
    while pending:
        node = pending.pop()
        kind = type(node).__name__
        if kind not in _PARTS:
            return None
        if kind == "Name":
            names[node.id] = None
        if kind != "Constant":
            for field in node._fields:
                value = getattr(node, field)
                pending += value if type(value) is list else [value] if hasattr(value, "_fields") else ()
    return [*names]
