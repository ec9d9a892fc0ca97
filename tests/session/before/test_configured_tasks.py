"""The tasks around a session, with real processes: their order, their output, failures, and what is left."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from tests.dap.test_process import lives, until
from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.task_definitions import Task, TaskCommand
from trio_debugmcp.session.before import configured_tasks, task_processes
from trio_debugmcp.session.before.configured_tasks import ConfiguredTasks, TaskRunner
from trio_debugmcp.session.event_ring import Timeline
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console

pytestmark = pytest.mark.real

COLOURED = r"printf 'is \033[1mready\033[22m\n'"

STUCK = "sleep 60 & echo $! > pid; wait"

STUCK_ELSEWHERE = "setsid sh -c 'echo $$ > pid; exec sleep 60' & wait"
"""What waits is in a process session of its own."""


class NoListener:
    """No client has subscribed."""

    def resources_updated(self, *uris: object) -> None: ...

    def list_changed(self, uris: object = None) -> None: ...


class Scene:
    def __init__(self, directory: Path, watchdog: Watchdog, nursery: trio.Nursery) -> None:
        self.directory = directory
        self.runner = TaskRunner(Host(), watchdog, lambda: nursery)
        clock = Clock()
        self.console = Console(clock, Merger(NoListener(), Timeline(clock)))

    def task(self, label: str, script: str | None = None, *needs: Task, **others: object) -> Task:
        command = (
            None if script is None else TaskCommand(("/bin/sh", "-c", script), str(self.directory), {"WHO": "ann"})
        )
        return Task(label, command, needs, **others)  # type: ignore[arg-type]

    def around(self, before: Task | None, after: Task | None = None) -> ConfiguredTasks:
        return self.runner.around(before, after)

    async def run(self, before: Task, seconds: float = 20) -> str:
        tasks = self.around(before)
        async with tasks.begun(seconds):
            return tasks.written()

    async def refused(self, before: Task, seconds: float = 20) -> UsageError:
        with pytest.raises(UsageError) as caught:
            await self.run(before, seconds)
        return caught.value

    def written(self) -> str:
        """What the console has."""
        return "".join(each.text for each in self.console.entries() if each.stream == "console")

    async def process(self) -> int:
        """The id of the process that a stuck task has started."""
        file = self.directory / "pid"
        await until(lambda: file.exists() and file.read_text().endswith("\n"))
        return int(file.read_text())


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    watchdog = Watchdog()
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            yield Scene(tmp_path, watchdog, nursery)
            nursery.cancel_scope.cancel()
    watchdog.close()


async def test_a_sequence_runs_in_order_and_what_several_need_once(scene: Scene) -> None:
    setup = scene.task("setup", "echo setup for $WHO")
    first = scene.task("first", "sleep 0.1; echo first", setup)
    second = scene.task("second", "echo second >&2", setup)
    whole = scene.task("all", "echo all", first, second, order="sequence")
    assert await scene.run(whole) == "setup for ann\nfirst\nsecond\nall\n"


async def test_others_run_together(scene: Scene) -> None:
    waits = scene.task("waits", "until [ -e made ]; do sleep 0.01; done; echo waited")
    makes = scene.task("makes", "touch made")
    assert await scene.run(scene.task("all", None, waits, makes)) == "waited\n"


async def test_a_task_that_fails_ends_the_others_and_says_why(scene: Scene) -> None:
    stuck = scene.task("stuck", STUCK)
    failing = scene.task(
        "build", "until [ -s pid ]; do sleep 0.01; done; echo 'a.c:3:5: error: expected ;' >&2; echo more; exit 2"
    )
    error = await scene.refused(scene.task("all", "touch never", stuck, failing))
    assert (error.code, error.message) == (
        "LAUNCH_FAILED",
        "The task 'build' ended with exit code 2: a.c:3: expected ;. Correct it, and call debug_launch again.",
    )
    assert error.details["task"] == "build"
    assert "more" in str(error.details["output"])
    assert not lives(await scene.process())
    assert not (scene.directory / "never").exists()


async def test_a_task_that_cannot_run_says_so(scene: Scene) -> None:
    nothing = Task("nothing", TaskCommand(("no-such-program",), str(scene.directory)))
    assert (await scene.refused(nothing)).message == (
        "The task 'nothing' cannot run no-such-program: No such file or directory. Correct it, and call debug_launch "
        "again."
    )
    nowhere = Task("nowhere", TaskCommand(("true",), "/no/such/directory"))
    assert (
        "No such file or directory for the working directory /no/such/directory"
        in (await scene.refused(nowhere)).message
    )


async def test_a_task_that_does_not_end_in_time_is_ended(scene: Scene) -> None:
    error = await scene.refused(scene.task("stuck", f"echo begun; {STUCK}"), seconds=10)
    assert (error.code, error.message) == (
        "TIMEOUT",
        (
            "The task 'stuck' did not end within 10 s. Pass a longer timeout; a task that stays while the program "
            "runs needs `isBackground`."
        ),
    )
    assert error.details["output"] == "begun\n"
    assert not lives(await scene.process())


@pytest.mark.parametrize("script", [STUCK, STUCK_ELSEWHERE])
async def test_cancelling_ends_a_task_with_all_that_it_has_started(script: str, scene: Scene) -> None:
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(scene.run, scene.task("stuck", script))
            process = await scene.process()
            assert lives(process)
            scope.cancel()
    assert not lives(process)


async def test_one_that_stays_is_waited_for_until_it_is_ready_and_ended_before_what_comes_after(scene: Scene) -> None:
    server = scene.task("server", f"echo starting; sleep 0.1; {COLOURED}; echo later; {STUCK}", background=True)
    tasks = scene.around(
        scene.task("all", "echo all", replace(server, ready="^is ready$")),
        scene.task("tidy", "[ -e /proc/$(cat pid)/exe ] && echo still there; echo tidied"),
    )
    async with tasks.begun(20) as notes:
        assert notes == []
        assert "starting\nis ready\n" in tasks.written()
        tasks.connect(scene.console)
    process = await scene.process()
    assert lives(process)
    await tasks.run_after()
    assert not lives(process)
    assert scene.written().startswith("starting\nis ready\n")
    assert scene.written().endswith("tidied\n")
    assert "still there" not in scene.written()
    assert tasks.over.is_set()


async def test_one_that_stays_and_never_says_that_it_is_ready_is_noted(scene: Scene) -> None:
    tasks = scene.around(scene.task("server", STUCK, background=True))
    async with tasks.begun(20) as notes:
        assert notes == ["the task 'server' runs in the background, and nothing says when it is ready"]
        process = await scene.process()
    assert not lives(process), "the block has started no session"


async def test_one_that_fails_before_it_is_ready_fails_the_launch_and_afterwards_is_reported(scene: Scene) -> None:
    failing = scene.task("server", "echo no; exit 3", background=True, ready="ready")
    assert (await scene.refused(failing)).message.startswith("The task 'server' ended with exit code 3: no.")
    tasks = scene.around(scene.task("server", "echo ready; sleep 0.1; exit 4", background=True, ready="ready"))
    async with tasks.begun(20):
        tasks.connect(scene.console)
    await until(lambda: "exit code 4" in scene.written())
    await tasks.run_after()


async def test_a_failure_of_what_comes_after_is_in_the_console(scene: Scene) -> None:
    tasks = scene.around(None, scene.task("tidy", "exit 5"))
    async with tasks.begun(20):
        tasks.connect(scene.console)
    await tasks.run_after()
    assert "The task 'tidy' ended with exit code 5" in scene.written()
    await tasks.run_after()
    assert scene.written().count("tidy") == 1, "it runs once"


async def test_what_comes_after_is_given_a_little_time_when_the_server_ends(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configured_tasks, "CLOSING_SECONDS", 2.0)
    tidy = scene.task("tidy", "echo begun; sleep 0.2; echo tidied")
    endless = scene.task("endless", f"echo begun; {STUCK}")
    for task, end in ((tidy, "tidied\n"), (endless, "begun\n")):
        tasks = scene.around(None, task)
        tasks.connect(scene.console)
        with trio.CancelScope() as closing:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(tasks.run_after)
                closing.cancel()
        assert tasks.over.is_set()
        assert scene.written().endswith(end)
    assert not lives(await scene.process())


async def test_output_is_bounded_until_there_is_a_console(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configured_tasks, "_KEPT_LENGTH", 1000)
    monkeypatch.setattr(task_processes, "_CHUNK_BYTES", 100)
    written = await scene.run(scene.task("many", "for i in $(seq 1000); do echo $i; done"))
    assert 900 <= len(written) <= 1000
    assert written.endswith("999\n1000\n")


async def test_a_line_is_found_however_it_arrives(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_processes, "_CHUNK_BYTES", 3)
    server = scene.task("server", f"echo 'not quite'; printf 'it is ready now'; {STUCK}", background=True)
    tasks = scene.around(replace(server, ready="^it is ready"))
    async with tasks.begun(20):
        assert "it is ready" in tasks.written()


async def test_an_error_is_looked_for_at_the_end_of_the_output(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_processes, "_KEPT_LENGTH", 100)
    many = scene.task("many", "echo 'a.c:1:1: error: long ago'; for i in $(seq 1000); do echo $i; done; exit 1")
    assert "long ago" not in (await scene.refused(many)).message
