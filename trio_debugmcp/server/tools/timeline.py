"""The tool that pages through the timeline."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.event_lines import event_lines
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, MaxResultBytes, Params, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import TimelineEvent, json_size
from trio_debugmcp.state.timeline_events import EVENT_TYPES


class TimelineQuery(Params, frozen=True, kw_only=True):
    types: Annotated[
        list[str], Meta(description=f"Only events of these types, of {', '.join(EVENT_TYPES)}; none means all.")
    ] = []
    thread_id: Annotated[int | None, Meta(description="Only events of this thread.")] = None
    after_event_id: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Only events after this one: an earlier `nextEventId`. Default: the last."),
    ] = None
    count: Annotated[int, Meta(ge=1, le=10_000, description="How many events.")] = 50
    max_result_bytes: MaxResultBytes = MAX_RESULT_BYTES


class TimelineData(AnswerData, frozen=True, kw_only=True):
    """Events as in `debugger://timeline`. `total`: how many match after the cursor, these among them."""

    events: list[TimelineEvent]
    next_event_id: int
    total: int
    dropped: int


class TimelineAnswer(Answer, frozen=True, kw_only=True):
    """Events, oldest first, a line each: number, what. Of a call that is over only its end has a line.

    `nextEventId`: pass it as `after_event_id` to continue without a gap or a repetition. `total`: how many match, where
    some are not shown; `dropped`: events too old to be kept. What a tracepoint wrote has no thread, as not every
    adapter says it: `thread_id` leaves it out.
    """

    full: TimelineData | None = None
    events: list[str]
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
    timeline, last = debugger.timeline, params.after_event_id is None
    matching = [
        event
        for event in timeline.after(params.after_event_id or 0)
        if (not params.types or event.type in params.types)
        and (params.thread_id is None or event.thread_id == params.thread_id)
    ]
    events = _fitting(matching, params.count, params.max_result_bytes - _HEAD_BYTES, last=last)
    is_end = last or len(events) == len(matching)
    next_event_id = timeline.last_id if is_end else events[-1].event_id
    return TimelineAnswer(
        full=TimelineData(events=events, next_event_id=next_event_id, total=len(matching), dropped=timeline.dropped),
        events=event_lines(Places(debugger.workspace.directory), events),
        next_event_id=next_event_id,
        total=None if len(events) == len(matching) else len(matching),
        dropped=timeline.dropped,
    )


_HEAD_BYTES = 200
"""Of an answer around its events."""


def _fitting(matching: Sequence[TimelineEvent], count: int, most_bytes: int, *, last: bool) -> list[TimelineEvent]:
    """Return the first or the last events that fit; at least one, so that a reader can page on."""
    kept: list[TimelineEvent] = []
    for event in matching[: -count - 1 : -1] if last else matching[:count]:
        most_bytes -= json_size(event)
        if kept and most_bytes < 0:
            break
        kept.append(event)
    return kept[::-1] if last else kept


TOOLS = (
    Tool(
        name="timeline_query",
        title="Query the timeline",
        description="What happened, in order, in all sessions: stops, steps, hits, exceptions, output, tool calls.",
        params=TimelineQuery,
        run=_query,
        read_only=True,
        idempotent=True,
        noted=False,
    ),
)
