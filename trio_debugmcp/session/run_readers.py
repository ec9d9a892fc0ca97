"""`RunReaders`: what each client was shown of recorded runs: its next question is about the same process."""

from collections import OrderedDict
from collections.abc import Hashable

_MOST = 100
"""Pairs of a reader and a run; each has some thousand numbers at most."""

_MOST_ROWS = 5_000


class ShownRun:
    """What a reader was shown of a run.

    Attributes:
        process: the id of the process that the last answer was about; None: the one that was launched.
        row: the moment that was shown last; 0: none.
        left: the number of the stop from which the reader has gone back into the record, and has not come back; 0:
            none. When the program has stopped elsewhere, that is over.
        stop: the number of the stop at which it was asked last; 0: none.
        rows: the numbers that answers to why have shown.
    """

    def __init__(self) -> None:
        self.process: int | None = None
        self.row = 0
        self.left = 0
        self.stop = 0
        self.rows: set[int] = set()

    def of_process(self, process: int | None) -> None:
        """Note which process an answer was about: numbers are those of one process."""
        if process != self.process:
            self.process, self.row, self.left = process, 0, 0
            self.rows.clear()

    def show(self, rows: set[int]) -> None:
        """Note that an answer has shown rows."""
        self.rows |= rows if len(self.rows) < _MOST_ROWS else set()


class RunReaders:
    """What readers were shown, the last ones."""

    def __init__(self) -> None:
        self._shown: OrderedDict[Hashable, ShownRun] = OrderedDict()
        self._moments: OrderedDict[Hashable, str] = OrderedDict()

    def __repr__(self) -> str:
        return f"<RunReaders of {len(self._shown)} runs>"

    def has_moment(self, reader: Hashable, run_id: str) -> None:
        """Note that a reader was shown a moment of a run."""
        self._moments[reader] = run_id
        self._moments.move_to_end(reader)
        while len(self._moments) > _MOST:
            self._moments.popitem(last=False)

    def run_of_moment(self, reader: Hashable) -> str | None:
        """Return the run of the moment that a reader was shown last, from which moves lead on; None: of no run."""
        return self._moments.get(reader)

    def of(self, reader: Hashable, run_id: str) -> ShownRun:
        """Return what a reader was shown of a run."""
        key = reader, run_id
        shown = self._shown.setdefault(key, ShownRun())
        self._shown.move_to_end(key)
        while len(self._shown) > _MOST:
            self._shown.popitem(last=False)
        return shown
