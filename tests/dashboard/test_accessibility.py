"""No state of the page has a violation that axe-core finds, in light and dark, on a phone and on a wide screen."""

import re
from typing import TYPE_CHECKING, Any, Literal

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.javascript import package

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS = (390, 1024, 1440)

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

RULES = {"light": "{resultTypes: ['violations']}", "dark": "{runOnly: ['color-contrast']}"}
"""Dark differs in its colours only."""

RUNNING = """\
import time

total = 0
for number in range(3):
    total += number
while True:
    time.sleep(0.05)
"""


def violations(page: "Page", state: str) -> list[str]:
    """Return what axe-core finds in this state, in each width and each colour scheme."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(package("axe-core/axe.min.js").read_text())
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate("() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")
            for each in page.evaluate(f"axe.run({RULES[scheme]}).then(({{violations}}) => violations)"):
                nodes = [f"{node['target']} {node['any'][:1] or node['all'][:1]}" for node in each["nodes"][:3]]
                found.append(f"{state}, {width}, {scheme}: {each['id']} {each['help']}: {nodes}")
    return found


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


def test_no_state_of_the_page_has_a_violation(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "running.py").write_text(RUNNING)
    page = open_page(agent.url(CONTROL_TOKEN))
    observer = open_page(agent.url(OBSERVE_TOKEN))
    state, found = page.locator("#state"), []
    expect(page.locator("#link")).to_have_text("Live")
    found += violations(page, "empty")

    stops: list[dict[str, Any]] = [{"file": "running.py", "line": 5}]
    agent.call("debug_launch", program="running.py", breakpoints=stops)
    agent.call("debug_step", count=2)
    expect(page.locator("#locals .badge").first).to_be_visible()
    found += violations(page, "paused")

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
    found += violations(observer, "observer")

    agent.call("breakpoint_remove", id="*")
    agent.call("debug_continue", wait=False)
    expect(state).to_have_text("Running")
    expect(page.locator("#stack")).to_have_attribute("data-stale", "true")
    found += violations(page, "running")

    agent.call("debug_disconnect")
    expect(state).to_contain_text(re.compile("ended", re.IGNORECASE))
    found += violations(page, "ended")

    agent.call("debug_launch", program="app.py", stop_at_entry=False)
    expect(state).to_have_text("Paused: ValueError")
    expect(page.locator("#locals")).not_to_be_empty()
    found += violations(page, "exception")

    agent.kill()
    expect(page.locator("#link")).to_have_text("Connection lost")
    found += violations(page, "lost")
    assert found == []
