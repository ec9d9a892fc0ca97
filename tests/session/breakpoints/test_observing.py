"""Runs that are observed: batch_evaluate and debug_run_until on adapters whose stops no client sees, and their ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, SESSION, failure, launch
from tests.session.passes import Passes
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect, open_server

LOOP = [(line, {"x": str(x), "x > 1": str(x > 1), "y": "7"}) for x in range(4) for line in (10, 11, 12)]


@asynccontextmanager
async def at_entry(
    *passes: tuple[int, dict[str, str]], endless: bool = False
) -> AsyncIterator[tuple[DebugClient, FakeAdapter, Passes]]:
    """A session that is paused at its entry, whose program then passes some lines."""
    adapter = FakeAdapter()
    script = Passes(adapter, *(passes or LOOP), endless=endless)
    async with connect(options=adapter.options()) as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
        yield client, adapter, script


def place(adapter: FakeAdapter, line: int, **more: Any) -> dict[str, Any]:
    return {"file": adapter.program, "line": line, **more}


async def batch(client: DebugClient, *experiments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return await client.call("batch_evaluate", experiments=experiments, **more)


async def own(client: DebugClient) -> list[tuple[str, str, int, int]]:
    """The user's breakpoints, as they are listed."""
    found = (await client.read(BREAKPOINTS))["breakpoints"]
    return [(each["id"], each["state"], each["line"], each["hitCount"]) for each in found]


# --- A batch ----------------------------------------------------------------------------------------------------------


async def test_hypotheses_about_a_loop_take_one_call_and_end_at_the_hit_that_completes_them(
    autojump_clock: MockClock,
) -> None:
    async with at_entry() as (client, adapter, script):
        found = await batch(
            client,
            place(adapter, 10, capture=["x", "nope"], max_hits=2),
            place(adapter, 11, capture=["x"], condition="x > 1"),
            place(adapter, 10, capture=["y"], condition="x > 1", max_hits=2),
        )
        nope = "<error: NameError: name 'nope' is not defined>"
        assert [each["status"] for each in found["experiments"]] == ["complete"] * 3
        assert [each["hitCount"] for each in found["experiments"]] == [2, 1, 2]
        assert found["experiments"][0]["hits"] == [{"x": "0", "nope": nope}, {"x": "1", "nope": nope}]
        assert found["experiments"][1] | {"at": ""} == {
            "at": "", "status": "complete", "hitCount": 1, "passes": 3, "hits": [{"x": "2"}],
        }  # fmt: skip
        assert found["experiments"][2]["hits"] == [{"y": "7"}, {"y": "7"}]
        assert (found["ended"], found["state"], found["reason"]) == ("complete", "Paused", "Step")
        assert (found["at"].rpartition(":")[2], script.here) == ("10 in work", 10)
        assert script.lines == {}
        assert "breakpoints" not in found
        assert await own(client) == []


async def test_an_error_in_the_data_of_a_hit_is_not_its_value(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, _):
        found = await batch(client, place(adapter, 10, capture=["x", "nope"]), full=True)
        ((x, nope),) = found["experiments"][0]["hits"]
        assert (x["value"], x["error"]) == ("0", None)
        assert (nope["value"], nope["error"]) == (None, "error: NameError: name 'nope' is not defined")


async def test_a_restart_after_a_batch_stops_at_entry_as_its_launch_would_have(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    Passes(adapter, *LOOP)
    async with connect(options=adapter.options()) as client:
        await batch(client, place(adapter, 10), launch={"program": adapter.program})
        assert adapter.sent("launch")[-1]["stopOnEntry"] is False
        assert (await client.call("debug_restart", timeout=2))["reason"] == "Entry"
        await client.call("debug_disconnect")
        await batch(client, place(adapter, 10))
        assert adapter.sent("launch")[-1]["stopOnEntry"] is False
        await client.call("debug_restart", timeout=2)
        assert adapter.sent("launch")[-1]["stopOnEntry"] is True
        never = {"program": adapter.program, "stop_at_entry": False, "replace": True}
        await batch(client, place(adapter, 10), launch=never)
        await client.call("debug_restart", timeout=2)
        assert adapter.sent("launch")[-1]["stopOnEntry"] is False


async def test_no_stop_of_a_batch_is_seen_but_the_last(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, _):
        await trio.sleep(5)
        async with client.subscribed(SESSION, BREAKPOINTS):
            await batch(client, place(adapter, 10, max_hits=3))
            await trio.sleep(5)
        assert len(client.times_of(SESSION)) <= 2, "it ran, and has stopped"
        events = (await client.call("timeline_query", types=["stopped", "breakpointHit"], full=True))["events"]
        assert len(events) <= 2, "the entry and the last one"


async def test_an_experiment_that_has_its_hits_costs_no_more_stops(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, script):
        stops: list[int] = []
        script.before_stop = stops.append
        await batch(client, place(adapter, 10), place(adapter, 12, max_hits=2))
        assert stops == [10, 12, 12]


async def test_the_users_breakpoints_are_held_and_come_back_as_they_were(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, script):
        await client.call("breakpoint_set", file=adapter.program, line=10)
        await client.call("breakpoint_set", file=adapter.program, line=12, condition="x > 1")
        await client.call("breakpoint_set", function="work")
        before = await own(client)
        found = await batch(client, place(adapter, 10, capture=["x"], max_hits=3))
        assert found["ended"] == "complete"
        assert found["notes"] == ["held meanwhile: bp-1, bp-2, fn-3"]
        assert await own(client) == before, "not one hit of theirs, as they did not stop the program"
        assert [*script.lines] == [10, 12]
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"][1]["condition"] == "x > 1"
        assert [each["breakpoints"] for each in adapter.sent("setFunctionBreakpoints")][-2:] == [[], [{"name": "work"}]]
        functions = (await client.read(BREAKPOINTS))["functionBreakpoints"]
        assert [(each["state"], each["verified"]) for each in functions] == [("Bound", True)]
        assert (await client.call("debug_continue"))["breakpoints"] == ["bp-2"]


async def test_hit_conditions_that_the_adapter_counts_do_not_count_meanwhile(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, _):
        await client.call("breakpoint_set", file=adapter.program, line=10, hit_condition="5")
        await client.call("breakpoint_set", file=adapter.program, line=12)
        found = await batch(client, place(adapter, 10, capture=["x"], max_hits=3))
        uncounted = "passes meanwhile did not count for the hit conditions of: bp-1"
        assert found["notes"] == ["held meanwhile: bp-1, bp-2", uncounted]


async def test_what_is_there_at_the_timeout_is_answered_and_the_program_runs_on(autojump_clock: MockClock) -> None:
    async with at_entry(endless=True) as (client, adapter, script):
        await client.call("breakpoint_set", file=adapter.program, line=20)
        began = trio.current_time()
        found = await batch(
            client,
            place(adapter, 10, capture=["x"], max_hits=9),
            place(adapter, 11, condition="nope"),
            place(adapter, 19),
            timeout=3,
        )
        assert trio.current_time() - began < 4
        assert (found["ended"], found["state"], found["timedOut"]) == ("timeout", "Running", True)
        statuses = [(each["status"], each.get("hitCount")) for each in found["experiments"]]
        assert statuses == [("partial", 4), ("failed", None), ("notHit", None)]
        failed = found["experiments"][1]
        assert (failed["failures"], failed["passes"]) == (4, 4)
        assert failed["error"].startswith("the condition failed: NameError: ")
        assert [*script.lines] == [20]
        assert await own(client) == [("bp-1", "Bound", 20, 0)]


async def test_the_end_of_the_program_ends_a_batch(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, _):
        await client.call("breakpoint_set", file=adapter.program, line=10)
        found = await batch(client, place(adapter, 12, max_hits=5))
        assert (found["ended"], found["state"], found["reason"]) == ("exited", "Disconnected", "Exited")
        assert found["experiments"][0]["hitCount"] == 4
        assert found["notes"] == ["held meanwhile: bp-1"], "not that it has stopped nothing"


async def test_the_hits_of_all_experiments_are_bounded_together(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, _):
        found = await batch(client, place(adapter, 10, max_hits=9), place(adapter, 12, max_hits=9), max_total_hits=3)
        assert (found["ended"], found["state"]) == ("maxTotalHits", "Paused")
        assert [each["hitCount"] for each in found["experiments"]] == [2, 1]


async def test_of_several_experiments_on_a_line_any_one_completes_the_batch_there(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, script):
        found = await batch(
            client,
            place(adapter, 11, condition="x > 1", capture=["x"]),
            place(adapter, 11, capture=["y"]),
            max_total_hits=1,
        )
        assert (found["ended"], found["state"], script.here) == ("maxTotalHits", "Paused", 2)
        assert [each["hitCount"] for each in found["experiments"] if "hitCount" in each] == [1]


async def test_a_capture_that_takes_too_long_is_evaluated_once_in_a_batch(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, _):
        evaluate = adapter.answer_to("evaluate")
        slow = 0

        async def slowly(arguments: dict[str, Any]) -> object:
            nonlocal slow
            if arguments["expression"] == "slow":
                slow += 1
                await trio.sleep(5)
            return await evaluate(arguments)

        adapter.answer("evaluate", slowly)
        for batches, max_hits in ((1, 2), (2, 1)):
            found = await batch(client, place(adapter, 11, capture=["slow", "y"], max_hits=max_hits), timeout=60)
            hits = found["experiments"][0]["hits"]
            assert [each["y"] for each in hits] == ["7"] * max_hits
            assert all("not evaluated again" in each["slow"] for each in hits[1:])
            assert "not evaluated again" not in hits[0]["slow"]
            assert slow == batches, "once in each"


async def test_a_stop_for_another_reason_on_an_observed_line_does_not_count_as_a_pass(
    autojump_clock: MockClock,
) -> None:
    async with at_entry(endless=True) as (client, adapter, _), trio.open_nursery() as nursery:

        async def pause() -> None:
            await trio.sleep(1)
            adapter.frames = [("work", adapter.program, 19)]
            await adapter.stop("pause")

        nursery.start_soon(pause)
        found = await batch(client, place(adapter, 19, capture=["y"]))
        assert (found["ended"], found["reason"]) == ("stopped", "Pause")
        assert found["experiments"][0]["status"] == "notHit"


async def test_any_other_stop_ends_a_batch_and_is_answered(autojump_clock: MockClock) -> None:
    async with at_entry(endless=True) as (client, adapter, script):
        async with trio.open_nursery() as nursery:

            async def interfere() -> None:
                await trio.sleep(1)
                await client.call("breakpoint_set", file=adapter.program, line=13)
                adapter.frames = [("work", adapter.program, 13)]
                await adapter.stop("breakpoint", hit=[script.lines[13]])

            nursery.start_soon(interfere)
            found = await batch(client, place(adapter, 10, max_hits=9))
        assert (found["ended"], found["breakpoints"], found["experiments"][0]["hitCount"]) == ("stopped", ["bp-1"], 4)
        assert await own(client) == [("bp-1", "Bound", 13, 1)]


async def test_a_breakpoint_that_is_set_meanwhile_on_an_observed_line_stops_there(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, script):
        async with trio.open_nursery() as nursery:

            def at_third(line: int) -> None:
                if script.here == 7:
                    nursery.start_soon(set_there)

            async def set_there() -> None:
                await client.call("breakpoint_set", file=adapter.program, line=10)

            async def slowly(arguments: object) -> object:
                await trio.sleep(1)
                return {}

            adapter.answer("threads", slowly)
            script.before_stop = at_third
            found = await batch(client, place(adapter, 10, capture=["x"], max_hits=9))
        assert (found["ended"], found["breakpoints"]) == ("stopped", ["bp-1"])
        assert found["experiments"][0]["hits"][-1] == {"x": "2"}, "the experiment has that hit as well"


async def test_a_running_program_is_observed_and_never_stopped(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    script = Passes(adapter, *LOOP, endless=True)
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        async with trio.open_nursery() as nursery:

            async def run() -> None:
                await trio.sleep(1)
                await script._advance()  # noqa: SLF001

            nursery.start_soon(run)
            found = await batch(client, place(adapter, 10, capture=["x"], max_hits=2))
        assert (found["ended"], found["state"], "timedOut" in found) == ("complete", "Running", False)
        assert (await client.read(SESSION))["state"] == "Running"
        assert script.lines == {}


async def test_without_a_session_the_last_program_is_run_again(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, script):
        await client.call("debug_continue")
        script.here = 0

        async def started(arguments: dict[str, Any]) -> object:
            assert not arguments.get("stopOnEntry")
            await adapter.configured.wait()
            return {}

        adapter.answer("launch", started, then=script._advance)  # noqa: SLF001
        found = await batch(client, place(adapter, 10, capture=["x"], max_hits=2))
        assert (found["ended"], found["experiments"][0]["hits"]) == ("complete", [{"x": "0"}, {"x": "1"}])
        assert found["session"] == "s-2"
        script.here = 0
        again = await batch(
            client, place(adapter, 11), launch={"program": adapter.program, "replace": True, "args": ["a"]}
        )
        assert (again["ended"], again["session"]) == ("complete", "s-3")
        assert adapter.sent("launch")[-1]["args"] == ["a"]


async def test_what_is_wrong_with_an_experiment_is_said_before_anything_moves(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, _):
        sent = len(adapter.requests)
        for number, wrong, code in (
            (1, {"file": "/nowhere.py", "line": 3}, "INVALID_PATH"),
            (2, {"file": adapter.program}, "INVALID_PARAMETER"),
        ):
            experiments = [place(adapter, 10)] * (number - 1) + [wrong]
            failed = await failure(client, "batch_evaluate", experiments=experiments)
            assert (failed.code, failed.message.split(":")[0]) == (code, f"Experiment {number}")
        for number in (0, 21):
            many = [place(adapter, 1)] * number
            assert (await failure(client, "batch_evaluate", experiments=many)).code == "INVALID_PARAMETER"
        refused = await failure(client, "batch_evaluate", experiments=[place(adapter, 1)], launch={"program": "x"})
        assert refused.code == "SESSION_ACTIVE"
        assert len(adapter.requests) == sent


async def test_without_anything_to_run_a_batch_says_how_to_start(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client:
        assert (await failure(client, "batch_evaluate", experiments=[place(adapter, 1)])).code == "NO_SESSION"
        assert (await failure(client, "debug_run_until", expression="x", **place(adapter, 1))).code == "NO_SESSION"
        await launch(client, adapter)
        assert (await failure(client, "debug_run_until", expression="x", **place(adapter, 1))).code == "NOT_PAUSED"


async def test_two_batches_at_once_are_refused(autojump_clock: MockClock) -> None:
    async with at_entry(endless=True) as (client, adapter, script):
        await client.call("breakpoint_set", file=adapter.program, line=20)
        async with trio.open_nursery() as nursery:

            async def second() -> None:
                await trio.sleep(1)
                refused = await failure(client, "batch_evaluate", experiments=[place(adapter, 11)])
                assert (refused.code, "under way" in refused.message) == ("NOT_PAUSED", True)
                assert [*script.lines] == [19]

            nursery.start_soon(second)
            await batch(client, place(adapter, 19), timeout=3)
        assert [*script.lines] == [20]


# --- Until an expression holds ----------------------------------------------------------------------------------------


async def test_a_run_until_an_expression_holds_stops_there_and_says_how_often_it_looked(
    autojump_clock: MockClock,
) -> None:
    async with at_entry() as (client, adapter, script):
        await client.call("breakpoint_set", file=adapter.program, line=40)
        found = await client.call("debug_run_until", expression="x > 1", **place(adapter, 11), show=["y"])
        assert (found["holds"], found["looks"], found["reason"], found["show"]) == (True, 3, "Step", {"y": "7"})
        assert [*script.lines] == [40]


async def test_an_expression_that_never_holds_is_answered_with_its_last_value(autojump_clock: MockClock) -> None:
    async with at_entry(endless=True) as (client, adapter, _):
        found = await client.call("debug_run_until", expression="x > 1", **place(adapter, 19), timeout=2)
        assert (found["timedOut"], found["looks"], found["notes"]) == (True, 0, ["never reached"])
        assert "value" not in found
    falsy = [(10, {"x": "0"}), (10, {"x": "0x0"}), (10, {"x": "nil"}), (10, {"x": "false"})]
    async with at_entry(*falsy) as (client, adapter, _):
        found = await client.call("debug_run_until", expression="x", **place(adapter, 10))
        assert (found["state"], found["looks"], found["value"]) == ("Disconnected", 4, "false")


async def test_an_expression_that_fails_at_once_stops_at_its_first_look(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, script):
        found = await client.call("debug_run_until", expression="nope", **place(adapter, 11))
        assert (found["state"], found["looks"], script.here) == ("Paused", 1, 2)
        assert found["notes"][-1].startswith("stopped there, as the first look failed: NameError: ")
    later = [(10, {"x": "0"}), (10, {}), (10, {"x": "1"})]
    async with at_entry(*later) as (client, adapter, _):
        found = await client.call("debug_run_until", expression="x", **place(adapter, 10))
        assert (found["holds"], found["looks"], found["failures"]) == (True, 3, 1)


async def test_the_users_breakpoints_stop_a_run_until_an_expression_holds(autojump_clock: MockClock) -> None:
    async with at_entry() as (client, adapter, script):
        await client.call("breakpoint_set", file=adapter.program, line=12)
        found = await client.call("debug_run_until", expression="x > 1", **place(adapter, 11))
        assert (found["breakpoints"], found["looks"]) == (["bp-1"], 1)
        await client.call("breakpoint_set", file=adapter.program, line=11)
        found = await client.call("debug_run_until", expression="x > 1", **place(adapter, 11))
        assert (found["breakpoints"], found["looks"], script.here) == (["bp-2"], 1, 5)
        found = await client.call("debug_run_until", expression="x", function="absent", timeout=1)
        assert found["breakpoints"] == ["bp-1"]


# --- Cancelled anywhere -----------------------------------------------------------------------------------------------


class Steps(trio.abc.Instrument):
    """Cancels a task at a step of it that is chosen."""

    def __init__(self, scope: trio.CancelScope, at: int) -> None:
        self.task = trio.lowlevel.current_task()
        self.scope = scope
        self.left = at

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if task is self.task:
            self.left -= 1
            if self.left == 0:
                self.scope.cancel()


@pytest.mark.parametrize("tool", ["batch_evaluate", "debug_run_until"])
async def test_cancelled_at_any_point_nothing_is_left_behind(tool: str, autojump_clock: MockClock) -> None:
    step = 0
    cancelled = True
    while cancelled:
        step += 1
        cancelled = await cancelled_at(tool, step)
    assert step > 10


async def cancelled_at(tool: str, step: int) -> bool:
    """Cancel a call at one of its steps; return whether that was before its end."""
    adapter = FakeAdapter()
    script = Passes(adapter, *LOOP, endless=True)
    where = {"file": adapter.program, "line": 11}
    arguments: dict[str, Any] = {"expression": "x > 1", **where}
    if tool == "batch_evaluate":
        arguments = {"experiments": [{**where, "capture": ["x"], "max_hits": 4}, {**where, "condition": "x > 1"}]}
    async with open_server(adapter.options()) as server, server.connect() as client:
        debugger, call = server.app.debugger, client.call
        await call("debug_launch", program=adapter.program, stop_at_entry=True)
        await call("breakpoint_set", file=adapter.program, line=20)
        before = listed(debugger)
        with trio.CancelScope() as scope:
            cancelling = Steps(scope, step)
            trio.lowlevel.add_instrument(cancelling)
            try:
                await open_toolbox().call(debugger, tool, arguments)
            finally:
                trio.lowlevel.remove_instrument(cancelling)
        await trio.sleep(5)
        assert listed(debugger) == before, (step, debugger.state.last, script.here)
        assert [*script.lines] == [20], step
        assert debugger.state.focus == "s-1"
        paused = debugger.state.focused is not None and debugger.state.focused.phase == "Paused"
        stop = await call("debug_state")
        assert stop["state"] == ("Paused" if paused else "Running")
        if paused:
            assert (stop["reason"] == "Entry") == (script.here == 0), step
            await call("debug_continue", timeout=1)
        assert not debugger.state.focused or debugger.state.focused.phase == "Running", step
        await adapter.stop("breakpoint", hit=[script.lines[20]])
        assert (await call("debug_wait"))["breakpoints"] == ["bp-1"], "the program can be debugged as before"
    return scope.cancelled_caught


SET: dict[str, dict[str, Any]] = {
    "tracepoint_set": {"line": 11, "log_message": "x={x}"},
    "breakpoint_set": {"function": "pay"},
    "breakpoint_set_exception": {"exception_type": "ValueError"},
}


@pytest.mark.parametrize("tool", SET)
async def test_a_breakpoint_whose_setting_is_cancelled_is_set_whole_or_not_at_all(
    tool: str, autojump_clock: MockClock
) -> None:
    for step in range(1, 30):
        adapter = FakeAdapter()
        script = Passes(adapter, *LOOP, endless=True)
        async with open_server(adapter.options()) as server, server.connect() as client:
            debugger = server.app.debugger
            await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
            await client.call("breakpoint_set", file=adapter.program, line=20)
            arguments = SET[tool] if tool != "tracepoint_set" else {"file": adapter.program, **SET[tool]}
            with trio.CancelScope() as scope:
                cancelling = Steps(scope, step)
                trio.lowlevel.add_instrument(cancelling)
                try:
                    await open_toolbox().call(debugger, tool, arguments)
                finally:
                    trio.lowlevel.remove_instrument(cancelling)
            await trio.sleep(5)
            state = debugger.state
            assert sorted(script.lines) == sorted(each.spec.line for each in state.stop_places if each.spec.line), step
            functions = [
                each["name"] for sent in adapter.sent("setFunctionBreakpoints")[-1:] for each in sent["breakpoints"]
            ]
            assert functions == [each.spec.function for each in state.stop_places if each.spec.function], step
            raised = "raised" in adapter.sent("setExceptionBreakpoints")[-1]["filters"]
            assert raised == bool(state.exceptions), step
            assert (await client.call("debug_state"))["reason"] == "Entry"
        if not scope.cancelled_caught:
            break
    assert step > 2


def listed(debugger: Debugger) -> list[tuple[str, int | None, bool, bool, list[bool]]]:
    return [
        (each.id, each.spec.line, each.enabled, each.is_held, [binding.verified for binding in each.bindings])
        for each in debugger.state.stop_places
    ]
