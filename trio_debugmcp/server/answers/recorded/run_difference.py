"""Where two recorded runs part, in words and as data."""

from trio_debugmcp.runs.comparing.run_comparing import BothLines, RunComparison
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.recorded.why_shown import recorded_line
from trio_debugmcp.server.answers.text import MAX_LINE_LENGTH
from trio_debugmcp.state.payloads import printable, shortened


class RunDifferenceData(AnswerData, frozen=True, kw_only=True):
    """What differs, as data; `comparison` has every line whole."""

    comparison: RunComparison
    good_run: str
    bad_run: str


class RunDifference(Answer, frozen=True, kw_only=True):
    """`same`: steps that were equal. `good`, `bad`: what each run did next, where their ways part.

    `because`: in the order of time, the statements whose values differ, the loops that ran otherwise, and what decided,
    with the number of the good run and that of the bad one; then, as `bad:`, what led to that in the bad run.
    """

    full: RunDifferenceData | None = None
    same: int
    good: str
    bad: str
    because: list[str]
    notes: list[str] = []


def run_difference(places: Places, found: RunComparison, good: str, bad: str) -> RunDifference:
    """Return a comparison as an answer."""
    ended = "it ended there"
    return RunDifference(
        full=RunDifferenceData(comparison=found, good_run=good, bad_run=bad, notes=found.notes),
        same=found.same,
        good=f"{good}: {ended if found.good is None else recorded_line(places, found.good)}",
        bad=f"{bad}: {ended if found.bad is None else recorded_line(places, found.bad)}",
        because=[
            *(_both(places, lines) for lines in found.because),
            *(f"bad: {recorded_line(places, line)}" for line in found.led_to_bad),
        ],
        notes=found.notes,
    )


def _both(places: Places, lines: BothLines) -> str:
    """Return `#55/#61 shop.py:15 serve | amount = total(cart) | good amount=3, bad amount=13; differs`."""
    line = lines.bad or lines.good
    if line is None:
        return lines.what
    if lines.good is not None and lines.bad is not None and lines.good.source != lines.bad.source:
        good, bad = recorded_line(places, lines.good), recorded_line(places, lines.bad)
        return f"good {good}, bad {bad}; {lines.what}"
    sides = [
        f"{name} {' '.join(side.values) or '-'}"
        for name, side in (("good", lines.good), ("bad", lines.bad))
        if side is not None
    ]
    numbers = "/".join(side.at for side in (lines.good, lines.bad) if side is not None)
    where = f"{numbers} {places.line(line.file, line.line)} {printable(line.function)}"
    return f"{where} | {shortened(line.source, MAX_LINE_LENGTH)} | {', '.join(sides)}; {lines.what}"
