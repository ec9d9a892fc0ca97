"""Memory of a paused program: bytes read and written, and instructions. By the adapter, where it declares that it can.

    reference = await located(requests, frame, "cart->count")
    memory = await read(requests, reference, 0, 16)
    memory.data, memory.unreadable      # at most 16 bytes, and how many of them could not be read

What an adapter says that it wrote is read back: gdb answers `writeMemory` with nothing at all.
"""

import binascii
import re
from base64 import b64decode, b64encode

from msgspec import Struct

from trio_debugmcp.dap.messages import DisassembleBody, EvaluateBody, Instruction, ReadMemoryBody, WriteMemoryBody
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import evaluate_text
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


LOCATE_SECONDS = 5.0
"""For an expression, as for an evaluation."""

HIGHEST = 2**64 - 1
"""The last address of the largest programs."""

_PAGE_BYTES = 4096
"""Memory is mapped in pages of this size or a multiple of it, so that the readable part ends where one does."""

_BOUNDARY_BYTES = 200
"""How far behind the frame it is known where instructions begin; as many instructions are enough for these bytes."""

_UNREADABLE = "invalid"
"""The presentation hint of what an adapter could not disassemble."""


READ, WRITE, DISASSEMBLE = "supportsReadMemoryRequest", "supportsWriteMemoryRequest", "supportsDisassembleRequest"

_WITHOUT = {
    READ: ("read memory", "Use variables_get and evaluate."),
    WRITE: ("write memory", "Use variable_set."),
    DISASSEMBLE: ("disassemble", "Use source_get for the program's source."),
}
"""What an adapter without a capability cannot do, and what to do then."""


def number(text: str | None) -> int | None:
    """Return the number that an address is; None of what only the adapter understands."""
    try:
        return None if text is None else int(text, 0)
    except ValueError:
        return None


def address_in(body: EvaluateBody) -> str | None:
    """Return the address that a value shows."""
    found = _ADDRESS.search(body.result)
    return None if found is None else found[0]


class Memory(Struct, frozen=True):
    """Bytes at an address, and how many behind them were asked for and cannot be read."""

    address: str
    data: bytes
    unreadable: int = 0


def check(requests: Requests, capability: str) -> None:
    """Refuse what the adapter cannot do, before anything is evaluated for it.

    Raises:
        UsageError: `NOT_SUPPORTED`.
    """
    requests.need(capability, *_WITHOUT[capability])


# --- Addresses --------------------------------------------------------------------------------------------------------


def checked_address(text: str) -> str:
    """Return an address as adapters take it.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    found = number(text)
    if found is None or not 0 <= found <= HIGHEST:
        raise UsageError(
            "INVALID_PARAMETER",
            f"`{shortened(text)}` is not an address. Pass a number such as 0x7ffe12345678, as answers have them; "
            "evaluate shows the address of a variable as the value of `&variable`.",
            {"address": shortened(text)},
        )
    return hex(found)


async def located(requests: Requests, frame: StackFrame, expression: str) -> str:
    """Return the address that an expression leads to: of a pointer, what it points to; else where the value is.

    Raises:
        UsageError: `EVAL_FAILED` or `EVAL_TIMEOUT`.
    """
    body = await evaluate_text(requests, frame, expression, expression, requests.patience.seconds(LOCATE_SECONDS))
    address = body.memory_reference or await address_of(requests, frame, expression)
    if address is None:
        raise UsageError(
            "EVAL_FAILED",
            f"`{shortened(expression)}` is in no memory: it may be a constant, or be kept in a register. Pass the "
            "`address` instead.",
            {"expression": shortened(expression)},
        )
    return address


async def address_of(requests: Requests, frame: StackFrame, expression: str) -> str | None:
    """Return the address of a variable, as languages with pointers write it; None if it has none."""
    pointer = f"&({expression})"
    try:
        body = await evaluate_text(requests, frame, pointer, pointer, requests.patience.seconds(LOCATE_SECONDS))
    except UsageError as error:
        if error.code != "EVAL_FAILED":
            raise
        return None
    return body.memory_reference or address_in(body)


# --- Bytes ------------------------------------------------------------------------------------------------------------


async def read(requests: Requests, reference: str, offset: int, count: int) -> Memory:
    """Read bytes; those behind the last one that can be read are counted.

    Raises:
        UsageError: `NOT_SUPPORTED`; `INVALID_PARAMETER`: there is no memory at that address.
    """
    check(requests, READ)
    found, reason = await _try_to_read(requests, reference, offset, count)
    shorter = _to_page_end(reference, offset)
    if found is None and shorter is not None and shorter < count:
        # gdb reads all or nothing: what it refuses may end in a page that is not there.
        found, _ = await _try_to_read(requests, reference, offset, shorter)
    if found is None or not found.data:
        raise _no_memory(reference, offset, reason or "nothing can be read there")
    return Memory(found.address, found.data[:count], max(count - len(found.data), 0))


async def _try_to_read(requests: Requests, reference: str, offset: int, count: int) -> tuple[Memory | None, str]:
    """Return what the adapter reads, or else why it refuses."""
    arguments = {"memoryReference": reference, "offset": offset, "count": count}
    try:
        body = await requests.request("readMemory", arguments, ReadMemoryBody)
        return Memory(_named(body.address, reference, offset), b64decode(body.data)), ""
    except AdapterRefused as refusal:
        return None, refusal.reason
    except binascii.Error as error:
        return None, f"the adapter's answer is not base64: {error}"


def _to_page_end(reference: str, offset: int) -> int | None:
    found = number(reference)
    return None if found is None else _PAGE_BYTES - (found + offset) % _PAGE_BYTES


def _named(address: str, reference: str, offset: int) -> str:
    """Return the address that an adapter names, or else the one that it was asked about."""
    own, asked = number(address), number(reference)
    if own is not None:
        return hex(own)
    return _sum(reference, offset) if asked is None else hex(asked + offset)


def _sum(reference: str, offset: int) -> str:
    return f"{reference}{offset:+d}" if offset else reference


def _no_memory(reference: str, offset: int, reason: str) -> UsageError:
    where = _sum(reference, offset)
    return UsageError(
        "INVALID_PARAMETER",
        f"No memory can be read at {where}: {shortened(reason.strip().rstrip('.'), MAX_MESSAGE_LENGTH)}. Pass an "
        "`expression` of the program, or an address that an answer has named.",
        {"address": where},
    )


async def write(requests: Requests, reference: str, offset: int, data: bytes) -> tuple[Memory, Memory] | None:
    """Write bytes; return what was there before and what is there now, or None where the adapter cannot read.

    Raises:
        UsageError: `NOT_SUPPORTED`, `INVALID_PARAMETER` as of `read`, or `EVAL_FAILED`: it holds something else now.
    """
    check(requests, WRITE)
    before = None
    if requests.capabilities.supports_read_memory_request:
        before = await read(requests, reference, offset, len(data))
        if before.unreadable:
            raise UsageError(
                "INVALID_PARAMETER",
                f"Only {len(before.data)} bytes from {before.address} on can be read; nothing was written. Pass "
                "fewer bytes, or another address.",
                {"address": before.address},
            )
    arguments = {"memoryReference": reference, "offset": offset, "data": b64encode(data).decode()}
    try:
        body = await requests.request("writeMemory", arguments, WriteMemoryBody)
    except AdapterRefused as refusal:
        raise _not_written(reference, offset, refusal.reason) from None
    if before is None:
        if body.bytes_written not in (None, len(data)):
            raise _not_written(reference, offset, f"only {body.bytes_written} bytes of {len(data)}")
        return None
    after = await read(requests, reference, offset, len(data))
    if after.data != data:
        raise _not_written(reference, offset, f"it holds {after.data.hex(' ')} now, it held {before.data.hex(' ')}")
    return before, after


def _not_written(reference: str, offset: int, reason: str) -> UsageError:
    where = _sum(reference, offset)
    return UsageError(
        "EVAL_FAILED",
        f"The bytes were not written at {where}: {shortened(reason.strip().rstrip('.'), MAX_MESSAGE_LENGTH)}. See "
        "with memory_read what is there.",
        {"address": where},
    )


# --- Instructions -----------------------------------------------------------------------------------------------------


async def instruction_at(requests: Requests, address: str, near: str | None) -> list[Instruction]:
    """Return the instruction at an address, in a list; an empty one where the adapter cannot tell.

    gdb says that it has set a breakpoint wherever it is asked to. In no memory the program cannot be resumed any more
    then; inside of an instruction it runs another one. `near`: where the frame is, from where on boundaries are known.

    Raises:
        UsageError: `INVALID_PARAMETER`: there is no instruction.
    """
    if not requests.capabilities.supports_disassemble_request:
        if requests.capabilities.supports_read_memory_request:
            await read(requests, address, 0, 1)
        return []
    found = await instructions(requests, address, 1)
    start, meant = number(near), number(address)
    if near is not None and start is not None and meant is not None and start < meant < start + _BOUNDARY_BYTES:
        nearby = await instructions(requests, near, _BOUNDARY_BYTES)
        starts = [place for instruction in nearby if (place := number(instruction.address)) is not None]
        if meant not in starts and meant < starts[-1]:
            raise UsageError(
                "INVALID_PARAMETER",
                f"{address} is inside of an instruction: a breakpoint there would make another one of it. Pass an "
                "address as disassemble shows it.",
                {"address": address},
            )
    return found


async def listing(
    requests: Requests, reference: str, count: int, *, offset: int = 0, skip: int = 0, symbols: bool = True
) -> list[Instruction]:
    """Return exactly so many instructions; those that are not there are marked as `invalid`.

    They begin `offset` bytes behind a place and `skip` instructions further on, or before it where that is negative.

    Raises:
        UsageError: `NOT_SUPPORTED`.
        AdapterRefused: it cannot disassemble there.
    """
    check(requests, DISASSEMBLE)
    asked: dict[str, object] = {"memoryReference": reference, "resolveSymbols": symbols}
    asked |= {"offset": offset} if offset else {}
    move = {"instructionOffset": skip} if skip else {}
    found = await _disassembled(requests, {**asked, **move, "instructionCount": count})
    place = number(reference)
    start = None if place is None else place + offset
    first = number(found[0].address) if found else None
    if start is not None and first is not None and skip > 0 and first == start:  # gdb knows no `instructionOffset`
        found = (await _disassembled(requests, {**asked, "instructionCount": skip + count}))[skip:]
    elif start is not None and skip < 0 and (first is None or first >= start):
        rest = count + skip
        if first != start and rest > 0:  # it counts from the end of what it would answer, and leaves some out
            found = await _disassembled(requests, {**asked, "instructionCount": rest})
        found = [_unknown(start + back) for back in range(skip, 0)] + found
    found = found[:count]
    last = number(found[-1].address) if found else start
    return found + [_unknown((last or 0) + more + 1) for more in range(count - len(found))]


async def _disassembled(requests: Requests, arguments: dict[str, object]) -> list[Instruction]:
    return (await requests.request("disassemble", arguments, DisassembleBody)).instructions or []


def _unknown(address: int) -> Instruction:
    return Instruction(hex(max(address, 0)), "??", presentation_hint=_UNREADABLE)


async def instructions(requests: Requests, address: str, count: int) -> list[Instruction]:
    """Return the instructions from an address on; fewer than asked for where what follows is not code.

    Raises:
        UsageError: `NOT_SUPPORTED`; `INVALID_PARAMETER`: there are none at that address.
    """
    check(requests, DISASSEMBLE)
    arguments: dict[str, object] = {
        "memoryReference": address,
        "instructionCount": count,
        "resolveSymbols": True,
    }
    reason = "no instruction can be read there"
    found: list[Instruction] = []
    try:
        found = await _disassembled(requests, arguments)
    except AdapterRefused as refusal:
        reason = refusal.reason.strip().rstrip(".")
    readable: list[Instruction] = []
    for instruction in found[:count]:
        if instruction.presentation_hint == _UNREADABLE or not instruction.instruction.strip():
            break
        readable.append(instruction)
    if not readable:
        raise UsageError(
            "INVALID_PARAMETER",
            f"Nothing can be disassembled at {address}: {shortened(reason, MAX_MESSAGE_LENGTH)}. Pass the address "
            "of an instruction, as disassemble shows them from where the program is stopped.",
            {"address": address},
        )
    return readable
