"""A moment of a recorded run as an answer. Imports nothing that reads records: steps of the program answer so, too."""

from trio_debugmcp.runs.shown_moments import RunMoment
from trio_debugmcp.server.answers import text
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop_answer import FRAMES_BELOW
from trio_debugmcp.state.payloads import shortened

_MOST_VALUE = 200
"""Characters of a value; whole texts are in the record, as far as that keeps them."""

_EXCERPT_LINES = 2

BACK_IN_PRESENT = "back in the present: nothing has run meanwhile, and from here on steps move the program again"
"""Note on the answer to a step in the record that has led to where the program is."""


class MomentData(AnswerData, frozen=True, kw_only=True):
    """The moment as data. `variables`: of the innermost frame; `frames`: how many there are."""

    moment: RunMoment
    run: str


class RecordedMoment(Answer, frozen=True, kw_only=True):
    """A moment of a recorded run, before a line ran; `state` is Recorded. `number`: of the moment.

    `ran`: what the line then did. It shows and does not undo: the program, if it lives, is where it was.
    `breakpoints`: that the line has hit, of those that are set now; `session`: from whose stop the way has led there.
    """

    full: MomentData | None = None
    state: str = ""
    breakpoints: list[str] = []
    number: str
    at: str
    ran: str
    stack: list[str] = []
    locals: dict[str, str] = {}
    source: str | None = None
    show: dict[str, str] = {}
    omitted: dict[str, int] = {}
    run: str
    notes: list[str] = []
    session: str | None = None


def recorded_moment(places: Places, moment: RunMoment, run: str, notes: list[str]) -> RecordedMoment:
    """Return a moment as an answer."""
    from trio_debugmcp.runs.source.source_reader import lines_of

    top, *below = moment.stack
    lines = lines_of(moment.source) if moment.source is not None else []
    source = text.numbered_excerpt(text.excerpt(lines, top.line, _EXCERPT_LINES, top.file)) if lines else ""
    left = moment.frames - 1 - len(below[:FRAMES_BELOW])
    stack = [(place.function, place.file, place.line, True) for place in below[:FRAMES_BELOW]]
    return RecordedMoment(
        full=MomentData(moment=moment, run=run),
        state="Recorded",
        number=f"#{moment.row}",
        at=places.at(top.file, top.line, top.function),
        ran=" ".join(moment.line.values) or "nothing that was recorded",
        stack=places.stack(stack, before=top.file),
        locals={name: shortened(value, _MOST_VALUE) for name, value in moment.variables.items()},
        source=source or None,
        omitted={"frames": left} if left > 0 else {},
        run=run,
        notes=[*notes, *(["further variables were not looked for"] if moment.has_more else [])],
    )
