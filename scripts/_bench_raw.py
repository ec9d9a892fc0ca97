"""Raw DAP to a debug adapter as shipped, for measures of tools beside it: see `_bench_tools.py`."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import trio
from _bench import refuse, wait_for
from msgspec import Struct

from trio_debugmcp.dap.adapter import open_stdio_adapter
from trio_debugmcp.dap.connection import Connection, open_connection
from trio_debugmcp.dap.messages import Initialized
from trio_debugmcp.dap.process import Watchdog

DEBUGPY = (sys.executable, "-m", "debugpy.adapter")

PLACE = 11
"""The line that is passed so often."""


class Evaluated(Struct, rename="camel"):
    """What the adapter answers about an expression."""

    result: str
    variables_reference: int


class Child(Struct, rename="camel"):
    """One of the children of a value."""

    name: str
    variables_reference: int


class Children(Struct):
    """What the adapter answers about the children of a value."""

    variables: list[Child]


class Scope(Struct, rename="camel"):
    """A group of a frame's variables."""

    variables_reference: int


class Scopes(Struct):
    """What the adapter answers about the scopes of a frame."""

    scopes: list[Scope]


class Measured(Struct):
    """What a tool took, and raw DAP if it has such a thing, in milliseconds.

    The bound is a factor, and milliseconds on top; or milliseconds alone.
    """

    what: str
    raw: float | None
    ours: float
    factor: float | None = None
    more: float = 0.0
    most: float | None = None

    def __str__(self) -> str:
        bound = "" if self.most is None else f", at most {self.most:.0f} ms"
        if self.factor is not None:
            bound = f", at most {self.factor} x" + (f" + {self.more:.0f} ms" * bool(self.more))
        raw, times = "", ""
        if self.raw is not None:
            raw, times = f"{self.raw:9.1f} ms raw DAP", f" {self.ours / self.raw:6.2f} x"
        return f"{self.what:44}{raw:20} {self.ours:9.1f} ms{times}{bound}"

    @property
    def is_slow(self) -> bool:
        if self.most is not None and self.ours > self.most:
            return True
        return self.factor is not None and self.raw is not None and self.ours > self.raw * self.factor + self.more


@asynccontextmanager
async def raw(
    watchdog: Watchdog, file: str, *, adapter: Sequence[str] = DEBUGPY, program: str | None = None, **point: object
) -> AsyncIterator[Connection]:
    """Launch with a breakpoint at the place."""
    async with (
        open_stdio_adapter([*adapter], watchdog) as process,
        open_connection(process.stream, refuse) as connection,
    ):
        await connection.request("initialize", {"adapterID": "debugpy", "linesStartAt1": True})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.request, "launch", {"program": program or file, "console": "internalConsole"})
            await wait_for(connection, Initialized)
            points = [{"line": PLACE, **point}]
            await connection.request("setBreakpoints", {"source": {"path": file}, "breakpoints": points})
            await connection.request("configurationDone")
        yield connection
