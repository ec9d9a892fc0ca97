"""A value with what is inside of it, as a nested object: `{"value": …, "count": 2, "children": {"[0]": …}}`.

What has nothing inside is its rendered value alone. An object that is shown elsewhere in the tree is a reference to
there, `{"same": "order.items[0]"}`, or `{"cycle": "order"}` if it is inside of that very object.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from trio_debugmcp.server.answers.values import LENGTH, rendered
from trio_debugmcp.session.looking.trees import TreeNode
from trio_debugmcp.state.payloads import Payload, json_size

_PLAIN = frozenset({"list", "tuple", "set", "frozenset", "dict", "deque"})
"""Types whose text is made of that of their items, or says that some are left out."""

_CUT = "…"

_NOTABLE = {
    **dict.fromkeys(("None", "null", "nil", "undefined", "nullptr", "0x0"), "null"),
    **dict.fromkeys(("''", '""', "b''"), "empty"),
    **dict.fromkeys(("nan", "NaN", "-nan", "nan(...)"), "nan"),
    **dict.fromkeys(("inf", "-inf", "Infinity", "-Infinity", "+Inf", "-Inf"), "infinite"),
}
"""What stands out, by the text of a value."""

_TEXTS = frozenset({"str", "bytes", "string", "String", "std::string"})

MAX_NOTABLE = 10
"""Paths of each kind; the others are counted."""

_MAX_PATH = 80


class ObjectPayload(Payload, frozen=True):
    """A value with what is inside of it. `childCount`: how much is inside, shown or not; null if that is not counted.

    `cycle` and `same`: the path where this object is shown, of one that this is inside of, or of another one.
    """

    name: str
    value: str
    type: str | None
    path: str | None
    child_count: int | None
    children: list["ObjectPayload"]
    cycle: str | None
    same: str | None


def object_payload(node: TreeNode) -> ObjectPayload:
    """Return a value as data."""
    return ObjectPayload(
        name=node.name,
        value=node.value,
        type=node.type,
        path=node.name if node.path is None else node.path or None,
        child_count=None if node.size < 0 else node.size,
        children=[object_payload(child) for child in node.children],
        cycle=node.cycle,
        same=node.same,
    )


def tree(node: TreeNode, max_bytes: int) -> dict[str, Any]:
    """Return a tree that fits: with fewer levels if it has to be, and then with fewer children of each object."""
    widest = max(_widest(node), 1)
    levels = _levels(node)
    for depth in range(levels, 0, -1):
        found = _object(node, depth, widest)
        if json_size(found) <= max_bytes:
            return found
    while widest > 1:
        widest //= 2
        found = _object(node, 1, widest)
        if json_size(found) <= max_bytes:
            return found
    return _object(node, 0, 0)


def notable(node: TreeNode) -> dict[str, list[str]]:
    """Return the paths of what stands out inside of a value: nulls, empty texts, NaN and infinities."""
    found: dict[str, list[str]] = {}
    total: Counter[str] = Counter()
    for inner in _inside(node):
        kind = _NOTABLE.get(inner.value)
        if kind is None or (inner.type in _TEXTS) != (kind == "empty"):
            continue
        total[kind] += 1
        path = inner.path or inner.name
        if total[kind] <= MAX_NOTABLE:
            found.setdefault(kind, []).append(path if len(path) <= _MAX_PATH else f"{path[:_MAX_PATH]}{_CUT}")
    for kind, paths in found.items():
        if total[kind] > len(paths):
            paths.append(f"{total[kind] - len(paths)} more")
    return found


def _inside(node: TreeNode) -> Iterator[TreeNode]:
    """What is inside of a value, but for what its text shows."""
    for child in () if _shows_all(node) else node.children:
        yield child
        yield from _inside(child)


def _levels(node: TreeNode) -> int:
    return 1 + max(map(_levels, node.children)) if node.children else 0


def _widest(node: TreeNode) -> int:
    return max([len(node.children), *map(_widest, node.children)])


def _object(node: TreeNode, depth: int, most: int) -> dict[str, Any]:
    """Return a node with its count. What its text shows already is not repeated below it."""
    found: dict[str, Any] = {"value": rendered(node.value, node.type)}
    if node.size > 0:
        found["count"] = node.size
    elif node.size < 0:
        found["more"] = True
    if depth > 0 and node.children and not _shows_all(node):
        inside: dict[str, Any] = {}
        for child in node.children[:most]:
            if child.name != LENGTH:
                _put(inside, _name(child, node.path or node.name), _entry(child, depth - 1, most))
        found["children"] = inside
    return found


def _entry(node: TreeNode, depth: int, most: int) -> Any:
    key = node.name
    if node.cycle is not None:
        return {"cycle": node.cycle}
    if node.same is not None:
        return {"same": node.same}
    shown: Any = _object(node, depth, most) if node.size else rendered(node.value, node.type)
    if key.startswith("[") and not key[1:-1].lstrip("-").isdigit() and not (node.path or key).endswith(key):
        return {"key": key[1:-1], **(shown if isinstance(shown, dict) else {"value": shown})}
    return shown


def _shows_all(node: TreeNode) -> bool:
    """Whether the text of a value has all that is inside of it."""
    below = node.children
    if len(below) != node.size or _CUT in node.value or any(each.size or each.same or each.cycle for each in below):
        return False
    return node.type in _PLAIN or all(f"{each.name}={each.value}" in node.value for each in below)


def _name(node: TreeNode, parent: str) -> str:
    """Return the part of a path behind that of the parent; the whole path where it does not begin so."""
    path = node.path or node.name
    behind = path.removeprefix(parent)
    return behind.removeprefix(".") if path != behind and behind[:1] in (".", "[") else path


def _put(found: dict[str, Any], name: str, value: Any) -> None:
    number, unique = 2, name
    while unique in found:
        unique = f"{name} ({number})"
        number += 1
    found[unique] = value
