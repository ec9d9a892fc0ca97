"""`EditorDoor`: where editors connect. A connection is one editor in one session, as DAP has it.

    door = EditorDoor(context, tokens.role_of)
    nursery.start_soon(door.run)
    await accept_connections(listeners, admission, door.receive)

A connection is a stranger until `attach` or `launch` has shown a token; until then no answer says anything of sessions.
Then it is a client like others, with a role, until it disconnects, which changes nothing for them.

    connection
     ├─ reader             the editor's requests, which it hands on without waiting for their answers
     ├─ requests           serving.py; each in a task of its own, a bounded number at a time
     ├─ requests in order  breakpoints and `configurationDone`: the last must find what the others have set
     ├─ member             the client, for as long as the editor is there, and what is reported to it
     └─ writer             channel.py
"""

import logging
from collections.abc import Callable
from typing import Any

import trio

from trio_debugmcp.dap.codec import decode_body
from trio_debugmcp.dap.messages import Request
from trio_debugmcp.editors.arguments import AttachArguments, CancelArguments, DisconnectArguments, InitializeArguments
from trio_debugmcp.editors.capabilities import STRANGER
from trio_debugmcp.editors.channel import MAX_STRANGER_BYTES, EditorChannel, open_channel
from trio_debugmcp.editors.dispatch import REQUESTS
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.membership import Membership
from trio_debugmcp.editors.moving import terminate
from trio_debugmcp.editors.refusals import EditorRefusal, refusal_of
from trio_debugmcp.editors.rounds import Rounds
from trio_debugmcp.editors.serving import Service
from trio_debugmcp.editors.tool_caller import EditorContext
from trio_debugmcp.errors import DebugError, ProtocolViolation
from trio_debugmcp.server.auth import Role
from trio_debugmcp.sparse_log import SparseLog
from trio_debugmcp.transports.admission import Refused, Visitor

log = logging.getLogger(__name__)

MAX_STRANGER_REQUESTS = 10
"""Requests before a token is shown: an editor sends one."""

TOKEN_NEEDED = 'This debugger needs a token: put "token" into the configuration, as the server has printed it.'
TOKEN_WRONG = "The token is wrong: use that of --token or --token-file, or the one that the server has printed."


class EditorDoor:
    """Serves the connections of editors. `role_of` returns the role that a token gives, and None for a wrong one."""

    def __init__(self, context: EditorContext, role_of: Callable[[str], Role | None]) -> None:
        self._context = context
        self.rounds = Rounds(context.debugger)
        self._role_of = role_of
        self._log = SparseLog(log)

    def __repr__(self) -> str:
        return f"<EditorDoor: {self._context.book!r}>"

    async def run(self) -> None:
        """Report changes to those that watch, look ahead, and remove what editors have set when a program has ended."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._context.book.run)
            nursery.start_soon(self._context.values.run)
            nursery.start_soon(self.rounds.run)

    async def receive(self, stream: trio.abc.Stream, visitor: Visitor) -> None:
        """Serve one connection to its end. The caller closes it."""
        async with open_channel(stream, MAX_STRANGER_BYTES, self._context.debugger.patience) as channel:
            try:
                await _Visit(self._context, self.rounds, channel, visitor, self._role_of).run()
            except ProtocolViolation as violation:
                channel.event("output", {"category": "important", "output": f"{violation}\n"})
                reason = violation.reason.partition(":")[0]  # behind that is what it has sent, perhaps a token
                self._log.log(logging.INFO, "an editor broke the protocol: %s", reason)


class _Visit:
    """One connection, from `initialize` to `disconnect`."""

    def __init__(
        self,
        context: EditorContext,
        rounds: Rounds,
        channel: EditorChannel,
        visitor: Visitor,
        role_of: Callable[[str], Role | None],
    ) -> None:
        self._context = context
        self._rounds = rounds
        self._channel = channel
        self._visitor = visitor
        self._role_of = role_of
        self._hello: InitializeArguments | None = None
        self._member: Membership | None = None
        self._as_stranger = 0
        self._service: Service | None = None

    async def run(self) -> None:
        """Serve requests until the editor leaves."""
        violation: ProtocolViolation | None = None
        async with trio.open_nursery() as nursery:
            try:
                while (request := await self._channel.receive()) is not None:
                    await self._visitor.wait_turn()
                    if not await self._take(request, nursery):
                        break
            except ProtocolViolation as error:
                violation = error
            nursery.cancel_scope.cancel(reason="the editor has left")
        if violation is not None:
            raise violation

    async def _take(self, request: Request, nursery: trio.Nursery) -> bool:
        """Serve a request, or begin to; return whether the editor stays."""
        editor = None if self._member is None else self._member.editor
        match request.command:
            case "initialize":
                self._initialize(request)
            case "disconnect":
                return await self._disconnect(request, editor)
            case "attach" | "launch" if self._member is None:
                return self._join(request, nursery)
            case "cancel" if self._service is not None:
                self._cancel(request, self._service)
            case _ if editor is None or self._service is None:
                self._channel.refuse(request, "Send `initialize`, and then `attach` or `launch`.")
                self._as_stranger += 1
                return self._member is not None or self._as_stranger < MAX_STRANGER_REQUESTS
            case _:
                self._service.take(request, editor)
        return True

    def _cancel(self, request: Request, service: Service) -> None:
        try:
            wanted = decode_body(request.arguments, CancelArguments)
        except ProtocolViolation as violation:
            self._channel.refuse(request, f"The arguments do not fit: {violation.reason}.")
            return
        self._channel.respond(request)
        if wanted.request_id is not None:
            service.cancel(wanted.request_id)

    # --- Joining and leaving ---------------------------------------------------------------------------------

    def _initialize(self, request: Request) -> None:
        if self._hello is not None:
            self._channel.refuse(request, "This connection is initialized already.")
            return
        try:
            self._hello = decode_body(request.arguments, InitializeArguments)
        except ProtocolViolation as violation:
            self._channel.refuse(request, f"The arguments do not fit: {violation.reason}.")
            return
        self._channel.respond(request, STRANGER)

    def _join(self, request: Request, nursery: trio.Nursery) -> bool:
        """Admit the editor by its token, and let it join; return whether it stays."""
        if self._hello is None:
            self._channel.refuse(request, "Send `initialize` first.")
            return False
        try:
            wanted = decode_body(request.arguments, AttachArguments)
            role = self._role_of(wanted.token) if wanted.token else None
            if role is None:
                raise EditorRefusal(TOKEN_WRONG if wanted.token else TOKEN_NEEDED, show=True)
            self._visitor.admit(role)
        except ProtocolViolation as violation:
            self._channel.refuse(request, f"The arguments do not fit: {violation.reason}.", show=True)
            return False
        except Refused as refused:
            self._channel.refuse(request, f"{refused.reason}.", show=True)
            return False
        except EditorRefusal as refusal:
            self._channel.refuse(request, refusal.sentence, show=True)
            return False
        self._channel.admit()
        self._service = Service(self._channel, self._rounds, REQUESTS, nursery)
        self._member = Membership(self._context, self._rounds, self._service, self._channel, self._hello, role)
        nursery.start_soon(self._member.run, request, wanted, decode_body(request.arguments, dict[str, Any]))
        return True

    async def _disconnect(self, request: Request, editor: Editor | None) -> bool:
        try:
            wanted = decode_body(request.arguments, DisconnectArguments)
            if editor is not None and wanted.terminate_debuggee:
                await terminate(editor, wanted)
        except (DebugError, OSError) as error:
            self._channel.refuse(request, refusal_of(error).sentence)
        else:
            self._channel.respond(request)
        return False
