"""Whatever a program has said is text in what shows it while it runs, in pictures, and in a recorded run."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.test_only_text import HOSTILE as TEXTS
from tests.dashboard.test_only_text import IMAGE, SVG, WATCHER
from tests.dashboard.test_pictures import said, timeline
from tests.runs.recorded_programs import python

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

WAITS = """\
import asyncio, threading
HOSTILE = TEXTS
a, b, ready = threading.Lock(), threading.Lock(), threading.Barrier(2)
def hold(first, second):
    with first:
        ready.wait()
        with second:
            pass
hold.__code__ = hold.__code__.replace(co_name=HOSTILE[0])
pairs = ((a, b), (b, a))
for name, pair in zip(HOSTILE, pairs):
    threading.Thread(target=hold, args=pair, name=name, daemon=True).start()
async def fetch(lock):
    async with lock:
        await asyncio.sleep(10_000)
async def main():
    lock = asyncio.Lock()
    await asyncio.gather(*[asyncio.create_task(fetch(lock), name=HOSTILE[n]) for n in range(2)])
asyncio.run(main())
"""

FAILS = """\
HOSTILE = TEXTS
class Box:
    def __init__(self, items):
        self.items = items
def take(box, name):
    found = box.items[name]
    return found
def serve(texts):
    box = Box({each: each * 2 for each in texts})
    told = [take(box, each) for each in texts]
    assert told == texts, HOSTILE[0]
    return told
serve(HOSTILE[:3])
"""


def nothing_odd(page: "Page") -> None:
    assert page.evaluate("[window.__xss, troubles]") == [None, []]


@pytest.mark.usefixtures("own_profile")
def test_names_of_threads_tasks_and_processes_are_text_where_they_wait_and_in_pictures(
    agent: Agent, browser: "BrowserContext", open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    name = f"{IMAGE}.py"
    (agent.directory / name).write_text(WAITS.replace("TEXTS", repr(TEXTS)))
    browser.add_init_script(WATCHER)
    page, observer = open_page(agent.url(CONTROL_TOKEN)), open_page(agent.url(OBSERVE_TOKEN))
    for session in (False, True):
        agent.call("debug_launch", program=name, stop_at_entry=False, wait=False, new_session=session, say=SVG)
    for each in (page, observer):
        expect(each.locator("#state")).to_contain_text("Dead-locked: <img src=x")
        expect(each.locator("#threads")).to_contain_text(SVG)
        expect(each.locator("#tasks")).to_contain_text(IMAGE)
        expect(each.locator("#whose")).to_contain_text(f"{name} 2, 1 of 2 processes")
        expect(each.locator("#story .say").first).to_have_text(SVG)
        panel = timeline(each, "Tracks")
        panel.get_by_role("listbox", name="Tracks").press("ArrowDown")
        expect(said(panel)).to_contain_text(IMAGE)
        panel.get_by_role("button", name="List").click()
        expect(panel.get_by_role("listbox", name="as a list")).to_contain_text(IMAGE)
        timeline(each, "Calls").get_by_role("listbox", name="Calls").press("ArrowDown")
        nothing_odd(each)


@pytest.mark.usefixtures("own_profile")
def test_a_recorded_run_and_what_holds_an_object_are_text(
    agent: Agent, browser: "BrowserContext", open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    name = f"{IMAGE}.py"
    (agent.directory / name).write_text(FAILS.replace("TEXTS", repr(TEXTS)))
    browser.add_init_script(WATCHER)
    wanted: dict[str, Any] = {"record": True, "stop_at_entry": False, "adapter_options": {"python": [python(3, 13)]}}
    for _ in range(2):
        agent.call("debug_launch", program=name, stop_on_uncaught=False, **wanted)
    page = open_page(agent.url(OBSERVE_TOKEN))
    expect(page.locator("#runs")).to_contain_text(IMAGE)
    page.locator("#runs [data-key=run-1]").click()
    panel = page.locator("#run-panel")
    expect(panel.get_by_role("list", name="What led to it")).to_contain_text("<img src=x")
    expect(page.locator("#past .where")).to_contain_text(name)
    expect(page.locator("#locals")).to_contain_text("<img src=x")
    panel.get_by_role("tab", name="Calls").click()
    items = panel.get_by_role("treeitem")
    items.nth(1).press("ArrowRight")
    expect(items.locator(".said").last).to_contain_text("<")
    panel.get_by_role("tab", name="Flame").click()
    panel.get_by_role("listbox", name="Calls as a flame").press("End")
    panel.get_by_role("button", name="List").click()
    expect(panel.get_by_role("listbox", name="as a list")).to_contain_text("<img src=x")
    panel.get_by_role("tab", name="History").click()
    for asked in ("found", SVG, IMAGE):
        panel.get_by_label("A variable, an attribute").fill(asked)
        page.keyboard.press("Enter")
        expect(panel.get_by_role("status")).to_contain_text("3" if asked == "found" else "<")
    panel.get_by_role("tab", name="Compare").click()
    panel.get_by_label("The run that is as it should be").select_option("run-2")
    panel.get_by_role("button", name="Compare").click()
    expect(panel.get_by_role("status")).not_to_be_empty()
    nothing_odd(page)

    # At a stop: what refers to an object, by keys that are texts, in the graph.
    agent.call("debug_launch", program=name, stop_at_entry=False, breakpoints=[{"file": name, "line": 7}])
    panel.get_by_role("button", name="Close").click()
    expect(page.locator("#past")).to_be_hidden()
    expect(page.locator("#where")).to_contain_text(":7 in take")
    row = page.locator("#locals [data-path=box]")
    row.first.click(button="right")
    page.get_by_role("menuitem", name="References").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("items")
    dialog.locator(".node", has_text=".items").first.press("Enter")
    expect(dialog).to_contain_text(IMAGE[:12])
    page.keyboard.press("Escape")
    nothing_odd(page)
