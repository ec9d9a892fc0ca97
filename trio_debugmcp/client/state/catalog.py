"""The four lists of an MCP server and the three notifications that are about them.

The differences between them, as data.
"""

from typing import Any

from mcp import types
from msgspec import Struct

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.events import (
    Event,
    PromptsChange,
    PromptsListChanged,
    ResourcesChange,
    ResourcesListChanged,
    ResourceTemplatesChange,
    ToolsChange,
    ToolsListChanged,
)
from trio_debugmcp.client.state.cache import ContentCache
from trio_debugmcp.client.state.lists import ListGroup, ListSpec, SyncedList


class Catalog(Struct, frozen=True):
    """What a server offers.

    `groups` are named by capability, which is also the middle of `notifications/<capability>/list_changed`.
    """

    tools: SyncedList[types.Tool]
    resources: SyncedList[types.Resource]
    resource_templates: SyncedList[types.ResourceTemplate]
    prompts: SyncedList[types.Prompt]
    groups: dict[str, ListGroup]

    def reset(self) -> None:
        """Forget everything: the connection ended."""
        for group in self.groups.values():
            group.reset()


def open_catalog(bus: EventBus, cache: ContentCache, *, auto_sync: bool) -> Catalog:
    """Empty lists, wired to `bus` for their events and to `cache` for what is gone with a removed item."""
    tools: SyncedList[types.Tool] = SyncedList(_TOOLS, bus)
    resources: SyncedList[types.Resource] = SyncedList(_resources(cache), bus)
    templates: SyncedList[types.ResourceTemplate] = SyncedList(_resource_templates(cache), bus)
    prompts: SyncedList[types.Prompt] = SyncedList(_prompts(cache), bus)

    def group(capability: str, changed: type[Event], *lists: SyncedList[Any]) -> ListGroup:
        return ListGroup(
            lists,
            declared=lambda connection: getattr(connection.sdk.server_capabilities, capability) is not None,
            changed=lambda count: changed(count=count),  # type: ignore[call-arg]
            bus=bus,
            auto_sync=auto_sync,
        )

    groups = {
        "tools": group("tools", ToolsListChanged, tools),
        "resources": group("resources", ResourcesListChanged, resources, templates),
        "prompts": group("prompts", PromptsListChanged, prompts),
    }
    return Catalog(tools, resources, templates, prompts, groups)


def _keep(_name: str) -> None:
    """Do nothing: a tool's last result stays readable when the tool is gone."""


_TOOLS: ListSpec[types.Tool] = ListSpec(
    method="tools/list",
    fetch_page=lambda sdk, cursor, meta: sdk.list_tools(cursor=cursor, meta=meta),
    items=lambda page: page.tools,
    key=lambda tool: tool.name,
    change=lambda items, **fields: ToolsChange(tools=items, **fields),
    forget=_keep,
)


def _resources(cache: ContentCache) -> ListSpec[types.Resource]:
    return ListSpec(
        method="resources/list",
        fetch_page=lambda sdk, cursor, meta: sdk.list_resources(cursor=cursor, meta=meta),
        items=lambda page: page.resources,
        key=lambda resource: str(resource.uri),
        change=lambda items, **fields: ResourcesChange(resources=items, **fields),
        forget=cache.clear_resource,
    )


def _resource_templates(cache: ContentCache) -> ListSpec[types.ResourceTemplate]:
    return ListSpec(
        method="resources/templates/list",
        fetch_page=lambda sdk, cursor, meta: sdk.list_resource_templates(cursor=cursor, meta=meta),
        items=lambda page: page.resource_templates,
        key=lambda template: template.uri_template,
        change=lambda items, **fields: ResourceTemplatesChange(resource_templates=items, **fields),
        forget=cache.clear_resource_template,
    )


def _prompts(cache: ContentCache) -> ListSpec[types.Prompt]:
    return ListSpec(
        method="prompts/list",
        fetch_page=lambda sdk, cursor, meta: sdk.list_prompts(cursor=cursor, meta=meta),
        items=lambda page: page.prompts,
        key=lambda prompt: prompt.name,
        change=lambda items, **fields: PromptsChange(prompts=items, **fields),
        forget=cache.clear_prompt,
    )
