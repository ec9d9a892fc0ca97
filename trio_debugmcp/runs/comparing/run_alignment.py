"""Two recorded processes walked in step: which statements are the same in both, and where their ways part.

    alignment = RunAlignment(good, bad)
    for pair in alignment.pairs():                  # threads and tasks, in the order in which they began
        parting = alignment.parting(pair)

A statement is the same if its file below the project, its function and its text are: not by its line. What only one
source has is passed over, and the first of it is kept.
"""

import msgspec

from trio_debugmcp.runs.comparing.run_streams import RunStreams, StreamPair, paired
from trio_debugmcp.runs.comparing.step_walks import CHANGED, RunSteps, StepWalk, first_changed, last_skipped, together
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.past_process import PastProcess

_MASK = (1 << 28) - 1


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
        self.streams = (RunStreams(good.record), RunStreams(bad.record))
        parts = zip((good.record, bad.record), self._keys, self.streams, strict=True)
        self._steps = [RunSteps(record, keys, streams) for record, keys, streams in parts]

    def pairs(self) -> list[StreamPair]:
        """Return the threads and tasks of both, each with its counterpart, in the order in which they began."""
        return paired(*self.streams)

    @property
    def has_tasks(self) -> bool:
        """Whether coroutines ran in one of them."""
        return any(streams.has_tasks for streams in self.streams)

    def parting(self, pair: StreamPair) -> RunParting:
        """Return where the ways of a thread or task and its counterpart part."""
        walks = [StepWalk(steps, stream) for steps, stream in zip(self._steps, pair, strict=True)]
        found = _walked(walks[0], walks[1], self._loops)
        self.changed = [before or first_changed(walk) for before, walk in zip(self.changed, walks, strict=True)]
        return found

    def is_changed(self, which: int, line: int) -> bool:
        """Whether a LINE row of one of the runs is of a statement that only its source has."""
        return self.statement(which, line) == CHANGED

    def statement(self, which: int, line: int) -> int:
        """Return the number of the common statement of a LINE row of one of the runs; `CHANGED`: it is of none."""
        head = (self.good, self.bad)[which].record.rows.word(line, 0)  # not the whole row: it is asked for each value
        return self._keys[which].get(head >> 32 & _MASK, CHANGED) if head >> 60 == rows.LINE else CHANGED


def _walked(good: StepWalk, bad: StepWalk, loops: set[int]) -> RunParting:
    same, folds = 0, list[CountFold]()
    last: AlignedStep | None = None
    while True:
        count, step = together(good, bad)
        same, last = same + count, last if step is None else AlignedStep(*step)
        is_over = last is None or not good.key or not bad.key
        fold = None if is_over or last is None else _folded(good, bad, last, loops)
        if fold is None:
            return RunParting(same, last, good.row, bad.row, folds, AlignedStep(last_skipped(good), last_skipped(bad)))
        folds.append(fold)


def _folded(good: StepWalk, bad: StepWalk, last: AlignedStep, loops: set[int]) -> CountFold | None:
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


StatementName = tuple[str, str, str]
"""The file below the project, the function, and the text; of generated code without one, the line."""


def _statement_names(past: PastProcess) -> dict[StatementName, bool]:
    """Return the statements of the sources of what ran, and whether they are loops."""
    found: dict[StatementName, bool] = {}
    for code in past.record.codes:
        scope = past.scopes.of_code(code.number)
        file = file_below(past.record, code.file)
        for statement in () if scope is None else scope.statements:
            found[file, code.name, statement.text] = statement.is_loop
        for site in past.record.sites_of(code.number):
            if scope is None or scope.statement(site.line) is None:
                found[file, code.name, str(site.line)] = False
    return found


def _site_keys(past: PastProcess, numbers: dict[StatementName, int]) -> dict[int, int]:
    """Return the numbers of the common statements by the sites of one run."""
    keys: dict[int, int] = {}
    for code in past.record.codes:
        scope = past.scopes.of_code(code.number)
        file = file_below(past.record, code.file)
        for site in past.record.sites_of(code.number):
            statement = None if scope is None else scope.statement(site.line)
            text = str(site.line) if statement is None else statement.text
            keys[site.number] = numbers.get((file, code.name, text), CHANGED)
    return keys


def file_below(record: ProcessRecord, file: str) -> str:
    """Return a file as it is named from the project's root."""
    return file.removeprefix(record.facts.root.rstrip("/") + "/")
