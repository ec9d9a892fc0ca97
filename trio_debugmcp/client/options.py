"""Everything that can be chosen about a client, in one frozen struct, with the reason for each default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from trio_debugmcp.client.state.cache import DEFAULT_MAX_BYTES, DEFAULT_MAX_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp import types
    from mcp.client.session import ElicitationFnT, LoggingFnT, SamplingFnT

EraMode = Literal["auto", "legacy", "modern"]
"""`auto` asks `server/discover`, else `initialize`; `legacy` and `modern` accept only their own era."""

DEFAULT_MAX_MESSAGES = 1000
DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Bounds of the message log: a session's worth of small messages, or a few large ones."""

DEFAULT_REQUEST_TIMEOUT = 60.0
"""Seconds without an answer or progress.

Interactive tools of a debugger may wait for half a minute by design.
"""

DEFAULT_REQUEST_MAX_TIME = 600.0
"""Seconds, however much progress is reported: saying that one works is no reason to hang for ever."""

DEFAULT_CONNECT_TIMEOUT = 30.0
"""Seconds for a server to start and to complete the handshake; node servers on a slow disk take several."""


class ListChangedNotifications(Struct, frozen=True, kw_only=True):
    """Which `list_changed` notifications are heeded, of those that the server declares."""

    tools: bool = True
    resources: bool = True
    prompts: bool = True


class Reconnect(Struct, frozen=True, kw_only=True):
    """How to come back after a connection was lost. Never after our own `disconnect()`.

    Attributes:
        first_delay: seconds before the first attempt; doubled for each further one.
        max_delay: seconds, the longest pause.
        attempts: how many in a row may fail before it is given up.
    """

    first_delay: float = 0.5
    max_delay: float = 15.0
    attempts: int = 8

    def delay(self, attempt: int) -> float:
        """Seconds to wait before attempt number `attempt`, counted from 0."""
        return min(self.first_delay * 2.0 ** min(attempt, 32), self.max_delay)


class ClientIdentity(Struct, frozen=True, kw_only=True):
    """What the client calls itself in the handshake."""

    name: str = "trio-debugmcp-inspector"
    version: str = "0.1.0"


class InspectorOptions(Struct, frozen=True, kw_only=True):
    """Options of an `InspectorClient`.

    Attributes:
        list_changed_notifications: which ones are heeded.
        auto_sync_lists: fetch the lists on connect, and again when the server says that they changed.
        auto_reread: read a subscribed resource again when it changed, so that the cache and
            `resourceContentChange` follow it.
        reconnect: None to stay disconnected after a crash; a policy to come back and replay the
            subscriptions.
        connect_on_enter: whether `async with` connects; otherwise call `connect()`.
        mode: the protocol era.
        cache_max_entries, cache_max_bytes: per kind of content.
        cache_ttl: seconds after which a cached entry is stale, or None for as long as nothing says otherwise.
        max_messages, max_message_bytes: bounds of the message log.
        request_timeout: seconds without an answer; progress starts them again.
        request_max_time: seconds for one request, whatever its progress.
        connect_timeout: seconds for start and handshake.
        cwd, env: for a command given as a list; `env` is merged over a safe part of ours, as in the SDK's
            `StdioServerParameters`.
        headers: for an HTTP target.
        metadata: `_meta` that goes with every call; a call's own wins.
        log_level: set on connect, if the server has `logging`.
        client_info: name and version given in the handshake.
        sampling, elicitation, on_log: the SDK's callbacks; the capabilities are announced when they are
            given.
        roots: given, even empty, the `roots` capability is announced.
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
    request_timeout: float = DEFAULT_REQUEST_TIMEOUT
    request_max_time: float = DEFAULT_REQUEST_MAX_TIME
    connect_timeout: float = DEFAULT_CONNECT_TIMEOUT
    cwd: str | None = None
    env: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    metadata: Mapping[str, object] | None = None
    log_level: types.LoggingLevel | None = None
    client_info: ClientIdentity = ClientIdentity()
    sampling: SamplingFnT | None = None
    elicitation: ElicitationFnT | None = None
    roots: Sequence[types.Root] | None = None
    on_log: LoggingFnT | None = None
