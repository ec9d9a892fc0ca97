"""What led to something in a recorded run: a line each for a model, and as data."""

from typing import Protocol

from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.text import MAX_LINE_LENGTH
from trio_debugmcp.state.payloads import printable, shortened


class WhyData(AnswerData, frozen=True, kw_only=True):
    """The lines as data. `omitted`: those beyond `limit`, at least; `repeated`: those of earlier answers.

    `process`: of a run with several, the one that was asked.
    """

    value: str
    because: list[BecauseLine]
    gaps: list[str]
    omitted: int
    repeated: int
    run: str
    process: int | None = None


class WhyShown(Answer, frozen=True, kw_only=True):
    """What was asked about, and what led to it, in the order of time: number, place, statement, values.

    `gaps`: what changed where nothing was recorded. `omitted`: lines beyond `limit`, at least.
    """

    full: WhyData | None = None
    value: str
    because: list[str]
    gaps: list[str] = []
    omitted: int = 0
    run: str
    notes: list[str] = []


class RecordedLine(Protocol):
    """A line about a recorded run, whatever made it."""

    @property
    def at(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def function(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def values(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...


def recorded_line(places: Places, line: RecordedLine) -> str:
    """Return `#36 shop.py:20 serve | amount = total(cart) | amount=13`."""
    where = f"{line.at} {places.line(line.file, line.line)} {printable(line.function)}"
    said = "; ".join(part for part in (" ".join(line.values), ": ".join(line.notes)) if part)
    return " | ".join(part for part in (where, shortened(line.source, MAX_LINE_LENGTH), said) if part)
