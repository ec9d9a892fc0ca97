"""The step in which one of two runs wrote something that the other one did not: `box.extend(found)` of other lengths.

    step = step_that_wrote(alignment, pair, before, cut)
    step.good, step.bad                         # the rows of the same line in both; one of them has the write

What is written next is by another line in each run. The one that wrote more is behind by that, and the other one has
run its line, too, without the write.
"""

from trio_debugmcp.runs.comparing.run_alignment import AlignedStep, RunAlignment
from trio_debugmcp.runs.comparing.run_streams import StreamPair
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import subject_of

_MOST_ROWS = 50_000
"""Between two writes, that are looked through: in between, a loop may write nothing for long."""

_LEFT = frozenset((rows.LINE, rows.RETURN, rows.UNWIND))
"""What shows that a line of a frame is over."""


def step_that_wrote(
    alignment: RunAlignment, pair: StreamPair, before: AlignedStep, cut: AlignedStep, until: AlignedStep
) -> AlignedStep | None:
    """Return the step behind the last one `before`, where both wrote the same, with the write that only one has.

    `cut`: the rows of the lines of the next write in each run, which are not the same; `until`: those of the writes.
    None: it was not found.
    """
    begins, ends, writes = ((each.good, each.bad) for each in (before, cut, until))
    if max(writes[0] - begins[0], writes[1] - begins[1]) > _MOST_ROWS:
        return None
    for wrote, other in ((0, 1), (1, 0)):
        sides = [_Side(alignment, which, pair[which], begins[which], writes[which]) for which in (wrote, other)]
        found = _counterpart(sides[0], sides[1], ends[wrote], ends[other])
        if found:
            rows_of = {wrote: ends[wrote], other: found}
            return AlignedStep(rows_of[0], rows_of[1])
    return None


class _Side:
    """One of the runs, from the last step where both wrote the same to its next write."""

    def __init__(self, alignment: RunAlignment, which: int, stream: int, begin: int, end: int) -> None:
        self._alignment, self._which, self._stream = alignment, which, stream
        self.record = (alignment.good, alignment.bad)[which].record
        self.begin, self.end = begin, end

    def statement(self, line: int) -> int:
        return self._alignment.statement(self._which, line)

    def runs(self, statement: int, first: int, last: int) -> list[int]:
        """Return the LINE rows of a statement of the thread or task."""
        streams = self._alignment.streams[self._which]
        return [
            row
            for row in range(max(first, self.record.first), min(last, self.record.last) + 1)
            if self.statement(row) == statement
            and (len(streams) == 1 or streams.of(subject_of(self.record, row)) == self._stream)
        ]

    def is_over(self, line: int) -> bool:
        """Whether a line had been left before the write."""
        frame = subject_of(self.record, line)
        left = self.record.forth_of(_LEFT, frame, line)
        return 0 < left <= self.end


def _counterpart(own: _Side, other: _Side, line: int, other_line: int) -> int:
    """Return the run of a line, which has written, in the other one, which has left it without, or writes other things.

    0: it has not.
    """
    statement = own.statement(line)
    if not statement:
        return 0
    if line < own.begin:  # it began before, and has called what both wrote last
        found = other.runs(statement, other.begin - _MOST_ROWS, other.begin)[-1:]
    else:  # the same run of it, counted from where both were at the same step
        count = len(own.runs(statement, own.begin, line))
        found = other.runs(statement, other.begin, other.end)[count - 1 : count]
    return found[0] if found and (found[0] == other_line or other.is_over(found[0])) else 0
