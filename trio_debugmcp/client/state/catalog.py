"""The four lists of an MCP server and the three notifications that announce their changes: the differences, as data."""

from collections.abc import Callable
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

    def __repr__(self) -> str:
        lists = (self.tools, self.resources, self.resource_templates, self.prompts)
        return f"<Catalog: {', '.join(f'{len(listing.items)} of {listing.spec.method}' for listing in lists)}>"

    def reset(self) -> None:
        """Empty all lists: the connection has ended."""
        for group in self.groups.values():
            group.reset()


def open_catalog(bus: EventBus, cache: ContentCache, *, auto_sync: bool) -> Catalog:
    """Make empty lists that publish their events on `bus`, and clear from `cache` what a removed item leaves there."""
    tools: SyncedList[types.Tool] = SyncedList(_spec("tools", ToolsChange, "name", _keep), bus)
    resources: SyncedList[types.Resource] = SyncedList(
        _spec("resources", ResourcesChange, "uri", cache.clear_resource), bus
    )
    templates: SyncedList[types.ResourceTemplate] = SyncedList(
        _spec("resource_templates", ResourceTemplatesChange, "uri_template", cache.clear_resource_template), bus
    )
    prompts: SyncedList[types.Prompt] = SyncedList(_spec("prompts", PromptsChange, "name", cache.clear_prompt), bus)

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


def _spec(name: str, change: type[Event], key: str, forget: Callable[[str], None]) -> ListSpec[Any]:
    """The list `name`: the SDK's method `list_<name>`, the page's field and the event's field all have that name."""
    return ListSpec(
        method="resources/templates/list" if name == "resource_templates" else f"{name}/list",
        fetch_page=lambda sdk, cursor, meta: getattr(sdk, f"list_{name}")(cursor=cursor, meta=meta),
        items=lambda page: getattr(page, name),
        key=lambda item: str(getattr(item, key)),
        change=lambda items, **fields: change(**{name: items}, **fields),
        forget=forget,
    )


def _keep(_name: str) -> None:
    """Do nothing: a tool's last result stays readable after the tool is removed."""
