"""`trace_function` with a scripted program: what is asked of it, in which order, and that nothing is left behind."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, launch
from tests.session.answers import refuse
from tests.session.test_children import adopt
from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles.python.code_files import PythonCode
from trio_debugmcp.server.answers.call_lines import PathChange
from trio_debugmcp.server.tools.moving.tracing import REPLACED, STOP_SECONDS, TraceData
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.state.payloads import Location
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect
from trio_debugmcp.testing.fake_adapter import ProbedProfile

PROGRAM = """\
class Shop:
    def total(self, kinds):
        paid = 0
        for kind in kinds:
            paid += len(kind)
        return paid


def total(kinds):
    return Shop().total(kinds)


def short(): return 1


Shop().total(["tea"])
"""

PLACE = {"file": "shop.py", "line": 3, "function": "Shop.total"}

CALL = {
    "place": PLACE,
    "caller": {"file": "shop.py", "line": 16, "function": "<module>"},
    "arguments": [["self", "Shop()"], ["kinds", "['tea']"]],
    "head": [[3, [["paid", "0"]], []], [4, [["kind", "'tea'"]], []], [5, [["paid", "3"]], []], [4, [], []]],
    "count": 4,
    "outcome": ["returned", "3"],
}

ENDED = {"looked": 1, "begun": 1, "ended": True, "calls": [CALL]}

WAITING = {"looked": 0, "begun": 0}


class Python(ProbedProfile):
    """A scripted adapter of Python programs."""

    code = PythonCode()


class Scene:
    """A program in a file, and what it answers."""

    def __init__(self, client: DebugClient, adapter: FakeAdapter, file: Path) -> None:
        self.client, self.adapter, self.file = client, adapter, str(file)

    async def trace(self, **arguments: Any) -> Any:
        return await self.client.call("trace_function", **{"function": "Shop.total", **arguments})

    def sent(self) -> list[list[Any]]:
        """The breakpoints that the file has had: line and condition of each."""
        return [
            [(each["line"], each.get("condition", "")) for each in more["breakpoints"]]
            for more in self.adapter.sent("setBreakpoints")
            if more["source"]["path"] == self.file
        ]

    def asked(self) -> list[str]:
        return [name for name, _ in self.adapter.probed if name in ("trace", "traced")]

    def clean(self, own: int = 1) -> None:
        """Nothing of ours is left: the user's breakpoint alone, and the program's trace has been taken."""
        assert [line for line, _ in self.sent()[-1]] == [own]
        taken = [more.get("take", False) for name, more in self.adapter.probed if name in ("trace", "traced")]
        assert not taken or taken[-1]


@asynccontextmanager
async def scene(tmp_path: Path, *, paused: bool = True) -> AsyncIterator[Scene]:
    file = tmp_path / "shop.py"
    file.write_text(PROGRAM)
    adapter = FakeAdapter()
    adapter.capabilities["hitRecords"] = "1"
    adapter.probe = {"trace": {}, "traced": WAITING, "record": {"recording": True}}
    adapter.program = str(file)
    options = Options(settings=Settings(directory="/", profiles=(Python(adapter),)))
    async with connect("legacy", options=options) as client:
        await client.call("breakpoint_set", file=str(file), line=1)
        await launch(client, adapter)
        await trio.sleep(10)
        if paused:
            await adapter.stop("entry")
            await trio.sleep(10)
        yield Scene(client, adapter, file)


def on_continue(found: Scene, then: Callable[[], Any], nursery: trio.Nursery) -> None:
    """Do something soon after the program was resumed."""

    async def later() -> None:
        await trio.sleep(0.5)
        await then()

    def request(command: str, arguments: object) -> None:
        if command == "continue":
            nursery.start_soon(later)

    found.adapter.on_request = request


async def return_from_call(found: Scene) -> None:
    """The traced call ends, and the program stops behind it."""
    assert found.adapter.probe is not None
    found.adapter.probe["traced"] = ENDED
    await trio.sleep(0.1)
    await found.adapter.stop("step")


async def test_a_trace_is_data_for_a_program(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found, trio.open_nursery() as nursery:
        on_continue(found, partial(return_from_call, found), nursery)
        answer = await found.trace(full=True)
        trace = msgspec.convert(answer, TraceData, strict=True)
        assert msgspec.to_builtins(trace) == answer
        assert (trace.function, trace.file, trace.line) == ("Shop.total", found.file, 2)
        (traced,) = trace.calls
        assert (traced.returned, traced.raised, traced.ran) == ("3", None, 4)
        first = traced.lines[0]
        assert (first.line, first.source, first.changes) == (3, "paid = 0", [PathChange("paid", "0")])
        assert (trace.stop.state, trace.stop.location) == ("Paused", Location("/src/app.py", 1, 1, "main", None))


async def test_the_call_is_found_followed_and_shown_with_the_stop(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found, trio.open_nursery() as nursery:
        on_continue(found, partial(return_from_call, found), nursery)
        answer = await found.trace()
        where = found.file
        assert answer["function"] == f"Shop.total {where}:2"
        assert "full" not in answer["stop"], "the words have no data in them"
        assert answer["calls"] == [
            {
                "caller": "shop.py:16 in <module>",
                "arguments": "self=Shop(), kinds=['tea']",
                "lines": [
                    "3 paid = 0  # paid=0",
                    "4 for kind in kinds:  # kind='tea'",
                    "5 paid += len(kind)  # paid=3",
                    "4",
                ],
                "returned": "3",
            }
        ]
        assert answer["stop"]["reason"] == "Step"
        assert "notes" not in answer
        (asked,) = [more for name, more in found.adapter.probed if name == "trace"]
        assert asked["wanted"] == {"name": "total", "calls": 1, "stop": True, "head": 2000}
        (hidden,) = [each for each in found.sent() if len(each) == 2]
        assert hidden[1][0] == 3
        assert "probe.reached(" in hidden[1][1]
        found.clean()
        listed = await found.client.call("breakpoint_list")
        assert len(listed["breakpoints"]) == 1
        assert found.adapter.commands().count("continue") == 1


async def test_a_call_that_has_just_begun_is_the_one_that_is_traced(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path, paused=False) as found:
        probed = found.adapter.answer_to("evaluate")

        async def evaluated(arguments: dict[str, Any]) -> object:
            return {"result": "False", "variablesReference": 0} if "frameId" in arguments else await probed(arguments)

        found.adapter.answer("evaluate", evaluated)
        for line, begun in ((3, True), (4, False)):
            found.adapter.frames = [("total", found.file, line)]
            await found.adapter.stop("breakpoint")
            await trio.sleep(10)
            before = len(found.adapter.requests)
            await found.trace(timeout=1)
            sent = found.adapter.requests[before:]
            resumed = [command for command, _ in sent].index("continue")
            here = [index for index, (_, more) in enumerate(sent) if "probe.reached(" in more.get("expression", "")]
            assert len(here) == begun
            assert all(index < resumed and "frameId" in sent[index][1] for index in here)


async def test_one_that_is_never_called_says_so_after_its_time(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found:
        assert found.adapter.probe is not None
        found.adapter.probe["traced"] = {**WAITING, "looked": 4, "underWay": 4}
        begin = trio.current_time()
        answer = await found.trace(timeout=7)
        assert 7 <= trio.current_time() - begin < 9
        assert answer["calls"] == []
        assert answer["notes"] == [
            "Shop.total was not called within 7 s",
            "4 times its first line ran in a call that had begun before",
        ]
        assert answer["stop"]["timedOut"]
        found.clean()


async def test_a_running_program_is_not_resumed_and_not_stopped(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path, paused=False) as found:
        assert found.adapter.probe is not None
        found.adapter.probe["traced"] = {**ENDED, "calls": [CALL, {**CALL, "outcome": None}], "begun": 2}
        answer = await found.trace(calls=3, max_lines=10)
        assert found.adapter.sent("continue") == []
        assert answer["notes"] == [
            "2 of 3 calls began",
            "1 call had not ended when it ended; the lines up to there are shown",
        ]
        (asked,) = [more for name, more in found.adapter.probed if name == "trace"]
        assert asked["wanted"] == {"name": "total", "calls": 3, "stop": False, "head": 666}
        found.clean()


async def test_where_the_stop_does_not_come_the_answer_does(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found:
        assert found.adapter.probe is not None
        more = {"failure": "RuntimeError: broken", "calls": [{**CALL, "unwatched": 2, "count": 9}]}
        found.adapter.probe["traced"] = ENDED
        begin = trio.current_time()
        answer = await found.trace()
        assert STOP_SECONDS <= trio.current_time() - begin < STOP_SECONDS + 2
        assert answer["stop"]["state"] == "Running"
        assert "timedOut" not in answer["stop"]
        await found.adapter.stop("pause")
        await trio.sleep(10)
        found.adapter.probe["traced"] = {**ENDED, **more}
        begin = trio.current_time()
        answer = await found.trace()
        assert STOP_SECONDS <= trio.current_time() - begin < STOP_SECONDS + 2
        assert found.adapter.commands().count("pause") == 1
        assert answer["calls"][0]["ran"] == 9
        assert answer["notes"] == [
            "at 2 lines variables were not compared, as that had taken too long",
            "the trace failed, and was ended: RuntimeError: broken",
        ]


async def test_a_trace_that_fails_pauses_the_program(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found, trio.open_nursery() as nursery:
        assert found.adapter.probe is not None
        begun = {**CALL, "outcome": None}
        found.adapter.probe["traced"] = {**ENDED, "failure": "RuntimeError: broken", "calls": [begun]}

        def request(command: str, arguments: object) -> None:
            if command == "pause":
                nursery.start_soon(found.adapter.stop, "pause")

        found.adapter.on_request = request
        answer = await found.trace(timeout=10)
        assert answer["stop"]["state"] == "Paused"
        assert "timedOut" not in answer["stop"]
        assert len(answer["calls"][0]["lines"]) == 4
        assert answer["notes"] == [
            "1 call had not ended when the trace failed; the lines up to there are shown",
            "the trace failed, and was ended: RuntimeError: broken",
        ]
        found.clean()


async def test_a_stop_of_the_users_ends_it(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found, trio.open_nursery() as nursery:
        assert found.adapter.probe is not None
        found.adapter.probe["traced"] = {"begun": 1, "open": 1, "calls": [{**CALL, "outcome": None}]}
        on_continue(found, partial(found.adapter.stop, "breakpoint"), nursery)
        answer = await found.trace()
        assert answer["stop"]["reason"] == "Breakpoint"
        assert answer["notes"] == ["1 call had not ended when the program stopped; the lines up to there are shown"]
        assert "returned" not in answer["calls"][0]
        found.clean()


async def test_a_stop_of_a_child_ends_it_too(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found, trio.open_nursery() as nursery:
        child = FakeAdapter()
        child.frames = [("work", "/src/child.py", 9)]
        await adopt(found.adapter, child)
        assert found.adapter.probe is not None
        found.adapter.probe["traced"] = {"begun": 1, "open": 1, "calls": [{**CALL, "outcome": None}]}
        on_continue(found, partial(child.stop, "breakpoint"), nursery)
        begin = trio.current_time()
        answer = await found.trace(session_id="s-1")
        assert trio.current_time() - begin < 10
        assert (answer["stop"]["session"], answer["stop"]["at"]) == ("s-2", "/src/child.py:9 in work")
        assert answer["notes"] == [
            "s-2 has stopped, which ended the trace; the traced process was not stopped",
            "1 call had not ended when s-2 stopped; the lines up to there are shown",
        ]

        # One that has been stopped before does not end it: what is traced may not need it.
        found.adapter.probe["traced"] = WAITING
        begin = trio.current_time()
        answer = await found.trace(session_id="s-1", timeout=5)
        assert 5 <= trio.current_time() - begin < 8
        assert answer["notes"] == [
            "Shop.total was not called within 5 s",
            "calls in other processes of the program are not followed: s-2; batch_evaluate looks into all",
            "paused all the time: s-2; the program may wait for that",
        ]
        found.clean()


async def test_by_name_what_is_loaded_is_meant_and_what_is_not_says_so(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    (tmp_path / "lies_there.py").write_text(PROGRAM + "\n\ndef only_here():\n    return 1\n")
    async with scene(tmp_path, paused=False) as found:
        assert found.adapter.probe is not None
        failed = await failure(found.client, "trace_function", function="Shop.total")
        assert "may be one of 2 functions: Shop.total" in failed.message  # which are loaded is not known
        modules = [{"name": "__main__", "file": found.file}, {"name": "sys"}]
        found.adapter.probe["modules"] = {"modules": modules, "total": 2}
        answer = await found.trace(timeout=1)
        assert answer["function"].endswith("shop.py:2")
        assert answer["notes"] == ["Shop.total was not called within 1 s"]
        answer = await found.trace(function="only_here", timeout=1)
        assert answer["notes"] == [
            "only_here was not called within 1 s",
            "its file only lies near those of the program: no module that was loaded is that file",
        ]
        found.adapter.probe["modules"] = {"modules": modules, "total": 3}  # as many as there was room for
        failed = await failure(found.client, "trace_function", function="Shop.total")
        assert "may be one of 2 functions" in failed.message


async def test_a_program_that_ends_leaves_nothing_to_show(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found, trio.open_nursery() as nursery:

        async def end() -> None:
            found.adapter.answer("evaluate", partial(refuse, "the program has ended"))
            await found.adapter.exit(3)

        on_continue(found, end, nursery)
        answer = await found.trace()
        assert answer["stop"]["exitCode"] == 3
        assert answer["calls"] == []
        (note,) = answer["notes"]
        assert note.startswith("no call of ")
        assert "began before the program ended" in note


async def test_one_whose_place_another_took_says_so(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path, paused=False) as found:
        assert found.adapter.probe is not None
        found.adapter.probe["traced"] = '{"error": {"kind": "trace", "message": "There is no such trace."}}'
        answer = await found.trace()
        assert answer["calls"] == []
        assert answer["notes"] == [REPLACED]
        found.clean()


async def test_until_the_program_answers_again_it_is_asked_less_and_less_often(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with scene(tmp_path, paused=False) as found, trio.open_nursery() as nursery:
        assert found.adapter.probe is not None
        # A thread may keep the GIL for a while, and a connection may be about to end.
        unanswered = '{"error": {"kind": "slow", "message": "not now"}}', "nonsense", WAITING

        async def change() -> None:
            assert found.adapter.probe is not None
            for each in unanswered:
                found.adapter.probe["traced"] = each
                await trio.sleep(10)
            found.adapter.probe["traced"] = ENDED

        nursery.start_soon(change)
        answer = await found.trace(timeout=60)
        assert [each["returned"] for each in answer["calls"]] == ["3"]
        assert "notes" not in answer
        assert 100 < len([name for name, _ in found.adapter.probed if name == "traced"]) < 200
        found.adapter.probe["traced"] = '{"error": {"kind": "evaluation", "message": "what?"}}'
        answer = await found.trace(timeout=5)
        assert answer["notes"] == ["the program did not hand over what was traced: it has ended, or lets no Python run"]


async def test_the_head_of_many_calls_has_a_hundred_lines_each_at_least(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with scene(tmp_path, paused=False) as found:
        assert found.adapter.probe is not None
        found.adapter.probe["traced"] = ENDED
        for calls, head in ((4, 500), (20, 100)):
            await found.trace(calls=calls)
            *_, asked = [more for name, more in found.adapter.probed if name == "trace"]
            assert asked["wanted"]["head"] == head


async def test_what_was_taken_is_not_asked_for_again(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path, paused=False) as found:
        assert found.adapter.probe is not None
        found.adapter.probe["traced"] = ENDED
        await found.trace()
        assert sum(more.get("take", False) for name, more in found.adapter.probed if name == "traced") == 1


async def test_what_a_program_left_at_its_end_is_shown(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found, trio.open_nursery() as nursery:

        async def end() -> None:
            text = msgspec.json.encode({"answer": ENDED}).decode()
            records = [["trace", "1", 0, 0, text[:9]], ["trace", "1", 0, 0, text[9:]]]
            body = {"category": "tracepoint", "output": "", "data": {"hit_records": records}}
            await found.adapter.event("output", body)
            found.adapter.answer("evaluate", partial(refuse, "the program has ended"))
            await found.adapter.exit(0)

        on_continue(found, end, nursery)
        answer = await found.trace()
        assert [each["returned"] for each in answer["calls"]] == ["3"]
        assert answer["stop"]["state"] == "Disconnected"
        assert "record" in [name for name, _ in found.adapter.probed]


async def test_without_a_line_for_records_it_is_traced_all_the_same(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path, paused=False) as found:
        assert found.adapter.probe is not None
        found.adapter.probe |= {"traced": ENDED, "record": '{"error": {"kind": "refused", "message": "no"}}'}
        assert [each["returned"] for each in (await found.trace())["calls"]] == ["3"]


async def test_what_cannot_be_traced_is_refused_with_what_to_do(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with scene(tmp_path) as found:
        trace = partial(failure, found.client, "trace_function")
        for arguments, words in (
            ({}, "Pass `function`, or"),
            ({"function": "total", "file": "x.py", "line": 1}, "Pass `function`, or"),
            ({"file": found.file}, "Pass `function`, or"),
            (
                {"function": "nope"},
                "No function 'nope' was found in the files that are known",
            ),
            ({"function": "total"}, "may be one of 2 functions: Shop.total"),
            ({"file": found.file, "line": 1}, "There is no function around"),
        ):
            failed = await trace(**arguments)
            assert failed.code == "INVALID_PARAMETER"
            assert words in failed.message
        assert (await trace(file="/nowhere.py", line=1)).code == "INVALID_PATH"
        assert found.asked() == []

        found.adapter.answer("setBreakpoints", partial(refuse, "no code here"))
        failed = await trace(function="Shop.total")
        assert (failed.code, "no code here" in failed.message) == ("INVALID_PARAMETER", True)
        found.adapter.restore("setBreakpoints")
        found.adapter.answer("continue", partial(refuse, "not now"))
        assert (await trace(file=found.file, line=10, timeout=1)).code == "ADAPTER_FAILED"
        found.clean()
        found.adapter.restore("continue")

        assert found.adapter.probe is not None
        found.adapter.probe["trace"] = '{"error": {"kind": "unable", "message": "it has no ctypes"}}'
        failed = await trace(function="shop.total")
        assert (failed.code, failed.message) == ("NOT_SUPPORTED", "The program cannot be traced: it has no ctypes")


async def test_other_languages_have_no_trace(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with connect("legacy", options=adapter.options()) as client:
        await launch(client, adapter)
        failed = await failure(client, "trace_function", function="total")
        assert failed.code == "NOT_SUPPORTED"
        assert failed.message.startswith("fake cannot trace a function: only a Python program")
        assert (await failure(client, "trace_function", function="f", session_id="s-9")).code == "NO_SESSION"


@pytest.mark.parametrize("paused", [True, False])
async def test_cancelled_at_every_point_nothing_is_left(
    paused: bool, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with scene(tmp_path, paused=paused) as found:
        before = found.sent()[-1]
        cancelled = 0
        for point in range(1, 30):
            scope = trio.CancelScope()
            count = 0

            def request(
                command: str, arguments: object, *, point: int = point, scope: trio.CancelScope = scope
            ) -> None:
                nonlocal count
                count += 1
                if count == point:
                    scope.cancel()

            found.adapter.on_request = request
            with scope:
                await found.trace(timeout=1)
            await trio.sleep(10)
            found.adapter.on_request = None
            cancelled += scope.cancelled_caught
            assert found.sent()[-1] == before
            found.clean()
            state = await found.client.call("debug_state")
            if paused and state["state"] == "Running":
                await found.adapter.stop("pause")
                await trio.sleep(10)
        assert cancelled > 5
