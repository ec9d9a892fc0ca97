"""A page beside a server that is older than it, as after one of before was started in the place of one of today."""

from typing import TYPE_CHECKING

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.older_server import older_server

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext


def test_of_an_older_server_the_page_shows_what_that_knows_and_its_buttons_work(
    agent: Agent, own_profile: None, browser: "BrowserContext"
) -> None:
    from playwright.sync_api import expect

    troubles: list[str] = []
    pages = []
    for token in (CONTROL_TOKEN, OBSERVE_TOKEN):
        page = browser.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        asked = older_server(page)
        page.goto(agent.url(token))
        expect(page.locator("#link")).to_have_text("Live")
        pages.append(page)
    agent.call("debug_launch", program="app.py", breakpoints=[{"file": "app.py", "line": 4}])
    agent.call("debug_step")
    for page in pages:
        expect(page.locator("#where")).to_have_text("app.py:5 in count")
        expect(page.locator(".line.current")).to_contain_text("print(")
        expect(page.locator("#locals [data-path=number] .value")).to_have_text("0")
        expect(page.locator("#stack .row")).to_have_count(2)
        expect(page.locator("#threads .row")).to_have_count(1)
        expect(page.locator("#breakpoints")).to_contain_text("app.py:4")
        expect(page.locator("#timeline .mark.stopped")).not_to_have_count(0)
        expect(page.locator("#stop-number")).to_have_text("stop 2")
        call = page.locator("#story .call", has_text="debug_step")
        call.locator("button.brief").click()
        expect(call.locator(".answer")).to_have_text("The answer cannot be shown: this server keeps none.")
        page.keyboard.press("Escape")
        back = page.get_by_role("button", name="Back to the stop before")
        expect(back).to_have_attribute("title", "Back to stop 1 (←)")
        back.click()
        expect(page.locator("#past")).to_contain_text("Stop 1")
        page.keyboard.press("Escape")
        expect(page.locator("#past")).to_be_hidden()
    assert "resources/read debugger://runs" in asked

    # Buttons and keys, and what another client does.
    page, _ = pages
    page.keyboard.press("F10")
    for each in pages:
        expect(each.locator("#where")).to_have_text("app.py:3 in count")
        expect(each.locator("#output")).to_contain_text("<b>so far</b> 0")
    page.get_by_role("button", name="Breakpoint on line 6").click()
    for each in pages:
        expect(each.locator("#breakpoints")).to_contain_text("app.py:6")
    page.get_by_label("Expression to evaluate").fill("total + 41")
    page.keyboard.press("Enter")
    expect(page.locator("#evaluations .answer").last).to_have_text("41")
    agent.call("debug_disconnect")
    for each in pages:
        expect(each.locator("#state")).not_to_contain_text("Paused")
    assert troubles == []
