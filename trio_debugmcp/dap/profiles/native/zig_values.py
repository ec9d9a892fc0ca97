"""Values of Zig for gdb, which runs this file itself: slices, optionals, unions of errors, and tagged unions.

    a slice of u8              `"fig"`; other slices: their items
    an optional                its value, or `null`
    a union of errors          its value, or `error.NoPlum`
    a tagged union             `.fruit` and what that has, or `.none`

They are what LLVM's generator of debug information makes of them: structures with a `ptr` and a `len`, or a `payload`.
"""

from collections.abc import Iterator
from typing import Any

_MAX_ITEMS = 10_000
"""Of a slice that is not made yet, whose length is any number."""

_TEXTS = ("[]const u8", "[]u8", "[:0]const u8", "[:0]u8")


class Plain:
    """A value without parts: a text of ours, or what gdb shows of a value."""

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def to_string(self) -> str:
        """Return what is shown."""
        return self._shown


class Slice:
    """Items behind a pointer."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._length = int(value["len"])

    def to_string(self) -> str:
        """Return how many there are."""
        return f"slice of length {self._length}"

    def num_children(self) -> int:
        """Return how many items are shown."""
        return min(self._length, _MAX_ITEMS)

    def child(self, number: int) -> tuple[str, Any]:
        """Return the name of an item, and the item."""
        return f"[{number}]", (self._value["ptr"] + number).dereference()

    def children(self) -> Iterator[tuple[str, Any]]:
        """Yield the items."""
        return map(self.child, range(self.num_children()))

    def display_hint(self) -> str:
        """Return how the items are shown."""
        return "array"


class Tagged:
    """A union with the name of what it has."""

    def __init__(self, tag: str, payload: Any) -> None:
        self._tag, self._payload = tag, payload

    def to_string(self) -> str:
        """Return the name of what it has."""
        return f".{self._tag}"

    def children(self) -> Iterator[tuple[str, Any]]:
        """Yield its value, by the path that leads there."""
        yield f"payload.{self._tag}", self._payload


def printer(value: Any, visualized: Any, items: Any = Slice) -> Any:
    """Return what shows a value; None for one that is shown as it is.

    `visualized`: what shows a value within it; `items`: the class for slices.
    """
    kind = value.type.strip_typedefs()
    fields = [field.name for field in kind.fields()]
    name = (kind.name or "").removeprefix("struct ")
    if fields == ["ptr", "len"] and name.startswith("["):
        return _text(value) if name in _TEXTS else items(value)
    if fields == ["payload", "some"] and name.startswith("?"):
        return visualized(value["payload"]) if int(value["some"]) else Plain("null")
    if set(fields) in ({"error", "payload"}, {"error"}) and "!" in name:
        if int(value["error"]):
            return Plain(str(value["error"]))
        return visualized(value["payload"]) if "payload" in fields else Plain("void")
    if set(fields) == {"payload", "tag"}:
        tag = str(value["tag"]).rpartition(".")[2]
        named = {field.name: field for field in value["payload"].type.fields()}
        if tag in named and named[tag].type.sizeof:
            return Tagged(tag, value["payload"][tag])
        return Plain(f".{tag}")
    return None


def _text(value: Any) -> Plain:
    length = int(value["len"])
    if length == 0:
        return Plain('""')
    kind = value["ptr"].type.target()
    items = value["ptr"].cast(kind.array(min(length, _MAX_ITEMS) - 1).pointer())
    return Plain(items.dereference().format_string())


def register(gdb: Any) -> None:
    """Have gdb show values by these."""
    items = type("Items", (Slice, gdb.ValuePrinter), {})  # whose items are read when they are asked for

    def shown(value: Any) -> Any:
        if value.type.strip_typedefs().code != gdb.TYPE_CODE_STRUCT:
            return None
        try:
            return printer(value, visualized, items)
        except (gdb.error, RuntimeError, ValueError):  # memory that is not made yet
            return None

    def visualized(value: Any) -> Any:
        return gdb.default_visualizer(value) or gdb.printing.make_visualizer(value)

    gdb.pretty_printers.append(shown)
