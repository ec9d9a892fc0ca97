"""`ConfiguredTasks`: the tasks of tasks.json around one session: what runs before it, beside it, and after it.

    tasks = ConfiguredTasks(host, watchdog, nursery, before=build, after=None)
    await tasks.run_before(seconds=30)      # those that stay in the background are ready now
    tasks.connect(console)                  # what they have written, and what they write from now on
    await tasks.run_after()                 # those in the background are ended, and `after` is run

Every process is one of a process session that ends with its task, at the latest with the server.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import trio

from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.profiles.starts import Attach, Launch, Start
from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.task_definitions import Task, TaskCommand
from trio_debugmcp.session.background import finished_even_if_cancelled
from trio_debugmcp.session.before.task_processes import run_task_process, wait_listening
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.state.payloads import end_of, shortened

AFTER_SECONDS = 60.0
"""For the task after a session, for which no call waits."""

CLOSING_SECONDS = 5.0
"""The same when the server ends, for which its client may wait."""

_KEPT_LENGTH = 256 * 1024
"""Characters of output that are kept until there is a session whose console takes them; the oldest go first."""

_DETAILS_LENGTH = 4000
"""Characters of a failed task's output in the details of the error."""


class ConfiguredTasks:
    """The tasks around one session, and what they write.

    Args:
        nursery: runs the tasks that stay in the background, and outlives every session.
        before, after: what runs before the session and after it, with all that these need.

    Attributes:
        over: the session is over, and what comes after it.
        together: those of sessions that a client ends together with this one.
    """

    def __init__(
        self, host: Host, watchdog: Watchdog, nursery: trio.Nursery, *, before: Task | None, after: Task | None
    ) -> None:
        self.before, self.after = before, after
        self.over = trio.Event()
        self.together: list[ConfiguredTasks] = []
        self._host = host
        self._watchdog = watchdog
        self._patience = watchdog.patience
        self._nursery = nursery
        self._console: Console | None = None
        self._kept: deque[str] = deque()
        self._length = 0
        self._staying: list[tuple[trio.CancelScope, trio.Event]] = []
        self._begun = False

    def __repr__(self) -> str:
        return (
            f"<ConfiguredTasks before={self.before and self.before.label!r} after={self.after and self.after.label!r}>"
        )

    # --- Life ------------------------------------------------------------------------------------------------

    async def run_before(self, seconds: float) -> list[str]:
        """Run what comes before the session; returns notes about it. Cancelling ends everything that was started.

        Raises:
            UsageError: `LAUNCH_FAILED`: a task cannot run, or fails; `TIMEOUT`.
        """
        self._console, self._begun = None, False
        self._kept.clear()
        self._length = 0
        if self.before is None:
            return []
        before, notes = self.before, list[str]()

        async def ask() -> list[object]:
            await self._run_within(before, seconds, notes)
            return [self.written(), notes]

        try:
            written, notes = await self._host.find_out(f"tasks before: {before.label}", ask)  # type: ignore[assignment]
        except BaseException:
            with trio.move_on_after(self._patience.seconds(CLOSING_SECONDS), shield=True):
                await self._end_staying()
            raise
        if not self._kept:  # in a replay, where nothing ran
            self._write(str(written))
        return notes

    def connect(self, console: Console) -> None:
        """Write to that console what was written so far, and what is written from now on."""
        console.append("console", self.written())
        self._console, self._begun = console, True
        self._kept.clear()

    @asynccontextmanager
    async def begun(self, seconds: float) -> AsyncIterator[list[str]]:
        """Run what comes before the session that the block starts; yields notes about it.

        Resource handling: if the block starts no session, what has stayed in the background ends with it.

        Raises:
            UsageError: as `run_before`.
        """
        notes = await self.run_before(seconds)
        try:
            yield notes
        finally:
            if not self._begun and not self.over.is_set():
                with trio.move_on_after(self._patience.seconds(CLOSING_SECONDS), shield=True):
                    await self._end_staying()

    async def run_after(self) -> None:
        """End what has stayed in the background, and run what comes after. Failures are written to the console."""
        if not self._begun:
            return
        self._begun = False
        try:
            await self._end_staying()
            if self.after is not None:
                await self._run_after(self.after)
        finally:
            self.over.set()

    async def _run_after(self, after: Task) -> None:

        async def ask() -> str:
            try:
                await self._run_within(after, self._patience.seconds(AFTER_SECONDS), [])
            except UsageError as error:
                self._write(f"{error.message}\n")
            return ""

        # It may clean up: a server that ends gives it a little time, too.
        await finished_even_if_cancelled(
            lambda: self._host.find_out(f"task after: {after.label}", ask), self._patience.seconds(CLOSING_SECONDS)
        )

    def written(self) -> str:
        """Return what was written before there was a console."""
        return "".join(self._kept)

    def _write(self, text: str) -> None:
        if self._console is not None:
            self._console.append("console", text)
            return
        self._kept.append(text)
        self._length += len(text)
        while self._length > _KEPT_LENGTH and len(self._kept) > 1:
            self._length -= len(self._kept.popleft())

    # --- Running ---------------------------------------------------------------------------------------------

    async def _run_within(self, task: Task, seconds: float, notes: list[str]) -> None:
        run = _Run(self, notes)
        with trio.move_on_after(seconds):
            await run.run(task)
            return
        advice = "Pass a longer timeout; a task that stays while the program runs needs `isBackground`."
        what = "did not end"
        if task.listens_at is not None:
            where = "{}:{}".format(*task.listens_at)
            what, advice = f"did not listen at {where}", "Pass the URL that it serves, or a longer timeout."
        raise UsageError(
            "TIMEOUT",
            f"The task '{run.running or task.label}' {what} within {seconds:g} s. {advice}",
            {"task": run.running or task.label, "output": shortened(self.written(), limit=_DETAILS_LENGTH)},
        )

    async def execute(self, task: Task, command: TaskCommand) -> None:
        """Run the command of a task to its end.

        Raises:
            UsageError: `LAUNCH_FAILED`.
        """
        await run_task_process(task, command, self._watchdog, self._write)

    async def stay(self, task: Task, command: TaskCommand) -> None:
        """Run the command of a task until the session is over; returns when it is ready.

        Raises:
            UsageError: `LAUNCH_FAILED`: it has ended before it was ready.
        """
        scope, over, ready = trio.CancelScope(), trio.Event(), trio.Event()
        failures: list[UsageError] = []

        async def run() -> None:
            try:
                with scope:
                    await run_task_process(task, command, self._watchdog, self._write, ready)
            except UsageError as error:
                failures.append(error)
                self._write(f"{error.message}\n")
            finally:
                over.set()
                ready.set()

        self._staying.append((scope, over))
        self._nursery.start_soon(run)
        if task.listens_at is not None:
            await wait_listening(*task.listens_at, over, self._patience)
        elif task.ready is not None:
            await ready.wait()
        if failures:
            raise failures[0]
        if task.listens_at is not None and over.is_set():
            where = "{}:{}".format(*task.listens_at)
            raise UsageError(
                "LAUNCH_FAILED",
                f"The task '{task.label}' has ended, and nothing listens at {where}. Pass a command that stays and "
                "serves.",
                {"task": task.label, "output": end_of(self.written(), _DETAILS_LENGTH)},
            )

    async def _end_staying(self) -> None:
        staying, self._staying = self._staying, []
        for scope, _ in staying:
            scope.cancel(reason="the session is over")
        with trio.move_on_after(self._patience.seconds(CLOSING_SECONDS), shield=True):
            for _, over in staying:
                await over.wait()


class _Run:
    """One run of a task with all that it needs; what several need is run once."""

    def __init__(self, tasks: ConfiguredTasks, notes: list[str]) -> None:
        self.running: str | None = None
        self._tasks = tasks
        self._notes = notes
        self._over: dict[str, trio.Event] = {}

    async def run(self, task: Task) -> None:
        """Run a task after those that it needs.

        Raises:
            UsageError: the first failure; what still ran is ended.
        """
        known = self._over.get(task.label)
        if known is not None:
            await known.wait()
            return
        over = self._over[task.label] = trio.Event()
        if task.order == "sequence":
            for need in task.needs:
                await self.run(need)
        elif task.needs:
            await self._run_together(task.needs)
        if task.command is not None:
            self.running = task.label
            if task.background:
                await self._tasks.stay(task, task.command)
                if task.ready is None and task.listens_at is None:
                    self._notes.append(
                        f"the task '{task.label}' runs in the background, and nothing says when it is ready"
                    )
            else:
                await self._tasks.execute(task, task.command)
        over.set()

    async def _run_together(self, tasks: Sequence[Task]) -> None:
        failures: list[UsageError] = []

        async def run(task: Task) -> None:
            try:
                await self.run(task)
            except UsageError as error:
                failures.append(error)
                nursery.cancel_scope.cancel(reason="a task has failed")

        async with trio.open_nursery() as nursery:
            for task in tasks:
                nursery.start_soon(run, task)
        if failures:
            raise failures[0]


class TaskRunner:
    """Makes the tasks around sessions, and runs those of a session when its time has come.

    Args:
        nursery: returns the one that outlives every session.
    """

    def __init__(self, host: Host, watchdog: Watchdog, nursery: Callable[[], trio.Nursery]) -> None:
        self._host = host
        self._watchdog = watchdog
        self._nursery = nursery

    def __repr__(self) -> str:
        return f"<TaskRunner on {self._host!r}>"

    def around(self, before: Task | None, after: Task | None) -> ConfiguredTasks:
        """Return the tasks around a session, for its `Launch` or `Attach`."""
        return ConfiguredTasks(self._host, self._watchdog, self._nursery(), before=before, after=after)

    def again(self, start: Start) -> ConfiguredTasks:
        """Return the same tasks for another session."""
        tasks = tasks_of(start)
        if tasks is None:
            return self.around(None, None)
        again = self.around(tasks.before, tasks.after)
        if tasks.together:
            again.together = tasks.together
            again.together.append(again)
        return again

    def connect(self, start: Start, console: Console) -> None:
        """Write what the tasks of a session write to its console."""
        tasks = tasks_of(start)
        if tasks is not None:
            tasks.connect(console)

    async def run_after(self, start: Start) -> None:
        """Run what comes after a session."""
        tasks = tasks_of(start)
        if tasks is not None:
            await tasks.run_after()


def tasks_of(start: Start) -> ConfiguredTasks | None:
    """Return the tasks around the session that is started so."""
    tasks = start.tasks if isinstance(start, Launch | Attach) else None
    return tasks if isinstance(tasks, ConfiguredTasks) else None
