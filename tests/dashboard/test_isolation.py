"""Each test finds the profile that it shares with others as if it were new, and its tabs are its own."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, Agent
from tests.dashboard.profiles import CLOCK, STAYS, SharedProfile, fresh_profile

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

LEAVE = """async () => {
  localStorage.setItem('a', '1');
  sessionStorage.setItem('a', '1');
  document.cookie = 'a=1';
  await (await caches.open('a')).put('/a', new Response('1'));
  await new Promise((resolve, reject) => {
    const opening = indexedDB.open('a');
    opening.onsuccess = resolve;
    opening.onerror = reject;
  });
  await navigator.serviceWorker.register('/worker.js');
  await navigator.serviceWorker.ready;
  addEventListener('message', () => document.title = 'heard');
  window.left = 1;
}"""

FOUND = """async () => ({
  stored: [localStorage.length, sessionStorage.length, document.cookie],
  caches: await caches.keys(),
  databases: await indexedDB.databases(),
  workers: (await navigator.serviceWorker.getRegistrations()).length,
  permission: (await navigator.permissions.query({name: 'clipboard-read'})).state,
  names: Object.getOwnPropertyNames(window),
  past: history.length,
  online: navigator.onLine,
  size: [innerWidth, innerHeight, devicePixelRatio],
  media: ['(prefers-color-scheme: dark)', '(prefers-reduced-motion)', '(forced-colors: active)', 'print', '(hover)']
    .map((query) => matchMedia(query).matches),
  clock: [Date, setTimeout, setInterval, performance.now].map((each) => Function.prototype.toString.call(each)),
  late: Math.abs(Date.now() - performance.timeOrigin - performance.now()) > 60_000,
})"""


def found(context: "BrowserContext", address: str) -> dict[str, Any]:
    """What a new tab finds at an address that answers with an empty page."""
    tab = context.new_page()
    answer_all(tab, address)
    facts: dict[str, Any] = tab.evaluate(FOUND)
    tab.close()
    return facts


def answer_all(tab: "Page", address: str) -> None:
    tab.route(f"{address}/**", lambda route: route.fulfill(body="<p>", content_type="text/html"))
    tab.goto(f"{address}/")


def test_a_test_leaves_nothing_in_the_profile(
    chromium: "Browser", shared_profile: SharedProfile, server: Agent
) -> None:
    context, address = shared_profile.context, f"http://127.0.0.1:{server.port}"
    with fresh_profile(chromium) as new:
        expected = found(new, address)
    assert found(context, address) == expected
    shared_profile.clear()

    tab = context.new_page()
    context.grant_permissions(["clipboard-read"])
    context.route(f"{address}/worker.js", lambda route: route.fulfill(body="1;", content_type="text/javascript"))
    answer_all(tab, address)
    tab.evaluate(LEAVE)
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.emulate_media(color_scheme="dark", reduced_motion="reduce", forced_colors="active", media="print")
    context.set_offline(True)
    left = tab.evaluate(FOUND)
    assert all(left[name] != expected[name] for name in expected if name not in ("clock", "past", "late")), left
    assert found(context, address)["stored"] == [1, 0, "a=1"], "it would be there in another tab of this test"

    shared_profile.clear()
    assert len(context.pages) == 1
    assert found(context, address) == expected


@pytest.mark.parametrize("number", [1, 2])
def test_what_the_page_remembers_is_forgotten_by_the_next_test(
    number: int, server: Agent, browser: "BrowserContext"
) -> None:
    from playwright.sync_api import expect

    page = browser.new_page()
    page.goto(server.url("").partition("#")[0])
    expect(page.locator("#link")).to_have_text("No token")
    page.goto(server.url(CONTROL_TOKEN))
    page.reload()
    expect(page.locator("#link")).to_have_text("Live")
    expect(page.get_by_role("radio", name="Auto")).to_be_checked()
    page.get_by_text("Dark", exact=True).click()


def test_what_would_stay_for_the_tests_that_follow_is_refused(shared_profile: SharedProfile) -> None:
    context = shared_profile.context
    tab = context.new_page()
    for kept, names in ((context, STAYS), (tab, STAYS), (context.clock, CLOCK), (tab.clock, CLOCK)):
        for name in names:
            with pytest.raises(AssertionError, match="own_profile"):
                getattr(kept, name)("x")
    shared_profile.clear()


def test_a_test_may_have_a_profile_of_its_own(own_profile: None, browser: "BrowserContext") -> None:
    assert browser.pages == []
    tab = browser.new_page()
    tab.clock.install(time=0)
    assert tab.evaluate("Date.now() < 60_000")
