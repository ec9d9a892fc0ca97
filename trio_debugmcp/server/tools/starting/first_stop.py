"""The wait for the first stop of a program, or until it has begun and only waits for its user, as a page does."""

import trio
from msgspec import Struct

from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.looking.by_probe.own_questions import evaluated

_ASK_SECONDS = 0.2
"""Between two questions whether it has begun."""

_QUIET_SECONDS = 0.5
"""From then on: what it does at once may still stop."""


class FirstStop(Struct, frozen=True):
    """The stop or the end, if there was one; else where the program waits, if it does."""

    outcome: Outcome | None = None
    waits: str | None = None


async def first_stop(debugger: Debugger, profile: Profile, program_id: str) -> FirstStop:
    """Return what becomes of a program that was just started. The caller bounds the wait."""
    question = profile.words.idle_when
    found: list[FirstStop] = []
    async with trio.open_nursery() as nursery:

        async def ask() -> None:
            if question is None:
                return
            where = ""
            while not where.strip("'\""):
                await trio.sleep(_ASK_SECONDS)
                where = await _answer(debugger, program_id, question)
            await trio.sleep(debugger.patience.seconds(_QUIET_SECONDS))
            found.append(FirstStop(waits=where))
            nursery.cancel_scope.cancel(reason="it waits")

        nursery.start_soon(ask)
        outcome = await debugger.wait_stop(of=[program_id])
        found.insert(0, FirstStop(outcome))
        nursery.cancel_scope.cancel(reason="it has stopped")
    return found[0]


async def _answer(debugger: Debugger, program_id: str, question: str) -> str:
    session = debugger.sessions.find(debugger.state.program_of(program_id))
    running = session is not None and session.snapshot is not None and session.snapshot.phase == "Running"
    if session is None or not running:
        return ""
    return await evaluated(session.requests, question, None) or ""
