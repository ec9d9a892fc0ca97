"""What is fetched at a stop, and when."""

from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import launch, paused, running
from tests.session.answers import stop
from trio_debugmcp.dap.profiles import Expressions
from trio_debugmcp.dap.profiles.python.pydevd_messages import PythonWords
from trio_debugmcp.server_options import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import FakeAdapter, FakeProfile, ToolFailed, connect


async def test_a_step_right_after_a_stop_does_not_wait_for_places_of_other_threads(
    autojump_clock: MockClock,
) -> None:
    """For a thread that waits, debugpy answers after half a second, and serves nothing else until then."""
    adapter = FakeAdapter()
    adapter.threads = [(number, f"worker {number}") for number in range(1, 6)]
    frames = adapter.answer_to("stackTrace")

    async def slowly(arguments: dict[str, Any]) -> object:
        if arguments["threadId"] in (2, 3):
            await trio.sleep(0.5)
            return {"stackFrames": [], "totalFrames": 0}
        return await frames(arguments)

    adapter.answer("stackTrace", slowly)
    adapter.answer("next", partial(stop, adapter))

    def asked_for() -> list[int]:
        return [arguments["threadId"] for arguments in adapter.sent("stackTrace")]

    async with paused("legacy", adapter) as (client, _):
        assert asked_for() == [1, 2]
        for _ in range(3):
            await client.call("debug_step")
        assert asked_for() == [1, 2, 1, 1, 1]
        await trio.sleep(5)
        assert asked_for()[5:] == [3]
        await client.call("debug_step")
        await trio.sleep(5)
        assert asked_for()[6:] == [1, 4, 5, 2]
        await client.call("debug_step")
        await trio.sleep(5)
        assert asked_for()[10:] == [1, 4, 5, 3]
        places = ["/src/app.py:1 in main" in thread for thread in (await client.call("threads_list"))["threads"]]
        assert places == [True, False, False, True, True]


async def test_what_the_program_wrote_before_a_stop_precedes_it_in_the_timeline(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        since = (await client.call("timeline_query"))["nextEventId"]
        await adapter.event("output", {"category": "stdout", "output": "almost there\n"})
        await adapter.stop("breakpoint")
        await trio.sleep(1)
        events = (await client.call("timeline_query", after_event_id=since, full=True))["events"]
        assert [each["type"] for each in events][:2] == ["output", "stopped"]


async def test_an_exception_that_is_raised_anew_at_the_same_height_counts(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next exception may have the identity of the last; only on its way up is the stack shorter."""
    monkeypatch.setattr(Expressions, "raise_identity", lambda _: "id of the exception")
    async with running("legacy") as (client, adapter):
        await client.call("breakpoint_set_exception", exception_type="*")
        adapter.frames = [("inner", adapter.program, 2), ("outer", adapter.program, 9)]
        adapter.values["id of the exception"] = "140"
        for _ in range(2):
            await adapter.stop("exception", text="ValueError")
            assert (await client.call("debug_wait"))["reason"] == "Exception"
            await client.call("debug_continue", wait=False)
        del adapter.frames[0]
        await adapter.stop("exception", text="ValueError")
        await trio.sleep(5)
        assert len(adapter.sent("continue")) == 3
        assert (await client.call("debug_state"))["state"] == "Running"


async def test_of_two_launches_at_once_one_is_refused(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    codes: list[str | None] = []
    async with connect(options=adapter.options()) as client:

        async def try_to_launch() -> None:
            try:
                await launch(client, adapter)
                codes.append(None)
            except ToolFailed as failed:
                codes.append(failed.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(try_to_launch)
            nursery.start_soon(try_to_launch)
    assert sorted(codes, key=str) == [None, "SESSION_ACTIVE"]


@pytest.mark.parametrize(
    ("kind", "mode", "stops"),
    [
        ("ValueError", "unhandled", True),
        ("ValueError", "always", True),
        ("builtins.SystemExit", "unhandled", False),
        ("builtins.SystemExit", "userUnhandled", False),
        ("builtins.SystemExit", "always", False),
        ("builtins.KeyboardInterrupt", "unhandled", False),
        *((f"builtins.{name}", "unhandled", True) for name in ("StopIteration", "StopAsyncIteration", "GeneratorExit")),
        *((f"builtins.{name}", "userUnhandled", False) for name in ("StopIteration", "GeneratorExit")),
        ("asyncio.exceptions.CancelledError", "unhandled", True),
        ("asyncio.exceptions.CancelledError", "userUnhandled", False),
    ],
)
async def test_what_nothing_catches_stops_a_program_but_an_end_on_purpose_in_no_mode(
    autojump_clock: MockClock, kind: str, mode: str, stops: bool
) -> None:
    adapter = FakeAdapter()

    async def raised(arguments: object) -> object:
        await trio.lowlevel.checkpoint()
        return {"exceptionId": kind, "description": "3", "breakMode": mode}

    adapter.answer("exceptionInfo", raised)
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        await adapter.stop("exception")
        answer = await client.call("debug_wait", timeout=5)
        assert (answer["state"], len(adapter.sent("continue"))) == (("Paused", 0) if stops else ("Running", 1))


async def test_an_exception_without_a_message_is_not_given_the_words_of_pydevd(autojump_clock: MockClock) -> None:
    class Pydevd(FakeProfile):
        words = PythonWords()

    adapter = FakeAdapter()
    body = {"exceptionId": "ValueError", "description": "exception: no description", "breakMode": "unhandled"}

    async def described(arguments: object) -> object:
        await trio.lowlevel.checkpoint()
        return body

    adapter.answer("exceptionInfo", described)
    settings = Settings(directory="/", profiles=(Pydevd(adapter),))
    async with connect(options=Options(settings=settings)) as client:
        await launch(client, adapter)
        await adapter.stop("exception")
        assert (await client.call("debug_wait", timeout=5))["exception"] == "ValueError"
