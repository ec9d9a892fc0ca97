"""An MCP client, for any server in both eras, for programs that show a person what a server has.

Stands by itself: nothing of the debug server is imported here.
"""

from trio_debugmcp.client.bus import EventStream, Expectation
from trio_debugmcp.client.client import InspectorClient
from trio_debugmcp.client.errors import ConnectFailed, ConnectionLost, NotConnected
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
    ToolCallInvocation,
)
from trio_debugmcp.client.options import (
    ClientIdentity,
    InspectorOptions,
    ListChangedNotifications,
    Reconnect,
)
from trio_debugmcp.client.state.cache import CacheStatistics, ContentCache, ReadOnlyContentCache
from trio_debugmcp.client.state.lru import CacheEntry, LruCacheStatistics
from trio_debugmcp.client.state.message_log import MessageEntry, StderrLine
from trio_debugmcp.client.state.subscriptions import Updates

__all__ = [
    "CacheChange",
    "CacheEntry",
    "CacheStatistics",
    "CapabilitiesChange",
    "ClientIdentity",
    "Connect",
    "ConnectFailed",
    "ConnectionLost",
    "ConnectionStatus",
    "ContentCache",
    "Disconnect",
    "ErrorEvent",
    "Event",
    "EventKind",
    "EventStream",
    "EventsDropped",
    "Expectation",
    "InspectorClient",
    "InspectorOptions",
    "InstructionsChange",
    "ListChangedNotifications",
    "LruCacheStatistics",
    "MessageEntry",
    "MessageEvent",
    "NotConnected",
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
    "ToolCallInvocation",
    "ToolCallResultChange",
    "ToolsChange",
    "ToolsListChanged",
    "Updates",
]
