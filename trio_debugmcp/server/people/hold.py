"""The hold: while a person holds the programs, the calls of all others that move or change them wait.

    person = await presence.joined("dashboard", key)
    await take_hold(debugger, person)
    await step_aside(debugger, caller, "debug_step", timeout=30)    # in the call of an agent: waits, or raises HELD
    await hand_back(debugger, person, "look at item.quantity")

The object that is held is in the state, so the page, an editor and the waiting calls all see the same. A hold does not
end with the program: who holds it may start it again. It ends with the person's connection, after a grace.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from trio_debugmcp.errors import UsageError, no_session
from trio_debugmcp.server.people.caller import Caller
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.merger import MERGE_SECONDS
from trio_debugmcp.state.payloads import iso_time
from trio_debugmcp.state.people.party import Hold, Party, People, Waiting
from trio_debugmcp.state.people.people_changes import HandedBack, HoldTaken, WaitBegan, WaitEnded

HELD_SECONDS = 20.0
"""For calls without a `timeout`: most of what hosts wait for an answer, and long enough for a few steps."""


# --- Of persons -------------------------------------------------------------------------------------------------------


async def take_hold(debugger: Debugger, person: Party, *, take_over: bool) -> Hold:
    """Hold the programs for a person. Doing it twice is the same as once.

    Raises:
        UsageError: `NO_SESSION`: nothing is debugged; `HELD`: another person holds them, and `take_over` is false.
    """
    if debugger.state.focus is None:
        raise no_session()
    now = debugger.clock.now()
    state = await debugger.merger.merge(HoldTaken(party=person.id, take_over=take_over, at=now))
    hold = state.people.hold
    if hold is None or hold.party != person.id:
        raise _held(debugger, hold, "session_hold", "Take over with take_over=true")
    return hold


async def hand_back(debugger: Debugger, person: Party, text: str) -> float:
    """End a person's hold; the text goes to all agents with their next answers. Returns for how long it was held.

    Raises:
        UsageError: `INVALID_PARAMETER`: this person does not hold them.
    """
    hold = debugger.state.people.hold
    if hold is None or hold.party != person.id:
        who = "No person holds the session" if hold is None else f"{hold.name} holds the session, not you"
        raise UsageError("INVALID_PARAMETER", f"{who}: there is nothing to hand back.")
    now = debugger.clock.now()
    await debugger.merger.merge(HandedBack(party=person.id, text=text, at=now))
    return now - hold.since


# --- Of all others ----------------------------------------------------------------------------------------------------


def holds_another(people: People, party_id: str | None) -> bool:
    """Whether another party holds the programs."""
    return people.hold is not None and people.hold.party != party_id


def refuse_if_held(debugger: Debugger, caller: Caller) -> None:
    """Refuse a button that a person presses elsewhere than at a page.

    Raises:
        UsageError: `HELD`: the programs are held.
    """
    hold = debugger.state.people.hold
    if hold is not None and holds_another(debugger.state.people, caller.id):
        raise _held(debugger, hold, "this", "Press again once it is handed back, or take over at the dashboard")


async def step_aside(debugger: Debugger, caller: Caller, tool: str, timeout: float | None) -> float:
    """Wait while another holds the programs, at most for `timeout` seconds. Returns how many it were.

    A person is not kept waiting: it may take over.

    Raises:
        UsageError: `HELD`: they are still held.
    """
    start = trio.current_time()
    hold = debugger.state.people.hold
    if not holds_another(debugger.state.people, caller.id):
        return 0.0
    if caller.is_person:
        raise _held(debugger, hold, tool, "Take over to do it yourself")
    async with _waiting(debugger, caller, tool):
        with trio.move_on_after(HELD_SECONDS if timeout is None else timeout):
            await debugger.merger.wait_until(lambda state: not holds_another(state.people, caller.id))
            return trio.current_time() - start
    advice = f"Call {tool} again, which waits for the hand back; or look meanwhile: reading tools answer at once"
    raise _held(debugger, debugger.state.people.hold or hold, tool, advice)


@asynccontextmanager
async def _waiting(debugger: Debugger, caller: Caller, tool: str) -> AsyncIterator[None]:
    """Show the call as one that waits, for the length of the block."""
    number = next(debugger.merger.people_numbers)
    now = debugger.clock.now()
    call = Waiting(number, caller.id, caller.name, tool, now)
    try:
        await debugger.merger.merge(WaitBegan(call=call, at=now))
        yield
    finally:
        # Shielded: the call may be cancelled, or its client gone, and then it must not be shown as waiting for ever.
        with trio.move_on_after(MERGE_SECONDS, shield=True):
            await debugger.merger.merge(WaitEnded(number=number, at=debugger.clock.now()))


def _held(debugger: Debugger, hold: Hold | None, tool: str, advice: str) -> UsageError:
    name, since = (None, debugger.clock.now()) if hold is None else (hold.name, hold.since)
    seconds = round(debugger.clock.now() - since)
    return UsageError(
        "HELD",
        f"A person ({name or 'unnamed'}) has held the session for {seconds} s, so {tool} was not carried out. "
        f"{advice}.",
        {"by": name, "since": iso_time(since), "tool": tool},
    )
