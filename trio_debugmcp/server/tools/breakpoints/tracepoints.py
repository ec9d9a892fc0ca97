"""The tool that sets tracepoints: they write a message, and the program never pauses."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.breakpoints import (
    BreakpointAnswer,
)
from trio_debugmcp.server.tools.breakpoints.breakpoint_parameters import BreakpointSet
from trio_debugmcp.server.tools.breakpoints.breakpoints import breakpoint_spec, set_breakpoint
from trio_debugmcp.server.tools.breakpoints.group_breakpoints import in_group
from trio_debugmcp.server.tools.group_choice import GroupOf
from trio_debugmcp.server.tools.tool import LineNumber, Params, Tool
from trio_debugmcp.session.debugger import Debugger


class TracepointSet(Params, frozen=True, kw_only=True):
    file: Annotated[str, Meta(description="The source file.")]
    line: Annotated[LineNumber, Meta(description="The line, counted from 1.")]
    column: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="The column.")] = None
    log_message: Annotated[str, Meta(min_length=1, description="An f-string's text: `i={i}`.")]
    hit_count_multiple: Annotated[int, Meta(ge=0, le=1_000_000_000, description="Write at every nth hit only.")] = 0
    max_notifications: Annotated[int, Meta(ge=0, le=1_000_000_000, description="Disable it after so many.")] = 0
    group: GroupOf = None


async def _set(debugger: Debugger, params: TracepointSet) -> BreakpointAnswer:
    """Set a tracepoint; the program judges it, so that it is exact and nothing is paused."""
    wanted = BreakpointSet(file=params.file, line=params.line, column=params.column, log_message=params.log_message)
    spec = breakpoint_spec(debugger, wanted)
    _check_judged(debugger, spec.file, params)
    limits = {"hit_count_multiple": params.hit_count_multiple, "max_notifications": params.max_notifications}
    [spec], said = await in_group(debugger, [replace(spec, **limits)], params.group)
    answer = await set_breakpoint(debugger, spec)
    return replace(answer, notes=[*said, *answer.notes])


def _check_judged(debugger: Debugger, file: str | None, params: TracepointSet) -> None:
    """Refuse limits where the program cannot judge them: adapters do not report which hits they have counted.

    Raises:
        UsageError: `NOT_SUPPORTED`.
    """
    if not (params.hit_count_multiple or params.max_notifications):
        return
    session = next(
        (session for session in debugger.living_sessions() if session.requests.capabilities.hit_records is None),
        None,
    )
    profile = session.profile if session is not None else debugger.language_of(file)
    if profile is None or (session is None and profile.records_hits):
        return
    raise UsageError(
        "NOT_SUPPORTED",
        f"{profile.name} cannot count the notifications of a tracepoint here (hitRecords). Leave out "
        "hit_count_multiple and max_notifications, or use breakpoint_set with log_message and condition.",
        {"adapter": profile.name, "capability": "hitRecords"},
    )


TOOLS = (
    Tool(
        name="tracepoint_set",
        title="Set a tracepoint",
        description=(
            "Write a message at a line, at every nth hit or so often at most. Without such limits breakpoint_set "
            "with log_message is meant."
        ),
        params=TracepointSet,
        run=_set,
        idempotent=True,
        phrase="log with limits",
    ),
)
