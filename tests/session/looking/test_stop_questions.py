"""What is found at a stop: one question to the probe, or requests to the adapter where it does not answer."""

import json
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, SESSION, launch, paused, running
from tests.session.answers import stop
from trio_debugmcp.session.looking.by_probe.program_probe import MAX_THREADS, PROBE_SECONDS
from trio_debugmcp.session.looking.stop_questions import CAPTURED_LOCALS, MAX_RETURNED
from trio_debugmcp.testing import FakeAdapter, connect

FILE = "/src/app.py"

ASKED = {
    "thread": 1,
    "frames": 20,
    "locals": CAPTURED_LOCALS,
    "threads": MAX_THREADS,
    "first": True,
    "code": False,
    "types": True,
}

COMPLETION = {"thread": 1, "frames": 0, "locals": CAPTURED_LOCALS, "threads": 0, "types": True}


def frame(index: int, function: str, line: int, **more: Any) -> dict[str, Any]:
    return {"index": index, "file": FILE, "line": line, "function": function, "module": "app", "id": 50 + index, **more}


def answer(*locals_: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An answer of the probe at a stop in `work`, beside which a thread waits."""
    waits = {"file": "/lib/threading.py", "line": 9, "function": "wait", "library": True}
    at = {**waits, "from": {"file": FILE, "line": 40, "function": "serve"}}
    return {
        "thread": 1,
        "frames": [frame(0, "work", 12), frame(1, "main", 30, library=True)],
        "total": 2,
        "locals": list(locals_),
        "localsTotal": len(locals_),
        "threads": [
            {"id": 1, "name": "MainThread", "state": "stopped", "at": frame(0, "work", 12)},
            {"id": 2, "name": "server", "state": "unknown", "at": at},
        ],
        "threadsTotal": 2,
        **more,
    }


def probed(found: dict[str, Any]) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.probe = {"stop": found}
    return adapter


X = {"name": "x", "value": "1", "type": "int"}
SLOW = {"name": "slow", "value": "Slow(...)", "type": "Slow", "withheld": True}


async def test_a_stop_asks_one_question(autojump_clock: MockClock) -> None:
    adapter = probed(answer(X, {"name": "fn", "value": "<function f at app.py:1>", "type": "function", "size": 2}))
    async with paused("legacy", adapter) as (client, _):
        adapter.answer("next", partial(stop, adapter, reason="step"))
        before = len(adapter.requests)
        report = await client.call("debug_step")
        await trio.sleep(10)
        assert [command for command, _ in adapter.requests[before:]] == ["next", "evaluate"]
        assert adapter.probed[-1] == ("stop", ASKED)
        assert report["at"] == "/src/app.py:12 in work"
        assert report["stack"] == ["main :30 (library)"]
        assert report["locals"] == {"x": "1", "fn": "<function f at app.py:1>"}
        location = {"file": FILE, "line": 12, "column": None, "functionName": "work", "moduleName": None}
        assert (await client.read(SESSION))["currentLocation"] == location
        stack = await client.read("debugger://stack")
        assert [(each["name"], each["location"]["line"], each["isUserCode"]) for each in stack["frames"]] == [
            ("work", 12, True),
            ("main", 30, False),
        ]
        assert stack["locals"] == [
            {"name": "x", "value": "1", "type": "int", "path": "x", "childCount": 0, "digest": None},
            {
                "name": "fn",
                "value": "<function f at app.py:1>",
                "type": "function",
                "path": "fn",
                "childCount": 2,
                "digest": None,
            },
        ]
        assert [each["name"] for each in stack["scopes"]] == ["Locals", "Globals"]
        threads = (await client.read("debugger://threads"))["threads"]
        assert [(each["name"], each["location"]["line"]) for each in threads] == [("MainThread", 12), ("server", 40)]


@pytest.mark.parametrize(
    ("reply", "asked"),
    [({"answer": answer(X)}, []), ({"error": {"kind": "raised", "message": "no"}}, [ASKED]), (7, [ASKED])],
    ids=["it is read", "it failed", "it is none"],
)
async def test_what_comes_with_a_stop_is_asked_for_only_where_it_cannot_be_read(
    reply: object, asked: list[object], autojump_clock: MockClock
) -> None:
    adapter = probed(answer(X))
    async with paused("legacy", adapter) as (client, _):

        async def step(_: object) -> object:
            await adapter.stop("step", answer=reply)
            return {}

        adapter.answer("next", step)
        before = len(adapter.probed)
        report = await client.call("debug_step")
        await trio.sleep(10)
        assert (report["at"], report["locals"]) == ("/src/app.py:12 in work", {"x": "1"})
        assert [question for _, question in adapter.probed[before:]] == asked


async def test_a_stop_in_a_handler_says_which_exception_is_being_handled_as_long_as_it_lasts(
    autojump_clock: MockClock,
) -> None:
    adapter = probed({**answer(X), "handling": "KeyError: 'a'"})
    async with paused("legacy", adapter) as (client, _):
        assert (await client.read("debugger://session"))["handling"] == "KeyError: 'a'"
        stop = await client.call("stop_get")
        assert stop["handling"] == "KeyError: 'a'"
        assert (await client.read(f"debugger://stop/{stop['stop']}"))["handling"] == "KeyError: 'a'"
        await client.call("debug_continue", timeout=1)
        assert "handling" not in await client.read("debugger://session")


async def test_frames_of_the_probe_are_good_for_requests_to_the_adapter(autojump_clock: MockClock) -> None:
    adapter = probed(answer(X))
    adapter.values = {"x": "1"}
    async with paused("legacy", adapter) as (client, _):
        await client.call("evaluate", expression="x", frame_index=1)
        assert [each["frameId"] for each in adapter.sent("evaluate") if "frameId" in each] == [51]
        await trio.sleep(1)
        assert adapter.probed[-1] == ("stop", COMPLETION)


async def test_code_of_the_program_is_run_once_the_stop_is_published(autojump_clock: MockClock) -> None:
    """A `__repr__` that takes three seconds neither delays the stop nor repeats it, and is run once."""
    adapter = probed(answer(X, SLOW))
    answers = adapter.answer_to("evaluate")

    async def slowly(arguments: dict[str, Any]) -> object:
        if '"threads": 0' in arguments["expression"]:
            await trio.sleep(3)
        return await answers(arguments)

    adapter.answer("evaluate", slowly)
    async with running("legacy", adapter) as (client, _):
        began = trio.current_time()
        await adapter.stop("breakpoint", hit=[1])
        report = await client.call("debug_wait")
        assert trio.current_time() - began == PROBE_SECONDS
        assert report["locals"] == {"x": "1", "slow": "<repr took over 0.5 s> (Slow)"}
        await trio.sleep(10)
        assert [asked for _, asked in adapter.probed] == [ASKED, COMPLETION]
        assert "variables" not in adapter.commands()
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"] == 1


async def test_of_several_values_without_an_answer_it_is_not_said_which_one_is_slow(
    autojump_clock: MockClock,
) -> None:
    adapter = probed(answer(SLOW, {**SLOW, "name": "other"}))
    answers = adapter.answer_to("evaluate")

    async def never(arguments: dict[str, Any]) -> object:
        if '"threads": 0' in arguments["expression"]:
            await trio.sleep_forever()
        return await answers(arguments)

    adapter.answer("evaluate", never)
    async with running("legacy", adapter) as (client, _):
        await adapter.stop("breakpoint")
        report = await client.call("debug_wait")
        text = "<no repr: one of these values took over 0.5 s> (Slow)"
        assert report["locals"] == {"slow": text, "other": text}


async def test_one_value_that_spoils_the_answer_spoils_no_other(autojump_clock: MockClock) -> None:
    adapter = probed(answer(X, SLOW, {**SLOW, "name": "odd"}))
    answers = adapter.answer_to("evaluate")
    asked = []

    async def odd(arguments: dict[str, Any]) -> object:
        expression = arguments["expression"]
        if '"threads": 0' in expression:
            return {"result": "no JSON"}
        if "probe.call('variables'" in expression:  # not the source of the probe, which may have anything in it
            asked.append(expression)
            good = {"variables": [], "total": 0, "value": "Slow(1)"}
            return {"result": json.dumps({"answer": good}) if '"path": "slow"' in expression else "[]"}
        return await answers(arguments)

    adapter.answer("evaluate", odd)
    async with running("legacy", adapter) as (client, _):
        await adapter.stop("breakpoint")
        values = [*(await client.call("debug_wait"))["locals"].values()]
        assert values[:2] == ["1", "Slow(1)"]
        assert values[2].startswith("<not shown: The answer cannot be read: ")
        assert len(asked) == 2


async def test_values_that_code_of_the_program_tells_are_there_at_once_if_it_is_quick(
    autojump_clock: MockClock,
) -> None:
    adapter = probed(answer(SLOW))
    quick = json.dumps({"answer": answer({"name": "slow", "value": "not slow"}), "ms": 1.0})
    answers = adapter.answer_to("evaluate")

    async def complete(arguments: dict[str, Any]) -> object:
        return {"result": quick} if '"threads": 0' in arguments["expression"] else await answers(arguments)

    adapter.answer("evaluate", complete)
    async with running("legacy", adapter) as (client, _):
        await adapter.stop("breakpoint")
        assert (await client.call("debug_wait"))["locals"] == {"slow": "not slow"}


async def test_without_an_answer_of_the_probe_the_adapter_is_asked(autojump_clock: MockClock) -> None:
    adapter = probed({})
    adapter.locals = {"a": "1"}
    async with paused("legacy", adapter) as (client, _):
        stack = await client.read("debugger://stack")
        assert stack["frames"][0]["name"] == "main"
        assert stack["locals"][0]["name"] == "a"
        assert {"threads", "stackTrace", "scopes", "variables"} <= set(adapter.commands())


@pytest.mark.parametrize("frames", [[], [{"index": 0, "file": FILE, "line": 9, "function": "f"}]])
async def test_an_answer_about_a_thread_that_is_not_stopped_is_not_used(
    autojump_clock: MockClock, frames: list[dict[str, Any]]
) -> None:
    adapter = probed({**answer(X), "frames": frames})
    async with paused("legacy", adapter) as (client, _):
        assert (await client.read("debugger://stack"))["frames"][0]["name"] == "main"


async def test_a_probe_that_is_slow_is_not_followed_by_a_fetch_of_variables(autojump_clock: MockClock) -> None:
    """That would run the same code of the program, and let the other threads run meanwhile."""
    adapter = probed(answer(X))
    answers = adapter.answer_to("evaluate")
    free_at = trio.current_time() + 15

    async def busy(arguments: dict[str, Any]) -> object:
        await trio.sleep_until(free_at)
        return await answers(arguments)

    async with running("legacy", adapter) as (client, _):
        adapter.answer("evaluate", busy)
        await adapter.stop("breakpoint")
        report = await client.call("debug_wait")
        assert report["at"] == "/src/app.py:1 in main"
        await trio.sleep(20)
        assert "variables" not in adapter.commands()
        assert (await client.read("debugger://stack"))["locals"][0]["name"] == "x"


async def test_a_probe_that_stays_silent_leaves_a_stop_without_locals(autojump_clock: MockClock) -> None:
    adapter = probed(answer(X))
    async with running("legacy", adapter) as (client, _):
        adapter.withhold("evaluate")
        await adapter.stop("breakpoint")
        report = await client.call("debug_wait")
        assert (report["state"], "locals" in report) == ("Paused", False)
        assert report["notes"] == ["the locals are not there yet: ask for them with variables_get"]
        await trio.sleep(60)
        assert "variables" not in adapter.commands()


async def test_a_source_that_only_the_program_has_is_found_by_its_number(autojump_clock: MockClock) -> None:
    adapter = probed({**answer(X), "frames": [{**frame(0, "made", 1), "file": "<made>", "source": 9}], "total": 1})

    async def text(arguments: dict[str, Any]) -> object:
        return {"content": f"source {arguments['sourceReference']}\n"}

    adapter.answer("source", text)
    async with paused("legacy", adapter) as (client, _):
        assert (await client.call("source_get", file="<made>"))["lines"] == ["1 source 9"]


async def test_what_functions_returned_is_reported(autojump_clock: MockClock) -> None:
    results = [
        {"name": f"f{n}", "value": "3", "type": "int", "path": f"__pydevd_ret_val_dict['']['f{n}']"} for n in range(30)
    ]
    adapter = probed(answer(X, returned=results))
    async with paused("legacy", adapter) as (client, _):
        adapter.answer("next", partial(stop, adapter, reason="step"))
        report = await client.call("debug_step")
        assert len(report["returned"]) == MAX_RETURNED
        assert report["returned"]["f0"] == "3"
        adapter.probe = {"stop": answer(X)}
        assert "returned" not in await client.call("debug_step")


async def test_locals_beyond_those_that_are_kept_are_counted(autojump_clock: MockClock) -> None:
    adapter = probed(answer(X, localsTotal=250))
    async with paused("legacy", adapter) as (client, _):
        adapter.answer("next", partial(stop, adapter, reason="step"))
        assert (await client.call("debug_step"))["omitted"] == {"locals": 249}


async def test_globals_that_the_statement_reads_are_shown_as_far_as_there_is_room(autojump_clock: MockClock) -> None:
    rate = {"name": "RATE", "value": "0.2", "type": "float"}
    long = [{"name": f"TEXT{number}", "value": repr("t" * 700), "type": "str"} for number in range(2)]
    adapter = probed(answer(X, globals=[rate, *long]))
    async with paused("legacy", adapter) as (client, _):
        adapter.answer("next", partial(stop, adapter, reason="step"))
        report = await client.call("debug_step")
        assert report["globals"] == {"RATE": "0.2", "TEXT0": repr("t" * 700)}
        assert (report["locals"], report["omitted"]) == ({"x": "1"}, {"globals": 1})
        data = await client.call("debug_state", full=True)
        assert [each["name"] for each in data["globals"]] == ["RATE", "TEXT0", "TEXT1"]
        past = await client.call("stop_get", stop=data["stop"])
        assert (past["globals"], past["omitted"]) == (report["globals"], report["omitted"])
        adapter.probe = {"stop": answer(X)}
        assert "globals" not in await client.call("debug_step")


async def test_globals_that_only_code_of_the_program_shows_are_asked_for_as_locals_are(
    autojump_clock: MockClock,
) -> None:
    adapter = probed(answer(X, globals=[{**SLOW, "name": "box"}]))
    quick = json.dumps({"answer": answer(X, globals=[{"name": "box", "value": "Box(3)"}]), "ms": 1.0})
    answers = adapter.answer_to("evaluate")

    async def complete(arguments: dict[str, Any]) -> object:
        return {"result": quick} if '"threads": 0' in arguments["expression"] else await answers(arguments)

    adapter.answer("evaluate", complete)
    async with running("legacy", adapter) as (client, _):
        await adapter.stop("breakpoint")
        assert (await client.call("debug_wait"))["globals"] == {"box": "Box(3)"}


async def test_threads_that_the_probe_left_out_are_listed_by_the_adapter(autojump_clock: MockClock) -> None:
    adapter = probed(answer(X, threadsTotal=3))
    adapter.threads = [(1, "MainThread"), (2, "server"), (3, "late")]
    async with paused("legacy", adapter) as (client, _):
        threads = (await client.read("debugger://threads"))["threads"]
        assert [(each["name"], each["location"] is not None) for each in threads] == [
            ("MainThread", True),
            ("server", True),
            ("late", False),
        ]


async def test_at_an_exception_the_locals_come_from_the_probe(autojump_clock: MockClock) -> None:
    adapter = probed({**answer(X), "frames": []})
    async with connect("legacy", options=adapter.options()) as client:
        await client.call("breakpoint_set_exception", exception_type="*")
        adapter.values = {"id(__exception__[1])": "1"}
        await launch(client, adapter)
        await trio.sleep(10)
        await adapter.stop("exception")
        report = await client.call("debug_wait")
        assert (report["at"], report["exception"]) == ("/src/app.py:1 in main", "ValueError: bad")
        assert report["locals"] == {"x": "1"}
        # The first question is to put the probe into the program, so that pydevd's stack has places that users know.
        assert adapter.probed == [("stop", {"thread": 1, "frames": 0}), ("stop", {**ASKED, "frames": 0})]


async def test_a_stop_that_pydevd_repeats_after_slow_variables_is_the_same_stop(autojump_clock: MockClock) -> None:
    """It reports `continued`, as it lets the other threads run meanwhile, and then the stop once more."""
    adapter = FakeAdapter()
    adapter.locals = {"a": "1"}
    variables = adapter.answer_to("variables")

    async def slowly(arguments: dict[str, Any]) -> object:
        await trio.sleep(3)
        await adapter.event("continued", {"threadId": 1, "allThreadsContinued": True})
        await trio.sleep(1)
        await adapter.stop("breakpoint", hit=[1])
        return await variables(arguments)

    adapter.answer("variables", slowly)
    async with running("legacy", adapter) as (client, _):
        await adapter.stop("breakpoint", hit=[1])
        assert (await client.call("debug_wait"))["state"] == "Paused"
        await trio.sleep(20)
        assert (await client.read("debugger://stack"))["locals"][0]["name"] == "a"
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"] == 1
        assert len(adapter.sent("variables")) == 1
        adapter.restore("variables")
        adapter.answer("next", partial(stop, adapter, reason="step"))
        assert (await client.call("debug_step"))["reason"] == "Step"  # an echo would have been dropped
