"""The seam between debug sessions and the machine: its clock, debug adapters, programs in a terminal, and its files.

`Host` is this machine. A recorder stands in front of it and writes down what passes; a replay takes its place.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from msgspec import Struct

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.dap.process import Program, Watchdog, environment, open_process
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import Start
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.looking.from_outside import process_sample, py_spy
from trio_debugmcp.session.looking.machine_code import kernel_threads

T = TypeVar("T")


class Opening(Struct, frozen=True):
    """A debug session that is about to open its adapter; `adapter` is the profile's name."""

    session_id: str
    parent_id: str | None
    adapter: str
    start: Start


class Host:
    """This machine as it is."""

    def clock(self) -> Clock:
        """Make the wall clock. Called once, inside the trio run."""
        return Clock()

    def open_adapter(
        self, opening: Opening, connect: Callable[[], AbstractAsyncContextManager[Adapter]]
    ) -> AbstractAsyncContextManager[Adapter]:
        """Open the session's debug adapter for the length of the block; `connect` is how it is reached.

        Raises:
            DebugError: the adapter cannot be started or reached.
        """
        return connect()

    def open_program(
        self, session_id: str, wanted: RunInTerminal, watchdog: Watchdog
    ) -> AbstractAsyncContextManager[Program]:
        """Run the program that a session's adapter asks for, for the length of the block.

        Raises:
            CannotRun: the program cannot be started.
        """
        env = environment(wanted.env or {})
        return open_process(wanted.args, watchdog, cwd=wanted.cwd or None, env=env)

    async def look_into(self, pid: int, patience: Patience) -> bytes:
        """Return what py-spy sees of a process of this machine that does not let its debugger run.

        Raises:
            CannotLook: it is not installed, or not allowed.
        """
        return await py_spy.dump(pid, patience)

    def processor_seconds(self, pid: int) -> float | None:
        """Return how much processor time a process of this machine has used; None where that is not known."""
        return process_sample.processor_seconds(pid)

    def sample(self, pid: int) -> process_sample.ProcessSample | None:
        """Return what a process of this machine does now; None where that is not known."""
        return process_sample.sample(pid)

    def kernel_threads(self, pid: int) -> kernel_threads.KernelThreads | None:
        """Return the threads of a process of this machine that is traced, with what each waits for in the kernel."""
        return kernel_threads.kernel_threads(pid)

    async def locate(self, profile: Profile, patience: Patience) -> str | None:
        """Return where an adapter is on this machine, as a recording keeps it."""
        await profile.learn_version(patience)  # the query itself must not wait for a process
        return self.query(f"adapter {profile.name}", profile.locate)

    async def find_out(self, question: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Return what `ask` finds out, as `query` does, but of what takes its time: a compiler, for example."""
        return await ask()

    def query(self, question: str, ask: Callable[[], T]) -> T:
        """Return what `ask` finds out about this machine, a JSON value; a `UsageError` that it raises is an answer too.

        `question` names it: a recording keeps the answer under that name, and a replay looks it up there.
        """
        return ask()
