"""Addresses of code in what a crash has written, and in text of their own. Pure.

    addresses_in("./a.out(+0x1173)[0x55bd7ee60173]")    # [CodeAddress(…, module="./a.out", offset=0x1173, called=True)]
    addresses_in("0x1139")                              # [CodeAddress("0x1139", None, 0x1139)]

`gdb_command` asks gdb for their places in one file, and `places_in` reads what it says.
"""

import json
import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

_HEX = r"0x[0-9a-fA-F]{1,16}"
_GLIBC = re.compile(
    rf"(?P<module>[^\s()\[\]][^()\[\]]*?) ?\((?:(?P<symbol>[\w.@]*)\+(?P<offset>{_HEX}))?\) ?\[(?P<at>{_HEX})\]"
)
"""A line of `backtrace_symbols`. Without an offset the program is where its file says."""

_SANITIZER = re.compile(rf"\((?P<module>/[^()]*?)\+(?P<offset>{_HEX})\)")
"""In a line of a sanitizer, whose addresses are those of the calls already."""

_ANY = re.compile(rf"(?<![\w.]){_HEX}\b")


class CodeAddress(Struct, frozen=True):
    """An address of a text.

    Attributes:
        text: as it stands there.
        module: the file that it is in; None: the text does not say.
        offset: in that file, from its `symbol` on if that is named; without a module, an address of anything.
        called: it is where a call returns to, so that the call is before it.
    """

    text: str
    module: str | None
    offset: int
    symbol: str = ""
    called: bool = False


class CodePlace(Struct, frozen=True):
    """What is at an address: the function, with those that it is inlined into behind it, and its line."""

    functions: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None


def addresses_in(text: str) -> list[CodeAddress]:
    """Return the addresses of code in a text, one a line; empty if it has none.

    Where some stand with their files, the others are of data, of registers, or in what has no file.
    """
    found = [each for each in map(_in_line, text.splitlines()) if each is not None]
    return [each for each in found if each.module is not None] or found


def _in_line(line: str) -> CodeAddress | None:
    if found := _GLIBC.search(line):
        at = found["offset"] or found["at"]
        return CodeAddress(found[0].strip(), found["module"], int(at, 16), found["symbol"] or "", called=True)
    if found := _SANITIZER.search(line):
        return CodeAddress(found[0].strip("()"), found["module"], int(found["offset"], 16))
    if found := _ANY.search(line):
        return CodeAddress(found[0], None, int(found[0], 16))
    return None


_SCRIPT = """
import gdb, json
def place(symbol, offset, called):
    at = (int(gdb.parse_and_eval("(long) &'" + symbol + "'")) if symbol else 0) + offset
    sal, block, names = gdb.find_pc_line(at - called), gdb.block_for_pc(at - called), []
    while block is not None and block.superblock is not None:
        if block.function is not None:
            names.append(block.function.print_name)
        block = block.superblock
    if not names:
        said = gdb.execute("info symbol " + hex(at - called), to_string=True)
        names = [] if said.startswith("No symbol") else [said.partition(" in section ")[0].partition(" + ")[0]]
    file = sal.symtab.fullname() if sal.symtab else None
    return {"functions": names, "file": file, "line": sal.line if file and sal.line else None}
for symbol, offset, called in json.loads(WANTED):
    try:
        found = place(symbol, offset, called)
    except Exception:
        found = {}
    print("@" + json.dumps(found))
"""


def gdb_command(gdb: str, module: str, addresses: Sequence[CodeAddress]) -> list[str]:
    """Return the command line with which gdb writes a line for each address in a file; it runs nothing of the file."""
    wanted = json.dumps([[each.symbol, each.offset, int(each.called)] for each in addresses])
    script = _SCRIPT.replace("WANTED", repr(wanted))
    quiet = ("-q", "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off")
    return [gdb, *quiet, module, "-ex", f"python exec({script!r})"]


def places_in(written: str) -> list[CodePlace]:
    """Return what gdb has written about the addresses, in their order."""
    lines = [line[1:] for line in written.splitlines() if line.startswith("@{")]
    return [msgspec.json.decode(line, type=CodePlace) for line in lines]
