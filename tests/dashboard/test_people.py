"""A person beside an agent: hold, hand back, messages, questions, confirmations, the program's input."""

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.axe import problems_of
from tests.dashboard.conftest import OpenPage
from tests.dashboard.editor import editor_beside
from tests.dashboard.eventually import becomes, eventually, hold_time

if TYPE_CHECKING:
    from playwright.sync_api import Page

SHOTS = os.environ.get("PEOPLE_SHOTS")


def shot(page: "Page", name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))


def test_a_person_holds_steps_and_hands_back_with_a_word_and_a_second_page_and_an_observer_see_it(
    agent: Agent, control_page: "Page", open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page, strip = control_page, control_page.locator("#people")
    second, observer = open_page(agent.url(CONTROL_TOKEN)), open_page(agent.url(OBSERVE_TOKEN))
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    shot(page, "free")
    strip.get_by_role("button", name="Hold").click()
    expect(strip).to_contain_text("You have held the session since")
    waiting = agent.begin_call("debug_step")
    expect(strip).to_contain_text("agent waits in debug_step")
    expect(second.locator("#people")).to_contain_text("Another person (dashboard) has held the session")
    expect(observer.locator("#people")).to_contain_text("Another person (dashboard) has held the session")
    expect(observer.locator("#people button:visible")).to_have_count(0)
    expect(observer.locator("#people input:visible")).to_have_count(0)

    # A question is answered once, on any page; a page that closes in the middle takes nothing away.
    asked = agent.begin_call("ask_person", question="Is it so?", choices=["yes", "no"])
    questions = [each.get_by_label("A question of an agent") for each in (page, second, observer)]
    for question in questions:
        expect(question).to_contain_text("Is it so?")
    second.get_by_role("button", name="yes", exact=True).click()
    assert agent.answer(asked)["structuredContent"]["answer"] == "yes"
    for question in questions:
        expect(question).to_be_hidden()
    passer_by = open_page(agent.url(CONTROL_TOKEN))
    expect(passer_by.locator("#people")).to_contain_text("Another person (dashboard) has held the session")
    expect(observer.locator("#clients")).to_contain_text("3 connections")
    passer_by.close()
    expect(observer.locator("#clients")).to_contain_text("2 connections")
    for each in (observer, second):
        expect(each.locator("#people")).to_contain_text("Another person (dashboard) has held the session")
    expect(strip).to_contain_text("You have held the session")
    expect(strip).to_contain_text("agent waits in debug_step")

    second.get_by_role("button", name="Step over", exact=True).click()
    expect(second.locator("#notice")).to_contain_text("has held the session")
    page.keyboard.press("F10")
    expect(page.locator("#where")).to_contain_text("app.py:9")
    assert problems_of(page) == []
    shot(page, "held")
    shot(second, "other")
    field = strip.get_by_label("Message to agent")
    expect(field).to_have_attribute("placeholder", "Message to agent, or a sentence to hand back with")
    field.fill("mind the <b>total</b>")
    strip.get_by_role("button", name="Hand back").click()
    notes = agent.answer(waiting)["structuredContent"]["notes"]
    assert notes[0] == "a person (dashboard) stepped over"
    assert notes[1].endswith('and hands it back: "mind the <b>total</b>"')
    expect(strip).to_contain_text("“mind the <b>total</b>” delivered to agent at")
    expect(strip.get_by_role("button", name="Hold")).to_be_visible()

    second.locator("#people").get_by_role("button", name="Hold").click()
    expect(strip).to_contain_text("Another person (dashboard) has held")
    strip.get_by_role("button", name="Take over").click()
    expect(strip).to_contain_text("You have held the session")
    expect(second.locator("#people")).to_contain_text("Another person (dashboard) has held")
    page.reload()
    expect(strip).to_contain_text("You have held the session")
    strip.get_by_role("button", name="Hand back").click()
    expect(strip).not_to_contain_text("hold")


def test_messages_and_questions_go_between_the_page_and_the_agent(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    page, strip = control_page, control_page.locator("#people")
    strip.get_by_label("Message to agent").fill("look at line 4")
    page.keyboard.press("Enter")
    expect(strip).to_contain_text("“look at line 4” waits for the next answer to agent")
    assert agent.call("breakpoint_list")["notes"] == ['a person (dashboard) says: "look at line 4"']
    expect(strip).to_contain_text("delivered to agent at")

    arguments = {"question": "Is <i>3 %</i> right?", "choices": ["yes", "no"]}
    first = agent.begin_call("ask_person", **arguments)
    expect(strip.get_by_role("alert")).to_contain_text("agent asks")
    second = agent.begin_call("ask_person", question="Why?")
    expect(strip.get_by_role("alert")).to_contain_text("1 of 2")
    expect(strip).to_contain_text("Is <i>3 %</i> right?")
    expect(page).to_have_title("(?) No debug session · trio_debugmcp")
    assert problems_of(page) == []
    after = page.locator(".question").evaluate("node => getComputedStyle(node, '::after').content")
    assert after == "none", "it stands there once"
    shot(page, "question")
    page.set_viewport_size({"width": 390, "height": 800})
    shot(page, "question-phone")
    eventually(lambda: page.evaluate("document.documentElement.scrollWidth"), lambda width: width <= 390)
    page.set_viewport_size({"width": 1280, "height": 800})
    strip.get_by_role("button", name="no", exact=True).click()
    assert agent.answer(first)["structuredContent"] == {"answer": "no", "by": "dashboard"}
    expect(strip).to_contain_text("Why?")
    expect(strip.get_by_role("button", name="Answer")).to_be_enabled()  # a moment after the one before
    strip.get_by_placeholder("Your answer…").fill("because")
    page.keyboard.press("Enter")
    assert agent.answer(second)["structuredContent"] == {"answer": "because", "by": "dashboard"}
    expect(strip.locator(".inquiry")).to_be_hidden()
    expect(page).to_have_title("No debug session · trio_debugmcp")
    third = agent.begin_call("ask_person", question="Really?")
    strip.get_by_role("button", name="Dismiss").click()
    assert agent.answer(third)["structuredContent"]["unanswered"].startswith("dismissed")


ROOM_BELOW = "(node) => innerHeight - node.getBoundingClientRect().bottom"


def test_a_long_question_can_be_answered_in_any_window_and_stays_in_sight(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    page, strip = control_page, control_page.locator("#people")
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    expect(page.get_by_label("Message to agent")).to_be_visible()  # the page is here: it can be asked
    arguments = {"question": "Q" * 2000, "choices": [f"{number}" * 190 for number in range(10)]}
    agent.begin_call("ask_person", **arguments)
    dismiss = strip.get_by_role("button", name="Dismiss")
    dismiss.wait_for()
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        eventually(partial(dismiss.evaluate, ROOM_BELOW), lambda room: room >= 0)
        eventually(page.locator(".panel.source").bounding_box, lambda box: box is not None and box["height"] > 100)
    page.mouse.move(200, 700)
    page.mouse.wheel(0, 1500)
    expect(page.locator(".bar")).not_to_be_in_viewport()
    expect(strip.locator(".question")).to_be_in_viewport()


@pytest.mark.usefixtures("own_profile")
def test_a_press_that_was_meant_for_one_question_does_not_answer_the_next(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(agent.url(CONTROL_TOKEN), clock=True)
    inquiry = page.locator(".inquiry")
    expect(page.get_by_label("Message to agent")).to_be_visible()
    choices = {"choices": ["yes", "no"]}
    first = agent.begin_call("ask_person", question="Run the tests?", **choices)
    expect(inquiry).to_contain_text("Run the tests?")
    expect(inquiry).not_to_contain_text("The question before")
    second = agent.begin_call("ask_person", question="Delete all?", **choices)
    expect(inquiry).to_contain_text("1 of 2")
    inquiry.get_by_role("textbox").fill("as soon as")
    hold_time(page)
    agent.cancel(first)
    expect(inquiry).to_contain_text(
        "The question before has ended: this is another one. You had typed: “as soon as”Delete all?"
    )
    yes = inquiry.get_by_role("button", name="yes")
    expect(inquiry.locator("button[aria-disabled=true]")).to_have_count(4)
    expect(inquiry.get_by_role("textbox")).to_be_focused()
    page.keyboard.type(" possible")
    page.keyboard.press("Enter")
    yes.click(force=True)
    expect(inquiry.get_by_role("textbox")).to_have_value(" possible")
    page.clock.run_for(900)
    yes.click(force=True)
    expect(yes).to_have_attribute("aria-disabled", "true")

    # A moment later it can be answered; the one after it begins in the same way.
    page.clock.run_for(200)
    expect(inquiry.locator("button[aria-disabled=true]")).to_have_count(0)
    third = agent.begin_call("ask_person", question="Which?")
    expect(inquiry).to_contain_text("1 of 2")
    assert [each["arguments"] for each in agent.tool_calls() if each["tool"] == "person_answer"] == []
    inquiry.get_by_role("button", name="yes").click()
    assert agent.answer(second)["structuredContent"]["answer"] == "yes"
    expect(inquiry).to_contain_text("Which?")
    expect(inquiry).not_to_contain_text("You had typed")
    expect(inquiry.get_by_role("textbox")).to_have_value("")
    page.clock.run_for(1100)
    inquiry.get_by_role("textbox").fill("that")
    page.keyboard.press("Enter")
    assert agent.answer(third)["structuredContent"]["answer"] == "that"


@pytest.mark.usefixtures("own_profile")
def test_that_a_message_was_delivered_is_old_news_after_a_while(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(agent.url(CONTROL_TOKEN), clock=True)
    strip, sent = page.locator("#people"), page.locator("#people .sent")
    strip.get_by_label("Message to agent").fill("look at line 4")
    page.keyboard.press("Enter")
    expect(sent).to_contain_text("waits for the next answer to agent")
    hold_time(page)
    page.clock.fast_forward(50_000)  # at once: step by step, the server would have no time to answer a ping
    expect(sent).to_be_visible()  # it is not read yet
    agent.call("breakpoint_list")
    expect(sent).to_contain_text("delivered to agent at")
    page.clock.fast_forward(29_000)
    expect(sent).to_be_visible()
    page.clock.fast_forward(2000)
    expect(sent).to_be_hidden()  # by itself: there is no news
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    expect(page.locator("#where")).to_contain_text("app.py:1")
    strip.get_by_role("button", name="Hold").click()
    expect(strip).to_contain_text("You have held the session")
    expect(sent).to_be_hidden()
    strip.get_by_label("Message to agent").fill("and at line 5")
    page.keyboard.press("Enter")
    expect(sent).to_contain_text("“and at line 5” waits")


def test_an_end_of_the_program_under_an_agents_hands_is_confirmed(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    page = control_page
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    expect(page.locator("#where")).to_contain_text("app.py:1")
    page.keyboard.press("Shift+F5")
    dialog = page.get_by_role("dialog", name="Stop?")
    expect(dialog).to_contain_text("agent may be at work here")
    assert problems_of(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert agent.call("debug_state")["state"] == "Paused"
    page.get_by_role("button", name="Stop", exact=True).click()
    dialog.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator("#state")).to_contain_text("ended")


def test_a_line_is_written_to_a_program_that_waits_for_it(
    agent: Agent, control_page: "Page", open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "app.py").write_text(
        "name = input('Who? ')\nprint('Hello', name)\nprint(len(input('More? ')))\n"
    )
    page, observer = control_page, open_page(agent.url(OBSERVE_TOKEN))
    agent.call("debug_launch", program="app.py", stop_at_entry=False, wait=False)
    expect(page.locator("#output")).to_contain_text("Who?")
    field = page.get_by_label("Input for the program")  # opens by itself
    expect(page.get_by_text("The program may be waiting for a line.")).to_be_visible()
    expect(field).not_to_be_focused()
    frame = "(field) => { const {borderColor, boxShadow} = getComputedStyle(field); return borderColor + boxShadow; }"
    other = page.get_by_label("Expression to evaluate")
    becomes(lambda: field.evaluate(frame) == other.evaluate(frame), True)  # or it would look focused
    field.fill("Ada Lovelace, Countess")
    shot(page, "input")
    assert problems_of(page) == []
    field.press("Enter")
    expect(page.locator("#output")).to_contain_text("Who? Ada Lovelace, Countess\nHello Ada Lovelace, Countess\nMore?")
    expect(page.locator("#output .piece.input")).to_have_text("Ada Lovelace, Countess\n", use_inner_text=False)
    expect(observer.locator("#output .piece.input")).to_contain_text("Ada Lovelace, Counte")
    expect(observer.get_by_role("button", name="Input", exact=True)).to_be_hidden()
    shot(page, "echo")
    page.get_by_role("button", name="End of input").click()
    expect(page.locator("#state")).to_have_text("Paused: EOFError")
    notes = agent.call("debug_state")["notes"]
    assert any("wrote 23 characters to the program's input" in note for note in notes)


def test_what_was_typed_for_one_program_is_not_in_the_output_of_one_that_replaces_it(
    agent: Agent, control_page: "Page"
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "asks.py").write_text("name = input('Who? ')\nbreakpoint()\n")
    (agent.directory / "app.py").write_text("one = 1\ntwo = 2\n")
    page = control_page
    agent.call("debug_launch", program="asks.py", stop_at_entry=False, wait=False)
    page.get_by_label("Input for the program").fill("zoe")
    page.get_by_label("Input for the program").press("Enter")
    expect(page.locator("#output .piece.input")).to_have_text("zoe\n", use_inner_text=False)
    agent.call("debug_launch", program="app.py", stop_at_entry=True, replace=True)
    expect(page.locator("#where")).to_contain_text("app.py")
    expect(page.locator("#output .piece")).to_have_count(0)


def in_the_middle(agent: Agent, page: "Page") -> tuple[int, int]:
    """Hold, let the agent wait in a step and ask, and write a message. Returns the numbers of the two calls."""
    from playwright.sync_api import expect

    strip = page.locator("#people")
    expect(page.locator("#where")).to_contain_text("app.py")
    strip.get_by_role("button", name="Hold").click()
    expect(strip).to_contain_text("You have held the session")
    step = agent.begin_call("debug_step")
    expect(strip).to_contain_text("agent waits in debug_step")
    question = agent.begin_call("ask_person", question="Is 3 % right?")
    expect(strip.get_by_role("alert")).to_contain_text("agent asks")
    strip.get_by_label("Message to agent").fill("look at line 4")
    strip.get_by_role("button", name="Send").click()
    expect_all_open(page)
    return step, question


def expect_all_open(page: "Page") -> None:
    from playwright.sync_api import expect

    strip = page.locator("#people")
    expect(strip).to_contain_text("You have held the session")
    expect(strip).to_contain_text("agent waits in debug_step")
    expect(strip.get_by_role("alert")).to_contain_text("Is 3 % right?")
    expect(strip).to_contain_text("“look at line 4” waits for the next answer to agent")
    expect(page).to_have_title(re.compile(r"^\(\?\) Paused"))


def test_what_is_open_between_a_person_and_an_agent_outlives_a_reload_and_ends_with_the_page(
    agent: Agent, control_page: "Page", observer_page: "Page"
) -> None:
    from playwright.sync_api import expect

    page, observer = control_page, observer_page.locator("#people")
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    step, question = in_the_middle(agent, page)
    page.reload()
    expect_all_open(page)
    page.get_by_placeholder("Your answer…").fill("yes")
    page.get_by_role("button", name="Answer", exact=True).click()
    answer = agent.answer(question)["structuredContent"]
    assert answer == {"answer": "yes", "by": "dashboard", "notes": ['a person (dashboard) says: "look at line 4"']}
    expect(page.locator("#people")).to_contain_text("delivered to agent at")
    page.locator("#people").get_by_role("button", name="Hand back").click()
    assert agent.answer(step)["structuredContent"]["state"] == "Paused"

    # Closed for good: after a moment in which it could have come back, nothing waits for its person any more.
    step, question = in_the_middle(agent, page)
    expect(observer).to_contain_text("Another person (dashboard) has held the session")
    page.close()
    unanswered = agent.answer(question)["structuredContent"]
    assert unanswered["unanswered"].startswith("no person is there")
    stepped = agent.answer(step)["structuredContent"]
    assert stepped["state"] == "Paused"
    notes = [*unanswered.get("notes", []), *stepped.get("notes", [])]
    assert 'a person (dashboard) says: "look at line 4"' in notes
    assert any("has disconnected: it is free again" in note for note in notes)
    expect(observer).to_be_hidden()
    expect(observer_page.locator("#state")).to_contain_text("Paused after a step")


def test_nothing_stays_open_on_the_page_when_the_agent_or_the_server_is_gone(
    tmp_path: Path, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    (tmp_path / "app.py").write_text("total = 1\ntotal += 1\nprint(total)\n")
    agent = Agent(tmp_path)
    page = open_page(agent.url(CONTROL_TOKEN))
    strip, asked = page.locator("#people"), page.get_by_label("A question of an agent")
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    in_the_middle(agent, page)
    agent.leave()
    expect(asked).to_be_hidden()
    expect(strip).to_contain_text("“look at line 4” agent left before it was read")
    expect(strip).not_to_contain_text("waits in")
    expect(page).to_have_title(re.compile("^Paused"))
    expect(strip.get_by_label("Message to agent")).to_be_hidden()
    page.keyboard.press("F10")
    expect(page.locator("#where")).to_contain_text("app.py:2")  # the program is still there
    watched = page.locator("#watches [data-path=total] .value")
    page.get_by_label("Expression to watch").fill("total")
    page.keyboard.press("Enter")
    expect(watched).to_have_text("1")
    strip.get_by_role("button", name="Hand back").click()
    expect(strip.get_by_role("button", name="Hand back")).to_be_hidden()
    agent.kill()
    expect(page.locator("#link")).to_have_text("Connection lost")
    expect(watched).to_have_text("…")

    again = Agent(tmp_path, port=agent.port)
    try:
        expect(page.locator("#link")).to_have_text("Live")
        expect(watched).to_have_text("…")  # what the other server's program had is not what this one's has
        again.call("debug_launch", program="app.py", stop_at_entry=True)
        expect(watched).to_contain_text("NameError")
        in_the_middle(again, page)
    finally:
        again.kill()
    expect(page.locator("#link")).to_have_text("Connection lost")
    expect(strip).to_be_hidden()
    expect(page).not_to_have_title(re.compile(r"\(\?\)"))
    third = Agent(tmp_path, port=agent.port)
    try:
        expect(page.locator("#link")).to_have_text("Live")
        third.call("debug_launch", program="app.py", stop_at_entry=True)
        expect(strip.get_by_role("button", name="Hold")).to_be_visible()
        expect(asked).to_be_hidden()
        expect(strip).not_to_contain_text("look at line 4")
        expect(strip).not_to_contain_text("held")
    finally:
        third.kill()


def test_the_calls_of_an_editor_are_those_of_a_person(tmp_path: Path, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (tmp_path / "app.py").write_text("total = 1\ntotal += 1\nprint(total)\n")
    agent = Agent(tmp_path, options=["--dap", "127.0.0.1:0"])
    try:
        page = open_page(agent.url(CONTROL_TOKEN))
        agent.call("debug_launch", program="app.py", stop_at_entry=True)
        with editor_beside(agent) as editor:
            editor.ask("next", threadId=1, answer="stopped")
            step = page.locator("#story .call").filter(has_text="debug_step")
            expect(step).to_have_attribute("data-person", "true")
            expect(step.locator(".who")).to_have_text("Neovim")
            edge = "node => getComputedStyle(node).borderLeftColor"
            quiet = page.locator("#story .call").filter(has_text="debug_launch")
            eventually(lambda: {each.evaluate(edge) for each in (step, quiet)}, lambda colours: len(colours) == 2)
            expect(page.locator("#clients .row").filter(has_text="Neovim")).to_contain_text("a person · in control")
            for words, tools in (("agent", ["debug_launch"]), ("person", ["debug_step"]), ("person neovim launch", [])):
                page.get_by_label("Filter the calls").fill(words)
                expect(page.locator("#story .call .name")).to_have_text(tools)
            page.get_by_label("Filter the calls").fill("")
            step.get_by_role("button").click()
            expect(step.locator(".entry .note")).to_have_text(re.compile(r"^Neovim · a person · "))
    finally:
        page.close()
        agent.disconnect()
