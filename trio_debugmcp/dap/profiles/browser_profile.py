"""`BrowserProfile`: pages in a browser of the Chromium kind, which js-debug starts for one session.

The browser has a directory of its own for everything that it writes, which is removed at the end. js-debug drives it
through pipes, at whose end it exits: so it ends with its adapter, however that is killed.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.profiles.javascript.browsers import (
    PagePrograms,
    PageValues,
    PageWords,
    browser_arguments,
    browser_at,
)
from trio_debugmcp.dap.profiles.opening import launch_values, open_adapter
from trio_debugmcp.dap.profiles.processes import running
from trio_debugmcp.dap.profiles.profile import Runtime
from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.dap.profiles.tables.table import TableProfile
from trio_debugmcp.dap.profiles.tables.table_format import Table
from trio_debugmcp.patience import Patience

_OWN_OPTIONS = ("browser", "headed")
"""Options of ours, which js-debug does not know."""

_SHORT = "/tmp"
"""Where the directory is made, whatever $TMPDIR is: the path of a socket in it may have some 100 characters."""

_END_SECONDS = 3.0
"""For a browser to be gone that has lost its debugger; it takes 0.2."""

_POLL_SECONDS = 0.05


class BrowserProfile(TableProfile):
    """The browser's table, with what no table can say."""

    def __init__(self, name: str, table: Table) -> None:
        super().__init__(name, table)
        self.words = PageWords()
        self.values = PageValues()
        self.programs = PagePrograms()
        # A page is code of its own, which the browser keeps away from files.
        self.code_options = (self.code_options | {"browser"}) - {"url"}

    def open(self, launch: Launch, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return self._open(launch, runtime)

    @asynccontextmanager
    async def _open(self, launch: Launch, runtime: Runtime) -> AsyncIterator[Adapter]:
        directory = tempfile.mkdtemp(
            prefix="trio-debugmcp-browser-", dir=_SHORT if os.access(_SHORT, os.W_OK) else None
        )
        try:
            env = {**dict.fromkeys(launch.unset), "TMPDIR": directory}  # js-debug makes the browser's profile there
            async with open_adapter(
                self.table, self._place(), launch_values(launch), runtime.watchdog, env=env
            ) as adapter:
                yield adapter
        finally:
            with trio.CancelScope(shield=True):  # bounded
                await _clean_up(directory, runtime.patience)

    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        own, others = _parted(launch.options)
        arguments = super().launch_arguments(replace(launch, options=others))
        extra = arguments.get("runtimeArgs") or []
        arguments["runtimeArgs"] = [*browser_arguments(headed=own.get("headed") is True), *extra]
        arguments.setdefault("runtimeExecutable", browser_at(own.get("browser")))
        return arguments


def _parted(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options that are ours, and js-debug's."""
    own = {name: value for name, value in options.items() if name in _OWN_OPTIONS}
    return own, {name: value for name, value in options.items() if name not in own}


async def _clean_up(directory: str, patience: Patience) -> None:
    """Wait until the browser has gone that uses a directory, end it if it does not go, and remove the directory."""
    with trio.move_on_after(patience.seconds(_END_SECONDS)):
        while _processes_of(directory):  # noqa: ASYNC110 (the system has no event for it)
            await trio.sleep(_POLL_SECONDS)
    for pid in _processes_of(directory):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with trio.move_on_after(patience.seconds(_END_SECONDS)):
        while Path(directory).exists():
            shutil.rmtree(directory, ignore_errors=True)  # a process that ends may have just written a file
            await trio.sleep(_POLL_SECONDS)


def _processes_of(directory: str) -> list[int]:
    """Return the processes whose command lines name a directory; none on systems that do not show them."""
    return [
        process.pid
        for process in running(Path("/proc"))
        if process.pid != os.getpid() and any(directory in word for word in process.command)
    ]
