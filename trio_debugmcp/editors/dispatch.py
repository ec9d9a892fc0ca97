"""The requests of editors: what each is answered by, and which are served one after another, in their order."""

from trio_debugmcp.dap.messages import Nothing
from trio_debugmcp.editors import arguments as given
from trio_debugmcp.editors import below_source, looking, moving
from trio_debugmcp.editors.breakpoints import set_breakpoints, set_data_breakpoints, set_exception_breakpoints
from trio_debugmcp.editors.past import recorded_past
from trio_debugmcp.editors.past.past_moves import past_or
from trio_debugmcp.editors.past.recorded_past import in_past
from trio_debugmcp.editors.serving import Served
from trio_debugmcp.editors.values import evaluating

REQUESTS: dict[str, Served] = {
    "threads": Served(Nothing, in_past(looking.threads, recorded_past.threads)),
    "stackTrace": Served(given.StackTraceArguments, in_past(looking.stack_trace, recorded_past.stack_trace)),
    "scopes": Served(given.ScopesArguments, in_past(looking.scopes, recorded_past.scopes)),
    "variables": Served(given.VariablesArguments, in_past(looking.variables, recorded_past.variables)),
    "source": Served(given.SourceArguments, in_past(looking.source, recorded_past.source)),
    "exceptionInfo": Served(given.ThreadArguments, in_past(looking.exception_info, recorded_past.refused)),
    "modules": Served(given.ModulesArguments, looking.modules),
    "loadedSources": Served(Nothing, looking.loaded_sources),
    "readMemory": Served(given.ReadMemoryArguments, below_source.read_memory),
    "disassemble": Served(given.DisassembleArguments, below_source.disassemble),
    "evaluate": Served(given.EvaluateArguments, in_past(evaluating.evaluate, recorded_past.evaluate)),
    "completions": Served(given.CompletionsArguments, in_past(evaluating.completions, recorded_past.no_targets)),
    "setVariable": Served(given.SetVariableArguments, evaluating.set_variable),
    "setExpression": Served(given.SetExpressionArguments, in_past(evaluating.set_expression, recorded_past.refused)),
    "continue": Served(given.ThreadArguments, past_or(moving.continue_, "continue"), moves=True),
    "reverseContinue": Served(given.ThreadArguments, past_or(moving.reverse_continue, "reverse"), moves=True),
    "next": Served(given.ThreadArguments, past_or(moving.next_, "over"), moves=True),
    "stepIn": Served(given.ThreadArguments, past_or(moving.step_in, "in"), moves=True),
    "stepOut": Served(given.ThreadArguments, past_or(moving.step_out, "out"), moves=True),
    "stepBack": Served(given.ThreadArguments, past_or(moving.step_back, "back"), moves=True),
    "pause": Served(given.ThreadArguments, moving.pause, early=True, urgent=True),
    "gotoTargets": Served(given.GotoTargetsArguments, in_past(moving.goto_targets, recorded_past.refused)),
    "goto": Served(given.ThreadArguments, in_past(moving.goto, recorded_past.refused), moves=True),
    "stepInTargets": Served(given.ScopesArguments, moving.step_in_targets),
    "restartFrame": Served(given.ScopesArguments, moving.restart_frame, moves=True),
    "terminate": Served(given.DisconnectArguments, in_past(moving.terminate, recorded_past.leave), urgent=True),
    "setBreakpoints": Served(given.SetBreakpointsArguments, set_breakpoints.set_breakpoints, in_order=True, moves=True),
    "setFunctionBreakpoints": Served(
        given.SetFunctionBreakpointsArguments, set_breakpoints.set_function_breakpoints, in_order=True, moves=True
    ),
    "setExceptionBreakpoints": Served(
        given.SetExceptionBreakpointsArguments,
        set_exception_breakpoints.set_exception_breakpoints,
        in_order=True,
        moves=True,
    ),
    "dataBreakpointInfo": Served(given.DataBreakpointInfoArguments, set_data_breakpoints.data_breakpoint_info),
    "setDataBreakpoints": Served(
        given.SetDataBreakpointsArguments, set_data_breakpoints.set_data_breakpoints, in_order=True, moves=True
    ),
    "setInstructionBreakpoints": Served(
        given.SetInstructionBreakpointsArguments, below_source.set_instruction_breakpoints, in_order=True, moves=True
    ),
    "restart": Served(Nothing, moving.restart, early=True, urgent=True),
}
"""By command. Those that join and leave are served in editor_listener.py, `configurationDone` in serving.py."""
