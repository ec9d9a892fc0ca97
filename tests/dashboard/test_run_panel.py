"""Recorded runs on the page: which there are, why they came to what they did, and each of their moments."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import becomes, eventually
from tests.dashboard.looks import in_every_look
from tests.dashboard.test_accessibility import violations
from tests.dashboard.test_pictures import painted, said, timeline
from tests.runs.recorded_programs import python

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

SHOP = """\
def fill(items, cart=[]):
    cart.extend(items)
    return cart


def total(cart):
    amount = 0
    for price in cart:
        amount += price
    if amount > 100:
        amount -= 10
    return amount


def serve(name, items):
    cart = fill(items)
    amount = total(cart)
    return amount


ada = serve("Ada", [4, 6])
bob = serve("Bob", [3])
assert bob == 3, bob
"""

FAILS, WORKS = "run-1", "run-2"


def record(agent: Agent, name: str, text: str) -> None:
    """Let a program run to its end, and record that."""
    (agent.directory / name).write_text(text)
    wanted: dict[str, Any] = {"record": True, "stop_at_entry": False, "stop_on_uncaught": False}
    agent.call("debug_launch", program=name, adapter_options={"python": [python(3, 13)]}, **wanted)


@pytest.fixture(scope="module")
def shop(chromium: "Browser", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """A server that has recorded a program that fails, and the same one mended."""
    agent = Agent(tmp_path_factory.mktemp("shop"))
    record(agent, "shop.py", SHOP)
    record(agent, "shop.py", SHOP.replace("cart=[]", "cart=()").replace("cart.extend(items)", "cart = [*cart, *items]"))
    yield agent
    agent.disconnect()


def opened(page: "Page", run: str = FAILS) -> "Locator":
    """Open a run of the list; return its panel."""
    page.locator(f"#runs [data-key={run}]").click()
    panel = page.locator("#run-panel")
    panel.locator(".because").first.wait_for()
    return panel


def moment_of(words: "Locator") -> int:
    """The number of the moment that is shown."""
    return int(words.inner_text().split()[0].removeprefix("#"))


def row(panel: "Locator", statement: str) -> "Locator":
    """The last of the lines of the path that is this statement."""
    return panel.locator(".path .brief").filter(has_text=statement).last


def test_an_observer_goes_from_a_run_to_why_it_failed_and_to_each_moment(shop: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(shop.url(OBSERVE_TOKEN))
    expect(page.locator("#runs li")).to_have_count(2)
    expect(page.locator(f"#runs [data-key={FAILS}]")).to_contain_text("exit code 1")
    panel = opened(page)
    expect(panel.get_by_role("status")).to_contain_text("bob == 3")
    expect(panel.locator(".because[data-current=true]")).to_be_in_viewport(ratio=1)
    expect(panel.get_by_role("textbox")).to_be_in_viewport(ratio=1)
    words, place = page.locator("#past .words"), page.locator("#past .where")
    expect(place).to_contain_text("shop.py:")  # where it failed
    expect(page.locator("body")).to_have_attribute("data-past", "true")
    row(panel, "cart.extend(items)").click()
    expect(place).to_contain_text("shop.py:2 in fill")
    expect(page.locator(".line.was-current code")).to_have_text("    cart.extend(items)")
    expect(page.locator(".line.was-current .aside")).to_contain_text("then ")
    expect(page.locator("#stack .row")).to_have_count(3)
    expect(page.locator("#locals [data-path=items]")).to_be_visible()

    # A frame below, as it was when it called; and the keys from line to line.
    page.locator("#stack .row").nth(1).click()
    expect(page.locator("#locals [data-path=name] .value")).to_have_text("'Bob'")
    expect(page.locator(".line.looked-at code")).to_have_text("    cart = fill(items)")
    number = moment_of(words)
    page.keyboard.press("Shift+ArrowRight")
    expect(place).to_contain_text("shop.py:3 in fill")
    eventually(lambda: moment_of(words), lambda now: now > number)
    page.get_by_role("button", name="Out", exact=True).click()
    expect(place).to_contain_text("shop.py:16 in serve")
    page.get_by_role("button", name="In", exact=True).click()
    expect(place).to_contain_text("shop.py:2 in fill")
    row(panel, "cart.extend(items)").click()
    expect(panel.get_by_role("button", name="Why this")).to_be_visible()
    assert violations(page, "a moment of a run", (390,)) == []
    in_every_look(page, "#run-panel")
    page.keyboard.press("Escape")
    expect(page.locator("#past")).to_be_hidden()
    expect(panel).to_be_visible()
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()


def test_a_question_goes_deeper_from_a_line_and_by_an_expression(shop: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(shop.url(OBSERVE_TOKEN))
    panel = opened(page)
    before = panel.locator(".because").count()
    row(panel, "cart.extend(items)").click()
    expect(panel.locator("[data-current=true]")).to_contain_text("cart.extend(items)")  # the buttons have moved to it
    panel.get_by_role("button", name="Why did it run").click()
    expect(panel.get_by_role("status")).to_contain_text("ran: cart.extend(items)")
    eventually(panel.locator(".because").count, lambda count: count >= before)  # among those that were there
    expect(row(panel, "assert bob == 3")).to_have_count(1)
    panel.get_by_role("textbox").fill("items")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("status")).to_have_text(re.compile("^items"))  # at the moment that is shown
    expect(row(panel, "bob = serve")).to_have_count(1)
    panel.get_by_role("textbox").fill("ada")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("status")).to_contain_text("ada=10")
    panel.get_by_role("textbox").fill("nothing of the kind")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("status")).to_have_class(re.compile("problem"))
    expect(panel.locator(".because")).to_have_count(0)
    page.locator(f"#runs [data-key={WORKS}]").click()
    expect(panel.get_by_role("status")).to_contain_text("Nothing failed in this run")
    expect(page.locator("#past .words")).to_contain_text(WORKS)  # its last line is shown
    expect(page.locator(".line.was-current code")).to_have_text("assert bob == 3, bob")


def test_a_line_of_the_source_is_asked_why_it_ran_or_not_and_each_time_it_did(shop: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(shop.url(CONTROL_TOKEN))
    panel = opened(page)
    row(panel, "cart.extend(items)").click()
    lines = page.locator("#source .line")
    expect(lines.filter(has_text="amount += price").locator(".ran")).to_have_text(re.compile(r"^5\W$"))
    expect(lines.filter(has_text="amount -= 10").locator(".ran")).to_have_text("")  # it did not run
    expect(lines.filter(has_text="cart.extend(items)").locator(".aside")).to_contain_text("#")  # it is on the path
    lines.filter(has_text="amount -= 10").click(button="right")
    page.get_by_role("menuitem", name=f"Why did it run, or not, in {FAILS}").click()
    expect(row(panel, "if amount > 100:")).to_contain_text("false")
    lines.filter(has_text="if amount > 100").click(button="right")
    page.get_by_role("menuitem", name="Each time it ran").click()
    expect(panel.locator(".entries .because")).to_have_count(2)
    expect(panel.locator(".entries .said")).to_contain_text(["amount=10", "amount=13"])
    page.locator("#locals [data-path=cart]").hover()
    page.locator(".locals .over-stops").click()  # over the run that is shown, not over the stops
    expect(panel.get_by_label("A variable, an attribute")).to_have_value("cart")
    expect(panel.locator(".entries .because")).not_to_have_count(0)


def test_calls_fold_open_by_the_keys_and_lead_to_their_moments(shop: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(shop.url(OBSERVE_TOKEN))
    panel = opened(page)
    panel.get_by_role("tab", name="Calls").click()
    items = panel.get_by_role("treeitem")
    expect(items.locator(".name")).to_have_text(["<module>", "serve", "serve"])
    items.nth(2).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(items.locator(".name")).to_have_text(["<module>", "serve", "serve", "fill", "total"])
    becomes(lambda: items.evaluate_all("(all) => all.map((each) => each.ariaLevel)"), ["1", "2", "2", "3", "3"])
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator("#past .where")).to_contain_text("shop.py:7 in total")
    expect(items.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowLeft")  # to the call that it is in, which the next one closes
    page.keyboard.press("ArrowLeft")
    expect(items).to_have_count(3)
    assert violations(page, "calls of a run", (390, 1440)) == []

    # The same as a flame: by keys from call to call, into one of them, and as a list.
    panel.get_by_role("tab", name="Flame").press("Enter")
    status = panel.get_by_role("tabpanel").get_by_role("status")
    expect(status).to_contain_text("7 calls on 3 levels")
    flame = panel.get_by_role("listbox", name="Calls as a flame")
    flame.press("ArrowDown")
    flame.press("ArrowRight")
    expect(said(panel)).to_have_text(re.compile(r"^1: <module> raises .* moments, \d+ of them its own, #\d+$"))
    flame.press("ArrowDown")
    flame.press("End")
    expect(said(panel)).to_have_text(
        re.compile(r"^2: serve name='Bob' items=\[3\] -> 13 · \d+ moments, \d+ of them its own, #\d+$")
    )
    flame.press("Enter")
    expect(page.locator("#past .where")).to_contain_text("in serve")
    eventually(lambda: painted(panel), lambda colours: colours > 5)
    panel.get_by_role("button", name="Only this call").press("Enter")
    expect(status).to_contain_text("2 calls on 1 level inside of #")
    panel.get_by_role("button", name="List").press("Enter")
    expect(panel.get_by_role("listbox", name="as a list").get_by_role("option")).to_contain_text(
        ["Row 1, 2 calls", "fill items=[3]", "total cart=[4, 6, 3] -> 13"]
    )
    assert violations(page, "a flame as a list", (390,)) == []
    panel.get_by_role("button", name="List").press("Enter")
    panel.get_by_role("button", name="Whole run").press("Enter")
    expect(status).to_contain_text("7 calls")
    in_every_look(page, "#run-panel")
    panel.get_by_role("tab", name="Calls").press("Enter")
    panel.get_by_label("Calls of this function").fill("total")
    page.keyboard.press("Enter")
    expect(items.locator(".said")).to_have_text(["cart=[4, 6] -> 10", "cart=[4, 6, 3] -> 13"])
    panel.get_by_label("Calls of this function").fill("tottal")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("status")).to_contain_text("No function tottal was called")


LONG = "total = 0\nfor number in range(10_000):\n    total = (total + number) % 997\n"


def test_ten_thousand_values_are_a_curve_and_a_list_of_the_first_thousand_which_says_so(
    shop: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    record(shop, "long.py", LONG)
    page = open_page(shop.url(OBSERVE_TOKEN))
    page.locator("#runs li").first.click()
    panel = page.locator("#run-panel")
    panel.get_by_role("tab", name="History").click()
    panel.get_by_label("A variable, an attribute").fill("total")
    page.keyboard.press("Enter")
    status = panel.get_by_role("status")
    expect(status).to_have_text("1 to 1,000 of 10,001")
    expect(panel.get_by_role("img")).to_have_attribute("aria-label", "A line of 1000 numbers from 0 to 994")
    eventually(panel.locator(".entries .because").count, lambda count: 0 < count < 100)  # those that can be seen
    panel.locator(".entries .brief").first.focus()
    page.keyboard.press("End")
    expect(panel.locator(".entries .brief:focus .said")).to_have_text(re.compile(r"total: \d+ -> \d+"))
    page.keyboard.press("Enter")
    expect(page.locator("#past .where")).to_contain_text("long.py:3")
    expect(panel.locator("svg .here")).to_have_count(1)
    panel.get_by_role("button", name="Later").click()
    expect(status).to_have_text("1,001 to 2,000 of 10,001")
    panel.get_by_label("Only where this holds").fill("new > 990")
    page.keyboard.press("Enter")
    expect(status).to_have_text(re.compile("^[0-9]{2}$"))
    panel.locator(".entries .brief").first.click()
    expect(panel.locator("svg .here")).to_have_count(1)
    in_every_look(page, "#run-panel")  # a curve of as many values as can be looked at quickly
    panel.get_by_label("Only where this holds").fill("new > 990 and old < 5")
    page.keyboard.press("Enter")
    expect(status).to_have_text("none")
    panel.get_by_label("A variable, an attribute").fill("totl")
    page.keyboard.press("Enter")
    expect(status).to_contain_text("was never written")
    expect(panel.locator(".entries .because")).to_have_count(0)
    panel.get_by_role("button", name="Close").click()
    expect(page.locator("#past")).to_be_hidden()


def test_two_runs_stand_side_by_side_where_they_part_and_each_leads_to_its_moment(
    shop: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page = open_page(shop.url(OBSERVE_TOKEN))
    panel = opened(page)
    panel.get_by_role("tab", name="Compare").click()
    panel.get_by_label("The run that is as it should be").select_option(WORKS)
    panel.get_by_role("button", name="Compare").click()
    pair = panel.get_by_role("group", name="differs").first
    expect(pair.locator(".side")).to_contain_text(["-> [3]", "-> [4, 6, 3]"])
    pair.locator(".brief").first.click()
    expect(page.locator("#past .words")).to_contain_text(f"of {WORKS}")
    expect(page.locator("#source")).to_contain_text("cart = [*cart, *items]")  # as it ran in that one
    pair.locator(".brief").last.click()
    expect(page.locator("#past .words")).to_contain_text(f"of {FAILS}")
    expect(page.locator("#source")).to_contain_text("cart.extend(items)")
    in_every_look(page, "#run-panel")


def test_what_the_page_reads_of_a_run_does_not_stand_in_the_story(shop: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(shop.url(CONTROL_TOKEN))
    note = page.locator("#story-note")
    expect(page.locator("#timeline-note")).to_have_text(re.compile(r"^\d+ events$"))  # all of them are loaded
    expect(note).to_have_text(re.compile("calls"))
    calls = int(note.inner_text().split()[0])
    panel = opened(page)
    panel.get_by_role("tab", name="Calls").click()
    expect(panel.get_by_role("treeitem")).not_to_have_count(0)
    shop.call("run_list")
    expect(page.locator("#story .call").first).to_contain_text("run_list")
    becomes(lambda: int(note.inner_text().split()[0]), calls + 1)


FORKS = """\
import os


def child(number):
    half = number / 2
    assert half == 3, half


if os.fork() == 0:
    child(8)
os.wait()
"""


def test_of_several_processes_the_one_that_failed_is_asked_and_another_can_be(shop: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    record(shop, "forks.py", FORKS)
    page = open_page(shop.url(OBSERVE_TOKEN))
    page.locator("#runs li").first.click()
    panel = page.locator("#run-panel")
    expect(panel.get_by_role("status")).to_contain_text("half=4.0")
    expect(page.locator("#past .where")).to_contain_text("in child")
    choice = panel.get_by_label("Process of the run")
    expect(choice.locator("option")).to_have_count(2)
    expect(choice.locator("option").last).to_have_js_property("selected", True)
    choice.select_option(index=0)
    expect(panel.get_by_role("status")).to_contain_text("Nothing failed")
    expect(page.locator(".line.was-current code")).to_have_text("os.wait()")
    panel.get_by_role("tab", name="Calls").click()
    expect(panel.get_by_role("treeitem").locator(".name")).to_have_text(["<module>"])


def test_two_people_look_at_different_things_and_what_one_does_moves_neither(shop: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (shop.directory / "loop.py").write_text("for number in range(100):\n    value = number\n    print(value)\n")
    shop.call("debug_launch", program="loop.py", breakpoints=[{"file": "loop.py", "line": 3}])
    shop.call("debug_continue")
    one, other, observer = (open_page(shop.url(token)) for token in (CONTROL_TOKEN, CONTROL_TOKEN, OBSERVE_TOKEN))
    for each in (one, other, observer):
        expect(each.locator("#where")).to_have_text("loop.py:3 in <module>")
    panel = opened(one)
    row(panel, "cart.extend(items)").click()
    expect(one.locator("#past .where")).to_contain_text("shop.py:2 in fill")
    other.get_by_role("button", name="Back to the stop before").click()
    expect(other.locator("#past .words")).to_contain_text("Stop 1 of 2")
    timeline(observer, "Calls")

    # A step of the agent, and one of a person who is at the stop: what the others look at stays.
    shop.call("debug_step")
    other.keyboard.press("Escape")
    other.keyboard.press("F10")
    expect(other.locator("#where")).to_have_text("loop.py:2 in <module>")
    expect(one.locator("#where")).to_have_text("loop.py:2 in <module>")
    expect(one.locator("#past .where")).to_contain_text("shop.py:2 in fill")
    expect(panel).to_be_visible()
    expect(other.locator("#run-panel")).to_be_hidden()
    expect(observer.locator("#run-panel")).to_be_hidden()
    expect(observer.get_by_role("tab", name="Calls")).to_have_attribute("aria-selected", "true")
    expect(other.get_by_role("tab", name="Events")).to_have_attribute("aria-selected", "true")

    # What is the program's is the same for all; what is a page's own is not.
    other.get_by_label("Expression to watch").fill("value")
    other.keyboard.press("Enter")
    other.get_by_role("button", name="Breakpoint on line 1", exact=True).click()
    for each in (one, other, observer):
        expect(each.locator("#breakpoints")).to_contain_text("loop.py:1")
    expect(other.locator("#watches")).to_contain_text("value")
    expect(one.locator("#watches")).not_to_contain_text("value")

    # No menu of an observer has what would change something.
    observer.locator("#locals [data-path=number]").first.click(button="right")
    names = observer.get_by_role("menuitem")
    expect(names).to_contain_text(["Copy value", "Copy name", "Show all", "Over the stops", "References"])
    expect(names).to_have_count(5)
    observer.keyboard.press("Escape")
    observer.locator(".line.current code").click(button="right")
    expect(names).to_have_text(["Copy loop.py:2"])
    observer.keyboard.press("Escape")
    shop.call("debug_disconnect")


CUT = "(nodes) => nodes.filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.textContent)"


@pytest.mark.parametrize("width", [390, 1440])
def test_what_runs_are_called_and_what_they_wrote_is_whole(agent: Agent, open_page: OpenPage, width: int) -> None:
    from playwright.sync_api import expect

    record(agent, "the_shop_where_bob_pays_what_ada_bought.py", SHOP)
    record(agent, "the_shop_where_bob_pays_what_ada_bought.py", SHOP.replace("cart=[]", "cart=()"))
    page = open_page(agent.url(OBSERVE_TOKEN))
    page.set_viewport_size({"width": width, "height": 900})
    panel = opened(page)
    expect(page.locator("#threads")).to_contain_text("<module> (1)")
    assert page.locator("#runs .grow, #threads .name").evaluate_all(CUT) == []
    panel.get_by_role("tab", name="History").click()
    panel.get_by_label("A variable, an attribute").fill("amount")
    page.keyboard.press("Enter")
    expect(panel.locator(".entries .said").first).to_be_visible()
    assert panel.locator(".entries .said").evaluate_all(CUT) == []
    panel.get_by_role("tab", name="Compare").click()
    panel.get_by_role("button", name="Compare").click()
    good, bad = (panel.locator(".pair .side").nth(number).bounding_box() for number in (0, 1))
    assert good is not None
    assert bad is not None
    assert (good["x"] == bad["x"], good["y"] == bad["y"]) == (width == 390, width == 1440)
