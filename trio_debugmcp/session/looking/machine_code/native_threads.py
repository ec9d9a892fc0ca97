"""`NativeThreads`: threads of a program of machine code on this machine, and what each waits for in the kernel.

    found = await native.threads()          # None where nothing is known: of another machine
    found.threads[1].waits                  # "mutex `stock` (0x5593045e7100), held by thread 3 worker"

While the program runs, only the kernel says something of it, and of a core file the calls and the memory in it. At a
stop the frames say where each thread is, and what a futex belongs to; the line of the user's code names it, as far as
an expression in it is at that address.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import ThreadsBody
from trio_debugmcp.dap.profiles.native.kernel_calls import KernelWait, circles, seen_in
from trio_debugmcp.dap.profiles.native.machine_code import NativeWords
from trio_debugmcp.dap.profiles.starts import Attach, Launch, Start
from trio_debugmcp.errors import AdapterRefused, DebugError
from trio_debugmcp.probe.answers import Deadlock
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.by_adapter.adapter_commands import by_commands
from trio_debugmcp.session.looking.by_adapter.adapter_stacks import adapter_stacks
from trio_debugmcp.session.looking.by_probe.live_threads import ALL_FRAMES, LiveStack, LiveThread
from trio_debugmcp.session.looking.machine_code.kernel_threads import KernelThread, KernelThreads, core_threads
from trio_debugmcp.session.looking.machine_code.rust_guards import guard_holders
from trio_debugmcp.session.looking.ways import Ways
from trio_debugmcp.state.model import Origin, StackFrame
from trio_debugmcp.state.payloads import name_of

NAMES_SECONDS = 0.5
"""For the names of what all threads wait for: evaluations, which take milliseconds. Without a name there is an address,
and an answer that has little time has the threads."""

_MAX_NAMED = 20
"""Lines of which it is asked how they name what is waited for there."""

_MAX_PATHS = 12
"""Expressions of a line that are tried."""

_CONDITION_BYTES = 48
"""Of a condition variable of glibc, whose futexes are within it."""

_PATH = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')
_ADDRESS = re.compile(r"\A(?:\([^()]*\)\s*)?(0x[0-9a-fA-F]+)")

_WORDS = {
    "mutex": "mutex",
    "rwlock": "read-write lock",
    "condition": "condition variable",
    "semaphore": "semaphore",
    "barrier": "barrier",
    "join": "the end of a thread",
    "park": "being unparked",
    "static": "the first initialisation of a static variable",
    "future": "a future",
    "atomic": "a change of an atomic variable",
    "sleep": "some time to pass",
    "futex": "a futex",
}

_NAMED = ("mutex", "rwlock", "condition", "semaphore", "barrier", "futex")
"""Of which the line of code has a name, and the address is of use."""


class NativeLook(Struct, frozen=True):
    """What was seen: stacks without frames where the program runs, and how many threads there are."""

    stacks: tuple[LiveStack, ...]
    total: int
    deadlocks: tuple[Deadlock, ...]
    stopped: bool


class NativeThreads:
    """The threads of one session's program.

    Attributes:
        are_here: it is of machine code, and its process one of this machine, or left as a core file.
    """

    def __init__(self, ways: Ways, start: Start, host: Host) -> None:
        self._ways = ways
        self._host = host
        is_here = isinstance(start, Launch) or (isinstance(start, Attach) and bool(start.pid or start.core_file))
        self.are_here = is_here and isinstance(ways.profile.words, NativeWords)

    def __repr__(self) -> str:
        return f"<NativeThreads of {self._ways.requests.session_id}>"

    async def look(self, most: int = ALL_FRAMES) -> NativeLook | None:
        """Return the threads, with so many frames of each, and what they wait for as far as that is known.

        None of another language, and where nothing is known of a program that runs.
        """
        snapshot = self._ways.requests.snapshot
        is_native = isinstance(self._ways.profile.words, NativeWords)
        if snapshot is None or snapshot.phase not in ("Paused", "Running") or not is_native:
            return None
        found = await self._waits(snapshot.origin) if self.are_here else None
        if snapshot.phase == "Running":
            return None if found is None else found.running()
        stacks, total = await adapter_stacks(self._ways, snapshot, most), len(snapshot.threads.threads)
        if found is None:
            return NativeLook(tuple(map(_placed, stacks)), total, (), stopped=True)
        found.seen_in(stacks)
        if free := found.unheld():
            found.guess(await guard_holders(self._ways.requests, stacks, free))
        return found.stopped(stacks, await self._names(found, stacks), total)

    async def _waits(self, origin: Origin) -> "_Waits | None":
        """Return what the kernel says, or a core file, with the adapter's ids."""
        words, pid, core = self._ways.profile.words, origin.process_id, self._core(origin.core_file)
        if not isinstance(words, NativeWords):
            return None
        if core is None and (origin.core_file is not None or (pid and self._host.kernel_threads(pid) is None)):
            return None
        try:
            threads = (await self._ways.requests.request("threads", {}, ThreadsBody)).threads or []
        except AdapterRefused:
            return None
        named = {tid: each.id for each in threads if (tid := words.system_thread(each.name or "")) is not None}
        kernel = core or self._host.kernel_threads(pid or next(iter(named), 0))
        if kernel is None:
            return None
        if not named and {each.id for each in threads} <= {thread.tid for thread in kernel.threads}:
            named = {thread.tid: thread.tid for thread in kernel.threads}  # lldb-dap's: of a running program not all
        return _Waits(kernel, named) if named else None

    def _core(self, path: str | None) -> KernelThreads | None:
        if path is None:
            return None
        found = self._host.query(f"threads of the core file {path}", lambda: msgspec.to_builtins(core_threads(path)))
        return msgspec.convert(found, KernelThreads | None)

    # --- Names -------------------------------------------------------------------------------------------------------

    async def _names(self, found: "_Waits", stacks: Sequence[LiveStack]) -> Mapping[int, str]:
        """Return how the code of threads names what they wait for, by the threads' ids."""
        names: dict[int, str] = {}
        asked: dict[tuple[str | None, int | None, int], str | None] = {}  # a pool waits in one line for one thing
        with trio.move_on_after(self._ways.requests.patience.seconds(NAMES_SECONDS)):
            for stack in stacks:
                wait, frame = found.wait_of(stack), next((each for each in stack.frames if each.is_user_code), None)
                if wait is None or wait.kind not in _NAMED or not wait.address or frame is None:
                    continue
                place = frame.location.file, frame.location.line, wait.address
                if place not in asked and len(asked) < _MAX_NAMED:
                    size = _CONDITION_BYTES if wait.kind == "condition" else 1
                    asked[place] = await self._name(frame, range(wait.address - size + 1, wait.address + 1))
                if (name := asked.get(place)) is not None:
                    names[stack.thread.id] = name
        return names

    async def _name(self, frame: StackFrame, addresses: range) -> str | None:
        """Return the expression in the line of a frame that is at one of these addresses, or leads there."""
        for path in self._paths(frame):
            if (await self._address(frame, f"&{path}"))[0] in addresses:
                return path
            address, kind = await self._address(frame, path)
            if address in addresses:
                return path if kind.endswith("&") or kind.startswith("&") else f"*{path}"  # a reference, of C++ or Rust
        return None

    def _paths(self, frame: StackFrame) -> list[str]:
        file, line = frame.location.file, frame.location.line
        text = None if not file or not line else self._host.query(f"line {file}:{line}", lambda: _line(file, line))
        paths: list[str] = []
        for found in _PATH.finditer(_TEXT.sub("", text or "")):
            path = found[0]
            while path:  # of `cash.lock.lock` also what it begins with
                paths.append(path)
                path = path[: max(path.rfind("."), path.rfind("->"), 0)]
        return list(dict.fromkeys(paths))[:_MAX_PATHS]

    async def _address(self, frame: StackFrame, expression: str) -> tuple[int | None, str]:
        """Return the address that is the value of an expression, and its type as far as that is known."""
        commands = self._ways.profile.repl.safe_commands(expression)
        try:
            value, kind = await by_commands(self._ways.requests, frame, expression, commands, NAMES_SECONDS)
        except DebugError:
            return None, ""
        found = _ADDRESS.match(value)
        return None if found is None else int(found[1], 16), kind or ""


class _Waits:
    """What the kernel says, with the adapter's ids of threads."""

    def __init__(self, kernel: KernelThreads, ids: Mapping[int, int]) -> None:
        self._kernel = kernel
        self._ids = ids
        self._guesses: Mapping[int, int] = {}
        self._threads = {ids[thread.tid]: thread for thread in kernel.threads if thread.tid in ids}

    def seen_in(self, stacks: Sequence[LiveStack]) -> None:
        """Take into account in which functions the threads are."""
        for stack in stacks:
            thread = self._threads.get(stack.thread.id)
            if thread is not None and thread.wait is not None and stack.frames:
                inner = takewhile(lambda frame: not frame.is_user_code, stack.frames)
                wait = seen_in(thread.wait, [frame.label or frame.name for frame in inner])
                self._threads[stack.thread.id] = replace(thread, wait=wait)

    def wait_of(self, stack: LiveStack) -> KernelWait | None:
        """Return what a thread waits for."""
        thread = self._threads.get(stack.thread.id)
        return None if thread is None else thread.wait

    def unheld(self) -> set[int]:
        """Return the addresses of mutexes that do not say who has them: those of Rust."""
        waits = [thread.wait for thread in self._threads.values() if thread.wait is not None]
        return {wait.address for wait in waits if wait.kind == "mutex" and wait.owner is wait.gone is None}

    def guess(self, holders: Mapping[int, int]) -> None:
        """Take it that the mutexes at these addresses are held by threads with these ids."""
        self._guesses = {address: self._threads[each].tid for address, each in holders.items() if each in self._threads}

    def running(self) -> NativeLook:
        """Return what is known without frames."""
        stacks = [
            LiveStack(LiveThread(each, name_of(thread.name), "waiting" if thread.wait else "running"), (), 0)
            for each, thread in sorted(self._threads.items())
        ]
        return self._look(stacks, {}, self._kernel.total, stopped=False)

    def stopped(self, stacks: Sequence[LiveStack], names: Mapping[int, str], total: int) -> NativeLook:
        """Return the threads at a stop with their places."""
        return self._look([_placed(stack) for stack in stacks], names, total, stopped=True)

    def _look(self, stacks: Sequence[LiveStack], names: Mapping[int, str], total: int, *, stopped: bool) -> NativeLook:
        waiting = tuple(
            replace(stack, thread=replace(stack.thread, waits=self._words(stack, names), kind=wait and wait.kind))
            for stack in stacks
            for wait in (self.wait_of(stack),)
        )
        return NativeLook(waiting, total, tuple(self._deadlocks()), stopped)

    def _words(self, stack: LiveStack, names: Mapping[int, str]) -> str | None:
        wait = self.wait_of(stack)
        if wait is None:
            return None
        kind = wait.kind
        if kind == "join" and wait.owner is not None:
            return f"the end of {self._thread(wait.owner)}"
        what = _WORDS.get(kind, wait.words)
        name = names.get(stack.thread.id)
        if kind in _NAMED:
            where = f"its futex at {wait.address:#x}" if kind == "condition" else f"{wait.address:#x}"
            what += f" `{name}` ({where})" if name else f" ({where})"
        if wait.owner is not None:
            what += f", held by {self._thread(wait.owner)}"
        elif wait.address in self._guesses:
            what += f", probably held by {self._thread(self._guesses[wait.address])}"
        elif wait.gone is not None:
            what += f", held by thread {wait.gone} of the system, which is none of this process any more"
        return what + (", with a time limit" if wait.timed and kind != "timed" else "")

    def _thread(self, tid: int) -> str:
        each = self._ids.get(tid)
        thread: KernelThread | None = None if each is None else self._threads.get(each)
        return f"thread {tid} of the system" if thread is None else f"thread {each} {name_of(thread.name)}".rstrip()

    def _deadlocks(self) -> Sequence[Deadlock]:
        waits = {thread.tid: thread.wait for thread in self._threads.values() if thread.wait is not None}
        guessed = {tid: replace(wait, owner=self._guesses.get(wait.address, wait.owner)) for tid, wait in waits.items()}
        known = circles(waits)
        sure = [circle for circle in self._kernel.circles if circle in known]
        probable = [circle for circle in circles(guessed) if self._guesses and circle not in known]
        return [
            Deadlock(
                tuple(self._ids[tid] for tid in circle),
                sure=circle in sure,
                timed=any(waits[tid].timed for tid in circle),
            )
            for circle in (*sure, *probable)
        ]


def _placed(stack: LiveStack) -> LiveStack:
    """Return a stack whose thread is at its innermost frame in the user's code, or else at its top."""
    at = next((frame for frame in stack.frames if frame.is_user_code), stack.frames[0] if stack.frames else None)
    return stack if at is None else replace(stack, thread=replace(stack.thread, location=at.location))


def _line(file: str, line: int) -> str | None:
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as lines:
            return next((text for number, text in enumerate(lines, 1) if number == line), None)
    except OSError:
        return None
