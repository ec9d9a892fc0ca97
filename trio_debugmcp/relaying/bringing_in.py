"""Which processes a relay brings in, and how the debugger comes into one that runs already."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import trio

from trio_debugmcp.dap.listener import ListenerAddress
from trio_debugmcp.dap.profiles.processes import Attacher, Process, called, owner_problem, running, trace_problem
from trio_debugmcp.dap.profiles.python.dialing_pydevd import debugpy_package, dial_arguments
from trio_debugmcp.dap.profiles.python.engines import engine_of_process
from trio_debugmcp.dap.profiles.python.injection import injection_problem
from trio_debugmcp.engine.carrier import INJECTOR, Carrier
from trio_debugmcp.errors import CannotRun
from trio_debugmcp.patience import Patience

_PROC = Path("/proc")

_RELAY = Attacher(
    "relay",
    "",
    "a relay brings in Python processes. A server on this machine attaches to others, with debug_attach and the pid",
    "put the line of Python that debug_listen answers with into the program",
)

_INJECT_SECONDS = 60.0
"""For gdb or lldb to put the debugger in; it takes half a second, and longer if several do at once."""

_MAX_SAID = 300
"""Characters of what an injector has said."""


def named(name: str) -> list[int]:
    """Return the processes of that name, but for this one and what it has started."""
    return [process.pid for process in called(name, running(_PROC), os.getpid())]


def below(parent: int, processes: Sequence[Process] | None = None) -> list[int]:
    """Return the Python processes that this one has started, and those that these have started, by id."""
    known = running(_PROC) if processes is None else processes
    found = {parent}
    while more := {each.pid for each in known if each.parent in found} - found:
        found |= more
    return [each.pid for each in known if each.pid in found - {parent} and _runs_python(each)]


def _runs_python(process: Process) -> bool:
    with suppress(OSError):
        return (_PROC / str(process.pid) / "exe").readlink().name.startswith(("python", "pypy"))
    return any("python" in word for word in process.command[:1])


def problem_of(pid: int) -> str | None:
    """Return why a process cannot be brought in; None if nothing is known to be in the way."""
    if _PROC.is_dir() and not (_PROC / str(pid)).exists():
        return f"there is no process with the id {pid}"
    problems = (problem(pid, _PROC, _RELAY) for problem in (owner_problem, trace_problem, injection_problem))
    return next(filter(None, problems), None)


async def brought_in(pid: int, carrier: Carrier, address: ListenerAddress, patience: Patience) -> str | None:
    """Put the debugger into a process, which then dials in at this address; return why it could not be."""
    try:
        if await engine_of_process(pid, {}, "auto", patience) == "own":
            command = [sys.executable, str(INJECTOR), str(pid), carrier.late]
        else:
            command = [sys.executable, debugpy_package(), *dial_arguments(address, {}), "--pid", str(pid)]
    except CannotRun as error:
        return str(error)
    with trio.move_on_after(patience.seconds(_INJECT_SECONDS)):
        ended = await trio.run_process(
            command,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            deliver_cancel=_end_group,
        )
        if not ended.returncode:
            return None
        return _reason(ended.stderr.decode(errors="replace"), address.token, ended.returncode)
    return "the debugger could not be put in: gdb has not come to an end; does the process run at all?"


async def _end_group(process: trio.Process) -> None:
    """End an injector with the native debugger that it has started; the process that this was in runs on."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _reason(said: str, token: str, code: int) -> str:
    """Return the last line that an injector has said; a native debugger's command line has the token in it."""
    last = said.strip().rpartition("\n")[2]
    if not last or token in last or "CalledProcessError" in last:
        return f"the debugger could not be put in (exit code {code}); may this user trace the process?"
    return last[-_MAX_SAID:]
