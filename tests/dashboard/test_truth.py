"""The page shows what is so, and says what it does not show."""

import re
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import becomes, eventually, hold_time
from tests.dashboard.slow_server import EVERYTHING, SlowServer

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

MANY_HITS = """\
def visit(number):
    return number


for number in range(900):
    visit(number)
print("done")
"""


def test_a_page_that_comes_late_loads_the_whole_history(
    agent: Agent, own_profile: None, browser: "BrowserContext", open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "hits.py").write_text(MANY_HITS)
    agent.call("tracepoint_set", file="hits.py", line=2, log_message="{number}")
    agent.call("debug_launch", program="hits.py", breakpoints=[{"file": "hits.py", "line": 7}])
    server = SlowServer(browser)
    page = open_page(agent.url(OBSERVE_TOKEN), clock=True)

    note = page.locator("#timeline-note")
    expect(note).to_have_text(re.compile(r"^9\d\d events$"))  # its resource has the last 250
    expect(page.locator(".unloaded")).to_have_count(0)
    expect(page.locator(".mark.tracepoint")).not_to_have_count(0)

    # So does one whose connection is dead, as beyond a tunnel: the server answers others.
    whole = note.inner_text()
    server.hold(EVERYTHING)
    page.clock.run_for(10_000)
    expect(page.locator("#link")).to_have_text("No answer")
    page.clock.run_for(10_000)
    expect(page.locator("#link")).to_have_text("Connection lost")
    server.forget()
    page.clock.run_for(25_000)
    expect(page.locator("#link")).to_have_text("Live")
    expect(note).to_have_text(re.compile(r"^9\d\d events$"))
    eventually(lambda: int(note.inner_text().split()[0]), lambda count: count >= int(whole.split()[0]))
    expect(page.locator(".unloaded")).to_have_count(0)


def test_the_end_of_a_program_is_on_early_and_late_pages_when_another_follows_at_once(
    agent: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "fails.py").write_text("print('last words')\nraise SystemExit('out of stock')\n")
    early = open_page(agent.url(OBSERVE_TOKEN))
    expect(early.locator("#link")).to_have_text("Live")
    for _ in range(2):
        agent.call("debug_launch", program="fails.py", stop_at_entry=False, stop_on_uncaught=False)
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    late = open_page(agent.url(OBSERVE_TOKEN))
    for page in (early, late):
        expect(page.locator("#where")).to_contain_text("app.py:1")
        expect(page.locator("#story-note")).to_have_text("3 calls")
        calls = page.locator("#story .call", has_text="fails.py")
        expect(calls.locator(".result")).to_contain_text(["exited with 1", "exited with 1"])
        expect(page.locator("#story .chapter", has_text="Session started: fails.py")).to_have_count(2)
        expect(page.locator("#story")).not_to_contain_text(re.compile("not kept|not over yet"))
    notes = [page.locator("#timeline-note") for page in (early, late)]
    eventually(lambda: {note.inner_text() for note in notes}, lambda found: len(found) == 1)


def test_what_is_not_loaded_is_drawn_as_not_loaded_and_not_as_silence(still_page: "Page") -> None:
    from playwright.sync_api import expect

    page = still_page
    page.evaluate(
        """async () => {
          const {Store} = await import('/store.js');
          const {initialState} = await import('/session.js');
          const {createTimeline} = await import('/timeline/timeline.js');
          const {EventLog} = await import('/connection/eventlog.js');
          const store = new Store(initialState());
          const event = (eventId, second) => ({
            eventId, timestamp: new Date(second * 1000).toISOString(), type: 'stopped', threadId: 1,
            payload: {reason: 'Step', location: {file: 'a.py', line: eventId}},
          });
          const log = new EventLog(async () => undefined, (parts) => store.update(parts), () => []);
          log.resource({events: [event(1, 0), event(2, 0.1)], totalEvents: 2, eventsDropped: 0});
          await log.resource({events: [event(3001, 16), event(3002, 16.1)], totalEvents: 3002, eventsDropped: 0});
          createTimeline(store, {showEvent() {}});
        }"""
    )
    expect(page.locator(".unloaded title")).to_have_text("2998 not loaded")
    expect(page.locator(".silence")).to_have_count(0)
    expect(page.locator("#timeline-note")).to_have_text("4 events, 2998 not loaded yet")


LONG_SOURCE = """async () => {
  const {Store} = await import('/store.js');
  const {initialState} = await import('/session.js');
  const {createSource} = await import('/source/source.js');
  const lines = [`data = [${'1, '.repeat(333000)}]`];
  for (let number = 2; number <= 50000; number += 1) lines.push(`value_${number} = "<b>${number}</b>"`);
  const currentLocation = {file: '/a/long.py', line: 49990};
  const session = {state: 'Paused', currentLocation};
  const store = new Store({...initialState(), active: true, role: 'control', session});
  store.update({place: currentLocation});
  createSource(store, {toggleBreakpoint() {}}, async () => lines.join('\\n'));
  window.storeOfTest = store;
}"""


def test_a_source_of_any_length_scrolls_and_a_line_of_a_million_characters_is_cut_and_counted(
    still_page: "Page",
) -> None:
    from playwright.sync_api import expect

    page = still_page
    page.evaluate(LONG_SOURCE)

    current = page.locator(".line.current")
    expect(current).to_contain_text('49990value_49990 = "<b>49990</b>"')
    expect(current).to_have_attribute("aria-setsize", "50000")
    expect(current).to_be_in_viewport()
    eventually(page.locator("#source .line").count, lambda count: 0 < count < 200)

    gutter = current.locator(".gutter")
    gutter.focus()
    page.keyboard.press("Home")
    first = page.locator(".line").first
    expect(first.locator(".cut")).to_have_text("… 2000 of 999009 characters")
    expect(page.locator(".gutter:focus .number")).to_have_text("1")
    page.locator("#source").evaluate("source => source.scrollTop = 500_000")
    expect(page.locator(".gutter .number", has_text="25010")).to_be_in_viewport()
    expect(page.locator(".gutter:focus .number")).to_have_text("1")  # it stays where it is, out of sight
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".gutter:focus .number")).to_have_text("49999")
    expect(page.locator(".gutter:focus")).to_be_in_viewport()

    changed = page.evaluate(
        """async () => {
          for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame); // it has scrolled
          const rows = new Set();
          const observer = new MutationObserver((found) => {
            for (const {target} of found) {
              rows.add((target.parentElement.closest('.line') ?? target).querySelector('.number')?.textContent);
            }
          });
          observer.observe(document.getElementById('source'), {attributes: true, childList: true, subtree: true});
          const breakpoint = {id: 'bp-1', type: 'Breakpoint', state: 'Bound', file: '/a/long.py', line: 49995};
          window.storeOfTest.update({breakpoints: {breakpoints: [breakpoint]}});
          await new Promise((resolve) => setTimeout(resolve, 50));
          return [...rows];
        }"""
    )
    assert changed == ["49995"]  # no other row was touched


@pytest.mark.usefixtures("own_profile")
def test_a_silent_server_is_reported_within_ten_seconds_and_a_button_without_an_answer_after_a_moment(
    agent: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page = open_page(agent.url(CONTROL_TOKEN), clock=True)
    trouble = page.locator("#trouble")
    expect(page.locator("#link")).to_have_text("Live")
    hold_time(page)  # or a slow test would be a server that is silent for longer
    agent.call("debug_launch", program="app.py", breakpoints=[{"file": "app.py", "line": 2}])
    expect(page.locator("#state")).to_contain_text("Paused")
    expect(page.locator("#late")).to_be_hidden()

    agent.freeze()
    try:
        page.get_by_role("button", name="Hold", exact=True).click()
        page.clock.run_for(1600)
        expect(page.locator("#late")).to_have_text("No answer yet to Hold.")
        page.keyboard.press("F10")
        page.clock.run_for(1600)
        expect(page.locator("#late")).to_have_text("No answer yet to the step.")
        expect(page.locator("#link")).to_have_text("Live")
        page.clock.run_for(6800)
        expect(page.locator("#link")).to_have_text("No answer")
        expect(trouble).to_have_text(re.compile(r"The server has not answered for \d+ s\. What you see is from "))
        seconds = silent_for(trouble)
        assert seconds >= 9
        page.clock.run_for(20_000)  # whatever it takes: nothing is lost yet
        eventually(lambda: silent_for(trouble), lambda now: now >= seconds + 19)
        expect(page.locator("#state")).to_contain_text("Paused")
        expect(page.locator("#late")).to_have_text("No answer yet to the step.")
        expect(page.locator("#notice")).to_be_hidden()
    finally:
        agent.thaw()
    page.clock.resume()
    expect(page.locator("#link")).to_have_text("Live")
    expect(trouble).to_be_hidden()
    expect(page.locator("#where")).to_contain_text("app.py:3")  # the step was made


def silent_for(trouble: "Locator") -> int:
    """For how many seconds the page says that the server has not answered."""
    return int(trouble.inner_text().partition(" for ")[2].split()[0])


CONNECTED = """async () => {
  const {Link} = await import('/connection/link.js');
  window.asked = [];
  window.fetch = async () => ({status: 426});
  window.WebSocket = class extends EventTarget {
    static OPEN = 1;
    readyState = 1;
    constructor() {
      super();
      window.socket = this;
    }
    hear(message) {
      this.dispatchEvent(new MessageEvent('message', {data: JSON.stringify(message)}));
    }
    send(text) {
      const {id, method} = JSON.parse(text);
      window.asked.push(method);
      if (method === 'initialize') this.hear({id, result: {}});
    }
    close() {
      this.dispatchEvent(Object.assign(new Event('close'), {reason: 'closed'}));
    }
  };
  window.said = [];
  const link = new Link({
    token: 'x', onOpen() {}, onNotification() {},
    onStatus: ({status, detail, silentSince}) => window.said.push(detail ?? (silentSince ? 'silent' : status)),
  });
  link.start();
  window.socket.dispatchEvent(new Event('open'));
}"""


@pytest.mark.usefixtures("own_profile")
def test_a_connection_on_which_something_comes_is_not_lost_nor_is_that_of_a_page_that_stood_still(
    server: Agent, open_page: OpenPage
) -> None:
    page = open_page(server.url(OBSERVE_TOKEN), clock=True, runs=False)
    hold_time(page)
    page.evaluate(CONNECTED)
    becomes(lambda: page.evaluate("said"), ["connecting", "open"])
    pings = partial(page.evaluate, "asked.filter((each) => each === 'ping').length")
    page.clock.run_for(8000)  # the first question is 4 s old by now
    assert pings() == 1
    page.evaluate("socket.hear({method: 'notifications/resources/updated', params: {}})")  # a long answer is on its way
    page.clock.run_for(3500)
    assert page.evaluate("said") == ["connecting", "open"]
    page.clock.run_for(1500)
    assert pings() == 2
    page.clock.fast_forward(60_000)  # as when the machine sleeps
    assert page.evaluate("said") == ["connecting", "open"]
    page.evaluate("asked.length = 0")
    page.clock.run_for(9000)
    becomes(lambda: page.evaluate("said"), ["connecting", "open", "silent"])
    becomes(pings, 2)  # once more, as the server has answered to a request by itself
    page.evaluate("socket.hear({method: 'notifications/resources/updated', params: {}})")
    assert page.evaluate("said") == ["connecting", "open", "silent", "open"]

    # Where nothing comes though it answers others, the connection is dead.
    page.clock.run_for(5000)
    page.evaluate("said.length = asked.length = 0")
    page.clock.run_for(9000)
    becomes(lambda: page.evaluate("said"), ["silent"])
    becomes(pings, 2)
    page.clock.run_for(5000)
    becomes(lambda: page.evaluate("said"), ["silent", "it does not answer"])

    # One that is closed while a question is open is lost once, and opened once more.
    page.evaluate("said.length = 0")
    page.clock.run_for(1000)
    page.evaluate("socket.dispatchEvent(new Event('open'))")
    becomes(lambda: page.evaluate("said"), ["open"])
    page.clock.run_for(4100)
    page.evaluate("socket.close()")
    page.evaluate("() => Promise.resolve()")
    assert page.evaluate("said") == ["open", "closed"]


LARGE = """\
def down(depth):
    if depth:
        return down(depth - 1)
    wide = "x    y\\t\\tz"
    big = "v" * 1_000_000
    many = list(range(10_000))
    table = Table()
    names = {f"var_{number:03}": number for number in range(120)}
    return locals_of_many(**names, wide=wide, big=big, many=many, table=table)


class Table:
    def __repr__(self):
        return "a   b\\n1   2"


VARIABLES


print("first line")
print("line of output\\n" * 20_000)
down(300)
"""


def large_program() -> str:
    """A program of which nothing fits: 302 frames, 124 locals, a value of a megabyte, 300 KB of output."""
    names = ", ".join(f"var_{number:03}" for number in range(120))
    function = (
        f"def locals_of_many(wide, big, many, table, {names}):\n"
        '    big = big + "y"\n'
        "    many[9_999] = 0\n"
        "    return big"
    )
    return LARGE.replace("VARIABLES", function)


def test_what_a_list_leaves_out_is_counted_and_offered_and_values_are_as_they_are(
    agent: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "large.py").write_text(large_program())
    lines = (agent.directory / "large.py").read_text().splitlines()
    first = next(number for number, line in enumerate(lines, 1) if line.startswith('    big = big + "y"'))
    agent.call("debug_launch", program="large.py", breakpoints=[{"file": "large.py", "line": first}])
    page = open_page(agent.url(CONTROL_TOKEN))

    # Locals: the first hundred, and the rest.
    more = page.locator("#locals > .more-row")
    expect(more).to_have_text("100 of 124, show more")
    more.click()
    expect(page.locator("#locals > .variable")).to_have_count(124)
    expect(more).to_have_count(0)

    # White space is the value's.
    wide = page.locator("#locals [data-path=wide] .value").first
    becomes(wide.inner_text, "'x    y\\t\\tz'")
    table = page.locator("#locals [data-path=table] .value").first
    expect(table).to_contain_text("a   b⏎1   2")
    expect(table).to_have_css("white-space", "pre")

    # Children: a page at a time.
    page.locator("#locals [data-path=many] > summary").click()
    inside = page.locator("#locals [data-path=many] > .inside")
    expect(inside.locator(".more-row")).to_have_text("200 of 10,000, show more")
    inside.locator(".more-row").click()
    expect(inside.locator(".more-row")).to_have_text("400 of 10,000, show more")

    # The stack, down to its root.
    expect(page.locator("#stack-note")).to_have_text("303 frames")
    page.get_by_role("button", name="20 of 303 shown. Show more").click()
    expect(page.locator("#stack [role=option]")).to_have_count(303)
    expect(page.locator("#stack [role=option]").last).to_contain_text("<module>")

    # The output, from the start.
    expect(page.locator("#output")).not_to_contain_text("first line")
    page.get_by_role("button", name=re.compile(r"Show [\d,]+ earlier piece")).click()
    expect(page.locator("#output")).to_contain_text("first line")
    output = page.locator("#output")
    becomes(lambda: output.evaluate("console => console.textContent").count("line of output\n"), 20_000)
    expect(page.locator(".earlier")).to_be_hidden()

    # A change behind the cut is a change, and what is left out is counted truly.
    agent.call("debug_step")
    big = page.locator("#locals [data-path=big]")
    expect(big).to_have_attribute("data-changed", "true")
    expect(big.locator(".value")).to_contain_text("(+999801 characters)")
    expect(page.locator("#locals-note")).to_have_text("1 changed of the first 100 since stop 1")
    agent.call("debug_step")
    many = page.locator("#locals [data-path=many]").first
    expect(many.locator("> summary .badge")).to_have_text("changed inside")
    expect(big).to_have_attribute("data-changed", "false")


BEYOND = """\
import threading


def down(depth):
    if depth:
        return down(depth - 1)
    ready.set()
    asleep.wait()


ready, asleep = threading.Event(), threading.Event()
thread = threading.Thread(target=down, args=(90,), name="deep", daemon=True)
thread.start()
ready.wait()
print("deep enough")
for number in range(5_500):
    print(f"{number:09}", "x" * 988)
print("the end")
"""


def test_output_that_is_not_kept_is_counted_and_the_frames_of_another_thread_are_all_offered(
    agent: Agent, control_page: "Page"
) -> None:
    from playwright.sync_api import expect

    (agent.directory / "beyond.py").write_text(BEYOND)
    page = control_page
    stops = [{"file": "beyond.py", "line": line} for line in (15, 18)]
    agent.call("debug_launch", program="beyond.py", breakpoints=stops)
    page.locator("#threads .row").filter(has_text="deep").click()
    frames = page.locator("#stack [role=option]")
    more = page.get_by_role("button", name=re.compile(r"^\d+ of \d+ shown\. Show more"))
    expect(more).to_be_visible()
    expect(frames.first).not_to_contain_text("<module>")
    more.click()
    expect(more).to_have_count(0)
    expect(frames.filter(has_text="down")).to_have_count(91)
    becomes(lambda: page.locator("#stack-note").inner_text() == f"{frames.count()} frames", True)

    agent.call("debug_continue")
    expect(page.locator("#output")).to_contain_text("000005499")
    kept = agent.call("process_read_output", since_seq=0, max_bytes=2000)
    assert kept["dropped"] > 0
    expect(page.locator("#output-note")).to_have_text(f"{kept['dropped']:,} before are not kept")
    page.get_by_role("button", name=re.compile(r"Show [\d,]+ earlier piece")).click()
    expect(page.locator(".earlier")).to_be_hidden()
    first = kept["entries"][0]["stdout"][:900]
    beginning = "console => console.textContent.slice(0, 1000)"
    eventually(lambda: page.locator("#output").evaluate(beginning), lambda shown: shown.startswith(first))
    expect(page.locator("#output-note")).to_have_text(f"{kept['dropped']:,} before are not kept")
