"""Arrays of numpy, its scalars, byte arrays and views of their memory, as they lie in memory.

    memory = memory_of(array)           # None: it is large, or of other things than numbers
    memory.shape, memory.dtype, memory.numbers()

No code of the program runs, and none of numpy's that is Python: arrays are read through the buffer protocol.
"""

from typing import Any

from trio_debugmcp.probe.inside.values import facts

MOST_BYTES = 16_384
"""Of an array that is known: each look at it copies them."""

_BLOCK = 64
"""Numbers that are compared at a time."""

_MOST_BASES = 20
"""As many views, each of the one before, have a common memory at most: of more it is not looked for."""

_IMMUTABLE = 1 << 8
"""Flag of a class whose attributes no program can set."""

_flags: Any = type.__dict__["__flags__"].__get__

_type_dict: Any = type.__dict__["__dict__"].__get__

_viewed: Any = memoryview.__dict__["obj"].__get__

_INDEXING = ("__getitem__", "__setitem__")

_LETTERS = {"float": "efd", "int": "bhilq", "uint": "BHILQ"}
"""By the name of their kind the formats of numbers that Python can read (`struct`)."""

_KINDS = {letter: name for name, letters in _LETTERS.items() for letter in letters}


def is_array(cls: Any) -> bool:
    """Whether objects of a type are memory with numbers in it: byte arrays, numpy's arrays, views of such memory."""
    return cls is bytearray or cls is memoryview or numpy_array(cls) is not None


def is_plain_array(cls: Any) -> bool:
    """Whether a type is numpy's own array: a class that is derived from it may show what it likes."""
    return facts.type_name(cls) == "ndarray" and is_of_numpy(cls)


def numpy_array(cls: Any) -> Any:
    """Return numpy's array type if a type is it, or is derived from it and has its memory; None: it is another one."""
    for base in facts.mro(cls):
        if is_plain_array(base):
            return base
        if "__buffer__" in _type_dict(base):
            return None
    return None


def _has_own_index(cls: Any) -> bool:
    """Whether a type that is derived from numpy's array does not give what lies in memory."""
    found = False
    for base in facts.mro(cls):
        if is_plain_array(base):
            return found
        found = found or any(name in _type_dict(base) for name in _INDEXING)
    return False


def is_of_numpy(cls: Any) -> bool:
    """Whether a type is made by numpy, in C."""
    return facts.module_name(cls) == "numpy" and bool(_flags(cls) & _IMMUTABLE)


class ArrayMemory:
    """The numbers of an array, or of a scalar, at one moment.

    Attributes:
        shape: its sizes; of a scalar there are none.
        letter: the format of a number, as in `struct`.
        data: all numbers, those of the last index beside each other.
        size: how many they are.
        seen: the last write into this memory when it was looked at.
    """

    __slots__ = ("_bytes", "data", "letter", "seen", "shape", "size")

    def __init__(self, shape: tuple[int, ...], letter: str, item: int, data: bytes) -> None:
        self.shape = shape
        self.letter = letter
        self.data = data
        self._bytes = item
        self.size = len(data) // item
        self.seen = 0

    @property
    def dtype(self) -> str:
        """The name of its type of numbers, as numpy has it."""
        return dtype_of(self.letter, self._bytes)

    def numbers(self) -> list[Any]:
        """Return them as Python has them."""
        return memoryview(self.data).cast(self.letter).tolist() if self.data else []  # type: ignore[call-overload]

    def differing(self, old: "ArrayMemory", most: int) -> list[tuple[int, Any]]:
        """Return place and number where it differs from another one of its kind, `most` and one if there are more.

        A NaN is as another one, and -0.0 is another number than 0.0.
        """
        changes: list[tuple[int, Any]] = []
        block = _BLOCK * self._bytes
        for begin in range(0, len(self.data), block):
            now, was = self.data[begin : begin + block], old.data[begin : begin + block]
            if now == was:
                continue
            numbers, known = (memoryview(part).cast(self.letter).tolist() for part in (now, was))  # type: ignore[call-overload]
            for place, number in enumerate(numbers):
                if place >= len(known) or repr(number) != repr(known[place]):
                    changes.append((begin // self._bytes + place, number))
                    if len(changes) > most:
                        return changes
        return changes

    def nested(self, numbers: list[Any]) -> Any:
        """Return these numbers in lists by its shape; the number itself where it has none."""
        if not self.shape:
            return numbers[0]
        for length in self.shape[:0:-1]:
            numbers = [numbers[place : place + length] for place in range(0, len(numbers), max(length, 1))]
        return numbers

    def index(self, place: int) -> Any:
        """Return what a program writes into the brackets for the number at a place."""
        if len(self.shape) == 1:
            return place
        index: list[int] = []
        for length in reversed(self.shape):
            place, rest = divmod(place, length)
            index.insert(0, rest)
        return tuple(index)

    def is_as(self, other: "ArrayMemory") -> bool:
        """Whether the other is the same, bit for bit."""
        return self.data == other.data and self.shape == other.shape and self.letter == other.letter


def dtype_of(letter: str, item: int) -> str:
    """Return numpy's name of the numbers with a format, of so many bytes each."""
    return "bool" if letter == "?" else f"{_KINDS[letter]}{8 * item}"


def memory_of(value: Any) -> ArrayMemory | None:
    """Return what is in an array or a scalar, if it is not too large, and of numbers that Python can read."""
    if type(value) is bytearray:  # copied at once: while there is a view of it, it cannot grow in another thread
        return ArrayMemory((len(value),), "B", 1, bytes(value)) if len(value) <= MOST_BYTES else None
    cls = type(value)
    try:
        if cls is memoryview:
            view: Any = value if is_array(type(base_of(value))) or type(_viewed(value)) is bytes else None
        else:
            view = None if _has_own_index(cls) else memoryview(value)
        if view is None:
            return None
    except (BufferError, TypeError, ValueError):
        return None
    is_known = (view.format == "?" or view.format in _KINDS) and view.nbytes <= MOST_BYTES
    return ArrayMemory(view.shape or (), view.format, view.itemsize, view.tobytes()) if is_known else None


def shape_of(value: Any) -> str:
    """Return the shape of an array, and the type of its numbers if that is known, as its text has them."""
    view = memoryview(value)
    letter = view.format
    is_known = letter == "?" or letter in _KINDS
    return f"shape={view.shape}" + (f", dtype={dtype_of(letter, view.itemsize)}" if is_known else "")


def base_of(array: Any) -> Any:
    """Return the array that has the memory which another one shows, or None."""
    found = None
    for _ in range(_MOST_BASES):
        array = _shown_by(array)
        if array is None or not is_array(type(array)):
            break
        found = array
    return found


def _shown_by(array: Any) -> Any:
    if type(array) is memoryview:
        try:
            return _viewed(array)
        except ValueError:  # it was released
            return None
    own = numpy_array(type(array))
    return None if own is None else facts.class_attribute(own, "base").__get__(array)
