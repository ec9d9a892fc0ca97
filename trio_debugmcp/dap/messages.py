"""The DAP messages that we use, as msgspec structs: envelopes, their parts, events, bodies of responses.

Tolerant of real adapters: unknown members are skipped, optional members may be `null`, `seq` may be missing.
dap/codec.py reads and writes them.

Long because it is a vocabulary to look things up in: one struct for each message, without code.

Specification: https://microsoft.github.io/debug-adapter-protocol/specification
"""

from typing import Any

from msgspec import Raw, Struct, field

_EMPTY = Raw(b"")


class DapStruct(Struct, rename="camel", omit_defaults=True, frozen=True):
    """Base of everything inside an envelope: camelCase on the wire, defaults left out."""


# --- Envelopes -----------------------------------------------------------------------------------------------


class Request(Struct, tag_field="type", tag="request", frozen=True):
    """A request in either direction."""

    command: str
    seq: int = 0
    arguments: Raw = _EMPTY


class Response(Struct, tag_field="type", tag="response", frozen=True):
    """The response to the request whose `seq` is `request_seq`."""

    request_seq: int
    success: bool
    command: str = ""
    seq: int = 0
    message: str | None = None
    body: Raw = _EMPTY


class DapEvent(Struct, tag_field="type", tag="event", frozen=True):
    """Something that happened in the adapter or the debuggee."""

    event: str
    seq: int = 0
    body: Raw = _EMPTY


# --- Parts ---------------------------------------------------------------------------------------------------


class DapSource(DapStruct, frozen=True):
    """A file or generated code: a path, or a reference that only the adapter can resolve."""

    name: str | None = None
    path: str | None = None
    source_reference: int | None = None
    presentation_hint: str | None = None


class DapBreakpoint(DapStruct, frozen=True):
    """A breakpoint as the adapter set it; `line` and `column` are its actual place."""

    verified: bool = False
    id: int | None = None
    message: str | None = None
    source: DapSource | None = None
    line: int | None = None
    column: int | None = None
    instruction_reference: str | None = None


class DapThread(DapStruct, frozen=True):
    """A thread; its id may be 0."""

    id: int
    name: str | None = None


class DapFrame(DapStruct, frozen=True):
    """One stack frame; `id` is valid until the next resume."""

    id: int
    name: str = ""
    line: int = 0
    column: int = 0
    source: DapSource | None = None
    module_id: int | str | None = None
    presentation_hint: str | None = None
    instruction_pointer_reference: str | None = None


class DapModule(DapStruct, frozen=True):
    """A loaded module: a library, a Python module, a DLL."""

    id: int | str
    name: str = ""
    path: str | None = None
    version: str | None = None
    symbol_status: str | None = None
    is_user_code: bool | None = None


class DapScope(DapStruct, frozen=True):
    """A named container of variables of one frame."""

    name: str
    variables_reference: int = 0
    presentation_hint: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    expensive: bool | None = None


class DapVariable(DapStruct, frozen=True):
    """A variable; `variables_reference` above 0 means that it has children.

    Attributes:
        presentation_hint: an object by the protocol; adapters may have something else there.
    """

    name: str
    value: str = ""
    type: str | None = None
    evaluate_name: str | None = None
    variables_reference: int = 0
    named_variables: int | None = None
    indexed_variables: int | None = None
    memory_reference: str | None = None
    presentation_hint: object = None

    def hint(self, name: str) -> object:
        """Return an entry of the presentation hint, or None."""
        return self.presentation_hint.get(name) if isinstance(self.presentation_hint, dict) else None

    @property
    def lazy(self) -> bool:
        """Whether its only child is its value, which code of the program makes when it is asked for."""
        return self.hint("lazy") is True


class Instruction(DapStruct, frozen=True):
    """One machine instruction; `location` and `line` may be left out where they are those of the one before."""

    address: str
    instruction: str = ""
    instruction_bytes: str | None = None
    symbol: str | None = None
    location: DapSource | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    presentation_hint: str | None = None


class DapTarget(DapStruct, frozen=True):
    """A place to go to, or a call to step into."""

    id: int
    label: str = ""
    line: int | None = None
    column: int | None = None


class ExceptionBreakpointFilter(DapStruct, frozen=True):
    """A kind of exception stop that the adapter offers."""

    filter: str
    label: str = ""
    default: bool | None = None
    supports_condition: bool | None = None


class Capabilities(DapStruct, frozen=True):
    """Features of the adapter. One that is not declared is never used: some adapters then stop answering."""

    supports_configuration_done_request: bool | None = None
    supports_function_breakpoints: bool | None = None
    supports_conditional_breakpoints: bool | None = None
    supports_hit_conditional_breakpoints: bool | None = None
    supports_log_points: bool | None = None
    supports_exception_info_request: bool | None = None
    supports_exception_filter_options: bool | None = None
    supports_step_back: bool | None = None
    supports_stepping_granularity: bool | None = None
    supports_modules_request: bool | None = None
    supports_completions_request: bool | None = None
    supports_set_expression: bool | None = None
    supports_clipboard_context: bool | None = None
    supports_set_variable: bool | None = None
    supports_terminate_debuggee: bool | None = field(name="supportTerminateDebuggee", default=None)
    supports_restart_request: bool | None = None
    supports_restart_frame: bool | None = None
    supports_goto_targets_request: bool | None = None
    supports_step_in_targets_request: bool | None = None
    supports_read_memory_request: bool | None = None
    supports_write_memory_request: bool | None = None
    supports_disassemble_request: bool | None = None
    supports_data_breakpoints: bool | None = None
    supports_instruction_breakpoints: bool | None = None
    supports_debugger_properties: bool | None = None
    supports_value_formatting_options: bool | None = None
    exception_breakpoint_filters: list[ExceptionBreakpointFilter] | None = None
    hit_records: str | None = None
    """Our own, of a direct line: breakpoints can be judged inside the program, which records hits under this key."""
    engine_requests: bool | None = None
    """Our own: the debugger in the program is our engine, which takes questions to the probe as requests."""
    runtime: dict[str, Any] | None = None
    """Our own: what runs the program, which our engine says at once and others when they are asked."""
    keeps_hits: bool | None = None
    """Our own: the program counts the hits of a breakpoint by its `key`: one that is set again continues."""
    records_runs: bool | None = None
    """Our own: the engine records runs, by the requests `recordRun` and `recordEnd`."""


# --- Events --------------------------------------------------------------------------------------------------


class Initialized(DapStruct, frozen=True):
    """The adapter is ready for its configuration."""


class Stopped(DapStruct, frozen=True):
    """Execution stopped. `thread_id` may be missing (delve's pause) or 0 (js-debug)."""

    reason: str = ""
    description: str | None = None
    thread_id: int | None = None
    preserve_focus_hint: bool | None = None
    text: str | None = None
    all_threads_stopped: bool | None = None
    hit_breakpoint_ids: list[int] | None = None
    answer: Raw = _EMPTY
    """To the question `stop`, which our engine answers at each stop once it was asked `atStops`."""


class Continued(DapStruct, frozen=True):
    """Execution resumed."""

    thread_id: int | None = None
    all_threads_continued: bool | None = None


class Exited(DapStruct, frozen=True):
    """The debuggee ended with `exit_code`."""

    exit_code: int = 0


class Terminated(DapStruct, frozen=True):
    """Debugging ended, which the debuggee may survive."""


class ProgramLost(DapStruct, frozen=True):
    """The debuggee lives, but its debugger has lost it for good. Of direct lines: DAP has no such event."""

    reason: str


class ThreadEvent(DapStruct, frozen=True):
    """A thread started or exited."""

    reason: str
    thread_id: int


class OutputEvent(DapStruct, frozen=True):
    """Text from the debuggee or from the adapter, by `category`."""

    output: str = ""
    category: str | None = None
    data: Any = None


class BreakpointEvent(DapStruct, frozen=True):
    """A breakpoint was moved, verified or removed by the adapter."""

    reason: str
    breakpoint: DapBreakpoint


class ModuleEvent(DapStruct, frozen=True):
    """A module was loaded, changed or removed."""

    reason: str
    module: DapModule


class LoadedSource(DapStruct, frozen=True):
    """A source was loaded, changed or removed."""

    reason: str
    source: DapSource


class ProcessEvent(DapStruct, frozen=True):
    """The debuggee's process was started or attached to."""

    name: str = ""
    system_process_id: int | None = None
    start_method: str | None = None


class CapabilitiesEvent(DapStruct, frozen=True):
    """Capabilities that the adapter declares after `initialize`: see `merge_capabilities`."""

    capabilities: Raw = _EMPTY


class UnknownEvent(DapStruct, frozen=True):
    """An event that we do not use, or whose body does not fit the specification."""

    event: str
    body: Any = None


EventBody = (
    Initialized
    | Stopped
    | Continued
    | Exited
    | Terminated
    | ProgramLost
    | ThreadEvent
    | OutputEvent
    | BreakpointEvent
    | ModuleEvent
    | LoadedSource
    | ProcessEvent
    | CapabilitiesEvent
    | UnknownEvent
)

EVENT_TYPES: dict[str, type[DapStruct]] = {
    "initialized": Initialized,
    "stopped": Stopped,
    "continued": Continued,
    "exited": Exited,
    "terminated": Terminated,
    "programLost": ProgramLost,
    "thread": ThreadEvent,
    "output": OutputEvent,
    "breakpoint": BreakpointEvent,
    "module": ModuleEvent,
    "loadedSource": LoadedSource,
    "process": ProcessEvent,
    "capabilities": CapabilitiesEvent,
}


# --- Response bodies -----------------------------------------------------------------------------------------


class Nothing(DapStruct, frozen=True):
    """The body of a response of which only the success matters."""


class BreakpointsBody(DapStruct, frozen=True):
    """The response to every `set…Breakpoints`, in the order of the request."""

    breakpoints: list[DapBreakpoint] | None = None


class ThreadsBody(DapStruct, frozen=True):
    """The response to `threads`: all threads."""

    threads: list[DapThread] | None = None


class ModulesBody(DapStruct, frozen=True):
    """The response to `modules`: all modules."""

    modules: list[DapModule] | None = None


class StackTraceBody(DapStruct, frozen=True):
    """The response to `stackTrace`: a page of frames."""

    stack_frames: list[DapFrame] | None = None
    total_frames: int | None = None


class ScopesBody(DapStruct, frozen=True):
    """The response to `scopes`: those of one frame."""

    scopes: list[DapScope] | None = None


class SetVariableBody(DapStruct, frozen=True):
    """The response to `setVariable`: what it is then."""

    value: str = ""
    type: str | None = None
    variables_reference: int | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    memory_reference: str | None = None


class VariablesBody(DapStruct, frozen=True):
    """The response to `variables`: children of one reference."""

    variables: list[DapVariable] | None = None


class EvaluateBody(DapStruct, frozen=True):
    """The response to `evaluate`: a value, perhaps with children."""

    result: str = ""
    type: str | None = None
    variables_reference: int = 0
    named_variables: int | None = None
    indexed_variables: int | None = None
    memory_reference: str | None = None


class ExceptionDetails(DapStruct, frozen=True):
    """An exception in the terms of its language, if the adapter knows them."""

    message: str | None = None
    type_name: str | None = None
    full_type_name: str | None = None
    stack_trace: str | None = None
    inner_exception: list["ExceptionDetails"] | None = None


class CaughtBy(DapStruct, frozen=True):
    """Who will catch an exception, as our engine says it: a function, or C code that this one has called."""

    function: str = ""
    path: str = ""
    line: int | None = None
    library: bool = False
    in_c_code: bool = False


class ExceptionInfoBody(DapStruct, frozen=True):
    """The response to `exceptionInfo`: the exception at a stop. Only our engine says by whom it will be caught."""

    exception_id: str = ""
    description: str | None = None
    break_mode: str | None = None
    details: ExceptionDetails | None = None
    caught_by: CaughtBy | None = None


class SourceBody(DapStruct, frozen=True):
    """The response to `source`: the text."""

    content: str = ""
    mime_type: str | None = None


class CompletionItem(DapStruct, frozen=True):
    """One completion: `text`, or else the label, replaces `length` characters, from `start` on if that is said."""

    label: str = ""
    text: str | None = None
    start: int | None = None
    length: int | None = None


class CompletionsBody(DapStruct, frozen=True):
    """The response to `completions`: what fits."""

    targets: list[CompletionItem] | None = None


class ReadMemoryBody(DapStruct, frozen=True):
    """The response to `readMemory`: bytes in base64, and how many behind them cannot be read."""

    address: str = ""
    data: str = ""
    unreadable_bytes: int = 0


class WriteMemoryBody(DapStruct, frozen=True):
    """The response to `writeMemory`; most adapters leave all of it out."""

    bytes_written: int | None = None


class DisassembleBody(DapStruct, frozen=True):
    """The response to `disassemble`: instructions in the order of their addresses."""

    instructions: list[Instruction] | None = None


class TargetsBody(DapStruct, frozen=True):
    """The response to `gotoTargets` and to `stepInTargets`."""

    targets: list[DapTarget] | None = None


class DataBreakpointInfoBody(DapStruct, frozen=True):
    """The response to `dataBreakpointInfo`: an id for what can be watched; without one, `description` says why not."""

    data_id: str | None = None
    description: str = ""
    access_types: list[str] | None = None
    can_persist: bool | None = None


# --- Reverse requests ----------------------------------------------------------------------------------------


class RunInTerminal(DapStruct, frozen=True):
    """A request to the client to start a process; `null` in `env` unsets a variable."""

    args: list[str]
    cwd: str = ""
    env: dict[str, str | None] | None = None
    title: str | None = None


class StartDebugging(DapStruct, frozen=True):
    """A request to the client to start a child session."""

    request: str
    configuration: dict[str, Any]


BY_ENGINE = "byEngine"
"""In what announces a child: our engine debugs it, which serves requests in order, before it has answered the first."""
