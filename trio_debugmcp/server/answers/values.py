"""Variables as an object of names and rendered values, with the type only where the value does not show it.

    named([count, basket])    # {"count": "1", "basket": "Basket(owner='ben', lines=[2 items])"}

A name leads back to its value: tools take it, behind the path that was asked for: `[0]` and `['key']` as they are,
`owner` after a dot. Names that are a whole path begin with `[*`, or with a call. What has no path says so.

    shortened_value("[0, 1, ...]", 200, 9000, "items")    # "[0, 1, ...] (9000 items in all)"

An adapter may have cut values before.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from trio_debugmcp.server.answers.answer import AnswerData
from trio_debugmcp.server.answers.stop_answer import ShownValue
from trio_debugmcp.state.payloads import Variable, json_size, name_of, shortened

_QUOTES = {"characters": 2, "bytes": 3}
"""Characters around a text as Python writes it: `'…'`, `b'…'`."""

_CUT_COLLECTION = re.compile(r"\.\.\.[\])}]+$")
"""How a collection ends of which pydevd shows only the first items."""

_MOST_OF_ADAPTER = 2**16
"""Characters of any other value that pydevd shows; it leaves out what is in the middle."""


def shortened_value(value: str, limit: int, length: int | None, unit: str) -> str:
    """`value`, cut after `limit` characters, with what is left out of the whole, which an adapter may have cut before.

    `length`: of the whole in `unit`s (`items`, `characters`, `bytes`), if it is known.
    """
    is_long = len(value) > limit
    if length is not None and unit == "items":
        whole = f" ({length} item{'s' if length != 1 else ''} in all)"
        if is_long:
            return f"{value[:limit]}…{whole}"
        return value + whole if _CUT_COLLECTION.search(value) else value
    if length is not None and length + _QUOTES.get(unit, 0) > len(value):
        return (
            shortened(value, limit, length + _QUOTES.get(unit, 0)) if is_long else f"{value} ({length} {unit} in all)"
        )
    if is_long and length is None and len(value) >= _MOST_OF_ADAPTER:
        return f"{value[:limit]}… (and more)"
    return shortened(value, limit)


_LOOKS = {
    "int": r"-?\d+|<int of ",
    "float": r"-?(\d|inf|nan)",
    "bool": r"(?i)(true|false)\b",
    "str": r"['\"]",
    "bytes": r"b['\"]",
    "complex": r".*j\)?$",
    "NoneType": "None$",
    "ellipsis": "Ellipsis$",
    "list": r"\[",
    "tuple": r"\(",
    "dict": r"\{",
    "set": r"\{|set\(",
    "type": "<class ",
    "method": "<(bound )?method ",
    "builtin_function_or_method": "<built-in ",
    "NotImplementedType": "NotImplemented$",
}
"""What values of these types look like, in Python and where other languages write them in the same way."""

_ELSEWHERE = {
    **dict.fromkeys(("Integer", "long", "short"), _LOOKS["int"]),
    **dict.fromkeys(("double", "number", "f64", "float64"), r"-?(\d|inf|nan|Infinity|NaN)"),
    "boolean": _LOOKS["bool"],
    **dict.fromkeys(("string", "String"), _LOOKS["str"]),
    "undefined": "undefined$",
    "Array": r"\(\d+\) \[|\[",
    "Object": r"\{",
    **dict.fromkeys(("Function", "AsyncFunction"), r"(async )?ƒ|class\b"),
}
"""The same of other languages. In Python these are classes of a library or of the program."""

LENGTH = "len()"
"""The name under which adapters show the length of a collection, among its items but not as one of them."""

_INDEX = re.compile(r"\[-?\d+\]")
"""The name of an item that has a number only."""

_PATTERNS = {kind: re.compile(pattern) for kind, pattern in (_LOOKS | _ELSEWHERE).items()}


def shows_type(value: str, kind: str | None, *, python: bool = False) -> bool:
    """Return whether a rendered value shows its type, as `[1, 2]`, `Basket(…)` and `<Basket object at …>` do.

    `python`: it is known to be of Python, where `Integer` is a class, not a plain number.
    """
    if not kind:
        return True
    pattern = None if python and kind in _ELSEWHERE else _PATTERNS.get(kind)
    if pattern is not None:
        return pattern.match(value) is not None
    if value.startswith(f"{kind} "):  # `[]main.Item len: 2`
        return True
    bare = re.split(r"[.:]", kind)[-1]
    # Most values do not have it, and a pattern of a long one is not soon made.
    return (
        bare in value
        and re.match(rf"([\w.]+[. ])?{re.escape(bare)}\b|<[^<>'\"]*\b{re.escape(bare)}\b", value) is not None
    )


def rendered(value: str, kind: str | None, *, python: bool = False) -> str:
    """Return a value, followed by its type in parentheses where it does not show it."""
    return value if shows_type(value, kind, python=python) else f"{value} ({name_of(kind or '')})"


def shown_value(shown: ShownValue, *, python: bool = False) -> str:
    """Return the value of an expression, or why there is none."""
    if shown.error is not None:
        return f"<{shown.error}>"
    return "<executed>" if shown.value is None else rendered(shown.value, shown.type, python=python)


def without_types(variables: Iterable[Variable]) -> list[Variable]:
    """Return the variables, and what is inside them, without their types."""
    return [
        replace(
            variable,
            type=None,
            children=without_types(variable.children) if isinstance(variable.children, list) else UNSET,
        )
        for variable in variables
    ]


class VariablesData(AnswerData, frozen=True, kw_only=True):
    """Variables of a frame, or what is inside of one. `total`: how many there are.

    `value`: that of the path that was asked for, where nothing is inside of it. `missing`: names that were asked for,
    and of which there is none.
    """

    variables: list[Variable]
    total: int
    value: Variable | None = None
    missing: list[str] = []


NO_PATH = " (no path)"
"""At the end of the name of what no path leads to: a global that a local hides, for example."""


YIELDED = "(yield) "
"""Before the name of a generator, where the value is one that it has yielded; see `inside.steps` of the engine."""


def returned(variables: Iterable[Variable]) -> dict[str, str]:
    """Return what functions have returned, by their names, which lead nowhere."""
    return _results(variable for variable in variables if not variable.name.startswith(YIELDED))


def yielded(variables: Iterable[Variable]) -> dict[str, str]:
    """Return what generators have yielded, by their names."""
    own = (variable for variable in variables if variable.name.startswith(YIELDED))
    return _results(replace(variable, name=variable.name[len(YIELDED) :]) for variable in own)


def _results(variables: Iterable[Variable]) -> dict[str, str]:
    found: dict[str, str] = {}
    for variable in variables:
        _put(found, variable.name, rendered(variable.value, variable.type))
    return found


def named(variables: Iterable[Variable], parent: str | None = None, depth: int = 1) -> dict[str, str]:
    """Return the values by name; the children that are there stand below their parents.

    `parent`: the path to what the variables are inside of. Their names begin where it ends, so path and name together
    lead to them: `[0]`, `['key']`, `owner`. What does not begin there has its whole path for its name: `[*st][0]`.
    `depth`: levels that were asked for; what of them is not there is counted.
    """
    found: dict[str, str] = {}
    for name, value in _entries(variables, parent, "", depth):
        _put(found, name, value)
    return found


def counted(shown: dict[str, str], left_out: int) -> dict[str, str]:
    """Return the values of a frame, with the number of those that are left out."""
    return {**shown, "…": f"{left_out} more: variables_get"} if left_out > 0 else shown


def _entries(variables: Iterable[Variable], parent: str | None, above: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield names and values; `above` is the name of what they are inside of."""
    for variable in variables:
        name = _name(variable, parent, above)
        yield name + (NO_PATH if variable.path is None else ""), _value(variable, name)
        inside = variable.children if isinstance(variable.children, list) else None
        if inside is not None or depth > 1:
            yield from _entries(inside or (), variable.path, name, depth - 1)
            left_out = (variable.child_count or 0) - sum(child.name != LENGTH for child in inside or ())
            if left_out > 0:
                yield f"{name}…", f"{left_out} more"


def full_path(parent: str | None, name: str) -> str:
    """Return the path that a name in an answer stands for; `parent`: the path that was asked for."""
    if parent is None or name.startswith("[*"):
        return name
    return parent + name if name.startswith("[") else f"{parent}.{name}"


def without_runner_names(variables: Iterable[Variable]) -> list[Variable]:
    """Return variables without those that pytest puts into the code of a test, to explain assertions that fail."""
    return [variable for variable in variables if not variable.name.startswith("@py_")]


def _name(variable: Variable, parent: str | None, above: str) -> str:
    path, inner = variable.path, f".{variable.name}"
    if path is not None and (parent is not None or above):
        if parent is None or not path.startswith(parent):
            return path
        inner = path.removeprefix(parent)
        if not inner or inner[0].isidentifier():  # `sorted(s)` begins with `s`, and is not inside of it
            return path
    elif variable.name.startswith("["):
        inner = variable.name
    return f"{above}{inner}" if above else inner.removeprefix(".")


def _value(variable: Variable, name: str) -> str:
    """Return the rendered value, after the key of a dict where the name does not tell it, which is an object's."""
    value, key = variable.same or rendered(variable.value, variable.type), variable.name
    if key.startswith("[") and not _INDEX.fullmatch(key) and not name.endswith(key):
        return f"{key[1:-1]}: {value}"
    return value


def fitting(
    variables: Sequence[Variable], max_bytes: int, parent: str | None = None, depth: int = 1
) -> tuple[dict[str, str], int]:
    """Return the values by name of the variables that fit, and how many these are.

    The first one is always there, so that a reader can page on. One that is too large with its children has none.
    """
    found: dict[str, str] = {}
    for number, variable in enumerate(variables):
        values = named([variable], parent, depth)
        if json_size(values) > max_bytes and isinstance(variable.children, list):
            values = named([replace(variable, children=[])], parent, depth)
        max_bytes -= json_size(values)
        if found and max_bytes < 0:
            return found, number
        for name, value in values.items():
            _put(found, name, value)
    return found, len(variables)


def _put(found: dict[str, str], name: str, value: str) -> None:
    """Variables of inner blocks may hide others of their name, in C++ for example: all are shown."""
    number = 2
    unique = name
    while unique in found:
        unique = f"{name} ({number})"
        number += 1
    found[unique] = value
