"""Waits for what becomes of a program: its next stop or its end, and the locals of a stop. The caller bounds them."""

from collections.abc import Collection, Container

from msgspec import Struct

from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.model import Snapshot, State


class Outcome(Struct, frozen=True):
    """How a wait for a stop ended: with a paused session, with the end of its program (`ended`), or neither in time."""

    paused: Snapshot | None = None
    ended: Snapshot | None = None


async def wait_outcome(
    merger: Merger, wanted: Collection[str], session_id: str | None, *, seen: Container[int]
) -> Outcome:
    """Wait until a session of these programs is paused, or one of the programs has ended.

    With `session_id`, as for a step, only that session's stop counts while it lives; stops `seen` before do not.
    """

    def ended(state: State) -> str | None:
        return next((program for program in wanted if state.snapshot(program) is None), None if wanted else "")

    def stopped(state: State) -> Snapshot | None:
        named = state.snapshot(session_id) if session_id is not None else None
        candidates = [named] if named is not None else [state.focused, *state.snapshots]
        return next((each for each in candidates if each and is_new(each) and state.root_of(each.id) in wanted), None)

    def is_new(snapshot: Snapshot) -> bool:
        return snapshot.phase == "Paused" and (snapshot.stop is None or snapshot.stop.number not in seen)

    # No old stop can be mistaken for the new one: a session counts as running before its resume is written.
    state = await merger.wait_until(lambda now: ended(now) is not None or stopped(now) is not None)
    over = ended(state)
    if over is None:
        return Outcome(paused=stopped(state))
    return Outcome(ended=state.end_of(over) or state.last)


async def wait_locals(merger: Merger, paused: Snapshot) -> Snapshot:
    """Wait for the locals of a stop's top frame; return the stop with them."""
    state = await merger.wait_until(lambda now: _has_locals(now, paused))
    current = state.snapshot(paused.id)
    return current if current is not None and current.stop == paused.stop else paused


def _has_locals(state: State, stopped: Snapshot) -> bool:
    now = state.snapshot(stopped.id)
    if now is None or now.generation != stopped.generation or not now.stack.frames:
        return True
    return now.stack.locals is not None
