"""Stacks as data: of one thread, or of all threads with equal ones merged."""

from trio_debugmcp.server.answers.answer import AnswerData
from trio_debugmcp.state.payloads import Frame, Payload, Variable


class StackData(AnswerData, frozen=True, kw_only=True):
    """Frames of a thread, of so many in `total`. `state`: of the thread, Suspended, Running or Waiting.

    `locals`: the variables of each frame, and `localsTotals` how many it has, if they were asked for.
    """

    frames: list[Frame]
    total: int
    state: str
    locals: list[list[Variable]] = []
    locals_totals: list[int] = []


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


class AllStacksData(AnswerData, frozen=True, kw_only=True):
    """The stacks of all threads of all sessions, equal ones merged, the most frequent first; `total` different ones."""

    stacks: list[MergedStackData]
    total: int
