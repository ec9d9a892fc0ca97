"""What a person who opens the page in the midst of something has in sight, without touching anything."""

import re
import shutil
import subprocess
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.dashboard.agent import OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import becomes
from tests.dashboard.test_running import DEADLOCK, TASKS
from tests.runs.recorded_programs import python

if TYPE_CHECKING:
    from playwright.sync_api import Page

DESK, PHONE = (1440, 900), (390, 844)

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


BASKET = """\
class Basket:
    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def add(self, name, price):
        self.items.append((name, price))

    def total(self, discount):
        result = 0.0
        for name, price in self.items:
            result += price
        return result - discount


basket = Basket("ann")
basket.add("tea", 7.0)
basket.add("cake", 3.5)
print("total:", basket.total(1))
"""

CROWD = """\
import subprocess
import sys
import threading

CHILD = "import time; time.sleep(10_000)"


def handle(order):
    raise ValueError(f"no tea in {order}")


waits = threading.Event()
children = [subprocess.Popen([sys.executable, "-c", CHILD]) for _ in range(3)]
threads = [threading.Thread(target=waits.wait, name=f"till-{number}", daemon=True) for number in range(2)]
threads.append(threading.Thread(target=handle, args=(7,), name="shop"))
for each in threads:
    each.start()
waits.wait()
"""

SUM = """\
def total(limit):
    amount = 0
    for number in range(limit):
        amount += number
    return amount


total(1000)
"""

ORDERS = """\
#include <string>
#include <vector>

struct Order { std::string who; double price; };

double paid(const std::vector<Order>& orders) {
    double sum = 0;
    for (const auto& order : orders)
        sum += order.price;
    return sum;
}

int main() {
    std::vector<Order> orders{{"ann", 7.5}, {"bob", 2.5}};
    return paid(orders) > 9;
}
"""

SERVE = """\
def serve(order):
    paid = order * 7
    return paid


serve(NUMBER)
"""


IN_SIGHT = """(nodes) => nodes.some((node) => {
  const lines = [...node.getClientRects()];
  return lines.length > 0 && lines.every(({left, width, top, height}) => [0.05, 0.9].every((part) => {
    const there = document.elementFromPoint(left + width * part, top + height / 2);
    return there !== null && node.contains(there);
  }));
})"""
"""Whether one of these is in the window as far as nine tenths of it, and nothing is before it."""


def in_sight(page: "Page", *texts: str | re.Pattern[str], screens: tuple[tuple[int, int], ...] = (DESK, PHONE)) -> None:
    """Assert that each of these texts is in the window of a desk, and in that of a phone, without scrolling."""
    for width, height in screens:
        page.set_viewport_size({"width": width, "height": height})
        for text in texts:
            found = page.get_by_text(text)
            try:
                becomes(partial(found.evaluate_all, IN_SIGHT), True)
            except AssertionError as error:
                raise AssertionError(f"{text} is not in sight at {width}x{height}") from error


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


def test_of_a_small_program_where_it_is_what_changed_and_what_the_agent_asked_is_in_sight(
    agent: Agent, open_page: OpenPage
) -> None:
    (agent.directory / "basket.py").write_text(BASKET)
    agent.call("debug_launch", program="basket.py", breakpoints=[{"file": "basket.py", "line": 12}])
    agent.call("debug_continue")
    agent.call("evaluate_safe", expression="self.owner")
    page = open_page(agent.url(OBSERVE_TOKEN))
    in_sight(page, "Paused at a breakpoint", "stop 2", "basket.py:12 in total", "result += price")
    in_sight(page, re.compile("^3.5$"), "before: 7.0", "evaluate_safe", "expression: self.owner", "'ann'")


def test_which_of_several_threads_and_processes_failed_and_of_what_is_in_sight(
    agent: Agent, open_page: OpenPage
) -> None:
    (agent.directory / "crowd.py").write_text(CROWD)
    agent.call("debug_launch", program="crowd.py", stop_at_entry=False)
    page = open_page(agent.url(OBSERVE_TOKEN))
    in_sight(page, "Paused: ValueError", "no tea in 7", "crowd.py:9 in handle", "raise ValueError(")
    in_sight(page, "shop, 1 of 4 threads · crowd.py, 1 of 4 processes", re.compile("^7$"), "debug_launch")
    in_sight(page, "crowd.py child 1", "crowd.py child 3", "till-1", screens=(DESK,))


def test_of_five_hundred_steps_where_they_have_led_is_in_sight(agent: Agent, open_page: OpenPage) -> None:
    (agent.directory / "sum.py").write_text(SUM)
    agent.call("debug_launch", program="sum.py", breakpoints=[{"file": "sum.py", "line": 3}])
    agent.call("breakpoint_remove", id="*")
    for _ in range(499):
        agent.call("debug_step")
    page = open_page(agent.url(OBSERVE_TOKEN))
    in_sight(page, "Paused after a step", "stop 500", "sum.py:4 in total", re.compile("^30876$"))
    in_sight(page, "before: 248", "debug_step × 498", "number 0 → 249, amount 0 → 30876")  # noqa: RUF001


def test_of_a_program_in_cpp_the_same_is_in_sight(agent: Agent, open_page: OpenPage) -> None:
    if not (shutil.which("gdb") and shutil.which("g++")):
        pytest.skip("gdb and g++ are not installed")
    (agent.directory / "orders.cpp").write_text(ORDERS)
    subprocess.run(["g++", "-g", "-O0", "orders.cpp", "-o", "orders"], cwd=agent.directory, check=True)
    agent.call("breakpoint_set", file="orders.cpp", line=10)
    agent.call("debug_launch", program="orders", stop_at_entry=False)
    page = open_page(agent.url(OBSERVE_TOKEN))
    in_sight(page, "Paused at a breakpoint", "stop 1", "orders.cpp:10 in paid", "return sum;", re.compile("^10$"))
    in_sight(page, "[Order(…), Order(…)]", "debug_launch")
    in_sight(page, "program: orders, stop_at_entry: no", "main", screens=(DESK,))


def test_which_of_seven_programs_is_shown_and_that_there_are_more_is_in_sight(
    agent: Agent, open_page: OpenPage
) -> None:
    for number in range(1, 8):
        name = f"shop{number}.py"
        (agent.directory / name).write_text(SERVE.replace("NUMBER", str(number)))
        breakpoints: list[dict[str, Any]] = [{"file": name, "line": 3}]
        agent.call("debug_launch", program=name, breakpoints=breakpoints, new_session=number > 1)
    page = open_page(agent.url(OBSERVE_TOKEN))
    in_sight(page, "Paused at a breakpoint", "shop7.py:3 in serve", "shop7.py, 1 of 7 processes", re.compile("^49$"))
    in_sight(page, *(f"shop{number}.py" for number in range(1, 8)), "7 processes", screens=(DESK,))
