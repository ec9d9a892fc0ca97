"""Each picture with the keys alone: Tab leads to it and out of it, arrows through it; it is a list or a table, too."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, Agent
from tests.dashboard.conftest import opening
from tests.dashboard.eventually import eventually
from tests.dashboard.profiles import fresh_profile
from tests.dashboard.test_run_panel import FAILS, SHOP, WORKS, record
from tests.dashboard.test_running import DEADLOCK

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

SCENE = """\
class Order:
    def __init__(self, items):
        self.items = items


def price(name):
    return len(name)


def total(names):
    paid = 0
    for name in names:
        paid += price(name)
    return paid


rows, grid = [{"tea": 4, "cup": 1}, {"tea": 19, "cup": 2}], [[1, 2], [3, 4], [5, 6]]
orders = [Order(rows), Order(rows)]
total(["tea", "pot"])
for number in range(4):
    square = number * number
    number += 1
"""

MOST_TABS = 200
"""All of the page has fewer."""

AT = """
() => {
  const here = document.activeElement;
  const said = document.getElementById(here.getAttribute('aria-activedescendant') ?? '');
  const rank = [...document.querySelectorAll('*')].indexOf(here);
  return said ? said.textContent : here.ariaValueText ?? `${rank} ${here.textContent}`;
}
"""
"""What the keys are at, in words that differ from those of what is beside it."""

IS_IN = "(node) => node.contains(document.activeElement)"


class Picture(NamedTuple):
    """A picture: what opens it, where it is, the arrows that lead through it, and where the same is in words.

    `twin` is what is in each line of that; `shown_by` the button that puts it in the picture's place. `closes`: the
    picture is in a dialog.
    """

    open: Callable[["Page"], "Locator"]
    where: str
    arrows: Sequence[str]
    twin: str
    shown_by: str | None = None
    closes: bool = False


def view_of_the_timeline(name: str) -> Callable[["Page"], "Locator"]:
    def opened(page: "Page") -> "Locator":
        tab = page.locator(".panel.timeline").get_by_role("tab", name=name)
        tab.press("Enter")
        return tab

    return opened


def tab_of_the_run(name: str) -> Callable[["Page"], "Locator"]:
    def opened(page: "Page") -> "Locator":
        if page.locator("#run-panel").is_hidden():
            page.locator(f"#runs [data-key={FAILS}]").press("Enter")
        tab = page.locator("#run-panel").get_by_role("tab", name=name)
        tab.press("Enter")
        return tab

    return opened


def sides(page: "Page") -> "Locator":
    tab = tab_of_the_run("Compare")(page)
    page.get_by_label("The run that is as it should be").select_option(WORKS)
    page.locator("#run-panel").get_by_role("button", name="Compare").press("Enter")
    return tab


def history(page: "Page") -> "Locator":
    tab = tab_of_the_run("History")(page)
    page.get_by_label("A variable, an attribute").fill("amount")
    page.get_by_label("A variable, an attribute").press("Enter")
    return tab


def of_a_variable(name: str, *keys: str) -> Callable[["Page"], "Locator"]:
    def opened(page: "Page") -> "Locator":
        row = page.locator(f"#locals [data-path={name}] > summary, #locals [data-path={name}]:not(details)")
        row.focus()
        for key in keys:
            page.keyboard.press(key)
        return row

    return opened


def references(page: "Page") -> "Locator":
    row = of_a_variable("rows", "Shift+F10")(page)
    page.get_by_role("menuitem", name="References").press("Enter")
    return row


def traced(page: "Page") -> "Locator":
    call = page.locator("#story .call", has_text="trace_function").locator("button.brief")
    if call.get_attribute("aria-expanded") == "false":
        call.press("Enter")
    button = page.get_by_role("button", name="Flame", exact=True)
    button.press("Enter")
    return button


def ring(page: "Page") -> "Locator":
    row = page.locator("#children .row").filter(has_text="locks.py")
    row.press("Enter")
    page.get_by_role("img", name="Dead-lock: ").wait_for()
    return row


SPANS = "[role=listbox][aria-label$='as a list']:visible [role=option]"

RUN = "#run-panel"
TIMELINE = ".panel.timeline .spans:visible"

UP_AND_DOWN = ("ArrowDown", "ArrowUp")
LEFT_AND_RIGHT = ("ArrowLeft", "ArrowRight")
ACROSS = ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowUp")

PICTURES = {
    "events": Picture(view_of_the_timeline("Events"), "#timeline", LEFT_AND_RIGHT, "#story .call"),
    "tracks": Picture(view_of_the_timeline("Tracks"), TIMELINE, ACROSS, SPANS, "List"),
    "waterfall": Picture(view_of_the_timeline("Calls"), TIMELINE, ("PageDown", "ArrowUp"), SPANS, "List"),
    "why": Picture(tab_of_the_run("Why"), f"{RUN} ol.path:visible", UP_AND_DOWN, f"{RUN} .because:visible"),
    "call tree": Picture(tab_of_the_run("Calls"), f"{RUN} [role=tree]", UP_AND_DOWN, "[role=treeitem]"),
    "flame of a run": Picture(tab_of_the_run("Flame"), f"{RUN} .spans:visible", ACROSS, SPANS, "List"),
    "history of a run": Picture(history, f"{RUN} .entries", UP_AND_DOWN, ".entries .because"),
    "two runs": Picture(sides, f"{RUN} .sides", UP_AND_DOWN, f"{RUN} .pair .because"),
    "flame of traced calls": Picture(traced, ".answer .spans:visible", ACROSS, SPANS, "List"),
    "over the stops": Picture(
        of_a_variable("square", "h"), "dialog .plot", LEFT_AND_RIGHT, "dialog table.values tbody tr", closes=True
    ),
    "table": Picture(
        of_a_variable("rows", "F2"), "dialog thead", LEFT_AND_RIGHT[::-1], "dialog table.records tr", closes=True
    ),
    "heat map": Picture(
        of_a_variable("grid", "F2"), "dialog .heat", ("ArrowDown", "ArrowRight"), "dialog [role=listitem]", "List", True
    ),
    "references": Picture(references, "dialog .references", UP_AND_DOWN, "dialog .side li", closes=True),
    "ring": Picture(ring, "#threads", UP_AND_DOWN, "#threads .row:has-text('waits for')"),
}


@pytest.fixture(scope="module")
def page(chromium: "Browser", tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Page]":
    """A page on which all the pictures can be had."""
    from playwright.sync_api import expect

    agent = Agent(tmp_path_factory.mktemp("scene"))
    record(agent, "shop.py", SHOP)
    record(agent, "shop.py", SHOP.replace("cart=[]", "cart=()").replace("cart.extend(items)", "cart = [*cart, *items]"))
    for name, text in (("locks.py", DEADLOCK), ("scene.py", SCENE)):
        (agent.directory / name).write_text(text)
    agent.call("debug_launch", program="locks.py", stop_at_entry=False, wait=False)
    stops: list[dict[str, Any]] = [{"file": "scene.py", "line": 22}]
    agent.call("debug_launch", program="scene.py", stop_at_entry=True, breakpoints=stops, new_session=True)
    agent.call("trace_function", function="total")
    for _ in range(3):
        agent.call("debug_continue")
    with fresh_profile(chromium) as context, opening(context) as opened:
        page = opened(agent.url(CONTROL_TOKEN))
        expect(page.locator("#where")).to_contain_text("scene.py:22")
        expect(page.locator("#locals")).to_contain_text("square")
        yield page
    agent.disconnect()


def moves(page: "Page", key: str) -> None:
    before = page.evaluate(AT)
    page.keyboard.press(key)
    eventually(lambda: page.evaluate(AT), lambda now: now != before)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_reached_gone_through_and_left_by_keys_and_is_there_in_words(page: "Page", name: str) -> None:
    from playwright.sync_api import expect

    picture = PICTURES[name]
    opener = picture.open(page)
    view = page.locator(picture.where)
    view.locator("visible=true").first.wait_for()

    def tab(until: bool) -> None:
        for _ in range(MOST_TABS):
            if view.evaluate(IS_IN) is until:
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead {'to' if until else 'out of'} it")

    tab(until=True)
    for key in picture.arrows:
        moves(page, key)
        assert view.evaluate(IS_IN)
    if picture.closes:
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(opener).to_be_focused()
        picture.open(page)
        view.locator("visible=true").first.wait_for()
    else:
        tab(until=False)
    if picture.shown_by:
        panel = view.locator("xpath=ancestor::*[.//button[text()='List']][1]")
        panel.get_by_role("button", name=picture.shown_by, exact=True).press("Enter")
    expect(page.locator(picture.twin).first).to_be_visible()
    if picture.shown_by:
        page.keyboard.press("Enter")
        expect(view.locator("visible=true").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
