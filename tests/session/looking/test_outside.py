"""What py-spy sees of a program that does not answer (looking/from_outside/py_spy.py, outside.py and ways.py)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from tests.server.scene import launch
from trio_debugmcp.dap.profiles import Attach, Launch, Listen
from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.by_probe.program_probe import PROBE_SECONDS
from trio_debugmcp.session.looking.from_outside.outside import stacks_of
from trio_debugmcp.session.looking.from_outside.process_sample import ProcessSample
from trio_debugmcp.session.looking.from_outside.program_process import AGAIN_SECONDS
from trio_debugmcp.session.looking.from_outside.py_spy import CannotLook, dump
from trio_debugmcp.session.looking.ways import LOOK_AFTER_SECONDS
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.testing.fake_adapter import ProbedProfile

PYDEVD = "/site/debugpy/_vendored/pydevd/"


def frame(name: str, file: str, line: int) -> dict[str, Any]:
    return {"name": name, "filename": file, "line": line, "module": None, "locals": None}


def seen(name: str, *frames: dict[str, Any], gil: bool = False, active: bool = False) -> dict[str, Any]:
    return {
        "os_thread_id": 4711 if gil else 4712,
        "thread_id": 9,
        "thread_name": name,
        "owns_gil": gil,
        "active": active,
        "frames": frames,
    }


MAIN = seen(
    "MainThread",
    frame("trace", f"{PYDEVD}pydevd_trace.py", 1),
    frame("join", "/usr/lib/python3.11/threading.py", 7),
    frame("Job.run", "/src/app.py", 5),
    frame("_run_code", f"{PYDEVD}_pydevd_bundle/pydevd_runpy.py", 118),
    frame("_run_module_as_main", "<frozen runpy>", 198),
    gil=True,
)
OTHER = seen("other", frame("doze", "/src/app.py", 3))
READER = seen(
    "pydevd.Reader",
    frame("wait", "/usr/lib/python3.11/threading.py", 3),
    frame("run", f"{PYDEVD}_pydevd_bundle/pydevd_daemon_thread.py", 53),
)
BARE = seen("bare", frame("_run_code", f"{PYDEVD}_pydevd_bundle/pydevd_runpy.py", 118))


def test_stacks_are_without_the_debuggers_own_frames_and_threads() -> None:
    found = stacks_of(json.dumps([READER, MAIN, OTHER, BARE]).encode(), {"MainThread": 1})
    main, other = found.stacks
    assert (main.thread.id, other.thread.id) == (1, 4712)
    assert [(each.name, each.location.line, each.is_user_code) for each in main.frames] == [
        ("join", 7, False),
        ("Job.run", 5, True),
    ]
    assert main.thread.location is not None
    assert (main.thread.location.function_name, main.total) == ("Job.run", 2)
    assert (main.thread.state, other.thread.state) == ("running", "waiting")
    assert found.holder is main
    unkept = stacks_of(json.dumps([seen("busy", *OTHER["frames"], active=True)]).encode(), {})
    assert (unkept.holder, unkept.stacks[0].thread.state) == (None, "running")


def test_a_thread_that_the_debugger_holds_is_stopped_where_the_program_is() -> None:
    held = [
        frame("Event.wait", "/usr/lib/python3.11/threading.py", 629),
        frame("PyDB._do_wait_suspend", f"{PYDEVD}pydevd.py", 2328),
        frame("PyDB.do_wait_suspend", f"{PYDEVD}pydevd.py", 2259),
    ]
    work = [frame("work", "/src/app.py", 5), frame("Thread.run", "/usr/lib/python3.11/threading.py", 982)]
    (stack,) = stacks_of(json.dumps([seen("worker", *held, *work)]).encode(), {}).stacks
    assert ([each.name for each in stack.frames], stack.thread.state) == (["work", "Thread.run"], "stopped")
    # An evaluation at that stop runs code of the program.
    shown = [frame("Order.__repr__", "/src/app.py", 9), frame("evaluate", f"{PYDEVD}pydevd_vars.py", 1)]
    (stack,) = stacks_of(json.dumps([seen("worker", *shown, *held, *work)]).encode(), {}).stacks
    assert ([each.name for each in stack.frames], stack.thread.state) == (["Order.__repr__"], "waiting")


def test_under_our_engine_the_same_is_seen_also_where_the_program_has_not_imported_threading() -> None:
    def unnamed(number: int, *frames: dict[str, Any]) -> dict[str, Any]:
        return {**seen("", *frames), "pid": 4710, "os_thread_id": number, "thread_name": None}

    held = [
        frame("Inbox.take", "<trio_debugmcp>/thread_records.py", 40),
        frame("HeldThreads._serve", "<trio_debugmcp>/held_threads.py", 125),
        frame("EventDispatch._on_line", "<trio_debugmcp>/event_dispatch.py", 97),
    ]
    threads = [
        unnamed(4713, frame("ReaderThread._run", "<trio_debugmcp>/reader_thread.py", 41)),
        unnamed(4710, *held, frame("<module>", "/src/app.py", 2)),
        unnamed(4712, frame("work", "/src/app.py", 7)),
    ]
    main, other = stacks_of(json.dumps(threads).encode(), {"MainThread": 1}).stacks
    assert (main.thread.id, main.thread.name, main.thread.state) == (1, "MainThread", "stopped")
    assert [each.name for each in main.frames] == ["<module>"]
    assert (other.thread.id, other.thread.name) == (4712, "")


@pytest.mark.parametrize("written", [b"", b"{}", b'[{"frames": 5}]', b"[" * 100_000])
def test_what_is_not_from_py_spy_is_refused(written: bytes) -> None:
    with pytest.raises(CannotLook, match="cannot be read"):
        stacks_of(written, {})


# --- Running it -------------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a script in the place of py-spy."""
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def install(script: str) -> None:
        file = tmp_path / "py-spy"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    return install


@pytest.mark.real
async def test_py_spy_is_asked_for_json_and_does_not_stop_the_program(installed: Any) -> None:
    installed('echo "$@"')
    assert await dump(5, USUAL) == b"dump --json --nonblocking --pid 5\n"


@pytest.mark.real
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'Error: Permission Denied: Try running again' >&2; exit 1", "ptrace_scope to 0"),
        ("printf 'Error: Operation not permitted\\n\\nStack backtrace:\\n 0: x' >&2; exit 1", "CAP_SYS_PTRACE"),
        ("printf 'Error: no\\n  python\\n\\nStack backtrace:\\n 0: x' >&2; exit 1", "py-spy failed: Error: no python$"),
    ],
)
async def test_why_it_cannot_look_is_said(script: str, reason: str, installed: Any) -> None:
    installed(script)
    with pytest.raises(CannotLook, match=reason):
        await dump(5, USUAL)


async def test_without_it_the_extra_is_named(installed: Any) -> None:
    with pytest.raises(CannotLook, match=r"with py-spy \(`.+py-spy`\)"):
        await dump(5, USUAL)


# --- In place of the probe --------------------------------------------------------------------------------------------


class Seen(Host):
    """A machine whose py-spy answers this, and of whose processes nothing else is known."""

    def __init__(self, answer: bytes | CannotLook) -> None:
        self.answer = answer
        self.asked: list[int] = []

    def processor_seconds(self, pid: int) -> float | None:
        """Nothing is known."""
        return None

    def sample(self, pid: int) -> ProcessSample | None:
        """Nothing is known."""
        return None

    async def look_into(self, pid: int, patience: Patience) -> bytes:
        """Answer after a tenth of a second."""
        self.asked.append(pid)
        await trio.sleep(0.1)
        if isinstance(self.answer, CannotLook):
            raise self.answer
        return self.answer


class HereProfile(ProbedProfile):
    here: ClassVar[bool] = True

    def runs_here(self, start: Launch | Attach | Listen) -> bool:
        return self.here


class ElsewhereProfile(HereProfile):
    here: ClassVar[bool] = False


KEPT = json.dumps([MAIN, OTHER]).encode()


@asynccontextmanager
async def silent(host: Seen, profile: type[HereProfile] = HereProfile) -> AsyncIterator[DebugClient]:
    """A client of a program that runs, and whose probe does not answer."""
    adapter = FakeAdapter()
    adapter.probe = {"threads": {"threads": [], "total": 0}}
    options = adapter.options()
    settings = replace(options.settings, host=host, profiles=(profile(adapter),))
    async with open_server(replace(options, settings=settings)) as server, server.connect() as client:
        adapter.threads = [(5, "MainThread"), (6, "other"), (7, "other")]
        await launch(client, adapter)
        await trio.sleep(10)
        await adapter.stop("breakpoint", thread=5)
        await client.call("debug_wait")
        await client.call("debug_continue", wait=False)
        await adapter.event("process", {"name": "app.py", "systemProcessId": 77})
        await trio.sleep(1)
        adapter.withhold("evaluate")
        adapter.withhold("pause")
        yield client


async def test_threads_are_seen_from_outside_well_within_a_second(autojump_clock: MockClock) -> None:
    host = Seen(KEPT)
    async with silent(host) as client:
        start = trio.current_time()
        found = await client.call("threads_list")
        assert trio.current_time() - start == pytest.approx(LOOK_AFTER_SECONDS + 0.1 + AGAIN_SECONDS + 0.1)
        assert host.asked == [77, 77]
        assert found["threads"] == [
            "*5 MainThread /src/app.py:5 in Job.run, running",
            "4712 other /src/app.py:3 in doze, waits for the GIL or a call into C code",
        ]
        assert "omitted" not in found
        (note,) = found["notes"]
        assert note == (
            "seen from outside by py-spy, as the program does not answer: thread 5 MainThread had the GIL at two "
            "looks, at /src/app.py:5 in Job.run, which may be a call into C code that keeps it"
        )


async def test_stacks_are_seen_from_outside(autojump_clock: MockClock) -> None:
    async with silent(Seen(KEPT)) as client:
        found = await client.call("stacktrace_get", thread_id="*", count=1, locals=True)
        assert [each["frames"] for each in found["stacks"]] == [
            ["join /usr/lib/python3.11/threading.py:7 (library)", "… 1 more frame"],
            ["doze /src/app.py:3"],
        ]
        (note,) = found["notes"]
        assert note.startswith("s-1: seen from outside by py-spy")
        assert note.endswith(", without locals")


async def test_a_pause_says_what_is_seen_from_outside(autojump_clock: MockClock) -> None:
    async with silent(Seen(KEPT)) as client:
        report = await client.call("debug_pause")
        assert (report["state"], "timedOut" in report) == ("Running", False)
        (first,) = report["notes"]
        assert "MainThread had the GIL" in first
        assert "The pause stays armed" in first
        assert report["threads"] == [
            "5 MainThread /src/app.py:5 in Job.run, running",
            "4712 other /src/app.py:3 in doze, waits for the GIL or a call into C code",
        ]


async def test_if_no_thread_keeps_the_gil_the_probe_has_its_time(autojump_clock: MockClock) -> None:
    async with silent(Seen(json.dumps([OTHER]).encode())) as client:
        start = trio.current_time()
        found = await client.call("threads_list")
        assert trio.current_time() - start == pytest.approx(PROBE_SECONDS)
        assert found["notes"] == ["seen from outside by py-spy, as the program does not answer"]


class Moving(Seen):
    """A program that runs Python code and only has no turn, as on a busy machine: it is elsewhere at each look."""

    async def look_into(self, pid: int, patience: Patience) -> bytes:
        await super().look_into(pid, patience)
        here = frame("Job.run", "/src/app.py", len(self.asked))
        return json.dumps([seen("MainThread", here, gil=True), OTHER]).encode()


async def test_a_thread_that_moves_keeps_no_gil_and_the_probe_has_its_time(autojump_clock: MockClock) -> None:
    host = Moving(KEPT)
    async with silent(host) as client:
        start = trio.current_time()
        found = await client.call("threads_list")
        assert trio.current_time() - start == pytest.approx(PROBE_SECONDS, abs=AGAIN_SECONDS + 0.2)
        assert len(host.asked) >= 2
        assert found["notes"] == ["seen from outside by py-spy, as the program does not answer"]


async def test_what_cannot_be_seen_from_outside_says_why(autojump_clock: MockClock) -> None:
    async with silent(Seen(CannotLook("py-spy is not allowed"))) as client:
        found = await client.call("threads_list")
        assert "the program does not answer; py-spy is not allowed. This is the last stop" in found["notes"][0]
        report = await client.call("debug_pause")
        assert "py-spy is not allowed" in report["notes"][0]


async def test_a_process_of_another_machine_is_not_looked_at(autojump_clock: MockClock) -> None:
    host = Seen(KEPT)
    async with silent(host, ElsewhereProfile) as client:
        assert "the program does not answer" in (await client.call("threads_list"))["notes"][0]
        assert host.asked == []
