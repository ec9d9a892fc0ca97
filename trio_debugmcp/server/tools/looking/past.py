"""`stop_get`: the stops of the past, as they were, also of sessions that have ended."""

from typing import Annotated

import msgspec
from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.past import PastSource, PastStop, PastValues, past_stop, past_values
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, MaxResultBytes, Params, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.source_text import source_text
from trio_debugmcp.session.stops.looking_back import kept_stop, stops_of
from trio_debugmcp.state.model import KeptStop
from trio_debugmcp.state.payloads import shortened

_HEAD_BYTES = 200
"""Of an answer around its values."""


class StopGet(Params, frozen=True, kw_only=True):
    stop: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="Its number, counted from 1; default: the last one.")
    ] = None
    variable: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Instead, the values of this local, or expression that was evaluated, at all kept stops."),
    ] = None
    source: Annotated[str | None, Meta(description="Instead, the text of this file as it ran at the stop.")] = None
    # Not `session_id` in the struct, which would have to be the id of a session that is still known.
    of_session: Annotated[str | None, Meta(description="Only stops of this session, which may have ended.")] = (
        msgspec.field(default=None, name="session_id")
    )
    max_result_bytes: MaxResultBytes = MAX_RESULT_BYTES


async def _stop(debugger: Debugger, params: StopGet) -> PastStop | PastSource | PastValues:
    kept = debugger.state.kept
    if params.variable is not None:
        stops = stops_of(kept, params.of_session)
        room = params.max_result_bytes - _HEAD_BYTES
        return past_values(debugger, stops, params.variable, room)
    number = params.stop
    if number is None:
        number = stops_of(kept, params.of_session)[-1].stop.number if params.of_session is not None else kept.last
    found = kept_stop(kept, number)
    if params.of_session not in (None, found.session_id):
        raise UsageError("STOP_NOT_FOUND", f"Stop {number} is of session {found.session_id}: leave out session_id.")
    if params.source is not None:
        return await _source(debugger, found, params.source)
    return past_stop(debugger, found)


async def _source(debugger: Debugger, kept: KeptStop, file: str) -> PastSource:
    found = next((source for source in kept.sources if source.path == file), None)
    if found is None:
        known = ", ".join(source.path for source in kept.sources) or "no file"
        raise UsageError(
            "INVALID_PATH", f"The text of '{shortened(file)}' at stop {kept.stop.number} is not kept; kept is {known}."
        )
    try:
        changed = await source_text(debugger, file) != found.text
    except UsageError:  # of a program that is over, or gone from the disk: it is not known
        changed = False
    return PastSource(file=found.path, version=found.version, text=found.text, changed=changed)


TOOLS = (
    Tool(
        name="stop_get",
        title="Past stop",
        description=(
            "An earlier stop as it was: place, stack, locals, what had changed; or one `variable` over all stops. Also "
            "after the end."
        ),
        params=StopGet,
        run=_stop,
        read_only=True,
        idempotent=True,
        phrase="earlier stops",
        unlisted=frozenset({"source"}),
    ),
)
