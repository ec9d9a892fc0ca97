"""The program's "terminal": an adapter asks for one with `runInTerminal`, and gets a process with three pipes.

This is the only way to the program's standard input, and the cleanest way to its output.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import trio

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.messages import RunInTerminal
from trio_debugmcp.dap.own_lines import ProgramPipe
from trio_debugmcp.dap.process import Program, Watchdog
from trio_debugmcp.session.ending import Ending
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.output.console import Console

log = logging.getLogger(__name__)

DRAIN_SECONDS = 1.0
"""For the program's last output after its end; a grandchild may keep the pipe open for ever."""


class Terminals:
    """The terminals of one session; most adapters ask for one.

    Attributes:
        patience: with the programs.

    Args:
        wait_children: waits until no child of the session is debugged any more.
        stdin: the whole of a program's standard input; None leaves that open for what is written later.
        own_lines: how lines of stderr begin that are not the program's, but its runtime's for the debugger.
    """

    def __init__(
        self,
        session_id: str,
        console: Console,
        watchdog: Watchdog,
        host: Host,
        wait_children: Callable[[], Awaitable[object]],
        *,
        stdin: str | None = None,
        own_lines: Sequence[str] = (),
    ) -> None:
        self._stdin = stdin
        self.pid: int | None = None
        self._own_lines = own_lines
        self.exit_code: int | None = None
        self._wait_children = wait_children
        self._session_id = session_id
        self._host = host
        self._console = console
        self._watchdog = watchdog
        self.patience = watchdog.patience
        self._over: list[trio.Event] = []
        self._ends: list[trio.CancelScope] = []

    def __repr__(self) -> str:
        return f"<Terminals of {self._session_id}: {len(self._over)} programs, exit code {self.exit_code}>"

    async def run(self, wanted: RunInTerminal, *, task_status: trio.TaskStatus[int]) -> None:
        """Run a program until it and its debugged children have ended and its output has been read.

        Reports the process id as started.

        Raises:
            CannotRun: it could not be started.
        """
        over, end = trio.Event(), trio.CancelScope()
        self._over.append(over)
        self._ends.append(end)
        try:
            with end:
                async with self._host.open_program(self._session_id, wanted, self._watchdog) as process:
                    await self._attend(process, is_program=True, task_status=task_status)
        finally:
            over.set()

    def end(self) -> None:
        """End every program that an adapter had us run, with its whole process session."""
        for end in self._ends:
            end.cancel(reason="the debugger ends the program")

    async def attend_adapter(self, adapter: Adapter, ending: Ending, nursery: trio.Nursery) -> None:
        """Attend to the adapter's own process, if its standard streams are the program's, until it has ended."""
        ending.own_exit = self.wait_exit if adapter.is_program else None
        if adapter.process is not None:
            await nursery.start(self._run_adapter, adapter.process, adapter.is_program)

    async def _run_adapter(self, process: Program, is_program: bool, *, task_status: trio.TaskStatus[int]) -> None:
        over = trio.Event()
        self._over.append(over)
        try:
            await self._attend(process, is_program=is_program, task_status=task_status)
        finally:
            over.set()

    async def _attend(self, process: Program, *, is_program: bool, task_status: trio.TaskStatus[int]) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError("the process was opened with pipes")
        async with trio.open_nursery() as pumps:
            if self._stdin is None:
                self._console.input.connect(process.stdin)
            else:
                pumps.start_soon(_feed, process.stdin, self._stdin.encode())
            pumps.start_soon(self._console.pump, process.stdout, "stdout")
            errors = ProgramPipe(process.stderr, self._own_lines, _log) if self._own_lines else process.stderr
            pumps.start_soon(self._console.pump, errors, "stderr")
            if is_program and self.pid is None:
                self.pid = process.pid
            task_status.started(process.pid)
            code = await process.wait()
            if is_program:
                self.exit_code = code
            # Leaving the block of the process ends its whole process session: a child that is debugged outlives its
            # parent, and writes to the parent's pipes.
            await self._wait_children()
            pumps.cancel_scope.deadline = trio.current_time() + self.patience.seconds(DRAIN_SECONDS)

    async def wait_exit(self) -> int | None:
        """Wait for the exit code of a program that is its own adapter, and whose connection has ended."""
        with trio.move_on_after(self.patience.seconds(DRAIN_SECONDS)):
            await self.wait_over()
        return self.exit_code

    async def wait_over(self) -> None:
        """Wait until every program that was started here has ended."""
        for over in list(self._over):
            await over.wait()


def _log(lines: bytearray) -> None:
    log.info("%s", lines.decode(errors="replace").rstrip())


async def _feed(pipe: trio.abc.SendStream, data: bytes) -> None:
    """Write a program's whole input, as fast as it reads it, and close it."""
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # it does not read to the end
        await pipe.send_all(data)
    await pipe.aclose()
