"""The DAP messages that we use, as msgspec structs: the envelope first, the body by command or event.

Strict in what is sent, tolerant in what is read: unknown members are skipped, optional members may be `null`,
`seq` may be missing, and an event that does not fit its type is reported as `UnknownEvent` rather than ending
the session. Source: https://microsoft.github.io/debug-adapter-protocol/specification
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct, field

from trio_debugmcp.errors import ProtocolViolation

_EMPTY = Raw(b"")

T = TypeVar("T")


class Message(Struct, rename="camel", omit_defaults=True, frozen=True):
    """The base of DAP bodies: camelCase on the wire, defaults left out."""


# --- Envelopes -----------------------------------------------------------------------------------------------


class Request(Struct, tag_field="type", tag="request", frozen=True):
    """A request in either direction."""

    command: str
    seq: int = 0
    arguments: Raw = _EMPTY


class Response(Struct, tag_field="type", tag="response", frozen=True):
    """The answer to the request whose `seq` is `request_seq`."""

    request_seq: int
    success: bool
    command: str = ""
    seq: int = 0
    message: str | None = None
    body: Raw = _EMPTY


class Event(Struct, tag_field="type", tag="event", frozen=True):
    """Something that happened in the adapter or the debuggee."""

    event: str
    seq: int = 0
    body: Raw = _EMPTY


# --- Parts ---------------------------------------------------------------------------------------------------


class Source(Message, frozen=True):
    """Where code is: a path, or a reference that only the adapter can resolve."""

    name: str | None = None
    path: str | None = None
    source_reference: int | None = None
    presentation_hint: str | None = None


class DapBreakpoint(Message, frozen=True):
    """What the adapter made of a breakpoint. `line` and `column` are where it really is."""

    verified: bool = False
    id: int | None = None
    message: str | None = None
    source: Source | None = None
    line: int | None = None
    column: int | None = None


class DapThread(Message, frozen=True):
    """A thread by its adapter id, which may be 0."""

    id: int
    name: str | None = None


class DapFrame(Message, frozen=True):
    """One stack frame; `id` dies at the next resume."""

    id: int
    name: str = ""
    line: int = 0
    column: int = 0
    source: Source | None = None
    module_id: int | str | None = None
    presentation_hint: str | None = None
    instruction_pointer_reference: str | None = None


class DapModule(Message, frozen=True):
    """A loaded module."""

    id: int | str
    name: str = ""
    path: str | None = None
    version: str | None = None
    symbol_status: str | None = None
    is_user_code: bool | None = None


class DapScope(Message, frozen=True):
    """A named container of variables of one frame."""

    name: str
    variables_reference: int = 0
    presentation_hint: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    expensive: bool | None = None


class DapVariable(Message, frozen=True):
    """A variable; `variables_reference` above 0 means that it has children."""

    name: str
    value: str = ""
    type: str | None = None
    evaluate_name: str | None = None
    variables_reference: int = 0
    named_variables: int | None = None
    indexed_variables: int | None = None


class ExceptionBreakpointFilter(Message, frozen=True):
    """A kind of exception stop that the adapter offers."""

    filter: str
    label: str = ""
    default: bool | None = None


class Capabilities(Message, frozen=True):
    """What the adapter can do. A feature that is not declared is never asked for (some adapters wedge)."""

    supports_configuration_done_request: bool | None = None
    supports_function_breakpoints: bool | None = None
    supports_conditional_breakpoints: bool | None = None
    supports_hit_conditional_breakpoints: bool | None = None
    supports_log_points: bool | None = None
    supports_exception_info_request: bool | None = None
    supports_step_back: bool | None = None
    supports_stepping_granularity: bool | None = None
    supports_completions_request: bool | None = None
    supports_terminate_debuggee: bool | None = field(name="supportTerminateDebuggee", default=None)
    supports_restart_request: bool | None = None
    supports_debugger_properties: bool | None = None
    exception_breakpoint_filters: list[ExceptionBreakpointFilter] | None = None


# --- Events --------------------------------------------------------------------------------------------------


class Initialized(Message, frozen=True):
    """The adapter is ready for its configuration."""


class Stopped(Message, frozen=True):
    """Execution stopped. `thread_id` may be missing (delve's pause) or 0 (js-debug)."""

    reason: str = ""
    description: str | None = None
    thread_id: int | None = None
    preserve_focus_hint: bool | None = None
    text: str | None = None
    all_threads_stopped: bool | None = None
    hit_breakpoint_ids: list[int] | None = None


class Continued(Message, frozen=True):
    """Execution resumed."""

    thread_id: int | None = None
    all_threads_continued: bool | None = None


class Exited(Message, frozen=True):
    """The debuggee ended with `exit_code`."""

    exit_code: int = 0


class Terminated(Message, frozen=True):
    """Debugging ended, which the debuggee may survive."""


class ThreadEvent(Message, frozen=True):
    """A thread started or exited."""

    reason: str
    thread_id: int


class Output(Message, frozen=True):
    """Text from the debuggee or from the adapter, by `category`."""

    output: str = ""
    category: str | None = None


class BreakpointEvent(Message, frozen=True):
    """The adapter changed its mind about a breakpoint."""

    reason: str
    breakpoint: DapBreakpoint


class ModuleEvent(Message, frozen=True):
    """A module was loaded, changed or removed."""

    reason: str
    module: DapModule


class LoadedSource(Message, frozen=True):
    """A source was loaded, changed or removed."""

    reason: str
    source: Source


class Process(Message, frozen=True):
    """The debuggee's process is known."""

    name: str = ""
    system_process_id: int | None = None
    start_method: str | None = None


class CapabilitiesEvent(Message, frozen=True):
    """Capabilities that became known after `initialize`; merge them."""

    capabilities: Raw = _EMPTY


class UnknownEvent(Message, frozen=True):
    """An event that we have no use for, or whose body is not what the protocol says."""

    event: str
    body: Any = None


EventBody = (
    Initialized
    | Stopped
    | Continued
    | Exited
    | Terminated
    | ThreadEvent
    | Output
    | BreakpointEvent
    | ModuleEvent
    | LoadedSource
    | Process
    | CapabilitiesEvent
    | UnknownEvent
)

EVENT_TYPES: dict[str, type[Message]] = {
    "initialized": Initialized,
    "stopped": Stopped,
    "continued": Continued,
    "exited": Exited,
    "terminated": Terminated,
    "thread": ThreadEvent,
    "output": Output,
    "breakpoint": BreakpointEvent,
    "module": ModuleEvent,
    "loadedSource": LoadedSource,
    "process": Process,
    "capabilities": CapabilitiesEvent,
}


# --- Response bodies -----------------------------------------------------------------------------------------


class Nothing(Message, frozen=True):
    """A response body without anything that we read."""


class BreakpointsBody(Message, frozen=True):
    """The answer to every `set…Breakpoints`, in the order of the request."""

    breakpoints: list[DapBreakpoint] | None = None


class ThreadsBody(Message, frozen=True):
    """The answer to `threads`."""

    threads: list[DapThread] | None = None


class StackTraceBody(Message, frozen=True):
    """The answer to `stackTrace`."""

    stack_frames: list[DapFrame] | None = None
    total_frames: int | None = None


class ScopesBody(Message, frozen=True):
    """The answer to `scopes`."""

    scopes: list[DapScope] | None = None


class VariablesBody(Message, frozen=True):
    """The answer to `variables`."""

    variables: list[DapVariable] | None = None


class EvaluateBody(Message, frozen=True):
    """The answer to `evaluate`."""

    result: str = ""
    type: str | None = None
    variables_reference: int = 0
    named_variables: int | None = None
    indexed_variables: int | None = None


class ExceptionDetails(Message, frozen=True):
    """More about an exception."""

    message: str | None = None
    type_name: str | None = None
    full_type_name: str | None = None
    stack_trace: str | None = None


class ExceptionInfoBody(Message, frozen=True):
    """The answer to `exceptionInfo`."""

    exception_id: str = ""
    description: str | None = None
    break_mode: str | None = None
    details: ExceptionDetails | None = None


class SourceBody(Message, frozen=True):
    """The answer to `source`."""

    content: str = ""
    mime_type: str | None = None


class CompletionItem(Message, frozen=True):
    """One way to complete a text: `text`, or the label, in the place of `length` characters."""

    label: str = ""
    text: str | None = None
    length: int | None = None


class CompletionsBody(Message, frozen=True):
    """The answer to `completions`."""

    targets: list[CompletionItem] | None = None


# --- Reverse requests ----------------------------------------------------------------------------------------


class RunInTerminal(Message, frozen=True):
    """The adapter asks us to start a process. A value of `null` in `env` means: unset."""

    args: list[str]
    cwd: str = ""
    env: dict[str, str | None] | None = None
    title: str | None = None


class StartDebugging(Message, frozen=True):
    """The adapter asks us to start a child session."""

    request: str
    configuration: dict[str, Any]


# --- Encoding and decoding -----------------------------------------------------------------------------------

_encoder = msgspec.json.Encoder()
_envelopes = msgspec.json.Decoder(Request | Response | Event)
_events = {name: msgspec.json.Decoder(kind) for name, kind in EVENT_TYPES.items()}
_anything = msgspec.json.Decoder()

_Seq = Annotated[int, Meta(ge=1)]


class _OutgoingRequest(Struct, tag_field="type", tag="request", omit_defaults=True):
    seq: _Seq
    command: str
    arguments: object = None


class _OutgoingResponse(Struct, tag_field="type", tag="response", omit_defaults=True):
    seq: _Seq
    request_seq: int
    success: bool
    command: str
    message: str | None = None
    body: object = None


_UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)
"""What decoding raises: ours, Python's on bytes that are no text, and nesting without end."""


def encode_request(seq: int, command: str, arguments: object = None) -> bytes:
    """The JSON text of a request of ours."""
    return _encoder.encode(_OutgoingRequest(seq, command, arguments))


def encode_response(seq: int, request: Request, body: object = None, *, failure: str | None = None) -> bytes:
    """The JSON text of our answer to a reverse request; with `failure` it says why it was refused."""
    return _encoder.encode(
        _OutgoingResponse(seq, request.seq, failure is None, request.command, message=failure, body=body)
    )


def decode_message(body: bytes) -> Request | Response | Event:
    """The envelope of one message.

    Raises:
        ProtocolViolation: it is not a DAP message.
    """
    try:
        message: Request | Response | Event = _read(_envelopes.decode, body)
    except _UNREADABLE as error:
        raise ProtocolViolation(f"not a DAP message: {_why(error)}", body[:200]) from error
    return message


def decode_event(event: Event) -> EventBody:
    """The typed body of an event; `UnknownEvent` for what we do not know or cannot read."""
    decoder = _events.get(event.event)
    if decoder is not None:
        try:
            return _read(decoder.decode, _object(event.body))  # type: ignore[return-value]
        except _UNREADABLE:
            pass
    return UnknownEvent(event.event, _loose(event.body))


def decode_body(body: Raw, kind: type[T]) -> T:
    """A response or request body as `kind`; a missing body, or one that is no object, counts as `{}`.

    Raises:
        ProtocolViolation: the body does not fit.
    """
    try:
        return _read(lambda text: msgspec.json.decode(text, type=kind), _object(body))
    except _UNREADABLE as error:
        raise ProtocolViolation(f"unexpected body: {_why(error)}", bytes(body)[:200]) from error


def merge_capabilities(old: Capabilities, raw: Raw) -> Capabilities:
    """`old` with the members that a `capabilities` event names replaced."""
    new = decode_body(raw, Capabilities)
    named = {name: value for name in new.__struct_fields__ if (value := getattr(new, name)) is not None}
    return msgspec.structs.replace(old, **named)


def failure_text(response: Response) -> str:
    """Why the adapter refused: its `body.error.format`, filled in, or its `message`."""
    error = _loose(Raw(_object(response.body))).get("error")
    if isinstance(error, dict) and isinstance(text := error.get("format"), str):
        variables = error.get("variables")
        for name, value in variables.items() if isinstance(variables, dict) else ():
            text = text.replace("{" + str(name) + "}", str(value))
        return text
    return response.message or "the adapter gave no reason"


def _read(decode: Callable[[bytes], T], text: bytes) -> T:
    """Decode; text that is no text gets a second chance.

    Native adapters pass on a program's bytes that are no UTF-8, JavaScript ones halves of surrogate pairs. Each
    such character is shown as one that is unknown, as in any terminal.
    """
    try:
        return decode(text)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        loose = json.loads(text.decode(errors="replace"))
        return decode(json.dumps(loose, ensure_ascii=False).encode(errors="replace"))


def _why(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _object(raw: Raw) -> bytes:
    """Some adapters send `null` or `""` where the protocol has an object without required members."""
    text = bytes(raw)
    return text if text[:1] == b"{" else b"{}"


def _loose(raw: Raw) -> Any:
    try:
        return _read(_anything.decode, bytes(raw)) if bytes(raw) else None
    except _UNREADABLE:
        return None
