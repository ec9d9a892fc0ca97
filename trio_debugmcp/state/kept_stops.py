"""The stops that are kept: what was read at each of the last stops, of all sessions, for those who look back.

    kept = with_stop(kept, snapshot, sources)       # it has stopped; without locals, which may come later
    kept = with_snapshot(kept, snapshot)            # its locals are there, or were read again
    kept = with_reading(kept, 12, reading)          # a client has looked further
    kept.find(12), kept.first, kept.dropped

What a stop shows is kept as it was last read at that stop. Of too many stops, or too large ones, the oldest are
dropped, whichever session they are of; the end of a session drops none.
"""

from sys import getsizeof

from msgspec import UNSET
from msgspec.structs import replace

from trio_debugmcp.state.model import KeptStop, KeptStops, Reading, Snapshot, SourceText, Stack, StackFrame, Threads
from trio_debugmcp.state.payloads import Location, Variable

MAX_STOPS = 200
"""Stops that are kept: more than a person walks through, or an agent asks for."""

MAX_BYTES = 8_000_000
"""Of all of them together with their sources: 40 KB for each, and one with 100 long values and 20 frames has 50."""

MAX_READINGS = 50
"""Of one stop: what a person opens and an agent asks for."""

MAX_READ_BYTES = 200_000
"""Of all readings of one stop, so that one that was looked into deeply leaves room for the others."""

MAX_THREADS = 50
"""Kept with a stop; a program with more of them has hundreds, too many to look through again."""

_NODE_BYTES = 150
"""Of a struct in memory, beside its texts, with its place in a tuple and its numbers."""


def with_stop(kept: KeptStops, snapshot: Snapshot, sources: tuple[SourceText, ...]) -> KeptStops:
    """Return the stops with the one at which a session has just paused."""
    stop = snapshot.stop
    if stop is None:
        raise AssertionError("a paused session has a stop")
    users = dict(kept.users)
    size = kept.size
    for source in sources:
        if source not in users:
            size += source_bytes(source)
        users[source] = users.get(source, 0) + 1
    new = _measured(
        kept.stops,
        KeptStop(
            stop=stop,
            session_id=snapshot.id,
            process_name=snapshot.origin.process_name,
            process_id=snapshot.origin.process_id,
            threads=_some(snapshot.threads),
            total_threads=len(snapshot.threads.threads),
            stack=snapshot.stack,
            sources=sources,
        ),
    )
    return _within_bounds(KeptStops((*kept.stops, new), stop.number, tuple(users.items()), size + new.size))


def with_snapshot(kept: KeptStops, snapshot: Snapshot | None) -> KeptStops:
    """Return the stops with what has been read since at the one where a session is paused."""
    old = None if snapshot is None or snapshot.stop is None else kept.find(snapshot.stop.number)
    if old is None or snapshot is None or snapshot.phase != "Paused":
        return kept
    threads = old.threads if snapshot.threads.threads[:MAX_THREADS] == old.threads.threads else _some(snapshot.threads)
    if snapshot.stack is old.stack and threads is old.threads:
        return kept
    total = len(snapshot.threads.threads)
    return _with(kept, replace(old, stack=snapshot.stack, threads=threads, total_threads=total))


def with_reading(kept: KeptStops, number: int, reading: Reading) -> KeptStops:
    """Return the stops with what a client has read at one of them; an equal question replaces its earlier answer."""
    old = kept.find(number)
    if old is None:
        return kept
    others = tuple(other for other in old.readings if _question(other) != _question(reading))
    room = MAX_READ_BYTES - sum(map(reading_bytes, others)) - reading_bytes(reading)
    if len(others) >= MAX_READINGS or room < 0:
        return _with(kept, replace(old, readings=others, unkept=old.unkept + 1))
    return _with(kept, replace(old, readings=(*others, reading)))


def _question(reading: Reading) -> tuple[object, ...]:
    return reading.of, reading.thread_id, reading.frame_index, reading.scope, reading.path, reading.start


def _some(threads: Threads) -> Threads:
    return threads if len(threads.threads) <= MAX_THREADS else replace(threads, threads=threads.threads[:MAX_THREADS])


# --- Changes ----------------------------------------------------------------------------------------------------------


def stop_before(stops: tuple[KeptStop, ...], later: KeptStop) -> KeptStop | None:
    """Return the last stop before another one in the same call: its caller has not been seen at a stop between them.

    A call is known by its thread, its depth and its function; one that has returned meanwhile and was made again in the
    same place, without a stop elsewhere, is taken for the same.
    """
    stack = later.stack
    for stop in reversed(stops):
        other = stop.stack
        if stop.stop.number >= later.stop.number or stop.session_id != later.session_id:
            continue
        if other.thread_id != stack.thread_id or not other.frames or other.total > stack.total:
            continue  # of another thread, or in a function that is called from there
        return stop if other.total == stack.total and _function(other) == _function(stack) else None
    return None


def _function(stack: Stack) -> tuple[str, str | None] | None:
    return (stack.frames[0].name, stack.frames[0].location.file) if stack.frames else None


def changes(before: KeptStop, after: KeptStop) -> tuple[tuple[str, str | None], ...]:
    """Return the locals that differ, with what they were; None: there was none of the name."""
    old, new = before.stack.locals, after.stack.locals
    if old is None or new is None:
        return ()
    known = {key_of(variable): variable for variable in old.variables}
    cut = old.total > len(old.variables)  # what is not among the first may have been there all the same
    found: list[tuple[str, str | None]] = []
    for variable in new.variables:
        was = known.get(key_of(variable))
        if was is None and not cut:
            found.append((key_of(variable), None))
        elif was is not None and (
            (was.value, was.type) != (variable.value, variable.type) or _differ_inside(was, variable)
        ):
            found.append((key_of(variable), was.value))
    return tuple(found)


def _differ_inside(was: Variable, now: Variable) -> bool:
    """Whether what the texts do not show of two values differs, as far as both could be read."""
    return None not in (was.digest, now.digest) and was.digest != now.digest


def key_of(variable: Variable) -> str:
    """Return what tells a local from the others: its path, or of one without a path its name."""
    return variable.path or variable.name


# --- Bounds -----------------------------------------------------------------------------------------------------------


def _with(kept: KeptStops, new: KeptStop) -> KeptStops:
    """Return the stops with a new version of one of them."""
    place = new.stop.number - kept.first
    old = kept.stops[place]
    new = _measured(kept.stops[:place], replace(new, revision=old.revision + 1))
    stops = (*kept.stops[:place], new, *kept.stops[place + 1 :])
    return _within_bounds(replace(kept, stops=stops, size=kept.size - old.size + new.size))


def _within_bounds(kept: KeptStops) -> KeptStops:
    gone, size = 0, kept.size
    users = dict(kept.users)
    while len(kept.stops) - gone > MAX_STOPS or (size > MAX_BYTES and gone < len(kept.stops)):
        size -= kept.stops[gone].size
        for source in kept.stops[gone].sources:
            users[source] -= 1
            if not users[source]:
                del users[source]
                size -= source_bytes(source)
        gone += 1
    return kept if not gone else KeptStops(kept.stops[gone:], kept.last, tuple(users.items()), size)


def _measured(earlier: tuple[KeptStop, ...], kept: KeptStop) -> KeptStop:
    """Return a stop compared with the one before, and with its size."""
    before = stop_before(earlier, kept)
    found = () if before is None else changes(before, kept)
    size = _NODE_BYTES * 3
    size += sum(_frame_bytes(frame) for frame in kept.stack.frames)
    size += sum(
        _NODE_BYTES + _text_bytes(thread.name) + _place_bytes(thread.location) for thread in kept.threads.threads
    )
    if kept.stack.locals is not None:
        shown = kept.stack.locals
        size += sum(map(_variables_bytes, (shown.variables, shown.globals, shown.returned)))
    size += sum(map(reading_bytes, kept.readings))
    size += sum(_NODE_BYTES + _text_bytes(was) for _, was in found)
    stop = kept.stop
    raised = None if stop.exception is None else stop.exception.message
    size += _text_bytes(stop.description) + _text_bytes(raised)
    size += sum(_NODE_BYTES + _text_bytes(change.before) + _text_bytes(change.after) for change in stop.changes)
    number = None if before is None or kept.stack.locals is None else before.stop.number
    return replace(kept, changed=found, compared_with=number, size=size)


def source_bytes(source: SourceText) -> int:
    """Return the bytes that the text of a file takes in memory."""
    return _NODE_BYTES + getsizeof(source.text) + getsizeof(source.path)


def reading_bytes(reading: Reading) -> int:
    """Return the bytes that a reading takes in memory."""
    return _NODE_BYTES + _text_bytes(reading.path) + _variables_bytes(reading.variables)


def _variables_bytes(variables: tuple[Variable, ...] | list[Variable]) -> int:
    size = 0
    for variable in variables:
        size += _NODE_BYTES + getsizeof(variable.name) + getsizeof(variable.value)
        size += _text_bytes(variable.type) + _text_bytes(variable.digest)
        if variable.path is not None and variable.path is not variable.name:
            size += getsizeof(variable.path)
        if variable.children is not UNSET:
            size += _variables_bytes(variable.children)
    return size


def _frame_bytes(frame: StackFrame) -> int:
    return _NODE_BYTES + getsizeof(frame.name) + _place_bytes(frame.location)


def _place_bytes(place: Location | None) -> int:
    if place is None:
        return 0
    return _NODE_BYTES + _text_bytes(place.file) + _text_bytes(place.function_name) + _text_bytes(place.module_name)


def _text_bytes(text: str | None) -> int:
    return 0 if text is None else getsizeof(text)
