"""Everything that can be chosen about a client, in one frozen struct, with the reason for each default."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import mcp_types as types
from msgspec import Struct

from trio_debugmcp.client.given import (
    FLAG,
    FUNCTION,
    ITEMS,
    OBJECT,
    PATH,
    SECONDS,
    TEXT,
    TEXTS,
    OptionRule,
    at_least,
    check_fields,
    instance,
    one_of,
    optional,
)
from trio_debugmcp.client.oauth import OAuth
from trio_debugmcp.client.state.cache import DEFAULT_MAX_BYTES, DEFAULT_MAX_ENTRIES
from trio_debugmcp.light_client.protocol import CLIENT_NAME, CLIENT_VERSION, MAX_REQUEST_SECONDS, EraMode

if TYPE_CHECKING:  # the SDK's client takes most of a second to import
    from mcp.client.session import ElicitationFnT, LoggingFnT, SamplingFnT
else:  # for those who read annotations at run time: `inspect.signature`, the documentation
    ElicitationFnT = LoggingFnT = SamplingFnT = Callable[..., Awaitable[Any]]

Roots = Sequence[types.Root] | Callable[[], Awaitable[Sequence[types.Root]]]

HttpTransport = Literal["auto", "http", "sse"]

DEFAULT_MAX_MESSAGES = 1000
DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Bounds of the message log: a session's worth of small messages, or a few large ones."""

DEFAULT_REQUEST_TIMEOUT_SECONDS = 60.0
"""Without an answer or progress. Interactive tools of a debugger may wait for half a minute by design."""

DEFAULT_CONNECT_TIMEOUT_SECONDS = 30.0
"""For a server to start and to complete the handshake; node servers on a slow disk take several seconds."""

DEFAULT_HEARTBEAT_SECONDS = 15.0
"""As on a WebSocket, and shorter than the half minute after which some proxies cut silent connections."""

LOG_LEVEL = one_of(*get_args(types.LoggingLevel))
"""As the protocol has them, from `debug` to `emergency`."""

_MAX_DOUBLINGS = 32
"""Doublings of a delay: a power of two overflows a float at 1024, and `max_delay` is reached long before."""


class ListChangedNotifications(Struct, frozen=True, kw_only=True):
    """Which `list_changed` notifications are followed, of those that the server declares."""

    tools: bool = True
    resources: bool = True
    prompts: bool = True

    def __post_init__(self) -> None:
        check_fields(self, {"tools": FLAG, "resources": FLAG, "prompts": FLAG})


class Reconnect(Struct, frozen=True, kw_only=True):
    """When to reconnect after a connection was lost. A `disconnect()` is never followed by a reconnect.

    Attributes:
        first_delay: seconds before the first attempt; doubled for each further one.
        max_delay: seconds, the longest pause.
        attempts: how many may fail in a row before the client gives up.
    """

    first_delay: float = 0.5
    max_delay: float = 15.0
    attempts: int = 8

    def delay(self, attempt: int) -> float:
        """Seconds to wait before attempt number `attempt`, counted from 0."""
        return min(self.first_delay * 2.0 ** min(attempt, _MAX_DOUBLINGS), self.max_delay)

    def __post_init__(self) -> None:
        check_fields(self, {"first_delay": SECONDS, "max_delay": SECONDS, "attempts": at_least(1)})


class ClientIdentity(Struct, frozen=True, kw_only=True):
    """The name and version that the client gives in the handshake."""

    name: str = CLIENT_NAME
    version: str = CLIENT_VERSION

    def __post_init__(self) -> None:
        check_fields(self, {"name": TEXT, "version": TEXT})


class InspectorOptions(Struct, frozen=True, kw_only=True):
    """Options of an `InspectorClient`; a `UsageError` names what they cannot be.

    Attributes:
        list_changed_notifications: which `list_changed` notifications are followed.
        auto_sync_lists: fetch the lists on connect, and again when the server announces that they changed.
        auto_reread: read a subscribed resource again when it changed, so that the cache and `resourceContentChange`
            follow it.
        reconnect: None to stay disconnected after a connection was lost; a policy to reconnect and to subscribe again.
        connect_on_enter: whether `async with` connects; otherwise call `connect()`.
        mode: the protocol era.
        cache_max_entries: how many entries of each kind of content the cache keeps.
        cache_max_bytes: how many bytes of each kind of content the cache keeps.
        cache_ttl: seconds after which a cached entry is stale, or None for no limit of the client's own.
        max_messages: how many messages the log keeps.
        max_message_bytes: how many bytes of messages the log keeps.
        request_timeout: seconds without an answer; each progress notification starts them again.
        request_max_time: seconds for one request, whatever its progress.
        connect_timeout: seconds for start and handshake.
        heartbeat: seconds of silence after which a server of the handshake era that is reached over HTTP is asked
            whether it still has the session, None never to ask; on all other transports an end is noticed at once.
        cwd: the working directory of a command given as a list.
        env: its environment variables, merged over a safe part of ours, as in the SDK's `StdioServerParameters`.
        headers: for an HTTP target.
        transport: for an HTTP target; `sse` is that of 2024, which `auto` takes for a path that ends in `/sse`.
        oauth: how to be authorised by an HTTP target that wants it; None to fail then.
        metadata: `_meta` that is sent with every call; a call's own takes precedence.
        log_level: set on connect, if the server has `logging`.
        client_info: name and version given in the handshake.
        sampling: the SDK's callback for requests of a model's text; if given, the capability is announced.
        elicitation: the SDK's callback for forms and pages; if given, the capability is announced.
        on_log: the SDK's callback for log messages.
        roots: the roots that the server may list, or a function that is asked for them each time; if given, even
            empty, the `roots` capability is announced.
    """

    list_changed_notifications: ListChangedNotifications = ListChangedNotifications()
    auto_sync_lists: bool = True
    auto_reread: bool = False
    reconnect: Reconnect | None = None
    connect_on_enter: bool = True
    mode: EraMode = "auto"
    cache_max_entries: int = DEFAULT_MAX_ENTRIES
    cache_max_bytes: int = DEFAULT_MAX_BYTES
    cache_ttl: float | None = None
    max_messages: int = DEFAULT_MAX_MESSAGES
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    request_timeout: float = DEFAULT_REQUEST_TIMEOUT_SECONDS
    request_max_time: float = MAX_REQUEST_SECONDS
    connect_timeout: float = DEFAULT_CONNECT_TIMEOUT_SECONDS
    heartbeat: float | None = DEFAULT_HEARTBEAT_SECONDS
    cwd: str | None = None
    env: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    transport: HttpTransport = "auto"
    oauth: OAuth | None = None
    metadata: Mapping[str, object] | None = None
    log_level: types.LoggingLevel | None = None
    client_info: ClientIdentity = ClientIdentity()
    sampling: "SamplingFnT | None" = None
    elicitation: "ElicitationFnT | None" = None
    roots: Roots | None = None
    on_log: "LoggingFnT | None" = None

    def __post_init__(self) -> None:
        check_fields(self, _RULES)


_RULES = {
    "list_changed_notifications": instance(ListChangedNotifications),
    "auto_sync_lists": FLAG,
    "auto_reread": FLAG,
    "reconnect": OptionRule(
        "None, or a Reconnect: Reconnect() has the defaults",
        lambda value: value is None or isinstance(value, Reconnect),
    ),
    "connect_on_enter": FLAG,
    "mode": one_of(*get_args(EraMode)),
    "cache_max_entries": at_least(0),
    "cache_max_bytes": at_least(0),
    "cache_ttl": optional(SECONDS),
    "max_messages": at_least(0),
    "max_message_bytes": at_least(0),
    "request_timeout": SECONDS,
    "request_max_time": SECONDS,
    "connect_timeout": SECONDS,
    "heartbeat": optional(SECONDS),
    "cwd": optional(PATH),
    "env": optional(TEXTS),
    "headers": optional(TEXTS),
    "transport": one_of(*get_args(HttpTransport)),
    "oauth": optional(instance(OAuth)),
    "metadata": optional(OBJECT),
    "log_level": optional(LOG_LEVEL),
    "client_info": instance(ClientIdentity),
    "sampling": optional(FUNCTION),
    "elicitation": optional(FUNCTION),
    "roots": optional(
        OptionRule("a sequence or a function", lambda value: ITEMS.holds(value) or FUNCTION.holds(value))
    ),
    "on_log": optional(FUNCTION),
}
"""What each option may be."""
