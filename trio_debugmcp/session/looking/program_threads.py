"""`ProgramThreads`: threads and tasks of a program, with their stacks, while it is stopped, runs, waits or is blocked.

    found = await session.looking.threads.threads()
    found.source            # "probe", or another source; `failure` says why

Of a program that is silent py-spy shows the threads, where it is installed. Without it they are as of the last stop.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import (
    BlockedProcess,
    Deadlock,
    Frames,
    PipeHolders,
    ProbeFrame,
    ProbeStack,
    ProbeStacks,
    ProbeThreads,
    ProcessMarks,
    ProcessorUse,
    SharedLock,
    Tasks,
)
from trio_debugmcp.session.looking.by_adapter.adapter_stacks import adapter_stacks
from trio_debugmcp.session.looking.by_probe.live_threads import (
    ALL_FRAMES,
    LiveStack,
    LiveState,
    LiveThread,
    TaskList,
    last_thread,
    live_frame,
    live_task,
    live_thread,
    locals_of,
    thread_in_words,
)
from trio_debugmcp.session.looking.by_probe.program_probe import MAX_SIZE, MAX_THREADS
from trio_debugmcp.session.looking.from_outside.outside import Outside
from trio_debugmcp.session.looking.from_outside.silence import About, Unanswered, no_task_known, no_thread
from trio_debugmcp.session.looking.machine_code.native_threads import NativeThreads
from trio_debugmcp.session.looking.variables import FramePlace
from trio_debugmcp.session.looking.ways import Seen, Ways
from trio_debugmcp.session.not_paused import not_paused
from trio_debugmcp.state.model import Locals, StackFrame

Source = Literal["probe", "outside", "adapter", "kernel", "stop"]
"""Where an answer is from: the probe, py-spy, the adapter, only /proc, or the last stop."""


class ThreadList(Struct, frozen=True):
    """Threads, how many there are, and which of them wait for each other.

    Attributes:
        failure: why it is not from the probe.
    """

    source: Source
    threads: tuple[LiveThread, ...]
    total: int
    deadlocks: tuple[Deadlock, ...] = ()
    failure: Unanswered | None = None

    @property
    def wait_in_loops(self) -> bool:
        """Whether a thread of them waits for the events of asyncio or Trio."""
        return any(thread.kind in ("asyncio", "trio") for thread in self.threads)


class StackList(Struct, frozen=True):
    """The stacks of threads, of which there are `total`; the rest as of `ThreadList`.

    Attributes:
        marks: of its process, and `used`: processor time so far, if they were asked for.
        shared: the locks in shared memory that the process uses, if they were asked for and it may have some;
            `shared_omitted`: how many more there may be.
        blocked: which of its threads the kernel has blocked, if it was asked and says it.
    """

    source: Source
    stacks: tuple[LiveStack, ...] = ()
    total: int = 0
    failure: Unanswered | None = None
    deadlocks: tuple[Deadlock, ...] = ()
    marks: ProcessMarks | None = None
    used: ProcessorUse | None = None
    shared: tuple[SharedLock, ...] | None = None
    shared_omitted: int = 0
    blocked: BlockedProcess | None = None


class StackPage(Struct, frozen=True):
    """Frames of one thread, and how many it has; `state`: of a thread that the adapter was not asked about.

    `hidden`: how many frames of which packages are left out.
    """

    frames: tuple[StackFrame, ...]
    total: int
    locals: tuple[Locals, ...] = ()
    state: LiveState | None = None
    hidden: Mapping[str, int] = {}


class ProgramThreads:
    """The threads of one session's program."""

    def __init__(self, ways: Ways, native: NativeThreads) -> None:
        self._ways = ways
        self._native = native

    def __repr__(self) -> str:
        return f"<ProgramThreads of {self._ways.requests.session_id}>"

    @property
    def are_native(self) -> bool:
        """Whether they are the kernel's, which a pause stops wherever they are, and of which it says what they do."""
        return self._native.are_here

    # --- Threads ---------------------------------------------------------------------------------------------

    async def threads(self, *, from_outside: bool = True) -> ThreadList:
        """Return where the threads are, by the best way there is. `from_outside`: also by py-spy.

        Raises:
            UsageError: `NO_SESSION`: it has ended.
        """
        native = await self._native.look()
        if native is not None:
            threads = tuple(stack.thread for stack in native.stacks)
            return ThreadList("adapter" if native.stopped else "kernel", threads, native.total, native.deadlocks)

        async def ask() -> ProbeThreads:
            return await self._ways.probe.ask("threads", ProbeThreads, count=MAX_THREADS, size=MAX_SIZE)

        found = await (self._ways.probed_or_seen(ask) if from_outside else self._ways.probed_alone(ask, looks=False))
        if isinstance(found, ProbeThreads):
            return ThreadList("probe", tuple(map(live_thread, found.threads)), found.total, found.deadlocks)
        if found.outside is not None:
            seen = tuple(stack.thread for stack in _stacks_from_outside(found.outside, found.failure))
            return ThreadList("outside", seen, len(seen), failure=found.failure)
        last = tuple(map(last_thread, self._ways.snapshot.threads.threads))
        return ThreadList("stop", last, len(last), failure=found.failure)

    async def check_steppable(self, thread_id: int, stopped: int) -> None:
        """Refuse to step another thread than the one that has `stopped`, unless it is stopped as well.

        debugpy agrees to step one that is not, and then nothing moves any more.

        Raises:
            UsageError: `INVALID_THREAD`.
        """
        if thread_id == stopped or not self._ways.has_probe:
            return
        found = await self.threads(from_outside=False)
        if found.failure is not None:
            problem = f"It is not known whether thread {thread_id} can be stepped: {found.failure.reason}"
        else:
            thread = next((thread for thread in found.threads if thread.id == thread_id), None)
            if thread is not None and thread.state == "stopped":
                return
            gone = f"There is no thread {thread_id} any more"
            where = gone if thread is None else f"T{thread_in_words(thread)[1:]}"
            problem = f"{where}: it is not stopped in Python code, so it cannot be stepped"
        raise UsageError(
            "INVALID_THREAD",
            f"{problem}. Step thread {stopped}, or set a breakpoint where thread {thread_id} returns to and continue.",
            {"thread": thread_id, "stopped": stopped},
        )

    # --- Stacks ----------------------------------------------------------------------------------------------

    async def stack(self, thread_id: int | None, start: int, count: int, *, with_locals: bool = False) -> StackPage:
        """Return frames of a thread; without an id of the one that stopped, or the main one.

        Raises:
            UsageError: `INVALID_THREAD`, `NOT_PAUSED` or `NOT_SUPPORTED`: its stack is not known.
        """
        ways, snapshot = self._ways, self._ways.snapshot
        if snapshot.phase == "Paused":
            thread_id = snapshot.active_thread(thread_id)  # of several that are stopped, the active one
            if not with_locals:
                frames, total = await ways.frames.fetch(snapshot, thread_id, start, count)
                stack = snapshot.stack
                known = stack.locals if thread_id == stack.thread_id else None
                return StackPage(tuple(frames), total, hidden={} if known is None else known.hidden)

        async def ask() -> StackPage:
            threads = await ways.probe.ask("threads", ProbeThreads, count=MAX_THREADS, size=MAX_SIZE)
            found = await ways.probe.ask(
                "frames", Frames, thread=thread_id, start=start, count=count, locals=with_locals
            )
            own = next((thread for thread in threads.threads if thread.id == found.thread), None)
            state = "unknown" if own is None else live_thread(own).state
            shown, values = tuple(map(live_frame, found.frames)), self._locals(found.frames)
            return StackPage(shown, found.total, values, state, found.hidden)

        found = await ways.probed_alone(ask)
        if isinstance(found, Seen):
            raise self._unknown_stack(found.failure)
        return found

    async def stack_of_task(self, task: str, start: int, count: int, *, with_locals: bool) -> StackPage:
        """Return frames of a task, the innermost first, while the program runs or is stopped.

        Raises:
            UsageError: `INVALID_PARAMETER`: there is no such task; `NOT_SUPPORTED`: no way leads to tasks.
        """
        ask = partial(self._ways.probe.ask, "frames", Frames, task=task, start=start, count=count, locals=with_locals)
        found = await self._ways.probed(ask, About(f"task {task}", FramePlace(0, 0, task)))
        if isinstance(found, Unanswered):
            raise no_task_known(task, found.reason, self._ways.profile.name)
        state: LiveState = "running" if found.state == "running" else "waiting"
        return StackPage(tuple(map(live_frame, found.frames)), found.total, self._locals(found.frames), state)

    def _unknown_stack(self, failure: Unanswered) -> UsageError:
        """Return the error of a stack that only the probe knows, and which it did not tell."""
        snapshot = self._ways.snapshot
        if failure.kind == "thread":
            return no_thread(failure.text)
        if snapshot.phase == "Paused":
            return UsageError(
                "NOT_SUPPORTED",
                f"The variables of all frames are not known: {failure.reason}. Ask without locals, and then "
                "variables_get for each frame that matters.",
                {"adapter": self._ways.profile.name},
            )
        refusal = not_paused(snapshot)
        if not self._ways.has_probe:
            return refusal
        return UsageError(refusal.code, f"Its stack is not known: {failure.reason}. {refusal.message}", refusal.details)

    async def stacks(self, most: int, *, with_locals: bool = False, of_process: bool = False) -> StackList:
        """Return the stacks of all threads, at most so many frames of each, by the best way there is.

        `of_process`: with what the process says of itself.
        """
        ways, snapshot, most = self._ways, self._ways.requests.snapshot, min(most, ALL_FRAMES)
        if not ways.has_probe and snapshot is not None and snapshot.phase == "Paused":
            native = await self._native.look(most)
            if native is not None:
                return StackList("adapter", native.stacks, native.total, deadlocks=native.deadlocks)
            stacks = await adapter_stacks(ways, snapshot, most)
            return StackList("adapter", stacks, len(snapshot.threads.threads))

        async def ask() -> ProbeStacks:
            size = None if with_locals else MAX_SIZE  # with locals, equal stacks are not merged
            return await ways.probe.ask(
                "stacks",
                ProbeStacks,
                count=MAX_THREADS,
                frames=most,
                locals=with_locals,
                size=size,
                process=of_process or None,
            )

        found = await ways.probed_or_seen(ask)
        if isinstance(found, ProbeStacks):
            stacks = tuple(map(self._stack, found.stacks))
            return StackList(
                "probe",
                stacks,
                found.total,
                deadlocks=found.deadlocks,
                marks=found.marks,
                used=found.used,
                shared=found.shared,
                shared_omitted=found.shared_omitted,
                blocked=found.blocked,
            )
        if found.outside is None:
            return StackList("stop", failure=found.failure)
        seen = _stacks_from_outside(found.outside, found.failure)
        cut = tuple(replace(stack, frames=stack.frames[:most]) for stack in seen)
        return StackList("outside", cut, len(cut), found.failure)

    async def processor_use(self) -> ProcessorUse | None:
        """Return how much processor time the process has used so far; None where it does not say."""
        return await self._ways.probe.quietly("used", ProcessorUse)

    async def pipe_holders(self, pipes: Sequence[str], among: Sequence[int]) -> PipeHolders | None:
        """Return which processes of its machine have an end of these pipes, in which those `among` them wait."""
        return await self._ways.probe.quietly("holders", PipeHolders, pipes=list(pipes), among=list(among))

    def _stack(self, stack: ProbeStack) -> LiveStack:
        frames = tuple(map(live_frame, stack.frames))
        return LiveStack(live_thread(stack), frames, stack.total, self._locals(stack.frames), stack.hidden)

    def _locals(self, frames: Sequence[ProbeFrame]) -> tuple[Locals, ...]:
        is_path = self._ways.profile.expressions.is_path
        return tuple(locals_of(frame, is_path) for frame in frames)

    # --- Tasks -----------------------------------------------------------------------------------------------

    async def tasks(self, start: int, count: int, *, with_locals: bool = False) -> TaskList:
        """Return the tasks of asyncio and Trio, a page of them, with the variables of the user's frames if asked.

        Raises:
            UsageError: `NOT_SUPPORTED`: they are not known.
        """
        found = await self._ways.probed_alone(
            partial(self._ways.probe.ask, "tasks", Tasks, start=start, count=count, locals=with_locals or None)
        )
        if isinstance(found, Tasks):
            is_path = self._ways.profile.expressions.is_path
            return TaskList(tuple(live_task(task, is_path) for task in found.tasks), found.total, found.notes)
        raise UsageError(
            "NOT_SUPPORTED",
            f"The tasks of this program are not known: {found.failure.reason}. Look at its threads with threads_list.",
            {"adapter": self._ways.profile.name},
        )


def _stacks_from_outside(seen: Outside, failure: Unanswered) -> tuple[LiveStack, ...]:
    """Return what was seen of a program that is silent; in one that is held as a whole no thread waits for anything."""
    if failure.silence is None or not failure.silence.is_held:
        return seen.stacks
    return tuple(replace(each, thread=replace(each.thread, state="stopped", waits=None)) for each in seen.stacks)
