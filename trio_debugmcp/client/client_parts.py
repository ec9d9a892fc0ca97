"""The parts of an `InspectorClient`, put together for one target. Importing this imports the SDK's client."""

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.supervisor import ClientConnection, Supervisor, Target, open_connection
from trio_debugmcp.client.events import CacheChange
from trio_debugmcp.client.options import InspectorOptions, Roots
from trio_debugmcp.client.state.cache import ContentCache
from trio_debugmcp.client.state.client_state import ClientState
from trio_debugmcp.client.state.state_parts import StateParts
from trio_debugmcp.clock import Clock


class ClientParts:
    """The parts.

    Attributes:
        bus: what happened, in order.
        cache: the last results.
        state: what is known of the server.
        supervisor: which connection there is.
        roots: that the server may list, None to have no such capability.
    """

    def __init__(self, target: Target, options: InspectorOptions) -> None:
        self._target = target
        self._options = options
        self._clock = Clock()
        self.bus = EventBus(self._clock)
        self.cache = ContentCache(
            max_entries=options.cache_max_entries,
            max_bytes=options.cache_max_bytes,
            ttl=options.cache_ttl,
            clock=self._clock.utc,
        )
        self.cache.on_change(
            lambda kind, key, reason: self.bus.publish(CacheChange(content=kind, key=key, reason=reason))
        )
        self.state = ClientState(StateParts(options, self.bus, self._clock, self.cache))
        self.supervisor = Supervisor(self._open_connection, self.state, self.bus, options.reconnect)
        self.roots: Roots | None = options.roots

    def _open_connection(self) -> ClientConnection:
        started = self._clock.utc()
        self.state.messages.clear()
        return open_connection(
            self._target,
            self._options,
            log=self.state.messages,
            bus=self.bus,
            on_notification=self.state.on_notification,
            on_stderr=self.state.on_stderr,
            stderr_tail=lambda: self.state.stderr.tail(started),
            roots=lambda: self.roots,
        )
