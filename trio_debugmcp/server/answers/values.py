"""Variables as an object of names and rendered values, with the type only where the value does not show it.

named([count, basket])    # {"count": "1", "basket": "Basket(owner='ben', lines=[2 items])"}
"""

import re
from collections.abc import Iterable

from trio_debugmcp.state.payloads import Variable

_LOOKS = {
    **dict.fromkeys(("int", "Integer", "long", "short"), r"-?\d+"),
    **dict.fromkeys(("float", "double", "number", "f64", "float64"), r"-?(\d|inf|nan|Infinity|NaN)"),
    **dict.fromkeys(("bool", "boolean"), r"(?i)(true|false)\b"),
    **dict.fromkeys(("str", "string", "String"), r"['\"]"),
    "bytes": r"b['\"]",
    "complex": r".*j\)?$",
    "NoneType": "None$",
    "ellipsis": "Ellipsis$",
    "undefined": "undefined$",
    "list": r"\[",
    "tuple": r"\(",
    "dict": r"\{",
    "set": r"\{|set\(",
    "type": "<class ",
    "method": "<bound method ",
    "builtin_function_or_method": "<built-in ",
}
"""What values of these types look like, in Python and where other languages write them in the same way."""

_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _LOOKS.items()}


def shows_type(value: str, kind: str | None) -> bool:
    """Return whether a rendered value shows its type, as `[1, 2]`, `Basket(…)` and `<Basket object at …>` do."""
    if not kind:
        return True
    pattern = _PATTERNS.get(kind)
    if pattern is not None:
        return pattern.match(value) is not None
    bare = re.split(r"[.:]", kind)[-1]
    return re.match(rf"<?([\w.]+[. ])?{re.escape(bare)}\b", value) is not None


def rendered(value: str, kind: str | None) -> str:
    """Return a value, followed by its type in parentheses where it does not show it."""
    return value if shows_type(value, kind) else f"{value} ({kind})"


def named(variables: Iterable[Variable], parent: str | None = None) -> dict[str, str]:
    """Return the values by name; the children that are there stand below their parents, with the way to them.

    `parent`: the path to what the variables are inside of. Their names begin where it ends, so path and name together
    lead to them: `[0]`, `['key']`, `owner`.
    """
    found: dict[str, str] = {}
    for each in variables:
        _put(found, _name(each, parent), rendered(each.value, each.type))
        children = each.children
        if isinstance(children, list):
            for name, value in named(children, each.path or each.name).items():
                joined = name if name.startswith("[") else f".{name}"
                _put(found, f"{_name(each, parent)}{joined}", value)
    return found


def _name(variable: Variable, parent: str | None) -> str:
    path = variable.path
    if parent is None or path is None:
        return variable.name
    if path.startswith(parent) and path != parent:
        return path.removeprefix(parent).removeprefix(".")
    return path


def _put(found: dict[str, str], name: str, value: str) -> None:
    """Variables of inner blocks may hide others of their name, in C++ for example: all are shown."""
    number = 2
    unique = name
    while unique in found:
        unique = f"{name} ({number})"
        number += 1
    found[unique] = value
