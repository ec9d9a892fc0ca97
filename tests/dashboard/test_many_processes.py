"""A thousand processes on the page: a cell for each, by label and by where they are, and their stacks as one tree."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.dashboard.agent import CONTROL_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import becomes, two_frames
from tests.dashboard.looks import in_every_look

if TYPE_CHECKING:
    from playwright.sync_api import Page

FLEET = """\
import sys
import trio
from trio_debugmcp.testing import FakeFleet

async def main(address, token, number):
    async with FakeFleet(address, token, int(number), hosts=("a1", "a2")) as fleet:
        fleet.workers[7].frames = [("load_batch", "/job/data.py", 31), ("<module>", "/job/train.py", 9)]
        await fleet.connected()
        print("connected", flush=True)
        await trio.to_thread.run_sync(sys.stdin.read)

trio.run(main, *sys.argv[1:])
"""

A_THOUSAND = """
async () => {
  const {createProcesses} = await import('/program/processes_panel.js');
  const {keepArranged} = await import('/view/arrange.js');
  const {Store} = await import('/store.js');
  const {initialState} = await import('/session.js');
  const store = new Store(initialState());
  const process = (_, rank) => ({
    sessionId: `s-${rank + 2}`, processId: 9000 + rank, processName: '/job/train.py', state: 'Running',
    pauseReason: null, currentLocation: null, parentSessionId: 's-1',
    labels: {rank: String(rank), host: `a${rank % 8}`, world_size: '1000'},
  });
  const door = {
    sessionId: 's-1', processId: null, processName: null, state: 'Running', pauseReason: null,
    currentLocation: null, parentSessionId: null, labels: {},
  };
  window.all = [door, ...Array.from({length: 1000}, process)];
  window.chosen = [];
  window.looks = 0;
  window.draw = (changed = {}) => {
    window.all = window.all.map((each) => ({...each, ...changed[each.sessionId]}));
    store.update({active: true, session: window.all[1], sessions: {sessions: window.all, focus: 's-2'}});
  };
  window.look = (fleet) => store.update({fleet});
  const counted = async () => { window.looks += 1; };
  keepArranged();
  createProcesses(store, (id) => window.chosen.push(id), counted);
  window.draw();
}
"""

PAUSED = """
{'s-9': {state: 'Paused', pauseReason: 'Breakpoint', currentLocation: {file: '/job/data.py', line: 31}},
 's-10': {state: 'Paused', pauseReason: 'Exception', currentLocation: {file: '/job/data.py', line: 40}}}
"""

CHANGES = """
async (paused) => {
  const changed = new Set();
  const note = (changes) => changes.forEach(({target}) => {
    const at = target instanceof Element ? target : target.parentElement;
    changed.add(at.closest('.cell')?.dataset.key ?? at.className);
  });
  const observer = new MutationObserver(note);
  const options = {subtree: true, childList: true, characterData: true, attributes: true};
  observer.observe(document.querySelector('.process-grid'), options);
  window.draw(paused);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  note(observer.takeRecords());
  observer.disconnect();
  return [...changed].sort();
}
"""


def test_of_a_thousand_processes_each_is_a_cell_and_a_stop_draws_its_own_only(still_page: "Page") -> None:
    from playwright.sync_api import expect

    page = still_page
    page.evaluate(A_THOUSAND)
    cells, told = page.locator(".cell"), page.locator(".cell-told")
    expect(cells).to_have_count(1000)
    expect(page.locator("#children-note")).to_have_text("1000 processes")
    expect(page.locator("#children .row")).to_have_count(0)
    expect(page.locator(".cell-head")).to_have_text([f"host a{n} · 125" for n in range(8)])
    expect(page.locator(".cell-legend")).to_have_text("▸ 1000 running")
    assert page.evaluate(CHANGES, page.evaluate(f"({PAUSED})")) == ["cell-legend", "s-10", "s-9"]
    expect(page.locator(".cell-legend")).to_have_text("! 1 at an exception · ● 1 at a breakpoint · ▸ 998 running")
    expect(page.locator(".cell[data-key=s-9]")).to_have_text("●")
    expect(page.get_by_role("option", name="rank 8, host a0")).to_have_text("!")

    # What it is, where the pointer or the focus is.
    page.locator(".cell[data-key=s-9]").hover()
    expect(told).to_have_text(
        "rank 7, host a7 · train.py · s-9 · pid 9007 · paused at a breakpoint · data.py:31",
    )
    page.locator(".cell[data-key=s-9]").click()
    becomes(lambda: page.evaluate("window.chosen"), ["s-9"])


def test_the_keys_lead_through_the_cells_and_choose_one(still_page: "Page") -> None:
    from playwright.sync_api import expect

    page = still_page
    page.set_viewport_size({"width": 390, "height": 900})
    page.evaluate(A_THOUSAND)
    expect(page.locator(".cell")).to_have_count(1000)
    assert page.locator(".cell[tabindex='0']").count() == 1
    focused = page.locator(".cell:focus")
    page.locator(".cell[tabindex='0']").focus()
    expect(focused).to_have_attribute("data-key", "s-2")
    page.keyboard.press("ArrowRight")
    expect(focused).to_have_attribute("data-key", "s-10")
    page.keyboard.press("ArrowDown")
    below = page.evaluate(
        """() => {
          const cells = [...document.querySelectorAll('.cell')];
          const [at, from] = [document.activeElement, cells[1]];
          const rows = [...new Set(cells.map((each) => each.offsetTop))];
          return [rows.indexOf(at.offsetTop), at.offsetLeft === from.offsetLeft];
        }"""
    )
    assert below == [1, True]
    page.keyboard.press("ArrowUp")
    expect(focused).to_have_attribute("data-key", "s-10")
    page.keyboard.press("End")
    expect(focused).to_have_attribute("data-key", "s-1001")
    expect(page.locator(".cell-told")).to_contain_text("rank 999")
    page.keyboard.press("Enter")
    becomes(lambda: page.evaluate("window.chosen"), ["s-1001"])
    # A change draws neither the cell that has the focus anew, nor another into its place.
    page.evaluate(f"window.draw({PAUSED})")
    two_frames(page)
    expect(focused).to_have_attribute("data-key", "s-1001")


def test_cells_are_grouped_by_state_and_by_where_a_look_has_seen_them(still_page: "Page") -> None:
    from playwright.sync_api import expect

    page = still_page
    page.evaluate(A_THOUSAND)
    heads, by = page.locator(".cell-head"), page.get_by_label("Grouped by")
    expect(by.get_by_role("option")).to_have_text(["host", "nothing", "state", "where they are"])
    page.evaluate(f"window.draw({PAUSED})")
    by.select_option("state")
    expect(heads).to_have_text(["at a breakpoint · 1", "at an exception · 1", "running · 998"])
    by.select_option("nothing")
    expect(heads).to_have_count(0)
    expect(page.locator(".cell")).to_have_count(1000)
    assert page.evaluate("window.looks") == 0
    by.select_option("where they are")
    becomes(lambda: page.evaluate("window.looks"), 1)
    page.evaluate(
        """() => {
          const seen = (rank) => ({
            location: {file: '/job/dist.py', line: rank === 3 ? 90 : 88, functionName: 'all_reduce'},
            waitsFor: 'an event',
          });
          const processes = new Map(window.all.slice(1).map(({sessionId}, rank) => [sessionId, seen(rank)]));
          window.look({at: Date.now(), processes, tree: [], totalBranches: 0, problem: ''});
        }"""
    )
    expect(heads).to_have_text(
        ["data.py:31 · 1", "data.py:40 · 1", "in all_reduce dist.py:90 · 1", "in all_reduce dist.py:88 · 997"]
    )
    page.locator(".cell[data-key=s-5]").hover()
    expect(page.locator(".cell-told")).to_have_text(
        re.compile("rank 3.* in all_reduce dist.py:90 · waits for an event$")
    )


def test_five_hundred_branches_of_stacks_fold_and_lead_to_a_process(still_page: "Page") -> None:
    from playwright.sync_api import expect

    page = still_page
    page.evaluate(A_THOUSAND)
    page.get_by_role("button", name="Stacks").click()
    becomes(lambda: page.evaluate("window.looks"), 1)
    expect(page.locator(".stack-tree")).to_contain_text("Looking…")
    page.evaluate(
        """() => {
          const frame = (name, line) => ({name, location: {file: '/job/<b>train.py', line}});
          const branch = (depth, count, who, frames, first) => ({depth, count, who, frames, sessionIds: [first]});
          const tree = [
            branch(0, 1000, 'rank 0-999', ['<module>', 'main', 'run', 'fit', 'epoch', 'step'].map(frame), 's-2'),
            branch(1, 1, 'rank 3: s-5', [frame('load_batch', 31)], 's-5'),
            ...Array.from({length: 498}, (_, n) => branch(1, 2, `rank ${n}`, [frame(`f${n}`, n)], `s-${n}`)),
          ];
          window.look({at: Date.now(), processes: new Map(), tree, totalBranches: 1200, problem: ''});
        }"""
    )
    rows = page.get_by_role("treeitem")
    expect(rows).to_have_count(500)
    expect(page.locator(".stack-tree .note").first).to_contain_text(", 700 more branches")
    expect(rows.first).to_contain_text(re.compile("<module> . main . … 2 more . epoch . step"))
    expect(page.locator(".stack-tree b")).to_have_count(0)
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(":focus")).to_contain_text("load_batch")
    page.keyboard.press("Enter")
    becomes(lambda: page.evaluate("window.chosen"), ["s-5"])
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    expect(rows).to_have_count(1)
    expect(rows.first).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowRight")
    expect(rows).to_have_count(500)


@contextmanager
def a_fleet(door: dict[str, Any], number: int) -> Iterator[None]:
    """Processes that dial in, of which rank 7 is elsewhere."""
    command = [sys.executable, "-c", FLEET, door["address"], door["token"], str(number)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as fleet:
        assert fleet.stdout is not None
        assert fleet.stdout.readline() == "connected\n"
        yield
        fleet.communicate()


def test_a_fleet_that_dials_in_is_a_grid_that_leads_to_the_rank_that_is_elsewhere(
    agent: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page = open_page(agent.url(CONTROL_TOKEN))
    expect(page.locator("#link")).to_have_text("Live")
    door = agent.call("debug_listen")
    with a_fleet(door, 30):
        expect(page.locator(".cell")).to_have_count(30)
        expect(page.locator(".cell-head")).to_have_text(["host a1 · 15", "host a2 · 15"])
        page.get_by_role("button", name="Stacks").click()
        row = page.get_by_role("treeitem").filter(has_text="load_batch")
        expect(row).to_contain_text(re.compile(r"1.*load_batch.*rank 7 on a1: s-\d+"))
        expect(page.get_by_role("treeitem").last).to_contain_text("29")
        in_every_look(page, "#children-panel")
        row.click()
        expect(page.locator("#whose")).to_have_text("train.py rank 7, 1 of 30 processes")
        page.get_by_role("button", name="Stacks").click()
        expect(page.locator(".cell[aria-selected=true]")).to_have_accessible_name(re.compile("^rank 7, host a1 · "))
        agent.call("debug_pause", group="rank=0-7")
        expect(page.locator(".cell-legend")).to_have_text("■ 8 paused · ▸ 22 running")
        in_every_look(page, "#children-panel")
    expect(page.locator("#children-panel")).to_be_hidden()
