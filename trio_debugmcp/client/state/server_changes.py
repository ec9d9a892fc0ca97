"""What the server notifies of, and what follows: lists fetched again, cached reads marked as stale, progress announced.

Notifications arrive here synchronously and in wire order; whatever takes time is a task in the connection's nursery.
"""

from trio_debugmcp.client.connection.connection_wire import Params
from trio_debugmcp.client.events import Progress, StderrLogEvent, UpdateCause
from trio_debugmcp.client.state.reconcile import ListenFilter
from trio_debugmcp.client.state.rereads import Rereads
from trio_debugmcp.client.state.server_description import ServerDescription
from trio_debugmcp.client.state.state_parts import StateParts

LIST_CHANGED = {f"notifications/{name}/list_changed": name for name in ("tools", "resources", "prompts")}
RESOURCE_UPDATED = "notifications/resources/updated"
PROGRESS = "notifications/progress"


class ServerChanges:
    """Acts on notifications.

    Attributes:
        server: whose notifications they are; nothing is known of it before the handshake.
        rereads: reads again what has changed, if the options say so.
    """

    def __init__(self, parts: StateParts) -> None:
        self.server = ServerDescription()
        self.rereads = Rereads(parts.calls.reread, parts.bus)
        self._parts = parts

    def on_notification(self, method: str, params: Params) -> bool:
        """Act on a notification; False if the SDK has no use for it."""
        if (name := LIST_CHANGED.get(method)) is not None:
            if self._follows(name):
                self._parts.catalog.groups[name].announce()
            return False
        if method == RESOURCE_UPDATED:
            if isinstance(uri := params.get("uri"), str) and uri in self._parts.subscriptions.wanted:
                self._record_update(uri, "notification")
            return False
        if method == PROGRESS:
            self._record_progress(params)
        return True

    def on_stderr(self, line: str) -> None:
        """Log a line of standard error."""
        self._parts.bus.publish(StderrLogEvent(line=self._parts.stderr.record(line)))

    def _record_update(self, uri: str, cause: UpdateCause) -> None:
        self._parts.calls.invalidate(uri)  # first: a listener finds what is cached stale already
        self._parts.subscriptions.updated(uri, cause)
        if self._parts.options.auto_reread:
            self.rereads.want(uri)

    def _record_progress(self, params: Params) -> None:
        token, progress = params.get("progressToken"), params.get("progress")
        if not isinstance(token, str | int) or not isinstance(progress, int | float):
            return
        request = self._parts.messages.request("client", token)  # the SDK takes the request's id as its token
        request_params = (request.message.get("params") or {}) if request is not None else {}
        self._parts.bus.publish(
            Progress(
                token=token,
                progress=progress,
                total=params.get("total"),
                message=params.get("message"),
                method=request.message.get("method") if request is not None else None,
                name=request_params.get("name") or request_params.get("uri"),
            )
        )

    async def resubscribed(self, uri: str) -> None:
        """Take `uri` as changed once its subscription is confirmed again: until then changes may be missed."""
        await self._parts.subscriptions.wait_settled(uri)
        if uri in self._parts.subscriptions.wanted:
            self._record_update(uri, "resync")

    def resync(self) -> None:
        """Take as changed whatever a missed notification may have announced."""
        for name, group in self._parts.catalog.groups.items():
            if self._follows(name):
                group.announce()
        for uri in self._parts.subscriptions.confirmed:
            self._record_update(uri, "resync")

    def _follows(self, capability: str) -> bool:
        """Whether `list_changed` of this capability counts."""
        if not getattr(self._parts.options.list_changed_notifications, capability):
            return False
        capabilities = self.server.capabilities
        declared = getattr(capabilities, capability, None)
        # A notification may arrive before the handshake is over, when it is not known what the server declares.
        return capabilities is None or bool(declared and declared.list_changed)

    def opt_ins(self) -> ListenFilter:
        """The notifications to listen for, in the modern era."""
        followed = {name: self._follows(name) for name in self._parts.catalog.groups}
        return ListenFilter(tools=followed["tools"], resources=followed["resources"], prompts=followed["prompts"])
