"""Questions of agents to persons (server/people/chat.py)."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.server.people.scene import PEOPLE, Scene, scene
from trio_debugmcp.server.people.chat import MAX_OPEN
from trio_debugmcp.server.people.presence import GRACE_SECONDS
from trio_debugmcp.testing import DebugClient, ToolFailed


async def ask(now: Scene, answers: list[Any], question: str = "Is 3 % right?", **arguments: Any) -> None:
    answers.append(await now.agent.call("ask_person", question=question, **arguments))


async def open_questions(page: DebugClient) -> list[dict[str, Any]]:
    await wait_all_tasks_blocked()
    questions: list[dict[str, Any]] = (await page.read(PEOPLE))["questions"]
    return questions


async def test_a_question_is_answered_on_a_page_without_a_session(autojump_clock: MockClock) -> None:
    answers: list[Any] = []
    async with scene(session=False) as now, now.page() as page, page.subscribed(PEOPLE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, now, answers)
            await page.wait_notice(PEOPLE)
            (question,) = await open_questions(page)
            assert (question["question"], question["choices"], question["client"]) == ("Is 3 % right?", [], "agent")
            await page.call("person_answer", id=question["id"], answer="No, 5 %")
        assert answers == [{"answer": "No, 5 %", "by": "dashboard"}]
        assert await open_questions(page) == []
        events = await now.events("asked", "answered")
        assert [each["type"] for each in events] == ["asked", "answered"]
        assert (events[1]["outcome"], events[1]["answer"], events[1]["client"]) == ("answered", "No, 5 %", "dashboard")


async def test_several_questions_wait_side_by_side_and_the_first_answer_to_each_counts(
    autojump_clock: MockClock,
) -> None:
    answers: list[Any] = []
    async with scene() as now, now.page() as page, now.page("tab-number-two") as other:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, now, answers, "first?")
            await wait_all_tasks_blocked()
            nursery.start_soon(ask, now, answers, "second?")
            first, second = await open_questions(page)
            await other.call("person_answer", id=second["id"], answer="2")
            with pytest.raises(ToolFailed, match="not open any more"):
                await page.call("person_answer", id=second["id"], answer="3")
            await page.call("person_answer", id=first["id"], answer="1")
        assert [each["answer"] for each in answers] == ["2", "1"]
        with pytest.raises(ToolFailed, match="There is no question 'q-99'"):
            await page.call("person_answer", id="q-99", answer="3")


async def test_without_a_page_a_question_is_answered_at_once_with_the_reason(autojump_clock: MockClock) -> None:
    answers: list[Any] = []
    async with scene() as now, now.server.connect(role="observe"):
        start = trio.current_time()
        await ask(now, answers)
        assert trio.current_time() < start + 1
    assert answers[0]["unanswered"].startswith("no person is there")


async def test_a_question_without_an_answer_ends_with_its_time(autojump_clock: MockClock) -> None:
    answers: list[Any] = []
    async with scene() as now, now.page() as page:
        start = trio.current_time()
        await ask(now, answers, timeout=25)
        assert trio.current_time() == pytest.approx(start + 25)
        assert answers[0]["unanswered"].startswith("no answer came in time")
        assert await open_questions(page) == []
        assert (await now.events("answered"))[0]["outcome"] == "timedOut"


async def test_a_question_can_be_dismissed(autojump_clock: MockClock) -> None:
    answers: list[Any] = []
    async with scene() as now, now.page() as page, trio.open_nursery() as nursery:
        nursery.start_soon(ask, now, answers)
        (question,) = await open_questions(page)
        await page.call("person_answer", id=question["id"])
        await wait_all_tasks_blocked()
        assert answers[0]["unanswered"].startswith("dismissed")
        assert answers[0]["by"] == "dashboard"


async def test_a_question_ends_when_the_page_vanishes_and_does_not_come_back(autojump_clock: MockClock) -> None:
    answers: list[Any] = []
    async with scene() as now, trio.open_nursery() as nursery:
        async with now.page() as page:
            nursery.start_soon(ask, now, answers)
            await open_questions(page)
        start = trio.current_time()
        while not answers:
            await trio.sleep(1)
        assert trio.current_time() == pytest.approx(start + GRACE_SECONDS, abs=1.1)
        assert answers[0]["unanswered"].startswith("no person is there")


async def test_a_page_that_comes_back_in_time_can_still_answer(autojump_clock: MockClock) -> None:
    answers: list[Any] = []
    async with scene() as now, trio.open_nursery() as nursery:
        async with now.page() as page:
            nursery.start_soon(ask, now, answers)
            await open_questions(page)
        await trio.sleep(GRACE_SECONDS - 1)
        async with now.page() as page:
            (question,) = await open_questions(page)
            await page.call("person_answer", id=question["id"], answer="yes")
            await wait_all_tasks_blocked()
            assert answers == [{"answer": "yes", "by": "dashboard"}]


async def test_a_question_whose_call_is_cancelled_is_open_no_longer(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        with trio.move_on_after(5):
            await ask(now, [])
        assert await open_questions(page) == []
        assert (await now.events("answered"))[0]["outcome"] == "cancelled"


async def test_an_agent_may_ask_while_a_person_holds(autojump_clock: MockClock) -> None:
    answers: list[Any] = []
    async with scene() as now, now.page() as page, trio.open_nursery() as nursery:
        await page.call("session_hold")
        nursery.start_soon(ask, now, answers)
        (question,) = await open_questions(page)
        await page.call("person_answer", id=question["id"], answer="yes")
        await wait_all_tasks_blocked()
        assert answers[0]["answer"] == "yes"


async def test_too_many_open_questions_are_refused(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page(), trio.open_nursery() as nursery:
        for _ in range(MAX_OPEN):
            nursery.start_soon(ask, now, [])
        await wait_all_tasks_blocked()
        with pytest.raises(ToolFailed, match="10 questions are open already"):
            await ask(now, [])
        nursery.cancel_scope.cancel(reason="the test is over")
