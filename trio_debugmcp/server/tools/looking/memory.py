"""The tools that look below the source: bytes of memory, and instructions, where the adapter declares that it can."""

from typing import Annotated

from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers import memory as shown
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.memory import ByteFormat
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.tool import FrameIndex, Params, SessionId, ThreadId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking import memory_access
from trio_debugmcp.session.looking.memory_access import number
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import shortened

MAX_READ_BYTES = 4096
"""Of one answer, which stays below its size limit in hexadecimal; `offset` reads on."""

MAX_WRITTEN_BYTES = 1024
"""Of one call: what is written is shown as it was and as it is."""

MAX_INSTRUCTIONS = 200
"""Of one answer; the next one begins at the last address of this."""

Address = Annotated[Annotated[str, Meta(min_length=1)] | None, Meta(description="0x….")]
Expression = Annotated[
    Annotated[str, Meta(min_length=1)] | None,
    Meta(description="Or a variable; a pointer leads to what it points to."),
]
Offset = Annotated[int, Meta(ge=-(2**40), le=2**40, description="Bytes to add.")]


class MemoryRead(Params, frozen=True, kw_only=True):
    address: Address = None
    expression: Expression = None
    offset: Offset = 0
    count: Annotated[int, Meta(ge=1, le=MAX_READ_BYTES, description="Bytes, of numbers too.")] = 256
    format: Annotated[ByteFormat, Meta(description="Numbers: in this machine's byte order.")] = "hex"
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class MemoryWrite(Params, frozen=True, kw_only=True):
    data: Annotated[str, Meta(min_length=1, description="`2a 00`, or as `format` says: `42, 43`.")]
    address: Address = None
    expression: Expression = None
    offset: Offset = 0
    format: Annotated[ByteFormat, Meta(description="How the bytes are written.")] = "hex"
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class Disassemble(Params, frozen=True, kw_only=True):
    address: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="Of an instruction; default: where the frame is.")
    ] = None
    count: Annotated[int, Meta(ge=1, le=MAX_INSTRUCTIONS, description="Instructions.")] = 20
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


class MemoryBytes(Answer, frozen=True, kw_only=True):
    """Bytes at an address, as the format says. `unreadable`: so many of those asked for cannot be read.

    `ascii`: where four characters in a row are printable. `before`: what was there before a write; `bytes` is what is
    there now.
    """

    address: str
    bytes: str = ""
    ascii: str = ""
    text: str = ""
    values: list[int | float | str] = []
    before: str = ""
    unreadable: int = 0
    notes: list[str] = []


class Instructions(Answer, frozen=True, kw_only=True):
    """A line each: address, instruction, and the place where it is another. `>` marks where the frame is."""

    full: shown.InstructionsData | None = None
    instructions: list[str]
    notes: list[str] = []


async def _read(debugger: Debugger, params: MemoryRead) -> MemoryBytes:
    session, snapshot = debugger.paused(params.session_id)
    memory_access.check(session.requests, memory_access.READ)
    size = shown.size_of(params.format)
    if params.count % size:
        raise UsageError(
            "INVALID_PARAMETER", f"A number in format {params.format} has {size} bytes: pass a multiple as `count`."
        )
    where = await _where(session, snapshot, params)
    found = await memory_access.read(session.requests, where, params.offset, params.count)
    if params.format == "hex":
        return MemoryBytes(
            address=found.address,
            bytes=shown.hex_text(found.data),
            ascii=shown.ascii_text(found.data),
            unreadable=found.unreadable,
        )
    if params.format == "text":
        text = found.data.partition(b"\0")[0].decode(errors="backslashreplace")
        return MemoryBytes(address=found.address, text=text, unreadable=found.unreadable)
    values = shown.numbers(found.data, params.format)
    return MemoryBytes(address=found.address, values=values, unreadable=found.unreadable)


async def _write(debugger: Debugger, params: MemoryWrite) -> MemoryBytes:
    session, snapshot = debugger.paused(params.session_id)
    memory_access.check(session.requests, memory_access.WRITE)
    try:
        data = shown.parsed(params.data, params.format)
    except ValueError as error:
        raise UsageError(
            "INVALID_PARAMETER", f"`{shortened(params.data)}` is not {params.format}: {error}. Nothing was written."
        ) from None
    if not 0 < len(data) <= MAX_WRITTEN_BYTES:
        raise UsageError("INVALID_PARAMETER", f"Pass 1 to {MAX_WRITTEN_BYTES} bytes; these are {len(data)}.")
    where = await _where(session, snapshot, params)
    changed = await memory_access.write(session.requests, where, params.offset, data)
    session.refresh_locals()
    if changed is None:
        note = f"not read back: {session.requests.debugger_name} cannot read memory (supportsReadMemoryRequest)"
        return MemoryBytes(address=where, bytes=shown.hex_text(data), notes=[note])
    before, after = changed
    return MemoryBytes(address=after.address, bytes=shown.hex_text(after.data), before=shown.hex_text(before.data))


async def _where(session: DebugSession, snapshot: Snapshot, params: MemoryRead | MemoryWrite) -> str:
    """Return the address that is meant."""
    if (params.address is None) == (params.expression is None):
        raise UsageError("INVALID_PARAMETER", "Pass either `address` or `expression`.")
    if params.address is not None:
        return memory_access.checked_address(params.address)
    frame = await session.looking.frame(params.thread_id, params.frame_index)
    return await memory_access.located(session.requests, frame, (params.expression or "").strip())


async def _disassemble(debugger: Debugger, params: Disassemble) -> Instructions:
    session, _snapshot = debugger.paused(params.session_id)
    memory_access.check(session.requests, memory_access.DISASSEMBLE)
    frame = await session.looking.frame(params.thread_id, params.frame_index)
    address = frame.instruction if params.address is None else memory_access.checked_address(params.address)
    if address is None:
        raise UsageError(
            "NOT_SUPPORTED",
            f"{session.requests.debugger_name} does not say at which instruction a frame is "
            "(instructionPointerReference). Pass an `address`.",
            {"adapter": session.profile.name, "capability": "instructionPointerReference"},
        )
    found = await memory_access.instructions(session.requests, address, params.count)
    current = number(frame.instruction)
    payloads = shown.instruction_payloads(found, current)
    lines = shown.instruction_lines(Places(debugger.workspace.directory), payloads)
    missing = params.count - len(lines)
    notes = [f"the {missing} behind them cannot be disassembled"] if missing else []
    return Instructions(full=shown.InstructionsData(instructions=payloads), instructions=lines, notes=notes)


TOOLS = (
    Tool(
        name="memory_read",
        title="Read memory",
        description="Bytes of a native program's memory, as hexadecimal, text or numbers.",
        params=MemoryRead,
        run=_read,
        read_only=True,
        runs_code=True,
        idempotent=True,
        phrase="native code",
        unlisted=frozenset({"thread_id"}),
    ),
    Tool(
        name="memory_write",
        title="Write memory",
        description="Change bytes of a native program's memory. Answers with what is there then, and was before.",
        params=MemoryWrite,
        run=_write,
        destructive=True,
        idempotent=True,
        phrase="native code",
        unlisted=frozenset({"thread_id"}),
    ),
    Tool(
        name="disassemble",
        title="Disassemble",
        description="Machine instructions of a native program. breakpoint_set takes their addresses as `address`.",
        params=Disassemble,
        run=_disassemble,
        read_only=True,
        idempotent=True,
        phrase="native code",
        unlisted=frozenset({"thread_id"}),
    ),
)
