"""`ToolCaller`: an editor as a client of the tools: who it is, what it may do, and what it calls.

Each call is recorded, reported to other clients, and kept waiting or refused as that of any client is.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct, field

from trio_debugmcp.editors.breakpoints.book import EditorBook
from trio_debugmcp.editors.recording import RecordedCalls
from trio_debugmcp.editors.refusals import check, held_by
from trio_debugmcp.editors.values.shared_values import SharedValues
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.masking.mask import masked_value
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.clients import Clients
from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.failures import failed_result, usage_error
from trio_debugmcp.server.people.hold import holds_another
from trio_debugmcp.server.secrets import check_arguments
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.session.breakpoints.ownership import Owner
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.transports.connection_tap import ConnectionTap


class EditorContext(Struct, frozen=True):
    """What all editors of a server share."""

    debugger: Debugger
    tools: Toolbox
    clients: Clients
    book: EditorBook
    tap: ConnectionTap
    values: SharedValues = field(default_factory=SharedValues)


class ToolCaller:
    """One editor, as the tools know it.

    Attributes:
        name: by which others know it; `owner`: as whom it sets breakpoints.
        session_id: of the session that it shows; None until there is one. It may have ended.
    """

    def __init__(self, context: EditorContext, client: Client, name: str, calls: RecordedCalls) -> None:
        self.debugger, self.tools, self.clients = context.debugger, context.tools, context.clients
        self.book, self.client, self.name, self._calls = context.book, client, name, calls
        self.session_id: str | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} role={self.role!r} in {self.session_id}>"

    @property
    def role(self) -> Role:
        """What it may do."""
        return self.client.role

    @property
    def owner(self) -> Owner:
        """As whom it sets breakpoints."""
        return (self.client, self.name)

    async def call(self, tool: str, *, session_id: str | None = None, **arguments: Any) -> Any:
        """Call a tool as this editor, and return its answer.

        Raises:
            DebugError: it failed, or this editor may not call it.
        """
        tool_arguments = {name: value for name, value in arguments.items() if value is not None}
        if session_id is not None:
            tool_arguments["session_id"] = session_id
        if not self.debugger.settings.show_secrets:
            check_arguments(tool_arguments)
        self.check_held(tool)
        if self.tools.controls(tool) and self.role == "control":
            self._take_orphan()
        number = await self._calls.called(tool, tool_arguments)
        with self.book.noting(self.owner):
            result = await self.tools.call(self.debugger, tool, tool_arguments, self.role, self.name, self.client)
        await self._calls.answered(number, result)
        check(result)
        return result.structured_content

    @asynccontextmanager
    async def recorded(self, tool: str, **arguments: Any) -> AsyncIterator[list[str]]:
        """Record what this editor does as a call of a tool, which is done in another way; the block adds the value."""
        value: list[str] = []
        self.check_held(tool)
        if self.session_id is not None:  # a replay is of this program, too
            arguments["session_id"] = self.session_id
        number = await self._calls.called(tool, arguments)
        async with self.tools.recorded(self.debugger, tool, arguments, self.name, self.client) as call:
            try:
                yield value
            except DebugError as error:
                failure = usage_error(error)
                failed = failed_result(failure)
                call.came_to(failed, failure.code)
                await self._calls.answered(number, failed)  # noqa: ASYNC120 (then the call is cancelled, too)
                raise
            result = ToolResult(structured_content={"value": "".join(value)})
            call.came_to(result, None)
            await self._calls.answered(number, result)

    def check_held(self, tool: str) -> None:
        """Refuse what another person's hold is against. A call of an agent would wait; an editor's person sees why.

        Raises:
            EditorRefusal: the programs are held.
        """
        if is_held(self, tool):
            people = self.debugger.state.people
            who = "Another person" if people.hold is None or people.hold.name is None else people.hold.name
            raise held_by(who)

    def _take_orphan(self) -> None:
        """Become the owner of a program that has none any more, so that it does not end in the midst of a step.

        A program that has one keeps it: when the editor leaves nothing changes for others.
        """
        program = None if self.session_id is None else self.debugger.programs.of(self.session_id)
        if program is not None and program.owner is None:
            self.clients.give(self.client, self.session_id)
            self.clients.changed()

    def check_control(self, what: str) -> None:
        """Raise unless this editor may change something.

        Raises:
            UsageError: `READ_ONLY`.
        """
        if self.role != "control":
            raise UsageError("READ_ONLY", f"This editor may only observe: {what} needs the control token.")

    def plain(self, text: str, name: str = "") -> str:
        """Return a text without secrets, unless the server shows them. `name`: all that it is known to be the value of.

        Whatever an editor is shown of the program, or of what other clients have said, has gone through this.
        """
        return text if self.debugger.settings.show_secrets else masked_value(name, text)


def is_held(editor: ToolCaller, tool: str) -> bool:
    """Return whether another person's hold is against what a tool does."""
    people = editor.debugger.state.people
    party = people.party_of(editor.client.number, editor.name)
    moves = any(candidate.name == tool and candidate.moves for candidate in editor.tools.tools)
    return moves and holds_another(people, None if party is None else party.id)
