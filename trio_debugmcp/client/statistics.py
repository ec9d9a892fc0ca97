"""What `InspectorClient.statistics()` returns, and the statistics of connections in it.

They are apart from the classes that they describe because these import the SDK's client, which takes most of a second;
programs that only import this package need not wait for it.
"""

from msgspec import Struct

from trio_debugmcp.client.bus import EventBusStatistics
from trio_debugmcp.client.events import ConnectionStatus
from trio_debugmcp.client.state.cache import CacheStatistics
from trio_debugmcp.client.state.message_log import MessageLogStatistics
from trio_debugmcp.client.state.subscriptions import SubscriptionsStatistics


class ClientConnectionStatistics(Struct, frozen=True):
    """`ClientConnection.statistics()`.

    Attributes:
        alive: False from the moment that the end is known.
        sent: messages handed to the transport.
        received: messages that arrived from the server.
        requests: calls that are not finished.
    """

    alive: bool
    sent: int
    received: int
    requests: int


class SupervisorStatistics(Struct, frozen=True):
    """`Supervisor.statistics()`.

    Attributes:
        status: of the connection.
        connections: attempts to connect so far, successful or not.
        failed_attempts: failed attempts to reconnect since the last stable connection, and connections that were lost
            before they were stable.
    """

    status: ConnectionStatus
    connections: int
    failed_attempts: int


class InspectorClientStatistics(Struct, frozen=True):
    """`InspectorClient.statistics()`: those of its parts.

    Attributes:
        supervisor: the status, and how often it connected.
        connection: messages and open requests; None when there is no connection.
        subscriptions: wanted and confirmed.
        cache: per kind of content.
        events: published, and listeners.
        messages: what the message log holds.
    """

    supervisor: SupervisorStatistics
    connection: ClientConnectionStatistics | None
    subscriptions: SubscriptionsStatistics
    cache: CacheStatistics
    events: EventBusStatistics
    messages: MessageLogStatistics
