"""What a person who opens the page in the midst of something has in sight, without touching anything."""

from typing import TYPE_CHECKING, Any

from tests.dashboard.agent import OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.test_running import DEADLOCK, TASKS
from tests.runs.recorded_programs import python

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCREENS = ((1440, 900), (390, 844))

FAILS = """\
import unittest


def total(prices):
    amount = 0
    for price in prices:
        amount += price
    return amount


class ShopTest(unittest.TestCase):
    def test_a_discount_is_taken_off_once(self):
        paid = total([3, 5, -2, -2])
        self.assertEqual(paid, 6)
"""


def in_sight(page: "Page", *texts: str) -> None:
    """Assert that each of these texts is in the window of a desk, and in that of a phone, without scrolling."""
    from playwright.sync_api import expect

    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        for text in texts:
            expect(page.get_by_text(text).locator("visible=true").first).to_be_in_viewport(ratio=0.9)


def test_what_has_happened_is_in_sight_of_who_joins_late(agent: Agent, open_page: OpenPage) -> None:
    url = agent.url(OBSERVE_TOKEN)
    for name, text in (("locks.py", DEADLOCK), ("tasks.py", TASKS), ("test_shop.py", FAILS)):
        (agent.directory / name).write_text(text)
    agent.call("debug_launch", program="locks.py", stop_at_entry=False, wait=False)
    in_sight(open_page(url), "Dead-locked: ab → bc → ca → ab", "bc at locks.py:10 waits for", "agent")

    agent.call("debug_launch", program="tasks.py", stop_at_entry=False, wait=False, replace=True)
    in_sight(open_page(url), "Running", "MainThread waits for", "199 tasks at tasks.py:5 wait for lock")

    wanted: dict[str, Any] = {"record": True, "adapter_options": {"python": [python(3, 13)]}}
    test = "test_shop.py::ShopTest::test_a_discount_is_taken_off_once"
    agent.call("debug_launch", test=test, stop_at_entry=False, stop_on_uncaught=False, replace=True, **wanted)
    page = open_page(url)
    in_sight(page, "Program ended with exit code 1", "AssertionError: 4 != 6, test_shop.py:14", "each of its moments")
    page.get_by_role("button", name="Why it failed (run-1)").click()
    in_sight(page, "self.assertEqual(paid, 6)", "paid=4")
