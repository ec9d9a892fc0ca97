"""`KnownArrays`: what is known to be in arrays of numpy and byte arrays, and the rows about what is found to differ.

    arrays.look(known, array, line)             # first sight: its first numbers, as SEEN rows
    arrays.compare(known, array, line, FIELD)   # what differs was written by that line; GAP: by an unknown one

Of an array that is large, or of other things than numbers, nothing is known: its `content` is None.
"""

from itertools import islice
from typing import Any

from trio_debugmcp.engine.inside.recorder.array_memory import ArrayMemory, base_of, memory_of
from trio_debugmcp.engine.inside.recorder.value_words import (
    FIELD,
    FIRST,
    FOUND,
    MOST_SAID,
    SEEN,
    SIZE,
    WRITTEN,
    ValueWords,
)

_MOST_WRITTEN = 10_000
"""Arrays whose last write is known."""


class KnownArrays:
    """The arrays, and the writer of rows about them."""

    def __init__(self, rows: Any, words: ValueWords, objects: Any, said: set[tuple[int, int]]) -> None:
        self._add = rows.add
        self._words = words
        self._objects = objects
        self._said = said
        self._writes: dict[int, int] = {}
        self._count = self._forgotten = 0

    def look(self, known: Any, array: Any, line: int) -> None:
        """Take what is in an array as known, and write its first numbers."""
        memory = known.content = memory_of(array)
        if memory is None:
            return
        memory.seen = self._written(known, array)
        for place, number in enumerate(islice(memory.numbers(), MOST_SAID)):
            key = self._words.item_key(memory.index(place))
            self._add(SEEN | key << 32 | known.number, self._words.of(number), line)
        self._say_size(known, memory, memory.size, FIRST, line)

    def compare(self, known: Any, array: Any, line: int, how: int) -> None:
        """Write how an array differs from what is known of it, as rows of one kind, FIELD or GAP."""
        old = known.content
        if old is None:
            self.look(known, array, line)
            return
        new = memory_of(array)
        if new is not None and new.is_as(old):
            written = self._written(known, array)
            if old.seen != written:  # another array of this memory was written, and may have changed it and back
                old.seen = written
                self.doubt(known, line)
            return
        known.content = new
        changes = [] if new is None else self._changes(old, new)
        if not changes or len(changes) > MOST_SAID:
            self._add(how | known.number, 0, line)
        else:
            for key, word in changes:
                if how == FIELD:
                    self._said.add((known.number, key))
                self._add(how | key << 32 | known.number, word, line)
        self._say_size(known, new or old, old.size, WRITTEN if how == FIELD else FOUND, line)
        if how == FIELD:
            self._take_write(known, array)
        if new is not None:
            new.seen = self._written(known, array)

    def _memory_number(self, known: Any, array: Any) -> int:
        """Return the number of the array whose memory it is."""
        base = base_of(array)
        return int(known.number if base is None else self._objects.of(base).number)

    def _written(self, known: Any, array: Any) -> int:
        """Return which write was the last into the memory of an array, or that up to which none is known."""
        return self._writes.get(self._memory_number(known, array), self._forgotten)

    def _take_write(self, known: Any, array: Any) -> None:
        """Number a write into the memory of an array: once, as its base is looked at too, unless that is large."""
        base = base_of(array)
        if base is not None and self._objects.of(base).content is not None:
            return
        if len(self._writes) >= _MOST_WRITTEN:
            self._writes.clear()
            self._forgotten = self._count
        self._count += 1
        self._writes[self._memory_number(known, array)] = self._count

    def _changes(self, old: ArrayMemory, new: ArrayMemory) -> list[tuple[int, int]]:
        """Return key and word where two differ; none if there are many, or they cannot be compared one by one."""
        if old.letter != new.letter or (old.shape != new.shape and (len(old.shape), len(new.shape)) != (1, 1)):
            return []
        item_key, word = self._words.item_key, self._words.of
        differing = new.differing(old, MOST_SAID)
        if len(differing) > MOST_SAID or old.size - new.size > MOST_SAID:
            return []
        changes = [(item_key(new.index(place)), word(number)) for place, number in differing]
        return changes + [(item_key(place), self._words.deleted) for place in range(new.size, old.size)]

    def is_as_known(self, known: Any, array: Any) -> bool:
        """Whether an array that was looked at is as it was then, bit for bit, and nothing has written it since."""
        memory = memory_of(array)
        return memory is not None and memory.is_as(known.content) and known.content.seen == self._written(known, array)

    def doubt(self, known: Any, line: int) -> None:
        """Write that it is not known what changed an array last, though it is as it was."""
        if known.content is not None:
            self._say_size(known, known.content, known.content.size, FOUND, line)

    def _say_size(self, known: Any, memory: ArrayMemory, before: int, how: int, line: int) -> None:
        self._add(SIZE | how << 32 | known.number, memory.size << 32 | before, line)
