"""Which expression, of one that makes a value, has made an item or a field of it, as far as the source says so.

    inner(node, ("['words']",), classes)        # of `{"numbers": a(n), "words": b(n)}`: `b(n)`, and no way on

The way to an item is labels as records have them: `("['words']", "[2]")`, and `.words` of a field.
"""

import ast
from collections.abc import Callable

from trio_debugmcp.runs.past.past_process import called
from trio_debugmcp.runs.source.read_paths import path_of
from trio_debugmcp.runs.source.source_scopes import SourceScope
from trio_debugmcp.runs.source.statement_trees import key_text

ClassesOfName = Callable[[str], list[SourceScope]]
"""Returns the classes of a name whose bodies ran."""

Inner = tuple[ast.expr, tuple[str, ...]]
"""The expression that has made an item, and the way on from its value."""

_PASSING = ("list", "tuple", "dict")
"""Calls whose results have the items of their argument under the same labels."""

_OF_KEYWORDS = {"dict": "['{}']", "SimpleNamespace": ".{}", "Namespace": ".{}"}
"""Calls whose results have the values of their keywords, and the labels of these."""


def inner(node: ast.expr, path: tuple[str, ...], classes: ClassesOfName) -> Inner | None:
    """Return the expression that makes the wanted item of what an expression makes; None: it is not known."""
    if isinstance(node, ast.NamedExpr | ast.Await):
        return node.value, path
    if isinstance(node, ast.Subscript) and path_of(node) is None and isinstance(node.slice, ast.Constant):
        return node.value, (f"[{node.slice.value!r}]", *path)
    if isinstance(node, ast.Attribute) and path_of(node) is None:
        return node.value, (f".{node.attr}", *path)
    if not path:
        return None
    if isinstance(node, ast.Call):
        return _of_call(node, path, classes)
    if isinstance(node, ast.Tuple | ast.List) and not any(isinstance(item, ast.Starred) for item in node.elts):
        place = path[0][1:-1]
        is_place = place.isdigit() and int(place) < len(node.elts)
        return (node.elts[int(place)], path[1:]) if is_place else None
    return _of_entries(node, path) if isinstance(node, ast.Dict) else None


def _of_entries(node: ast.Dict, path: tuple[str, ...]) -> Inner | None:
    """Return the value of an entry; of an entry that is not written, the one other dictionary that may have it."""
    entries = list(zip(node.keys, node.values, strict=True))
    spread = [place for place, (key, _) in enumerate(entries) if key is None]
    written = [place for place, (key, _) in enumerate(entries) if f"[{key_text(key)}]" == path[0]]
    if written and max(spread, default=-1) < written[-1]:
        return entries[written[-1]][1], path[1:]
    is_plain = all(key is None or key_text(key) for key in node.keys)
    return (entries[spread[0]][1], path) if len(spread) == 1 and is_plain and not written else None


def _of_call(node: ast.Call, path: tuple[str, ...], classes: ClassesOfName) -> Inner | None:
    if getattr(node.func, "id", "") in _PASSING and len(node.args) == 1 and not node.keywords:
        is_path = path_of(node.args[0]) is not None
        return (node.args[0], path) if is_path or isinstance(node.args[0], ast.ListComp) else None
    label = _OF_KEYWORDS.get(called(node))
    if label is not None and not node.args:
        given = [keyword.value for keyword in node.keywords if keyword.arg and label.format(keyword.arg) == path[0]]
        return (given[0], path[1:]) if given else None
    scopes = classes(called(node))
    has_spread = any(isinstance(argument, ast.Starred) for argument in node.args)
    if len(scopes) != 1 or has_spread or any(keyword.arg is None for keyword in node.keywords):
        return None
    argument = _argument(node, path[0], _fields(scopes[0]))
    return None if argument is None else (argument, path[1:])


def _argument(node: ast.Call, label: str, fields: list[str] | None) -> ast.expr | None:
    """Return the argument of a call that a class of some fields has stored under a label."""
    if fields is None:
        return None
    name = label[1:]
    if label[:1] == "[" and label[1:-1].isdigit() and int(label[1:-1]) < len(fields):
        name = fields[int(label[1:-1])]
    given = [keyword.value for keyword in node.keywords if keyword.arg == name]
    given += node.args[fields.index(name) :][:1] if name in fields else []
    return given[0] if given else None


def _fields(scope: SourceScope) -> list[str] | None:
    """Return the fields of a data class or named tuple, in the order of its arguments; None: it is another class."""
    node = scope.node
    if not isinstance(node, ast.ClassDef) or any(inner.name.endswith(("__init__", "__new__")) for inner in scope.inner):
        return None
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    is_data_class = not bases and not node.keywords and any("dataclass" in text for text in decorators)
    if not is_data_class and bases != {"NamedTuple"}:
        return None
    return [
        part.target.id
        for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and _is_given(part)
    ]


def _is_given(part: ast.AnnAssign) -> bool:
    """Whether a field is an argument of the class: not a class variable, nor `field(init=False)`."""
    if "ClassVar" in ast.unparse(part.annotation):
        return False
    keywords = part.value.keywords if isinstance(part.value, ast.Call) else []
    return not any(
        keyword.arg == "init" and isinstance(keyword.value, ast.Constant) and not keyword.value.value
        for keyword in keywords
    )
