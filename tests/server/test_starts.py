"""Starts that take long, fail late or get in each other's way, and what is shown at the stop that they lead to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, paused
from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import Dialect
from trio_debugmcp.dap.profiles.python.runnable import PythonPrograms
from trio_debugmcp.server.answers.text import without_debugger
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, Refusal, ToolFailed, connect, open_server
from trio_debugmcp.testing.fake_adapter import FakeProfile
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES


async def slow_launch(adapter: FakeAdapter, client: DebugClient, **more: Any) -> dict[str, Any]:
    return await client.call("debug_launch", program=adapter.program, stop_at_entry=False, timeout=1, **more)


async def test_a_session_that_is_starting_is_named(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("launch")
    async with connect("legacy", options=adapter.options()) as client:
        assert (await slow_launch(adapter, client))["session"] == "s-1"
        state = await client.call("debug_state")
        assert (state["notes"], state["session"]) == (["the program is starting"], "s-1")


@pytest.mark.parametrize("reason", ["no such program", "crash"])
async def test_a_start_that_fails_late_fails_the_wait_for_it_with_one_advice(
    reason: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()

    async def fail(arguments: object) -> object:
        await trio.sleep(5)
        if reason == "crash":
            await adapter.crash()
            await trio.sleep_forever()
        raise Refusal(reason)

    adapter.answer("launch", fail)
    async with connect("legacy", options=adapter.options()) as client:
        await slow_launch(adapter, client)
        failed = await failure(client, "debug_wait", timeout=60)
        assert failed.code == ("ADAPTER_FAILED" if reason == "crash" else "LAUNCH_FAILED"), "as of a start in time"
        assert failed.message.count("debug_launch") == 1
        assert ".." not in failed.message
        assert "." not in failed.message[:10]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"args": ["-v", "a\0b"]}, "`args[1]` has a NUL character"),
        ({"args": ["x" * 200_000]}, "`args[0]` has more than 131071 bytes"),
        ({"env": {"A": "\0"}}, "`env A` has a NUL character"),
        ({"env": {"A=B": "c"}}, "The name of a variable"),
        ({"args": ["x" * 100_000] * 30}, "`args` and `env` have "),
    ],
)
async def test_a_launch_that_no_process_can_be_started_with_ends_no_session(
    autojump_clock: MockClock, more: dict[str, Any], sentence: str
) -> None:
    adapter = FakeAdapter()
    async with connect("legacy", options=adapter.options()) as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
        refused = await failure(client, "debug_launch", program=adapter.program, replace=True, **more)
        assert refused.code == "INVALID_PARAMETER"
        assert refused.message.startswith(sentence)
        assert (await client.call("debug_state"))["state"] == "Paused"


async def test_a_launch_that_another_one_replaces_says_so(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("launch")
    failed: list[ToolFailed] = []
    async with open_server(adapter.options()) as server, server.connect() as one, server.connect() as two:
        async with trio.open_nursery() as nursery:

            async def first() -> None:
                failed.append(await failure(one, "debug_launch", program=adapter.program, timeout=60))

            nursery.start_soon(first)
            await trio.sleep(1)
            refused = await failure(two, "debug_launch", program=adapter.program)
            assert (refused.code, "just starting" in refused.message) == ("SESSION_ACTIVE", True)
            await slow_launch(adapter, two, replace=True)
        assert (failed[0].code, "replace=true" in failed[0].message) == ("LAUNCH_FAILED", True)


@pytest.mark.parametrize("way", ["crash", "ended"])
async def test_after_the_adapter_is_gone_the_session_is_not_paused(way: str, autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):

        async def go(arguments: object) -> object:
            await adapter.crash()
            return {}

        adapter.answer("evaluate", go)
        assert (await failure(client, "evaluate", expression="x")).code == "ADAPTER_GONE"
        assert (await client.call("debug_state"))["state"] == "Disconnected"


# --- What is shown ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("timeout", "took"), [(60, 5), (3, 3), (0.5, 1)])
async def test_an_expression_that_hangs_is_named_and_takes_no_more_than_the_time(
    timeout: float, took: float, autojump_clock: MockClock
) -> None:
    async with paused("legacy") as (client, adapter):

        async def evaluate(arguments: dict[str, Any]) -> object:
            if arguments["expression"] == "slow":
                await trio.sleep_forever()
            return {"result": arguments["expression"], "variablesReference": 0}

        async def step(arguments: object) -> object:
            await adapter.stop("step")
            return {}

        adapter.answer("evaluate", evaluate)
        adapter.answer("next", step)
        before = trio.current_time()
        stop = await client.call("debug_step", show=["1", "slow", "3"], timeout=timeout)
        assert stop["show"]["1"] == "1"
        assert "out of time" not in stop["show"]["1"]
        assert stop["show"]["3"] == "<not evaluated: out of time>"
        assert stop["show"]["slow"] not in ("", "<not evaluated: out of time>")
        assert trio.current_time() - before == pytest.approx(took, abs=1.1)


# --- What cannot run --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", ["/", "..", ".", "//", "::test_a", "./..", "-"])
async def test_what_names_no_test_is_refused(test: str, autojump_clock: MockClock) -> None:
    async with open_server() as server, server.connect() as client:
        failed = await failure(client, "debug_launch", test=test)
        assert (failed.code, "names no test" in failed.message) == ("INVALID_PARAMETER", True)


def test_the_names_of_tests_and_folders_of_tests_pass() -> None:
    for test in ("tests", "tests/", "../tests/test_a.py::Case::test_b[x/y]", "pkg.tests.Case.test_c", "test_a.py"):
        assert PythonPrograms().test_problem(test) is None


def test_a_module_that_is_not_there_is_recognised_by_what_python_prints() -> None:
    programs = PythonPrograms()
    assert programs.missing_module("/x/python: No module named nosuch\n") == "nosuch"
    assert programs.missing_module("/my x/my python: No module named nosuch\n") == "nosuch"
    text = "/x/python: Error while finding module specification for 'a.b' (ModuleNotFoundError: No module named 'a')\n"
    assert programs.missing_module(text) == "a.b"
    assert programs.missing_module("ModuleNotFoundError: No module named 'other'\n") is None
    log = "E+00000.173: Error determining module path for sys.argv\n" + " " * 13 + "\n" + " " * 13 + "Traceback\n\n"
    assert without_debugger(log + text) == text


# --- Code -------------------------------------------------------------------------------------------------------------


def stack(*names: str) -> dict[str, Any]:
    frames = [{"id": number, "name": name, "line": 1, "column": 1} for number, name in enumerate(names)]
    return {"stackFrames": frames, "totalFrames": len(frames)}


@pytest.mark.parametrize(
    ("names", "stops"),
    [
        (["f", "<module> (Current frame)"], True),
        (["<module>"], True),
        (["f", "<module> (Current frame)", "[Chained Exc: no] g"], True),
        (["f (Current frame)", "<module>"], False),
        (["<module> (Current frame)", "main"], False),
        (["callback"], False),
    ],
)
async def test_an_exception_that_leaves_the_code_of_a_program_stops_it_in_the_outermost_frame(
    names: list[str], *, stops: bool, autojump_clock: MockClock
) -> None:
    async with coded("True") as (client, adapter):
        assert adapter.sent("setExceptionBreakpoints")[-1] == {"filters": ["uncaught", "userUnhandled"]}
        adapter.answer("stackTrace", answering(stack(*names)))
        resumed = len(adapter.sent("continue"))
        await adapter.stop("exception")
        await trio.sleep(5)
        assert (await client.call("debug_state"))["state"] == ("Paused" if stops else "Running")
        assert len(adapter.sent("continue")) - resumed == (0 if stops else 1)


async def test_where_uncaught_exceptions_are_seen_nothing_else_is_asked_for(autojump_clock: MockClock) -> None:
    for answer in ("False", Refusal("no")):
        async with coded(answer) as (_, adapter):
            assert adapter.sent("setExceptionBreakpoints")[-1] == {"filters": ["uncaught"]}


class Misses(Dialect):
    def misses_uncaught_in_code(self) -> str | None:
        return "misses"


def answering(answer: object) -> Any:
    async def respond(arguments: object) -> object:
        if isinstance(answer, Refusal):
            raise answer
        return answer

    return respond


@asynccontextmanager
async def coded(misses: str | Refusal) -> AsyncIterator[tuple[DebugClient, FakeAdapter]]:
    """A program that is given as code and runs; `misses`: whether uncaught exceptions of it are not seen."""
    filters = [{"filter": name, "label": name} for name in ("uncaught", "userUnhandled")]
    adapter = FakeAdapter({**ALL_CAPABILITIES, "exceptionBreakpointFilters": filters})

    class Codes(FakeProfile):
        code_options = frozenset({"code"})
        dialect = Misses()

    adapter.answer("evaluate", answering(misses if isinstance(misses, Refusal) else {"result": misses}))
    adapter.answer("exceptionInfo", answering({"exceptionId": "ValueError", "breakMode": "userUnhandled"}))
    options = Options(settings=Settings(directory="/", profiles=(Codes(adapter),)))
    async with connect("legacy", options=options) as client:
        await client.call("debug_launch", code="1 / 0", stop_at_entry=False, wait=False)
        yield client, adapter
