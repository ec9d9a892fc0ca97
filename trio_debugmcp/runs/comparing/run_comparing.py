"""Two recorded runs compared: the first values that differ, the loops that ran otherwise, the place where they part.

    found = compared(good, bad)
    found.good.source, found.bad.source             # what each did next
    found.because                                   # in the order of time, each with the values of both

What is another one in each run (`varying_values`) does not count.
"""

from itertools import chain

import msgspec

from trio_debugmcp.runs.comparing.missing_writes import step_that_wrote
from trio_debugmcp.runs.comparing.overtaken_writes import overtaken, shared_place
from trio_debugmcp.runs.comparing.run_alignment import AlignedStep, CountFold, RunAlignment, RunParting
from trio_debugmcp.runs.comparing.run_streams import StreamPair
from trio_debugmcp.runs.comparing.stream_values import StreamValues
from trio_debugmcp.runs.comparing.varying_values import is_alike
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.owned_rows import owned_rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.runs.slicing.shown.because_lines import because_line
from trio_debugmcp.runs.why import NoAnswerError, WhyQuestion, why

MOST_VALUES = 200_000
"""Values of each run that are compared: a few seconds of work."""

_MOST_DIFFERENT = 3

_MOST_LOOKED = 20
"""Of each thread or task, for one that several of them write."""

_MOST_FOLDS = 3

_MOST_SEARCHED = 10
"""Threads or tasks in which the line is looked for that wrote what the other run did not: in each all rows between."""

_WHY_LINES = 6

_NOTHING = (0, "")
"""Kind and name behind the last value."""

_SAME_WAY = "they took the same way to the end"


class BothLines(msgspec.Struct, frozen=True):
    """A statement in both runs: `what` says why it is here."""

    what: str
    good: BecauseLine | None
    bad: BecauseLine | None


class RunComparison(msgspec.Struct, frozen=True):
    """What differs.

    Attributes:
        same: how many steps were equal before the ways part.
        good, bad: what each run did next; None: it ended there.
        because: what differed before, and what decided the parting.
        led_to_bad: what led to that decision in the bad run.
        notes: what else is to be known.
    """

    same: int
    good: BecauseLine | None
    bad: BecauseLine | None
    because: list[BothLines]
    led_to_bad: list[BecauseLine]
    notes: list[str] = []


def compared(good: ProcessRecord, bad: ProcessRecord) -> RunComparison:
    """Compare two runs of one program or test: one that is as it should be, and one that is not."""
    alignment = RunAlignment(PastProcess(good), PastProcess(bad))
    pairs = alignment.pairs()
    partings = [alignment.parting(pair) for pair in pairs]
    real = [parting for parting in partings if not parting.has_ended]
    parting = min(real, key=lambda found: found.bad or found.good) if real else partings[0] if partings else None
    if parting is None:
        return RunComparison(0, None, None, [], [], ["nothing was recorded in one of them"])
    notes = _notes(alignment, len(pairs), len(real))
    values = _of_all_streams(alignment, pairs, partings)
    differences = values.differences
    if not values.is_whole:
        notes.append(f"only the first {MOST_VALUES:,} values were compared")
    if values.unsearched:
        notes.append(
            f"in {values.unsearched} more threads or tasks one run writes what the other does not; which line was not "
            "looked for, and values behind that were not compared"
        )
    because = [_both(alignment, step, "differs") for step in differences[:_MOST_DIFFERENT]]
    if len(pairs) > 1 and differences:
        overtakings, said = _of_turns(alignment, differences)
        because += overtakings
        notes += said
    because += [_folded(alignment, fold) for fold in parting.folds[:_MOST_FOLDS]]
    if len(parting.folds) > _MOST_FOLDS:
        notes.append(f"{len(parting.folds) - _MOST_FOLDS} more loops had other numbers of rounds")
    if parting.has_ended:
        notes.append(_equal(values) + _raised(alignment, parting.last) if not because else _SAME_WAY)
    decided = parting.last
    if parting.changed.good and parting.changed.bad:
        decided = parting.changed
    if decided is not None and not parting.has_ended:
        because.append(_both(alignment, decided, "then they part"))
    return RunComparison(
        same=parting.same,
        good=because_line(alignment.good, parting.good) if parting.good else None,
        bad=because_line(alignment.bad, parting.bad) if parting.bad else None,
        because=because,
        led_to_bad=_led_to(bad, differences[0] if differences else decided),
        notes=notes,
    )


def _equal(values: "_ComparedValues") -> str:
    """Return how far two runs that took the same way, and in which no value differs, are known to be equal."""
    cut = values.cut
    if cut is None:
        return "they are equal, step by step and value by value"
    return (
        f"{_SAME_WAY}; in good #{cut.good} and bad #{cut.bad} one writes what the other does not, "
        "and values behind that were not compared"
    )


def _notes(alignment: RunAlignment, threads: int, parted: int) -> list[str]:
    kinds = "threads and tasks" if alignment.has_tasks else "threads"
    notes = [f"{threads} {kinds}, each compared by itself; {parted} part"] if threads > 1 else []
    pasts = (("good", alignment.good), ("bad", alignment.bad))
    for (name, past), row in zip(pasts, alignment.changed, strict=True):
        if row:
            line = because_line(past, row)
            notes.append(f"only the source of {name} has {line.at} {line.function}:{line.line} | {line.source}")
    return notes


def _of_turns(alignment: RunAlignment, differences: list[AlignedStep]) -> tuple[list[BothLines], list[str]]:
    """Return what tells whether a difference is a fault, or only of the turns that threads and tasks took."""
    past, streams = alignment.bad, alignment.streams[1]
    places = (shared_place(past, streams, step.bad) for step in differences)
    place = next((found for found in places if found is not None), None)
    if place is None:
        return [], []
    lost = overtaken(past, streams, place)
    if lost is None:
        turns = f"{place.path} is written by {place.writers} threads or tasks, which took other turns: that alone makes"
        return [], [
            f"{turns} it differ. No write of it was seen to be overtaken (read, written by another, written back)"
        ]
    said = (f"reads {place.path}", "another thread or task writes it", "writes over that what it had read before")
    lines = [BothLines(what, None, because_line(past, row)) for what, row in zip(said, lost, strict=True)]
    where = f"read at #{lost.read}, written by another thread or task at #{lost.other}, and written back at #{lost.own}"
    return lines, [f"{place.path} was overtaken in bad: {where}"]


def _raised(alignment: RunAlignment, last: AlignedStep | None) -> str:
    """Return what is to be said of the last step, if it has raised in one run only."""
    if last is None:
        return ""
    good, bad = (
        any(past.record.row(number).kind == rows.RAISE for number in owned_rows(past.record, line))
        for past, line in ((alignment.good, last.good), (alignment.bad, last.bad))
    )
    if good == bad:
        return ""
    where = f"bad #{last.bad}" if bad else f"good #{last.good}"
    return f", and then only {where} raises: what decides there was in no variable"


def _both(alignment: RunAlignment, step: AlignedStep, what: str) -> BothLines:
    return BothLines(what, because_line(alignment.good, step.good), because_line(alignment.bad, step.bad))


def _folded(alignment: RunAlignment, fold: CountFold) -> BothLines:
    rounds = "round" if fold.good == 1 else "rounds"
    return _both(alignment, fold.step, f"{fold.good:,} {rounds} in good, {fold.bad:,} in bad")


def _led_to(bad: ProcessRecord, step: AlignedStep | None) -> list[BecauseLine]:
    """Return what led to the first difference in the bad run."""
    if step is None:
        return []
    try:
        return why(bad, WhyQuestion(at=step.bad, limit=_WHY_LINES)).because
    except NoAnswerError:
        return []


# --- Values -----------------------------------------------------------------------------------------------------------


class _ComparedValues:
    """What came of it.

    Attributes:
        differences: the first steps whose values differ, of each thread or task before its ways part.
        is_whole: all values were compared, as there were not too many.
        cut: behind these rows they were not, as from there on one has written what the other has not.
        searched: threads or tasks in which the line of such a write was looked for; `unsearched`: in which not.
    """

    def __init__(self) -> None:
        self.differences: list[AlignedStep] = []
        self.is_whole = True
        self.cut: AlignedStep | None = None
        self.searched = self.unsearched = 0


def _of_all_streams(alignment: RunAlignment, pairs: list[StreamPair], partings: list[RunParting]) -> _ComparedValues:
    """Compare the values of each thread or task by itself, as they take turns otherwise in each run."""
    found = _ComparedValues()
    values = StreamValues(alignment, 0, MOST_VALUES + 1), StreamValues(alignment, 1, MOST_VALUES + 1)
    for pair, parting in zip(pairs, partings, strict=True):
        if 0 not in pair:
            found.differences += _differences(alignment, parting, pair, values, found)
    if len(pairs) > 1:
        found.differences.sort(key=lambda step: step.bad)
    return found


def _differences(
    alignment: RunAlignment,
    parting: RunParting,
    pair: StreamPair,
    of_runs: tuple[StreamValues, StreamValues],
    so_far: _ComparedValues,
) -> list[AlignedStep]:
    """Return the first steps of a thread or task whose values differ before the ways part."""
    ends = (parting.good or alignment.good.record.last + 1, parting.bad or alignment.bad.record.last + 1)
    if parting.folds:  # behind a loop with another number of rounds the values are others anyway
        first = parting.folds[0].step
        ends = (first.good + 1, first.bad + 1)
    values = [
        chain(written.of(stream, end), [(_NOTHING, "", end - 1, end)])
        for written, stream, end in zip(of_runs, pair, ends, strict=True)
    ]
    began = (alignment.good.record.facts.began, alignment.bad.record.facts.began)
    found, before = list[AlignedStep](), AlignedStep(0, 0)
    for count, (one, other) in enumerate(zip(*values, strict=False)):
        step = AlignedStep(one[2], other[2])
        if count >= MOST_VALUES:
            so_far.is_whole = False
            break
        if one[0] != other[0] and not (one[0][0] == other[0][0] and is_alike(one[0][1], other[0][1], began)):
            if so_far.searched == _MOST_SEARCHED:
                so_far.unsearched += 1
                break
            so_far.searched += 1
            wrote = step_that_wrote(alignment, pair, before, step, AlignedStep(one[3], other[3]))
            if wrote is None:
                so_far.cut = so_far.cut or step
            elif wrote not in found and not _raised(alignment, wrote):
                found.append(wrote)
            break  # what follows is not the same any more
        if one[1] != other[1] and not is_alike(str(one[1]), str(other[1]), began) and step not in found:
            found.append(step)
            if len(found) >= _MOST_LOOKED:
                break
        before = step
    return found
