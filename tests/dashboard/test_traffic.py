"""What it takes to open the page, as Chromium's network has it: requests, connections, and the second time."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, Agent
from tests.dashboard.eventually import becomes, eventually
from tests.transports.test_pages import LOADED
from trio_debugmcp.transports.pages import DASHBOARD

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.usefixtures("own_profile")  # nothing is in its cache

MOST_REQUESTS = 5
"""The page, its style sheet, its script, its icon and the WebSocket."""

MOST_CONNECTIONS = 4
"""That of the WebSocket among them: Chromium asks for what a page names on several at the same time."""

NAMED = "['link[rel=icon]', 'link[rel=stylesheet]', 'script'].map((each) => document.querySelector(each).outerHTML)"


class Traffic:
    """What a tab has had from the server since the last `begin`: paths, statuses, and connections."""

    def __init__(self, page: "Page") -> None:
        self._page, self._session = page, page.context.new_cdp_session(page)
        self._session.send("Network.enable")
        self._session.on("Network.webSocketCreated", self._opened)
        self._session.on("Network.responseReceived", self._received)
        self._session.on("Network.responseReceivedExtraInfo", self._answered)
        self.begin()

    def begin(self) -> None:
        self.paths: list[str] = []
        self.statuses: list[int] = []
        self.connections: set[int] = set()

    def so_far(self) -> tuple[list[str], list[int]]:
        """The paths and the statuses, in order, of all that has been reported by now."""
        self._page.title()  # whatever has arrived is reported before its answer
        return sorted(self.paths), sorted(self.statuses)

    def _opened(self, event: dict[str, Any]) -> None:
        self.paths.append(urlsplit(event["url"]).path)
        self.connections.add(-len(self.paths))  # its own

    def _received(self, event: dict[str, Any]) -> None:
        response = event["response"]
        if not response["fromDiskCache"] and response["connectionId"]:
            self.paths.append(urlsplit(response["url"]).path)
            self.connections.add(response["connectionId"])

    def _answered(self, event: dict[str, Any]) -> None:
        self.statuses.append(event["statusCode"])  # of the network, whatever the cache makes of it


@pytest.fixture
def tab(browser: "BrowserContext") -> "Page":
    return browser.new_page()


def test_the_page_is_opened_with_few_requests_and_anew_with_fewer(server: Agent, tab: "Page") -> None:
    from playwright.sync_api import expect

    traffic = Traffic(tab)
    tab.goto(server.url(CONTROL_TOKEN))
    expect(tab.locator("#link")).to_have_text("Live")
    named = [f"/{LOADED.findall(element)[0]}" for element in tab.evaluate(NAMED)]
    paths = sorted(["/", *named, "/mcp"])
    becomes(traffic.so_far, (paths, [200] * (len(paths) - 1)))  # what is reported comes after what was drawn of it
    assert len(traffic.paths) <= MOST_REQUESTS
    assert len(traffic.connections) <= MOST_CONNECTIONS

    traffic.begin()
    tab.reload()
    expect(tab.locator("#link")).to_have_text("Live")
    eventually(traffic.so_far, lambda reported: reported[1])
    assert traffic.statuses == [304], "what has another name when it changes is not asked for again"


def test_an_error_leads_to_the_line_of_the_file_that_has_it(server: Agent, tab: "Page") -> None:
    session = tab.context.new_cdp_session(tab)
    scripts: dict[str, str] = {}
    session.on("Debugger.scriptParsed", lambda event: scripts.update({event["url"]: event["sourceMapURL"]}))
    session.send("Debugger.enable")
    tab.goto(server.url(CONTROL_TOKEN))
    (source_map,) = (scripts[url] for url in scripts if url.endswith(".js"))
    fetched = tab.evaluate(
        """async (name) => {
          const map = await (await fetch(name)).json();
          return {map, app: await (await fetch(map.sources.at(-1))).text()};
        }""",
        source_map,
    )
    assert fetched["map"]["sources"][-1] == "app.js"
    assert fetched["app"] == (DASHBOARD / "app.js").read_text(encoding="utf-8")
    assert len(fetched["map"]["sources"]) > 50


def test_page_sources_are_loaded_one_by_one_and_work_as_well(tmp_path: Path, tab: "Page") -> None:
    from playwright.sync_api import expect

    (tmp_path / "app.py").write_text("x = 1\n")
    agent = Agent(tmp_path, options=["--page-sources"])
    traffic = Traffic(tab)
    troubles: list[str] = []
    tab.on("pageerror", lambda error: troubles.append(str(error)))
    tab.goto(agent.url(CONTROL_TOKEN))
    agent.call("debug_launch", program="app.py")
    expect(tab.locator("#where")).to_contain_text("app.py:1")
    assert {"/app.js", "/store.js", "/story/story_panel.js", "/css/base.css"} < set(traffic.paths)
    assert len(traffic.connections) < len(traffic.paths) / 2
    assert troubles == []
    tab.close()
    agent.disconnect()


def pumped(source: socket.socket, sink: socket.socket) -> None:
    """Pass on what comes, until the end."""
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for each in (source, sink):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def forwarded(port: int) -> Iterator[int]:
    """Another port that leads to this one, as `ssh -L` and containers have; return its number."""
    with socket.create_server(("127.0.0.1", 0)) as door, ExitStack() as open_sockets:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    pair = [door.accept()[0], socket.create_connection(("127.0.0.1", port))]
                    for each, other in (pair, pair[::-1]):
                        open_sockets.enter_context(each)
                        threading.Thread(target=pumped, args=(each, other), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield door.getsockname()[1]
        door.shutdown(socket.SHUT_RDWR)


def test_the_page_is_opened_through_a_forwarded_port(server: Agent, tab: "Page") -> None:
    from playwright.sync_api import expect

    with forwarded(server.port) as port:
        assert port != server.port
        for host in ("127.0.0.1", "localhost"):
            tab.goto(f"http://{host}:{port}/#token={CONTROL_TOKEN}")
            expect(tab.locator("#link")).to_have_text("Live")
            expect(tab.locator("#role")).to_have_text("In control")
