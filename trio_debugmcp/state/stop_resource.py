"""`debugger://stop/{n}`: each stop that is kept, by its number, as it was.

    number = stop_number("debugger://stop/12")     # 12
    stop_payload(state.kept.find(number))          # what was read there
    changed_stops(old, new)                        # {"debugger://stop/12"}: the URIs to notify

Unlike the other resources there is one for each stop; it changes as long as the stop lasts.
"""

import re

from msgspec import UNSET, UnsetType

from trio_debugmcp.state.model import KeptStop, Reading, SourceText, State
from trio_debugmcp.state.payloads import (
    ExceptionInfo,
    Frame,
    Location,
    PauseReason,
    Payload,
    Scope,
    ThreadPayload,
    Variable,
    iso_time,
)
from trio_debugmcp.state.stack_view import frame_payload

STOP_TEMPLATE = "debugger://stop/{n}"
STOP_TEMPLATE_NAME = "Past Stop"
STOP_TEMPLATE_DESCRIPTION = "A stop by its number, as it was: stack, locals, what had changed, what was read there"

_URI = re.compile(r"debugger://stop/([1-9]\d{0,8})")


class ReadingPayload(Payload, frozen=True):
    """What a client read there: `of` the variables of a frame or of a `path`, or the value of the expression `path`.

    `start` is the position of the first of `variables`, of which there were `total`.
    """

    of: str
    thread_id: int
    frame_index: int
    scope: str | None
    path: str | None
    start: int
    variables: list[Variable]
    total: int


class DataChangePayload(Payload, frozen=True):
    """What a data breakpoint saw."""

    breakpoint: str
    expression: str
    before: str | None
    after: str | None
    note: str | None


class SourceVersion(Payload, frozen=True):
    """A file whose text is kept as it ran then; the text of another stop with the same `version` is equal."""

    file: str
    version: str


class StopPayload(Payload, frozen=True):
    """A stop as it was when it was read last.

    `changed`: the locals that differ from the stop `comparedWith`, the one before of the same call, with what they
    were; null: there was none of the name. `readingsDropped`: what was read there, and found no room. `handling`: as in
    `debugger://session`.
    """

    stop: int
    session_id: str
    process_name: str | None
    process_id: int | None
    captured_at: str | None
    reason: PauseReason
    description: str | None
    exception: ExceptionInfo | None
    breakpoint_ids: list[str]
    data_changes: list[DataChangePayload]
    location: Location | None
    thread_id: int
    frames: list[Frame]
    total_frames: int
    scopes: list[Scope]
    locals: list[Variable] | None
    total_locals: int
    returned: list[Variable]
    changed: dict[str, str | None]
    compared_with: int | None
    threads: list[ThreadPayload]
    total_threads: int
    readings: list[ReadingPayload]
    readings_dropped: int
    sources: list[SourceVersion]
    revision: int
    handling: str | UnsetType = UNSET


def stop_uri(number: int) -> str:
    """The URI of the stop with that number."""
    return STOP_TEMPLATE.replace("{n}", str(number))


def stop_number(uri: str) -> int | None:
    """The number of the stop that a URI names, whether or not it is kept; None for every other URI."""
    named = _URI.fullmatch(uri)
    return None if named is None else int(named[1])


def changed_stops(old: State, new: State) -> set[str]:
    """The URIs of the stops that differ between two states; those that are kept no longer do."""
    before, after = old.kept, new.kept
    if before is after:
        return set()
    shared = max(0, after.first - before.first)
    pairs = zip(before.stops[shared:], after.stops, strict=False)
    found = {now.stop.number for was, now in pairs if was is not now}
    found.update(range(before.first, after.first), range(before.last + 1, after.last + 1))
    return {stop_uri(number) for number in found}


def stop_payload(kept: KeptStop) -> StopPayload:
    """A kept stop as clients see it."""
    stop, stack, found = kept.stop, kept.stack, kept.stack.locals
    return StopPayload(
        stop=stop.number,
        session_id=kept.session_id,
        process_name=kept.process_name,
        process_id=kept.process_id,
        captured_at=None if stack.captured_at is None else iso_time(stack.captured_at),
        reason=stop.reason,
        description=stop.description,
        exception=stop.exception,
        breakpoint_ids=list(stop.breakpoint_ids),
        data_changes=[
            DataChangePayload(change.breakpoint, change.expression, change.before, change.after, change.note)
            for change in stop.changes
        ],
        location=stop.location,
        thread_id=stop.thread_id,
        frames=[frame_payload(index, frame) for index, frame in enumerate(stack.frames)],
        total_frames=max(stack.total, len(stack.frames)),
        scopes=[] if found is None else [Scope(scope.name, scope.expensive) for scope in found.scopes],
        locals=None if found is None else list(found.variables),
        total_locals=0 if found is None else max(found.total, len(found.variables)),
        returned=[] if found is None else list(found.returned),
        changed=dict(kept.changed),
        compared_with=kept.compared_with,
        threads=[
            ThreadPayload(thread.id, thread.name, thread.state, thread.id == kept.threads.current, thread.location)
            for thread in kept.threads.threads
        ],
        total_threads=kept.total_threads,
        readings=[_reading(reading) for reading in kept.readings],
        readings_dropped=kept.unkept,
        sources=[_version(source) for source in kept.sources],
        revision=kept.revision,
        handling=stop.handling or UNSET,
    )


def _reading(reading: Reading) -> ReadingPayload:
    return ReadingPayload(
        reading.of,
        reading.thread_id,
        reading.frame_index,
        reading.scope,
        reading.path,
        reading.start,
        list(reading.variables),
        reading.total,
    )


def _version(source: SourceText) -> SourceVersion:
    return SourceVersion(source.path, source.version)
