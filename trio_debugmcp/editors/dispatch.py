"""The requests of editors: what each is answered by, and which are served one after another, in their order."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.messages import Nothing
from trio_debugmcp.editors import arguments as given
from trio_debugmcp.editors import below_source, evaluating, looking, moving, other_breakpoints, set_breakpoints
from trio_debugmcp.editors.editor import Editor


class Served(Struct, frozen=True):
    """How a request is served.

    `in_order`: after those that came before. `moves`: events wait until it is answered, as they are its effects.
    `early`: it is answered when it has begun, as its effect may be long in coming; then a failure is output.
    `urgent`: it waits for no other request: a person ends with it what hangs.
    """

    arguments: type[Any]
    serve: Callable[[Editor, Any], Awaitable[dict[str, Any] | None]]
    in_order: bool = False
    moves: bool = False
    early: bool = False
    urgent: bool = False


REQUESTS: dict[str, Served] = {
    "threads": Served(Nothing, looking.threads),
    "stackTrace": Served(given.StackTraceArguments, looking.stack_trace),
    "scopes": Served(given.ScopesArguments, looking.scopes),
    "variables": Served(given.VariablesArguments, looking.variables),
    "source": Served(given.SourceArguments, looking.source),
    "exceptionInfo": Served(given.ThreadArguments, looking.exception_info),
    "modules": Served(given.ModulesArguments, looking.modules),
    "loadedSources": Served(Nothing, looking.loaded_sources),
    "readMemory": Served(given.ReadMemoryArguments, below_source.read_memory),
    "disassemble": Served(given.DisassembleArguments, below_source.disassemble),
    "evaluate": Served(given.EvaluateArguments, evaluating.evaluate),
    "completions": Served(given.CompletionsArguments, evaluating.completions),
    "setVariable": Served(given.SetVariableArguments, evaluating.set_variable),
    "setExpression": Served(given.SetExpressionArguments, evaluating.set_expression),
    "continue": Served(given.ThreadArguments, moving.continue_, moves=True),
    "reverseContinue": Served(given.ThreadArguments, moving.reverse_continue, moves=True),
    "next": Served(given.ThreadArguments, moving.next_, moves=True),
    "stepIn": Served(given.ThreadArguments, moving.step_in, moves=True),
    "stepOut": Served(given.ThreadArguments, moving.step_out, moves=True),
    "stepBack": Served(given.ThreadArguments, moving.step_back, moves=True),
    "pause": Served(given.ThreadArguments, moving.pause, early=True, urgent=True),
    "gotoTargets": Served(given.GotoTargetsArguments, moving.goto_targets),
    "goto": Served(given.ThreadArguments, moving.goto, moves=True),
    "stepInTargets": Served(given.ScopesArguments, moving.step_in_targets),
    "restartFrame": Served(given.ScopesArguments, moving.restart_frame, moves=True),
    "terminate": Served(given.DisconnectArguments, moving.terminate, urgent=True),
    "setBreakpoints": Served(given.SetBreakpointsArguments, set_breakpoints.set_breakpoints, in_order=True, moves=True),
    "setFunctionBreakpoints": Served(
        given.SetFunctionBreakpointsArguments, set_breakpoints.set_function_breakpoints, in_order=True, moves=True
    ),
    "setExceptionBreakpoints": Served(
        given.SetExceptionBreakpointsArguments, other_breakpoints.set_exception_breakpoints, in_order=True, moves=True
    ),
    "dataBreakpointInfo": Served(given.DataBreakpointInfoArguments, other_breakpoints.data_breakpoint_info),
    "setDataBreakpoints": Served(
        given.SetDataBreakpointsArguments, other_breakpoints.set_data_breakpoints, in_order=True, moves=True
    ),
    "setInstructionBreakpoints": Served(
        given.SetInstructionBreakpointsArguments, below_source.set_instruction_breakpoints, in_order=True, moves=True
    ),
    "restart": Served(Nothing, moving.restart, early=True, urgent=True),
}
"""By command. Those that join and leave are served in editor_listener.py, `configurationDone` in serving.py."""
