"""Back in time on the page: every stop as it was, marked as the past, while the session lasts and after its end."""

import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.axe import problems_of
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import at_rest, becomes, eventually
from tests.dashboard.looks import in_every_look

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SHOP = """\
def total(items, factor):
    amount = 0
    for name, price in items:
        amount = amount + price * factor
    return amount


def main():
    cart = [("tea", 3), ("cup", 7), ("pot", 19)]
    for factor in (1, 2, 3, 4):
        paid = total(cart, factor)
    return paid


main()
"""

FROM_THE_RIGHT = """
[...document.querySelectorAll('.panel > header > .fill')].filter((each) => each.checkVisibility()).map((each) =>
  each.parentElement.getBoundingClientRect().right - each.getBoundingClientRect().right)
"""
"""How far the buttons that let a panel fill the page are from the right end of its header."""

Seen = dict[str, Any]


def read_stack(agent: Agent) -> Seen:
    """What a client reads at this stop."""
    (content,) = agent.request("resources/read", uri="debugger://stack")["contents"]
    stack: Seen = json.loads(content["text"])
    return stack


def shown(page: "Page") -> Seen:
    """What the page shows of the moment."""
    found: Seen = page.evaluate(
        """() => ({
          frames: [...document.querySelectorAll('#stack .row .name')].map((each) => each.textContent),
          locals: Object.fromEntries([...document.querySelectorAll('#locals [data-path]:not(details *)')].map(
            (row) => [row.dataset.path, row.querySelector('.value').textContent])),
          line: Number(document.querySelector('.line.was-current .number')?.textContent),
          code: document.querySelector('.line.was-current code')?.textContent,
        })"""
    )
    return found


def as_read(stack: Seen, text: str = SHOP) -> Seen:
    """The same of what a client has read."""
    top = stack["frames"][0]["location"]
    return {
        "frames": [each["name"] for each in stack["frames"]],
        "locals": {each["path"]: each["value"] for each in stack["locals"]},
        "line": top["line"],
        "code": text.splitlines()[top["line"] - 1],
    }


def the_values_are_said_and_another_variable_is_beside(plot: "Locator", amounts: list[str]) -> None:
    """Go through a plot of `amount` by keys, zoom, add `factor`, and see it in the colours of another theme."""
    from playwright.sync_api import expect

    page = plot.page
    expect(plot).to_have_attribute("aria-valuetext", f"Stop 2: amount {amounts[1]}")
    expect(plot.locator("canvas")).to_have_count(1)
    plot.focus()
    for key, stop in (("End", 10), ("ArrowLeft", 9), ("+", 9), ("Home", 1), ("0", 1), ("PageDown", 10)):
        page.keyboard.press(key)
        expect(plot).to_have_attribute("aria-valuetext", f"Stop {stop}: amount {amounts[stop - 1]}")
    page.get_by_label("Another variable beside it").fill("factor")
    page.keyboard.press("Enter")
    expect(plot).to_have_attribute("aria-valuetext", re.compile(rf"^Stop 2: amount {amounts[1]}, factor \d$"))
    expect(page.get_by_role("dialog").locator("thead th")).to_have_text(["Stop", "Time", "Where", "amount", "factor"])
    expect(plot.locator("canvas")).to_have_count(1)
    drawn = plot.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.wait_for_function("drawn => document.querySelector('.plot canvas').toDataURL() !== drawn", arg=drawn)
    in_every_look(page, "dialog")
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function(
        "document.querySelector('.plot .uplot').offsetWidth <= document.querySelector('.plot').offsetWidth"
    )
    page.set_viewport_size({"width": 1280, "height": 720})
    page.emulate_media(color_scheme="light")


@pytest.fixture
def recorded(agent: Agent) -> dict[int, Seen]:
    """The program at its tenth stop, and what a client has read at each."""
    program = agent.directory / "shop.py"
    program.write_text(SHOP)
    agent.call("debug_launch", program="shop.py", breakpoints=[{"file": "shop.py", "line": 4}])
    stops = {1: read_stack(agent)}
    for number in range(2, 11):
        agent.call("debug_continue" if number % 3 else "debug_step")
        stops[number] = read_stack(agent)
        if number == 5:
            agent.call("variables_get", frame_index=1)
            agent.call("variables_get", path="items")
            agent.call("evaluate", expression="price * 100")
    return stops


def test_going_back_shows_each_stop_as_a_client_has_read_it_then_and_now_again(
    agent: Agent, recorded: dict[int, Seen], open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page = open_page(agent.url(CONTROL_TOKEN))
    bar, words, state = page.locator("#past"), page.locator("#past .words"), page.locator("#state")
    expect(state).to_have_text("Paused after a step" if 10 % 3 == 0 else "Paused at a breakpoint")
    expect(page.locator("#timeline .mark.stopped")).not_to_have_count(0)
    expect(bar).to_be_hidden()

    # The keys, from wherever nothing else needs them, with what had changed then.
    for number in range(9, 0, -1):
        page.keyboard.press("ArrowLeft")
        expect(words).to_contain_text(f"Stop {number} of 10")
        becomes(partial(shown, page), as_read(recorded[number]))
    expect(page.locator("body")).to_have_attribute("data-past", "true")
    eventually(lambda: page.evaluate(FROM_THE_RIGHT), lambda distances: max(distances) <= 12)
    expect(page.locator(".line.current")).to_have_count(0)  # what is now has no line in the past
    expect(page.get_by_role("button", name="Earlier stop")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("ArrowLeft")
    expect(words).to_contain_text("Stop 1 of 10")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#locals [data-path=amount]")).to_have_attribute("data-changed", "true")
    expect(page.locator("#locals [data-path=amount] .before")).to_have_text("before: 0")

    # What clients have read further: another frame, inside of a variable, a watch. What they have not is said.
    page.evaluate("sessionStorage.setItem('trio-debugmcp.watches', '[\"price * 100\"]')")
    page.reload()
    expect(page.locator("#stack .row")).to_have_count(3)
    page.locator("#timeline .mark.stopped").first.wait_for()
    for number in range(9, 4, -1):
        page.keyboard.press("ArrowLeft")
        expect(words).to_contain_text(f"Stop {number} of 10")
    expect(page.locator("#watches .value").first).to_have_text(str(100 * int(as_read(recorded[5])["locals"]["price"])))
    page.locator("#locals summary").filter(has_text="items").click()
    expect(page.locator("#locals .inside .variable")).to_have_count(3)
    page.locator("#stack .row").nth(1).click()
    expect(page.locator("#locals [data-path=cart]")).to_contain_text("tea")
    expect(page.locator(".line.looked-at")).to_contain_text("paid = total(cart, factor)")
    page.locator("#stack .row").nth(2).click()
    expect(page.locator("#locals")).to_have_text("The locals of this frame were not read at that stop.")

    # The program continues meanwhile: the page stays where it is, and its buttons act on now, and show it.
    agent.call("debug_continue")
    expect(words).to_contain_text("Stop 5 of 11")
    expect(page.locator("#where")).to_contain_text("shop.py:4")
    becomes(lambda: shown(page)["line"], recorded[5]["frames"][0]["location"]["line"])
    page.keyboard.press("F10")
    expect(bar).to_be_hidden()
    expect(page.locator(".line.current")).to_have_count(1)
    expect(page.locator("#stack")).to_have_attribute("data-stale", "false")

    # A mark and a drag on the timeline lead there as well; a list keeps its own keys.
    expect(state).to_have_text("Paused after a step")
    at_rest(page.locator("#timeline .mark.stopped").first)  # each event of the step moves the marks
    page.locator("#timeline .mark.stopped").first.click()
    expect(bar).to_be_visible()
    page.get_by_label("Expression to watch").fill("20 + 2")  # there it has no value, and now it has one
    page.keyboard.press("Enter")
    page.keyboard.type("half")
    page.keyboard.press("Shift+ArrowLeft")  # selects a letter
    page.keyboard.press("Escape")  # leaves the field, with what is in it
    expect(page.get_by_label("Expression to watch")).not_to_be_focused()
    expect(page.get_by_label("Expression to watch")).to_have_value("half")
    expect(words).to_contain_text(re.compile(r"Stop \d+ of 12"))
    then = int(words.inner_text().split()[1])  # the mark stands for several
    page.keyboard.press("Shift+ArrowRight")
    expect(words).to_contain_text(f"Stop {then + 1} of 12")
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(page.locator("#watches .value").nth(1)).to_have_text("22")
    page.locator("#stack .row").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(bar).to_be_hidden()
    box = at_rest(page.locator("#timeline"))
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + 2, box["y"] + 90, steps=5)
    expect(words).to_contain_text("Stop 1 of 12")
    page.mouse.up()
    page.get_by_role("button", name="Later stop").click()
    expect(words).to_contain_text("Stop 2 of 12")
    page.get_by_role("button", name="Now", exact=True).click()
    expect(bar).to_be_hidden()


def test_an_observer_goes_back_after_the_end_too_and_sees_the_text_that_ran(
    agent: Agent, recorded: dict[int, Seen], open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    agent.call("debug_disconnect")
    (agent.directory / "shop.py").write_text("print('another program')\n")
    page = open_page(agent.url(OBSERVE_TOKEN))
    words = page.locator("#past .words")
    expect(page.locator("#state")).to_have_text("Session ended")
    expect(page.locator("#timeline .mark.stopped")).not_to_have_count(0)
    # The last stop stands there at once, as on a page that was there all the time.
    expect(page.locator("#stack")).to_have_attribute("data-stale", "true")
    becomes(partial(shown, page), as_read(recorded[10]))
    expect(page.locator("#where")).to_have_text("shop.py · agent ended the session")
    for number in range(10, 0, -1):
        page.keyboard.press("ArrowLeft")
        expect(words).to_contain_text(f"Stop {number} of 10")
        becomes(partial(shown, page), as_read(recorded[number]))
    # The values of a variable over the stops, as a line over axes and as a table that leads to each.
    page.keyboard.press("ArrowRight")
    expect(words).to_contain_text("Stop 2 of 10")
    page.locator("#locals [data-path=amount]").hover()
    page.get_by_role("button", name="Values of amount over the stops").click()
    dialog = page.get_by_role("dialog")
    amounts = [as_read(recorded[number])["locals"]["amount"] for number in range(1, 11)]
    expect(dialog.locator("tbody .value")).to_have_count(10)
    expect(dialog.locator("tbody .value")).to_have_text([re.compile(rf"^\s*{each}\b") for each in reversed(amounts)])
    changes = sum(one != other for one, other in pairwise(amounts))
    expect(dialog.get_by_role("status")).to_have_text(
        f"read at 10 of 10 stops · {changes} changes · from {min(map(int, amounts))} to {max(map(int, amounts))}"
    )
    expect(dialog.locator("[aria-current=true]")).to_have_attribute("data-stop", "2")
    plot = dialog.get_by_role("slider")
    the_values_are_said_and_another_variable_is_beside(plot, amounts)
    assert problems_of(page) == []
    plot.focus()
    for key in ("Home", *["ArrowRight"] * 6, "Enter"):
        page.keyboard.press(key)
    expect(dialog).to_have_count(0)
    expect(words).to_contain_text("Stop 7 of 10")
    becomes(partial(shown, page), as_read(recorded[7]))
    page.emulate_media(reduced_motion="reduce")  # a colour on its way to another one is not to be judged
    for scheme, width in (("dark", 390), ("light", 1280)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 800})
        eventually(partial(page.evaluate, "document.documentElement.scrollWidth - innerWidth"), lambda more: more <= 0)
        page.mouse.move(width / 2, 400)
        page.mouse.wheel(0, 2000)
        expect(page.locator("#past").get_by_role("button", name="Now")).to_be_in_viewport()
        assert problems_of(page) == []
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    expect(words).to_contain_text("Stop 1 of 10")
    expect(page.locator("#past .where")).to_contain_text(
        re.compile(r"shop\.py \(pid \d+\), which has ended · the file has changed since")
    )
    page.keyboard.press("Escape")
    expect(page.locator("#past")).to_be_hidden()


def test_stops_of_the_program_before_are_reached_from_a_page_that_comes_once_another_has_started(
    agent: Agent, recorded: dict[int, Seen], open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    agent.call("debug_disconnect")
    code = "import time\nwhile True:\n    time.sleep(0.1)\n"
    agent.call("debug_launch", code=code, wait=False, stop_at_entry=False)
    for token in (OBSERVE_TOKEN, CONTROL_TOKEN):
        page = open_page(agent.url(token))
        expect(page.locator("#state")).to_have_text("Running")
        expect(page.locator("#timeline .mark.stopped")).not_to_have_count(0)  # those of the program before
        expect(page.get_by_role("button", name="Back to the stop before")).to_have_attribute(
            "title", "Back to stop 10 (←)"
        )
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#past .words")).to_contain_text("Stop 10 of 10")
        expect(page.locator("#past .where")).to_contain_text(re.compile(r"shop\.py \(pid \d+\), which has ended"))
        becomes(partial(shown, page), as_read(recorded[10]))
        # Pressed faster than stops come: none is lost. `Esc` is heeded while one is on its way.
        page.evaluate(
            """() => {
              const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
              for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowRight']) press(key);
            }"""
        )
        expect(page.locator("#past .words")).to_contain_text("Stop 7 of 10")
        page.keyboard.press("Escape")
        expect(page.locator("#past")).to_be_hidden()

    # After the end, too.
    agent.call("debug_disconnect")
    page = open_page(agent.url(OBSERVE_TOKEN))
    expect(page.locator("#state")).to_have_text("Session ended")
    expect(page.get_by_role("button", name="Back to the stop before")).to_have_attribute("title", "Back to stop 10 (←)")


def test_what_is_now_is_kept_aside_and_of_several_stops_the_last_one_asked_for_is_shown(
    still_page: "Page",
) -> None:
    found = still_page.evaluate(
        """async () => {
          const [{Store}, {LiveSide}, {Follow}, {History}, {initialState}, {McpError}] = await Promise.all(
            ['store', 'live_side', 'program/follow', 'past/history', 'session', 'connection/mcp']
              .map((name) => import(`/${name}.js`)));
          const stopped = (stop) =>
            ({type: 'stopped', eventId: stop, timestamp: '2026-01-01', payload: {stop, sessionId: 's-1'}});
          const stack = (line) =>
            ({threadId: 1, frames: [], total: 1, locals: [], stale: false, capturedAt: `${line}`});
          const store = new Store({...initialState(), active: true, events: [3, 4, 5].map(stopped), stack: stack(5),
            session: {sessionId: 's-1', state: 'Paused'}, watches: [{expression: 'x', value: '5'}]});
          const live = new LiveSide(store);
          const waiting = new Map();
          const readJson = (uri) => new Promise((resolve, reject) => waiting.set(uri, {resolve, reject}));
          const history = new History(live, new Follow(live), async () => ({first: 4, last: 5}), readJson);
          const stop = (number) => ({stop: number, frames: [], locals: [], totalFrames: 1, changed: {},
            threads: [], readings: [], sources: [], capturedAt: 'then'});
          const answer = (number) => waiting.get(`debugger://stop/${number}`).resolve(stop(number));
          const shown = () =>
            [store.state.past?.stop ?? null, store.state.stack.capturedAt, history.before, history.after];
          const steps = {now: shown()};
          const [one, other] = [history.go(4), history.go(3)];
          answer(4);
          await one;
          steps.late = shown();
          answer(3);
          await other;
          steps.back = shown();
          live.update({stack: stack(6), freshAt: 1});
          steps.still = [...shown(), live.state.stack.capturedAt, store.state.freshAt];
          store.update({watches: [...store.state.watches, {expression: 'y'}]});
          const gone = history.go(2);
          const problem = {code: -32002, message: 'Stop 2 is not kept any more.'};
          waiting.get('debugger://stop/2').reject(new McpError(problem));
          await gone;
          await new Promise((resolve) => setTimeout(resolve));
          steps.gone = [store.state.past.problem, store.state.frames.hint, history.before];
          await history.go(3);
          steps.again = shown();
          history.next();
          await new Promise((resolve) => setTimeout(resolve));
          steps.next = shown()[0];
          history.now();
          const fast = [history.previous(), history.previous()]; // 4 is the oldest that is kept
          steps.fast = [history.away, history.before, history.after];
          history.now();
          await Promise.all(fast);
          steps.left = shown()[0];
          steps.watches = store.state.watches;
          steps.end = shown();
          return steps;
        }"""
    )
    assert found == {
        "now": [None, "5", 4, 0],
        "late": [None, "5", 2, 4],
        "back": [3, "then", 2, 4],
        "still": [3, "then", 2, 4, "6", 1],
        "gone": ["Stop 2 is not kept any more.", "Stop 2 is not kept any more.", 0],
        "again": [3, "then", 0, 4],
        "next": 4,
        "fast": [True, 0, 0],
        "left": None,
        "watches": [{"expression": "x", "value": "5"}, {"expression": "y"}],
        "end": [None, "6", 4, 0],
    }


SUM = """\
def total(limit):
    amount = 0
    for number in range(limit):
        amount += number
    return amount


total(1000)
"""


def test_of_five_hundred_stops_those_that_are_kept_are_as_they_were_read_also_in_a_replay(
    tmp_path: Path, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    (tmp_path / "sum.py").write_text(SUM)
    recording = tmp_path / "session.dap"
    agent = Agent(tmp_path, options=["--record", str(recording)])
    agent.call("debug_launch", program="sum.py", breakpoints=[{"file": "sum.py", "line": 3}])
    agent.call("breakpoint_remove", id="*")
    read = {}
    for number in range(2, 501):
        agent.call("debug_step")
        if number > 300:  # of 500 the last 200 are kept
            read[number] = read_stack(agent)

    def check(page: "Page", last: int) -> None:
        words = page.locator("#past .words")
        expect(page.locator("#locals [data-path=amount]")).to_be_visible()
        back = page.get_by_role("button", name="Back to the stop before")
        expect(back).to_have_attribute("title", f"Back to stop {last} (←)")  # events come after the end
        for number in range(last, last - 4, -1):
            page.keyboard.press("ArrowLeft")
            expect(words).to_contain_text(f"Stop {number} of 500")
            becomes(partial(shown, page), as_read(read[number], SUM))
        page.locator("#locals [data-path=amount]").hover()
        page.get_by_role("button", name="Values of amount over the stops").click()
        values = page.get_by_role("dialog").locator("tbody tr")
        expect(values).to_have_count(200)
        amounts = [as_read(read[number], SUM)["locals"]["amount"] for number in range(500, 300, -1)]
        becomes(lambda: [each.split()[0] for each in values.locator(".value").all_inner_texts()], amounts)
        page.get_by_title("Show stop 301", exact=True).click()
        expect(words).to_contain_text("Stop 301 of 500")
        becomes(partial(shown, page), as_read(read[301], SUM))
        page.locator("#timeline .mark.stopped").first.click()
        expect(page.locator("#past")).to_contain_text(re.compile(r"Stop \d+ is not kept any more"))
        expect(page.locator("#stack .row")).to_have_count(0)
        expect(page.locator("#locals .variable")).to_have_count(0)
        expect(page.get_by_role("button", name="Earlier stop")).to_have_attribute("aria-disabled", "true")
        page.close()

    check(open_page(agent.url(CONTROL_TOKEN)), 499)
    agent.call("debug_disconnect")
    agent.disconnect()
    replay = Agent(tmp_path, command=["replay", str(recording), "--speed", "0"])
    page = open_page(replay.url(OBSERVE_TOKEN))
    expect(page.locator("#state")).to_have_text("Session ended", timeout=600_000)  # all 500 steps are made again
    check(page, 500)
    replay.disconnect()


CRASH = """\
import helper


def go(number):
    return helper.inverse(number)


print("begin")
go(0)
"""


def test_of_a_program_that_crashed_without_a_stop_a_later_page_shows_where(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "crash.py").write_text("def go(n):\n    return 1 / n\n\n\ngo(0)\n")
    agent.call("debug_launch", program="crash.py", stop_at_entry=False, stop_on_uncaught=False)
    page = open_page(agent.url(OBSERVE_TOKEN))
    expect(page.locator("#where")).to_contain_text("ZeroDivisionError: division by zero, crash.py:2 in go")
    expect(page.locator(".line.was-current, .line.looked-at")).to_contain_text("return 1 / n")
    expect(page.locator("#source-title")).to_have_text("crash.py")
    expect(page.locator("#stack .row .name")).to_have_text(["go", "<module>"])
    expect(page.locator("#locals")).to_contain_text("did not stop there")
    expect(page.locator("#timeline-note")).not_to_contain_text("not loaded")
    page.locator("#stack .row").nth(1).click()
    expect(page.locator(".line.looked-at")).to_contain_text("go(0)")
    page.locator("#stack .row").nth(0).click()
    expect(page.locator(".line.was-current, .line.looked-at")).to_contain_text("return 1 / n")

    # Raised in a file that the debugger has not seen: the next frame is shown, and why not the first.
    (agent.directory / "helper.py").write_text("def inverse(number):\n    return 1 / number\n")
    (agent.directory / "crash.py").write_text(CRASH)
    agent.call("debug_launch", program="crash.py", stop_at_entry=False, stop_on_uncaught=False)
    other = open_page(agent.url(CONTROL_TOKEN))
    for each in (page, other):
        expect(each.locator("#where")).to_contain_text("helper.py:2 in inverse")
        expect(each.locator(".line.was-current, .line.looked-at")).to_contain_text("return helper.inverse(number)")
        expect(each.locator("#source-note")).to_contain_text("The source of helper.py:2 in inverse cannot be shown")

    # Without a stop and without an exception there is nothing to show, and the page says so.
    (agent.directory / "quiet.py").write_text("print('done')\n")
    agent.call("debug_launch", program="quiet.py", stop_at_entry=False)
    for each in (page, other):
        expect(each.locator("#empty")).to_contain_text("It never stopped")
