"""The tool that says what refers to an object, and what it refers to."""

from typing import Annotated, Literal

from msgspec import Meta

from trio_debugmcp.errors import UsageError
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
from trio_debugmcp.session.looking.by_probe.safe_evaluation import SafePlace
from trio_debugmcp.session.looking.by_probe.type_descriptions import InstanceGroup
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.payloads import truncated

_ROOM_BYTES = (MAX_RESULT_BYTES - 1000) // 2
"""For the lines of one direction."""


class ReferencesGet(Params, frozen=True, kw_only=True):
    expression: Annotated[Annotated[str, Meta(min_length=1)] | None, Meta(description="The object.")] = None
    type: Annotated[Annotated[str, Meta(min_length=1)] | None, Meta(description="Or a class.")] = None
    direction: Annotated[
        Literal["inbound", "outbound", "both"],
        Meta(description="inbound: what refers to it; outbound: what it refers to."),
    ] = "both"
    count: Annotated[int, Meta(ge=1, le=100, description="How many of each at most.")] = 50
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class ReferenceLines(Answer, frozen=True, kw_only=True):
    """What refers to an object (`inbound`), and what it refers to (`outbound`), a line each.

    `.basket of Order(...): orders[0].basket`: the way from the holder, the holder, and the path from a variable, as far
    as there is one, with where a local variable is. `instances` of a class, which all refer to it, are counted only.
    With `type` these are what is asked about, and `inbound` has the ways that hold those that were followed, the most
    frequent first. The totals: how many there are, where some were left out.
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
    if (params.expression is None) == (params.type is None):
        raise UsageError("INVALID_PARAMETER", "Pass `expression` or `type`.", {"parameter": "expression"})
    session, place = await safe_place(debugger, params.session_id, params.thread_id, params.frame_index)
    if params.expression is None:
        return await _instances(debugger, session, place, params)
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


async def _instances(
    debugger: Debugger, session: DebugSession, place: SafePlace, params: ReferencesGet
) -> ReferenceLines:
    found = await session.looking.types.instances(place, params.type or "", params.count)
    places = Places(debugger.workspace.directory)
    lines = (_group_line(places, group, found.followed, place.thread_id) for group in found.groups)
    inbound = truncated(lines, _ROOM_BYTES)
    notes = [*found.notes]
    if found.followed < found.instances:
        notes.append(f"{found.followed} of {found.instances} instances were followed to what holds them")
    full = ReferencesData(
        value=found.value,
        type=found.type,
        inbound=[inbound_payload(group) for group in found.groups[: len(inbound)]],
        inbound_total=found.groups_total,
        instances=found.instances,
        outbound=[],
        outbound_total=0,
    )
    return ReferenceLines(
        full=full,
        value=found.value,
        inbound=inbound,
        inbound_total=found.groups_total if len(inbound) < found.groups_total else None,
        instances=found.instances,
        notes=notes,
    )


def _group_line(places: Places, group: InstanceGroup, followed: int, thread_id: int | None) -> str:
    if not group.of and not group.path and not group.name:
        return f"{group.count} of {followed}: nothing was found that refers to it"
    return f"{group.count} of {followed}: {inbound_line(places, group, thread_id)}"


TOOLS = (
    Tool(
        name="references_get",
        title="References",
        description=(
            "What refers to an object, by the path from a variable, and what it refers to; or the instances of a "
            "`type`, and what holds them. Runs none of its code."
        ),
        params=ReferencesGet,
        run=_references,
        read_only=True,
        idempotent=True,
        phrase="what holds an object, or all of a type",
    ),
)
