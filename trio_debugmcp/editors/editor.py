"""`Editor`: an editor that has joined: who it is, which session it shows, and what it knows of it by which numbers.

An editor is a client like those of MCP: what changes something is a call of a tool, so that roles, the timeline and the
notes to other clients hold for it as well. What only looks is answered from the state, or by the session's adapter.

    editor = Editor(context, channel, hello, client, calls, family)
    editor.join("s-1")
    session, snapshot = editor.paused()
    await editor.call("debug_step", mode="over", thread_id=1, wait=False)
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct, field

from trio_debugmcp.editors.arguments import InitializeArguments
from trio_debugmcp.editors.capabilities import capabilities
from trio_debugmcp.editors.channel import EditorChannel
from trio_debugmcp.editors.moves_under_way import MovesUnderWay
from trio_debugmcp.editors.numbers import WORDS, AdapterNumber, Kind, SourceNumbers, StopIds, Way
from trio_debugmcp.editors.past.past_view import PastView
from trio_debugmcp.editors.recording import RecordedCalls
from trio_debugmcp.editors.refusals import EditorRefusal
from trio_debugmcp.editors.spelling import Spelling
from trio_debugmcp.editors.tool_caller import EditorContext, ToolCaller
from trio_debugmcp.server.connected_client import Client, known_name
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.breakpoint import Place
from trio_debugmcp.state.model import Snapshot

NAMELESS = "an editor"

NOT_IN_PAST = (
    "This moment is recorded: it can be looked at, and nothing in it can be changed. Step forth to the present."
)


class ShownBreakpoints(Struct):
    """What an editor shows of breakpoints.

    `reported`: each as it was reported last, by its id; `announced`: those of others among them. `absent`: where it has
    left out a breakpoint of another client, whether that was reported to it or not. `asked`: what it has asked for at
    each place last, besides the place. `spellings`: how it spells files. `filters`: the kinds of exceptions that it
    wants to stop at, each as it was reported last.
    """

    reported: dict[str, object] = field(default_factory=dict)
    announced: set[str] = field(default_factory=set)
    absent: set[Place] = field(default_factory=set)
    asked: dict[Place, tuple[str | None, ...]] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    filters: dict[str, dict[str, Any]] = field(default_factory=dict)

    def forget(self, breakpoint_id: str) -> bool:
        """Forget a breakpoint that the editor does not show any more; return whether it did."""
        self.announced.discard(breakpoint_id)
        return self.reported.pop(breakpoint_id, None) is not None


class Editor(ToolCaller):
    """One editor in one session.

    Attributes:
        acts_until: until then what happens is the effect of what its person did, by Trio's clock.
        family: what its connections have in common; each of them is an editor here.
        fixed: it shows the session that it has named, and no other.
        ids: its numbers of frames and values.
        joining: in it the program is started or waited for; its person may give that up.
        shows_values: it has asked for the variables of the top frame, at the stop before.
        moves: those of its requests that are being answered and move the program.
        left: the session and the number of the stop that it has resumed from, until the next one is reported.
        breakpoints: what it shows of them.
        at_stop: the number of the stop that was reported last; 0 if it runs since, None if nothing was reported yet.
        past: the recorded moment that was shown last; `in_past` is whether it still is.
        past_events: what is to be reported of it, behind the response to the request that has led there.
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
        super().__init__(context, client, name_of(hello), calls)
        self.values, self.channel, self.hello, self.family = context.values, channel, hello, family
        self.spelling = Spelling(hello)
        self.ids, self.sources = StopIds(), SourceNumbers()
        self.breakpoints = ShownBreakpoints()
        self.at_stop: int | None = None
        self.past: PastView | None = None
        self.past_events: list[tuple[str, dict[str, Any] | None]] = []
        self.moves = MovesUnderWay(self.debugger.patience)
        self.fixed = self.shows_values = False
        self.left: tuple[str, int] | None = None
        self.acts_until = 0.0
        self.joining = trio.CancelScope()
        self._capabilities: object = None
        self._adapter: object = None
        if self.role == "control":  # an observer sets none
            self.book.programs.joined(self.owner, None, self.family)

    # --- The session -----------------------------------------------------------------------------------------

    def join(self, session_id: str) -> None:
        """Show that session from now on."""
        self.session_id = session_id
        self.debugger.merger.look_again()  # which sessions are offered to the editor goes by its own
        program = self.debugger.programs.of(session_id)
        if self.role == "control":
            self.book.programs.joined(self.owner, None if program is None else program.id, self.family)

    def report_capabilities(self) -> None:
        """Report what this session's adapter can do and this editor may, if that has changed."""
        session = None if self.snapshot is None else self.session()
        adapter = None if session is None else session.requests.capabilities
        recorded = self._is_recorded
        if (adapter, recorded) == self._adapter and self._capabilities is not None:
            return
        self._adapter = adapter, recorded
        probe = session is not None and session.looking.is_python
        can = capabilities(self.role, adapter, probe=probe, recorded=recorded)
        if can != self._capabilities:
            self._capabilities = can
            self.channel.event("capabilities", {"capabilities": can})

    @property
    def _is_recorded(self) -> bool:
        """Whether there is a record that can be stepped through."""
        program = self.debugger.programs.of(self.session_id or "")
        session_id = (self.session_id or "") if program is None else program.id
        has_opened = self.past is not None and self.past.of.has_ended
        return has_opened or self.debugger.runs.recorded_in(session_id) is not None

    @property
    def in_past(self) -> PastView | None:
        """The recorded moment that is shown, as long as the program has not moved; None: the stop itself is."""
        view, now = self.past, self.snapshot
        if view is None or view.of.has_ended:
            return view
        is_there = now is not None and now.phase == "Paused" and (now.id, now.generation) == view.of.stop
        return view if is_there else None

    @property
    def snapshot(self) -> Snapshot | None:
        """What is true of the session now; None if it has ended, or has not begun."""
        return None if self.session_id is None else self.debugger.state.snapshot(self.session_id)

    def session(self) -> DebugSession:
        """Return the session.

        Raises:
            EditorRefusal: it has ended, or has not begun.
        """
        if self.session_id is None or self.snapshot is None:
            raise EditorRefusal("There is no debug session: it has ended, or has not begun.")
        return self.debugger.program(self.session_id)

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
        calls = 0 if self.snapshot is None else self.session().requests.suspension.calls
        stop = snapshot.id, snapshot.generation
        return self.ids.give(kind, AdapterNumber(*stop, adapter_id, thread, frame, file, calls, way, named, indexed))

    def place(self, kind: Kind, number: int) -> tuple[DebugSession, Snapshot, AdapterNumber]:
        """Return what a number stands for, in the stop at hand.

        Raises:
            EditorRefusal: it is of a stop that is over, or was never given to this editor, or not as one of that kind.
        """
        found = self.ids.find(kind, number)
        other = self.ids.other_kind(kind, number) if found is None else None
        if other is not None:
            raise EditorRefusal(f"{number} is the number of {WORDS[other]}, and not of {WORDS[kind]}.")
        if found is None and not self.ids.was_given(number):
            raise EditorRefusal(f"{number} is unknown: no answer to this editor has it.")
        if found is not None and found.moment:
            raise EditorRefusal(NOT_IN_PAST, show=True)
        session, snapshot = self.paused()
        if found is None or (found.session_id, found.generation) != (snapshot.id, snapshot.generation):
            raise EditorRefusal(f"{number} is of a stop that is over.", word="notStopped")
        return session, snapshot, found

    def memory(self, reference: str | None) -> str | None:
        """Return a place in memory as the adapter names it; None if this editor has no use for it."""
        return reference if self.hello.supports_memory_references else None

    def source_of(self, path: str, reference: int = 0) -> dict[str, Any]:
        """Return a source: a file by its path; what is in no file by a number, under which its text can be had."""
        name = path.rpartition("/")[2] or path
        if not reference and path.startswith("/") and Path(path).is_file():
            return {"name": name, "path": self.spelling.path(path)}
        return {"name": name, "path": path, "sourceReference": self.sources.number(path)}

    def note(self, text: str) -> None:
        """Show a sentence to the person, among the output."""
        self.channel.event("output", {"category": "important", "output": f"{self.plain(text)}\n"})


def name_of(hello: InitializeArguments) -> str:
    """Return the name by which others know an editor."""
    return known_name(hello.client_name or "") or known_name(hello.client_id or "") or NAMELESS


Serve = Callable[[Editor, Any], Awaitable[dict[str, Any] | None]]
"""How a request of an editor's is served: the body of the response."""
