"""Exceptions as adapters report them: types that they have or lack, all in one text, and crashes."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure
from tests.session.tables import launched
from trio_debugmcp.session.stops import exception_filter
from trio_debugmcp.testing import ALL_CAPABILITIES, DebugClient, FakeAdapter

UNTYPED = {**ALL_CAPABILITIES, "supportsExceptionInfoRequest": False}


async def raised(client: DebugClient) -> dict[str, Any]:
    """The exception of the stop that is published by now."""
    await trio.sleep(1)
    return dict((await client.read("debugger://session"))["exception"] or {})


def info(adapter: FakeAdapter, **body: Any) -> None:
    async def answer(arguments: dict[str, Any]) -> object:
        return body

    adapter.answer("exceptionInfo", answer)


# --- Crashes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "stop", "kind", "message"),
    [
        ("", {"reason": "exception", "description": "signal SIGSEGV: bad address"}, "SIGSEGV", "bad address"),
        ('reasons = { SIGSEGV = "signal" }', {"reason": "SIGSEGV", "description": "Fault"}, "SIGSEGV", "Fault"),
        ('reasons = { signal = "signal" }', {"reason": "signal", "text": "SIGABRT"}, "SIGABRT", None),
    ],
)
async def test_a_crash_stops_the_program_whatever_exceptions_are_wanted(
    autojump_clock: MockClock, lines: str, stop: dict[str, Any], kind: str, message: str | None
) -> None:
    adapter = FakeAdapter()
    async with launched(lines, adapter, breakpoints=[{"exception": "std::runtime_error"}]) as client:
        await adapter.stop(**stop)
        found = await raised(client)
        assert (found["type"], found.get("message")) == (kind, message)
        assert adapter.sent("continue") == []


# --- Types ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ({"exceptionId": "TypeError: bad 2", "breakMode": "all"}, "TypeError", "bad 2"),
        ({"exceptionId": "Uncaught TypeError: bad 2"}, "TypeError", "bad 2"),
        ({"exceptionId": "TypeError: bad", "description": "TypeError: bad"}, "TypeError", "bad"),
        ({"exceptionId": "TypeError: bad", "description": "worse"}, "TypeError", "worse"),
        ({"exceptionId": "std::out_of_range", "description": "at: 3"}, "std::out_of_range", "at: 3"),
        ({"exceptionId": "java.lang.Error", "description": "a: b"}, "java.lang.Error", "a: b"),
        ({"exceptionId": "java.lang.Error", "description": "java.lang.Error"}, "java.lang.Error", None),
    ],
)
async def test_a_type_and_a_message_in_one_are_divided(
    autojump_clock: MockClock, body: dict[str, str], kind: str, message: str | None
) -> None:
    adapter = FakeAdapter()
    info(adapter, **body)
    async with launched("", adapter, breakpoints=[{"exception": kind}]) as client:
        await adapter.stop("exception")
        found = await raised(client)
        assert (found["type"], found.get("message")) == (kind, message)
        await client.call("debug_continue", wait=False)
        info(adapter, exceptionId="Other: bad")
        await adapter.stop("exception")
        assert await raised(client) == {}


@pytest.mark.parametrize(("lines", "capabilities"), [("exception-types = false", ALL_CAPABILITIES), ("", UNTYPED)])
async def test_an_exception_of_a_type_is_not_supported_where_no_type_is_to_be_had(
    autojump_clock: MockClock, lines: str, capabilities: dict[str, Any]
) -> None:
    adapter = FakeAdapter(capabilities)
    async with launched(lines, adapter) as client:
        failed = await failure(client, "breakpoint_set_exception", exception_type="ValueError")
        assert failed.code == "NOT_SUPPORTED"
        assert failed.message.startswith("fake does not tell the types of exceptions")
        assert "use `*`" in failed.message
        assert (await client.call("breakpoint_list"))["breakpoints"] == []
        await client.call("breakpoint_set_exception", exception_type="*")
        await adapter.stop("exception", text="something")
        assert (await raised(client))["type"] == ("something" if capabilities is UNTYPED else "ValueError")


async def test_where_the_words_of_a_stop_name_the_type_it_is_supported(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter(UNTYPED)
    pattern = "exception = '#<(?P<type>[\\w:]+): (?P<message>(?s:.*))> is raised'"
    async with launched(pattern, adapter, breakpoints=[{"exception": "TypeError"}]) as client:
        (typed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert "pending" not in typed
        await adapter.stop("exception", text="#<TypeError: no plum> is raised.")
        found = await raised(client)
        assert (found["type"], found["message"]) == ("TypeError", "no plum")


async def test_an_exception_of_another_type_is_passed_over_by_what_its_stop_and_one_question_say(
    autojump_clock: MockClock,
) -> None:
    adapter, sent = FakeAdapter(), Counter[str]()
    info(adapter, exceptionId="Other", breakMode="always")
    async with launched("", adapter, breakpoints=[{"exception": "Sold"}]) as client:
        adapter.on_request = lambda command, _: sent.update([command])
        for _ in range(5):
            await adapter.stop("exception", text="Other")
            await trio.sleep(1)
        assert sent == {"threads": 5, "stackTrace": 5, "exceptionInfo": 5, "continue": 5}  # a suite raises thousands
        assert (await client.call("debug_state"))["state"] == "Running"


async def test_of_an_adapter_that_is_known_to_have_no_types_a_launch_says_it_first(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched("exception-types = false", adapter) as client:
        await client.call("debug_disconnect")
        wanted = {"program": adapter.program, "adapter": "fake", "breakpoints": [{"exception": "ValueError"}]}
        assert (await failure(client, "debug_launch", **wanted)).code == "NOT_SUPPORTED"
        assert (await client.call("debug_state"))["state"] == "Disconnected"


async def test_what_an_adapter_turns_out_not_to_support_is_pending_and_says_why(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter(UNTYPED)
    wanted = [{"exception": "ValueError"}, {"exception": "*"}]
    async with launched("", adapter, breakpoints=wanted) as client:
        typed, every = (await client.call("breakpoint_list"))["breakpoints"]
        assert "pending, fake does not tell the types of exceptions" in typed
        assert "pending" not in every


async def test_an_adapter_without_exception_breakpoints_says_so(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "exceptionBreakpointFilters": []})
    async with launched("", adapter) as client:
        failed = await failure(client, "breakpoint_set_exception", exception_type="*")
        assert (failed.code, failed.message) == (
            "NOT_SUPPORTED",
            "fake has no exception breakpoints (exceptionBreakpointFilters).",
        )


async def test_subtypes_are_not_supported_where_no_ancestors_are_known(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched("", adapter) as client:
        derived = {"exception_type": "Error", "include_subtypes": True}
        failed = await failure(client, "breakpoint_set_exception", **derived)
        assert failed.code == "NOT_SUPPORTED"
        assert "derived from" in failed.message
        await client.call("breakpoint_set_exception", exception_type="Error")
        await client.call("breakpoint_set_exception", exception_type="*", include_subtypes=True)


# --- Places -----------------------------------------------------------------------------------------------------------


async def test_a_breakpoint_of_a_file_stops_only_where_code_of_that_file_raises(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    places = iter(["/src/conf.py", __file__])

    async def frames(arguments: dict[str, Any]) -> object:
        if arguments.get("startFrame"):
            return {"stackFrames": [], "totalFrames": 1}
        frame = {"id": 1, "name": "work", "line": 7, "column": 1, "source": {"path": next(places)}}
        return {"stackFrames": [frame], "totalFrames": 1}

    adapter.answer("stackTrace", frames)
    wanted = {"exception": "ValueError", "file": adapter.program}
    async with launched("", adapter, breakpoints=[wanted]) as client:
        (line,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert line == f"ex-1 ValueError raised in {adapter.program}"
        info(adapter, exceptionId="ValueError", breakMode="always")
        await adapter.stop("exception")
        await trio.sleep(1)
        assert (await client.call("debug_state"))["state"] == "Running"
        places = iter([adapter.program])
        await adapter.stop("exception")
        await trio.sleep(1)
        assert (await client.call("debug_state"))["breakpoints"] == ["ex-1"]
        made = await client.call("breakpoint_set_exception", exception_type="ValueError")
        assert made["notes"] == [f"the update has dropped its file `{adapter.program}`"]
        failed = await failure(client, "breakpoint_set_exception", exception_type="ValueError", file="/src/conf.py")
        assert failed.code == "INVALID_PATH"


async def test_a_breakpoint_of_a_directory_stops_where_code_below_it_raises(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    (tmp_path / "pkg" / "inner").mkdir(parents=True)
    adapter = FakeAdapter()
    places = iter([f"{tmp_path}/pkg_2/a.py", f"{tmp_path}/pkg/inner/a.py"])

    async def frames(arguments: dict[str, Any]) -> object:
        if arguments.get("startFrame"):
            return {"stackFrames": [], "totalFrames": 1}
        frame = {"id": 1, "name": "work", "line": 7, "column": 1, "source": {"path": next(places)}}
        return {"stackFrames": [frame], "totalFrames": 1}

    adapter.answer("stackTrace", frames)
    wanted = {"exception": "ValueError", "file": f"{tmp_path}/pkg"}
    async with launched("", adapter, breakpoints=[wanted]) as client:
        info(adapter, exceptionId="ValueError", breakMode="always")
        await adapter.stop("exception")
        await trio.sleep(1)
        assert (await client.call("debug_state"))["state"] == "Running"
        await adapter.stop("exception")
        await trio.sleep(1)
        assert (await client.call("debug_state"))["breakpoints"] == ["ex-1"]


async def test_an_exception_is_where_the_first_frame_with_source_is(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def frames(arguments: dict[str, Any]) -> object:
        without = {"id": 1, "name": "__throw", "line": 0, "column": 0}
        inside = {"id": 2, "name": "work", "line": 7, "column": 1, "source": {"path": __file__}}
        return {"stackFrames": [without, inside], "totalFrames": 2}

    adapter.answer("stackTrace", frames)
    async with launched("", adapter, breakpoints=[{"exception": "*"}]) as client:
        await adapter.stop("exception")
        await trio.sleep(1)
        assert (await client.call("debug_state"))["at"].endswith(":7 in work")
        await client.call("debug_continue", wait=False)
        await adapter.stop("pause")
        await trio.sleep(1)
        assert "__throw" in (await client.call("debug_state"))["at"]


async def test_a_failure_that_a_runner_of_tests_raises_again_further_out_does_not_stop_again(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exception_filter, "stopped_by", lambda _: ((), ("NotEqual",)))
    adapter = FakeAdapter()
    inner = [("same", "/lib/assert.x", 7), ("test_sums", "/src/a.x", 3), ("run", "/lib/runner.x", 5)]
    info(adapter, exceptionId="NotEqual", description="3 is not 4")
    async with launched("", adapter) as client:
        stops = []
        for frames in (inner, inner[2:], inner[2:], inner, inner[1:]):
            adapter.frames = frames
            await adapter.stop("exception")
            stops.append(bool(await raised(client)))
            if stops[-1]:
                await client.call("debug_continue", wait=False)
        assert stops == [True, False, False, True, False]
        info(adapter, exceptionId="NotEqual", description="3 is not 5")
        await adapter.stop("exception")
        assert (await raised(client))["message"] == "3 is not 5", "which another test fails with"


# --- Objects ----------------------------------------------------------------------------------------------------------


def thrown(adapter: FakeAdapter, line: int, mode: str = "always", *, made: int = 0, number: int = 7) -> None:
    """Have the adapter throw an object in this line of `main`; `made`: the line in which it was made."""
    adapter.frames = [("shop.Till.main", "/shop/Till.java", line)]
    adapter.values = {
        "$exception": f"shop.Bad@{number}",
        "$exception.getStackTrace().length": "1",
        "$exception.stackTrace[0].declaringClass": '"shop.Till"',
        "$exception.stackTrace[0].methodName": '"main"',
        "$exception.stackTrace[0].fileName": '"Till.java"',
        "$exception.stackTrace[0].lineNumber": str(made or line),
    }
    info(adapter, exceptionId="shop.Bad", breakMode=mode, details={"message": "no stock"})


@pytest.mark.usefixtures("without_threads")
async def test_an_object_that_is_only_passed_on_does_not_stop_again_and_one_that_is_thrown_anew_does(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with launched('hooks = "java"\n', adapter, breakpoints=[{"exception": "*"}]) as client:
        for line, mode, number, stops in (
            (5, "always", 7, True),
            (9, "always", 7, False),  # the end of a `finally`
            (9, "unhandled", 7, True),
            (9, "unhandled", 7, True),  # thrown there once more
            (5, "unhandled", 8, True),
        ):
            thrown(adapter, line, mode, number=number)
            await adapter.stop("exception")
            assert bool(await raised(client)) is stops, (line, mode, number)
            if stops:
                await client.call("debug_continue", wait=False)


@pytest.mark.usefixtures("without_threads")
async def test_where_nothing_catches_an_object_that_is_passed_on_a_note_says_where_it_was_made(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with launched('hooks = "java"\n', adapter) as client:
        thrown(adapter, 9, "unhandled", made=5)
        await adapter.stop("exception")
        await trio.sleep(1)
        (note,) = (await client.call("debug_state"))["notes"]
        assert note == "the exception was made in shop.Till.main (Till.java:5), and is passed on here"
        await client.call("debug_continue", wait=False)
        thrown(adapter, 5, "unhandled", number=8)
        await adapter.stop("exception")
        await trio.sleep(1)
        assert "notes" not in await client.call("debug_state")


@pytest.mark.parametrize(
    ("file", "mode", "stops"),
    [
        ("<node_internals>/internal/url", "always", False),
        ("<node_internals>/internal/url", "unhandled", True),
        ("<node_internals>/assert", "always", True),
        ("/src/shop.js", "always", True),
    ],
)
async def test_what_node_itself_raises_and_catches_does_not_stop(
    autojump_clock: MockClock, file: str, mode: str, stops: bool
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("load", file, 806), ("main", "/src/shop.js", 3)]
    info(adapter, exceptionId="TypeError: Invalid URL", breakMode=mode)
    async with launched('hooks = "javascript"\n', adapter, breakpoints=[{"exception": "TypeError"}]) as client:
        await adapter.stop("exception")
        assert bool(await raised(client)) is stops
