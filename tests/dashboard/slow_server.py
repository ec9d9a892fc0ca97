"""A server that is slow: of what it sends to a page some is held back on the way, until it is released.

server = SlowServer(page, "tools/call debug_state")
page.goto(agent.url(CONTROL_TOKEN))
server.release()
"""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, WebSocketRoute

EVERYTHING = ""


class SlowServer:
    """Holds back the answers to what begins with one of these: a method, and the resource or tool that is asked for."""

    def __init__(self, pages: "Page | BrowserContext", *held: str) -> None:
        self._held = held
        self._waiting: list[tuple[WebSocketRoute, str | bytes]] = []
        pages.route_web_socket("**/mcp", self._route)

    def hold(self, *held: str) -> None:
        """From now on hold back these, whatever connection they come on."""
        self._held = held

    def release(self) -> None:
        """Send what was held back, and hold back no more."""
        self._held = ()
        waiting, self._waiting = self._waiting, []
        for socket, text in waiting:
            socket.send(text)

    def forget(self) -> None:
        """Never send what was held back, and hold back no more: that was lost on a connection that is dead."""
        self._held = ()
        self._waiting.clear()

    def _route(self, socket: "WebSocketRoute") -> None:
        server = socket.connect_to_server()
        asked: dict[int, str] = {}

        def to_server(text: str | bytes) -> None:
            message = json.loads(text)
            params = message.get("params", {})
            what = (message.get("method", ""), params.get("uri"), params.get("name"))
            asked[message.get("id", 0)] = " ".join(filter(None, what))
            server.send(text)

        def to_page(text: str | bytes) -> None:
            message = json.loads(text)
            about = asked.get(message.get("id", 0), "") if "method" not in message else message["method"]
            if any(about.startswith(each) for each in self._held):
                self._waiting.append((socket, text))
            else:
                socket.send(text)

        socket.on_message(to_server)
        server.on_message(to_page)
