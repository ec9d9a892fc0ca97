"""The events of a client: one frozen struct per kind. `bus` numbers and delivers them.

    match event:
        case ToolsChange(added=added, removed=removed): ...
        case Disconnect(requested=False): ...

Each event has a `kind`, a time and a number; see `Event`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, get_args

import mcp_types as types
from msgspec import Struct

from trio_debugmcp.client.invocations import (
    PromptGetInvocation,
    ResourceReadInvocation,
    ResourceTemplateReadInvocation,
)
from trio_debugmcp.client.state.lru import CacheChangeReason, CacheKind
from trio_debugmcp.client.state.message_log import MessageEntry

ConnectionStatus = Literal["disconnected", "connecting", "connected", "error"]
"""`error` means disconnected, but not by `disconnect()`: a crash, an end of file, a handshake that failed."""

ListChangeReason = Literal["connect", "list", "notification", "disconnect"]
"""Why a list was replaced: the first fetch, a `list_*()`, a `list_changed`, or the connection's end."""

UpdateCause = Literal["notification", "resync"]
"""`resync`: notifications may have been missed, so the resource is taken as changed."""

EventKind = Literal[
    "statusChange", "connect", "disconnect", "error",
    "capabilitiesChange", "serverInfoChange", "instructionsChange",
    "toolsChange", "resourcesChange", "resourceTemplatesChange", "promptsChange",
    "toolsListChanged", "resourcesListChanged", "promptsListChanged",
    "resourceContentChange", "resourceTemplateContentChange", "promptContentChange", "toolCallResultChange",
    "resourceUpdated", "resourceSubscriptionsChange",
    "message", "stderrLog", "progress", "cacheChange", "eventsDropped",
]  # fmt: skip
EVENT_KINDS: frozenset[str] = frozenset(get_args(EventKind))

UNSTAMPED = datetime.fromtimestamp(0, UTC)
"""The time of an event that is not published yet."""


class Event(Struct, frozen=True, kw_only=True, eq=False, rename="camel", tag_field="kind"):
    """The fields of every event.

    Attributes:
        seq: its place in the one order of all events of a client, from 1, without gaps.
        time: when it was published.
    """

    seq: int = 0
    time: datetime = UNSTAMPED

    @property
    def kind(self) -> str:
        """The kind of the event, one of `EventKind`."""
        return str(type(self).__struct_config__.tag)


class StatusChange(Event, frozen=True, kw_only=True, tag="statusChange"):
    """The connection changed its status."""

    status: ConnectionStatus


class Connect(Event, frozen=True, kw_only=True, tag="connect"):
    """The handshake is done and requests can be made. The lists follow."""

    protocol_version: str


class Disconnect(Event, frozen=True, kw_only=True, tag="disconnect"):
    """The last event of a connection, exactly one per `connect`, after the state was cleared.

    Attributes:
        reason: a sentence.
        requested: whether the client's `disconnect()` ended it.
        exit_code: of the server process, or None.
        stderr_tail: the last lines of the server's standard error, possibly empty.
        unauthorized: whether the server ended it, because it does not accept the authorisation any more.
    """

    reason: str
    requested: bool
    exit_code: int | None = None
    stderr_tail: str = ""
    unauthorized: bool = False


class ErrorEvent(Event, frozen=True, kw_only=True, tag="error"):
    """Something failed that no caller is waiting for: a crash, a reload, a repeated subscription.

    Attributes:
        message: a sentence that names what was attempted.
        error: the exception.
    """

    message: str
    error: Exception


class CapabilitiesChange(Event, frozen=True, kw_only=True, tag="capabilitiesChange"):
    """The server's capabilities; None when the connection ended."""

    capabilities: types.ServerCapabilities | None


class ServerInfoChange(Event, frozen=True, kw_only=True, tag="serverInfoChange"):
    """The server's name and version; None when the connection ended, or the server does not give them."""

    server_info: types.Implementation | None


class InstructionsChange(Event, frozen=True, kw_only=True, tag="instructionsChange"):
    """The server's instructions for the model; None when there are none."""

    instructions: str | None


class ListChange(Event, frozen=True, kw_only=True):
    """A list was replaced, all pages at once.

    Attributes:
        added: keys (tool and prompt names, URIs, URI templates) that are new.
        removed: keys that are not there any more.
        changed: keys whose items differ.
        reason: why it was fetched.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    reason: ListChangeReason = "list"


class ToolsChange(ListChange, frozen=True, kw_only=True, tag="toolsChange"):
    """The tools are now `tools`."""

    tools: tuple[types.Tool, ...]


class ResourcesChange(ListChange, frozen=True, kw_only=True, tag="resourcesChange"):
    """The resources are now `resources`."""

    resources: tuple[types.Resource, ...]


class ResourceTemplatesChange(ListChange, frozen=True, kw_only=True, tag="resourceTemplatesChange"):
    """The resource templates are now `resource_templates`."""

    resource_templates: tuple[types.ResourceTemplate, ...]


class PromptsChange(ListChange, frozen=True, kw_only=True, tag="promptsChange"):
    """The prompts are now `prompts`."""

    prompts: tuple[types.Prompt, ...]


class ToolsListChanged(Event, frozen=True, kw_only=True, tag="toolsListChanged"):
    """The server announced `count` times since the last such event that its tools changed.

    Also published when no fetch follows.
    """

    count: int


class ResourcesListChanged(Event, frozen=True, kw_only=True, tag="resourcesListChanged"):
    """As `ToolsListChanged`, for the lists of resources and resource templates."""

    count: int


class PromptsListChanged(Event, frozen=True, kw_only=True, tag="promptsListChanged"):
    """As `ToolsListChanged`, for the list of prompts."""

    count: int


class ResourceContentChange(Event, frozen=True, kw_only=True, tag="resourceContentChange"):
    """`uri` was read; `content` is the invocation that the cache holds."""

    uri: str
    content: ResourceReadInvocation
    timestamp: datetime


class ResourceTemplateContentChange(Event, frozen=True, kw_only=True, tag="resourceTemplateContentChange"):
    """A resource was read through a template; `content` is the invocation that the cache holds."""

    uri_template: str
    expanded_uri: str
    params: Mapping[str, str]
    content: ResourceTemplateReadInvocation
    timestamp: datetime


class PromptContentChange(Event, frozen=True, kw_only=True, tag="promptContentChange"):
    """A prompt was fetched; `content` is the invocation that the cache holds."""

    name: str
    params: Mapping[str, str]
    content: PromptGetInvocation
    timestamp: datetime


class ToolCallResultChange(Event, frozen=True, kw_only=True, tag="toolCallResultChange"):
    """A tool call ended, with success or without; fields as in `ToolCallInvocation`."""

    tool_name: str
    params: Mapping[str, Any]
    result: types.CallToolResult | None
    success: bool
    timestamp: datetime
    error: str | None = None
    metadata: Mapping[str, Any] | None = None


class ResourceUpdated(Event, frozen=True, kw_only=True, tag="resourceUpdated"):
    """A subscribed resource changed and was not read again yet; the cached read of it is stale."""

    uri: str
    cause: UpdateCause = "notification"


class ResourceSubscriptionsChange(Event, frozen=True, kw_only=True, tag="resourceSubscriptionsChange"):
    """The set of confirmed subscriptions changed; `uris` is in the order of confirmation."""

    uris: tuple[str, ...]


class MessageEvent(Event, frozen=True, kw_only=True, tag="message"):
    """A JSON-RPC message was sent or received; for a response, `entry` is that of its request."""

    entry: MessageEntry


class StderrLogEvent(Event, frozen=True, kw_only=True, tag="stderrLog"):
    """A stdio server wrote a line to its standard error."""

    line: str


class Progress(Event, frozen=True, kw_only=True, tag="progress"):
    """A request reports progress.

    Attributes:
        token: the progress token.
        method: of the request that it belongs to, None when the request is not in the message log.
        name: the tool's name or the resource's URI, when the request has one.
    """

    token: str | int
    progress: float
    total: float | None = None
    message: str | None = None
    method: str | None = None
    name: str | None = None


class CacheChange(Event, frozen=True, kw_only=True, tag="cacheChange"):
    """A cache entry became stale, was cleared, or was evicted to make room."""

    content: CacheKind
    key: str
    reason: CacheChangeReason


class EventsDropped(Event, frozen=True, kw_only=True, tag="eventsDropped"):
    """The buffer of a stream was full: its `count` oldest events, the last of them numbered `seq`, are lost."""

    count: int
