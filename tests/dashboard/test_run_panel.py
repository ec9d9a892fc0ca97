"""Recorded runs on the page: which there are, why they came to what they did, and each of their moments."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.dashboard.agent import OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.test_accessibility import violations
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


def row(panel: "Locator", statement: str) -> "Locator":
    """The last of the lines of the path that is this statement."""
    return panel.locator(".path .brief").filter(has_text=statement).last


def test_an_observer_goes_from_a_run_to_why_it_failed_and_to_each_moment(shop: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(shop.url(OBSERVE_TOKEN))
    expect(page.locator("#runs li")).to_have_count(2)
    expect(page.locator(f"#runs [data-key={FAILS}]")).to_contain_text("exit code 1")
    panel = opened(page)
    expect(panel.locator("[role=status]")).to_contain_text("bob == 3")
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
    number = int(words.inner_text().split()[0].removeprefix("#"))
    page.keyboard.press("Shift+ArrowRight")
    expect(place).to_contain_text("shop.py:3 in fill")
    assert int(words.inner_text().split()[0].removeprefix("#")) > number
    page.get_by_role("button", name="Out", exact=True).click()
    expect(place).to_contain_text("shop.py:16 in serve")
    page.get_by_role("button", name="In", exact=True).click()
    expect(place).to_contain_text("shop.py:2 in fill")
    row(panel, "cart.extend(items)").click()
    expect(panel.get_by_role("button", name="Why this")).to_be_visible()
    assert violations(page, "a moment of a run") == []
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
    panel.get_by_role("button", name="Why did it run").click()
    expect(panel.locator("[role=status]")).to_contain_text("why cart.extend(items)")
    assert panel.locator(".because").count() >= before  # among those that were there
    expect(row(panel, "assert bob == 3")).to_have_count(1)
    panel.get_by_role("textbox").fill("ada")
    page.keyboard.press("Enter")
    expect(panel.locator("[role=status]")).to_contain_text("ada=10")
    panel.get_by_role("textbox").fill("nothing of the kind")
    page.keyboard.press("Enter")
    expect(panel.locator("[role=status].problem")).not_to_be_empty()
    expect(panel.locator(".because")).to_have_count(0)
    page.locator(f"#runs [data-key={WORKS}]").click()
    expect(panel.locator("[role=status]")).to_contain_text("Nothing failed in this run")
    expect(page.locator("#past .words")).to_contain_text(WORKS)  # its last line is shown
    expect(page.locator(".line.was-current code")).to_have_text("assert bob == 3, bob")
