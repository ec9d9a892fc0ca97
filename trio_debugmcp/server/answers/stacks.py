"""Stacks as data: of one thread, or of all threads with equal ones merged."""

from collections.abc import Mapping

from trio_debugmcp.server.answers.answer import AnswerData
from trio_debugmcp.state.payloads import Frame, Payload, Variable


class StackData(AnswerData, frozen=True, kw_only=True):
    """Frames of a thread, of so many in `total`. `state`: of the thread, Suspended, Running or Waiting.

    `locals`: the variables of each frame, and `localsTotals` how many it has, if they were asked for. `hidden`: how
    many frames of which packages the debugger leaves out.
    """

    frames: list[Frame]
    total: int
    state: str
    locals: list[list[Variable]] = []
    locals_totals: list[int] = []
    hidden: Mapping[str, int] = {}


class ThreadOf(Payload, frozen=True):
    """A thread of one of several processes."""

    session_id: str
    id: int
    name: str | None


class MergedStackData(Payload, frozen=True):
    """One stack, of the first of `count` threads, and what each different one of these waits for."""

    threads: list[ThreadOf]
    count: int
    waits_for: list[str]
    frames: list[Frame]
    total: int
    locals: list[list[Variable]]
    locals_totals: list[int]
    hidden: Mapping[str, int] = {}


class AllStacksData(AnswerData, frozen=True, kw_only=True):
    """The stacks of all threads of all sessions, equal ones merged, the most frequent first; `total` different ones."""

    stacks: list[MergedStackData]
    total: int


_MAX_NAMED = 3
"""Packages whose hidden frames are named: a runner of tests has two."""


def hidden_in_words(hidden: Mapping[str, int]) -> str | None:
    """Return `31 frames of libraries are not shown: _pytest (21), pluggy (10)`; None where no frame is hidden."""
    total = sum(hidden.values())
    if not total:
        return None
    most = sorted(hidden.items(), key=lambda package: -package[1])
    named = ", ".join(f"{name} ({count})" if len(most) > 1 else name for name, count in most[:_MAX_NAMED])
    others = len(most) - _MAX_NAMED
    more = f" and {others} more" if others > 0 else ""
    return (
        f"{total} frame{'s' if total > 1 else ''} of libraries {'are' if total > 1 else 'is'} not shown: {named}{more}"
    )
