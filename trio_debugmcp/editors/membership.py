"""`Membership`: an editor among the clients, from the token that it has shown until it leaves.

membership
├─ member      joins or starts a session, and reports what happens there: following.py
└─ children    offers sessions that it does not show: child_sessions.py
"""

from collections.abc import Mapping
from secrets import token_hex
from typing import Any

import trio
from msgspec import ValidationError

from trio_debugmcp.dap.messages import Request
from trio_debugmcp.editors.arguments import AttachArguments, InitializeArguments
from trio_debugmcp.editors.channel import EditorChannel
from trio_debugmcp.editors.child_sessions import offer_sessions
from trio_debugmcp.editors.editor import Editor, name_of
from trio_debugmcp.editors.following import Follower
from trio_debugmcp.editors.past.past_moves import open_run
from trio_debugmcp.editors.recording import RecordedCalls
from trio_debugmcp.editors.refusals import EditorRefusal, refusal_of
from trio_debugmcp.editors.rounds import Rounds
from trio_debugmcp.editors.serving import Service
from trio_debugmcp.editors.starting import start_of
from trio_debugmcp.editors.tool_caller import EditorContext
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.people.presence import Presence
from trio_debugmcp.session.merger import MERGE_SECONDS
from trio_debugmcp.state.changes import Happened
from trio_debugmcp.state.model import State
from trio_debugmcp.state.timeline_events import client_joined, client_left

JOINED_SECONDS = 0.3
"""For an editor that has joined to ask for the threads, as VS Code does at once. A stop that is reported before that is
answered it shows without values."""


class Membership:
    """One editor's; `service` knows what it has asked so far."""

    def __init__(
        self,
        context: EditorContext,
        rounds: Rounds,
        service: Service,
        channel: EditorChannel,
        hello: InitializeArguments,
        role: Role,
    ) -> None:
        self._context = context
        self._rounds, self._service = rounds, service
        self._channel = channel
        self._hello = hello
        self._role = role
        self.editor: Editor | None = None
        self._is_initialized = False
        self._opened: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<Membership of {self.editor!r}>"

    async def run(self, request: Request, wanted: AttachArguments, configuration: Mapping[str, Any]) -> None:
        """Be a client until cancelled; join the session that is wanted, and report what happens there."""
        merger, name = self._context.debugger.merger, name_of(self._hello)
        calls = RecordedCalls(self._context.tap, self._role, name)
        async with self._context.clients.connect(self._role, is_editor=True) as client:
            presence = None
            if client.in_timeline:
                await merger.merge(Happened(client_joined(name, None, self._role)))
                presence = Presence(self._context.debugger, client) if self._role == "control" else None
            try:
                key = f"editor {token_hex(16)}"  # who could guess it would be this person
                if presence is not None:  # a person, who is the same as long as the connection; it shows no questions
                    await presence.joined(name, key, answers=False)
                family = wanted.part_of or token_hex(16)
                with calls:
                    await calls.introduce(None if presence is None else key)
                    editor = Editor(self._context, self._channel, self._hello, client, calls, family)
                    editor.fixed = wanted.session_id is not None
                    await self._take_part(editor, request, wanted, configuration)
                    await trio.sleep_forever()
            finally:
                # Shielded: this ends by cancellation, and the timeline must still record the end.
                with trio.move_on_after(MERGE_SECONDS, shield=True):
                    await self._context.book.left((client, name))
                    if presence is not None:
                        await presence.left(name)
                    if client.in_timeline:
                        await merger.merge(Happened(client_left(name, None, self._role)))

    async def _take_part(
        self, editor: Editor, request: Request, wanted: AttachArguments, configuration: Mapping[str, Any]
    ) -> None:
        starts = request.command == "launch"
        try:
            with editor.joining:
                if starts:
                    await self._launch(editor, configuration)
                else:
                    await self._attach(editor, wanted)
        except (DebugError, OSError, ValidationError) as error:
            self._channel.refuse(request, editor.plain(refusal_of(error).sentence), show=True)
        else:
            if not editor.joining.cancelled_caught:
                await self._follow(editor, request, configuration, starts=starts)
                return
            self._channel.refuse(request, "It was given up, as `terminate` has asked for.", word="cancelled")
        if self._is_initialized:
            self._channel.event("terminated")

    async def _follow(
        self, editor: Editor, request: Request, configuration: Mapping[str, Any], *, starts: bool
    ) -> None:
        """Report what happens in the session, until it has ended."""
        self._channel.respond(request)
        if not starts:
            self._initialize(editor)
            await self._service.configured.wait()
            with trio.move_on_after(self._context.debugger.patience.seconds(JOINED_SECONDS)):
                await self._service.asked_threads.wait()
        if self._opened is not None:  # a run that has ended: nothing happens in it any more
            self._channel.event("stopped", self._opened)
            return
        async with trio.open_nursery() as nursery:
            if self._hello.supports_start_debugging_request and not editor.fixed:
                nursery.start_soon(offer_sessions, editor, configuration)
            await Follower(editor, self._rounds).run()
            nursery.cancel_scope.cancel(reason="the session has ended")

    async def _attach(self, editor: Editor, wanted: AttachArguments) -> None:
        """Join the session that is wanted; with `wait`, when there is one. Or open a recorded run."""
        debugger = editor.debugger
        if wanted.run is not None:
            self._opened = await open_run(editor, debugger.runs.run(wanted.run))
            return
        if _session(debugger.state, wanted) is None and not wanted.wait:
            which = "" if wanted.session_id is None else f" '{wanted.session_id}'"
            raise EditorRefusal(
                f'There is no debug session{which}. With "wait": true an editor waits for the next one; with '
                '"request": "launch" it starts one.'
            )
        if _session(debugger.state, wanted) is None:
            # Its breakpoints are taken before there is a program: a short one would be over before they came.
            self._initialize(editor)
        state = await debugger.merger.wait_until(lambda now: _session(now, wanted) is not None)
        editor.join(_session(state, wanted) or "")

    async def _launch(self, editor: Editor, configuration: Mapping[str, Any]) -> None:
        """Start a program once the editor has set its breakpoints, and join it."""
        editor.check_control("to start a program")
        if not configuration.get("replace"):
            _check_free(editor, new_session=bool(configuration.get("newSession")))
        self._initialize(editor)
        await self._service.configured.wait()
        start = await start_of(editor.debugger, configuration)
        answer = await editor.call("debug_launch", **start.arguments)
        editor.join(answer["session"])
        if start.note is not None:
            editor.note(start.note)

    def _initialize(self, editor: Editor) -> None:
        """Report what the session's adapter can do, and, once, that the editor's breakpoints are awaited."""
        self.editor = editor
        editor.report_capabilities()
        if not self._is_initialized:
            self._is_initialized = True
            self._channel.event("initialized")


def _check_free(editor: Editor, *, new_session: bool) -> None:
    """Raise unless a program may be started.

    Raises:
        EditorRefusal: there is a session; in the words of a configuration, where a tool's would name its parameters.
        UsageError: `SESSION_ACTIVE`: there are too many.
    """
    try:
        editor.debugger.programs.check_free(new_session=new_session)
    except UsageError as error:
        if new_session:
            raise
        raise EditorRefusal(
            'A debug session is active. To join it, use a configuration with "request": "attach"; with '
            '"newSession": true this program runs beside it, with "replace": true in its place.',
            show=True,
        ) from error


def _session(state: State, wanted: AttachArguments) -> str | None:
    """Return the session that an editor wants to join; None if there is none."""
    if wanted.session_id is not None:
        return wanted.session_id if state.snapshot(wanted.session_id) is not None else None
    return None if state.focus is None else state.program_of(state.focus)
