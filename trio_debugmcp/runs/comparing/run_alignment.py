"""Two recorded processes walked in step: which statements are the same in both, and where their ways part.

    alignment = RunAlignment(good, bad)
    for stream in alignment.streams():              # a thread each, in the order in which they began
        parting = alignment.parting(stream)

A statement is the same if its file below the project, its function and its text are: not by its line. What only one
source has is passed over, and the first of it is kept.
"""

from collections.abc import Iterator

import msgspec

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import called_by
from trio_debugmcp.runs.past.past_process import PastProcess

CHANGED = 0
"""The key of statements that only one of the sources has."""

_MASK = (1 << 28) - 1

_MOST_SKIPPED = 200_000
"""Steps of a loop that one run has more rounds of than the other."""


class AlignedStep(msgspec.Struct, frozen=True):
    """A step that both runs have made: the LINE rows in each."""

    good: int
    bad: int


class CountFold(msgspec.Struct, frozen=True):
    """A loop that ran more rounds in one run than in the other: its header's last common rounds, and both counts."""

    step: AlignedStep
    good: int
    bad: int


class RunParting(msgspec.Struct, frozen=True):
    """Where the ways of a thread part.

    Attributes:
        same: how many equal steps there were before, loops with other counts included.
        last: the last common step; None: the very first differ.
        good, bad: the next LINE row of each; 0: it ends there.
        folds: loops that only ran another number of rounds.
        changed: what ran between `last` and the next steps, and only one of the sources has; 0: nothing.
    """

    same: int
    last: AlignedStep | None
    good: int
    bad: int
    folds: list[CountFold]
    changed: AlignedStep = AlignedStep(0, 0)

    @property
    def has_ended(self) -> bool:
        """Whether both ended without parting."""
        return not self.good and not self.bad


class RunAlignment:
    """Two processes, and the statements that both have."""

    def __init__(self, good: PastProcess, bad: PastProcess) -> None:
        self.good, self.bad = good, bad
        names = [_statement_names(past) for past in (good, bad)]
        common = sorted(names[0].keys() & names[1].keys())
        numbers = {name: number for number, name in enumerate(common, 1)}
        self._keys = [_site_keys(past, numbers) for past in (good, bad)]
        self._loops = {numbers[name] for name in common if names[0][name]}
        self.changed: list[int] = [0, 0]

    def streams(self) -> list[tuple[int, int]]:
        """Return the threads of both, paired in the order in which they began; 0: there is none."""
        first, second = _threads(self.good.record), _threads(self.bad.record)
        most = max(len(first), len(second))
        return [
            (first[place] if place < len(first) else 0, second[place] if place < len(second) else 0)
            for place in range(most)
        ]

    def parting(self, threads: tuple[int, int], *, is_only: bool) -> RunParting:
        """Return where the ways of a pair of threads part. `is_only`: they are the only ones."""
        walks = [
            _Walk(past.record, keys, None if is_only else thread)
            for past, keys, thread in zip((self.good, self.bad), self._keys, threads, strict=True)
        ]
        found = _walked(walks[0], walks[1], self._loops)
        self.changed = [before or walk.changed for before, walk in zip(self.changed, walks, strict=True)]
        return found

    def is_changed(self, which: int, line: int) -> bool:
        """Whether a LINE row of one of the runs is of a statement that only its source has."""
        record = (self.good, self.bad)[which].record
        head = record.rows.word(line, 0)  # not the whole row: this is asked for each value
        return head >> 60 != rows.LINE or self._keys[which].get(head >> 32 & _MASK, CHANGED) == CHANGED


def _walked(good: "_Walk", bad: "_Walk", loops: set[int]) -> RunParting:
    same, folds = 0, list[CountFold]()
    last: AlignedStep | None = None
    while True:
        while good.key == bad.key != CHANGED:
            last = AlignedStep(good.row, bad.row)
            same += 1
            good.advance()
            bad.advance()
        is_over = last is None or not good.key or not bad.key
        fold = None if is_over or last is None else _folded(good, bad, last, loops)
        if fold is None:
            return RunParting(same, last, good.row, bad.row, folds, AlignedStep(good.skipped, bad.skipped))
        folds.append(fold)


def _folded(good: "_Walk", bad: "_Walk", last: AlignedStep, loops: set[int]) -> CountFold | None:
    """Continue behind a loop that one run has left and the other has not, if it leaves it by the same way."""
    walks, headers = (good, bad), (last.good, last.bad)
    records = (good.record, bad.record)
    if good.keys.get(records[0].row(last.good).key) not in loops:
        return None
    frames = [record.row(row).subject for record, row in zip(records, headers, strict=True)]
    for longer in (0, 1):
        shorter = 1 - longer
        wanted, frame = walks[shorter].key, frames[longer]
        if records[shorter].row(walks[shorter].row).subject != frames[shorter]:
            continue
        header = records[longer].row(headers[longer]).key
        rounds = walks[longer].skipped_to(wanted, frame, header)
        if rounds:
            counts = [
                _rounds(record, row) + (rounds if place == longer else 0)
                for place, (record, row) in enumerate(zip(records, headers, strict=True))
            ]
            return CountFold(last, counts[0], counts[1])
    return None


def _rounds(record: ProcessRecord, header: int) -> int:
    """Return how many rounds a loop had begun in its frame before this run of its header."""
    row, count, at = record.row(header), 0, header
    while at := record.back(rows.LINE, row.key, row.subject, at):
        count += 1
    return count


class _Walk:
    """One thread of one run, step by step.

    Attributes:
        key, row: of the step at hand; 0 at the end.
        changed: the first LINE row of a statement that only this source has; `skipped`: the last one that was passed
            over for the step at hand.
    """

    def __init__(self, record: ProcessRecord, keys: dict[int, int], thread: int | None) -> None:
        self.record, self.keys = record, keys
        self.changed = 0
        self._thread = thread
        self._steps = self._made()
        self.key = self.row = self.skipped = 0
        self.advance()

    def advance(self) -> None:
        """Go to the next step."""
        self.skipped = 0
        self.key, self.row = next(self._steps, (0, 0))

    def skipped_to(self, key: int, frame: int, header: int) -> int:
        """Pass on to the next step of a key in a frame; return how many more rounds the loop begins before it.

        0: it does not come, or not behind the loop's header, and nothing is passed over.
        """
        rounds, at = 0, self.row
        record = self.record
        for _ in range(_MOST_SKIPPED):
            at = record.forth_of(frozenset((rows.LINE,)), frame, at)
            if not at:
                return 0
            line = record.row(at)
            if self.keys.get(line.key) == key:
                while rounds and self.row and self.row < at:
                    self.advance()
                return rounds
            rounds += line.key == header
        return 0

    def _made(self) -> Iterator[tuple[int, int]]:
        threads: dict[int, int] = {}
        for first, columns in self.record.rows.blocks():
            for place, word in enumerate(columns[0]):
                if word >> 60 != rows.LINE:
                    continue
                key = self.keys.get(word >> 32 & _MASK, CHANGED)
                if self._thread is not None and self._of_thread(word & 0xFFFF_FFFF, threads) != self._thread:
                    continue
                if key == CHANGED:
                    self.skipped = first + place
                    self.changed = self.changed or self.skipped
                    continue
                yield key, first + place

    def _of_thread(self, frame: int, threads: dict[int, int]) -> int:
        known = threads.get(frame)
        if known is None:
            known = threads[frame] = self.record.frame(frame).thread
        return known


def _threads(record: ProcessRecord) -> list[int]:
    """Return the threads of a process, in the order in which their first recorded calls began."""
    return list(dict.fromkeys(record.frame(frame).thread for frame in called_by(record, 0)))


StatementName = tuple[str, str, str]
"""The file below the project, the function, and the text."""


def _statement_names(past: PastProcess) -> dict[StatementName, bool]:
    """Return the statements of the sources of what ran, and whether they are loops."""
    found: dict[StatementName, bool] = {}
    for code in past.record.codes:
        scope = past.scopes.of_code(code.number)
        if scope is None:
            continue
        file = file_below(past.record, code.file)
        for statement in scope.statements:
            found[file, code.name, statement.text] = statement.is_loop
    return found


def _site_keys(past: PastProcess, numbers: dict[StatementName, int]) -> dict[int, int]:
    """Return the numbers of the common statements by the sites of one run."""
    keys: dict[int, int] = {}
    for code in past.record.codes:
        scope = past.scopes.of_code(code.number)
        file = file_below(past.record, code.file)
        for site in past.record.sites_of(code.number):
            statement = None if scope is None else scope.statement(site.line)
            if statement is not None:
                keys[site.number] = numbers.get((file, code.name, statement.text), CHANGED)
    return keys


def file_below(record: ProcessRecord, file: str) -> str:
    """Return a file as it is named from the project's root."""
    return file.removeprefix(record.facts.root.rstrip("/") + "/")
