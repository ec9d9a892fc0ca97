"""A person watches an agent: its calls, the way back to the program, and a page that can be read and steered."""

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import becomes, eventually, hear, hold_time, two_frames, was_said
from tests.dashboard.looks import in_every_look
from tests.dashboard.test_pictures import painted

if TYPE_CHECKING:
    from playwright.sync_api import Locator

LONG_NAME = "a_very_long_module_name_of_some_package_or_other.py"

LONG_MESSAGE = """\
def collect(part):
    raise ValueError("first line\\n    second line\\n" + "word " * 200)


try:
    collect(1)
except ValueError:
    pass
import time
while True:
    time.sleep(0.05)
"""

CONTRASTS = """
(view) => {
  const parsed = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b]
    .map((each) => each / 255)
    .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
    .reduce((sum, each, index) => sum + each * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (node) => {
    const colour = parsed(getComputedStyle(node).backgroundColor);
    return colour[3] === 255 ? colour : ground(node.parentElement);
  };
  const opacity = (node) => (node ? Number(getComputedStyle(node).opacity) * opacity(node.parentElement) : 1);
  const isText = ({nodeType, data}) => nodeType === 3 && data.trim();
  const texts = [...view.querySelectorAll('*')].filter((node) => [...node.childNodes].some(isText));
  return texts.filter((node) => node.checkVisibility()).map((node) => {
    const [one, other] = [light(parsed(getComputedStyle(node).color)), light(ground(node))].sort((a, b) => b - a);
    return [node.textContent, (one + 0.05) / (other + 0.05) * (opacity(node) < 1 ? 0 : 1)];
  });
}
"""
"""The contrast of every text in a view; 0 where something makes it transparent."""


def weakest(view: "Locator") -> Any:
    return min(view.evaluate(CONTRASTS), key=lambda each: each[1])


def test_the_page_can_be_read_and_its_keys_live_after_every_click(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / LONG_NAME).write_text(LONG_MESSAGE)
    page = open_page(agent.url(CONTROL_TOKEN))
    agent.call("breakpoint_set_exception", exception_type="ValueError", break_on_first_chance=True)
    agent.call("debug_launch", program=LONG_NAME, stop_at_entry=False)

    # A long exception is three lines, with its line breaks, and whole on request; also after another publication.
    text, more = page.locator("#message .text"), page.locator("#message .more")
    expect(text).to_contain_text("first line\n    second line\nword word", use_inner_text=True)
    expect(more).to_have_text("more")
    eventually(text.bounding_box, lambda box: box is not None and box["height"] < 65)
    more.click()
    expect(more).to_have_text("less")
    agent.call("breakpoint_set", file=LONG_NAME, line=9)
    expect(page.locator("#breakpoints .row")).to_have_count(2)
    becomes(lambda: text.evaluate("node => node.scrollHeight <= node.clientHeight"), True)
    more.click()
    expect(more).to_have_text("more")

    # A long file name leaves room for the function, and its line is never cut.
    row = page.locator("#stack .row").first
    becomes(lambda: row.locator(".name").evaluate("node => node.scrollWidth <= node.clientWidth"), True)
    eventually(row.locator(".number").bounding_box, lambda box: box is not None and box["width"] > 5)
    expect(row.locator(".where")).to_have_text(f"{LONG_NAME}:2")

    # The chosen row looks chosen also under the mouse.
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    other, colour = page.locator("#stack .row").nth(1), "node => getComputedStyle(node).backgroundColor"
    chosen, plain = row.evaluate(colour), other.evaluate(colour)
    other.hover()
    hovered = eventually(lambda: other.evaluate(colour), lambda now: now != plain)
    page.mouse.move(0, 0)
    becomes(lambda: [row.evaluate(colour), other.evaluate(colour)], [chosen, plain])
    assert len({chosen, plain, hovered}) == 3

    # Keys of the page live after a click outside of text fields: a theme, a breakpoint, the zoom.
    page.get_by_role("radio", name="Light").check(force=True)
    page.keyboard.press("F10")
    expect(page.locator("#where")).to_contain_text(":6 in <module>")
    page.get_by_label(re.compile(":9 is on")).uncheck()
    page.keyboard.press("F10")
    expect(page.locator("#where")).to_contain_text(":7 in <module>")
    page.locator("#zoom").click()
    page.keyboard.press("F10")
    expect(page.locator("#where")).to_contain_text(":8 in <module>")
    page.get_by_label("Expression to watch").press("F10")
    page.get_by_role("radio", name="Auto").check(force=True)

    # What is out of date is as readable as the rest.
    expect(page.locator("#locals .variable")).not_to_have_count(0)
    agent.call("debug_continue", wait=False)
    expect(page.locator("#stack")).to_have_attribute("data-stale", "true")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for part in ("#stack", "#locals", "#threads"):
            eventually(partial(weakest, page.locator(part)), lambda found: found[1] >= 4.5)
    page.emulate_media(color_scheme="light")

    # On a phone nothing is wider than the screen, also when the connection is lost, and targets are large enough.
    page.set_viewport_size({"width": 390, "height": 844})
    small = """() => [...document.querySelectorAll('button, .row, input:not([type=radio], [type=range])')]
          .filter((node) => node.checkVisibility() && !node.matches('.gutter'))
          .map((node) => [node.className || node.type, node.getBoundingClientRect()])
          .filter(([, {width, height}]) => width < 24 || height < 24)
          .map(([name, {width, height}]) => [name, width, height])"""
    becomes(lambda: page.evaluate(small), [])
    agent.kill()
    expect(page.locator("#link")).to_have_text("Connection lost")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        becomes(lambda: page.evaluate("document.documentElement.scrollWidth"), 390)
        eventually(lambda: weakest(page.locator("main")), lambda found: found[1] >= 4.5)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 800})


LOOP = """\
import time

number = 0
while True:
    number += 1
    time.sleep(0.05)
"""


def test_what_the_agent_does_now_and_what_came_of_it_is_the_first_panel(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "app.py").write_text(LOOP)
    page = open_page(agent.url(CONTROL_TOKEN))
    now, calls = page.locator("#story-now"), page.locator("#story .call")
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    expect(now).to_be_hidden()
    agent.call("evaluate", expression="'<i>' + 'x' * 3")
    agent.request("tools/call", name="breakpoint_remove", arguments={"id": "bp-99"})
    waiting = agent.begin_call("debug_continue")

    # The call in flight, with its clock; a page that is opened in its middle shows it, too.
    expect(now).to_have_text(re.compile(r"^agent waits in debug_continue, [1-9]\d* s$"))
    late = open_page(agent.url(OBSERVE_TOKEN))
    expect(late.locator("#story-now")).to_have_text(re.compile("^agent waits in debug_continue"))
    expect(calls).to_have_text(
        [
            re.compile(r"^debug_continue timeout: 600agent\d+ s$"),
            re.compile("^breakpoint_remove id: bp-99agent.*BREAKPOINT_NOT_FOUND: There is no breakpoint 'bp-99'"),
            re.compile(r"^evaluate expression: '<i>' \+ 'x' \* 3agent.* ms'<i>xxx'$"),
            re.compile(r"^debug_launch .*Paused Entry app.py:1 in <module>"),
        ]
    )
    # With the keyboard: Enter opens a call in place, and focus stays where it is when the call ends.
    first = calls.first.get_by_role("button")
    first.press("Enter")
    expect(calls.first.locator(".entry")).to_contain_text("timeout600")
    page.locator("#controls [data-name=Pause]").click()
    assert agent.answer(waiting)["structuredContent"]["reason"] == "Pause"
    expect(now).to_be_hidden()
    ended = calls.filter(has_text="debug_continue")
    expect(ended.locator(".entry")).to_contain_text("Paused Pause app.py:")
    # The person's call is distinguished, and stands at the stop to which it led... or before it.
    expect(calls.filter(has_text="debug_pause")).to_have_attribute("data-person", "true")
    expect(ended).to_have_attribute("data-person", "false")
    expect(page.locator("#story .chapter").first).to_contain_text("On request, app.py:")
    titles = "rows => rows.map(({className}) => className.split(' ')[0])"
    eventually(
        lambda: page.locator("#story > li").evaluate_all(titles),
        lambda found: found[0] == "chapter" and found.count("chapter") == 3,  # the pause, the entry, the start
    )

    # Filter, place in the source, event, and Markdown for a bug report.
    page.get_by_label("Filter the calls").fill("failed agent")
    expect(calls).to_have_text([re.compile("^breakpoint_remove")])
    expect(page.locator("#story-note")).to_have_text("1 of 5 calls")
    page.get_by_label("Filter the calls").fill("")
    ended.get_by_role("button", name="Source").click()
    expect(page.locator(".line.looked-at, .line.current")).not_to_have_count(0)
    ended.get_by_role("button", name="Timeline").click()
    expect(page.locator("#event")).to_contain_text("agent called debug_continue")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#story-tools").get_by_role("button", name="Copy").click()
    clipboard = partial(page.evaluate, "navigator.clipboard.readText()")
    copied = eventually(clipboard, lambda text: "debug_continue" in text)
    assert "### Session started: app.py (" in copied
    assert "- `evaluate(expression='<i>' + 'x' * 3)` by agent, " in copied
    assert "\n  → `'<i>xxx'`\n" in copied
    hear(page)
    ended.get_by_role("button", name="Copy", exact=True).click()
    was_said(page, "Copied")
    eventually(clipboard, lambda text: text.startswith("- `debug_continue(timeout=600)` by agent, "))

    # A client that vanishes does not stay in flight.
    agent.begin_call("debug_continue")
    expect(now).to_contain_text("debug_continue")
    agent.leave()
    expect(now).to_be_hidden()
    expect(calls.first).to_contain_text("CANCELLED")


FROM_THE_END = "view => view.scrollHeight - view.clientHeight - view.scrollTop"

DEEP = (
    """\
def inner(depth):
    here = depth * 10
    return here


def outer(start):
    total = 0
    for each in range(100):
        total = total + inner(start + each)
    return total


"""
    + "# a line\n" * 60
    + """\
result = outer(5)
print(result)
"""
)


@pytest.mark.usefixtures("own_profile")
def test_what_an_agent_does_while_no_program_is_debugged_is_in_the_story(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    agent.call("debug_disconnect")
    page = open_page(agent.url(OBSERVE_TOKEN), clock=True)
    expect(page.locator("#story .call").first).to_contain_text("debug_disconnect")
    for call in ("run_list", "breakpoint_list"):
        agent.call(call)
        page.clock.run_for(3100)  # a silent server is given up later than that
        expect(page.locator("#story .call").first).to_contain_text(call)
    expect(page.locator("#story .call")).to_have_count(4)  # what the page asks for is not among them

    # A question to which there is no answer, as the machine slept meanwhile, is not the last one.
    hold_time(page)
    agent.freeze()
    page.clock.run_for(3100)
    page.clock.fast_forward(61_000)
    agent.thaw()
    agent.call("breakpoint_set", file="app.py", line=1)
    page.clock.run_for(3100)
    expect(page.locator("#story .call").first).to_contain_text("breakpoint_set")


def test_the_page_follows_until_one_looks_elsewhere_and_no_stop_drags_it_back(
    agent: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "app.py").write_text(DEEP)
    page = open_page(agent.url(CONTROL_TOKEN))
    chip, elsewhere, state = page.locator("#follow button"), page.locator("#follow .elsewhere"), page.locator("#where")
    agent.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "app.py", "line": 3}])
    expect(state).to_have_text("app.py:3 in inner")
    expect(chip).to_be_hidden()
    page.get_by_label("Expression to watch").fill("start + 1")
    page.keyboard.press("Enter")
    watch = page.locator("#watches .variable .value")
    expect(watch).to_contain_text("NameError")

    # Another frame: its place, locals and watches; the page says what is shown, and stays there while the agent steps.
    page.locator("#stack .row").nth(1).click()
    expect(chip).to_have_text(re.compile("^Not following ?Esc"))
    expect(elsewhere).to_have_text("Shown is outer, app.py:9")
    expect(page.locator("#locals [data-path=start] .value")).to_have_text("5")
    expect(watch).to_have_text("6")
    for count in (1, 2):
        agent.call("debug_continue")
        expect(chip).to_contain_text(f"{count} stop")
    expect(state).to_have_text("app.py:3 in inner")
    expect(elsewhere).to_contain_text("Shown is outer, app.py:9, as it was at ")
    expect(page.locator("#stack .row[aria-selected=true]")).to_contain_text("outer")
    expect(page.locator("#stack")).to_have_attribute("data-stale", "true")
    expect(page.locator("#locals [data-path=each] .value")).to_have_text("0")
    expect(page.locator(".line.looked-at")).to_contain_text("total = total + inner")
    expect(watch).to_have_text("6")
    expect(page.locator("#locals-note")).to_contain_text("as of")

    # A frame that was not read is gone with its stop: nothing is asked of the frame that has its number now.
    page.locator("#stack .row").nth(2).click()
    expect(page.locator("#locals")).to_contain_text("The program went on before")
    expect(elsewhere).to_contain_text("Shown is <module>, app.py:73")

    # One key comes back, to the stop of now.
    page.keyboard.press("Escape")
    expect(chip).to_be_hidden()
    expect(page.locator("#locals [data-path=here] .value")).to_have_text("70")
    expect(page.locator("#stack")).to_have_attribute("data-stale", "false")
    expect(watch).to_contain_text("NameError")

    # A scroll of one's own; a click on the chip comes back.
    source = page.locator("#source")
    source.hover()
    page.mouse.wheel(0, 9000)
    expect(chip).to_be_visible()
    eventually(lambda: source.evaluate(FROM_THE_END), lambda pixels: pixels < 60)  # above the chip
    agent.call("debug_continue")
    expect(chip).to_contain_text("1 stop since")
    two_frames(page)
    assert source.evaluate(FROM_THE_END) < 60
    chip.click()
    expect(page.locator(".line.current")).to_be_in_viewport()
    eventually(lambda: source.evaluate("view => view.scrollTop"), lambda top: top < 100)

    # An event of the timeline stays open; choosing the program's own frame follows again.
    page.locator("#story .chapter button").nth(1).click()
    expect(page.locator("#event")).to_contain_text("Stopped at a breakpoint")
    agent.call("debug_continue")
    expect(chip).to_contain_text("1 stop since")
    expect(page.locator("#event")).to_be_visible()
    page.keyboard.press("F10")  # who moves the program looks at where it goes
    expect(chip).to_be_hidden()
    expect(page.locator("#event")).to_be_hidden()
    expect(page.locator("#where")).to_have_text("app.py:8 in outer")
    expect(page.locator("#stack .row").first).to_contain_text("app.py:8")  # else a frame of the stop before is chosen
    page.locator("#stack .row").nth(1).click()
    expect(chip).to_be_visible()
    page.locator("#stack .row").nth(0).click()
    expect(chip).to_be_hidden()

    # On a phone the chip is in reach, too; and the next session is followed.
    page.locator("#stack .row").nth(1).click()
    page.set_viewport_size({"width": 390, "height": 844})
    page.mouse.wheel(0, 3000)
    expect(chip).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 800})
    agent.call("debug_restart")
    expect(chip).to_be_hidden()


def test_each_of_several_processes_and_programs_can_be_chosen_and_distinguished(
    agent: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "worker.py").write_text("def work(number):\n    total = number * 10\n    return total\n")
    (agent.directory / "app.py").write_text(
        "import subprocess, sys\n"
        "run = [sys.executable, '-c']\n"
        "work = 'import worker; worker.work(%d)'\n"
        "children = [subprocess.Popen([*run, work % number]) for number in (1, 2)]\n"
        "for child in children:\n"
        "    child.wait()\n"
    )
    (agent.directory / "other.py").write_text("name = 'other'\nprint(name)\n")
    page = open_page(agent.url(CONTROL_TOKEN))
    rows, chip = page.locator("#children .row"), page.locator("#follow button")
    chosen = page.locator("#children .row[aria-selected=true]")
    agent.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "worker.py", "line": 2}])
    expect(rows).to_have_text(
        [
            re.compile("^app.pypid .* s-1 · Running"),
            re.compile("^app.py child 1pid .* · Paused.*worker.py:2$"),
            re.compile("^app.py child 2pid .* · Paused.*worker.py:2$"),
        ]
    )
    expect(page.locator("#where")).to_have_text("worker.py:2 in work")
    expect(page.locator("#children-note")).to_have_text("3 processes")
    focus = chosen.inner_text().splitlines()[0]
    child = next(each for each in ("app.py child 1", "app.py child 2") if each != focus)
    number = page.locator("#locals [data-path=number] .value").inner_text()

    # The one that is shown is kept to by choosing it, as a stop elsewhere may be on its way to the page.
    rows.filter(has_text=focus).click()
    expect(chip).to_contain_text(f"Only {focus}")
    expect(page.locator("#children-note")).to_have_text("kept to one")
    expect(page.locator("#locals [data-path=number] .value")).to_have_text(number)
    page.keyboard.press("Escape")
    expect(chip).to_be_hidden()
    expect(page.locator("#where")).to_have_text("worker.py:2 in work")

    # The other child: its state, its locals; buttons act on it, and a stop elsewhere does not take the page away.
    rows.filter(has_text=child).click()
    expect(chosen).to_contain_text(child)
    expect(chip).to_contain_text(f"Only {child}")
    expect(page.locator("#follow")).to_contain_text(f"In focus is {focus}, paused at worker.py:2")
    expect(page.locator("#locals [data-path=number] .value")).to_have_text({"1": "2", "2": "1"}[number])
    page.keyboard.press("F10")
    expect(page.locator("#where")).to_have_text("worker.py:3 in work")
    expect(page.locator("#locals [data-path=total] .value")).to_have_text({"1": "20", "2": "10"}[number])
    expect(rows.filter(has_text=focus)).to_contain_text("worker.py:2")
    agent.call("debug_launch", program="other.py", new_session=True, stop_at_entry=True)
    expect(rows).to_have_count(4)
    expect(rows.nth(3)).to_have_text(re.compile("^other.py.*in focus"))
    expect(page.locator("#where")).to_have_text("worker.py:3 in work")
    expect(page.locator("#follow")).to_contain_text("In focus is other.py, paused at other.py:1")

    # With the keyboard to the program that runs, also from a stop of the past, and back to the focus with one key.
    page.get_by_role("button", name="Back to the stop before").click()
    expect(page.locator("#past")).to_be_visible()
    rows.first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#state")).to_have_text("Running")
    expect(page.locator("#past")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#where")).to_contain_text("other.py:1")
    expect(chip).to_be_hidden()

    # The end of what is shown leads back to the focus.
    rows.filter(has_text=child).click()
    expect(page.locator("#where")).to_have_text("worker.py:3 in work")
    page.keyboard.press("F5")
    expect(rows).to_have_count(3)
    expect(chip).to_be_hidden()
    agent.call("debug_disconnect", session_id="s-1", terminate=True)
    expect(page.locator("#children-panel")).to_be_hidden()
    expect(page.locator("#where")).to_contain_text("other.py:1")


VISUAL_ORDER = """
() => {
  const seen = [...document.querySelectorAll('main .panel')].filter((panel) => panel.checkVisibility());
  const column = (panel) => panel.closest('.column')?.getBoundingClientRect() ?? panel.getBoundingClientRect();
  const places = seen.map((panel) => {
    const [{x, y}, {y: top, x: left}] = [column(panel), panel.getBoundingClientRect()];
    return [y, x, top, left];
  });
  const later = (one, other) => {
    const index = one.findIndex((each, place) => Math.abs(each - other[place]) > 2);
    return index >= 0 && one[index] > other[index];
  };
  return places.every((each, index) => index === 0 || later(each, places[index - 1]));
}
"""


def test_everything_is_reached_with_the_keyboard_in_the_order_of_the_screen(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "app.py").write_text(
        "def f(depth, tree):\n    if depth:\n        return f(depth - 1, tree)\n    return tree\n\n\n"
        "f(15, {'a': {'b': [1, 2]}, 'c': {}})\n"
    )
    page = open_page(agent.url(CONTROL_TOKEN))
    agent.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "app.py", "line": 4}])
    rows, focused = page.locator("#stack .row"), page.locator(":focus")
    expect(rows).not_to_have_count(0)

    # The toolbar is one tab stop; arrows, Home and End move in it.
    expect(page.locator("#controls button[tabindex='0']")).to_have_count(1)
    page.locator("#controls button[tabindex='0']").focus()
    page.keyboard.press("End")
    expect(focused).to_have_attribute("data-name", "Stop")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(focused).to_have_attribute("data-name", "Pause")
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#controls :focus")).to_have_count(0)

    # Lists: Home, End and Page keys.
    rows.first.focus()
    page.keyboard.press("End")
    expect(rows.last).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    expect(rows.nth(10)).to_be_focused()
    page.keyboard.press("PageUp")
    expect(rows.first).to_be_focused()

    # Variables: → opens and goes in, ← closes and goes out.
    tree = page.locator("#locals [data-path=tree]")
    tree.locator("> summary").focus()
    page.keyboard.press("ArrowRight")
    expect(tree.locator("> .inside > .variable")).not_to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(tree.locator("> .inside > details > summary").first).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(tree.locator("> summary")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(tree).not_to_have_attribute("open", "")

    # The story: one tab stop, arrows, Enter opens.
    story = page.locator("#story [data-row]")
    expect(page.locator("#story [data-row][tabindex='0']")).to_have_count(1)
    story.first.focus()
    page.keyboard.press("End")
    expect(story.last).to_be_focused()
    page.keyboard.press("Enter")
    expect(story.last).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    expect(focused).to_have_text("Source")

    # At every width the order of the document is that of the screen, and the status stays in reach on a phone.
    for width, height in ((1024, 768), (390, 844), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator("#state")).to_be_in_viewport()
        becomes(lambda: page.evaluate(VISUAL_ORDER), True)
        first = page.locator("main .panel").nth(0)
        if width == 390:
            expect(first.locator("h2")).to_have_text("app.py")
            page.locator("#timeline").scroll_into_view_if_needed()
            expect(page.locator("#controls")).to_be_in_viewport()
            phone = open_page(agent.url(CONTROL_TOKEN))
            phone.set_viewport_size({"width": width, "height": height})
            phone.reload()
            gutter = phone.locator("button.gutter").first
            eventually(gutter.bounding_box, lambda box: box is not None and box["height"] >= 24)
            becomes(partial(phone.evaluate, "document.documentElement.scrollWidth"), width)


def test_an_opened_call_shows_why_it_was_made_and_the_answer_as_the_agent_got_it(
    agent: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page = open_page(agent.url(OBSERVE_TOKEN))
    agent.call("debug_launch", program="app.py", breakpoints=[{"file": "app.py", "line": 4}])
    why = "Is `total` **wrong** from the start?\n\n- perhaps <b>here</b> \u202e\n"
    traced = agent.call("trace_function", function="count", say=why)
    call = page.locator("#story .call", has_text="trace_function").first
    expect(call.locator(".say")).to_have_text("Is total wrong from the start? perhaps <b>here</b> [U+202E]")
    expect(call.locator(".result")).to_contain_text("0 calls · Paused Breakpoint app.py:4 in count")
    call.locator("button.brief").click()
    expect(call.locator(".said strong")).to_have_text("wrong")
    expect(call.locator(".said li")).to_have_text("perhaps <b>here</b> [U+202E]")
    answer = call.locator(".answer")
    expect(answer).to_contain_text("Answer, as the agent got it")
    expect(answer.locator("dt")).to_have_text([*traced])
    expect(answer.locator("dd").first).to_have_text(traced["function"])
    page.fill("#story-filter", "from the start")
    expect(page.locator("#story .call")).to_have_count(1)


TRACED = """\
def price(name):
    if name == "<b>":
        raise ValueError(name)
    return len(name)


def total(names):
    paid = 0
    for name in names:
        paid += price(name)
    return paid


total(["tea", "pot"])
total(["<b>"])
"""


def test_traced_calls_are_a_tree_of_their_lines_and_what_these_called(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "traced.py").write_text(TRACED)
    page = open_page(agent.url(OBSERVE_TOKEN))
    agent.call("debug_launch", program="traced.py", stop_at_entry=True)
    agent.call("trace_function", function="total", calls=2)
    page.locator("#story .call", has_text="trace_function").locator("button.brief").press("Enter")
    calls = page.get_by_role("list", name="Calls of total").locator("> li")
    expect(calls.locator("> .name")).to_have_text(["total(names=['tea', 'pot']) ", "total(names=['<b>']) "])
    expect(calls.locator("> .end")).to_have_text(["-> 6", "raises ValueError: <b>"])
    expect(calls.locator("> .note")).to_have_text(
        ["called at traced.py:14 in <module>", "called at traced.py:15 in <module>"]
    )
    adds = calls.first.locator("li", has_text="paid += price(name)")
    expect(adds.locator("> *")).to_have_text(["10", "paid += price(name)", "price(name='tea') -> 3; paid=3"])
    expect(page.locator("#story b")).to_have_count(0)
    clipped = "(answer) => answer.scrollHeight - answer.clientHeight"
    becomes(lambda: page.locator("#story .answer").evaluate(clipped), 0)  # it scrolls inside, by the keys too
    in_every_look(page, ".answer")

    # The same as a flame, which the keys go through and zoom; and as a list.
    answer = page.locator("#story .answer")
    answer.get_by_role("button", name="Flame").press("Enter")
    expect(calls).to_have_count(0)
    flame, option = answer.get_by_role("listbox", name="as a flame"), answer.locator(".spans > [role=option]")
    for keys, words in (
        (
            ("ArrowDown", "ArrowRight"),
            "Calls: total(names=['tea', 'pot']) -> 6 · 7 lines, 5 of them without a call; 2 calls",
        ),
        (("ArrowDown", "Home"), "Lines: Line 8 paid = 0 · paid=0"),
        (("ArrowDown", "End"), "Called: price(name='<b>') raises ValueError: <b> · at line 10"),
    ):
        for key in keys:
            flame.press(key)
        expect(option).to_have_text(words)
    before = painted(answer)
    flame.press("Enter")
    eventually(lambda: painted(answer), lambda colours: colours != before)
    in_every_look(page, ".answer")
    answer.get_by_role("button", name="List").press("Enter")
    lines = answer.get_by_role("listbox", name="as a list").get_by_role("option")
    expect(lines.filter(has_text="price(name='tea') -> 3 · at line 10")).to_have_count(1)
    expect(page.locator("#story b")).to_have_count(0)
