"""Values of Zig for gdb, which runs this file itself: slices, optionals, unions of errors, and tagged unions.

    u8 in a slice or array     `"fig"`, and else `{1, 2, 200}`; other slices: their items
    a pointer to such an array the same
    an optional                its value, or `null`
    a union of errors          its value, or `error.NoPlum`
    a tagged union             `.fruit` and what that has, or `.none`

They are what LLVM's generator of debug information makes of them: structures with a `ptr` and a `len`, or a `payload`.
"""

import re
from collections.abc import Iterator
from typing import Any

_MAX_ITEMS = 10_000
"""Of a slice that is not made yet, whose length is any number."""

_MAX_SHOWN = 200
"""Characters of a text."""

_MAX_NUMBERS = 32
"""Of bytes that are not a text."""

_MAX_READ = 4 * _MAX_SHOWN
"""Bytes that are read: gdb before 15 reads one at a time."""

_ARRAY = re.compile(r"\[\d+(?::\d+)?\]u8")
"""The name of an array's type; other languages name theirs otherwise."""

_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})

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


class Bytes(Slice):
    """Bytes behind a pointer, of which a text is made if they are one."""

    def to_string(self) -> str:
        """Return the text, or the numbers; how many there are, if they cannot be read."""
        length = min(self._length, _MAX_READ)
        if length == 0:
            return '""'
        pointer = self._value["ptr"]
        try:
            array = pointer.cast(pointer.type.target().array(length - 1).pointer()).dereference()
            return shown_bytes(_read(array, length), self._length)
        except RuntimeError:  # gdb.error: of memory that is not made yet, which would refuse all of the frame
            return super().to_string()


class ByteArray(Slice):
    """Bytes where they are, by their numbers."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._length = value.type.sizeof

    def to_string(self) -> str:
        """Return the text, or the numbers."""
        return shown_bytes(_read(self._value, min(self._length, _MAX_READ)), self._length)

    def child(self, number: int) -> tuple[str, Any]:
        """Return the name of a byte, and the byte."""
        return f"[{number}]", self._value[number]


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


def printer(value: Any, visualized: Any, items: Any = Slice, texts: Any = Bytes) -> Any:
    """Return what shows a structure; None for one that is shown as it is.

    `visualized`: what shows a value within it; `items`: the class for slices, `texts` for those of bytes.
    """
    kind = value.type.strip_typedefs()
    fields = [field.name for field in kind.fields()]
    name = (kind.name or "").removeprefix("struct ")
    if fields == ["ptr", "len"] and name.startswith("["):
        return texts(value) if name in _TEXTS else items(value)
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


def _read(array: Any, length: int) -> bytes:
    found = getattr(array, "bytes", None)  # gdb 15
    return bytes(found[:length]) if found is not None else bytes(int(array[number]) for number in range(length))


def shown_bytes(data: bytes, length: int) -> str:
    """Return bytes as the text that they are, with what fills up the rest, or as numbers; `length`: of all."""
    text, rest = _text_in(data)
    if len(text) > _MAX_SHOWN:
        return f'"{text[:_MAX_SHOWN].translate(_ESCAPED)}"…'
    if not rest:
        return f'"{text.translate(_ESCAPED)}"' + ("…" if length > len(data) else "")
    if text and len(set(rest)) == 1 and len(data) == length:
        return f'"{text.translate(_ESCAPED)}" and {len(rest)} times {rest[0]}'
    more = f", … {length - _MAX_NUMBERS} more" if length > _MAX_NUMBERS else ""
    return f"{{{', '.join(map(str, data[:_MAX_NUMBERS]))}{more}}}"


def _text_in(data: bytes) -> tuple[str, bytes]:
    """Return the text that bytes begin with, and what is behind it."""
    end = 0
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text = data[: error.start].decode()
    for letter in text:
        if not (letter.isprintable() or letter in "\n\r\t"):
            break
        end += 1
    return text[:end], data[len(text[:end].encode()) :]


def register(gdb: Any) -> None:
    """Have gdb show values by these."""
    items = type("Items", (Slice, gdb.ValuePrinter), {})  # whose items are read when they are asked for
    texts, arrays = (type(each.__name__, (each, gdb.ValuePrinter), {}) for each in (Bytes, ByteArray))

    def shown(value: Any) -> Any:
        kind = value.type.strip_typedefs()
        try:
            if kind.code == gdb.TYPE_CODE_STRUCT:
                return printer(value, visualized, items, texts)
            pointed = kind.target() if kind.code == gdb.TYPE_CODE_PTR else kind
            if pointed.code != gdb.TYPE_CODE_ARRAY or not _ARRAY.fullmatch(str(pointed)):
                return None
            return arrays(value) if pointed is kind else Plain(ByteArray(value.dereference()).to_string())
        except (gdb.error, RuntimeError, ValueError):  # memory that is not made yet
            return None

    def visualized(value: Any) -> Any:
        return gdb.default_visualizer(value) or gdb.printing.make_visualizer(value)

    gdb.pretty_printers.append(shown)
