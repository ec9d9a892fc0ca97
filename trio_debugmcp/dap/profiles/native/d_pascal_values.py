"""Texts of D and Pascal for gdb, which runs this file itself, and slices of D.

    string, char[] of D             `"fig"`; wstring and dstring the same
    other slices of D               their items
    AnsiString, string[8], arrays of Char of Pascal     `'fig'`

What gdb itself shows of an AnsiString in a record are the bytes of the pointer to it; and it ends by an internal error
where it prints an array of such records by its own means.
"""

from collections.abc import Iterator
from typing import Any

_MOST_ITEMS = 10_000
"""Of a slice that is not made yet, whose length is any number."""

_MOST_CHARACTERS = 200

_ENCODINGS = {1: "utf-8", 2: "utf-16-le", 4: "utf-32-le"}
"""Of the characters of D, by their size."""

_ANSI = "AnsiString"


class ShownText:
    """A text, as a value without parts."""

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def to_string(self) -> str:
        """Return it, in its quotes."""
        return self._shown


class SliceOfD:
    """Items behind a pointer."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._length = int(value["length"])

    def to_string(self) -> str:
        """Return how many there are."""
        return f"slice of length {self._length}"

    def num_children(self) -> int:
        """Return how many items are shown."""
        return min(self._length, _MOST_ITEMS)

    def child(self, number: int) -> tuple[str, Any]:
        """Return the name of an item, and the item."""
        return f"[{number}]", (self._value["ptr"] + number).dereference()

    def children(self) -> Iterator[tuple[str, Any]]:
        """Yield the items."""
        return map(self.child, range(self.num_children()))

    def display_hint(self) -> str:
        """Return how the items are shown."""
        return "array"


class ArrayOfRecords(SliceOfD):
    """An array of Pascal, item by item."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._low, high = (int(bound) for bound in value.type.strip_typedefs().range())
        self._length = max(0, high - self._low + 1)

    def to_string(self) -> str:
        """Return how many there are."""
        return f"array of length {self._length}"

    def child(self, number: int) -> tuple[str, Any]:
        """Return the index of an item, and the item."""
        return f"[{self._low + number}]", self._value[self._low + number]


def quoted(data: bytes, encoding: str, quote: str, has_more: bool) -> str:
    """Return a text in quotes, as people write it in the language."""
    text = data.decode(encoding, "replace")
    if has_more:
        text = text.rstrip("\ufffd")  # a letter of which a part was read
    if quote == '"':
        text = text.translate({34: '\\"', 92: "\\\\", 10: "\\n", 13: "\\r", 9: "\\t"})
    else:
        text = text.replace("'", "''")
    return f"{quote}{text[:_MOST_CHARACTERS]}{quote}{'…' if has_more or len(text) > _MOST_CHARACTERS else ''}"


def ansi_place(address: int, length: int, read: Any) -> int | None:
    """Return where the characters of an AnsiString are whose value is at an address for gdb; None if that is not known.

    gdb has the address of the characters, or of the pointer to them. Before the characters stands how many there are,
    and behind them a zero.
    """
    pointed = int.from_bytes(read(address, 8), "little")
    for place in (address, pointed):
        try:
            counted = int.from_bytes(read(place - 8, 8), "little")
            if counted == length and read(place + length, 1) == b"\0":
                return place
        except RuntimeError:  # gdb.MemoryError: it leads nowhere
            continue
    return None


def of_d(value: Any, items: Any, read: Any) -> Any:
    """Return what shows a structure of D; None if it is neither a text nor a slice. `items`: the class for slices."""
    kind = value.type.strip_typedefs()
    if [field.name for field in kind.fields()] != ["length", "ptr"]:
        return None
    letter = kind["ptr"].type.target().strip_typedefs().unqualified()
    if str(letter) not in ("char", "wchar", "dchar"):
        return items(value) if (kind.name or "").endswith("[]") else None
    length, size = int(value["length"]), letter.sizeof
    data = read(int(value["ptr"]), min(length, _MOST_CHARACTERS) * size) if length else b""
    return ShownText(quoted(data, _ENCODINGS[size], '"', length > _MOST_CHARACTERS))


def of_pascal(value: Any, records: Any, read: Any, structure: int) -> Any:
    """Return what shows an array of Pascal that is a text, or has records with some; None of another.

    `records`: the class for these; `structure`: gdb's number for a type that has fields.
    """
    kind = value.type.strip_typedefs()
    item = kind.target().strip_typedefs()
    if item.code == structure:
        has_text = any(field.type.strip_typedefs().name == _ANSI for field in item.fields())
        return records(value) if has_text else None
    if str(kind.target()) != "Char":
        return None
    low, high = kind.range()
    length = int(high) - int(low) + 1
    if length <= 0:
        return ShownText("''")
    place: int | None = int(value.address)
    if kind.name == _ANSI:
        place = ansi_place(int(value.address), length, read)
    if place is None:
        return ShownText(f"<a text of {length} characters, which gdb does not find>")
    data = read(place, min(length, _MOST_CHARACTERS))
    return ShownText(quoted(data, "utf-8", "'", length > _MOST_CHARACTERS))


def register(gdb: Any) -> None:
    """Have gdb show values by these."""
    items = type("ItemsOfD", (SliceOfD, gdb.ValuePrinter), {})  # which are read when they are asked for
    records = type("RecordsOfPascal", (ArrayOfRecords, gdb.ValuePrinter), {})

    def read(address: int, size: int) -> bytes:
        return bytes(gdb.selected_inferior().read_memory(address, size))

    def shown_text(value: Any) -> Any:
        structure, code = gdb.TYPE_CODE_STRUCT, value.type.strip_typedefs().code
        try:
            if code == structure and gdb.current_language() == "d":
                return of_d(value, items, read)
            if code == gdb.TYPE_CODE_ARRAY and gdb.current_language() == "pascal":
                return of_pascal(value, records, read, structure)
        except (gdb.error, RuntimeError, ValueError, TypeError):  # memory that is not made yet
            return None
        return None

    gdb.pretty_printers.append(shown_text)
