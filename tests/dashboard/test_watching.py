"""What the page shows an observer while another client debugs."""

import json
import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import trio_debugmcp
from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import becomes, eventually, hear, was_said

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parent.parent.parent
SHOP = Path(trio_debugmcp.__file__).parent / "samples" / "shop.py"

CALL_A_TOOL = """
([token, tool]) => new Promise((resolve, reject) => {
  const socket = new WebSocket(`ws://${location.host}/mcp`, ['mcp', `bearer.${token}`]);
  const send = (message) => socket.send(JSON.stringify({jsonrpc: '2.0', ...message}));
  const params = {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'test', version: '1'}};
  socket.onopen = () => send({id: 1, method: 'initialize', params});
  socket.onerror = reject;
  socket.onmessage = ({data}) => {
    const {id, result} = JSON.parse(data);
    if (id === 1) {
      send({method: 'notifications/initialized'});
      send({id: 2, method: 'tools/call', params: {name: tool, arguments: {}}});
    }
    if (id === 2) {
      socket.close();
      resolve(JSON.parse(result.content[0].text).error.code);
    }
  };
})
"""


def test_without_a_session_the_page_says_what_to_do(agent: Agent, observer_page: "Page") -> None:
    from playwright.sync_api import expect

    expect(observer_page.locator("#state")).to_have_text("No debug session")
    expect(observer_page.locator("#empty")).to_contain_text("Ask the agent that is connected")
    expect(observer_page.locator("#link")).to_have_text("Live")
    expect(observer_page.locator("#role")).to_have_text("Observing")
    expect(observer_page).to_have_url(re.compile("/$"))  # the token is not left in the address bar


def test_the_page_follows_a_session_through_stop_step_exception_and_end_to_the_next_session(
    agent: Agent, observer_page: "Page", open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    page = observer_page
    state, where, current = page.locator("#state"), page.locator("#where"), page.locator(".line.current")

    def local(path: str) -> str:
        return f"#locals [data-path='{path}']"

    # A stop: why, where, the source with the line, the stack and the locals.
    agent.call("breakpoint_set_exception", exception_type="*", break_on_first_chance=False)
    agent.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "app.py", "line": 4}])
    expect(state).to_have_text("Paused at a breakpoint")
    expect(where).to_have_text("app.py:4 in count")
    expect(page).to_have_title(re.compile("Paused app.py:4"))
    expect(current).to_contain_text("total = total + number")
    expect(current.locator(".gutter")).to_have_attribute("data-breakpoint", "breakpoint bound")
    expect(page.locator("#stack .row").first).to_have_text("countapp.py:4")
    expect(page.locator(local("limit"))).to_contain_text("3")
    expect(page.locator("#threads .row")).to_contain_text("MainThread")
    expect(page.locator("#breakpoints [data-id=bp-2]")).to_contain_text("1 hit")
    expect(page.locator("[data-changed=true]")).to_have_count(0)

    # A step, and the program's output, as text whatever is in it.
    agent.call("debug_step")
    agent.call("debug_step")
    expect(state).to_have_text("Paused after a step")
    expect(where).to_have_text("app.py:3 in count")
    expect(page.locator("#output")).to_have_text("<b>so far</b> 0\n", use_inner_text=True)

    # The next time round: what changed since the last stop is marked, with what it was.
    agent.call("debug_continue")
    expect(page.locator(local("number"))).to_have_attribute("data-changed", "true")
    expect(page.locator(local("number")).locator(".before")).to_have_text("before: 0")
    expect(page.locator(local("total"))).to_have_attribute("data-changed", "false")
    expect(page.locator("#breakpoints [data-id=bp-2]")).to_contain_text("2 hits")
    agent.call("debug_step")
    expect(page.locator(local("total"))).to_have_attribute("data-changed", "true")
    expect(page.locator(local("number"))).to_have_attribute("data-changed", "false")

    # An exception.
    agent.call("breakpoint_enable", id="bp-2", enabled=False)
    expect(page.locator(".gutter[data-breakpoint='breakpoint disabled']")).to_have_count(1)
    agent.call("debug_continue")
    expect(state).to_have_text("Paused: ValueError")
    expect(page.locator("#message")).to_contain_text("out of <i>stock</i>")
    expect(page.locator(".mark.exception")).to_have_count(1)

    # The end: what was last seen stays, and is said to be old.
    agent.call("debug_continue")
    expect(state).to_have_text("Program ended with exit code 1")
    expect(page.locator("#stack")).to_have_attribute("data-stale", "true")
    expect(page.locator("#stack-note")).to_contain_text("as of")
    expect(page.locator("#output")).to_contain_text("<b>so far</b> 3")

    # The next session, and one that follows another at once: the end of that is not lost.
    (agent.directory / "short.py").write_text("print('the last word')\nraise SystemExit(7)\n")
    agent.call("debug_launch", program="short.py", breakpoints=[{"file": "short.py", "line": 2}])
    agent.call("breakpoint_remove", id="*")
    agent.call("debug_continue")
    agent.call("debug_launch", program=str(SHOP), stop_at_entry=True)
    expect(state).to_contain_text("Paused at the program")
    expect(page.locator("#source-title")).to_have_text("shop.py")
    expect(page.locator("#stack")).to_have_attribute("data-stale", "false")
    expect(page.locator("#output")).not_to_contain_text("so far")
    for each in (page, open_page(agent.url(OBSERVE_TOKEN))):
        expect(each.locator("#story .call").filter(has_text="debug_continue").first).to_contain_text("exited with 7")


def test_while_the_program_runs_the_stack_is_marked_as_out_of_date(agent: Agent, observer_page: "Page") -> None:
    from playwright.sync_api import expect

    (Path(agent.directory) / "app.py").write_text("import time\nwhile True:\n    time.sleep(0.05)\n")
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    expect(observer_page.locator("#locals")).to_have_attribute("data-stale", "false")
    agent.call("debug_continue", wait=False)
    expect(observer_page.locator("#state")).to_have_text("Running")
    expect(observer_page.locator("#locals")).to_have_attribute("data-stale", "true")
    expect(observer_page.locator("#threads-note")).to_contain_text("as of")
    expect(observer_page.locator(".line.current")).to_have_count(0)


def test_stops_are_announced_to_screen_readers(agent: Agent, observer_page: "Page") -> None:
    from playwright.sync_api import expect

    agent.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "app.py", "line": 6}])
    expect(observer_page.get_by_role("status")).to_have_text("Paused at a breakpoint. app.py:6 in count")
    expect(observer_page.get_by_role("main")).to_have_count(1)
    expect(observer_page.get_by_role("region", name="Call stack")).to_have_count(1)


def test_an_observers_page_has_no_buttons_and_the_server_refuses_its_control_calls(
    agent: Agent, observer_page: "Page"
) -> None:
    from playwright.sync_api import expect

    agent.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "app.py", "line": 4}])
    expect(observer_page.locator("#locals .variable")).to_have_count(3)
    steers = (
        "#controls button, button.gutter, :is(#breakpoints, #watches) :is(button:not(.look), input), summary:visible"
    )
    expect(observer_page.locator(steers)).to_have_count(0)
    for key in ("F10", "Shift+F11", "F11"):
        observer_page.keyboard.press(key)
    for tool in ("debug_continue", "debug_step", "breakpoint_remove", "evaluate", "variables_get"):
        assert observer_page.evaluate(CALL_A_TOOL, [OBSERVE_TOKEN, tool]) == "READ_ONLY"
    expect(observer_page.locator("#where")).to_have_text("app.py:4 in count")
    assert agent.call("debug_state")["at"] == "app.py:4 in count"


def test_the_timeline_shows_who_did_what_and_a_click_goes_to_the_event(agent: Agent, observer_page: "Page") -> None:
    from playwright.sync_api import expect

    page = observer_page
    agent.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "app.py", "line": 4}])
    agent.call("debug_step")
    expect(page.locator("#where")).to_have_text("app.py:5 in count")
    expect(page.locator("#stop-number")).to_have_text("stop 2")
    expect(page.locator("#story .call")).to_have_text([re.compile("debug_step.*agent"), re.compile("debug_launch")])
    expect(page.locator("#clients .row")).to_have_text([re.compile("^agent"), re.compile("^dashboard.*observing")])

    hit = page.locator(".mark.breakpointHit").first
    hit.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#event")).to_contain_text("bp-1 hit, app.py:4")
    expect(page.locator("#event dt")).to_have_text(["session", "id", "hit count", "place"])
    expect(page.locator("#event dd").last).to_have_text("app.py:4 in count")
    expect(page.locator("#event dd").last).to_have_attribute("title", str(agent.directory / "app.py"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    hear(page)
    page.locator("#event").get_by_role("button", name="Copy").click()
    was_said(page, "Copied")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert (copied["type"], copied["payload"]["location"]["line"]) == ("breakpointHit", 4)
    expect(page.locator(".line.looked-at")).to_contain_text("total = total + number")
    page.keyboard.press("Escape")
    expect(page.locator("#event")).to_be_hidden()
    expect(page.locator(".line.looked-at")).to_have_count(0)

    track = page.locator("#timeline")
    width = track.evaluate("track => track.scrollWidth")
    page.locator("#zoom").fill("2")
    eventually(lambda: track.evaluate("track => track.scrollWidth"), lambda now: now > 3 * width)


def test_a_silent_client_is_still_listed_in_the_next_session_and_counted_once(
    agent: Agent, observer_page: "Page", open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    for _ in range(2):
        agent.call("debug_launch", program="app.py", stop_at_entry=True)
        expect(observer_page.locator("#link")).to_have_text("Live")
        expect(observer_page.locator("#clients .row")).to_have_count(2)
        agent.call("debug_disconnect")
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    late = open_page(agent.url(OBSERVE_TOKEN))
    for page in (late, observer_page):
        expect(page.locator("#clients .row")).to_have_text(
            [re.compile("^agent(?!.*connections)"), re.compile("^dashboard.*2 connections.*observing")]
        )


def test_all_processes_are_listed_whichever_is_shown(agent: Agent, observer_page: "Page") -> None:
    from playwright.sync_api import expect

    child = agent.directory / "child.py"
    child.write_text("word = 'x'\nprint(word)\n")
    parent = agent.directory / "parent.py"
    parent.write_text("import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'])\n")
    page = observer_page
    agent.call("debug_launch", program="parent.py", stop_at_entry=True, breakpoints=[{"file": "child.py", "line": 2}])
    expect(page.locator("#where")).to_have_text(re.compile("parent.py:1"))
    expect(page.locator("#children-panel")).to_be_hidden()
    agent.call("debug_continue")
    expect(page.locator("#where")).to_have_text(re.compile("child.py:2"))
    rows = page.locator("#children .row")
    expect(rows).to_have_text([re.compile("parent.py.*Running"), re.compile("child.py.*child.py:2")])
    expect(page.locator("#children .row[aria-selected=true]")).to_have_text(re.compile("^child.py"))


def test_a_lost_connection_is_shown_and_reconnects_by_itself(
    agent: Agent, tmp_path: Path, observer_page: "Page"
) -> None:
    from playwright.sync_api import expect

    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    expect(observer_page.locator("#state")).to_contain_text("Paused at the program")
    agent.kill()
    expect(observer_page.locator("#link")).to_have_text("Connection lost")
    expect(observer_page.get_by_role("alert").filter(visible=True)).to_contain_text("What you see is from")
    expect(observer_page.locator("#state")).to_have_text(re.compile("Paused|ended|No debug session"))

    again = Agent(tmp_path, agent.port)
    try:
        expect(observer_page.locator("#link")).to_have_text("Live")
        expect(observer_page.locator("#trouble")).to_be_hidden()
        expect(observer_page.locator("#state")).to_have_text("No debug session")
        again.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "app.py", "line": 6}])
        expect(observer_page.locator("#where")).to_have_text("app.py:6 in count")
    finally:
        again.kill()  # the page is still there, for which it would linger


def test_a_refused_or_missing_token_is_named_as_the_reason(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    refused = open_page(agent.url("not-the-token"))
    expect(refused.locator("#link")).to_have_text("Refused")
    expect(refused.locator("#trouble")).to_contain_text("The server refuses this page")
    refused.evaluate("token => { location.hash = `token=${token}`; }", OBSERVE_TOKEN)
    expect(refused.locator("#link")).to_have_text("Live")

    without = open_page(f"http://127.0.0.1:{agent.port}/")
    expect(without.locator("#trouble")).to_contain_text("Open the URL that the server printed")


def test_the_page_fits_a_narrow_screen_and_both_colour_schemes(agent: Agent, observer_page: "Page") -> None:
    from playwright.sync_api import expect

    page = observer_page
    agent.call("debug_launch", program=str(SHOP), stop_at_entry=True)
    expect(page.locator(".line.current")).to_have_count(1)
    page.set_viewport_size({"width": 360, "height": 700})
    becomes(lambda: page.evaluate("document.documentElement.scrollWidth"), 360)
    page.set_viewport_size({"width": 1280, "height": 800})

    background = partial(page.evaluate, "getComputedStyle(document.body).backgroundColor")
    light = background()
    page.get_by_role("radio", name="Dark").check(force=True)
    dark = eventually(background, lambda colour: colour != light)
    page.reload()
    expect(page.locator("#link")).to_have_text("Live")
    becomes(background, dark)
    page.get_by_role("radio", name="Auto").check(force=True)
    becomes(background, light)


def test_a_picture_of_the_page_is_taken(agent: Agent, tmp_path: Path, open_page: OpenPage) -> None:
    """With `UPDATE_SCREENSHOT=1` it becomes the README's."""
    from playwright.sync_api import expect

    page = open_page(agent.url(CONTROL_TOKEN))
    expect(page.locator("#link")).to_have_text("Live")
    places = [{"file": str(SHOP), "line": 14}, {"file": str(SHOP), "line": 22, "condition": "customer == 'Bob'"}]
    agent.call("breakpoint_set_exception", exception_type="*", break_on_first_chance=False)
    agent.call("debug_launch", program=str(SHOP), stop_at_entry=False, breakpoints=places)
    expect(page.locator("#where")).to_contain_text("shop.py:14")
    page.get_by_label("Expression to watch").fill("sum(price for _, price in cart)")
    page.keyboard.press("Enter")
    page.evaluate("document.activeElement.blur()")
    for tool in ("debug_continue", "debug_step", "debug_continue", "debug_continue"):
        agent.call(tool)
        expect(page.locator("#story .call").first).to_contain_text(tool)
    agent.call("evaluate", expression="fill_cart.__defaults__")
    expect(page.locator("#story .call").first).to_contain_text("evaluate")
    expect(page.locator("#locals [data-changed=true]")).not_to_have_count(0)
    picture = ROOT / "docs" / "dashboard.png" if os.environ.get("UPDATE_SCREENSHOT") else tmp_path / "dashboard.png"
    picture.parent.mkdir(exist_ok=True)
    page.screenshot(path=picture)
    assert picture.stat().st_size > 20_000
