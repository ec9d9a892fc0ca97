"""`ProcessLabels`: what tells the process of a session from its siblings, and whether it is one of this machine.

What a launched program has from the environment of this server is left out: all of its processes have that too. A
program that dials in by itself was started by something else, which has given it its rank.
"""

import logging
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import msgspec

from trio_debugmcp.dap.profiles.starts import ChildStart, Launch, Start
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import ProcessMarks
from trio_debugmcp.session.ending import BY_ITSELF, LEFT
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.from_outside.kernel_log import killed_for_memory
from trio_debugmcp.session.looking.from_outside.process_sample import exit_code, is_running
from trio_debugmcp.session.start import is_guest
from trio_debugmcp.state.labels import Labels, labels_of

log = logging.getLogger(__name__)

_KILLED = (-9, 128 + 9)
"""By SIGKILL: as systems say it, and as shells do of what they have started."""


class PlacedProcess(Protocol):
    """A process of which is known whether its id is one of this machine."""

    is_here: bool

    @property
    def pid(self) -> int | None: ...


class ProcessLabels:
    """The labels of one session's process. `above`: those of the session whose child it is.

    Attributes:
        inherited: variables that its program has had from the start, from the environment of this server. A launched
            process says them for all of its program, and a child may be there before that.
    """

    def __init__(self, start: Start, process: PlacedProcess, host: Host, above: "ProcessLabels | None") -> None:
        self._process = process
        self._host = host
        self._given = start.env if isinstance(start, Launch) else {}
        self._is_launched = isinstance(start, Launch)
        self._is_child = isinstance(start, ChildStart)
        self._is_guest = is_guest(start)
        self._is_of_this_machine = False
        self.inherited: dict[str, str] = {} if above is None or self._is_launched else above.inherited

    def read(self, runtime: Mapping[str, Any]) -> Labels:
        """Return the labels, from what the debugger in the program has said at the beginning."""
        try:
            return self.of(msgspec.convert(runtime.get("marks") or {}, ProcessMarks))
        except msgspec.ValidationError as error:
            log.info("what tells a process from others: %s", error)
            return {}

    def of(self, marks: ProcessMarks) -> Labels:
        """Return the labels of a process with these marks."""
        if self._is_launched:
            had = {name: value for name, value in marks.variables.items() if name not in marks.own}
            self.inherited.clear()
            self.inherited.update({name: value for name, value in had.items() if self._given.get(name) != value})
        own = {k: v for k, v in marks.variables.items() if self.inherited.get(k) != v or k in marks.own}
        if marks.machine and self._is_child and not self._is_of_this_machine:
            self._is_of_this_machine = marks.machine == self._host.query("machine", this_machine)
            self._process.is_here |= self._is_of_this_machine
        return labels_of(own, marks.name, marks.host if self._is_guest else None)

    def exit_code(self) -> int | None:
        """Return how a process of this machine has ended that is not ours to wait for; None where it is not known."""
        pid = self._process.pid if self._is_of_this_machine else None
        return None if pid is None else self._host.query(f"exit code of {pid}", partial(exit_code, pid))

    def end_reason(self, reason: str, exit_code: int | None) -> str:
        """Return why the process is not debugged any more, with what this machine says of its end."""
        pid = self._process.pid if self._is_of_this_machine or self._is_launched else None
        if pid is None or reason != BY_ITSELF:
            return reason
        with suppress(UsageError):  # a recording of an earlier version has no answer
            if exit_code in _KILLED:
                found: str | None = self._host.query(f"memory of {pid}", partial(killed_for_memory, pid))
                return found or reason
            if exit_code is None and self._is_of_this_machine:
                return LEFT if self._host.query(f"life of {pid}", partial(is_running, pid)) else reason
        return reason


def this_machine() -> str:
    """Return what a process says of its machine if ids of processes mean the same to it and to this one."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""
