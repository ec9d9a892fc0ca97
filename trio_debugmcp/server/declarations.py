"""What the server declares of itself in both protocol eras: its capabilities, its extensions, its name."""

from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions

Context = ServerRequestContext[Any, Any]


class DeclaringServer(Server[dict[str, Any]]):
    """The SDK's server, which declares by default what we notify of.

    The SDK's HTTP transport creates these options itself, without any argument.
    """

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *rest: Any, **more: Any
    ) -> InitializationOptions:
        """Return what the answer to `initialize` declares."""
        ours = notification_options or NotificationOptions(resources_changed=True)
        return super().create_initialization_options(ours, *rest, **more)

    def get_capabilities(self, *arguments: Any, **more: Any) -> types.ServerCapabilities:
        """Return what is declared: the SDK says in the modern era that every list may change, which two never do."""
        declared = super().get_capabilities(*arguments, **more)
        if more.get("protocol_version") is None:
            return declared
        fixed = {
            "tools": declared.tools and declared.tools.model_copy(update={"list_changed": False}),
            "prompts": declared.prompts and declared.prompts.model_copy(update={"list_changed": False}),
        }
        return declared.model_copy(update=fixed)

    @property
    def server_info_stamp(self) -> dict[str, str]:
        """What each result of the modern era has of the server: who it is; the rest is said once, by discovery."""
        return {"name": self.name, "title": self.title or self.name, "version": self.version or ""}

    async def with_extensions(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Declare the extensions to clients of the handshake era, too: the SDK drops them there."""
        result = await call_next(ctx)
        if ctx.method == "server/discover" and isinstance(result, dict):
            info = self.server_info.model_dump(by_alias=True, mode="json", exclude_none=True)
            result["_meta"] = {**(result.get("_meta") or {}), types.SERVER_INFO_META_KEY: info}
        if ctx.method == "initialize" and isinstance(result, dict):
            result["capabilities"].setdefault("extensions", dict(self.extensions))
        return result
