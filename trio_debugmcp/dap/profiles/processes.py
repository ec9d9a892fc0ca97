"""The processes of this machine as Linux' `/proc` has them: which have a name, and whether one may be traced.

    called("server.py", running(Path("/proc")), own=os.getpid())
    trace_problem(4711, Path("/proc"))  # None: nothing is in the way

Elsewhere there is no `/proc`: psutil says what runs, and nothing is known to be in the way.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from msgspec import Struct

from trio_debugmcp.dap import without_proc

SYS_PTRACE = 1 << 19
"""The bit of the capability `CAP_SYS_PTRACE` in `/proc/self/status`."""

_COMM_LENGTH = 15
"""Characters that Linux keeps of the name of a process."""


_INTERPRETER = re.compile(r"(python|node|ruby|perl|bash|sh|dash|php)[\d.]*")


class Attacher(Struct, frozen=True):
    """What attaches to processes, for the reasons why it cannot.

    Attributes:
        name: what its user calls it.
        launched: what is to be said of programs that it launches.
        others: what to do with a process that is not Python.
        without_tracing: what to do with a Python program where there is no native debugger.
    """

    name: str
    launched: str
    others: str
    without_tracing: str


SERVER = Attacher(
    "server",
    "; programs that it launches need neither",
    "leave `adapter` out to attach as it fits",
    "start the program with `python -m debugpy --listen 5678 program.py` and attach with host 127.0.0.1 and port 5678",
)


class Process(Struct, frozen=True):
    """A process: its id, its parent's, its name as Linux keeps it, and its command line."""

    pid: int
    parent: int
    comm: str
    command: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that a person would call it by: its own, that of what was run, and that of the script."""
        first = PurePath(self.command[0].removeprefix("-")).name if self.command else ""
        script = next((word for word in self.command[1:] if not word.startswith("-")), "")
        return frozenset({self.comm, first, PurePath(script).name}) - {""}

    @property
    def title(self) -> str:
        """The one of them that tells it from others: the script's, if an interpreter runs one."""
        first = PurePath(self.command[0].removeprefix("-")).name if self.command else self.comm
        script = next((word for word in self.command[1:] if not word.startswith("-")), "")
        return (PurePath(script).name or first) if _INTERPRETER.fullmatch(first) else first

    def is_called(self, name: str) -> bool:
        """Whether that is one of its names; of a long one Linux keeps only the beginning.

        A kernel of Jupyter is also called by its connection file.
        """
        if name.endswith(".json") and any(PurePath(word).name == PurePath(name).name for word in self.command[1:]):
            return "ipykernel" in " ".join(self.command)
        return name in self.names or (len(name) > _COMM_LENGTH and name[:_COMM_LENGTH] in self.names)


def running(proc: Path) -> list[Process]:
    """Return all processes of programs, by id: none of the kernel's, and none that has ended."""
    if not proc.is_dir():
        return sorted((Process(*facts) for facts in without_proc.running()), key=lambda process: process.pid)
    processes = (_process(directory) for directory in proc.iterdir() if directory.name.isdecimal())
    return sorted((process for process in processes if process is not None), key=lambda process: process.pid)


def _process(place: Path) -> Process | None:
    try:
        comm, _, rest = (place / "stat").read_text(errors="replace").partition(" (")[2].rpartition(") ")
        state, parent = rest.split()[:2]
        command = (place / "cmdline").read_bytes().decode(errors="replace")
        is_program = bool(command) or _has_memory((place / "status").read_text(errors="replace"))
    except (OSError, ValueError):  # it has ended meanwhile
        return None
    if not is_program or state in "ZX":
        return None
    words = tuple(command.rstrip("\0").split("\0")) if command else ()
    return Process(int(place.name), int(parent), comm, words)


def called(name: str, processes: Sequence[Process], own: int) -> list[Process]:
    """Return the processes of that name, but for this server (`own`) and what it has started."""
    parents = {process.pid: process.parent for process in processes}

    def is_ours(pid: int) -> bool:
        passed = set[int]()  # what was read while processes came and went may have a circle
        while pid in parents and pid != own and pid not in passed:
            passed.add(pid)
            pid = parents[pid]
        return pid == own

    return [process for process in processes if process.is_called(name) and not is_ours(process.pid)]


def owner_problem(pid: int, proc: Path, by: Attacher = SERVER) -> str | None:
    """Return why this user may not look into a process, whatever looks: it is another user's, or not a program's."""
    try:
        status = (proc / str(pid) / "status").read_text()
        command = (proc / str(pid) / "cmdline").read_bytes()
    except OSError:
        return None  # not Linux, or it has ended
    uid, state = _field(status, "Uid"), _field(status, "State")
    if state is not None and state.startswith(("Z", "X")):
        return f"process {pid} has ended already, and waits for its parent to take note"
    if not command and not _has_memory(status):
        return f"process {pid} is the kernel's, which no debugger here understands"
    own = os.geteuid()
    if uid is None or own == 0 or int(uid.split()[0]) == own or _may_trace_all(proc):
        return None
    return (
        f"process {pid} belongs to the user with the id {uid.split()[0]}, and this {by.name} runs as {own}: run it as "
        "that user, or give it the capability CAP_SYS_PTRACE"
    )


def trace_problem(pid: int, proc: Path, by: Attacher = SERVER) -> str | None:
    """Return what keeps us from tracing a process; None if nothing does, as far as that can be known."""
    if pid == os.getpid():
        return f"this is the {by.name} itself, which would wait for its own answer"
    try:
        tracer = _field((proc / str(pid) / "status").read_text(), "TracerPid")
    except OSError:
        tracer = None
    if tracer not in (None, "0"):
        return f"process {pid} is traced already, by process {tracer}; only one debugger can be: end that one first"
    return ptrace_problem(proc, by)


def ptrace_problem(proc: Path, by: Attacher = SERVER) -> str | None:
    """Return what keeps this user from tracing other processes, as Linux' Yama has it; None if nothing does."""
    try:
        scope = int((proc / "sys/kernel/yama/ptrace_scope").read_text())
        is_free = _may_trace_all(proc)
    except (OSError, ValueError):
        return None  # not Linux, or without Yama
    if scope == 0 or (scope < 3 and is_free):
        return None
    if scope >= 3:
        return "/proc/sys/kernel/yama/ptrace_scope is 3: nothing may be traced until the next start of the machine"
    return (
        f"/proc/sys/kernel/yama/ptrace_scope is {scope}: set it to 0, or give the {by.name} the capability "
        f"CAP_SYS_PTRACE{by.launched}"
    )


def _may_trace_all(proc: Path) -> bool:
    held = _field((proc / "self/status").read_text(), "CapEff")
    return held is not None and bool(int(held, 16) & SYS_PTRACE)


def _has_memory(status: str) -> bool:
    """Whether a process has memory of its own, as all but the kernel's and those that have ended.

    One without a command line may be just executing another program, or have overwritten it.
    """
    return _field(status, "VmSize") is not None


def _field(status: str, name: str) -> str | None:
    return next((line.partition(":")[2].strip() for line in status.splitlines() if line.startswith(f"{name}:")), None)
