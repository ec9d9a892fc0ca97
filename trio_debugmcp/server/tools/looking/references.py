"""The tool that says what refers to an object, and what it refers to."""

from typing import Annotated, Literal

from msgspec import Meta

from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.typed import (
    OutboundPayload,
    ReferencesData,
    inbound_line,
    inbound_payload,
    outbound_line,
)
from trio_debugmcp.server.tools.looking.safely import safe_place
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, FrameIndex, Params, SessionId, ThreadId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.truncation import truncated

_ROOM_BYTES = (MAX_RESULT_BYTES - 1000) // 2
"""For the lines of one direction."""


class ReferencesGet(Params, frozen=True, kw_only=True):
    expression: Annotated[str, Meta(min_length=1, description="The object.")]
    direction: Literal["inbound", "outbound", "both"] = "both"
    count: Annotated[int, Meta(ge=1, le=100, description="How many of each at most.")] = 50
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class ReferenceLines(Answer, frozen=True, kw_only=True):
    """What refers to an object (`inbound`), and what it refers to (`outbound`), a line each.

    `.basket of Order(...): orders[0].basket`: the way from the holder, the holder, and the path from a variable, as far
    as there is one, with where a local variable is. `instances` of a class, which all refer to it, are counted only.
    The totals: how many there are, where some were left out.
    """

    full: ReferencesData | None = None
    value: str
    type: str = ""
    inbound: list[str] = []
    inbound_total: int | None = None
    instances: int = 0
    outbound: list[str] = []
    outbound_total: int | None = None
    notes: list[str] = []


async def _references(debugger: Debugger, params: ReferencesGet) -> ReferenceLines:
    session, place = await safe_place(debugger, params.session_id, params.thread_id, params.frame_index)
    found = await session.looking.types.references(place, params.expression, params.direction, params.count)
    places = Places(debugger.workspace.directory)
    inbound = truncated((inbound_line(places, each, place.thread_id) for each in found.inbound), _ROOM_BYTES)
    outbound = truncated((outbound_line(each) for each in found.outbound), _ROOM_BYTES)
    full = ReferencesData(
        value=found.value,
        type=found.type,
        inbound=[inbound_payload(each) for each in found.inbound[: len(inbound)]],
        inbound_total=found.inbound_total,
        instances=found.instances,
        outbound=[OutboundPayload(each.way, each.value) for each in found.outbound[: len(outbound)]],
        outbound_total=found.outbound_total,
    )
    return ReferenceLines(
        full=full,
        value=found.value,
        type="" if found.type in found.value else found.type,
        inbound=inbound,
        inbound_total=found.inbound_total if len(inbound) < found.inbound_total else None,
        instances=found.instances,
        outbound=outbound,
        outbound_total=found.outbound_total if len(outbound) < found.outbound_total else None,
        notes=[*found.notes],
    )


TOOLS = (
    Tool(
        name="references_get",
        title="References",
        description=(
            "What refers to an object, with the path from a variable to each, and what it refers to: why it is still "
            "there, who shares it. Python; runs no code of the program."
        ),
        params=ReferencesGet,
        run=_references,
        read_only=True,
        idempotent=True,
    ),
)
