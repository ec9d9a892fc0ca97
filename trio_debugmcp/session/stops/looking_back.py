"""Looking back: which of the kept stops a client means, and what is kept of what it reads at the one that holds now."""

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.changes import VariablesRead
from trio_debugmcp.state.kept_stops import MAX_BYTES, MAX_STOPS
from trio_debugmcp.state.model import KeptStop, KeptStops, Reading, Snapshot
from trio_debugmcp.state.payloads import Variable


def kept_stop(kept: KeptStops, number: int) -> KeptStop:
    """Return the stop with that number.

    Raises:
        UsageError: `STOP_NOT_FOUND`: it is kept no longer, or has not been yet.
    """
    found = kept.find(number)
    if found is not None:
        return found
    details = {"first": kept.first, "last": kept.last, "dropped": kept.dropped}
    if not kept.last:
        sentence = "There has not been a stop yet."
    elif number > kept.last:
        sentence = f"There has not been a stop {number} yet: the last one is stop {kept.last}."
    else:
        there_are = f"those from {kept.first} to {kept.last} are" if kept.stops else "none is, so large are they"
        sentence = (
            f"Stop {number} is not kept any more: {there_are}. The last {MAX_STOPS} are kept, as far as they fit in "
            f"{MAX_BYTES // 1_000_000} MB."
        )
    raise UsageError("STOP_NOT_FOUND", sentence, details)


def stops_of(kept: KeptStops, session_id: str | None) -> tuple[KeptStop, ...]:
    """Return the stops of a session, or of all.

    Raises:
        UsageError: `NO_SESSION`: none is kept of that session.
    """
    if session_id is None:
        return kept.stops
    found = tuple(stop for stop in kept.stops if stop.session_id == session_id)
    if not found:
        known = ", ".join(dict.fromkeys(stop.session_id for stop in kept.stops)) or "none"
        raise UsageError("NO_SESSION", f"No stop of session '{session_id}' is kept. Sessions with stops: {known}.")
    return found


async def keep_reading(merger: Merger, snapshot: Snapshot, reading: Reading) -> None:
    """Keep what a client has read at a stop, as long as it lasts; `snapshot` is what the session was when it asked."""
    await merger.merge(VariablesRead(snapshot.id, snapshot.generation, reading))


async def keep_value(
    merger: Merger, snapshot: Snapshot, thread_id: int, frame_index: int, expression: str, value: str, kind: str | None
) -> None:
    """Keep the value of an expression, as it was shown to a client, in the same way."""
    shown = Variable(expression, value, kind, expression, None)
    await keep_reading(merger, snapshot, Reading("value", thread_id, frame_index, None, expression, 0, (shown,), 1))
