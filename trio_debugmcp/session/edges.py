"""Where debug sessions touch the world: the clock, debug adapters, programs in a terminal, and this machine's files.

`Edges` is the world as it is. A recorder listens here, and a replay speaks here in the world's place.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

import trio
from msgspec import Struct

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.dap.process import Guard, environment, open_process
from trio_debugmcp.session.clock import Clock
from trio_debugmcp.session.start import Start

T = TypeVar("T")


class Opening(Struct, frozen=True):
    """A debug session that is about to open its adapter; `adapter` is the profile's name."""

    session: str
    parent: str | None
    adapter: str
    start: Start


class Program(Protocol):
    """A running program with pipes, as `trio.Process` is one."""

    @property
    def pid(self) -> int:
        """Its process id."""

    @property
    def stdin(self) -> trio.abc.SendStream | None:
        """Its standard input."""

    @property
    def stdout(self) -> trio.abc.ReceiveStream | None:
        """Its standard output."""

    @property
    def stderr(self) -> trio.abc.ReceiveStream | None:
        """Its standard error."""

    async def wait(self) -> int:
        """Until it has ended; returns its exit code."""


class Edges:
    """The world as it is."""

    def clock(self) -> Clock:
        """The wall clock. Called once, inside the trio run."""
        return Clock()

    def open_adapter(
        self, opening: Opening, connect: Callable[[], AbstractAsyncContextManager[Adapter]]
    ) -> AbstractAsyncContextManager[Adapter]:
        """The session's debug adapter, for the length of the block; `connect` is how it is reached.

        Raises:
            DebugError: there is none.
        """
        return connect()

    def open_program(self, session: str, wanted: RunInTerminal, guard: Guard) -> AbstractAsyncContextManager[Program]:
        """The program that a session's adapter wants to have run, for the length of the block.

        Raises:
            CannotRun: it could not be started.
        """
        env = environment(wanted.env or {})
        return open_process(wanted.args, guard, cwd=wanted.cwd or None, env=env)

    def look(self, question: str, ask: Callable[[], T]) -> T:
        """What `ask` finds out about this machine: a JSON value, or a `UsageError`. The question names it."""
        return ask()
