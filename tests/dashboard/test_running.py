"""A program that does not stop: where its threads and tasks are, and what they wait for."""

import re
from typing import TYPE_CHECKING

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import becomes
from tests.dashboard.looks import in_every_look
from tests.dashboard.test_accessibility import violations

if TYPE_CHECKING:
    from playwright.sync_api import Page

DEADLOCK = """\
import threading

a, b, c = threading.Lock(), threading.Lock(), threading.Lock()
ready = threading.Barrier(3)


def hold(first, second):
    with first:
        ready.wait()
        with second:
            print("never")


pairs = {"ab": (a, b), "bc": (b, c), "ca": (c, a)}
threads = [threading.Thread(target=hold, args=pair, name=name, daemon=True) for name, pair in pairs.items()]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

CUT = "(nodes) => nodes.map(({scrollWidth, clientWidth}) => scrollWidth > clientWidth)"
"""Whether more is in these than can be seen."""

TASKS = """\
import asyncio


async def fetch(lock):
    async with lock:
        await asyncio.sleep(10_000)


async def main():
    lock = asyncio.Lock()
    fetching = [asyncio.create_task(fetch(lock), name=f"fetch-{number}") for number in range(200)]
    await asyncio.gather(*fetching)


asyncio.run(main())
"""

WAITS = """\
from pathlib import Path
import time

while not Path("go").exists():
    time.sleep(0.05)
print("gone on")
"""


def test_a_dead_lock_is_in_the_headline_and_drawn_as_a_ring(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "locks.py").write_text(DEADLOCK)
    page, observer = open_page(agent.url(CONTROL_TOKEN)), open_page(agent.url(OBSERVE_TOKEN))
    agent.call("debug_launch", program="locks.py", stop_at_entry=False, wait=False)
    for each in (observer, page):
        expect(each.locator("#state")).to_have_text("Dead-locked: ab → bc → ca → ab")
        expect(each.locator("#threads .row")).to_have_count(4)
        expect(each.locator("#threads-note")).to_have_text("where they are now")
        expect(each.locator("#threads .row").nth(1)).to_contain_text("locks.py:10")
        expect(each.locator("#empty")).to_contain_text("bc at locks.py:10 waits for")
    details = page.locator("#threads .row:not(:first-child) .detail")
    becomes(lambda: details.evaluate_all(CUT), [False, False, False])
    expect(page.get_by_role("img", name="ab waits for")).to_be_visible()
    expect(page.locator(".ring svg")).to_have_attribute("aria-label", re.compile("ca waits for"))

    # A thread leads to where it is, without a pause; and a pause that stops nothing says why.
    page.locator("#threads .row").filter(has_text="MainThread").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".line.looked-at")).to_contain_text("with second:")
    expect(page.locator("#stack-note")).to_contain_text("seen at")
    page.keyboard.press("F6")
    expect(page.locator("#notice")).to_contain_text("Every thread waits, so the program cannot be paused now.")
    assert violations(page, "dead-locked", (320,)) == []
    in_every_look(page, "section:has(> #threads)")

    # It is about this program: the next one has none of it.
    agent.call("debug_launch", program="app.py", stop_at_entry=True, replace=True)
    expect(page.locator("#state")).to_contain_text("Paused")
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator(".ring")).to_have_count(0)


def test_tasks_are_seen_while_they_wait_and_looking_leaves_nothing_on_the_timeline(
    agent: Agent, observer_page: "Page"
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "tasks.py").write_text(TASKS)
    agent.call("debug_launch", program="tasks.py", stop_at_entry=False, wait=False)
    note, rows = observer_page.locator("#tasks-note"), observer_page.locator("#tasks .row")
    expect(note).to_have_text("201 tasks now")
    # A hundred and more that wait for the same are one row.
    expect(rows).to_have_count(3)
    expect(rows.filter(has_text="asyncio.sleep(10000)")).to_contain_text("fetch-0")
    expect(rows.filter(has_text="fetch-1 … fetch-199")).to_contain_text("lock")
    expect(observer_page.locator("#where")).to_contain_text("MainThread waits for")
    rows.filter(has_text="asyncio.sleep(10000)").click()
    expect(observer_page.locator(".line.looked-at")).to_contain_text("await asyncio.sleep(10_000)")
    in_every_look(observer_page, "#tasks-panel")
    called = {each["tool"] for each in agent.tool_calls()}
    assert not called & {"threads_list", "tasks_list"}


def test_what_is_now_makes_room_for_the_stop(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "waits.py").write_text(WAITS)
    page = open_page(agent.url(OBSERVE_TOKEN))
    agent.call("debug_launch", program="waits.py", stop_at_entry=True)
    agent.call("breakpoint_set", file="waits.py", line=6)
    agent.call("debug_continue", wait=False)
    expect(page.locator("#threads-note")).to_have_text("where they are now")
    expect(page.locator("#threads .row")).to_contain_text("MainThread")
    expect(page.locator("#state")).to_have_text("Running")
    (agent.directory / "go").touch()
    expect(page.locator("#where")).to_contain_text("waits.py:6")
    expect(page.locator("#threads-note")).to_have_text("")
    expect(page.locator("#tasks-panel")).to_be_hidden()


BUSY = """\
total = 0
while True:
    total += 1
"""

STILL = """\
import time

time.sleep(10_000)
"""


def test_what_each_process_uses_of_a_processor_is_seen_while_it_runs(agent: Agent, observer_page: "Page") -> None:
    from playwright.sync_api import expect

    page, rows = observer_page, observer_page.locator("#children .row")
    (agent.directory / "busy.py").write_text(BUSY)
    (agent.directory / "still.py").write_text(STILL)
    agent.call("debug_launch", program="still.py", stop_at_entry=False, wait=False)
    agent.call("debug_launch", program="busy.py", stop_at_entry=False, wait=False, new_session=True)
    expect(rows.filter(has_text="busy.py").locator(".cpu")).to_have_text(re.compile(r"^[1-9]\d* % CPU$"))
    expect(rows.filter(has_text="still.py").locator(".cpu")).to_have_text("0 % CPU")
    expect(page.locator("#facts")).to_contain_text(re.compile(r"Uses\s*\d+ % CPU"))
    in_every_look(page, "#children-panel")
    agent.call("debug_pause")
    expect(page.locator("#state")).to_contain_text("Paused")
    expect(page.locator("#facts")).not_to_contain_text("CPU")
    expect(rows.filter(has_text="busy.py").locator(".cpu")).to_have_text("")
