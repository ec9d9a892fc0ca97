"""The tool that pages through the timeline."""

from itertools import islice
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, MaxResultBytes, Params, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.truncation import json_size
from trio_debugmcp.state.payloads import TimelineEvent
from trio_debugmcp.state.timeline_events import EVENT_TYPES


class TimelineQuery(Params, frozen=True, kw_only=True):
    types: Annotated[
        list[str], Meta(description=f"Only events of these types, of {', '.join(EVENT_TYPES)}; none means all.")
    ] = []
    thread_id: Annotated[int | None, Meta(description="Only events of this thread.")] = None
    after_event_id: Annotated[
        int, Meta(ge=0, description="Only events after this one: the `nextEventId` of an earlier answer.")
    ] = 0
    count: Annotated[int, Meta(ge=1, le=10_000, description="How many events.")] = 200
    max_result_bytes: MaxResultBytes = MAX_RESULT_BYTES


class ShownEvent(Answer, frozen=True, kw_only=True):
    """An event in the debug session; what is in `payload` depends on `type`."""

    event_id: int
    timestamp: str
    type: str
    thread_id: int | None = None
    payload: dict[str, Any] = {}


class TimelineData(AnswerData, frozen=True, kw_only=True):
    """Events as in `debugger://timeline`. `total`: how many match after the cursor, these among them."""

    events: list[TimelineEvent]
    next_event_id: int
    total: int
    dropped: int


class TimelineAnswer(Answer, frozen=True, kw_only=True):
    """Events, oldest first. `nextEventId`: pass it as `after_event_id` to continue without a gap or a repetition.

    `total`: how many match after the cursor, where some are not shown; `dropped`: events too old to be kept.
    What a tracepoint wrote has no thread, as not every adapter says it: `thread_id` leaves it out.
    """

    full: TimelineData | None = None
    events: list[ShownEvent]
    next_event_id: int
    total: int | None = None
    dropped: int = 0


async def _query(debugger: Debugger, params: TimelineQuery) -> TimelineAnswer:
    unknown = [each for each in params.types if each not in EVENT_TYPES]
    if unknown:
        raise UsageError(
            "INVALID_PARAMETER",
            f"There is no event type '{unknown[0]}'. Types: {', '.join(EVENT_TYPES)}.",
            {"parameter": "types", "known": list(EVENT_TYPES)},
        )
    timeline = debugger.timeline
    matching = [
        event
        for event in timeline.after(params.after_event_id)
        if (not params.types or event.type in params.types)
        and (params.thread_id is None or event.thread_id == params.thread_id)
    ]
    places = Places(debugger.workspace.directory)
    shown = _fitting(matching, places, params.count, params.max_result_bytes - _HEAD_BYTES)
    all_shown = len(shown) == len(matching)
    next_event_id = timeline.last_id if all_shown else shown[-1].event_id
    events = matching[: len(shown)]
    return TimelineAnswer(
        full=TimelineData(events=events, next_event_id=next_event_id, total=len(matching), dropped=timeline.dropped),
        events=shown,
        next_event_id=next_event_id,
        total=None if all_shown else len(matching),
        dropped=timeline.dropped,
    )


_HEAD_BYTES = 200
"""Of an answer around its events."""


def _fitting(events: list[TimelineEvent], places: Places, count: int, most_bytes: int) -> list[ShownEvent]:
    """Return the first events that fit; at least one, so that a reader can page on."""
    kept: list[ShownEvent] = []
    for event in islice(events, count):
        shown = ShownEvent(
            event_id=event.event_id,
            timestamp=event.timestamp,
            type=event.type,
            thread_id=event.thread_id,
            payload=_with_news(places, msgspec.to_builtins(event.payload)),
        )
        most_bytes -= json_size(shown)
        if kept and most_bytes < 0:
            break
        kept.append(shown)
    return kept


def _with_news(places: Places, payload: dict[str, Any]) -> dict[str, Any]:
    """Return what happened without keys that have no news, and with files as in other answers."""
    shown = {key: value for key, value in payload.items() if value not in (None, "", [], {})}
    if "location" in shown:
        shown["location"] = _with_news(places, shown["location"])
    if "file" in shown:
        shown["file"] = places.file(shown["file"])
    return shown


TOOLS = (
    Tool(
        name="timeline_query",
        title="Query the timeline",
        description=("What happened in the session, in order: stops, steps, hits, exceptions, output, tool calls."),
        params=TimelineQuery,
        run=_query,
        read_only=True,
        idempotent=True,
        noted=False,
    ),
)
