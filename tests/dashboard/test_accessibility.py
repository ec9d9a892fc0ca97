"""No state of the page has a violation that axe-core finds, in light and dark, on a phone and on a wide screen."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.axe import CONTRAST, VIOLATIONS, problems_of
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import two_frames
from tests.dashboard.looks import in_every_look
from trio_debugmcp.transports.pages import DASHBOARD

if TYPE_CHECKING:
    from playwright.sync_api import Page

ENDS = (390, 1440)

BETWEEN = pytest.mark.nightly("a width between the ends: a minute of looking at each state once more")

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

RUNNING = """\
import time

total = 0
for number in range(3):
    total += number
while True:
    time.sleep(0.05)
"""


def violations(page: "Page", state: str, widths: Sequence[int] = ENDS) -> list[str]:
    """Return what axe-core finds in this state, in each of the widths and each colour scheme."""
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            two_frames(page)
            rules = CONTRAST if scheme == "dark" else VIOLATIONS
            found += [f"{state}, {width}, {scheme}: {problem}" for problem in problems_of(page, rules)]
    return found


AT_WIDTHS = re.compile(r"@(?:media|container)[^{]*width[^{]*\{((?:[^{}]|\{[^{}]*\})*)\}")

COLOURED = re.compile(
    r"(?<![\w-])(?:color|background|background-color|opacity|fill|filter)\s*:[^;}]*"
    r"|--[\w-]+\s*:[^;}]*(?:#|rgb|hsl|lab|lch|color-mix|light-dark)[^;}]*"
)


def test_no_colour_depends_on_the_width() -> None:
    """So colours that pass in the widest and in the narrowest look pass between them."""
    sheets = {str(path): path.read_text() for path in DASHBOARD.rglob("*.css")}
    blocks = [(name, block) for name, text in sheets.items() for block in AT_WIDTHS.findall(text)]
    assert len(blocks) > 10
    assert [(name, found) for name, block in blocks for found in COLOURED.findall(block)] == []


REACHED = """
() => {
  const here = document.activeElement;
  const panels = '#controls, #stack, #threads, #source, #output, #locals, #timeline, #story, #theme, .skip';
  const panel = here.closest(panels);
  const box = here.getBoundingClientRect();
  const place = panel?.id || panel?.className || here.id || here.className || here.tagName;
  return {place, seen: box.width * box.height > 0};
}
"""


def tab_through(page: "Page") -> list[str]:
    """Press Tab until it leaves the page; return where it has been, in order."""
    page.evaluate("() => { document.activeElement.blur(); window.scrollTo(0, 0); }")
    places: list[str] = []
    for _ in range(150):
        page.keyboard.press("Tab")
        reached = page.evaluate(REACHED)
        if reached["place"] == "BODY" or (len(places) > 1 and reached["place"] == "skip"):
            return places
        if reached["place"] not in ("skip", "theme"):  # out of sight until they have the focus; radios
            assert reached["seen"], reached
        places.append(reached["place"])
    raise AssertionError(f"Tab does not lead out of {places[-5:]}")


@pytest.mark.parametrize("widths", [ENDS, pytest.param((1024,), marks=BETWEEN)])
def test_no_state_of_the_page_has_a_violation(agent: Agent, open_page: OpenPage, widths: Sequence[int]) -> None:
    from playwright.sync_api import expect

    (agent.directory / "running.py").write_text(RUNNING)
    page = open_page(agent.url(CONTROL_TOKEN))
    observer = open_page(agent.url(OBSERVE_TOKEN))
    state, found = page.locator("#state"), []
    expect(page.locator("#link")).to_have_text("Live")
    found += violations(page, "empty", widths)

    page.locator(".exceptions").evaluate("(details) => { details.open = true; }")
    stops: list[dict[str, Any]] = [{"file": "running.py", "line": 5}]
    agent.call("debug_launch", program="running.py", breakpoints=stops)
    agent.call("debug_step", count=2)
    expect(page.locator("#locals .badge").first).to_be_visible()
    found += violations(page, "paused", widths)

    # With the keys alone: everything is reached, what is chosen by arrows too, and the program is stepped from there.
    places = tab_through(page)
    assert {"controls", "stack", "source", "output", "locals", "timeline", "story"} <= set(places), places
    page.locator("#source .gutter[tabindex='0']").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#breakpoints .row")).to_have_count(2)
    page.keyboard.press("F10")
    expect(page.locator(".line.current .number")).to_have_text("4")
    expect(observer.locator("#state")).to_contain_text("Paused")
    found += violations(observer, "observer", widths)

    agent.call("breakpoint_remove", id="*")
    agent.call("debug_continue", wait=False)
    expect(state).to_have_text("Running")
    expect(page.locator("#stack")).to_have_attribute("data-stale", "true")
    found += violations(page, "running", widths)

    agent.call("debug_disconnect")
    expect(state).to_contain_text(re.compile("ended", re.IGNORECASE))
    found += violations(page, "ended", widths)

    agent.call("debug_launch", program="app.py", stop_at_entry=False)
    expect(state).to_have_text("Paused: ValueError")
    expect(page.locator("#locals")).not_to_be_empty()
    found += violations(page, "exception", widths)

    agent.kill()
    expect(page.locator("#link")).to_have_text("Connection lost")
    found += violations(page, "lost", widths)
    assert found == []


ASKS = """\
import subprocess, sys

run = [sys.executable, "-c", "word = input('Child? ')"]
number, rows, grid = 1, [{"tea": 4, "ok": None}, {"tea": 19, "ok": 1}], [[1, 2], [3, -4.5], [5]]
name = input("Who? ")
child = subprocess.Popen(run, stdin=subprocess.PIPE)
print(child.pid)
"""


def test_no_state_has_a_violation_in_which_a_person_acts_or_is_asked(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "asks.py").write_text(ASKS)
    page = open_page(agent.url(CONTROL_TOKEN))
    dialog, strip, found = page.get_by_role("dialog"), page.locator("#people"), []

    # What is on the page together is looked at together; a dialog hides the rest, and stands alone.
    agent.call("debug_launch", program="asks.py", breakpoints=[{"file": "asks.py", "line": 5}])
    agent.call("debug_launch", program="app.py", stop_at_entry=True, new_session=True)
    expect(page.locator("#children .row")).to_have_count(2)
    page.locator("#children .row").filter(has_text="asks.py").click()
    expect(page.locator("#where")).to_contain_text("asks.py:5")
    strip.get_by_role("button", name="Hold").click()
    expect(strip).to_contain_text("You have held")
    agent.begin_call("ask_person", question="Is it so?", choices=["yes", "no"])
    expect(strip.get_by_role("alert")).to_contain_text("Is it so?")
    page.locator("#source-tools").get_by_label("Find in the source").fill("number")
    page.get_by_label("Expression to evaluate").fill("1 +")
    page.keyboard.press("Enter")
    expect(page.locator("#evaluations .answer")).to_contain_text("SyntaxError")
    found += violations(page, "held, a question, several processes, not following, found, evaluated")

    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator("#locals [data-path=number] .value").dblclick()
    expect(dialog.get_by_label("New value")).to_be_visible()
    found += violations(page, "value dialog")
    page.keyboard.press("Escape")

    # What is inside of a value: records sort, and each number of a heat map is read, with the keys alone.
    page.locator("#locals [data-path=rows] > summary").focus()
    page.keyboard.press("F2")
    table = dialog.get_by_role("region", name="rows as a table")
    table.get_by_role("button", name="tea").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(table.get_by_role("columnheader", name="tea")).to_have_attribute("aria-sort", "descending")
    expect(table.get_by_role("rowheader")).to_have_text(["[1]", "[0]"])
    in_every_look(page, "dialog")
    page.keyboard.press("Escape")
    page.locator("#locals [data-path=grid] > summary").focus()
    page.keyboard.press("F2")
    heat = dialog.get_by_role("listbox", name="grid as a heat map")
    heat.press("ArrowDown")
    heat.press("ArrowRight")
    expect(heat.get_by_role("option")).to_have_text("[1][1] = -4.5")
    dialog.get_by_role("button", name="List").click()
    expect(dialog.get_by_role("listitem")).to_have_text(["[0] 1, 2", "[1] 3, -4.5", "[2] 5"])
    found += violations(page, "a heat map as a list", (1440,))
    dialog.get_by_role("button", name="List").click()
    in_every_look(page, "dialog")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Edit asks.py:5").click()
    page.get_by_label("Only at these hits").fill("often")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Only at these hits")).to_have_attribute("aria-invalid", "true")
    found += violations(page, "breakpoint editor")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1440, "height": 900})
    for name in ("Keys", "Share", "Go to file"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(dialog).to_be_visible()
        found += violations(page, name)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    page.keyboard.press("Shift+F5")
    expect(dialog).to_contain_text("agent may be at work here")
    found += violations(page, "confirm")
    page.keyboard.press("Escape")
    page.keyboard.press("F5")
    expect(page.get_by_label("Input for the program")).to_be_visible()
    found += violations(page, "input")
    assert found == []


ONCE_THROUGH = """\
def total(prices, rate):
    paid = 0
    for price in prices:
        paid += price * rate
    return paid


basket = {"tea": [4, 5]}
paid = total([3, 5], 2)
name = input("Who? ")
print("Hello", name)
"""


def test_once_through_everything_with_the_keyboard_alone(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "once.py").write_text(ONCE_THROUGH)
    page = open_page(agent.url(CONTROL_TOKEN))
    dialog, where, strip = page.get_by_role("dialog"), page.locator("#where"), page.locator("#people")
    press, focused = page.keyboard.press, page.locator(":focus")

    def tab_to(selector: str, key: str = "Tab") -> None:
        """Press Tab until the focus is there."""
        for _ in range(150):
            press(key)
            if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"Tab does not lead to {selector}")

    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    agent.call("debug_launch", program="once.py", breakpoints=[{"file": "once.py", "line": 4}], new_session=True)
    expect(where).to_contain_text("once.py:4 in total")

    # The toolbar, and the strip: hold, a question, a message, hand back.
    tab_to("#controls button")
    press("ArrowRight")
    press("ArrowRight")
    expect(focused).to_have_attribute("data-name", "Step over")
    press("Enter")
    expect(where).to_contain_text("once.py:3")
    tab_to("#people .wheel > button")
    press("Enter")
    expect(strip).to_contain_text("You have held")
    asked = agent.begin_call("ask_person", question="So?", choices=["yes", "no"])
    expect(strip.get_by_role("alert")).to_contain_text("So?")
    tab_to("#people .choices button", "Shift+Tab")
    expect(focused).to_have_text("no")
    press("Enter")
    assert agent.answer(asked)["structuredContent"]["answer"] == "no"
    tab_to("#people .tell input")
    page.keyboard.type("look at line 4")
    press("Enter")
    expect(strip.locator(".sent")).to_contain_text("look at line 4")
    tab_to("#people .wheel > button")
    press("Enter")
    expect(strip).not_to_contain_text("held")

    # The call stack, a thread, another process and back, a breakpoint and its editor.
    tab_to("#stack [role=option]")
    press("ArrowDown")
    press("Enter")
    expect(page.locator(".line.looked-at")).to_contain_text("paid = total")
    tab_to("#threads [role=option]")
    press("Enter")
    expect(page.locator("#follow button")).to_be_hidden()
    tab_to("#children [role=option]")
    press("Home")
    press("Enter")
    expect(where).to_contain_text("app.py:1")
    press("End")
    press("Enter")
    expect(where).to_contain_text("once.py:3")
    press("Escape")
    expect(where).to_contain_text("once.py:3")
    tab_to("#source button.gutter")
    press("Home")
    press("ArrowDown")
    press("Enter")
    expect(page.locator("#breakpoints .row")).to_have_count(2)
    press("Shift+F10")
    expect(page.get_by_role("menu")).to_be_visible()
    press("Enter")
    page.keyboard.type("paid > 1")
    press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.locator("#breakpoints")).to_contain_text("if paid > 1")
    expect(focused).to_have_class(re.compile("gutter"))

    # Story, locals, watch, evaluate; each dialog is closed by Escape, which gives the focus back.
    tab_to("#story [data-row]")
    press("End")
    press("Enter")
    expect(focused).to_have_attribute("aria-expanded", "true")
    tab_to("#locals [tabindex='0'], #locals summary")
    press("End")  # one without anything inside
    expect(focused).to_have_attribute("data-path", re.compile("paid|price|rate"))
    press("F2")
    expect(dialog.get_by_label("New value")).to_be_visible()
    press("Escape")
    expect(dialog).to_have_count(0)
    expect(focused).to_have_attribute("data-path", re.compile("."))
    press("h")
    expect(dialog.locator("tbody tr").first).to_be_visible()
    press("Escape")
    expect(focused).to_have_attribute("data-path", re.compile("."))
    press("Home")
    expect(focused).to_contain_text("prices")
    press("ArrowRight")
    expect(page.locator("#locals .inside .variable").first).to_be_visible()
    press("ArrowDown")
    expect(focused).to_have_attribute("data-path", "prices[0]")
    press("ArrowLeft")
    press("ArrowLeft")
    expect(page.locator("#locals details[open]")).to_have_count(0)
    tab_to("#watches-panel input")
    page.keyboard.type("rate * 100")
    press("Enter")
    expect(page.locator("#watches .value")).to_have_text("200")
    tab_to("#evaluate-panel textarea")
    page.keyboard.type("rate + 1")
    press("Enter")
    expect(page.locator("#evaluations .answer")).to_contain_text("3")
    tab_to("#evaluations .answer", "Shift+Tab")
    press("Enter")
    expect(dialog).to_be_visible()
    press("Escape")
    expect(focused).to_have_class(re.compile("answer"))

    # The timeline, and the past; the dialogs of the page; the program's input.
    tab_to("#timeline [tabindex='0']")
    press("ArrowLeft")
    press("Enter")
    expect(page.locator("#event, #past").filter(visible=True)).not_to_have_count(0)
    press("Escape")
    for name in ("Keys", "Share", "Go to file"):
        button = page.get_by_role("button", name=name, exact=True)
        marked = button.evaluate("(node) => { node.dataset.wanted = 'yes'; }")
        assert marked is None
        tab_to("[data-wanted]")
        press("Enter")
        expect(dialog).to_be_visible()
        press("Escape")
        expect(dialog).to_have_count(0)
        expect(button).to_be_focused()
        button.evaluate("(node) => { delete node.dataset.wanted; }")
    agent.call("breakpoint_remove", id="*")
    press("F5")
    expect(page.get_by_label("Input for the program")).to_be_visible()
    tab_to("form.input input")
    page.keyboard.type("Ada")
    press("Enter")
    expect(page.locator("#output")).to_contain_text("Hello Ada")
