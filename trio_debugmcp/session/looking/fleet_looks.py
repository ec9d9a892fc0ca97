"""A look at many processes at once: the stacks of each, what each says of itself, and how much each computes.

    seen = await look_at(sessions, frames=20)
    seen.stacks["s-3"].stacks, seen.used["s-3"]

One that does not answer is there with the reason.
"""

from collections.abc import Mapping, Sequence

import trio
from msgspec import Struct

from trio_debugmcp.errors import DebugError
from trio_debugmcp.probe.answers import ProcessorUse
from trio_debugmcp.session.looking.from_outside.silence import Unanswered
from trio_debugmcp.session.looking.program_threads import ProgramThreads, StackList

COMPUTING_SECONDS = 0.25
"""Between two readings of the processor time: what computes has had turns by then also where processors are few."""

MOST_AT_ONCE = 100
"""Processes that are asked at a time: each answer takes this server some milliseconds, in which others would wait."""


class FleetSeen(Struct, frozen=True):
    """What was seen, by the ids of the sessions.

    Attributes:
        at: when, on Trio's clock.
        used: the readings of the processor time, the last one last; none where a process does not say.
    """

    at: float
    stacks: Mapping[str, StackList]
    used: Mapping[str, tuple[ProcessorUse, ...]]


async def look_at(sessions: Sequence[tuple[str, ProgramThreads]], frames: int, *, computing: bool = True) -> FleetSeen:
    """Look at these processes, by the ids of their sessions; one that does not answer is among them, with the reason.

    `computing`: also who computes, for which each is looked at twice.
    Each has the time for an answer, `MOST_AT_ONCE` at a time, so the time that it takes grows with their number.
    """
    stacks, used = dict[str, StackList](), dict[str, tuple[ProcessorUse, ...]]()
    limit = trio.CapacityLimiter(MOST_AT_ONCE)

    async def look(session_id: str, threads: ProgramThreads) -> None:
        async with limit:
            try:
                found = await threads.stacks(frames, of_process=True)
            except DebugError as error:  # it has ended meanwhile
                found = StackList("stop", failure=Unanswered("gone", str(error)))
        stacks[session_id] = found
        used[session_id] = () if found.used is None else (found.used,)
        if computing and found.used is not None:
            await trio.sleep(COMPUTING_SECONDS)
            async with limit:
                again = await threads.processor_use()
            used[session_id] += () if again is None else (again,)

    async with trio.open_nursery() as nursery:
        for session_id, threads in sessions:
            nursery.start_soon(look, session_id, threads)
    return FleetSeen(trio.current_time(), {each: stacks[each] for each, _ in sessions}, used)


def share(earlier: ProcessorUse | None, later: ProcessorUse | None) -> float | None:
    """Return how much of a processor a process has used from one reading to another; None where that is not known."""
    if earlier is None or later is None or later.at <= earlier.at:
        return None
    return (later.processor - earlier.processor) / (later.at - earlier.at)
