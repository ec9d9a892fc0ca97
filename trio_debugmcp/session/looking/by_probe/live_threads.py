"""Threads and tasks at a moment, as the probe, py-spy, the adapter or the last stop has them. Pure.

    thread = live_thread(answer.threads[0])
    thread.location, thread.waits       # `self.lock, held by thread 2 payer`

The place of a thread is the innermost one in the user's code, where there is one.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from trio_debugmcp.probe.answers import ProbeFrame, ProbePlace, ProbeTask, ProbeThread, ThreadWait
from trio_debugmcp.session.looking.variables import probe_variable
from trio_debugmcp.state.model import Locals, StackFrame, Thread
from trio_debugmcp.state.payloads import Location, name_of, printable

LiveState = Literal["stopped", "waiting", "running", "exited", "unknown"]
"""`waiting`: in C code, so that it cannot be stepped. `unknown`: it was not found out."""

_STATES: dict[str, LiveState] = {
    "stopped": "stopped",
    "waiting": "waiting",
    "running": "running",
    "Suspended": "stopped",
    "Running": "running",
    "Exited": "exited",
}
"""The words of the probe and of the state."""

_KINDS = {
    "asyncio": "the events of its asyncio loop",
    "trio": "the events of its Trio run",
    "worker": "work: it is idle",
    "exit": "the other threads to end",
    "io": "input or output",
    "sleep": "some time to pass",
    "process": "a process",
    **{kind: f"a {kind}" for kind in ("lock", "queue", "condition", "barrier", "semaphore", "future", "signal")},
    "event": "an event",
    "file": "a file lock",
    "join": "a thread to end",
}
"""What is waited for, by kind, where no expression of the program is known."""


_DETAILED = ("queue", "process", "barrier", "future", "file")
"""What has a state or a number that is shown: `jobs.get, 0 items`."""

_ENDS = {"join": "the end of", "future": "run by"}
"""How the thread is named for which another waits."""


ALL_FRAMES = 20
"""Frames of each thread in a view of all stacks."""


class LiveThread(Struct, frozen=True):
    """A thread. `waits`: what for, in words, and who holds it, as far as is known; `kind`: of what it waits for.

    `holder`: the thread of the same process that has it.
    """

    id: int
    name: str
    state: LiveState
    location: Location | None = None
    waits: str | None = None
    kind: str | None = None
    holder: int | None = None


class LiveStack(Struct, frozen=True):
    """A thread with its frames from the top, of which there are `total`; `locals` of each, if they were asked for.

    `hidden`: how many frames of which packages are left out.
    """

    thread: LiveThread
    frames: tuple[StackFrame, ...]
    total: int
    locals: tuple[Locals, ...] = ()
    hidden: Mapping[str, int] = {}


class LiveTask(Struct, frozen=True):
    """A task of asyncio or of Trio; its frames begin with its coroutine, and end with the innermost that it awaits.

    Attributes:
        indexes: of its frames, from the innermost, which is 0; `omitted` frames are missing between them.
        locals: of those of its frames whose locals were asked for, by their indexes.
    """

    name: str
    state: str
    frames: tuple[StackFrame, ...]
    waits: str | None = None
    depth: int = 0
    library: str = ""
    thread_id: int | None = None
    indexes: tuple[int, ...] = ()
    omitted: int = 0
    locals: Mapping[int, Locals] = {}


class TaskList(Struct, frozen=True):
    """Tasks, a tree in order of its nurseries, and how many there are."""

    tasks: tuple[LiveTask, ...]
    total: int
    notes: tuple[str, ...] = ()


# --- From the probe ---------------------------------------------------------------------------------------------------


def live_thread(thread: ProbeThread) -> LiveThread:
    """Return a thread of the probe's."""
    at = thread.at and (thread.at.from_ or thread.at)
    return LiveThread(
        thread.id,
        name_of(thread.name),
        _STATES.get(thread.state, "unknown"),
        None if at is None else location_of(at),
        None if thread.waits is None else waits_for(thread.waits),
        None if thread.waits is None else thread.waits.kind,
        None if thread.waits is None or thread.waits.holder is None else thread.waits.holder.thread,
    )


def waits_for(waits: ThreadWait) -> str:
    """Return what a thread waits for, and who holds it as far as that is known."""
    what = printable(waits.what or "") or _KINDS.get(waits.kind, waits.kind)
    if waits.detail and waits.kind in _DETAILED:
        what += f", {printable(waits.detail)}"
    if waits.holder is None:
        return what
    if waits.kind in _ENDS:
        return f"{what}, {_ENDS[waits.kind]} thread {waits.holder.thread} {name_of(waits.holder.name)}".rstrip()
    sure = "" if waits.holder.sure else "probably "
    return f"{what}, {sure}held by thread {waits.holder.thread} {name_of(waits.holder.name)}".rstrip()


def at_breakpoint(thread: ProbeThread) -> str:
    """Return which thread came to a breakpoint while an evaluation had it run, and waits there."""
    place = "" if thread.at is None else f" at {thread.at.file}:{thread.at.line}"
    which = f"thread {thread.id} {name_of(thread.name)}"
    return f"{which}, which is held at a breakpoint{place}: debug_continue stops there"


def location_of(place: ProbePlace) -> Location:
    """Return a place of the probe's."""
    return Location(place.file, place.line, None, place.qualname or place.function, None)


def live_frame(place: ProbePlace) -> StackFrame:
    """Return a frame of the probe's, with the name of its class. It is not of a stop, so its id leads nowhere."""
    return StackFrame(0, name_of(place.qualname or place.function), location_of(place), not place.library)


def locals_of(frame: ProbeFrame, is_path: Callable[[str], bool]) -> Locals:
    """Return the locals of a frame of the probe's."""
    return Locals(variables=tuple(probe_variable(local, is_path) for local in frame.locals), total=frame.locals_total)


def live_task(task: ProbeTask, is_path: Callable[[str], bool]) -> LiveTask:
    """Return a task of the probe's."""
    blocked_in = "" if task.blocked_in is None else f", its thread waits for {waits_for(task.blocked_in)}"
    return LiveTask(
        task.name,
        f"{task.state}{blocked_in}",
        tuple(map(live_frame, task.chain)),
        task.waits,
        task.depth,
        task.library,
        task.thread,
        tuple(frame.index for frame in task.chain),
        task.chain_omitted,
        {frame.index: locals_of(frame, is_path) for frame in task.chain if frame.locals_total},
    )


# --- From the state ---------------------------------------------------------------------------------------------------


def last_thread(thread: Thread) -> LiveThread:
    """Return a thread as of the last stop, or of an event since."""
    return LiveThread(thread.id, name_of(thread.name or ""), _STATES[thread.state], thread.location)


def thread_in_words(thread: LiveThread) -> str:
    """Return where a thread is and what it waits for: `thread 7 worker waits for jobs.get, at /app/a.py:3 in work`."""
    state = "waits" if thread.state == "waiting" else f"is {thread.state}"
    line = f"thread {thread.id} {thread.name} "
    line += state if thread.waits is None else f"waits for {thread.waits}"
    place = thread.location
    return line if place is None else f"{line}, at {place.file}:{place.line} in {place.function_name}"
