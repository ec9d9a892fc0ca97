"""What a program did, as pictures: each with the keys alone, as a list, and without a violation."""

import re
from typing import TYPE_CHECKING, Any

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import eventually
from tests.dashboard.looks import in_every_look
from tests.dashboard.test_accessibility import violations

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

WORKERS = """\
import threading


def work(number):
    total = number + 1
    return total


workers = [threading.Thread(target=work, args=(n,), name=f"w-{n} <b>") for n in range(2)]
for each in workers:
    each.start()
    each.join()
"""


def timeline(page: "Page", name: str) -> "Locator":
    """Choose a view of the timeline; return its panel."""
    panel = page.locator(".panel.timeline")
    panel.get_by_role("tab", name=name).click()
    return panel


def said(panel: "Locator") -> "Locator":
    """What the keys are at in a picture, as screen readers say it."""
    return panel.locator(".spans:visible > [role=option]")


def painted(panel: "Locator") -> int:
    """How many colours there are on the canvas of a picture."""
    count: int = panel.locator(".spans:visible canvas").evaluate(
        """(canvas) => {
          const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer)).size;
        }"""
    )
    return count


def test_each_process_and_thread_and_client_has_a_track_that_keys_lead_through(
    agent: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "workers.py").write_text(WORKERS)
    stops: list[dict[str, Any]] = [{"file": "workers.py", "line": 5}]
    page = open_page(agent.url(OBSERVE_TOKEN))
    expect(page.locator("#link")).to_have_text("Live")
    agent.call("debug_launch", program="workers.py", breakpoints=stops)
    agent.call("debug_continue")
    expect(page.locator("#state")).to_contain_text("Paused")
    expect(page.locator("#threads")).to_contain_text("w-1")
    panel = timeline(page, "Tracks")
    expect(page.locator("#timeline")).to_be_hidden()
    panel.get_by_role("listbox", name="Tracks").focus()
    page.keyboard.press("ArrowDown")
    expect(said(panel)).to_have_text(re.compile(r"Process workers.py \(s-1\), \d threads"))
    page.keyboard.press("Enter")
    expect(said(panel)).to_have_text(re.compile(", folded$"))
    page.keyboard.press("ArrowDown")
    expect(said(panel)).to_contain_text("Client agent")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(said(panel)).not_to_contain_text("folded")
    page.keyboard.press("End")
    expect(said(panel)).to_contain_text("Paused at a breakpoint, workers.py:5 · stop 2")
    eventually(lambda: painted(panel), lambda colours: colours > 5)

    # Zoom and all of it again; the tracks of threads, and the stop to which Enter leads.
    for key in ("+", "a", "d", "-", "0"):
        page.keyboard.press(key)
    page.keyboard.press("PageDown")
    expect(said(panel)).to_contain_text("agent: debug_continue")
    page.keyboard.press("PageUp")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(said(panel)).to_contain_text("stop 1")
    page.keyboard.press("Enter")
    expect(page.locator("#past")).to_contain_text("Stop 1")
    page.keyboard.press("Escape")
    expect(page.locator("#past")).to_be_hidden()

    # The same as a list; a name is text.
    panel.get_by_role("button", name="List").click()
    lines = panel.get_by_role("listbox", name="as a list").get_by_role("option")
    expect(lines.filter(has_text="w-1 <b>").first).to_contain_text("stop")
    expect(panel.locator("b")).to_have_count(0)
    lines.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#past")).to_contain_text("Stop 1")
    assert violations(page, "tracks as a list", (390,)) == []
    panel.get_by_role("button", name="List").click()
    in_every_look(page, ".panel.timeline")


def test_the_calls_are_a_waterfall_that_says_where_the_time_went(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    page = open_page(agent.url(CONTROL_TOKEN))
    expect(page.locator("#link")).to_have_text("Live")
    agent.call("debug_launch", program="app.py", breakpoints=[{"file": "app.py", "line": 4}])
    agent.call("debug_continue")
    agent.request("tools/call", name="evaluate", arguments={"expression": "nothing_of_the_kind"})
    expect(page.locator("#story")).to_contain_text("EVAL_FAILED")
    panel = timeline(page, "Calls")
    expect(panel.locator("header")).to_contain_text(re.compile("between calls · .* program running · .* answering"))
    panel.get_by_role("listbox", name="Calls").focus()
    page.keyboard.press("PageDown")
    expect(said(panel)).to_have_text(re.compile("evaluate by agent, .*EVAL_FAILED"))
    page.keyboard.press("Enter")
    expect(page.locator("#event")).to_contain_text("nothing_of_the_kind")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    expect(said(panel)).to_contain_text("debug_continue")
    eventually(lambda: painted(panel), lambda colours: colours > 5)
    in_every_look(page, ".panel.timeline")
    page.reload()
    expect(panel.get_by_role("tab", name="Calls")).to_have_attribute("aria-selected", "true")


FOLDED = """
async () => {
  const {tracksOf} = await import('/pictures/tracks.js');
  const event = (type, sessionId, parentSessionId, threadId) =>
    ({eventId: 1, timestamp: '2026-01-01T00:00:00Z', type, threadId, payload: {sessionId, parentSessionId}});
  const facts = {processes: new Map(), names: new Map(), waits: new Map()};
  const rows = (count, closed) => {
    const events = Array.from({length: count}, (_, n) => [
      event('sessionStarted', `s-${n + 1}`, n ? 's-1' : null, null),
      event('threadStarted', `s-${n + 1}`, n ? 's-1' : null, 7),
    ]);
    return tracksOf(events.flat(), (moment) => moment, 2e9, facts, new Map(closed));
  };
  const told = (drawn) => [drawn.length, drawn.filter(({fold}) => fold?.closed).length];
  return {
    few: told(rows(12, [])), many: told(rows(1000, [])), opened: told(rows(1000, [['s-9', false]])),
    closed: told(rows(1000, [['s-1', true]])), says: rows(1000, [])[3].says,
  };
}
"""


def test_the_tracks_of_a_thousand_processes_are_folded_and_those_below_one_with_it(still_page: "Page") -> None:
    found = still_page.evaluate(FOLDED)
    assert found["few"] == [24, 0]
    assert found["many"] == [1001, 999], "that of the process above is not"
    assert found["opened"] == [1002, 998]
    assert found["closed"] == [1, 1]
    assert found["says"].endswith(", folded")


HELD = """\
class Basket:
    def __init__(self):
        self.items = [{"price": number} for number in range(60)]


class Order:
    def __init__(self, basket):
        self.basket = basket
        self.note = "<b>tea</b>"


basket = Basket()
orders = [Order(basket) for _ in range(3)]
held = basket
print(held)
"""


def test_what_holds_an_object_is_a_graph_that_the_keys_lead_through(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "held.py").write_text(HELD)
    agent.call("debug_launch", program="held.py", breakpoints=[{"file": "held.py", "line": 15}])
    page = open_page(agent.url(OBSERVE_TOKEN))
    press, focused, dialog = page.keyboard.press, page.locator(":focus"), page.get_by_role("dialog")
    page.locator("#locals [data-path=held] > summary, #locals [data-path=held]:not(details)").click(button="right")
    page.get_by_role("menuitem", name="References").press("Enter")
    holders, parts = (dialog.get_by_role("list", name=name) for name in ("What refers to it", "What it refers to"))
    expect(focused).to_contain_text("heldBasket(items=")
    expect(holders.get_by_role("listitem")).to_have_count(4)
    expect(holders).to_contain_text(".basket of orders[1]")
    expect(holders).to_contain_text("<b>tea</b>")
    expect(holders).to_contain_text("global of __main__")
    expect(dialog.locator("b")).to_have_count(0)
    expect(dialog.locator(".arrows path")).to_have_count(5)
    in_every_look(page, "dialog")

    # Into a holder, back, into a part; of many parts some are drawn, and the rest is offered.
    holders.locator(".node").filter(has_text="orders[1]").focus()
    press("Enter")
    expect(focused).to_have_text(re.compile(r"^orders\[1\]Order\("))
    dialog.get_by_role("button", name="Back").press("Enter")
    expect(focused).to_have_text(re.compile(r"^heldBasket\("))
    press("End")
    expect(focused).to_contain_text(".items")
    press("Enter")
    expect(focused).to_have_text(re.compile(r"^held\.items\[{"))
    expect(dialog.get_by_role("status")).to_contain_text("1 to it, 60 from it")
    expect(parts.get_by_role("listitem")).to_have_count(10)
    dialog.get_by_role("button", name="50 more").press("Enter")
    expect(focused).to_contain_text("[10]{'price': 10}")
    expect(dialog.locator(".arrows path")).to_have_count(61)
    press("Escape")
    expect(dialog).to_have_count(0)
    assert "references_get" not in page.locator("#story").inner_text()


def test_a_hundred_thousand_events_of_a_thousand_threads_are_drawn_as_far_as_they_are_seen(
    still_page: "Page",
) -> None:
    found = still_page.evaluate(
        """async () => {
          const {SpanPicture} = await import('/pictures/span_picture.js');
          const {tracksOf} = await import('/pictures/tracks.js');
          const {timeAxis} = await import('/pictures/time_axis.js');
          const at = (n) => new Date(1e12 + n * 10).toISOString();
          const payload = {sessionId: 's-1', processName: 'p'};
          const events = [{eventId: 1, timestamp: at(0), type: 'sessionStarted', threadId: null, payload}];
          for (let n = 0; n < 100000; n += 1) {
            const type = n < 1000 ? 'threadStarted' : n % 2 ? 'continued' : 'stopped';
            const payload = {sessionId: 's-1', stop: n};
            events.push({eventId: n + 2, timestamp: at(n), type, threadId: n % 1000, payload});
          }
          const facts = {processes: new Map(), names: new Map(), waits: new Map()};
          const axis = timeAxis(events.map(({timestamp}) => Date.parse(timestamp) / 1000));
          const rows = tracksOf(events, axis.place, 1e9 + 1000, facts);
          const picture = new SpanPicture({label: 'Tracks', empty: '', onChoose: () => undefined});
          document.querySelector('main').before(picture.node);
          picture.show({rows, from: 0, to: axis.to, tick: axis.tick});
          const frame = () => new Promise(requestAnimationFrame);
          await frame();
          picture.asList.click();
          const line = () => picture.node.querySelector('.span-list [role=option]');
          for (let frames = 0; frames < 600 && !line(); frames += 1) await frame();
          const lines = picture.node.querySelectorAll('.span-list [role=option]');
          return {rows: rows.length, spans: rows[0].spans.length, lines: lines.length, size: lines[0].ariaSetSize};
        }"""
    )
    assert (found["rows"], found["spans"]) == (1001, 99001)
    assert found["lines"] < 200
    assert int(found["size"]) > 100_000
