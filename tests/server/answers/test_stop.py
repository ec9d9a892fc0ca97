"""The answer of every tool that moves the program: what it leaves out is counted, and what is not news is absent."""

from functools import partial
from typing import Any

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from tests.server.scene import launch, paused, running
from tests.session.answers import stop
from trio_debugmcp.server.answers.failures.exceptions import exception_text
from trio_debugmcp.server.answers.stop import ended_answer
from trio_debugmcp.server.answers.stop_answer import FRAMES_BELOW, StopAnswer
from trio_debugmcp.session.output import console
from trio_debugmcp.state.model import Origin, Snapshot
from trio_debugmcp.state.payloads import ExceptionInfo
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect, open_server


async def stopped(client: DebugClient, adapter: FakeAdapter, reason: str = "breakpoint", **more: Any) -> dict[str, Any]:
    await adapter.stop(reason, **more)
    return await client.call("debug_wait")


async def test_a_stop_without_news_has_its_state_and_place_alone(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        assert await stopped(client, adapter, "step") == {
            "state": "Paused",
            "reason": "Step",
            "at": "/src/app.py:1 in main",
        }


@pytest.mark.parametrize("depth", [1, 2, FRAMES_BELOW + 1, FRAMES_BELOW + 2, 60])
async def test_frames_that_are_left_out_are_counted(depth: int, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames = [(f"f{number}", "/src/app.py", number + 1) for number in range(depth)]
    async with running("legacy", adapter) as (client, _):
        found = await stopped(client, adapter)
        shown = found.get("stack", [])
        assert len(shown) + found.get("omitted", {}).get("frames", 0) + 1 == depth
        assert len(shown) == min(depth - 1, FRAMES_BELOW)


async def test_callers_in_the_users_code_are_shown_behind_the_frames_of_libraries_that_call_back(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    users = {"price": 3, "total": 20, "cart": 21, "shop": 22, "main": 23}
    names = ["price", *(f"each{number}" for number in range(7)), "total", "call", "cart", "shop", "main"]
    whole = [
        {"id": number, "name": name, "line": users.get(name, 1), "column": 1}
        | ({"source": {"path": "/src/app.py"}} if name in users else {})
        for number, name in enumerate(names)
    ]

    async def stack(arguments: dict[str, Any]) -> object:
        return {"stackFrames": whole, "totalFrames": len(whole)}

    adapter.answer("stackTrace", stack)
    async with running("legacy", adapter) as (client, _):
        found = await stopped(client, adapter)
        assert found["stack"][FRAMES_BELOW:] == [
            "… 2 of libraries",
            "total /src/app.py:20",
            "… 1 of libraries",
            "cart /src/app.py:21",
            "shop /src/app.py:22",
        ]
        assert found["omitted"] == {"frames": 4}  # two and one of libraries, and `main`


async def test_locals_that_do_not_fit_are_counted(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.locals = {f"variable_{number}": "1" * 100 for number in range(200)}
    async with running("legacy", adapter) as (client, _):
        found = await stopped(client, adapter)
        assert len(found["locals"]) + found["omitted"]["locals"] == 200
        assert len(found["locals"]) > 20


@pytest.mark.parametrize(("length", "left_out"), [(4000, None), (4001, 1), (90_000, 86_000)])
async def test_output_that_is_left_out_is_counted_by_stream(
    length: int, left_out: int | None, autojump_clock: MockClock
) -> None:
    async with running("legacy") as (client, adapter):
        await adapter.event("output", {"category": "stderr", "output": "-" * length})
        await adapter.event("output", {"category": "stdout", "output": "short\n"})
        found = await stopped(client, adapter)
        assert found["stdout"] == "short\n"
        assert found["stderr"] == "…" * (left_out is not None) + "-" * 4000
        assert found.get("omitted") == (None if left_out is None else {"stderrCharacters": left_out})


async def test_output_that_was_too_old_to_be_kept_is_counted(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    monkeypatch.setattr(console, "MAX_OUTPUT_LENGTH", 10_000)
    async with running("legacy") as (client, adapter):
        for _ in range(30):
            await adapter.event("output", {"category": "stdout", "output": "-" * 999 + "\n"})
        await adapter.event("output", {"category": "stderr", "output": "short\n"})
        found = await stopped(client, adapter)
        assert (len(found["stdout"]), found["stderr"]) == (4001, "short\n")
        assert found["omitted"] == {"stdoutCharacters": 26_000}
        last = await client.call("process_read_output")
        kept = len(last["entries"][0]["stdout"]) // 1000
        assert last["dropped"] == 30 - kept
        assert "dropped" not in await client.call("process_read_output", since_seq=31 - kept)
        assert (await client.call("process_read_output", since_seq=30 - kept))["dropped"] == 1
        await client.call("debug_continue", wait=False)
        for _ in range(12):
            await adapter.event("output", {"category": "stderr", "output": "+" * 999 + "\n"})
        found = await stopped(client, adapter)
        assert (found["omitted"], "stdout" in found) == ({"stderrCharacters": 8000}, False), (
            "what was given is not lost"
        )


async def test_each_client_gets_output_once(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as one, server.connect() as two:
        await launch(one, adapter)
        await adapter.event("output", {"category": "stdout", "output": "hello\n"})
        assert (await stopped(one, adapter))["stdout"] == "hello\n"
        assert "stdout" not in await one.call("debug_wait")
        assert (await two.call("debug_wait"))["stdout"] == "hello\n"


async def test_the_thread_is_named_where_there_are_several(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(1, "main"), (2, "counter")]
    async with running("legacy", adapter) as (client, _):
        assert (await stopped(client, adapter, thread=2))["thread"] == "2 counter"


async def test_what_the_adapter_says_of_a_stop_stands_apart_from_the_notes_of_the_server(
    autojump_clock: MockClock,
) -> None:
    async with running("legacy") as (client, adapter):
        found = await stopped(client, adapter, "pause", description="SIGUSR1")
        assert (found["says"], "notes" in found) == ("SIGUSR1", False)
        adapter.answer("continue", partial(stop, adapter, reason="exception"))
        found = await client.call("debug_continue")
        assert (found["exception"], "says" in found, "notes" in found) == ("ValueError: bad", False, False)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (ExceptionInfo("ValueError", "bad", "always"), ("ValueError: bad", None)),
        (ExceptionInfo("ValueError", "", "always"), ("ValueError", None)),
        (ExceptionInfo("ValueError", None, "unhandled"), ("ValueError", "unhandled")),
        (ExceptionInfo("ValueError", "bad", None), ("ValueError: bad", None)),
    ],
)
def test_an_exception_has_its_mode_where_it_is_not_the_plain_one(
    found: ExceptionInfo, shown: tuple[str, str | None]
) -> None:
    assert exception_text(found) == shown


async def test_what_is_shown_at_a_stop_is_evaluated_there_and_may_fail(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.values = {"x": "1"}
        adapter.answer("next", partial(stop, adapter, reason="step"))
        found = await client.call("debug_step", show=["x", "y"])
        assert found["show"]["x"] == "1"
        assert "NameError: name 'y' is not defined" in found["show"]["y"]
        adapter.withhold("evaluate")
        before = trio.current_time()
        found = await client.call("debug_step", show=["x", "y"])
        assert found["show"] == {"x": found["show"]["x"], "y": "<not evaluated: out of time>"}
        assert found["show"]["x"].startswith("<")
        assert trio.current_time() - before <= 6


async def test_a_wait_that_ends_without_a_stop_says_so_and_none_that_was_not_wanted(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, _):
        assert await client.call("debug_continue", wait=False) == {"state": "Running"}
        assert await client.call("debug_wait", timeout=1) == {"state": "Running", "timedOut": True}


async def test_an_end_has_its_exit_code_also_if_it_is_zero(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await adapter.exit(0)
        await trio.sleep(1)
        state = await client.call("debug_state")
        assert (state["state"], state["reason"], state["exitCode"], "signal" in state) == (
            "Disconnected",
            "Exited",
            0,
            False,
        )


async def test_a_source_that_cannot_be_read_is_left_out(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("main", adapter.program, 3)]
    async with running("legacy", adapter) as (client, _):
        assert (await stopped(client, adapter))["source"].splitlines()[2].startswith("3>")
    async with connect(options=FakeAdapter().options()) as client:
        assert await client.call("debug_state") == {"state": "Disconnected"}


def test_the_keys_of_a_stop_are_those_of_the_contract() -> None:
    assert set(StopAnswer.__struct_encode_fields__) >= {
        "exitCode",
        "timedOut",
        "stdout",
        "log",
        "notes",
        "omitted",
        "show",
    }


@pytest.mark.parametrize(
    ("exit_code", "reason", "notes"),
    [
        (-9, "out of memory, by the kernel's log", ["out of memory, by the kernel's log"]),
        (-9, "the program ended", []),
        (None, "the program ended", ["the program ended"]),
    ],
)
def test_why_a_program_ended_is_said_where_its_exit_code_does_not(
    exit_code: int | None, reason: str, notes: list[str]
) -> None:
    ended = Snapshot("s-1", Origin(adapter="a", language="b", launch_mode="Launch", attached_at=0.0))
    ended = replace(ended, exit_code=exit_code, end_reason=reason)
    answer = ended_answer(None, ended)  # type: ignore[arg-type]
    assert answer.notes == notes
    assert answer.full is not None
    assert answer.full.end_reason == (reason if notes else None)
