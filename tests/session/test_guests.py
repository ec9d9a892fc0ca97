"""Sessions that listen for programs that dial in, on scripted adapters: the focus, the breakpoints, and their ends."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, SESSION, failure
from tests.session.test_children import adopt
from trio_debugmcp.engine import WantedEngine
from trio_debugmcp.engine.fetched import fetching_line
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.settings import MAX_GUESTS, Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect


@asynccontextmanager
async def listening(
    engine: WantedEngine = "auto", max_guests: int = MAX_GUESTS, *, probed: bool = False, **arguments: Any
) -> AsyncIterator[tuple[DebugClient, FakeAdapter, dict[str, Any]]]:
    """A client with a session that listens, and a breakpoint. `probed`: programs that dial in have a probe."""
    door = FakeAdapter({"supportsConfigurationDoneRequest": True})
    door.probe = {} if probed else None
    host = arguments.get("host", "127.0.0.1")

    async def name() -> None:
        await door.event("process", {"name": f"{host}:5678", "startMethod": "attach"})
        await door.event("initialized")

    async def attach(arguments: object) -> dict[str, Any]:
        return {}

    door.sends_initialized = False
    door.answer("attach", attach, name)
    options = door.options()
    options = replace(options, settings=replace(options.settings, max_guests=max_guests, engine=engine))
    async with connect("legacy", options=options) as client:
        await client.call("breakpoint_set", file=door.program, line=1)
        yield client, door, await client.call("debug_listen", **arguments)


async def test_the_answer_has_the_address_a_token_and_the_line_for_the_program(autojump_clock: MockClock) -> None:
    async with listening() as (client, _, answer), listening() as (_, _, other):
        assert answer["address"] == "127.0.0.1:5678"
        assert answer["token"] != other["token"]
        assert answer["python"] == fetching_line("127.0.0.1", 5678, answer["token"])
        (note,) = answer["notes"]
        assert "pip install debugpy" in note
        assert "import sys; sys.path.append(" in note
        state = await client.call("debug_state")
        assert state == {"state": "Running", "listening": "127.0.0.1:5678, 0 connected, 0 have dialed in"}
        session = await client.read(SESSION)
        assert (session["sessionId"], session["launchMode"]) == (answer["session"], "Attach")
        assert session["listening"] == {"address": "127.0.0.1:5678", "connected": 0, "dialedIn": 0}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
async def test_on_loopback_there_is_no_warning(host: str, autojump_clock: MockClock) -> None:
    async with listening(host=host) as (_, _, answer):
        assert len(answer["notes"]) == 1
        assert answer["python"] == fetching_line(host, 5678, answer["token"])


async def test_a_server_that_has_pydevd_for_all_gives_a_line_for_debugpy(autojump_clock: MockClock) -> None:
    async with listening(engine="pydevd") as (_, _, answer):
        assert answer["python"] == (
            "import debugpy; debugpy.is_client_connected() or debugpy.connect(('127.0.0.1', 5678), "
            f"access_token='{answer['token']}')"
        )


@pytest.mark.parametrize("host", ["192.0.2.7", "worker.example", "0.0.0.0", "::"])
async def test_elsewhere_it_says_that_nothing_is_encrypted(host: str, autojump_clock: MockClock) -> None:
    async with listening(host=host) as (_, _, answer):
        assert "Nothing is encrypted: who can read this network sees the token" in answer["notes"][0]
        every = host in ("0.0.0.0", "::")
        assert len(answer["notes"]) == 2 + every
        assert answer["python"] == fetching_line(socket.gethostname() if every else host, 5678, answer["token"])


async def test_a_session_that_listens_takes_no_breakpoints_and_its_programs_do(autojump_clock: MockClock) -> None:
    async with listening() as (client, door, _):
        await client.call("breakpoint_set", file=door.program, line=2)
        assert not door.sent("setBreakpoints")
        assert {each["state"] for each in (await client.read(BREAKPOINTS))["breakpoints"]} == {"Pending"}
        worker = FakeAdapter()
        await adopt(door, worker, lasting=True)
        assert worker.sent("setBreakpoints")[0]["breakpoints"] == [{"line": 1}, {"line": 2}]
        assert {each["state"] for each in (await client.read(BREAKPOINTS))["breakpoints"]} == {"Bound"}


async def test_the_focus_is_with_a_program_as_long_as_there_is_one(autojump_clock: MockClock) -> None:
    async with listening() as (client, door, _):
        first, second = FakeAdapter(), FakeAdapter()
        focus = [(await client.read(SESSION))["sessionId"]]
        for worker in (first, second):
            await adopt(door, worker, lasting=True)
            focus.append((await client.read(SESSION))["sessionId"])
        assert focus == ["s-1", "s-2", "s-2"]
        door_state = await client.call("debug_state", session_id="s-1")
        assert door_state["listening"] == "127.0.0.1:5678, 2 connected, 2 have dialed in"
        assert "listening" not in await client.read(SESSION), "a program does not listen"
        await second.stop("breakpoint", hit=[1])
        stop = await client.call("debug_wait")
        assert (stop["session"], "notes" in stop) == ("s-3", False), "it is not a child process of what listens"
        for worker, left in ((first, "s-3"), (second, "s-1")):
            await worker.exit()
            await trio.sleep(10)
            assert (await client.read(SESSION))["sessionId"] == left
        assert (await client.read(SESSION))["listening"]["dialedIn"] == 2
        await adopt(door, FakeAdapter(), lasting=True)
        assert (await client.read(SESSION))["sessionId"] == "s-4"


async def test_when_the_focused_program_ends_another_one_gets_the_focus(autojump_clock: MockClock) -> None:
    async with listening() as (client, door, _):
        workers = [FakeAdapter() for _ in range(3)]
        for worker in workers:
            await adopt(door, worker, lasting=True)
        await workers[0].exit()
        await trio.sleep(10)
        assert (await client.read(SESSION))["sessionId"] == "s-3"


async def test_stacks_of_all_threads_are_those_of_the_programs(autojump_clock: MockClock) -> None:
    async with listening() as (client, door, _):
        assert await client.call("stacktrace_get", thread_id="*") == {"stacks": []}
        await adopt(door, FakeAdapter(), lasting=True)
        assert "s-1" not in str(await client.call("stacktrace_get", thread_id="*"))
        assert not door.sent("evaluate")


@pytest.mark.parametrize(
    ("arguments", "said"), [({}, [{}, {}]), ({"terminate": True}, [{"terminateDebuggee": True}] * 2)]
)
async def test_a_disconnect_says_goodbye_to_every_program_at_once(
    arguments: dict[str, Any], said: list[Any], autojump_clock: MockClock
) -> None:
    async with listening() as (client, door, _):
        workers = [FakeAdapter(), FakeAdapter()]
        stuck = [FakeAdapter(), FakeAdapter()]
        for worker in (*stuck, *workers):
            await adopt(door, worker, lasting=True)
        for worker in stuck:
            worker.withhold("disconnect")
        before = trio.current_time()
        await client.call("debug_disconnect", **arguments)
        assert trio.current_time() - before < 8, "those that do not answer cost their time together"
        assert [each.sent("disconnect")[0] for each in workers] == said
        assert (await client.call("debug_state"))["state"] == "Disconnected"


async def test_nothing_else_is_started_meanwhile(autojump_clock: MockClock) -> None:
    async with listening() as (client, door, _):
        for tool, arguments in (("debug_launch", {"program": door.program}), ("debug_listen", {})):
            failed = await failure(client, tool, **arguments)
            assert failed.code == "SESSION_ACTIVE"
            assert failed.message == (
                "A debug session already listens at 127.0.0.1:5678 for programs to dial in. Start programs yourself, "
                "with the line in them, or end it with debug_disconnect: they run on."
            )
        failed = await failure(client, "debug_restart")
        assert (failed.code, failed.message) == (
            "NOT_SUPPORTED",
            "What has dialed in cannot be restarted. End the session with debug_disconnect, then use debug_launch.",
        )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("debug_continue", {}),
        ("debug_step", {}),
        ("debug_pause", {}),
        ("debug_run_to", {"file": FakeAdapter.program, "line": 1}),
        ("variables_get", {}),
        ("evaluate", {"expression": "1"}),
        ("stacktrace_get", {}),
        ("threads_list", {}),
        ("tasks_list", {}),
    ],
)
async def test_what_needs_a_program_says_at_once_that_none_has_dialed_in(
    tool: str, arguments: dict[str, Any], autojump_clock: MockClock
) -> None:
    async with listening() as (client, door, _):
        before = trio.current_time()
        failed = await failure(client, tool, **arguments)
        assert trio.current_time() == before
        assert failed.code == "NOT_PAUSED"
        assert failed.message == (
            "Session s-1 only listens at 127.0.0.1:5678, and no program has dialed in yet. Run the line of Python that "
            "debug_listen returned in the program, and wait for the first stop with debug_wait."
        )
        worker = FakeAdapter()
        await adopt(door, worker, lasting=True)
        by_name = {**arguments, "session_id": "s-1"}
        assert (await failure(client, tool, **by_name)).message == (
            "Session s-1 only listens at 127.0.0.1:5678; each program that has dialed in is a session of its own. Pass "
            "session_id, one of s-2."
        )
        await worker.exit()
        await trio.sleep(10)
        assert (
            "and no program is connected now (1 had dialed in). Run"
            in (await failure(client, tool, **arguments)).message
        )


async def test_a_wait_for_the_first_program_that_ends_without_one_says_so(autojump_clock: MockClock) -> None:
    async with listening() as (client, door, _):
        report = await client.call("debug_wait", timeout=3)
        (note,) = report["notes"]
        assert report["timedOut"]
        assert note == (
            "no program has dialed in yet at 127.0.0.1:5678. Run the line of Python that debug_listen returned in the "
            "program; debug_wait waits for it"
        )
        await adopt(door, FakeAdapter(), lasting=True)
        assert "notes" not in await client.call("debug_wait", timeout=3)


async def test_programs_beyond_the_bound_are_not_debugged(autojump_clock: MockClock) -> None:
    assert Settings().max_guests == MAX_GUESTS == 1000
    async with listening(max_guests=3) as (client, door, _):
        workers = [FakeAdapter() for _ in range(3)]
        for worker in workers:
            await adopt(door, worker, lasting=True)
        wanted = {"request": "launch", "configuration": {"child": 0, "outlivesParent": True}}
        refused = await door.reverse_request("startDebugging", wanted)
        assert (refused["success"], refused["message"]) == (
            False,
            "startDebugging: 3 programs are being debugged already",
        )
        await workers[0].exit()
        await trio.sleep(10)
        await adopt(door, FakeAdapter(), lasting=True)
        state = await client.call("debug_state", session_id="s-1")
        assert state["listening"] == "127.0.0.1:5678, 3 connected, 4 have dialed in"


async def test_where_few_descriptors_are_to_be_had_it_says_for_how_many_programs_there_is_room(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    monkeypatch.setattr("trio_debugmcp.server.tools.starting.listening.reachable_open_files", lambda: 1024)
    async with listening() as (_, _, answer):
        assert answer["notes"][0].startswith(
            "There is room for some 384 programs: this server may have 1024 files open"
        )


async def test_an_address_that_is_not_to_be_had_is_refused(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client:
        adapter.withhold("attach")
        failed = await failure(client, "debug_listen", timeout=3)
        assert (failed.code, trio.current_time() >= 3) == ("TIMEOUT", True)
        assert (await client.call("debug_state"))["state"] == "Disconnected"


@pytest.mark.parametrize(
    ("mapping", "code"),
    [
        ({"local": "/no/such/directory", "remote": "/app"}, "INVALID_PATH"),
        ({"local": "/", "remote": "app"}, "INVALID_PATH"),
        ({"local": "", "remote": "/app"}, "INVALID_PARAMETER"),
        ({"local": "/"}, "INVALID_PARAMETER"),
    ],
)
async def test_a_mapping_that_cannot_be_meant_is_refused(
    mapping: dict[str, str], code: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client:
        assert (await failure(client, "debug_listen", path_mappings=[mapping])).code == code
        assert adapter.requests == []


def test_a_text_that_only_the_program_has_is_never_that_of_a_file_here_with_the_same_path(tmp_path: Path) -> None:
    path = tmp_path / "helper.py"
    path.write_text("another text\n")
    sources = Sources()
    sources.learn(str(path), "s-2", reference=5)
    with pytest.raises(UsageError, match="Only the debug adapter has the text"):
        sources.running(str(path), None, Host())
