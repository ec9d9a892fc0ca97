"""The files of a recorded process: blocks of words and of texts that outlive the process, whatever ends it.

    rows = WordBlocks(files, "rows", width=3)
    number = rows.add(first_word, second, third)        # from 1
    texts.number("'tea'")

The block at hand is mapped into memory, so that the system has what is in it when the process is killed. A full one is
compressed, column by column, into a file of its own, and begun anew. Its room on the disk is reserved before it is
used: writing into a map for which there is none would end the program.
"""

import _struct
import _thread
import mmap
import posix
import zlib
from typing import Any

MAGIC = 0x5452_4D44_5255_4E01
"""First word of each file of words; its last byte is the version."""

HEAD_WORDS = 8

ENTRIES = 65_536
"""In one block of words."""

ROW_BYTES, HEAD_BYTES = 24, 64
"""Of a row, and of what is before the first one in the file."""

LAST_PLACE = HEAD_BYTES + ROW_BYTES * (ENTRIES - 1)
"""The place in the file of the last row of a block."""

TEXT_BYTES = 1 << 20
"""Of the block of texts at hand."""

RUNNING, ENDED, FULL_DISK, BROKEN = 0, 1, 2, 3
"""How a recording ended, in a word of the head: what is known when nothing can be written any more."""

KEY_MARK = 1 << 31
"""In the length of a text that is a key."""

_WORD = 8

put_words: Any = _struct.Struct("QQQ").pack_into
"""Writes a row into a map, without a thread coming in between."""

put_row: Any = _struct.Struct("IIIIQ").pack_into
"""The same by (subject, kind and key, object, text, owner)."""

put_begin: Any = _struct.Struct("II").pack_into
"""Writes a row that has no value and no owner, by (subject, kind and key)."""

put_row_and_begin: Any = _struct.Struct("IIIIQII").pack_into
"""Writes a row, and the next one that has no value and no owner."""

_put_pair: Any = _struct.Struct("QII").pack_into

_flags = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC


class RunDirectory:
    """The directory of a process, and what its files take.

    Attributes:
        bytes: of all that is written and still there.
    """

    def __init__(self, path: str, most_bytes: int) -> None:
        self.path = path
        self.most_bytes = most_bytes
        self.bytes = 0
        self.lock = _thread.RLock()
        self.opened: list[Any] = []

    def mapped(self, name: str, size: int) -> Any:
        """Map a new file of zeros that has its room on the disk."""
        file = posix.open(f"{self.path}/{name}", _flags, 0o600)
        try:
            posix.posix_fallocate(file, 0, size)
            made = mmap.mmap(file, size)
        finally:
            posix.close(file)
        self.bytes += size
        self.opened.append(made)
        return made

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole."""
        file = posix.open(f"{self.path}/{name}", _flags | posix.O_TRUNC, 0o600)
        try:
            self.bytes += write_whole(file, data)
        finally:
            posix.close(file)

    def remove(self, name: str, size: int) -> None:
        posix.unlink(f"{self.path}/{name}")
        self.bytes -= size


def write_whole(file: int, data: bytes) -> int:
    """Write all of some bytes; return how many these were."""
    left = data
    while left:
        left = left[posix.write(file, left) :]
    return len(data)


def _packed(words: list[int]) -> bytes:
    return b"".join([each.to_bytes(_WORD, "little") for each in words])


class WordBlocks:
    """Entries of some words each, numbered from 1.

    Attributes:
        next: the number of the next entry.
        place: where in the map it will be, if it is a row and has room; moved with `next`, as computing is dear.
        base: that of the first one in the block at hand.
        view: the words of that block; `map`: its bytes, with its head.
        drops: the oldest blocks go where the files become too large, but for `pinned` ones.
    """

    __slots__ = (
        *("_directory", "_kept", "_name", "_width"),
        *("base", "drops", "map", "next", "pinned", "place", "view", "words"),
    )

    def __init__(self, directory: RunDirectory, name: str, width: int) -> None:
        self._directory = directory
        self._name = name
        self._width = width
        self.words = ENTRIES * width
        self.next = 1
        self.base = 1
        self.place = HEAD_BYTES
        self._kept: list[tuple[int, str, int]] = []
        self.pinned = frozenset[int]()
        self.drops = False
        self.map = directory.mapped(name, (HEAD_WORDS + self.words) * _WORD)
        self.map[: HEAD_WORDS * _WORD] = _packed([MAGIC, 1, width, RUNNING, 0, 0, 0, 0])
        self.view = memoryview(self.map)[HEAD_WORDS * _WORD :].cast("Q")

    def add(self, first: int, second: int, third: int) -> int:
        """Add an entry of three words; return its number."""
        number, place = self.next, self.place
        self.next = number + 1
        self.place = place + ROW_BYTES
        if place > LAST_PLACE:
            place = self.place_of(number)
        put_words(self.map, place, first, second, third)
        return number

    def add_row(self, subject: int, kind: int, known: int, text: int, owner: int) -> int:
        """Add a row by the halves of its words, which are quicker to make than these; return its number."""
        number, place = self.next, self.place
        self.next = number + 1
        self.place = place + ROW_BYTES
        if place > LAST_PLACE:
            place = self.place_of(number)
        put_row(self.map, place, subject, kind, known, text, owner)
        return number

    def add_line(self, subject: int, kind: int) -> int:
        """Add a row that has no value and no owner."""
        number, place = self.next, self.place
        self.next = number + 1
        self.place = place + ROW_BYTES
        if place > LAST_PLACE:
            place = self.place_of(number)
        put_begin(self.map, place, subject, kind)
        return number

    def reserve(self) -> int:
        """Return the number of a new entry that `put` will write."""
        number = self.next
        self.next = number + 1
        if (number - self.base) * self._width >= self.words:
            self.room(number)
        return number

    def put(self, number: int, first: int, low: int, high: int) -> None:
        """Write an entry of two words that was reserved, by the halves of the second one."""
        place = (number - self.base) * 2
        if place >= 0:
            _put_pair(self.map, place * _WORD + HEAD_BYTES, first, low, high)

    def place_of(self, number: int) -> int:
        """Return the place in the map of an entry that had no room in the block."""
        return self.room(number) * _WORD + HEAD_BYTES

    def room(self, number: int) -> int:
        """Begin the block anew, if no other thread has done it; return the place of an entry that had no room."""
        with self._directory.lock:
            while number - self.base >= ENTRIES:
                self._keep()
        return (number - self.base) * self._width

    def _keep(self) -> None:
        columns = [self.view[place :: self._width].tobytes() for place in range(self._width)]
        packed = [zlib.compress(column, 1) for column in columns]
        head = _packed([MAGIC, self.base, self._width, ENTRIES, *map(len, packed)])
        block = (self.base - 1) // ENTRIES
        name = f"{self._name}-{block:06d}.z"
        data = b"".join([len(head).to_bytes(_WORD, "little"), head, *packed])
        self._directory.write(name, data)
        self._kept.append((block, name, len(data)))
        if self.drops:
            self._drop()
        self.view[:] = memoryview(bytes(self.words * _WORD)).cast("Q")
        self.map[_WORD : 2 * _WORD] = (self.base + ENTRIES).to_bytes(_WORD, "little")
        self.base += ENTRIES  # no other thread comes in between
        self.place -= self.words * _WORD

    def _drop(self) -> None:
        """Remove the oldest blocks where all files together are too large."""
        directory = self._directory
        while directory.bytes > directory.most_bytes and len(self._kept) > 1:
            oldest = next((each for each in self._kept[:-1] if each[0] not in self.pinned), None)
            if oldest is None:
                return
            self._kept.remove(oldest)
            directory.remove(oldest[1], oldest[2])

    def pin(self, blocks: int) -> None:
        """Have the block at hand stay, and some before it."""
        block = (self.next - 1) // ENTRIES
        self.pinned = frozenset(range(block - blocks, block + 1))

    def end(self, how: int) -> None:
        """Say in the head how the recording ended."""
        self.map[3 * _WORD : 4 * _WORD] = how.to_bytes(_WORD, "little")


class TextBlocks:
    """Texts, numbered from 1; 1 is that of what was deleted."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        self._map = directory.mapped("texts", TEXT_BYTES)
        self._map[:_WORD] = (1).to_bytes(_WORD, "little")  # the number of the first text in it
        self._place = _WORD
        self._block = 0
        self._written = 0
        self.count = 0

    def add(self, text: str, is_key: bool = False) -> int:
        """Write a text; return its number, or 0 if texts have taken their share of the files."""
        if self._written > self._directory.most_bytes // 3 and not is_key:
            return 0
        data = text.encode("utf-8", "surrogatepass")
        head = (len(data) + 1 | (KEY_MARK if is_key else 0)).to_bytes(4, "little")
        size = len(data) + 4
        with self._directory.lock:
            if self._place + size + 4 > TEXT_BYTES:
                self._keep()
            place = self._place
            self._map[place + 4 : place + size] = data
            self._map[place : place + 4] = head
            self._place = place + size
            self.count += 1
            return self.count

    def _keep(self) -> None:
        data = zlib.compress(self._map[: self._place], 1)
        self._directory.write(f"texts-{self._block:06d}.z", data)
        self._written += len(data)
        self._block += 1
        self._map[_WORD:] = bytes(TEXT_BYTES - _WORD)
        self._map[:_WORD] = (self.count + 1).to_bytes(_WORD, "little")
        self._place = _WORD
