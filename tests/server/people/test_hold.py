"""The hold: a person steps while the calls of all others wait (server/people/hold.py, turns.py)."""

from functools import partial

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.server.people.scene import PEOPLE, scene
from trio_debugmcp.server.clients import LINGER_SECONDS
from trio_debugmcp.server.people.presence import GRACE_SECONDS
from trio_debugmcp.testing import ToolFailed


async def test_while_a_person_holds_an_agents_step_waits_for_the_hand_back(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now, now.page() as page:
        await page.call("session_hold")
        answers = []

        async def step() -> None:
            answers.append(await now.agent.call("debug_step", wait=False))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(step)
            await trio.sleep(12)
            assert (answers, now.adapter.sent("next")) == ([], [])
            shown = await page.read(PEOPLE)
            assert shown["hold"]["client"] == "dashboard"
            assert [(each["client"], each["tool"]) for each in shown["waiting"]] == [("agent", "debug_step")]
            assert await page.call("session_hand_back", message="mind the discount") == {"seconds": 12.0}
        assert len(now.adapter.sent("next")) == 1
        assert answers[0]["notes"] == [
            'a person (dashboard) held the session for 12 s and hands it back: "mind the discount"'
        ]
        assert (await page.read(PEOPLE))["waiting"] == []
        events = await now.events("held", "handedBack")
        assert [each["type"] for each in events] == ["held", "handedBack"]
        assert events[1]["message"] == "mind the discount"
        assert events[1]["seconds"] == 12.0


async def test_a_program_stays_with_the_person_who_holds_it_when_the_agent_disconnects(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now, now.page() as page:
        async with now.server.connect(name="other") as other:
            await other.call("debug_step", wait=False)
            await now.adapter.stop("step")
            await page.call("session_hold")
        await trio.sleep(LINGER_SECONDS + 1)
        assert (await page.call("debug_state"))["state"] == "Paused"


async def test_what_only_reads_is_answered_during_a_hold(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("session_hold")
        start = trio.current_time()
        assert (await now.agent.call("debug_state"))["state"] == "Paused"
        assert (await now.agent.call("debug_wait"))["state"] == "Paused"
        await now.agent.call("stacktrace_get")
        await now.agent.call("variables_get")
        assert trio.current_time() < start + 1


async def test_a_hold_that_outlasts_a_calls_timeout_is_answered_with_who_holds_and_since_when(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now, now.page() as page:
        since = (await page.call("session_hold"))["since"]
        await trio.sleep(5)
        start = trio.current_time()
        with pytest.raises(ToolFailed) as caught:
            await now.agent.call("debug_continue", timeout=7)
        assert trio.current_time() == pytest.approx(start + 7)
        assert (caught.value.code, caught.value.details) == (
            "HELD",
            {"by": "dashboard", "since": since, "tool": "debug_continue"},
        )
        assert "A person (dashboard) has held the session for 12 s, so debug_continue was not carried out." in str(
            caught.value
        )
        assert now.adapter.sent("continue") == []


async def test_a_call_without_a_timeout_waits_for_twenty_seconds(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("session_hold")
        start = trio.current_time()
        with pytest.raises(ToolFailed, match=r"^HELD"):
            await now.agent.call("breakpoint_set", file=now.adapter.program, line=1)
        assert trio.current_time() == pytest.approx(start + 20)


async def test_what_a_call_has_waited_is_taken_from_its_timeout(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("session_hold")
        start = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(now.agent.call, "debug_continue", timeout=30))
            await trio.sleep(20)
            await page.call("session_hand_back")
        assert trio.current_time() == pytest.approx(start + 30, abs=0.1)


async def test_the_person_who_holds_steps_at_once(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("session_hold")
        await page.call("debug_step", wait=False)
        assert len(now.adapter.sent("next")) == 1


async def test_another_person_is_refused_at_once_and_may_take_over(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page, now.page("tab-number-two") as other:
        await page.call("session_hold")
        start = trio.current_time()
        for tool in ("debug_step", "session_hold"):
            with pytest.raises(ToolFailed, match=r"^HELD.*[Tt]ake over"):
                await other.call(tool)
        with pytest.raises(ToolFailed, match="dashboard holds the session, not you"):
            await other.call("session_hand_back")
        assert trio.current_time() < start + 1
        await other.call("session_hold", take_over=True)
        await other.call("debug_step", wait=False)
        with pytest.raises(ToolFailed, match=r"^HELD"):
            await page.call("debug_pause")
        events = await now.events("held", "handedBack")
        assert [each["type"] for each in events] == ["held", "held"]
        assert events[1]["takenFrom"] == events[0]["party"]


async def test_a_person_at_a_card_is_refused_at_once_in_words_for_a_person(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("session_hold")
        await trio.sleep(4)
        start = trio.current_time()
        with pytest.raises(ToolFailed) as failed:
            await now.agent.call("card_run", action="over")
        assert (failed.value.code, trio.current_time()) == ("HELD", start)
        assert str(failed.value) == (
            "HELD: A person (dashboard) has held the session for 4 s, so this was not carried out. Press again once it "
            "is handed back, or take over at the dashboard."
        )


async def test_a_call_that_is_cancelled_while_it_waits_is_shown_no_longer(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("session_hold")
        with trio.move_on_after(5):
            await now.agent.call("debug_step")
        await wait_all_tasks_blocked()
        assert (now.people.waiting, now.people.hold is not None) == ((), True)
        await page.call("session_hand_back")
        assert now.adapter.sent("next") == []


async def test_an_agent_that_dies_while_its_call_waits_leaves_nothing_behind(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("session_hold")
        async with now.server.connect(name="second") as second:
            with trio.move_on_after(5):
                await second.call("debug_step")
        await wait_all_tasks_blocked()
        assert (now.people.waiting, [each.name for each in now.people.agents]) == ((), ["agent"])


async def test_the_hold_of_a_page_that_vanishes_ends_after_a_grace_and_agents_learn_of_it(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now:
        async with now.page() as page:
            await page.call("session_hold")
            await trio.sleep(3)
        start = trio.current_time()
        answer = await now.agent.call("debug_step", wait=False)
        assert trio.current_time() == pytest.approx(start + GRACE_SECONDS, abs=0.1)
        assert answer["notes"] == [
            "a person (dashboard) held the session for 18 s, and has disconnected: it is free again"
        ]
        assert (await now.events("handedBack"))[0]["reason"] == "disconnected"
        assert now.people.persons == ()


async def test_a_page_that_comes_back_in_time_holds_as_before(autojump_clock: MockClock) -> None:
    async with scene() as now:
        async with now.page() as page:
            await page.call("session_hold")
        await trio.sleep(GRACE_SECONDS - 1)
        assert (await now.agent.read(PEOPLE))["clients"][-1]["absentSince"] is not None
        async with now.page() as page:
            await trio.sleep(2 * GRACE_SECONDS)
            await page.call("debug_step", wait=False)
            assert (await page.call("session_hand_back"))["seconds"] > GRACE_SECONDS


async def test_a_hold_outlives_the_program_so_that_the_person_may_start_it_again(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("session_hold")
        await page.call("debug_disconnect")
        with pytest.raises(ToolFailed, match=r"^HELD"):
            await now.agent.call("debug_launch", program=now.adapter.program, timeout=3)
        await page.call("session_hand_back")
        with pytest.raises(ToolFailed, match=r"^NO_SESSION"):
            await page.call("session_hold")


async def test_a_series_of_steps_ends_where_a_person_takes_over(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        answers = []

        async def steps() -> None:
            answers.append(await now.agent.call("debug_step", count=50))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(steps)
            await trio.sleep(1)
            await page.call("session_hold")
            await now.adapter.stop("step")
        assert "1 of 50 steps: a person holds the session" in answers[0]["notes"]
        assert len(now.adapter.sent("next")) == 1


async def test_an_agent_that_waited_owns_the_program_again(autojump_clock: MockClock) -> None:
    async with scene(linger=100.0) as now:
        async with now.page() as page, trio.open_nursery() as nursery:
            await page.call("session_hold")
            nursery.start_soon(partial(now.agent.call, "debug_step", wait=False))
            await trio.sleep(1)
            await page.call("debug_step", wait=False)
            await now.adapter.stop("step")
            await trio.sleep(1)
            await page.call("session_hand_back")
        await trio.sleep(300)
        assert now.server.app.debugger.state.focus is not None


async def test_an_observer_can_neither_hold_nor_tell_nor_ask_nor_answer_but_sees_who_holds(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now, now.page() as page, now.server.connect(role="observe", name="dashboard") as observer:
        for tool, arguments in {
            "person_join": {"key": "tab-number-three"},
            "session_hold": {},
            "session_hand_back": {},
            "agent_message": {"text": "hello"},
            "person_answer": {"id": "q-1"},
            "ask_person": {"question": "why?"},
        }.items():
            with pytest.raises(ToolFailed, match=r"^READ_ONLY: This connection may only observe.*in control"):
                await observer.call(tool, **arguments)
        assert [each.name for each in now.people.parties] == ["agent", "dashboard"]
        async with observer.subscribed(PEOPLE):
            await page.call("session_hold")
            await observer.wait_notice(PEOPLE)
            assert (await observer.read(PEOPLE))["hold"]["client"] == "dashboard"


async def test_an_agent_cannot_pass_for_a_person(autojump_clock: MockClock) -> None:
    async with scene() as now:
        for tool, arguments in {
            "session_hold": {},
            "session_hand_back": {},
            "agent_message": {"text": "hello"},
            "person_answer": {"id": "q-1", "answer": "yes"},
        }.items():
            with pytest.raises(ToolFailed, match="Only a person does this"):
                await now.agent.call(tool, **arguments)


async def test_people_can_be_read_and_subscribed_to_without_a_session_but_are_listed_only_with_one(
    autojump_clock: MockClock,
) -> None:
    async with scene(session=False) as now, now.agent.subscribed(PEOPLE):
        assert PEOPLE not in await now.agent.uris()
        assert [each["person"] for each in (await now.agent.read(PEOPLE))["clients"]] == [False]
        async with now.page():
            await now.agent.wait_notice(PEOPLE)
            assert [each["person"] for each in (await now.agent.read(PEOPLE))["clients"]] == [False, True]
    async with scene() as now:
        assert PEOPLE in await now.agent.uris()
