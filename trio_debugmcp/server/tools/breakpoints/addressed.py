"""Breakpoints on data and on instructions, which belong to the program that runs: they end with its session."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.breakpoints import (
    BreakpointAnswer,
    breakpoint_answer,
)
from trio_debugmcp.server.answers.memory import instruction_lines, instruction_payloads
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.breakpoints.conditions import Condition, HitCondition, check_texts
from trio_debugmcp.server.tools.tool import FrameIndex, Params, SessionId, ThreadId, Tool
from trio_debugmcp.session.breakpoints.watches import WatchQuestion, watch_of
from trio_debugmcp.session.debugger import READER, Debugger
from trio_debugmcp.session.looking import memory_access
from trio_debugmcp.state.breakpoint import BreakpointSpec
from trio_debugmcp.state.payloads import DataAccess


class BreakpointSetData(Params, frozen=True, kw_only=True):
    variable: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="A variable or a field, by its path.")
    ] = None
    expression: Annotated[Annotated[str, Meta(min_length=1)] | None, Meta(description="Or a place: `*p`, `a[3]`.")] = (
        None
    )
    access: Annotated[DataAccess, Meta(description="What stops the program.")] = "write"
    condition: Condition = None
    hit_condition: HitCondition = None
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


async def _set_data(debugger: Debugger, params: BreakpointSetData) -> BreakpointAnswer:
    session, _snapshot = debugger.paused(params.session_id)
    session.requests.need(
        "supportsDataBreakpoints", "watch data", "Use breakpoint_set with a condition where the value changes."
    )
    text = (params.variable or params.expression or "").strip()
    if (params.variable is None) == (params.expression is None) or not text:
        raise UsageError("INVALID_PARAMETER", "Pass either `variable` or `expression`.")
    check_texts(params.condition, params.hit_condition, None, session.profile)
    frame = await session.looking.frame(params.thread_id, params.frame_index)
    found = await watch_of(session.requests, frame, WatchQuestion(text, params.access))
    only_in = None if found.watch.persists else session.id
    spec = BreakpointSpec(
        watch=found.watch, only_in=only_in, condition=params.condition, hit_condition=params.hit_condition
    )
    made = await debugger.breakpoints.set(spec, READER.get())
    answer = breakpoint_answer(debugger, debugger.breakpoints.find(made.id))
    return replace(answer, full=replace(answer.full, value=found.value), value=found.value)


async def set_on_instruction(
    debugger: Debugger, address: str, condition: str | None, hit_condition: str | None, session_id: str | None
) -> BreakpointAnswer:
    """Set a breakpoint on an instruction of the program that is paused.

    Raises:
        UsageError: `NOT_SUPPORTED`, or `INVALID_PARAMETER`: there is no instruction at that address.
    """
    session, _snapshot = debugger.paused(session_id)
    requests = session.requests
    requests.need("supportsInstructionBreakpoints", "stop at an instruction", "Pass `file` and `line`.")
    for given, capability, what in (
        (condition, "supportsConditionalBreakpoints", "judge conditions"),
        (hit_condition, "supportsHitConditionalBreakpoints", "judge hit conditions"),
    ):
        if given is not None:
            requests.need(capability, what, "Leave it out.")
    place = memory_access.checked_address(address)
    frame = await session.looking.frame(None, 0)
    found = await memory_access.instruction_at(requests, place, frame.instruction)
    spec = BreakpointSpec(address=place, only_in=session.id, condition=condition, hit_condition=hit_condition)
    made = await debugger.breakpoints.set(spec, READER.get())
    answer = breakpoint_answer(debugger, debugger.breakpoints.find(made.id))
    lines = instruction_lines(Places(debugger.workspace.directory), instruction_payloads(found, None))
    instruction = lines[0] if lines else place
    return replace(answer, full=replace(answer.full, instruction=instruction), instruction=instruction)


TOOLS = (
    Tool(
        name="breakpoint_set_data",
        title="Stop when data changes",
        description=(
            "Stop where a variable of a native program is written, or read. Stops show `changed`: the value before and "
            "after. It ends with the session."
        ),
        params=BreakpointSetData,
        run=_set_data,
        idempotent=True,
        phrase="native variables",
        unlisted=frozenset({"thread_id", "hit_condition"}),
    ),
)
