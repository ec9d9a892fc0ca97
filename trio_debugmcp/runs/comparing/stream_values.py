"""What the common statements of each thread and task of a run wrote and returned, in order.

    values = StreamValues(alignment, 0, 200_001)
    for name, value, line, row in values.of(stream, end): ...

Rows are read once for all threads and tasks, and no further than they are asked for: what is of another one is kept
until that is asked about, which is once.
"""

from array import array
from collections.abc import Iterator

from trio_debugmcp.runs.comparing.run_alignment import RunAlignment
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import DELETED, Row
from trio_debugmcp.runs.files.row_search import subject_of

StreamValue = tuple[tuple[int, str], str | int, int, int]
"""Kind and name, the text or the number that it is the text of, the LINE row, its own row."""

_MASK = (1 << 28) - 1

_NUMBER = 1 << 31
"""From here on the number of a text is an integer itself, the same one in each run."""

_WITH_VALUE = frozenset((rows.WRITE, rows.FIELD, rows.RETURN))

_WORDS = 4
"""Of each value that is kept: its row's first word, the number of its text, the LINE row, its own row."""


class StreamValues:
    """The values of one of two runs.

    Args:
        which: 0: the good one, 1: the bad one.
        most: values that are kept of each thread or task.
    """

    def __init__(self, alignment: RunAlignment, which: int, most: int) -> None:
        self._alignment, self._which, self._most = alignment, which, most * _WORDS
        self._streams = alignment.streams[which]
        self._record = (alignment.good, alignment.bad)[which].record
        self._blocks = self._record.rows.blocks.words()
        self._kept: dict[int, array[int]] = {number: array("Q") for number in range(len(self._streams) + 1)}
        self._lines: dict[int, int] = {}  # of each frame the line under way
        self._stream_of: dict[int, int] = {}
        self._names: dict[int, str] = {}

    def of(self, stream: int, end: int) -> Iterator[StreamValue]:
        """Yield the values of a thread or task before a row."""
        kept, place = self._kept[stream], 0
        try:
            while True:
                while place == len(kept):
                    if place >= self._most or not self._read_on():
                        return
                head, number, line, row = kept[place : place + _WORDS]
                if row >= end:
                    return
                yield self._value(head, number, line, row)
                place += _WORDS
        finally:
            del self._kept[stream]

    def _value(self, head: int, number: int, line: int, row: int) -> StreamValue:
        kind, key = head >> 60, head >> 32 & _MASK
        value: str | int = number
        if number < _NUMBER:
            found = Row(row, kind, 0, head & 0xFFFF_FFFF, number, 0, line)
            value = "" if number == DELETED else self._record.text(found)
        if kind == rows.RETURN:  # its key is the code
            return (kind, ""), value, line, row
        if key not in self._names:
            self._names[key] = self._record.label(key)
        return (kind, self._names[key]), value, line, row

    def _read_on(self) -> bool:
        """Keep the values of one more block of rows; return whether there was one."""
        block = next(self._blocks, None)
        if block is None:
            return False
        first, (heads, values, owners) = block
        lines, begin = self._lines, self._record.first
        judged, kept = 0, None
        for place, head in enumerate(heads):
            kind, subject = head >> 60, head & 0xFFFF_FFFF
            if kind == rows.LINE:
                lines[subject] = first + place
            if kind not in _WITH_VALUE:
                continue
            owner = owners[place]
            is_common = owner >= begin if kind == rows.FIELD else lines.get(subject) == owner
            if kind == rows.RETURN:
                lines.pop(subject, None)
            if not is_common:
                continue
            if owner != judged:  # most lines have several values
                judged, kept = owner, self._kept_of(owner)
            if kept is not None and len(kept) < self._most:
                kept.extend((head, values[place] >> 32, owner, first + place))
        return True

    def _kept_of(self, line: int) -> "array[int] | None":
        """Return where the values of a line are kept; None: they do not count, or are not asked for any more."""
        alignment = self._alignment
        if alignment.changed[self._which] and alignment.is_changed(self._which, line):
            return None
        if len(self._streams) == 1:
            return self._kept.get(1)
        frame = subject_of(self._record, line)
        stream = self._stream_of.get(frame)
        if stream is None:
            stream = self._stream_of[frame] = self._streams.of(frame)
        return self._kept.get(stream)
