"""The threads of a process of this machine, or of a core file, with what each waits for in the kernel.

    found = kernel_threads(pid)     # from /proc; core_threads("core")
    found.threads[1].wait           # KernelWait("mutex", owner=4711)

Threads that wait for each other are `circles` only where each of them has waited from the first look to the last:
what is read of running threads one after the other has never been true at once.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.pids import proc_text
from trio_debugmcp.dap.profiles.native.core_file import read_core
from trio_debugmcp.dap.profiles.native.kernel_calls import KernelWait, circles, kernel_wait, system_call

MAX_THREADS = 1000
"""Threads that are looked at: each has files of its own."""

_GLIBC = ("/libc.so.6", "/libc-2.", "/libpthread.so.0", "/libpthread-2.")
"""Names of what a program has mapped whose locks are those of glibc."""


class KernelThread(Struct, frozen=True):
    """A thread, by its id of the whole machine, as are the owners of what it waits for."""

    tid: int
    name: str
    wait: KernelWait | None = None


class KernelThreads(Struct, frozen=True):
    """The threads of a process, of which there are `total`; `circles`: the ids of those that wait for each other."""

    threads: tuple[KernelThread, ...]
    total: int
    circles: tuple[tuple[int, ...], ...] = ()


def kernel_threads(pid: int) -> KernelThreads | None:
    """Return the threads of a process that a debugger traces; None where there is none of that id, or no /proc."""
    places, total = _tasks(pid)
    looks = [look for look in map(_look, places) if look is not None]
    if not looks or any(not look.traced for look in looks):  # another process may have the id of a core's, or a board's
        return None
    waits = _waits(pid, looks)
    settled = {look.tid for look in looks if _look(f"/proc/{pid}/task/{look.tid}") == look}
    still = {tid: wait for tid, wait in waits.items() if tid in settled}
    threads = tuple(KernelThread(look.tid, look.name, waits.get(look.tid)) for look in looks)
    return KernelThreads(threads, total, tuple(circles(still)))


def core_threads(path: str) -> KernelThreads | None:
    """Return the threads of a core file, without names; None where it does not say what they did."""
    try:
        with Path(path).open("rb", buffering=0) as file:
            core = read_core(file)
            if core is None or not core.threads:
                return None
            tids = {each.tid for each in core.threads}
            glibc = any(each in name for name in core.mapped for each in _GLIBC)
            waits = {
                each.tid: kernel_wait(each.call, core.read, tids, each.tid, glibc=glibc)
                for each in core.threads
                if each.call is not None
            }
            threads = [KernelThread(each.tid, "", waits.get(each.tid)) for each in core.threads[:MAX_THREADS]]
    except OSError:
        return None
    return KernelThreads(tuple(threads), len(tids), tuple(circles(waits)))


def _waits(pid: int, looks: Sequence["ThreadLook"]) -> dict[int, KernelWait]:
    """Return what the threads wait for, by their ids."""
    outside = {look.inner: look.tid for look in looks}
    mapped = proc_text(f"/proc/{pid}/maps")
    glibc = any(each in mapped for each in _GLIBC)
    waits: dict[int, KernelWait] = {}
    with suppress(OSError), Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        read = _Memory(memory.fileno()).read
        for look in looks:
            call = system_call(look.call)
            if call is not None:
                wait = kernel_wait(call, read, outside, look.inner, glibc=glibc)
                # The owner's id is one of the namespace of the process.
                waits[look.tid] = wait if wait.owner is None else replace(wait, owner=outside[wait.owner])
    return waits


class ThreadLook(Struct, frozen=True):
    """A thread at one moment; `inner`: its id in its own namespace. Equal ones: it has not run in between."""

    tid: int
    inner: int
    name: str
    call: str
    switches: tuple[str, ...]
    traced: bool


def _look(place: str) -> ThreadLook | None:
    facts = dict(line.partition(":\t")[::2] for line in proc_text(f"{place}/status").splitlines())
    if "Pid" not in facts:
        return None
    switches = tuple(facts.get(f"{kind}_ctxt_switches", "") for kind in ("voluntary", "nonvoluntary"))
    inner = facts.get("NSpid", facts["Pid"]).split()[-1]
    traced = facts.get("TracerPid", "0") != "0"
    return ThreadLook(
        int(facts["Pid"]), int(inner), facts.get("Name", ""), proc_text(f"{place}/syscall"), switches, traced
    )


class _Memory:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self, address: int, size: int) -> bytes:
        try:
            return os.pread(self._descriptor, size, address)
        except (OSError, OverflowError):  # nothing is there
            return b""


def _tasks(pid: int) -> tuple[Sequence[str], int]:
    try:
        with os.scandir(f"/proc/{pid}/task") as entries:
            all_of_them = sorted(entries, key=lambda entry: int(entry.name))
    except OSError:
        return [], 0
    return [entry.path for entry in islice(all_of_them, MAX_THREADS)], len(all_of_them)
