"""The tool with which a person's page edits a breakpoint that any client has set."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.breakpoints import (
    BreakpointAnswer,
    breakpoint_answer,
)
from trio_debugmcp.server.tools.breakpoints.conditions import Condition, HitCondition, check_texts
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.breakpoint import Breakpoint


class BreakpointEdit(Params, frozen=True, kw_only=True):
    id: Annotated[str, Meta(description="A breakpoint, e.g. bp-1; not one on exceptions.")]
    condition: Condition = None
    hit_condition: HitCondition = None
    log_message: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="Write this and do not stop, as in an f-string.")
    ] = None


async def _edit(debugger: Debugger, params: BreakpointEdit) -> BreakpointAnswer:
    old = debugger.breakpoints.find(params.id)
    if not isinstance(old, Breakpoint):
        raise UsageError(
            "INVALID_PARAMETER",
            f"{params.id} is on exceptions: set it again with breakpoint_set_exception.",
            {"parameter": "id"},
        )
    if params.log_message is not None and (old.spec.address is not None or old.spec.watch is not None):
        what = "an instruction" if old.spec.watch is None else "data"
        sentence = f"{params.id} is on {what}, and has no `log_message`."
        raise UsageError("INVALID_PARAMETER", sentence, {"parameter": "log_message"})
    texts = {"condition": params.condition, "hit_condition": params.hit_condition, "log_message": params.log_message}
    profile = debugger.language_of(old.spec.file)
    check_texts(params.condition, params.hit_condition, params.log_message, profile)
    made = await debugger.breakpoints.set(replace(old.spec, **texts), instead=old)
    return breakpoint_answer(debugger, debugger.breakpoints.find(made.id))


TOOLS = (
    Tool(
        name="breakpoint_edit",
        title="Edit a breakpoint",
        description=(
            "Replace the condition, hit condition and message of a breakpoint; what is left out is taken away. It "
            "stays that of the client that has set it. For a person's page: an agent uses breakpoint_set."
        ),
        params=BreakpointEdit,
        run=_edit,
        idempotent=True,
        listing="none",
    ),
)
