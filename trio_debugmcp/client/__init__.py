"""An MCP client, for any server in both eras, for programs that show a person what a server has.

    async with InspectorClient(["my-server"]) as client, client.subscribed("demo://one") as updates:
        print([tool.name for tool in client.tools])
        async for update in updates:
            print(await client.read_resource(update.uri))

Uses the transports of this package, and nothing else of the debug server. `client` is the façade; `connection/` is how
a server is reached, `state/` what is known of it.
"""

from trio_debugmcp.client.bus import EventBusStatistics, EventStream, EventStreamStatistics, Expectation
from trio_debugmcp.client.client import InspectorClient
from trio_debugmcp.client.client_errors import (
    AuthorizationLost,
    ConnectFailed,
    ConnectionLost,
    NotAuthorized,
    NotConnected,
)
from trio_debugmcp.client.events import (
    CacheChange,
    CapabilitiesChange,
    Connect,
    ConnectionStatus,
    Disconnect,
    ErrorEvent,
    Event,
    EventKind,
    EventsDropped,
    InstructionsChange,
    MessageEvent,
    Progress,
    PromptContentChange,
    PromptsChange,
    PromptsListChanged,
    ResourceContentChange,
    ResourcesChange,
    ResourcesListChanged,
    ResourceSubscriptionsChange,
    ResourceTemplateContentChange,
    ResourceTemplatesChange,
    ResourceUpdated,
    ServerInfoChange,
    StatusChange,
    StderrLogEvent,
    ToolCallResultChange,
    ToolsChange,
    ToolsListChanged,
)
from trio_debugmcp.client.invocations import (
    PromptGetInvocation,
    ResourceReadInvocation,
    ResourceTemplateReadInvocation,
    ToolCallFault,
    ToolCallInvocation,
)
from trio_debugmcp.client.oauth import OAuth
from trio_debugmcp.client.options import (
    ClientIdentity,
    InspectorOptions,
    ListChangedNotifications,
    Reconnect,
)
from trio_debugmcp.client.state.cache import CacheStatistics, ContentCache, ReadOnlyContentCache
from trio_debugmcp.client.state.lru import CacheEntry, LruCacheStatistics
from trio_debugmcp.client.state.message_log import MessageEntry, MessageLogStatistics, StderrLine
from trio_debugmcp.client.state.subscriptions import SubscriptionsStatistics, Updates
from trio_debugmcp.client.statistics import (
    ClientConnectionStatistics,
    InspectorClientStatistics,
    SupervisorStatistics,
)

__all__ = [
    "AuthorizationLost",
    "CacheChange",
    "CacheEntry",
    "CacheStatistics",
    "CapabilitiesChange",
    "ClientConnectionStatistics",
    "ClientIdentity",
    "Connect",
    "ConnectFailed",
    "ConnectionLost",
    "ConnectionStatus",
    "ContentCache",
    "Disconnect",
    "ErrorEvent",
    "Event",
    "EventBusStatistics",
    "EventKind",
    "EventStream",
    "EventStreamStatistics",
    "EventsDropped",
    "Expectation",
    "InspectorClient",
    "InspectorClientStatistics",
    "InspectorOptions",
    "InstructionsChange",
    "ListChangedNotifications",
    "LruCacheStatistics",
    "MessageEntry",
    "MessageEvent",
    "MessageLogStatistics",
    "NotAuthorized",
    "NotConnected",
    "OAuth",
    "Progress",
    "PromptContentChange",
    "PromptGetInvocation",
    "PromptsChange",
    "PromptsListChanged",
    "ReadOnlyContentCache",
    "Reconnect",
    "ResourceContentChange",
    "ResourceReadInvocation",
    "ResourceSubscriptionsChange",
    "ResourceTemplateContentChange",
    "ResourceTemplateReadInvocation",
    "ResourceTemplatesChange",
    "ResourceUpdated",
    "ResourcesChange",
    "ResourcesListChanged",
    "ServerInfoChange",
    "StatusChange",
    "StderrLine",
    "StderrLogEvent",
    "SubscriptionsStatistics",
    "SupervisorStatistics",
    "ToolCallFault",
    "ToolCallInvocation",
    "ToolCallResultChange",
    "ToolsChange",
    "ToolsListChanged",
    "Updates",
]
