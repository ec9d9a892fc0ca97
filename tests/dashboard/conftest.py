"""The dashboard in a real browser, beside a real program that another client debugs over stdio.

Plain synchronous tests: playwright has a loop of its own that does not mix with trio's, so the server is a process
and its other client is `Agent`, without a loop. A test without what it needs is skipped by its own name.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.profiles import PAGE_SECONDS, SHARED_RENDERER, SharedProfile, fresh_profile

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

CHROMIUM = Path("/usr/bin/chromium")
SHELL = Path("/usr/bin/chromium-headless-shell")
"""The same browser without windows, of which the tests need none: all but drawing takes half the processor time."""

CHROMIUM_OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page that a test answers itself is of no network; the address bar's lists are two pages more for each tab.
    "--disable-features=LocalNetworkAccessChecks,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
]

MAIN_MODULE = re.compile(r"/(page-[0-9a-f]+|app)\.js$")
"""What runs the page: one file of all its modules, or the one that imports the others."""

PROGRAM = """\
def count(limit):
    total = 0
    for number in range(limit):
        total = total + number
        print(f"<b>so far</b> {total}")
    return total


count(3)
count(2)
raise ValueError("out of <i>stock</i>")
"""


@pytest.fixture(scope="package")
def chromium() -> "Iterator[Browser]":
    """One Chromium for all these tests, and no longer: playwright's loop is not trio's."""
    reason = "playwright is not installed: pip install playwright"
    sync_api = pytest.importorskip("playwright.sync_api", reason=reason)
    executable = SHELL if SHELL.exists() else CHROMIUM
    if not executable.exists():
        pytest.skip(f"there is no {CHROMIUM}: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        sync_api.expect.set_options(timeout=PAGE_SECONDS * 1000)
        chromium = playwright.chromium.launch(executable_path=executable, args=[*CHROMIUM_OPTIONS, SHARED_RENDERER])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def shared_profile(chromium: "Browser") -> Iterator[SharedProfile]:
    """The profile of the tests of a module."""
    with fresh_profile(chromium) as context:
        yield SharedProfile(context)


@pytest.fixture
def own_profile() -> None:
    """For a test that stops the clock, or puts scripts into every page: its `browser` is a profile of its own."""


@pytest.fixture
def browser(request: pytest.FixtureRequest, chromium: "Browser") -> "Iterator[BrowserContext]":
    """A profile that is as new."""
    if "own_profile" in request.fixturenames:
        with fresh_profile(chromium) as context:
            yield context
        return
    profile: SharedProfile = request.getfixturevalue("shared_profile")
    yield profile.context
    profile.clear()


@pytest.fixture
def agent(chromium: "Browser", tmp_path: Path) -> Iterator[Agent]:
    """A server, and the client on its standard input and output. Its directory has `app.py`."""
    (tmp_path / "app.py").write_text(PROGRAM)
    agent = Agent(tmp_path)
    yield agent
    agent.disconnect()


OpenPage = Callable[..., "Page"]


def run_nothing(route: "Route") -> None:
    """Answer a request for a script with one that does nothing."""
    route.fulfill(body="", content_type="text/javascript")


@contextmanager
def opening(browser: "BrowserContext") -> Iterator[OpenPage]:
    """Open URLs in tabs until the end of the block; with `clock` the test may run a page's timers ahead.

    Without `runs` the page is HTML and style sheets, in which nothing draws but what the test imports.

    A script error, or something that the page's policy forbids, fails the block.
    """
    pages: list[Page] = []
    troubles: list[str] = []

    def opened(url: str, *, clock: bool = False, runs: bool = True) -> "Page":
        page = browser.new_page()
        if clock:  # its timers can be run ahead: see Page.clock
            page.clock.install()
        if not runs:
            page.route(MAIN_MODULE, run_nothing)
        pages.append(page)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "console",
            lambda message: troubles.append(message.text) if "Content Security Policy" in message.text else None,
        )
        page.goto(url)
        assert runs or page.locator("#link").text_content() == "", "the page's own program runs"
        return page

    yield opened
    for page in pages:
        page.close()
    assert troubles == []


@pytest.fixture
def open_page(browser: "BrowserContext") -> Iterator[OpenPage]:
    """Open a URL in a tab of this test."""
    with opening(browser) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(chromium: "Browser", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """One server for the tests of a module that need no program."""
    server = Agent(tmp_path_factory.mktemp("empty"))
    yield server
    server.disconnect()


@pytest.fixture
def still_page(server: Agent, open_page: OpenPage) -> "Page":
    """A page in which a test draws by itself: were the page's program to run, both would draw into one place."""
    return open_page(server.url(OBSERVE_TOKEN), runs=False)


@pytest.fixture
def control_page(agent: Agent, open_page: OpenPage) -> "Page":
    """The page of a person in control."""
    return open_page(agent.url(CONTROL_TOKEN))


@pytest.fixture
def observer_page(agent: Agent, open_page: OpenPage) -> "Page":
    """The page of an observer."""
    return open_page(agent.url(OBSERVE_TOKEN))
