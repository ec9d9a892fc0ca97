"""Errors of Zig for gdb, which runs this file itself: one that leaves `main` ends the program, of a test fails that.

    $_zig_error_ends()     1 in `returnError` of Zig's library where `main` or a test has called it, and does not skip
    $_zig_error()          "error.NoPlum: first returned at shop.zig:12 in shop.find"

A function that returns an error calls `returnError`, which adds the place of that call to those before it. What the
error is, no debugger knows there: the line that returned it first says it.
"""

import linecache
import os.path
import re
from typing import Any

_RUNNERS = ("start.", "test_runner.")
"""How the functions of Zig's library begin that call `main`, and tests."""

_NAMED = re.compile(r"\breturn\s+error\.(\w+)")

_MAX_PLACES = 32
"""As many places as the library keeps."""

_FIRST_ARGUMENT = {"i386:x86-64": "rdi", "aarch64": "x0"}
"""By the architecture, the register that has the places."""


def leaves(frame: Any) -> bool:
    """Whether the function that called a frame of `returnError` is `main` or a test."""
    caller = frame.older()
    runner = caller.older() if caller is not None else None
    return runner is not None and (runner.name() or "").startswith(_RUNNERS)


def described(own: tuple[str, int, str], earlier: list[tuple[str, int, str]]) -> str:
    """Return what is known of an error: its name, and where it was returned first, if not in the function itself.

    Each place is a file, a line and a function; the nearest one that names an error has replaced those before it.
    """
    for place in [own, *reversed(earlier)]:
        named = _NAMED.search(linecache.getline(place[0], place[1]))
        if named is not None:
            return f"error.{named[1]}{_first(place) if place is not own else ''}"
    return f"error{_first(earlier[0]) if earlier else ''}"


def _first(place: tuple[str, int, str]) -> str:
    return f": first returned at {os.path.basename(place[0])}:{place[1]} in {place[2]}"


def places(gdb: Any, frame: Any) -> list[tuple[str, int, str]]:
    """Return the places that have returned an error, before the call that is made."""
    register = _FIRST_ARGUMENT.get(frame.architecture().name())
    if register is None:
        return []
    trace = frame.read_register(register).cast(frame.read_var("st").type).dereference()
    addresses = trace["instruction_addresses"]["ptr"]
    count = min(int(trace["index"]), int(trace["instruction_addresses"]["len"]), _MAX_PLACES)
    found = []
    for number in range(count):
        address = int((addresses + number).dereference()) - 1  # within the call
        line, block = gdb.find_pc_line(address), gdb.block_for_pc(address)
        while block is not None and block.function is None:
            block = block.superblock
        if line.symtab is not None:
            found.append((line.symtab.fullname(), line.line, str(block.function) if block is not None else "?"))
    return found


def register(gdb: Any) -> None:
    """Have gdb know the functions."""

    def error() -> str:
        frame = gdb.selected_frame()
        caller = frame.older().find_sal()
        own = (caller.symtab.fullname(), caller.line, "") if caller.symtab is not None else ("", 0, "")
        try:
            return described(own, places(gdb, frame))
        except (gdb.error, RuntimeError, ValueError):  # of another version of the library
            return described(own, [])

    def ends() -> int:
        return int(leaves(gdb.selected_frame()) and not error().startswith("error.SkipZigTest"))

    for name, function in (("_zig_error", error), ("_zig_error_ends", ends)):
        kind = type(name, (gdb.Function,), {"invoke": lambda _, function=function: function()})
        kind(name)
