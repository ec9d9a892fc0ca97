"""The parts of a client's state, put together: what is asked, listed, subscribed to and logged."""

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.calls import Calls
from trio_debugmcp.client.options import InspectorOptions
from trio_debugmcp.client.state.cache import ContentCache
from trio_debugmcp.client.state.catalog import open_catalog
from trio_debugmcp.client.state.message_log import MessageLog, StderrLog
from trio_debugmcp.client.state.subscriptions import Subscriptions
from trio_debugmcp.clock import Clock


class StateParts:
    """The parts; each owns its own state.

    Attributes:
        options: of the client.
        bus: where the parts announce what happens.
        cache: the last results.
        messages, stderr: what was sent and received, and written.
        calls: requests, and what came of them.
        catalog: what the server offers.
        subscriptions: what is wanted, and what is confirmed.
    """

    def __init__(self, options: InspectorOptions, bus: EventBus, clock: Clock, cache: ContentCache) -> None:
        self.options = options
        self.bus = bus
        self.cache = cache
        self.messages = MessageLog(options.max_messages, options.max_message_bytes, clock.utc)
        self.stderr = StderrLog(clock.utc)
        self.calls = Calls(cache, bus, clock, options.metadata)
        self.catalog = open_catalog(bus, cache, auto_sync=options.auto_sync_lists)
        self.subscriptions = Subscriptions(bus, cache.pin)
