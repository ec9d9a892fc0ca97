"""What an editor may do here: the capabilities of its session's adapter, cut to its role. Pure.

Before an editor has shown a token it gets what is always true, whatever the session: `STRANGER`. What a session has
besides, or has not, it gets by a `capabilities` event once it has joined.
"""

from typing import Any

from trio_debugmcp.dap.messages import Capabilities
from trio_debugmcp.server.auth import Role

_KINDS = [
    {"filter": "raised", "label": "Raised exceptions", "description": "Where an exception is raised, even if caught."},
    {"filter": "uncaught", "label": "Uncaught exceptions", "description": "When nothing catches an exception."},
    {"filter": "userUnhandled", "label": "Exceptions that leave the user's code"},
]

FILTERS: list[dict[str, Any]] = [
    {**kind, "supportsCondition": True, "conditionDescription": "An expression; the same one for all kinds"}
    for kind in _KINDS
]

ALWAYS: dict[str, Any] = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsClipboardContext": True,
    "supportsSetVariable": True,
    "supportsSetExpression": True,
    "supportsExceptionInfoRequest": True,
    "supportsExceptionFilterOptions": True,
    "exceptionBreakpointFilters": FILTERS,
    "supportsModulesRequest": True,
    "supportsLoadedSourcesRequest": True,
    "supportsDelayedStackTraceLoading": True,
    "supportsCompletionsRequest": True,
    "supportsRestartRequest": True,
    "supportsTerminateRequest": True,
    "supportTerminateDebuggee": True,
    "supportsCancelRequest": True,
}
"""What editors in control may do in every session."""

_OF_ADAPTER = {
    "supportsStepBack": "supports_step_back",
    "supportsGotoTargetsRequest": "supports_goto_targets_request",
    "supportsStepInTargetsRequest": "supports_step_in_targets_request",
    "supportsRestartFrame": "supports_restart_frame",
    "supportsSteppingGranularity": "supports_stepping_granularity",
    "supportsDataBreakpoints": "supports_data_breakpoints",
    "supportsCompletionsRequest": "supports_completions_request",
    "supportsReadMemoryRequest": "supports_read_memory_request",
    "supportsDisassembleRequest": "supports_disassemble_request",
    "supportsInstructionBreakpoints": "supports_instruction_breakpoints",
    "supportsValueFormattingOptions": "supports_value_formatting_options",
}
"""What the session's adapter decides; nothing of it is there before there is one."""

_SETS = ("supportsSetVariable", "supportsSetExpression")
"""What takes one of the two, or the probe: `session/looking/user_evaluation.py` does each by what there is."""

_OBSERVER = frozenset(
    {
        "supportsConfigurationDoneRequest",
        "supportsExceptionInfoRequest",
        "supportsModulesRequest",
        "supportsLoadedSourcesRequest",
        "supportsDelayedStackTraceLoading",
        "supportsCancelRequest",
    }
)
"""What observers may do as well."""

STRANGER = ALWAYS
"""What is said before a token was shown."""


def capabilities(
    role: Role, adapter: Capabilities | None, *, probe: bool = False, recorded: bool = False
) -> dict[str, Any]:
    """Return everything that an editor with that role may do in a session, and may not.

    `adapter`: what it can do; None or empty before that is known: then an editor sends all breakpoints that it has.
    `probe`: there is one in the program. `recorded`: there is a record of it, through which its person steps back.
    """
    known = dict(ALWAYS)
    for name, field in _OF_ADAPTER.items():
        known[name] = adapter is not None and bool(getattr(adapter, field))
    if adapter is not None and adapter != Capabilities():
        sets = probe or bool(adapter.supports_set_variable or adapter.supports_set_expression)
        known |= dict.fromkeys(_SETS, sets)
        known["supportsFunctionBreakpoints"] = bool(adapter.supports_function_breakpoints)
        stops = bool(adapter.exception_breakpoint_filters)
        known |= {"exceptionBreakpointFilters": FILTERS if stops else [], "supportsExceptionFilterOptions": stops}
    known["supportsStepBack"] = known["supportsStepBack"] or recorded
    if role == "control":
        return known
    cut = {name: name in _OBSERVER and bool(value) for name, value in known.items() if isinstance(value, bool)}
    return {**cut, "exceptionBreakpointFilters": []}
