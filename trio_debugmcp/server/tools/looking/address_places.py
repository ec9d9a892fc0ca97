"""Addresses of native code: the function and line of each, from the files that they are in. No session is needed."""

from collections.abc import Sequence
from pathlib import Path, PurePath

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.profiles.native.crash_texts import CodeAddress, CodePlace
from trio_debugmcp.dap.profiles.native.elf import address_of
from trio_debugmcp.dap.profiles.native.native_code import NativeCode
from trio_debugmcp.dap.profiles.tables.table import TableProfile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.typed import SymbolPayload, symbol_line
from trio_debugmcp.server.tools.paths import existing_file
from trio_debugmcp.server.tools.starting.checks import choose_profile
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.machine_code.code_places import code_places

_MAX_FILES = 8
"""Files that gdb reads for one call: programs have their own, and some libraries."""


class AddressSymbol(Struct, frozen=True):
    """What is at an address: `text`, as it was asked for."""

    text: str
    symbol: SymbolPayload


class AddressesFound(Struct, frozen=True):
    """What is at each address, in their order."""

    symbols: list[AddressSymbol]
    notes: list[str]


def address_line(places: Places, found: AddressSymbol) -> str:
    """Return `./shop(+0x1173)[0x55bd7ee60173]: add shop.c:6`."""
    return f"{found.text}: {symbol_line(places, found.symbol)}"


async def places_of(
    debugger: Debugger, addresses: Sequence[CodeAddress], module: str | None, session_id: str | None
) -> AddressesFound:
    """Return what is at addresses. `module`: the file of those whose text names none, or another place of that file.

    Raises:
        UsageError: `INVALID_PATH`, `INVALID_PARAMETER`: it is not known in which file an address is; as gdb's.
    """
    own = None if module is None else existing_file(debugger, module)
    if module is not None and own is None:
        raise UsageError("INVALID_PATH", f"There is no file '{module}'. Pass the path of the program or library.")
    notes: list[str] = []
    asked = [_in_file(debugger, each, own, session_id) for each in addresses]
    files = list(dict.fromkeys(each.module for each in asked if each is not None and each.module is not None))
    found: dict[CodeAddress, CodePlace] = {}
    for file in files[:_MAX_FILES]:
        wanted = list(dict.fromkeys(each for each in asked if each is not None and each.module == file))
        try:
            found |= zip(wanted, await _read(debugger, file, wanted), strict=True)
        except UsageError as error:
            if len(files) == 1:
                raise
            notes.append(error.message)
    left = len(files) - _MAX_FILES
    notes += [f"{left} more files were not read: ask for their addresses alone"] if left > 0 else []
    shown = [
        AddressSymbol(address.text, _payload(found.get(each) if each is not None else None))
        for address, each in zip(addresses, asked, strict=True)
    ]
    with_lines = {each.module for each, place in found.items() if place.file is not None}
    read = dict.fromkeys(each.module for each in found)
    advice = "none of these addresses has a line: if it was built without -g, build it with that"
    notes += [f"{file}: {advice}" for file in read if file not in with_lines]
    return AddressesFound(shown, notes)


def _in_file(debugger: Debugger, address: CodeAddress, own: str | None, session_id: str | None) -> CodeAddress | None:
    """Return an address with the path of its file; None if that file is not here.

    Raises:
        UsageError: `INVALID_PARAMETER`: no file is named, and no process has it.
    """
    if address.module is None and own is None:
        return _in_process(debugger, address, session_id)
    if own is not None and (address.module is None or PurePath(address.module).name == PurePath(own).name):
        return replace(address, module=own)
    try:
        there = existing_file(debugger, address.module or "")
    except UsageError:  # it may not be read
        there = None
    return None if there is None else replace(address, module=there)


def _in_process(debugger: Debugger, address: CodeAddress, session_id: str | None) -> CodeAddress | None:
    snapshot = debugger.state.snapshot(session_id) if session_id is not None else debugger.programs.at_hand.root()
    pid = None if snapshot is None else snapshot.origin.process_id
    if pid is None:
        raise UsageError(
            "INVALID_PARAMETER",
            f"It is not known in which program '{address.text}' is. Pass its file as `module`; the address is then as "
            "that file counts: of a program that was loaded elsewhere, subtract where it begins.",
            {"parameter": "module"},
        )
    asked = f"what process {pid} has at {address.offset:#x}"
    found = debugger.host.query(asked, lambda: _mapped(pid, address.offset))
    return None if found is None else replace(address, module=found[0], offset=found[1])


def _mapped(pid: int, address: int) -> tuple[str, int] | None:
    """Return the file that a process has at an address, and the address as that file counts."""
    try:
        for line in Path(f"/proc/{pid}/maps").read_text(errors="surrogateescape").splitlines():
            fields = line.split(maxsplit=5)
            begin, end = (int(each, 16) for each in fields[0].split("-"))
            if begin <= address < end and len(fields) == 6 and fields[5].startswith("/"):
                with open(fields[5], "rb", buffering=0) as file:
                    own = address_of(file, int(fields[2], 16) + address - begin)
                return None if own is None else (fields[5], own)
    except OSError:
        pass
    return None


async def _read(debugger: Debugger, file: str, addresses: Sequence[CodeAddress]) -> list[CodePlace]:
    profile = await choose_profile(debugger, "gdb", None)
    asked = ", ".join(f"{each.symbol}+{each.offset:#x}" for each in addresses)

    async def ask() -> object:
        found = profile.finder.find() if isinstance(profile, TableProfile) else None
        gdb = profile.name if found is None else found.place
        return msgspec.to_builtins(await code_places(gdb, file, addresses, debugger.patience))

    return msgspec.convert(await debugger.host.find_out(f"code of {file} at {asked}", ask), list[CodePlace])


def _payload(place: CodePlace | None) -> SymbolPayload:
    if place is None or not place.functions:
        return SymbolPayload("not known", False, "", None, None, True)
    name, *around = place.functions
    inlined = f", inlined into {', '.join(around)}" if around else ""
    user = place.file is None or not NativeCode().is_library(place.file)
    return SymbolPayload(name, False, inlined, place.file, place.line, user)
