"""`Editor`: an editor that has joined: who it is, which session it shows, and what it knows of it by which numbers.

An editor is a client like those of MCP: what changes something is a call of a tool, so that roles, the timeline and the
notes to other clients hold for it as well. What only looks is answered from the state, or by the session's adapter.

    editor = Editor(context, channel, hello, client, calls, family)
    editor.join("s-1")
    session, snapshot = editor.paused()
    await editor.call("debug_step", mode="over", thread_id=1, wait=False)
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import trio
from mcp_types import CallToolResult
from msgspec import Struct, field

from trio_debugmcp.editors.arguments import InitializeArguments
from trio_debugmcp.editors.book import EditorBook
from trio_debugmcp.editors.capabilities import capabilities
from trio_debugmcp.editors.channel import EditorChannel
from trio_debugmcp.editors.numbers import WORDS, AdapterNumber, Kind, SourceNumbers, StopIds, Way
from trio_debugmcp.editors.recording import RecordedCalls
from trio_debugmcp.editors.refusals import EditorRefusal, check, held_by
from trio_debugmcp.editors.shared_values import SharedValues
from trio_debugmcp.editors.spelling import Spelling
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.masking.mask import masked_value
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.clients import Client, Clients, known_name
from trio_debugmcp.server.failures import failed_result, usage_error
from trio_debugmcp.server.people.hold import holds_another
from trio_debugmcp.server.secrets import check_arguments
from trio_debugmcp.server.tools import Toolbox
from trio_debugmcp.session.breakpoints.ownership import Owner
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.transports.tap import ConnectionTap

NAMELESS = "an editor"

EFFECTS_SECONDS = 2.0
"""For an adapter to answer what a person asks for, after which events about its effects are sent in any case."""


class EditorContext(Struct, frozen=True):
    """What all editors of a server share."""

    debugger: Debugger
    tools: Toolbox
    clients: Clients
    book: EditorBook
    tap: ConnectionTap
    values: SharedValues = field(default_factory=SharedValues)


class Editor:
    """One editor in one session.

    Attributes:
        acts_until: until then what happens is the effect of what its person did, by Trio's clock.
        family: what its connections have in common; each of them is an editor here.
        fixed: it shows the session that it has named, and no other.
        name: by which others know it; `owner`: as whom it sets breakpoints.
        ids: its numbers of frames and values.
        joining: in it the program is started or waited for; its person may give that up.
        shows_values: it has asked for the variables of the top frame, at the stop before.
        left: the session and the number of the stop that it has resumed from, until the next one is reported.
        announced: the breakpoints of others that were reported to it; `reported`: each as it was reported last.
        absent: where it has left out a breakpoint of another client, whether that was reported to it or not.
        asked: what it has asked for at each place last, besides the place; `spellings`: how it spells files.
        at_stop: the number of the stop that was reported last; 0 if it runs since, None if nothing was reported yet.
        filters: the kinds of exceptions that it wants to stop at, each as it was reported last.
    """

    def __init__(
        self,
        context: EditorContext,
        channel: EditorChannel,
        hello: InitializeArguments,
        client: Client,
        calls: RecordedCalls,
        family: str,
    ) -> None:
        self.debugger, self.tools, self.clients = context.debugger, context.tools, context.clients
        self.book, self.values, self._calls = context.book, context.values, calls
        self.channel, self.hello, self.client, self.family = channel, hello, client, family
        self.name = name_of(hello)
        self.spelling = Spelling(hello)
        self.ids, self.sources = StopIds(), SourceNumbers()
        self.announced: set[str] = set()
        self.absent: set[tuple[object, ...]] = set()
        self.asked: dict[tuple[object, ...], tuple[str | None, ...]] = {}
        self.spellings: dict[str, str] = {}
        self.reported: dict[str, object] = {}
        self.at_stop: int | None = None
        self.filters: dict[str, dict[str, Any]] = {}
        self._answering: dict[object, float] = {}
        self._settled = trio.Event()
        self.fixed = self.shows_values = False
        self.left: tuple[str, int] | None = None
        self.acts_until = 0.0
        self.joining = trio.CancelScope()
        self._capabilities: object = None
        self._adapter: object = None
        self._session_id: str | None = None
        if self.role == "control":  # an observer sets none
            self.book.joined(self.owner, None, self.family)

    def __repr__(self) -> str:
        return f"<Editor {self.name!r} role={self.role!r} in {self._session_id}>"

    @property
    def role(self) -> Role:
        """What it may do."""
        return self.client.role

    @property
    def owner(self) -> Owner:
        """As whom it sets breakpoints."""
        return (self.client, self.name)

    @property
    def watched(self) -> dict[tuple[str, str], str]:
        """The breakpoint that was set for an id of data and a kind of access."""
        return self.book.watched_by(self.owner)

    # --- The session -----------------------------------------------------------------------------------------

    @property
    def session_id(self) -> str | None:
        """The session that it shows; None until there is one. It may have ended."""
        return self._session_id

    def join(self, session_id: str) -> None:
        """Show that session from now on."""
        self._session_id = session_id
        program = self.debugger.programs.of(session_id)
        if self.role == "control":
            self.book.joined(self.owner, None if program is None else program.id, self.family)

    def report_capabilities(self) -> None:
        """Report what this session's adapter can do and this editor may, if that has changed."""
        session = None if self.snapshot is None else self.session()
        adapter = None if session is None else session.requests.capabilities
        if adapter is self._adapter and self._capabilities is not None:
            return
        self._adapter = adapter
        can = capabilities(self.role, adapter, has_probe=session is not None and session.profile.has_probe)
        if can != self._capabilities:
            self._capabilities = can
            self.channel.event("capabilities", {"capabilities": can})

    @property
    def snapshot(self) -> Snapshot | None:
        """What is true of the session now; None if it has ended, or has not begun."""
        return None if self._session_id is None else self.debugger.state.snapshot(self._session_id)

    def session(self) -> DebugSession:
        """Return the session.

        Raises:
            Refusal: it has ended, or has not begun.
        """
        if self._session_id is None or self.snapshot is None:
            raise EditorRefusal("There is no debug session: it has ended, or has not begun.")
        return self.debugger.program(self._session_id)

    def paused(self) -> tuple[DebugSession, Snapshot]:
        """Return the session and its snapshot, if it is paused.

        Raises:
            DebugError: it is not.
        """
        session = self.session()
        snapshot = session.snapshot
        if snapshot is None or snapshot.phase != "Paused":
            raise EditorRefusal("The program is not paused.", word="notStopped")
        return session, snapshot

    # --- Numbers ---------------------------------------------------------------------------------------------

    def number(
        self,
        kind: Kind,
        snapshot: Snapshot,
        adapter_id: int,
        *,
        thread: int = 0,
        frame: int = 0,
        file: str | None = None,
        way: Way | None = None,
        named: int | None = None,
        indexed: int | None = None,
    ) -> int:
        """Return this editor's number for one of the adapter's in this stop; 0 stays 0."""
        if not adapter_id and kind == "variables":
            return 0
        calls = 0 if self.snapshot is None else self.session().requests.calls
        stop = snapshot.id, snapshot.generation
        return self.ids.give(kind, AdapterNumber(*stop, adapter_id, thread, frame, file, calls, way, named, indexed))

    def place(self, kind: Kind, number: int) -> tuple[DebugSession, Snapshot, AdapterNumber]:
        """Return what a number stands for, in the stop at hand.

        Raises:
            Refusal: it is of a stop that is over, or was never given to this editor, or not as one of that kind.
        """
        found = self.ids.find(kind, number)
        other = self.ids.other_kind(kind, number) if found is None else None
        if other is not None:
            raise EditorRefusal(f"{number} is the number of {WORDS[other]}, and not of {WORDS[kind]}.")
        if found is None and not self.ids.was_given(number):
            raise EditorRefusal(f"{number} is unknown: no answer to this editor has it.")
        session, snapshot = self.paused()
        if found is None or (found.session_id, found.generation) != (snapshot.id, snapshot.generation):
            raise EditorRefusal(f"{number} is of a stop that is over.", word="notStopped")
        return session, snapshot, found

    def memory(self, reference: str | None) -> str | None:
        """Return a place in memory as the adapter names it; None if this editor has no use for it."""
        return reference if self.hello.supports_memory_references else None

    # --- Tools -----------------------------------------------------------------------------------------------

    async def call(self, tool: str, *, session_id: str | None = None, **arguments: Any) -> Any:
        """Call a tool as this editor, and return its answer.

        Raises:
            DebugError: it failed, or this editor may not call it.
        """
        given = {name: each for name, each in arguments.items() if each is not None}
        if session_id is not None:
            given["session_id"] = session_id
        if not self.debugger.settings.show_secrets:
            check_arguments(given)
        self.check_held(tool)
        if self.tools.controls(tool) and self.role == "control":
            self._take_orphan()
        number = await self._calls.called(tool, given)
        with self.book.noting(self.owner):
            result = await self.tools.call(self.debugger, tool, given, self.role, self.name, self.client)
        await self._calls.answered(number, result)
        check(result)
        return result.structured_content

    @asynccontextmanager
    async def recorded(self, tool: str, **arguments: Any) -> AsyncIterator[list[str]]:
        """Record what this editor does as a call of a tool, which is done in another way; the block adds the value."""
        value: list[str] = []
        self.check_held(tool)
        if self._session_id is not None:  # a replay is of this program, too
            arguments["session_id"] = self._session_id
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
            result = CallToolResult(content=[], structured_content={"value": "".join(value)})
            call.came_to(result, None)
            await self._calls.answered(number, result)

    def check_held(self, tool: str) -> None:
        """Refuse what another person's hold is against. A call of an agent would wait; an editor's person sees why.

        Raises:
            Refusal: the programs are held.
        """
        if is_held(self, tool):
            people = self.debugger.state.people
            who = "Another person" if people.hold is None or people.hold.name is None else people.hold.name
            raise held_by(who)

    def _take_orphan(self) -> None:
        """Become the owner of a program that has none any more, so that it does not end in the midst of a step.

        A program that has one keeps it: when the editor leaves nothing changes for others.
        """
        program = None if self._session_id is None else self.debugger.programs.of(self._session_id)
        if program is not None and program.owner is None:
            self.clients.give(self.client, self._session_id)
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

    def note(self, text: str) -> None:
        """Show a sentence to the person, among the output."""
        self.channel.event("output", {"category": "important", "output": f"{self.plain(text)}\n"})

    # --- Order -----------------------------------------------------------------------------------------------

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Have events wait until a request is answered whose effect they are, for `EFFECTS_SECONDS` at most."""
        request = object()
        self._answering[request] = trio.current_time() + self.debugger.patience.seconds(EFFECTS_SECONDS)
        try:
            yield
        finally:
            del self._answering[request]
            if not self._answering:
                self._settled.set()

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered whose effects would be reported."""
        return bool(self._answering) and max(self._answering.values()) > trio.current_time()

    async def settled(self) -> None:
        """Wait until no request is being answered whose effects would be reported."""
        while self.is_answering:
            self._settled = trio.Event()
            with trio.move_on_at(max(self._answering.values())):
                await self._settled.wait()


def is_held(editor: Editor, tool: str) -> bool:
    """Return whether another person's hold is against what a tool does."""
    people = editor.debugger.state.people
    party = people.party_of(editor.client.number, editor.name)
    moves = any(each.name == tool and each.moves for each in editor.tools.tools)
    return moves and holds_another(people, None if party is None else party.id)


def name_of(hello: InitializeArguments) -> str:
    """Return the name by which others know an editor."""
    return known_name(hello.client_name or "") or known_name(hello.client_id or "") or NAMELESS
