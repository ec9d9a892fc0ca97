"""Several programs at once, on scripted adapters: what each has for itself, the focus among them, and their ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from typing import Any

import pytest
import trio
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference
from msgspec.structs import replace
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, LIST_CHANGED, OUTPUT, SESSION, STACK, TIMELINE, failure, launch
from tests.session.passes import Passes
from tests.session.test_children import adopt
from trio_debugmcp.dap.profiles import Detect
from trio_debugmcp.dap.profiles.language import Expressions
from trio_debugmcp.session.breakpoints.observations import ObservedPlace, Run
from trio_debugmcp.session.program_at_hand import chosen
from trio_debugmcp.session.programs import MAX_ENDED, MAX_PROGRAMS
from trio_debugmcp.testing import DebugClient, FakeAdapter, FakeProfile, Refusal, Server, ToolFailed, open_server

SESSIONS = "debugger://sessions"
PARTS = ("session", "threads", "stack", "output", "modules")


def of(session: str, *names: str) -> list[str]:
    """The URIs of resources of one session."""
    return [f"{SESSIONS}/{session}/{name}" for name in names or PARTS]


class Scene:
    """A server, a client, and a way to launch programs, each with an adapter of its own."""

    def __init__(self, server: Server, client: DebugClient, profile: FakeProfile) -> None:
        self.server, self.client, self.profile = server, client, profile

    async def launch(self, adapter: FakeAdapter, client: DebugClient | None = None, **arguments: Any) -> str:
        """Launch one more program, which runs, and return its session."""
        self.profile.adapter = adapter
        arguments = {"new_session": True, **arguments}
        session = (await launch(client or self.client, adapter, **arguments))["session"]
        await trio.sleep(10)
        return str(session)

    async def states(self) -> dict[str, str]:
        """The state of each session."""
        found = (await self.client.read(SESSIONS))["sessions"]
        return {each["sessionId"]: each["state"] for each in found}

    async def focus(self) -> str:
        return str((await self.client.read(SESSION))["sessionId"])


async def completions(client: DebugClient, template: str, argument: str, typed: str) -> list[str]:
    """The completions of an argument of a template."""
    ref = ResourceTemplateReference(type="ref/resource", uri=template)
    return (await client.sdk.complete(ref, {"name": argument, "value": typed})).completion.values


@asynccontextmanager
async def serving(**options: Any) -> AsyncIterator[Scene]:
    """A server and a client, and no program yet."""
    first = FakeAdapter()
    made = first.options(linger=100.0, **options)
    (profile,) = made.settings.profiles
    assert isinstance(profile, FakeProfile)
    async with open_server(made) as server, server.connect() as client:
        yield Scene(server, client, profile)


@asynccontextmanager
async def two(**options: Any) -> AsyncIterator[tuple[Scene, FakeAdapter, FakeAdapter]]:
    """Two programs that run, `s-1` and `s-2`; the second one was launched last, and is in focus."""
    one, other = FakeAdapter(), FakeAdapter()
    one.frames = [("first", "/src/one.py", 3)]
    other.frames = [("second", "/src/other.py", 7)]
    async with serving(**options) as scene:
        await scene.client.call("breakpoint_set", file=one.program, line=1)
        assert await scene.launch(one, new_session=False) == "s-1"
        assert await scene.launch(other) == "s-2"
        yield scene, one, other


# --- Resources --------------------------------------------------------------------------------------------------------


async def test_what_one_program_does_notifies_of_nothing_of_the_other(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), scene.client.subscribed(*of("s-1"), *of("s-2"), SESSIONS):
        for adapter, session in ((one, "s-1"), (other, "s-2")):
            first = len(scene.client.notices)
            await adapter.stop("breakpoint", hit=[1])
            await adapter.event("output", {"category": "stdout", "output": "here\n"})
            await adapter.event("module", {"reason": "new", "module": {"id": 1, "name": "shop"}})
            await trio.sleep(10)
            heard = {notice.what for notice in scene.client.notices[first:]}
            assert heard == {*of(session), SESSIONS}


async def test_the_other_program_can_change_as_it_likes_and_delays_no_notification(autojump_clock: MockClock) -> None:
    (uri,) = of("s-1", "stack")
    async with two() as (scene, one, other), scene.client.subscribed(uri, *of("s-2", "stack")):
        await other.stop("pause")
        await trio.sleep(10)
        start = trio.current_time()
        await one.stop("pause")
        for _ in range(20):  # a change every tenth of a second never lets its own window close
            await scene.client.call("debug_step", session_id="s-2", wait=False)
            await other.stop("step")
            await trio.sleep(0.1)
        await trio.sleep(10)
        assert [at - start for at in scene.client.times_of(uri) if at > start] == [pytest.approx(0.3, abs=0.01)]


async def test_each_program_is_read_by_its_own_uris_and_the_plain_ones_show_the_one_in_focus(
    autojump_clock: MockClock,
) -> None:
    async with two() as (scene, one, other):
        await one.stop("pause")
        await other.stop("pause")
        await trio.sleep(10)
        client = scene.client
        for session, name in (("s-1", "first"), ("s-2", "second")):
            session_uri, threads, stack, *_ = of(session)
            assert (await client.read(session_uri))["sessionId"] == session
            assert [each["sessionId"] for each in (await client.read(session_uri))["sessions"]] == [session]
            assert (await client.read(stack))["frames"][0]["name"] == name
            assert (await client.read(threads))["threads"][0]["location"]["functionName"] == name
        listed = await client.read(SESSIONS)
        assert (listed["focus"], [each["sessionId"] for each in listed["sessions"]]) == ("s-1", ["s-1", "s-2"])
        assert (await client.read(STACK))["frames"][0]["name"] == "first"


async def test_the_resources_of_a_session_end_with_it_and_those_of_the_others_do_not(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, _), scene.client.subscribed(*of("s-1"), *of("s-2")):
        first = len(scene.client.notices)
        await one.exit(3)
        await trio.sleep(10)
        assert {notice.what for notice in scene.client.notices[first:]} == {*of("s-1")}
        for uri in (*of("s-1"), f"{SESSIONS}/s-9/stack"):
            with pytest.raises(MCPError, match=r"There is no debug session 's-[19]'. Sessions: s-2\."):
                await scene.client.read(uri)
        for uri in of("s-2"):
            assert (await scene.client.read(uri))["revision"] > 0
        with pytest.raises(MCPError, match="Unknown resource"):
            await scene.client.read(f"{SESSIONS}/s-2/breakpoints")


async def test_the_list_is_announced_with_the_first_program_and_the_last_end_only(autojump_clock: MockClock) -> None:
    async with serving() as scene, scene.client.subscribed(SESSION):
        one, other = FakeAdapter(), FakeAdapter()
        await scene.launch(one)
        await scene.launch(other)
        await one.exit()
        await trio.sleep(10)
        assert len(scene.client.times_of(LIST_CHANGED)) == 1
        await other.exit()
        await trio.sleep(10)
        assert len(scene.client.times_of(LIST_CHANGED)) == 2


async def test_a_child_belongs_to_its_program_alone(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, _), scene.client.subscribed(*of("s-1", "session"), *of("s-2", "session")):
        first = len(scene.client.notices)
        scene.profile.adapter = one
        await adopt(one, FakeAdapter())
        assert {notice.what for notice in scene.client.notices[first:]} == {*of("s-1", "session")}
        assert [each["sessionId"] for each in (await scene.client.read(of("s-1")[0]))["sessions"]] == ["s-1", "s-3"]
        assert [each["sessionId"] for each in (await scene.client.read(of("s-2")[0]))["sessions"]] == ["s-2"]


# --- Output -----------------------------------------------------------------------------------------------------------


async def test_each_program_has_its_own_output(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), scene.client.subscribed(OUTPUT):
        client = scene.client
        await one.event("output", {"category": "stdout", "output": "of one\n"})
        await trio.sleep(10)
        assert client.times_of(OUTPUT) == []  # in focus is the other
        await other.event("output", {"category": "stdout", "output": "of the other\n"})
        await trio.sleep(10)
        for session, text in (("s-1", "of one\n"), ("s-2", "of the other\n")):
            assert (await client.call("process_read_output", session_id=session))["entries"] == [{"stdout": text}]
            (uri,) = of(session, "output")
            assert [each["text"] for each in (await client.read(uri))["entries"]] == [text]
        await one.stop("pause")
        stop = await client.call("debug_wait", session_id="s-1")
        assert (stop["session"], stop["stdout"]) == ("s-1", "of one\n")


async def test_the_output_of_a_program_that_has_ended_can_be_read_while_another_runs(
    autojump_clock: MockClock,
) -> None:
    async with two() as (scene, one, _):
        await one.event("output", {"category": "stdout", "output": "last words\n"})
        await one.exit(3)
        await trio.sleep(10)
        read = await scene.client.call("process_read_output", session_id="s-1")
        assert read["entries"] == [{"stdout": "last words\n"}]
        state = await scene.client.call("debug_state", session_id="s-1")
        assert (state["state"], state["exitCode"], state["session"]) == ("Disconnected", 3, "s-1")
        assert state["sessions"] == ["s-2 fake_adapter.py: Running"] or "s-2" in state["sessions"][0]
        assert (await failure(scene.client, "debug_pause", session_id="s-1")).code == "NO_SESSION"
        assert (await failure(scene.client, "process_read_output", session_id="s-7")).code == "NO_SESSION"


# --- Starting ---------------------------------------------------------------------------------------------------------


async def test_a_second_program_has_to_be_asked_for(autojump_clock: MockClock) -> None:
    async with serving() as scene:
        await scene.launch(FakeAdapter())
        error = await failure(scene.client, "debug_launch", program=FakeAdapter.program)
        assert (error.code, "new_session=true" in error.message) == ("SESSION_ACTIVE", True)
        both = {"program": FakeAdapter.program, "new_session": True, "replace": True}
        assert (await failure(scene.client, "debug_launch", **both)).code == "INVALID_PARAMETER"
        assert await scene.states() == {"s-1": "Running"}


async def test_there_are_sixteen_programs_at_most(autojump_clock: MockClock) -> None:
    async with serving() as scene:
        for _ in range(MAX_PROGRAMS):
            await scene.launch(FakeAdapter())
        error = await failure(scene.client, "debug_launch", program=FakeAdapter.program, new_session=True)
        assert error.code == "SESSION_ACTIVE"
        assert error.message.startswith("16 programs are debugged at a time, and no more. End one of s-1, s-2, ")
        assert (await failure(scene.client, "debug_attach", port=1, new_session=True)).code == "SESSION_ACTIVE"
        await scene.client.call("debug_disconnect", session_id="s-3")
        assert await scene.launch(FakeAdapter()) == "s-17"
        assert len(await scene.states()) == MAX_PROGRAMS


async def test_a_program_may_be_attached_to_beside_one_that_was_launched(autojump_clock: MockClock) -> None:
    async with serving() as scene:
        await scene.launch(FakeAdapter())
        attached = scene.profile.adapter = FakeAdapter()
        assert (await failure(scene.client, "debug_attach", port=5678)).code == "SESSION_ACTIVE"
        answer = await scene.client.call("debug_attach", port=5678, new_session=True)
        assert (answer["session"], await scene.focus()) == ("s-2", "s-2")
        ended = await scene.client.call("debug_disconnect")
        assert (ended["detached"], ended["session"]) == (True, "s-2")
        assert attached.sent("disconnect")[0]["terminateDebuggee"] is False


async def refused(arguments: object) -> None:
    raise Refusal("no such interpreter")


async def refused_late(arguments: object) -> None:
    await trio.sleep(1)
    await refused(arguments)


@pytest.mark.parametrize("how", ["refused", "gone", "cancelled"])
async def test_a_second_program_that_does_not_start_leaves_the_first_as_it_was(
    how: str, autojump_clock: MockClock
) -> None:
    watched = [SESSION, STACK, OUTPUT, *of("s-1")]
    async with serving() as scene:
        one, other = FakeAdapter(), FakeAdapter()
        await scene.launch(one, stop_at_entry=True)
        await one.stop("entry")
        await trio.sleep(10)
        if how == "refused":
            other.answer("launch", refused)
        elif how == "gone":
            other.answer("initialize", refused, other.crash)
        else:
            other.withhold("launch")
        async with scene.client.subscribed(*watched):
            first = len(scene.client.notices)
            if how == "cancelled":
                with trio.move_on_after(2):
                    await scene.launch(other)
            else:
                scene.profile.adapter = other
                assert (await failure(scene.client, "debug_launch", program=other.program, new_session=True)).code
            await trio.sleep(10)
            assert [notice.what for notice in scene.client.notices[first:]] == []
        assert (await scene.states(), await scene.focus()) == ({"s-1": "Paused"}, "s-1")
        assert one.sent("disconnect") == []
        assert (await scene.client.call("debug_step", wait=False))["state"] == "Running"


async def test_a_program_that_is_still_starting_is_not_in_focus_but_can_be_named(autojump_clock: MockClock) -> None:
    async with serving() as scene:
        await scene.launch(FakeAdapter())
        slow = scene.profile.adapter = FakeAdapter()
        slow.withhold("launch")
        answer = await launch(scene.client, slow, new_session=True, timeout=1)
        assert (answer["session"], answer["timedOut"]) == ("s-2", True)
        assert await scene.states() == {"s-1": "Running", "s-2": "Starting"}
        ended = await scene.client.call("debug_disconnect", session_id="s-2")
        assert ended["session"] == "s-2"
        assert await scene.states() == {"s-1": "Running"}


# --- Focus ------------------------------------------------------------------------------------------------------------


async def test_without_a_name_a_call_is_about_the_program_of_the_last_answer(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other):
        client = scene.client
        assert await scene.focus() == "s-2"
        await one.stop("pause")
        await trio.sleep(10)
        assert await scene.focus() == "s-1"  # the other runs, and has no stop that could be lost
        await other.stop("pause")
        await trio.sleep(10)
        assert await scene.focus() == "s-1"
        await client.call("variables_get", session_id="s-2")
        assert await scene.focus() == "s-1"  # looking is not moving
        await client.call("debug_step", session_id="s-2", wait=False)
        assert await scene.focus() == "s-2"
        await client.call("debug_continue", session_id="s-1", wait=False)
        assert await scene.focus() == "s-1"
        await other.stop("step")
        await trio.sleep(10)
        assert await scene.focus() == "s-2"


async def test_a_call_is_recorded_with_the_one_of_several_programs_that_it_was_about(autojump_clock: MockClock) -> None:
    async with serving() as scene:
        first = FakeAdapter()
        await scene.launch(first, stop_at_entry=True)
        await first.stop("entry")
        await scene.client.call("debug_state")
        await scene.launch(FakeAdapter())
        await scene.client.call("debug_state", session_id="s-1")
        await scene.client.call("threads_list", session_id="s-2")
        found = (await scene.client.call("timeline_query", types=["toolCalled"], full=True))["events"]
        assert [(each["payload"]["tool"], each["payload"].get("sessionId")) for each in found] == [
            ("debug_launch", None),
            ("debug_state", None),
            ("debug_launch", "s-2"),
            ("debug_state", "s-1"),
            ("threads_list", "s-2"),
        ]


async def test_continuing_a_program_waits_for_that_one_and_keeps_the_focus_there(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), trio.open_nursery() as nursery:
        await one.stop("pause")
        await other.stop("pause")
        await trio.sleep(10)

        async def later() -> None:
            await trio.sleep(5)
            await other.event("output", {"category": "stdout", "output": "running\n"})
            await other.stop("breakpoint", hit=[1])

        nursery.start_soon(later)
        start = trio.current_time()
        stop = await scene.client.call("debug_continue", session_id="s-2")
        assert (stop["session"], stop["stdout"]) == ("s-2", "running\n")
        assert trio.current_time() - start == pytest.approx(5)
        assert "notes" not in stop
        assert await scene.focus() == "s-2"


async def test_a_wait_without_a_name_ends_with_the_first_program_that_stops_or_ends(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), trio.open_nursery() as nursery:
        client = scene.client
        await one.stop("pause")
        await trio.sleep(10)
        await client.call("debug_pause", session_id="s-2", timeout=0)
        assert await scene.focus() == "s-2"
        before = trio.current_time()
        assert (await client.call("debug_wait"))["session"] == "s-1"  # at once: no answer has shown this stop
        assert trio.current_time() == before
        await client.call("debug_pause", session_id="s-2", timeout=0)

        async def later() -> None:
            await trio.sleep(5)
            await other.stop("breakpoint", hit=[1])

        nursery.start_soon(later)
        stop = await client.call("debug_wait")  # that of the first is known by now
        assert (stop["session"], stop["at"]) == ("s-2", "/src/other.py:7 in second")
        await client.call("debug_continue", wait=False)

        async def end() -> None:
            await trio.sleep(5)
            await other.exit(4)

        nursery.start_soon(end)
        ended = await client.call("debug_wait")
        assert (ended["state"], ended["exitCode"], ended["session"]) == ("Disconnected", 4, "s-2")
        assert ended["notes"] == ["other programs are still debugged: s-1 fake_adapter.py (Paused); in focus is s-1"]


# --- Ends -------------------------------------------------------------------------------------------------------------


async def test_a_disconnect_ends_the_program_in_focus_and_names_the_others(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other):
        ended = await scene.client.call("debug_disconnect")
        assert (ended["ended"], ended["session"]) == (True, "s-2")
        assert ended["notes"] == ["other programs are still debugged: s-1 fake_adapter.py (Running); in focus is s-1"]
        assert (len(one.sent("disconnect")), len(other.sent("disconnect"))) == (0, 1)
        assert await scene.client.call("debug_disconnect") == {"ended": True}
        assert one.sent("disconnect")[0]["terminateDebuggee"] is True


async def test_a_disconnect_with_a_name_ends_that_one(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other):
        await scene.client.call("debug_disconnect", session_id="s-1")
        assert (len(one.sent("disconnect")), len(other.sent("disconnect"))) == (1, 0)
        assert (await scene.states(), await scene.focus()) == ({"s-2": "Running"}, "s-2")


async def test_a_restart_is_that_of_its_own_program(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other):
        again = scene.profile.adapter = FakeAdapter()
        answer = await scene.client.call("debug_restart", session_id="s-1", timeout=1)
        assert answer["session"] == "s-3"
        assert (await scene.states(), await scene.focus()) == ({"s-2": "Running", "s-3": "Running"}, "s-3")
        assert again.sent("launch")[0] == one.sent("launch")[0]
        assert other.sent("disconnect") == []
        # What has ended can be started again, too.
        await scene.client.call("debug_disconnect", session_id="s-3")
        scene.profile.adapter = FakeAdapter()
        answer = await scene.client.call("debug_restart", session_id="s-3", timeout=1)
        assert (answer["session"], await scene.states()) == ("s-4", {"s-2": "Running", "s-4": "Running"})


async def test_a_launch_that_replaces_ends_the_program_at_hand_only(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other):
        session = await scene.launch(FakeAdapter(), new_session=False, replace=True)
        assert (session, await scene.states()) == ("s-3", {"s-1": "Running", "s-3": "Running"})
        assert (len(one.sent("disconnect")), len(other.sent("disconnect"))) == (0, 1)


async def test_an_adapter_that_is_gone_ends_its_own_program(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other):
        await one.crash()
        await trio.sleep(10)
        assert await scene.states() == {"s-2": "Running"}
        await other.stop("pause")
        assert (await scene.client.call("debug_wait"))["at"] == "/src/other.py:7 in second"


async def test_with_the_server_all_programs_end(autojump_clock: MockClock) -> None:
    async with two() as (_, one, other):
        pass
    assert one.sent("disconnect")[0]["terminateDebuggee"] is True
    assert other.sent("disconnect")[0]["terminateDebuggee"] is True


async def test_a_client_that_disconnects_takes_its_own_program_along_and_no_other(autojump_clock: MockClock) -> None:
    async with serving() as scene:
        one, other = FakeAdapter(), FakeAdapter()
        await scene.launch(one)
        async with scene.server.connect() as leaving:
            await scene.launch(other, leaving)
            await leaving.call("breakpoint_set", file=other.program, line=1)
        start, clients = trio.current_time(), scene.server.app.clients
        assert clients.statistics().ends_at == pytest.approx(start + 100)
        await trio.sleep(99)
        assert await scene.states() == {"s-1": "Running", "s-2": "Running"}
        await trio.sleep(10)
        assert await scene.states() == {"s-1": "Running"}
        assert clients.statistics().ends_at == inf
        assert one.sent("disconnect") == []


async def test_a_client_that_names_a_program_of_one_who_has_left_becomes_its_owner(autojump_clock: MockClock) -> None:
    async with serving() as scene:
        async with scene.server.connect() as leaving:
            await scene.launch(FakeAdapter(), leaving)
            await scene.launch(FakeAdapter(), leaving)
        await scene.client.call("debug_pause", session_id="s-1", timeout=0)
        await trio.sleep(200)
        assert await scene.states() == {"s-1": "Running"}


# --- What is shared ---------------------------------------------------------------------------------------------------


async def test_breakpoints_reach_every_program_and_outlive_the_end_of_one(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), scene.client.subscribed(BREAKPOINTS):
        made = await scene.client.call("breakpoint_set", file=one.program, line=9)
        for adapter in (one, other):
            assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1}, {"line": 9}]
        for adapter, session in ((one, "s-1"), (other, "s-2")):
            await adapter.stop("breakpoint", hit=[3])  # the last one that this adapter was sent
            stop = await scene.client.call("debug_wait", session_id=session)
            assert stop["breakpoints"] == [made["id"]]
        shown = (await scene.client.read(BREAKPOINTS))["breakpoints"][-1]
        assert (shown["hitCount"], shown["state"]) == (2, "Bound")
        await one.exit()
        await trio.sleep(10)
        shown = (await scene.client.read(BREAKPOINTS))["breakpoints"][-1]
        assert (shown["hitCount"], shown["state"]) == (2, "Bound")


async def test_a_second_program_stops_at_its_entry_whatever_breakpoints_the_first_has(
    autojump_clock: MockClock,
) -> None:
    async with serving() as scene:
        await scene.client.call("breakpoint_set", file=__file__, line=1)
        await scene.launch(FakeAdapter(), stop_at_entry=None)
        other = FakeAdapter()
        await scene.launch(other, stop_at_entry=None)
        assert other.sent("launch")[0]["stopOnEntry"] is True
        await scene.client.call("breakpoint_set", file=other.program, line=1)
        await scene.launch(own := FakeAdapter(), stop_at_entry=None)
        assert own.sent("launch")[0]["stopOnEntry"] is False  # that one is in its own file
        third = FakeAdapter()
        await scene.launch(third, stop_at_entry=None, breakpoints=[{"file": __file__, "line": 2}])
        assert third.sent("launch")[0]["stopOnEntry"] is False


async def test_a_run_to_a_line_is_of_one_program(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), trio.open_nursery() as nursery:
        await one.stop("pause")
        await trio.sleep(10)
        sent = len(other.sent("setBreakpoints"))

        async def arrive() -> None:
            await trio.sleep(1)
            one.frames = [("first", one.program, 5)]
            await one.stop("breakpoint")

        nursery.start_soon(arrive)
        stop = await scene.client.call("debug_run_to", file=one.program, line=5, session_id="s-1")
        assert (stop["reason"], stop["session"]) == ("Step", "s-1")
        lines = [[each["line"] for each in set_["breakpoints"]] for set_ in one.sent("setBreakpoints")]
        assert [1, 5] in lines
        since = other.sent("setBreakpoints")[sent:]
        assert all([each["line"] for each in set_["breakpoints"]] == [1] for set_ in since)


async def test_the_timeline_continues_when_another_program_begins(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, _):
        await one.exit(3)
        await trio.sleep(10)
        events = (await scene.client.read(TIMELINE))["events"]
        ends = [(each["type"], each["payload"]["sessionId"]) for each in events if each["type"].startswith("session")]
        assert ends == [("sessionStarted", "s-1"), ("sessionStarted", "s-2"), ("sessionEnded", "s-1")]


class WithoutAnd(Expressions):
    """Expressions of a language that has no word `and`."""

    def syntax_error(self, expression: str) -> str | None:
        return "`and` is no operator" if " and " in expression else None


class OtherLanguage(FakeProfile):
    """The profile of an adapter for another language."""

    expressions: Expressions = WithoutAnd()

    name: str = "other"
    language: str = "Other"
    detect: Detect = Detect(suffixes=(".oth",))


@asynccontextmanager
async def of_two_languages(tmp_path: Path) -> AsyncIterator[tuple[DebugClient, FakeAdapter, FakeAdapter]]:
    """Two programs that run, the second one of another language."""
    one, other = FakeAdapter(), FakeAdapter()
    program = tmp_path / "program.oth"
    program.write_text("begin\nend\n")
    options = one.options()
    profiles = (*options.settings.profiles, OtherLanguage(other))
    options = replace(options, settings=replace(options.settings, profiles=profiles))
    async with open_server(options) as server, server.connect() as client:
        await launch(client, one)
        await launch(client, other, program=str(program), new_session=True)
        yield client, one, other


async def test_the_files_of_another_language_are_not_sent_to_an_adapter(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with of_two_languages(tmp_path) as (client, one, other):
        await client.call("breakpoint_set", file=one.program, line=1)
        await client.call("breakpoint_set", file=str(tmp_path / "program.oth"), line=2)
        (tmp_path / "rules.txt").write_text("first\n")
        await client.call("breakpoint_set", file=str(tmp_path / "rules.txt"), line=1)  # of neither: for both
        sent = [[Path(each["source"]["path"]).suffix for each in it.sent("setBreakpoints")] for it in (one, other)]
        assert sent == [[".py", ".txt"], [".oth", ".txt"]]


async def verify_own(arguments: Any) -> dict[str, Any]:
    """Verify the breakpoints of the other language, as adapters do."""
    verified = arguments["source"]["path"].endswith(".oth")
    return {"breakpoints": [{"verified": verified} for _ in arguments["breakpoints"]]}


async def test_breakpoints_from_before_that_are_of_another_language_are_counted_at_a_launch(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with of_two_languages(tmp_path) as (client, one, other):
        for line in (1, 2):
            await client.call("breakpoint_set", file=one.program, line=line)
        await client.call("breakpoint_set", function="total")
        await client.call("breakpoint_set", file=str(tmp_path / "program.oth"), line=2)
        for session in ("s-1", "s-2"):
            await client.call("debug_disconnect", session_id=session)
        other.capabilities["supportsFunctionBreakpoints"] = False
        other.answer("setBreakpoints", verify_own)
        stop = await launch(client, other, program=str(tmp_path / "program.oth"), wait=True)
        before, of_others = stop["notes"]
        assert before == f"in force from before: bp-4 {tmp_path}/program.oth:2"
        removes = 'breakpoint_remove(id="bp-1") removes one, id="*" all there are'
        assert of_others == f"3 breakpoints from before are of another language: {removes}"


async def test_an_exception_that_one_program_watches_for_has_no_problem_because_another_cannot(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with of_two_languages(tmp_path) as (client, _, other):
        other.answer("setExceptionBreakpoints", refused_late)
        await client.call("breakpoint_set_exception", exception_type="*")
        (shown,) = (await client.read(BREAKPOINTS))["exceptionBreakpoints"]
        assert (shown["verified"], shown["message"]) == (True, None)
        await client.call("debug_disconnect", session_id="s-1")
        await client.call("breakpoint_set_exception", exception_type="*", break_on_first_chance=False)
        (shown,) = (await client.read(BREAKPOINTS))["exceptionBreakpoints"]
        assert (shown["verified"], shown["message"]) == (False, "no such interpreter")


# --- Races and rests --------------------------------------------------------------------------------------------------


async def test_a_stop_elsewhere_while_a_resume_is_under_way_does_not_answer_it(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), trio.open_nursery() as nursery:
        await one.stop("pause")
        await trio.sleep(10)

        async def overtaken(arguments: object) -> dict[str, bool]:
            await other.stop("breakpoint", hit=[1])  # takes the focus, because this program runs
            await trio.sleep(1)
            return {"allThreadsContinued": True}

        async def later() -> None:
            await trio.sleep(5)
            one.frames = [("third", "/src/one.py", 30)]
            await one.stop("breakpoint", hit=[1])

        one.answer("continue", overtaken)
        nursery.start_soon(later)
        stop = await scene.client.call("debug_continue")
        assert (stop["session"], stop["at"]) == ("s-1", "/src/one.py:30 in third")
        assert await scene.focus() == "s-1"


async def test_looking_at_the_state_of_a_program_does_not_move_the_focus(autojump_clock: MockClock) -> None:
    async with two() as (scene, _, _):
        assert (await scene.client.call("debug_state", session_id="s-1"))["session"] == "s-1"
        assert await scene.focus() == "s-2"


async def test_the_end_that_a_wait_answers_has_the_output_of_its_own_program(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), trio.open_nursery() as nursery:

        async def end() -> None:
            await trio.sleep(5)
            await one.event("output", {"category": "stdout", "output": "bye\n"})
            await one.exit(3)
            await other.exit(4)  # before the wait is answered

        nursery.start_soon(end)
        ended = await scene.client.call("debug_wait", session_id="s-1")
        assert (ended["exitCode"], ended["stdout"], ended["state"]) == (3, "bye\n", "Disconnected")


async def test_a_wait_for_any_has_the_output_of_the_program_that_ended_first(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), trio.open_nursery() as nursery:

        async def end() -> None:
            await trio.sleep(5)
            await other.event("output", {"category": "stdout", "output": "still here\n"})
            await one.event("output", {"category": "stdout", "output": "bye\n"})
            await one.exit(3)

        nursery.start_soon(end)
        ended = await scene.client.call("debug_wait")
        assert (ended["session"], ended["stdout"], ended["exitCode"]) == ("s-1", "bye\n", 3)


async def test_the_output_of_the_last_programs_is_kept_until_one_starts_alone(autojump_clock: MockClock) -> None:
    async def known() -> list[str]:
        found = []
        for number in range(1, 10):
            try:
                await scene.client.call("process_read_output", session_id=f"s-{number}")
            except ToolFailed:
                continue
            found.append(f"s-{number}")
        return found

    async with serving() as scene:
        await scene.launch(FakeAdapter())
        for _ in range(MAX_ENDED + 2):
            adapter = FakeAdapter()
            await scene.launch(adapter)
            await adapter.exit()
            await trio.sleep(10)
        await scene.launch(FakeAdapter())
        assert await known() == ["s-1", "s-4", "s-5", "s-6", "s-7", "s-8"]
        for session in ("s-1", "s-8"):
            await scene.client.call("debug_disconnect", session_id=session)
        await scene.launch(FakeAdapter())
        assert await known() == ["s-9"]


async def test_sources_are_found_in_whichever_program_has_them(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other):
        for adapter, name in ((one, "one.py"), (other, "other.py")):
            (tmp_path / name).write_text(f"# {name}\n")
            adapter.frames = [("main", str(tmp_path / name), 1)]
            await adapter.stop("pause")
            await trio.sleep(10)
        for name in ("one.py", "other.py"):
            path = str(tmp_path / name)
            assert await scene.client.read_text(f"debugger://source/{path}") == f"# {name}\n"
            assert (await scene.client.call("source_get", file=path))["lines"] == [f"1 # {name}"]
        done = await completions(scene.client, "debugger://source/{+file}", "file", str(tmp_path))
        assert sorted(done) == [str(tmp_path / name) for name in ("one.py", "other.py")]


async def test_the_ids_and_the_resources_of_sessions_are_completed(autojump_clock: MockClock) -> None:
    async with two() as (scene, _, _):
        template = "debugger://sessions/{session}/{resource}"
        assert await completions(scene.client, template, "session", "s-") == ["s-1", "s-2"]
        assert await completions(scene.client, template, "resource", "st") == ["stack"]
        assert await completions(scene.client, template, "file", "") == []


async def test_a_batch_observes_and_holds_in_its_own_program_only(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other):
        await scene.client.call("breakpoint_set", file=one.program, line=5)
        await one.stop("pause")
        await trio.sleep(10)
        Passes(one, *[(line, {"x": "1"}) for line in (10, 11)] * 4)
        sent = len(other.sent("setBreakpoints"))
        places = [{"file": one.program, "line": 10, "capture": ["x"], "max_hits": 2}]
        found = await scene.client.call("batch_evaluate", experiments=places, session_id="s-1")
        assert found["experiments"][0]["hits"] == [{"x": "1"}, {"x": "1"}]
        since = [[each["line"] for each in it["breakpoints"]] for it in other.sent("setBreakpoints")[sent:]]
        assert all(lines == [1, 5] for lines in since)
        launched = {"program": one.program, "new_session": True}
        error = await failure(scene.client, "batch_evaluate", experiments=places, launch=launched)
        assert (error.code, "debug_launch(new_session=true)" in error.message) == ("SESSION_ACTIVE", True)


async def test_a_run_in_one_program_releases_no_breakpoint_that_is_held_for_another(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other), trio.open_nursery() as nursery:
        await one.stop("pause")
        await other.stop("pause")
        await trio.sleep(10)
        runs = scene.server.app.debugger.breakpoints.runs

        async def batch() -> None:
            async with runs.observing(Run([ObservedPlace(file=one.program, line=10)], 1, holds=True), of="s-1"):
                await trio.sleep(10)

        nursery.start_soon(batch)
        await trio.sleep(1)
        async with runs.observing(Run([ObservedPlace(file=one.program, line=11)], 1), of="s-2"):
            held = {each.id: each.is_held for each in scene.server.app.debugger.state.breakpoints}
            assert held["bp-1"] is True
            lines = [[each["line"] for each in it.sent("setBreakpoints")[-1]["breakpoints"]] for it in (one, other)]
            assert lines == [[10], [1, 11]]


async def test_a_call_that_names_a_session_is_about_the_sessions_of_its_program(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, _):
        scene.profile.adapter = one
        await adopt(one, FakeAdapter())
        debugger = scene.server.app.debugger
        assert [each.id for each in debugger.living_sessions()] == ["s-1", "s-2", "s-3"]
        with chosen("s-3"):
            assert [each.id for each in debugger.living_sessions()] == ["s-1", "s-3"]


async def test_nothing_is_kept_of_the_revisions_of_a_session_that_has_ended(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, _):
        revisions = scene.server.app.debugger.merger.revisions
        assert {*of("s-1"), *of("s-2")} <= revisions.counted()
        await one.exit()
        await trio.sleep(10)
        assert {uri for uri in revisions.counted() if uri.startswith(f"{SESSIONS}/")} == {*of("s-2")}


async def test_the_end_of_a_program_is_not_taken_for_a_later_one(autojump_clock: MockClock) -> None:
    async with two() as (scene, one, other):
        await one.exit(3)
        await trio.sleep(10)
        await other.exit(4)
        await trio.sleep(10)
        for session, code in (("s-1", 3), ("s-2", 4)):
            outcome = await scene.server.app.debugger.wait_stop(of=[session])
            assert outcome.ended is not None
            assert (outcome.ended.id, outcome.ended.exit_code) == (session, code)


async def test_what_only_one_of_two_languages_knows_is_not_refused(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with of_two_languages(tmp_path) as (client, _, _):
        for condition in ("x > 1 && y", "x > 1 and y"):
            await client.call("breakpoint_set", function="main", condition=condition)
        await client.call("breakpoint_set_exception", exception_type="Oops", include_subtypes=True)
