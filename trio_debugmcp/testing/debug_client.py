"""`DebugClient`: the SDK's MCP client with methods for debugging tests, in both protocol eras.

    async with connect() as client, client.subscribed("debugger://session"):
        await client.call("debug_launch", program="app.py")
        await client.wait_notice("debugger://session")
        assert (await client.read("debugger://session"))["state"] == "Paused"

Of every result of a tool the text is compared with the structured content.
"""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Any, get_type_hints

import mcp_types as types
import trio
from mcp import Client
from mcp.client.extension import ClientExtension
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp_types import Implementation
from msgspec import Struct

from trio_debugmcp.testing.scenario.script_lines import Era

__all__ = [
    "LIST_CHANGED",
    "DebugClient",
    "Era",
    "Notice",
    "ToolFailed",
    "connect_streams",
    "open_debug_client",
    "over",
]

_MODES: dict[Era, str] = {"legacy": "legacy", "modern": "auto"}

LIST_CHANGED = "list_changed"
"""The `what` of a notice that the list of resources has changed."""


class ToolFailed(Exception):
    """Raised for a result with `isError`, with the code, the message and the details of the error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.details: dict[str, Any] = error["details"]


class Notice(Struct, frozen=True):
    """A notification: the URI that was updated, or `LIST_CHANGED`, and the time by Trio's clock."""

    what: str
    at: float


@cache
def waiting_tools() -> frozenset[str]:
    """Return the tools whose `timeout` is for the program, or for an evaluation in it."""
    from trio_debugmcp.server.tools import open_toolbox
    from trio_debugmcp.server.tools.tool import EvaluationSeconds, Seconds

    hints = {tool.name: get_type_hints(tool.params, include_extras=True) for tool in open_toolbox().tools}
    return frozenset(
        name for name, annotations in hints.items() if annotations.get("timeout") in (Seconds, EvaluationSeconds)
    )


NOTICE_SECONDS = 120.0
"""For a notice that is owed: one that has not come by then will not come, on a busy machine either."""


class DebugClient:
    """Made by `connect` and its like. `notices` has all notifications of changes, `logs` the server's log messages.

    Attributes:
        timeout: for tools that wait for the program, in calls that name none, so that a busy machine fails no test;
            None: the tools' own.
    """

    def __init__(self, sdk: Client) -> None:
        self.sdk = sdk
        self.timeout: float | None = None
        self.notices: list[Notice] = []
        self.logs: list[types.LoggingMessageNotificationParams] = []
        self.on_notice: Callable[[Notice], None] | None = None
        self._noticed = trio.lowlevel.ParkingLot()

    @property
    def modern(self) -> bool:
        """Whether this connection speaks the modern protocol era."""
        return self.sdk.protocol_version >= "2026"

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured result, which its text must have as well.

        Raises:
            ToolFailed: the result is an error.
        """
        if self.timeout is not None and tool in waiting_tools():  # of `wait=False`, too: a launch builds
            arguments.setdefault("timeout", self.timeout)
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
        result = await self.sdk.session.send_request(request, types.CallToolResult)
        text = result.content[0].text  # type: ignore[union-attr]
        if result.is_error:
            raise ToolFailed(json.loads(text)["error"])
        structured: dict[str, Any] = result.structured_content
        if structured != json.loads(text):
            raise AssertionError(f"{tool}: text and structured content differ")
        return structured

    async def read_text(self, uri: str) -> str:
        """Read the text of a resource.

        Raises:
            MCPError: there is no such resource.
        """
        result = await self.sdk.read_resource(uri)
        return result.contents[0].text  # type: ignore[union-attr]

    async def read(self, uri: str) -> dict[str, Any]:
        """Read the payload of a JSON resource."""
        payload: dict[str, Any] = json.loads(await self.read_text(uri))
        return payload

    async def uris(self) -> list[str]:
        """Return the URIs of `resources/list`."""
        return [resource.uri for resource in (await self.sdk.list_resources()).resources]

    async def templates(self) -> list[str]:
        """Return the URI templates of `resources/templates/list`."""
        return [
            resource_template.uri_template
            for resource_template in (await self.sdk.list_resource_templates()).resource_templates
        ]

    @asynccontextmanager
    async def subscribed(self, *uris: str, list_changes: bool = True) -> AsyncIterator[None]:
        """Be subscribed to these resources for the length of the block, in the way of the connection's era."""
        if not self.modern:
            for uri in uris:
                await self.request(types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)))
            yield
            for uri in uris:
                await self.request(types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri)))
            return
        async with (
            self.sdk.listen(resources_list_changed=list_changes, resource_subscriptions=uris) as stream,
            trio.open_nursery() as nursery,
        ):

            async def listen() -> None:
                async for event in stream:
                    self._note_event(event)

            nursery.start_soon(listen)
            yield
            nursery.cancel_scope.cancel(reason="unsubscribed")

    def times_of(self, what: str) -> list[float]:
        """Return the times of all notices of that kind."""
        return [notice.at for notice in self.notices if notice.what == what]

    async def wait_notice(self, what: str, *, after: int = 0, seconds: float = NOTICE_SECONDS) -> Notice:
        """Wait for a notice of that kind.

        Args:
            what: a URI, or `LIST_CHANGED`.
            after: how many of the first notices, of any kind, do not count.
            seconds: how long to wait, by Trio's clock.

        Raises:
            trio.TooSlowError: there was none in time.
        """
        return await self.wait_notices(lambda notices: [n for n in notices[after:] if n.what == what], seconds=seconds)

    async def wait_notices(
        self, find: Callable[[list[Notice]], list[Notice]], *, seconds: float = NOTICE_SECONDS
    ) -> Notice:
        """Wait until `find` returns some of all notices, and return the first of these.

        Raises:
            trio.TooSlowError: it returned none in time.
        """
        with trio.fail_after(seconds):
            while not (notices := find(self.notices)):
                await self._noticed.park()
        return notices[0]

    async def on_message(self, message: object) -> None:
        """Handle a message, as the SDK's message handler. Notices of the modern era come by `subscribed` instead."""
        if isinstance(message, types.LoggingMessageNotification):
            self.logs.append(message.params)
        if self.modern:
            return
        match message:
            case types.ResourceUpdatedNotification(params=params):
                self._note(str(params.uri))
            case types.ResourceListChangedNotification():
                self._note(LIST_CHANGED)
            case _:
                pass

    async def request(self, request: Any) -> None:
        """Send a request whose result is empty."""
        await self.sdk.session.send_request(request, types.EmptyResult)

    def _note_event(self, event: ServerEvent) -> None:
        match event:
            case ResourceUpdated(uri=uri):
                self._note(uri)
            case ResourcesListChanged():
                self._note(LIST_CHANGED)
            case _:
                pass

    def _note(self, what: str) -> None:
        self.notices.append(Notice(what, trio.current_time()))
        if self.on_notice is not None:
            self.on_notice(self.notices[-1])
        self._noticed.unpark_all()


@asynccontextmanager
async def over(end: object) -> AsyncIterator[object]:
    """Make a transport of a pair of streams that its owner closes."""
    yield end


@asynccontextmanager
async def open_debug_client(
    transport: object, era: Era, extensions: Sequence[ClientExtension] = (), name: str = "mcp"
) -> AsyncIterator[DebugClient]:
    """Connect over a transport of the SDK for the length of the block; `name`, `extensions`: what the client says."""
    client: DebugClient | None = None

    async def on_message(message: object) -> None:
        if client is not None:
            await client.on_message(message)

    async with Client(
        transport,  # type: ignore[arg-type]
        mode=_MODES[era],
        message_handler=on_message,
        cache=None,
        extensions=extensions,
        client_info=Implementation(name=name, version="0.1.0"),
    ) as sdk:
        client = DebugClient(sdk)
        yield client


@asynccontextmanager
async def connect_streams(
    streams: AbstractAsyncContextManager[object], era: Era = "legacy"
) -> AsyncIterator[DebugClient]:
    """Connect over any transport that yields the SDK's two streams."""
    async with open_debug_client(streams, era) as client:
        yield client
