"""Child sessions on scripted adapters: their stops, their ends, and what they must not do to their parent."""

from functools import partial
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, LIST_CHANGED, SESSION, launch, running
from tests.server.test_starts import answering
from trio_debugmcp.dap.direct_stream import PROGRAM_ENDED
from trio_debugmcp.dap.profiles.python.debugpy import DebugpyDialect
from trio_debugmcp.dap.profiles.python.runnable import PythonPrograms
from trio_debugmcp.server_options import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import FakeAdapter, Refusal, connect
from trio_debugmcp.testing.fake_adapter import FakeProfile


async def adopt(
    root: FakeAdapter, child: FakeAdapter, parent: FakeAdapter | None = None, *, lasting: bool = False, **more: Any
) -> None:
    """The parent, by default the root, announces a child, and it is reached; `lasting`: it outlives its parent."""
    number = len(root.children)
    root.children[number] = child
    wanted = {"request": "launch", "configuration": {"child": number, "outlivesParent": lasting, **more}}
    answer = await (parent or root).reverse_request("startDebugging", wanted)
    assert answer["success"] is True
    await trio.sleep(10)


async def test_a_child_is_listed_and_gets_the_breakpoints(autojump_clock: MockClock) -> None:
    child = FakeAdapter()
    async with running("legacy") as (client, parent), client.subscribed(SESSION):
        first = len(client.notices)
        await adopt(parent, child)
        session = await client.read(SESSION)
        assert [(each["state"], each["sessionId"]) for each in session["children"]] == [("Running", "s-2")]
        assert session["sessionId"] == "s-1"
        assert child.sent("setBreakpoints")[0]["breakpoints"] == [{"line": 1}]
        assert LIST_CHANGED not in [notice.what for notice in client.notices[first:]]


@pytest.mark.parametrize(
    ("parents", "asked"),
    [(True, ["initialize", "launch"]), (False, ["initialize"])],
)
async def test_a_child_with_the_engine_of_its_parent_is_started_before_it_has_answered(
    parents: bool, asked: list[str], autojump_clock: MockClock
) -> None:
    able = {"supportsConfigurationDoneRequest": True, "engineRequests": parents}
    child, ahead = FakeAdapter(able), list[str]()

    async def initialize(arguments: object) -> dict[str, Any]:
        await trio.sleep(5)
        ahead.extend(command for command, _ in child.requests)
        return able

    child.answer("initialize", initialize)
    async with running("legacy", FakeAdapter(able)) as (client, parent):
        await adopt(parent, child, byEngine=True)
        assert ahead == asked
        assert child.requests[-1][0] == "configurationDone"
        assert [each["state"] for each in (await client.read(SESSION))["children"]] == ["Running"]


async def test_a_child_that_ends_before_its_debugger_has_answered_does_not_warn(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    child, parent = FakeAdapter(), FakeAdapter()

    async def refuse(arguments: object) -> object:
        raise Refusal(PROGRAM_ENDED)

    class Dialected(FakeProfile):
        dialect = DebugpyDialect()

    child.answer("configurationDone", refuse)
    options = Options(settings=Settings(directory="/", profiles=(Dialected(parent),)))
    async with connect("legacy", options=options) as client:
        await launch(client, parent)
        await adopt(parent, child)
        assert (await client.read(SESSION))["children"] == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == []


async def test_a_childs_stop_is_what_a_waiting_client_gets_and_can_be_resumed(autojump_clock: MockClock) -> None:
    child = FakeAdapter()
    child.frames = [("work", "/src/child.py", 9)]
    async with running("legacy") as (client, parent):
        await adopt(parent, child)
        await child.stop("breakpoint", hit=[1])
        stop = await client.call("debug_wait")
        assert (stop["session"], stop["at"], stop["breakpoints"]) == ("s-2", "/src/child.py:9 in work", ["bp-1"])
        session = await client.read(SESSION)
        assert (session["parentSessionId"], session["children"]) == ("s-1", [])
        tree = [(each["sessionId"], each["parentSessionId"], each["state"]) for each in session["sessions"]]
        assert tree == [("s-1", None, "Running"), ("s-2", "s-1", "Paused")]
        await client.call("debug_continue", wait=False)
        assert (len(child.sent("continue")), len(parent.sent("continue"))) == (1, 0)


async def test_two_that_stop_are_handed_over_one_after_the_other(autojump_clock: MockClock) -> None:
    child = FakeAdapter()
    async with running("legacy") as (client, parent):
        await adopt(parent, child)
        await parent.stop("pause")
        await trio.sleep(1)
        await child.stop("pause")
        await trio.sleep(1)
        assert (await client.call("debug_wait"))["session"] == "s-1"
        stop = await client.call("debug_continue")
        assert (stop["session"], stop["notes"][-1]) == ("s-2", "s-1 runs; s-2 has been paused since before")
        assert stop["notes"][0].startswith("this is a child process of s-1")


@pytest.mark.parametrize("tool", ["debug_continue", "debug_step"])
async def test_an_answer_without_a_stop_is_about_the_session_that_was_named(
    tool: str, autojump_clock: MockClock
) -> None:
    child = FakeAdapter()
    async with running("legacy") as (client, parent):
        await adopt(parent, child)
        await child.stop("pause")
        await trio.sleep(1)
        await parent.stop("pause")
        await trio.sleep(1)
        answer = await client.call(tool, session_id="s-1", wait=False)
        assert answer == {"state": "Running", "session": "s-1"}


async def test_a_stop_that_comes_after_a_resume_is_not_one_of_before(autojump_clock: MockClock) -> None:
    child = FakeAdapter()
    async with running("legacy") as (client, parent):
        await adopt(parent, child)
        await child.stop("pause")
        await trio.sleep(1)
        answers: list[dict[str, Any]] = []

        async def resume() -> None:
            answers.append(await client.call("debug_continue"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(resume)
            await trio.sleep(1)
            await child.stop("pause")
        assert (answers[0]["session"], len(answers[0]["notes"])) == ("s-2", 1)
        assert answers[0]["notes"][0].startswith("this is a child process of s-1")


@pytest.mark.parametrize("ending", ["exit", "crash"])
async def test_a_child_that_ends_leaves_its_parent_as_it_was(ending: str, autojump_clock: MockClock) -> None:
    child = FakeAdapter()
    async with running("legacy") as (client, parent), client.subscribed(SESSION):
        await adopt(parent, child)
        await child.stop("pause")
        await trio.sleep(10)
        first = len(client.notices)
        await (child.exit(1) if ending == "exit" else child.crash())
        await trio.sleep(10)
        session = await client.read(SESSION)
        assert (session["sessionId"], session["state"], session["children"]) == ("s-1", "Running", [])
        assert LIST_CHANGED not in [notice.what for notice in client.notices[first:]]
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["state"] == "Bound"


@pytest.mark.parametrize("fault", ["refuses", "withholds", "crashes", "talks nonsense"])
async def test_a_child_that_cannot_start_leaves_its_parent_as_it_was(fault: str, autojump_clock: MockClock) -> None:
    child = FakeAdapter()

    async def launch(arguments: object) -> Any:
        match fault:
            case "refuses":
                raise Refusal("no")
            case "withholds":
                await trio.sleep_forever()
            case "crashes":
                await child.crash()
            case _:
                await child.send_raw(b"Oops\n")

    child.answer("launch", launch)
    async with running("legacy") as (client, parent):
        await adopt(parent, child)
        await trio.sleep(100)
        session = await client.read(SESSION)
        assert (session["sessionId"], session["state"], session["children"]) == ("s-1", "Running", [])
        await parent.stop("pause")
        assert "session" not in await client.call("debug_wait"), "there is one"
        assert (await client.read(SESSION))["sessionId"] == "s-1"


async def test_a_parent_that_ends_takes_its_children_along(autojump_clock: MockClock) -> None:
    child, grandchild = FakeAdapter(), FakeAdapter()
    async with running("legacy") as (client, parent), client.subscribed(SESSION):
        await adopt(parent, child)
        await adopt(parent, grandchild, child)
        first = len(client.notices)
        await parent.exit(0)
        await trio.sleep(100)
        assert [notice.what for notice in client.notices[first:]].count(LIST_CHANGED) == 1
        assert await client.uris() == []
        assert "disconnect" in child.commands()
        assert "disconnect" in grandchild.commands()


async def test_a_tree_ends_with_the_last_of_its_lasting_sessions(autojump_clock: MockClock) -> None:
    child, grandchild = FakeAdapter(), FakeAdapter()
    async with running("legacy") as (client, parent), client.subscribed(SESSION):
        await adopt(parent, child, lasting=True)
        await adopt(parent, grandchild, child, lasting=True)
        first = len(client.notices)
        await parent.exit(0)
        await child.exit(0)
        await trio.sleep(100)
        session = await client.read(SESSION)
        assert [each["state"] for each in session["sessions"]] == ["Terminating", "Terminating", "Running"]
        assert LIST_CHANGED not in [notice.what for notice in client.notices[first:]]
        await grandchild.exit(0)
        await trio.sleep(10)
        assert [notice.what for notice in client.notices[first:]].count(LIST_CHANGED) == 1
        assert await client.uris() == []


async def test_a_parent_that_has_exited_and_says_no_more_waits_for_its_child(autojump_clock: MockClock) -> None:
    child = FakeAdapter()
    async with running("legacy") as (client, parent):
        await adopt(parent, child)
        await parent.event("exited", {"exitCode": 0})
        await trio.sleep(100)
        await child.stop("pause")
        assert (await client.call("debug_wait"))["session"] == "s-2"
        await child.exit()
        await trio.sleep(10)
        assert await client.uris() == []


async def test_a_disconnect_says_goodbye_to_everyone(autojump_clock: MockClock) -> None:
    child = FakeAdapter()
    async with running("legacy") as (client, parent):
        await adopt(parent, child)
        start = trio.current_time()
        await client.call("debug_disconnect")
        await trio.sleep(1)
        assert ("disconnect" in parent.commands(), "disconnect" in child.commands()) == (True, True)
        assert await client.uris() == []
        assert trio.current_time() - start == 1


async def test_a_child_outlives_its_parents_end_as_long_as_it_is_debugged(autojump_clock: MockClock) -> None:
    child = FakeAdapter()
    child.frames = [("work", "/src/child.py", 9)]
    child.locals = {"a": "1"}
    async with running("legacy") as (client, parent):
        await adopt(parent, child, lasting=True)
        await child.stop("breakpoint", hit=[1])
        await client.call("debug_wait")
        await parent.exit(0)
        await trio.sleep(60)
        session = await client.read(SESSION)
        assert [(each["sessionId"], each["state"]) for each in session["sessions"]] == [
            ("s-1", "Terminating"),
            ("s-2", "Paused"),
        ]
        assert len((await client.call("variables_get"))["variables"]) == len(child.locals) == 1
        child.answer("continue", partial(exit_at_once, child))
        over = await client.call("debug_continue")
        assert (over["state"], over["exitCode"], over["session"]) == ("Disconnected", 0, "s-1")
        assert over["notes"] == ["processes that it had started failed: s-2 exit code 3"]
        assert (await client.call("debug_state"))["session"] == "s-1"


async def test_the_end_of_a_program_names_its_children_that_an_exception_ended(autojump_clock: MockClock) -> None:
    children = [FakeAdapter() for _ in range(5)]
    async with running("legacy") as (client, parent):
        for number, child in enumerate(children):
            await adopt(parent, child)
            child.frames = [("work", "/src/child.py", 9)]
            raised = {"exceptionId": "ValueError", "description": f"bad {number}", "breakMode": "unhandled"}
            child.answer("exceptionInfo", answering(raised))
            await child.stop("exception")
            assert (await client.call("debug_wait", session_id=f"s-{number + 2}"))["mode"] == "unhandled"
            await (child.exit(0) if number == 4 else child.crash())  # the last has continued all the same
        await trio.sleep(10)
        await parent.exit(0)
        over = await client.call("debug_wait")
        assert (over["exitCode"], over["session"]) == (0, "s-1")
        failed = [f"s-{number + 2} ValueError: bad {number} at /src/child.py:9 in work" for number in range(3)]
        assert over["notes"][-1] == f"processes that it had started failed: {'; '.join(failed)} and 1 more"


@pytest.mark.parametrize(
    ("before", "note"),
    [
        (
            "Process Process-2:\n",
            " in process Process-2, at /src/a.py:3 in bad did not end the program: ValueError: row 1",
        ),
        ("", " or a process that it started, has printed an exception, at /src/a.py:3 in bad: ValueError: row 1"),
    ],
)
async def test_the_end_of_a_program_names_what_its_children_have_printed_of_exceptions(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, before: str, note: str
) -> None:
    monkeypatch.setattr(FakeProfile, "programs", PythonPrograms())
    child = FakeAdapter()
    traceback = (
        'Traceback (most recent call last):\n  File "/src/a.py", line 3, in bad\n    work()\nValueError: row 1\n'
    )
    async with running("legacy") as (client, parent):
        await adopt(parent, child)
        await parent.event("output", {"category": "stderr", "output": f"{before}{traceback}"})
        await child.event("terminated")
        await trio.sleep(1)
        await parent.exit(0)
        over = await client.call("debug_wait")
        assert over["notes"][0].endswith(note)
        assert over["notes"][0] in (await client.call("debug_state"))["notes"]


async def exit_at_once(adapter: FakeAdapter, arguments: object) -> object:
    await adapter.exit(3)
    return {}
