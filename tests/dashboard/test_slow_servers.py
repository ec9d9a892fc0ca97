"""A page whose server takes its time: it says what it does not know yet, and shows what it does."""

from typing import TYPE_CHECKING

from tests.dashboard.agent import CONTROL_TOKEN, Agent
from tests.dashboard.slow_server import SlowServer

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext


def test_what_is_not_known_yet_is_not_said_to_be_so(agent: Agent, own_profile: None, browser: "BrowserContext") -> None:
    from playwright.sync_api import expect

    page = browser.new_page()
    state, empty = page.locator("#state"), page.locator("#empty")
    server = SlowServer(page, "initialize")
    page.goto(agent.url(CONTROL_TOKEN))
    expect(state).to_have_text("Connecting…")
    expect(page).to_have_title("Connecting… · trio_debugmcp")

    # Whether a session has ended is asked for when it is known that there is none.
    server.release()
    expect(state).to_have_text("No debug session")
    server.hold("tools/call debug_state", "tools/call breakpoint_list")
    page.reload()
    expect(page.locator("#link")).to_have_text("Live")
    expect(page.locator("#role")).to_have_text("In control")
    expect(page.locator("#story .call")).to_have_count(0)
    expect(state).to_have_text("Reading…")
    expect(empty).to_be_hidden()
    expect(page.locator("#announcer")).to_have_text("")
    expect(page.locator("#breakpoints")).to_have_attribute("data-empty", "Not known yet.")
    server.release()
    expect(state).to_have_text("No debug session")
    expect(empty).to_contain_text("No debug session yet")
    expect(page.locator("#announcer")).to_contain_text("No debug session")
    expect(page.locator("#breakpoints")).to_have_attribute("data-empty", "None set.")

    # That there is a session is known before what it is.
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    expect(state).to_contain_text("Paused")
    server.hold("resources/read debugger://session")
    page.reload()
    expect(page.locator("#role")).to_have_text("In control")
    expect(state).to_have_text("Reading…")
    expect(empty).to_be_hidden()
    server.release()
    expect(state).to_contain_text("Paused")
    page.close()


def test_what_there_is_is_shown_though_a_subscription_has_no_answer(
    agent: Agent, own_profile: None, browser: "BrowserContext"
) -> None:
    from playwright.sync_api import expect

    agent.call("debug_launch", program="app.py", breakpoints=[{"file": "app.py", "line": 4}])
    page = browser.new_page()
    server = SlowServer(page, "resources/subscribe", "tools/list")
    page.goto(agent.url(CONTROL_TOKEN))
    expect(page.locator("#where")).to_have_text("app.py:4 in count")
    expect(page.locator("#locals [data-path=limit] .value")).to_have_text("3")
    expect(page.locator("#clients .row")).not_to_have_count(0)

    # What it had not heard of by then is read when the answers come.
    agent.call("debug_step")
    server.release()
    expect(page.locator("#where")).to_have_text("app.py:5 in count")
    expect(page.locator("#role")).to_have_text("In control")
    page.close()
