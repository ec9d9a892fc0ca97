"""The arguments of the requests that editors send, as far as they matter here. What is not known is skipped."""

from typing import Annotated, Any

from msgspec import Meta, field

from trio_debugmcp.dap.messages import DapSource, DapStruct

MAX_NUMBER = 2**31 - 2
"""Of lines and columns: DAP's numbers have 31 bits, and an editor may count from 0 where we count from 1."""


class InitializeArguments(DapStruct, frozen=True):
    """What an editor says of itself."""

    client_id: str | None = None
    client_name: str | None = None
    adapter_id: str | None = None
    lines_start_at_1: bool = True
    columns_start_at_1: bool = True
    path_format: str | None = None
    supports_invalidated_event: bool = False
    supports_start_debugging_request: bool = False
    supports_memory_references: bool = False


class AttachArguments(DapStruct, frozen=True):
    """Which session an editor wants to join. `wait`: for the next one if there is none. `run`: or which recorded run.

    `part_of`: by what an editor is known again that was asked to open a session: child_sessions.py.
    """

    token: str | None = None
    wait: bool = False
    session_id: str | None = None
    part_of: str | None = None
    run: str | None = None


class ThreadArguments(DapStruct, frozen=True):
    """The arguments of a request about a thread."""

    thread_id: int
    granularity: str | None = None
    target_id: int | None = None


class StackTraceArguments(DapStruct, frozen=True):
    """A page of a thread's stack; `levels` 0: all of it."""

    thread_id: int
    start_frame: int = 0
    levels: int = 0


class ScopesArguments(DapStruct, frozen=True):
    """The arguments of a request about a frame."""

    frame_id: int


class VariablesArguments(DapStruct, frozen=True):
    """A page of the children of a value."""

    variables_reference: int
    filter: str | None = None
    start: int = 0
    count: int = 0
    format: dict[str, Any] | None = None


class EvaluateArguments(DapStruct, frozen=True):
    """An expression; without a frame it is a global one."""

    expression: str
    frame_id: int | None = None
    context: str | None = None
    format: dict[str, Any] | None = None


class CompletionsArguments(DapStruct, frozen=True):
    """What is typed, and where the cursor is in it."""

    text: str
    column: int
    line: int | None = None
    frame_id: int | None = None


class SetVariableArguments(DapStruct, frozen=True):
    """A child of a value, and what it is to be."""

    variables_reference: int
    name: str
    value: str
    format: dict[str, Any] | None = None


class SetExpressionArguments(DapStruct, frozen=True):
    """A place, and what it is to be."""

    expression: str
    value: str
    frame_id: int | None = None
    format: dict[str, Any] | None = None


class SourceArguments(DapStruct, frozen=True):
    """A source whose text is wanted."""

    source_reference: int = 0
    source: DapSource | None = None


class ModulesArguments(DapStruct, frozen=True):
    """A page of the modules."""

    start_module: int = 0
    module_count: int = 0


class GotoTargetsArguments(DapStruct, frozen=True):
    """A line to go to."""

    source: DapSource
    line: Annotated[int, Meta(le=MAX_NUMBER)]


class SourceBreakpoint(DapStruct, frozen=True):
    """One breakpoint of a file, as an editor wants it."""

    line: Annotated[int, Meta(le=MAX_NUMBER)]
    column: Annotated[int, Meta(le=MAX_NUMBER)] | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class SetBreakpointsArguments(DapStruct, frozen=True):
    """All breakpoints that an editor has in a file."""

    source: DapSource
    breakpoints: list[SourceBreakpoint] | None = None
    lines: list[Annotated[int, Meta(le=MAX_NUMBER)]] | None = None


class FunctionBreakpoint(DapStruct, frozen=True):
    """One breakpoint of a function."""

    name: str
    condition: str | None = None
    hit_condition: str | None = None


class SetFunctionBreakpointsArguments(DapStruct, frozen=True):
    """All breakpoints on functions that an editor has."""

    breakpoints: list[FunctionBreakpoint] = field(default_factory=list)


class FilterOptions(DapStruct, frozen=True):
    """A filter with a condition."""

    filter_id: str
    condition: str | None = None


class SetExceptionBreakpointsArguments(DapStruct, frozen=True):
    """The kinds of exceptions that an editor wants to stop at."""

    filters: list[str] = field(default_factory=list)
    filter_options: list[FilterOptions] | None = None


class DataBreakpointInfoArguments(DapStruct, frozen=True):
    """A variable that is to be watched: of a value, or an expression of a frame."""

    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class DataBreakpoint(DapStruct, frozen=True):
    """One breakpoint on data, by an id of the answer to `dataBreakpointInfo`."""

    data_id: str
    access_type: str | None = None
    condition: str | None = None
    hit_condition: str | None = None


class SetDataBreakpointsArguments(DapStruct, frozen=True):
    """All breakpoints on data that an editor has."""

    breakpoints: list[DataBreakpoint] = field(default_factory=list)


class InstructionBreakpoint(DapStruct, frozen=True):
    """One breakpoint on an instruction: where an answer has named one, and so many bytes further."""

    instruction_reference: str
    offset: int = 0
    condition: str | None = None
    hit_condition: str | None = None


class SetInstructionBreakpointsArguments(DapStruct, frozen=True):
    """All breakpoints on instructions that an editor has."""

    breakpoints: list[InstructionBreakpoint] = field(default_factory=list)


class ReadMemoryArguments(DapStruct, frozen=True):
    """Bytes from a place in memory on."""

    memory_reference: str
    count: Annotated[int, Meta(ge=0)]
    offset: int = 0


class DisassembleArguments(DapStruct, frozen=True):
    """Instructions from a place in memory on: so many bytes further, and then so many instructions, or before it."""

    memory_reference: str
    instruction_count: Annotated[int, Meta(ge=0)]
    offset: int = 0
    instruction_offset: int = 0
    resolve_symbols: bool = False


class CancelArguments(DapStruct, frozen=True):
    """The request that is not wanted any more, by its `seq`."""

    request_id: int | None = None


class DisconnectArguments(DapStruct, frozen=True):
    """How an editor leaves."""

    terminate_debuggee: bool | None = None
