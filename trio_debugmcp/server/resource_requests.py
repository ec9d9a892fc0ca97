"""`ResourceRequests`: lists of resources, and reads.

Reads are answered from the state and never wait for the debuggee. The exception is a source that only the adapter has:
it is requested with a short timeout.
"""

from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.masking.mask import masked
from trio_debugmcp.server.answers.resource_pages import NoSuchPage, page_named, page_of
from trio_debugmcp.server.card_resource import is_card, read_card
from trio_debugmcp.server.kept_answers import call_number, not_kept
from trio_debugmcp.server.missing_resources import ended_sentence, resource_not_found, without_session
from trio_debugmcp.server.processor_times import PROCESSOR, processor_payload
from trio_debugmcp.server.resource_templates import listed_templates, unknown_resource
from trio_debugmcp.server.secrets import masked_text
from trio_debugmcp.server.skills import is_skill_uri, read_skill_file
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.source_text import source_text
from trio_debugmcp.session.stops.looking_back import kept_stop
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import Payload, to_json
from trio_debugmcp.state.resources import View, source_path
from trio_debugmcp.state.session_resources import SERVER_RESOURCES, find, listed, resource_of
from trio_debugmcp.state.stop_resource import stop_number, stop_payload

Context = ServerRequestContext[Any, Any]


class ResourceRequests:
    """The requests about resources, of clients on one connection."""

    def __init__(self, debugger: Debugger, tools: Toolbox) -> None:
        self._debugger = debugger
        self._tools = tools

    def __repr__(self) -> str:
        return f"<ResourceRequests to {self._debugger!r}>"

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=each.uri, name=each.name, description=each.description, mime_type="application/json")
                for each in listed(self._debugger.state)
            ]
        )

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        if self._debugger.state.focused is None:
            return types.ListResourceTemplatesResult(resource_templates=[])
        return types.ListResourceTemplatesResult(resource_templates=listed_templates())

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if is_skill_uri(uri):
            return read_skill_file(ctx, uri)
        if is_card(ctx, uri):
            return read_card()
        payload = self._unnotified(ctx, uri)
        if payload is not None:
            content = types.TextResourceContents(uri=uri, mime_type="application/json", text=to_json(payload))
            return types.ReadResourceResult(contents=[content])
        snapshot, path, masks = self._debugger.state.focused, source_path(uri), not self._debugger.settings.show_secrets
        if snapshot is None and page_named(uri)[0] not in SERVER_RESOURCES:
            sentence = without_session(self._tools.no_session, self._debugger.state.last)
            raise resource_not_found(uri, self._tools.naming.text(sentence), ctx.protocol_version)
        if path is None:
            text, mime_type = self._page_text(ctx, uri, snapshot, masks=masks), "application/json"
        else:
            source = await self._source_text(ctx, uri, path)
            text, mime_type = masked(source) if masks else source, "text/plain"
        content = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
        return types.ReadResourceResult(contents=[content])

    def _unnotified(self, ctx: Context, uri: str) -> Payload | None:
        """Return what is not of the state, so that no client is notified of it, and is there without a session, too."""
        if uri == PROCESSOR:
            return processor_payload(self._debugger)
        if (number := call_number(uri)) is None:
            return None
        answer = self._tools.story.answers.payload(number)
        if answer is None:
            raise resource_not_found(uri, not_kept(number), ctx.protocol_version)
        return answer

    def _page_text(self, ctx: Context, uri: str, snapshot: Snapshot | None, *, masks: bool) -> str:
        whole, start = page_named(uri)
        text = self._json_text(ctx, whole, snapshot)
        # Masked before it is cut: the rules do not know a token by its beginning.
        try:
            return page_of(whole, masked_text(text) if masks else text, start)
        except NoSuchPage as missing:
            raise resource_not_found(uri, f"{whole} has {missing} items.", ctx.protocol_version) from None

    def _json_text(self, ctx: Context, uri: str, snapshot: Snapshot | None) -> str:
        debugger, named, number = self._debugger, find(uri), stop_number(uri)
        if uri in SERVER_RESOURCES or snapshot is None:
            _, payload = SERVER_RESOURCES[uri]
            return to_json(payload(debugger.state, debugger.merger.revisions[uri]))
        if number is not None:
            try:
                return to_json(stop_payload(kept_stop(debugger.state.kept, number)))
            except UsageError as error:
                raise resource_not_found(uri, error.message, ctx.protocol_version) from None
        if named is not None:
            of_session = debugger.state.snapshot(named.session_id)
            if of_session is None:
                known = ", ".join(snapshot.id for snapshot in debugger.state.snapshots)
                sentence = f"There is no debug session '{named.session_id}'. Sessions: {known}."
                ended = debugger.state.end_of(named.session_id)
                sentence += "" if ended is None else f" {ended_sentence(ended)}"
                raise resource_not_found(uri, sentence, ctx.protocol_version)
            snapshot = of_session
        resource = resource_of(uri) if named is None else named.resource
        if resource is None:
            raise resource_not_found(uri, unknown_resource(), ctx.protocol_version)
        return to_json(resource.payload(View(debugger.state, snapshot, debugger.merger.revisions[uri], debugger.rings)))

    async def _source_text(self, ctx: Context, uri: str, path: str) -> str:
        try:
            return await source_text(self._debugger, path)
        except DebugError as error:
            sentence = error.message if isinstance(error, UsageError) else str(error)
            raise resource_not_found(uri, sentence, ctx.protocol_version) from None
