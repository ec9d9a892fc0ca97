"""A fake adapter that is understood as gdb or lldb-dap is, with a program of machine code."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, FakeProfile, connect

PROGRAM = sys.executable
"""An executable that exists; it is never run."""

SOURCE = "/work/orders.cpp"


def without_symbols(directory: Path) -> str:
    """Return an executable that has no table of symbols; a large one would be read in a thread, in real time."""
    file = directory / "orders"
    file.write_bytes(b"\x7fELF")
    return str(file)


def options_like(name: str, adapter: FakeAdapter) -> Options:
    """Server options whose only debug adapter is this one, understood as the adapter of that name."""
    real, profile = profile_named(name), FakeProfile(adapter)
    assert real is not None
    for attribute in ("expressions", "code", "dialect", "words", "values", "thrown", "habits", "repl", "symbols"):
        setattr(profile, attribute, getattr(real, attribute))
    return Options(settings=Settings(directory="/", profiles=(profile,)))


@asynccontextmanager
async def launched(name: str, adapter: FakeAdapter, **arguments: Any) -> AsyncIterator[DebugClient]:
    """A client with a program that runs under such an adapter."""
    async with connect(options=options_like(name, adapter)) as client:
        arguments = {"program": PROGRAM, "adapter": "fake", "stop_at_entry": False, "wait": False, **arguments}
        await client.call("debug_launch", **arguments)
        yield client


def scripted_type(values: dict[str, str], address: int, *lineage: str) -> None:
    """Script what a debugger reads in memory of a `std::type_info` at this address, and of its bases."""
    for level, name in enumerate(lineage):
        at, last = address + level * 1000, level == len(lineage) - 1
        values[f"*(char**){at + 8}"] = f'0x55 "{name}"'
        kind = "N10__cxxabiv117__class_type_infoE" if last else "N10__cxxabiv120__si_class_type_infoE"
        values[f"*(char**)(*(long*)(*(long*){at}-8)+8)"] = f'0x7f "{kind}"'
        values[f"*(long*){at + 16}"] = str(at + 1000)
