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
    "stackTrace": Served(given.StackTrace, looking.stack_trace),
    "scopes": Served(given.OfFrame, looking.scopes),
    "variables": Served(given.Variables, looking.variables),
    "source": Served(given.SourceText, looking.source),
    "exceptionInfo": Served(given.OfThread, looking.exception_info),
    "modules": Served(given.Page, looking.modules),
    "loadedSources": Served(Nothing, looking.loaded_sources),
    "readMemory": Served(given.ReadMemory, below_source.read_memory),
    "disassemble": Served(given.Disassemble, below_source.disassemble),
    "evaluate": Served(given.Evaluate, evaluating.evaluate),
    "completions": Served(given.Completions, evaluating.completions),
    "setVariable": Served(given.SetVariable, evaluating.set_variable),
    "setExpression": Served(given.SetExpression, evaluating.set_expression),
    "continue": Served(given.OfThread, moving.continue_, moves=True),
    "reverseContinue": Served(given.OfThread, moving.reverse_continue, moves=True),
    "next": Served(given.OfThread, moving.next_, moves=True),
    "stepIn": Served(given.OfThread, moving.step_in, moves=True),
    "stepOut": Served(given.OfThread, moving.step_out, moves=True),
    "stepBack": Served(given.OfThread, moving.step_back, moves=True),
    "pause": Served(given.OfThread, moving.pause, early=True, urgent=True),
    "gotoTargets": Served(given.GotoTargets, moving.goto_targets),
    "goto": Served(given.OfThread, moving.goto, moves=True),
    "stepInTargets": Served(given.OfFrame, moving.step_in_targets),
    "restartFrame": Served(given.OfFrame, moving.restart_frame, moves=True),
    "terminate": Served(given.Leaving, moving.terminate, urgent=True),
    "setBreakpoints": Served(given.SetBreakpoints, set_breakpoints.set_breakpoints, in_order=True, moves=True),
    "setFunctionBreakpoints": Served(
        given.SetFunctionBreakpoints, set_breakpoints.set_function_breakpoints, in_order=True, moves=True
    ),
    "setExceptionBreakpoints": Served(
        given.SetExceptionBreakpoints, other_breakpoints.set_exception_breakpoints, in_order=True, moves=True
    ),
    "dataBreakpointInfo": Served(given.DataBreakpointInfo, other_breakpoints.data_breakpoint_info),
    "setDataBreakpoints": Served(
        given.SetDataBreakpoints, other_breakpoints.set_data_breakpoints, in_order=True, moves=True
    ),
    "setInstructionBreakpoints": Served(
        given.SetInstructionBreakpoints, below_source.set_instruction_breakpoints, in_order=True, moves=True
    ),
    "restart": Served(Nothing, moving.restart, early=True, urgent=True),
}
"""By command. Those that join and leave are served in door.py, `configurationDone` in serving.py."""
