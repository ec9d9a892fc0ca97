"""The arguments of the requests that editors send, as far as they matter here. What is not known is skipped."""

from typing import Annotated, Any

from msgspec import Meta, field

from trio_debugmcp.dap.messages import Message, Source

MAX_NUMBER = 2**31 - 2
"""Of lines and columns: DAP's numbers have 31 bits, and an editor may count from 0 where we count from 1."""


class Initialize(Message, frozen=True):
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


class Attach(Message, frozen=True):
    """Which session an editor wants to join. `wait`: for the next one if there is none.

    `part_of`: by what an editor is known again that was asked to open a session: children.py.
    """

    token: str | None = None
    wait: bool = False
    session_id: str | None = None
    part_of: str | None = None


class OfThread(Message, frozen=True):
    """The arguments of a request about a thread."""

    thread_id: int
    granularity: str | None = None
    target_id: int | None = None


class StackTrace(Message, frozen=True):
    """A page of a thread's stack; `levels` 0: all of it."""

    thread_id: int
    start_frame: int = 0
    levels: int = 0


class OfFrame(Message, frozen=True):
    """The arguments of a request about a frame."""

    frame_id: int


class Variables(Message, frozen=True):
    """A page of the children of a value."""

    variables_reference: int
    filter: str | None = None
    start: int = 0
    count: int = 0
    format: dict[str, Any] | None = None


class Evaluate(Message, frozen=True):
    """An expression; without a frame it is a global one."""

    expression: str
    frame_id: int | None = None
    context: str | None = None
    format: dict[str, Any] | None = None


class Completions(Message, frozen=True):
    """What is typed, and where the cursor is in it."""

    text: str
    column: int
    line: int | None = None
    frame_id: int | None = None


class SetVariable(Message, frozen=True):
    """A child of a value, and what it is to be."""

    variables_reference: int
    name: str
    value: str
    format: dict[str, Any] | None = None


class SetExpression(Message, frozen=True):
    """A place, and what it is to be."""

    expression: str
    value: str
    frame_id: int | None = None
    format: dict[str, Any] | None = None


class SourceText(Message, frozen=True):
    """A source whose text is wanted."""

    source_reference: int = 0
    source: Source | None = None


class Page(Message, frozen=True):
    """A page of the modules."""

    start_module: int = 0
    module_count: int = 0


class GotoTargets(Message, frozen=True):
    """A line to go to."""

    source: Source
    line: Annotated[int, Meta(le=MAX_NUMBER)]


class SourceBreakpoint(Message, frozen=True):
    """One breakpoint of a file, as an editor wants it."""

    line: Annotated[int, Meta(le=MAX_NUMBER)]
    column: Annotated[int, Meta(le=MAX_NUMBER)] | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class SetBreakpoints(Message, frozen=True):
    """All breakpoints that an editor has in a file."""

    source: Source
    breakpoints: list[SourceBreakpoint] | None = None
    lines: list[Annotated[int, Meta(le=MAX_NUMBER)]] | None = None


class FunctionBreakpoint(Message, frozen=True):
    """One breakpoint of a function."""

    name: str
    condition: str | None = None
    hit_condition: str | None = None


class SetFunctionBreakpoints(Message, frozen=True):
    """All breakpoints on functions that an editor has."""

    breakpoints: list[FunctionBreakpoint] = field(default_factory=list)


class FilterOptions(Message, frozen=True):
    """A filter with a condition."""

    filter_id: str
    condition: str | None = None


class SetExceptionBreakpoints(Message, frozen=True):
    """The kinds of exceptions that an editor wants to stop at."""

    filters: list[str] = field(default_factory=list)
    filter_options: list[FilterOptions] | None = None


class DataBreakpointInfo(Message, frozen=True):
    """A variable that is to be watched: of a value, or an expression of a frame."""

    name: str
    variables_reference: int | None = None
    frame_id: int | None = None


class DataBreakpoint(Message, frozen=True):
    """One breakpoint on data, by an id of the answer to `dataBreakpointInfo`."""

    data_id: str
    access_type: str | None = None
    condition: str | None = None
    hit_condition: str | None = None


class SetDataBreakpoints(Message, frozen=True):
    """All breakpoints on data that an editor has."""

    breakpoints: list[DataBreakpoint] = field(default_factory=list)


class InstructionBreakpoint(Message, frozen=True):
    """One breakpoint on an instruction: where an answer has named one, and so many bytes further."""

    instruction_reference: str
    offset: int = 0
    condition: str | None = None
    hit_condition: str | None = None


class SetInstructionBreakpoints(Message, frozen=True):
    """All breakpoints on instructions that an editor has."""

    breakpoints: list[InstructionBreakpoint] = field(default_factory=list)


class ReadMemory(Message, frozen=True):
    """Bytes from a place in memory on."""

    memory_reference: str
    count: Annotated[int, Meta(ge=0)]
    offset: int = 0


class Disassemble(Message, frozen=True):
    """Instructions from a place in memory on: so many bytes further, and then so many instructions, or before it."""

    memory_reference: str
    instruction_count: Annotated[int, Meta(ge=0)]
    offset: int = 0
    instruction_offset: int = 0
    resolve_symbols: bool = False


class Cancel(Message, frozen=True):
    """The request that is not wanted any more, by its `seq`."""

    request_id: int | None = None


class Leaving(Message, frozen=True):
    """How an editor leaves."""

    terminate_debuggee: bool | None = None
