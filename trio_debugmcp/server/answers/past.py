"""Stops of the past, as answers: what a stop showed, and the values that a variable had.

    past_stop(debugger, kept_stop(debugger.state.kept, 12))
    values_at(kept.stops, "total")

They are written as those of a stop that holds now are, from what was kept of it.
"""

import re
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from trio_debugmcp.server.answers import text, values
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.failures.exceptions import stopped_by
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop import data_change, shown_globals
from trio_debugmcp.server.answers.stop_answer import EXCERPT_LINES, FRAMES_BELOW
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.source_lines import source_lines
from trio_debugmcp.state.model import KeptStop, Reading
from trio_debugmcp.state.payloads import Payload, Variable, iso_time, json_size, shortened
from trio_debugmcp.state.stop_resource import StopPayload, stop_payload

_LOCALS_BYTES = 8000
"""As of a stop that holds now."""

_CHANGED_BYTES = 4000
"""Of what has changed, with what it was."""

_MOST_NUMBERS = 5
"""Stops that are named."""

_READ_BYTES = 8000
"""Of what was read there beside the locals."""


class WholeStop(Payload, frozen=True):
    """A stop as its resource has it, which stop is the `first` and the `last` that is kept, and how many are not."""

    stop: StopPayload
    first: int
    last: int
    dropped: int


class PastStop(Answer, frozen=True, kw_only=True):
    """Where the program was then. `last`: the number of the last stop; `dropped`: how many before are not kept.

    `changed`: against the stop `comparedWith`, the one before of the same call. `read`: what clients asked there.
    """

    full: WholeStop | None = None
    stop: int
    last: int
    dropped: int = 0
    time: str | None = None
    reason: str | None = None
    breakpoints: tuple[str, ...] = ()
    exception: str | None = None
    mode: str | None = None
    caught_by: str | None = None
    handling: str | None = None
    says: str | None = None
    thread: str | None = None
    at: str | None = None
    stack: list[str] = []
    changed: dict[str, str] = {}
    compared_with: int | None = None
    returned: dict[str, str] = {}
    yielded: dict[str, str] = {}
    locals: dict[str, str] = {}
    globals: dict[str, str] = {}
    read: dict[str, Any] = {}
    source: str | None = None
    omitted: dict[str, int] = {}
    notes: list[str] = []
    session: str | None = None


class PastSource(Answer, frozen=True, kw_only=True):
    """The text of a file as it ran at a stop. `changed`: the file has another text now."""

    file: str
    version: str
    text: str
    changed: bool = False


class ValueThen(Payload, frozen=True):
    """The value of a variable at one stop."""

    stop: int
    session_id: str
    captured_at: str | None
    file: str | None
    line: int | None
    function_name: str | None
    value: str
    type: str | None


class PastValuesData(Payload, frozen=True):
    """The values of a variable, the oldest first; of `total` the last ones. `stops`: how many were looked at."""

    points: list[ValueThen]
    stops: int
    total: int
    dropped: int


class PastValues(Answer, frozen=True, kw_only=True):
    """The values of a variable, the oldest first: number of the stop, place, value. `stops`: how many were looked at.

    `total`: how many have it, where some were left out; the last ones are shown. `notes`: where it was looked for.
    """

    full: PastValuesData | None = None
    values: list[str] = []
    stops: int
    total: int = 0
    dropped: int = 0
    notes: list[str] = []


def past_stop(debugger: Debugger, kept: KeptStop) -> PastStop:
    """Answer what a stop has shown."""
    stop, stack, found = kept.stop, kept.stack, kept.stack.locals
    places, all_kept = Places(debugger.workspace.directory), debugger.state.kept
    exception, mode, by = stopped_by(places, stop.exception)
    notes: list[str] = []
    if found is None and stack.frames:
        notes.append("its locals were not read: the program was resumed before")
    thread = next((thread.name for thread in kept.threads.threads if thread.id == stop.thread_id), None)
    several = len({stop.session_id for stop in all_kept.stops}) > 1
    whole = WholeStop(stop_payload(kept), all_kept.first, all_kept.last, all_kept.dropped)
    answer = PastStop(
        full=whole,
        stop=stop.number,
        last=all_kept.last,
        dropped=all_kept.dropped,
        time=None if stack.captured_at is None else iso_time(stack.captured_at),
        reason=stop.reason,
        breakpoints=stop.breakpoint_ids,
        exception=exception,
        mode=mode,
        caught_by=by,
        handling=stop.handling,
        says=shortened(stop.adapter_says) if stop.adapter_says else None,
        thread=thread if kept.total_threads > 1 else None,
        at=places.at_location(stop.location),
        compared_with=kept.compared_with,
        returned={} if found is None else values.returned(found.returned),
        yielded={} if found is None else values.yielded(found.returned),
        source=_source(kept),
        notes=notes,
        session=kept.session_id if several else None,
    )
    return _with_contents(places, kept, answer)


def _with_contents(places: Places, kept: KeptStop, answer: PastStop) -> PastStop:
    """Return the answer with stack and values, and the numbers of those that were left out."""
    stack, found = kept.stack, kept.stack.locals
    below = stack.frames[1 : 1 + FRAMES_BELOW]
    own = () if found is None else found.variables
    users = values.without_runner_names(own)
    shown, count = values.fitting(users, _LOCALS_BYTES)
    changed, changes_left = _changed(kept, own)
    read, readings_left = _read(kept, shown)
    omitted = {
        "frames": max(stack.total, len(stack.frames)) - 1 - len(below),
        "locals": 0 if found is None else found.total - len(own) + len(users) - count,
        "changed": changes_left,
        "read": readings_left + kept.unkept,
    }
    globals_ = shown_globals(found, omitted)
    return replace(
        answer,
        stack=places.frames(below, before=stack.frames[0].location.file) if stack.frames else [],
        locals=shown,
        globals=globals_,
        changed=changed,
        read=read,
        omitted={name: number for name, number in omitted.items() if number > 0},
    )


def _changed(kept: KeptStop, variables: Iterable[Variable]) -> tuple[dict[str, str], int]:
    """Return what has changed, and the number of changes that are left out."""
    found = {change.expression: data_change(change) for change in kept.stop.changes}
    now = {variable.path or variable.name: variable for variable in variables}
    room, left_out = _CHANGED_BYTES, 0
    for key, was in kept.changed:
        if key not in now:
            continue
        value = values.rendered(now[key].value, now[key].type)
        line = f"new: {value}" if was is None else f"{was} -> {value}"
        room -= json_size({key: line})
        if room < 0:
            left_out += 1
        else:
            found[key] = line
    return found, left_out


def _read(kept: KeptStop, shown: dict[str, str]) -> tuple[dict[str, Any], int]:
    """Return what was read, by the path or the expression or the frame; and the number of readings left out."""
    found: dict[str, Any] = {}
    room, left_out = _READ_BYTES, 0
    for reading in kept.readings:
        value: Any = values.named(reading.variables, reading.path)
        if _is_of_stop(kept, reading) and value.items() <= shown.items():
            continue
        if reading.of == "value":
            (variable,) = reading.variables
            value = values.rendered(variable.value, variable.type)
        where = f"frame {reading.frame_index}"
        key = f"{where} {reading.scope}" if reading.path is None else reading.path
        if reading.path is not None and reading.frame_index:
            key = f"{reading.path}, {where}"
        room -= json_size({key: value})
        if room < 0:
            left_out += 1
        elif isinstance(value, dict) and isinstance(found.get(key), dict):  # a further page of the same
            found[key] |= value
        else:
            found[key] = value
    return found, left_out


def _is_of_stop(kept: KeptStop, reading: Reading) -> bool:
    """Whether it is about the locals that the stop shows itself."""
    return reading.path is None and not reading.frame_index and reading.thread_id == kept.stop.thread_id


def _source(kept: KeptStop) -> str | None:
    """Return the lines around the place of a stop, as they were."""
    location = kept.stop.location
    if location is None or location.line is None:
        return None
    lines = source_lines(next((source.text for source in kept.sources if source.path == location.file), ""))
    return text.numbered_excerpt(text.excerpt(lines, location.line, EXCERPT_LINES, location.file)) or None


# --- One variable over the stops --------------------------------------------------------------------------------------


def values_at(stops: Iterable[KeptStop], name: str) -> list[tuple[KeptStop, Variable]]:
    """Return the stops at which a variable of the top frame, or an expression, was read, each with its value."""
    return [(stop, found) for stop in stops if (found := _value(stop, name)) is not None]


def _value(kept: KeptStop, name: str) -> Variable | None:
    locals_ = kept.stack.locals
    for variable in () if locals_ is None else locals_.variables:
        if name in (variable.path, variable.name):
            return variable
    for reading in reversed(kept.readings):
        if reading.frame_index == 0 and reading.thread_id == kept.stop.thread_id:
            found = _within(reading.variables, name)
            if found is not None:
                return found
    return None


def _within(variables: Iterable[Variable], path: str) -> Variable | None:
    for variable in variables:
        if path == variable.path:
            return variable
        found = _within(variable.children, path) if isinstance(variable.children, list) else None
        if found is not None:
            return found
    return None


def past_values(debugger: Debugger, stops: tuple[KeptStop, ...], name: str, max_bytes: int) -> PastValues:
    """Answer which values a variable had at these stops; of too many the last ones."""
    found = values_at(stops, name)
    several = len({each.session_id for each, _ in found}) > 1
    places = Places(debugger.workspace.directory)
    points: list[ValueThen] = []
    lines: list[str] = []
    for kept, variable in reversed(found):
        point = _point(kept, variable)
        line = _line(places, point, several)
        max_bytes -= json_size(line)
        if lines and max_bytes < 0:
            break
        points.append(point)
        lines.append(line)
    dropped = debugger.state.kept.dropped
    return PastValues(
        full=PastValuesData(points[::-1], len(stops), len(found), dropped),
        values=lines[::-1],
        stops=len(stops),
        total=len(found) if len(lines) < len(found) else 0,
        dropped=dropped,
        notes=[] if found or not stops else _not_kept(stops, name),
    )


def _not_kept(stops: tuple[KeptStop, ...], name: str) -> list[str]:
    """Return what is known of a name that no stop has: what it begins with may be a local there."""
    note = f"no local of the top frame is called `{name}` at these stops, and no client has read it there"
    holder = re.match(r"\w+", name)
    found = [] if holder is None or holder[0] == name else values_at(stops, holder[0])
    if holder is None or not found:
        return [note]
    numbers = ", ".join(str(kept.stop.number) for kept, _ in found[-_MOST_NUMBERS:])
    known = f"`{holder[0]}` is a local at {len(found)} of them, the last ones {numbers}: it is kept as its text"
    return [f"{note}. {known}. What `show` or `evaluate` reads at a stop is kept from then on"]


def _line(places: Places, point: ValueThen, several: bool) -> str:
    session = f" {point.session_id}" if several else ""
    where = places.at(point.file, point.line, point.function_name) or "?"
    return f"{point.stop}{session} {where}: {values.rendered(point.value, point.type)}"


def _point(kept: KeptStop, variable: Variable) -> ValueThen:
    place, at = kept.stop.location, kept.stack.captured_at
    return ValueThen(
        kept.stop.number,
        kept.session_id,
        None if at is None else iso_time(at),
        None if place is None else place.file,
        None if place is None else place.line,
        None if place is None else place.function_name,
        variable.value,
        variable.type,
    )
