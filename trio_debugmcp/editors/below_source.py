"""The requests about memory and instructions, where the session's adapter can: read, disassemble, stop at instructions.

Places in memory are named as the adapter names them: an address is the same for all editors.
"""

from base64 import b64encode
from functools import partial
from typing import Any

from trio_debugmcp.dap.messages import Instruction
from trio_debugmcp.editors.arguments import (
    DisassembleArguments,
    InstructionBreakpoint,
    ReadMemoryArguments,
    SetInstructionBreakpointsArguments,
)
from trio_debugmcp.editors.breakpoints.set_breakpoints import made_or_refused, shown_to, take_back, take_over
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.looking import memory_access
from trio_debugmcp.session.looking.memory_access import number
from trio_debugmcp.state.breakpoint import Breakpoint

MAX_BYTES = 256 * 1024
"""Of one answer. Editors read pages of some kilobytes; more than this would hold up the adapter for all."""

MAX_INSTRUCTIONS = 2000
"""Of one answer; VS Code asks for some hundred at a time."""


async def read_memory(editor: Editor, arguments: ReadMemoryArguments) -> dict[str, Any]:
    """Answer bytes. They are not masked, as those that `memory_read` shows in hexadecimal are not."""
    editor.check_control("to read memory")
    session, _ = editor.paused()
    memory_access.check(session.requests, memory_access.READ)
    if arguments.count > MAX_BYTES:
        raise EditorRefusal(f"At most {MAX_BYTES} bytes can be read at a time.")
    reference, offset = arguments.memory_reference, arguments.offset
    start = number(reference)
    if start is not None and (not arguments.count or start + offset < 0):
        return {"address": hex(max(start + offset, 0)), "unreadableBytes": arguments.count}
    try:
        found = await memory_access.read(session.requests, reference, offset, arguments.count)
    except UsageError as error:
        if error.code != "INVALID_PARAMETER" or start is None:
            raise
        return {"address": hex(start + offset), "unreadableBytes": arguments.count}
    data = b64encode(found.data).decode()
    return {"address": found.address, "data": data, "unreadableBytes": found.unreadable}


async def disassemble(editor: Editor, arguments: DisassembleArguments) -> dict[str, Any]:
    """Answer exactly as many instructions as are wanted, as DAP has it: of any address, hence any memory as well."""
    editor.check_control("to disassemble")
    session, _ = editor.paused()
    if arguments.instruction_count > MAX_INSTRUCTIONS:
        raise EditorRefusal(f"At most {MAX_INSTRUCTIONS} instructions are disassembled at a time.")
    if abs(arguments.instruction_offset) > MAX_INSTRUCTIONS:
        raise EditorRefusal(f"Disassemble from an address that is at most {MAX_INSTRUCTIONS} instructions away.")
    instructions = await memory_access.listing(
        session.requests,
        arguments.memory_reference,
        arguments.instruction_count,
        offset=arguments.offset,
        skip=arguments.instruction_offset,
        symbols=arguments.resolve_symbols,
    )
    return {"instructions": [_instruction(editor, instruction) for instruction in instructions]}


def _instruction(editor: Editor, instruction: Instruction) -> dict[str, Any]:
    place = instruction.location
    path = None if place is None else place.path or place.name
    hint = instruction.presentation_hint if instruction.presentation_hint in ("normal", "invalid") else None
    more = {
        "instructionBytes": instruction.instruction_bytes,
        "symbol": None if instruction.symbol is None else editor.plain(instruction.symbol),
        "location": None if path is None else editor.source_of(path, (place and place.source_reference) or 0),
        "line": None if not instruction.line else editor.spelling.line(instruction.line),
        "column": None if not instruction.column else editor.spelling.column(instruction.column),
        "endLine": None if not instruction.end_line else editor.spelling.line(instruction.end_line),
        "endColumn": None if not instruction.end_column else editor.spelling.column(instruction.end_column),
        "presentationHint": hint,
    }
    shown = {"address": instruction.address, "instruction": editor.plain(instruction.instruction)}
    return shown | {name: value for name, value in more.items() if value is not None}


# --- Breakpoints ------------------------------------------------------------------------------------------------------


async def set_instruction_breakpoints(editor: Editor, arguments: SetInstructionBreakpointsArguments) -> dict[str, Any]:
    """Set this editor's breakpoints on instructions."""
    if editor.role != "control" and not arguments.breakpoints:
        return {"breakpoints": []}
    editor.check_control("to set breakpoints")
    take_over(editor, _is_on_instruction)
    kept = {_address(breakpoint) for breakpoint in arguments.breakpoints}
    for old in _mine(editor):
        if old.lost is not None or old.spec.address not in kept:
            await take_back(editor, old)
    return {"breakpoints": [await _set(editor, breakpoint) for breakpoint in arguments.breakpoints]}


async def _set(editor: Editor, wanted: InstructionBreakpoint) -> dict[str, Any]:
    address, condition, hits = _address(wanted), wanted.condition or None, wanted.hit_condition or None
    if address is None:
        return {"verified": False, "message": f"`{wanted.instruction_reference}` is not an address."}
    for breakpoint in _mine(editor):
        spec = breakpoint.spec
        if breakpoint.lost is None and (spec.address, spec.condition, spec.hit_condition) == (address, condition, hits):
            return shown_to(editor, breakpoint)
    set_it = partial(editor.call, "breakpoint_set", session_id=editor.session_id, address=address)
    made = await made_or_refused(editor, _mine, partial(set_it, condition=condition, hit_condition=hits))
    if isinstance(made, str):
        return {"verified": False, "message": made}
    return shown_to(editor, made)


def _address(wanted: InstructionBreakpoint) -> str | None:
    place = number(wanted.instruction_reference)
    return None if place is None or place + wanted.offset < 0 else hex(place + wanted.offset)


def _mine(editor: Editor) -> list[Breakpoint]:
    return editor.book.of(editor.owner, _is_on_instruction)


def _is_on_instruction(breakpoint: Breakpoint) -> bool:
    return breakpoint.spec.address is not None
