"""Reports to an editor what happens: what there is when it joins, and then each change of the state.

An editor reads the state when it has changed, at its own pace. So it waits for no other client, and no other for it.
When it reads is for `Rounds` to say, and what several get is put together there once. What the program has written,
and which sources have become known, is `ProgramNews`.
"""

from collections.abc import Collection

import trio
from msgspec import Raw, Struct
from msgspec.json import encode

from trio_debugmcp.editors.breakpoints.book import GOING_ON
from trio_debugmcp.editors.breakpoints.set_breakpoints import announce, breakpoint_of
from trio_debugmcp.editors.breakpoints.set_exception_breakpoints import changed_filters
from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.looking import first_threads
from trio_debugmcp.editors.numbers import number_of
from trio_debugmcp.editors.rounds import Rounds
from trio_debugmcp.editors.starting import LAUNCH_SECONDS
from trio_debugmcp.session.output.output_tail import OutputTail
from trio_debugmcp.state.model import Snapshot, State

SHOWN_CHARACTERS = 64_000
"""Of what was written before an editor has joined; a person reads the end of it."""

_CATEGORIES = {"stdout": "stdout", "stderr": "stderr", "console": "console", "tracepoint": "console"}


class ProgramNews:
    """What was reported to one editor of a program that it shows, and is not to be reported again."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._tail: OutputTail | None = None
        self._console: object = None
        self._sources: object = None
        self._known_sources = 0

    def __repr__(self) -> str:
        return f"<ProgramNews for {self._editor!r}>"

    def report_sources(self) -> None:
        """Report which sources have become known: those from before it joined an editor asks for."""
        editor, program = self._editor, self._editor.debugger.programs.of(self._editor.session_id or "")
        if program is None:
            return
        if program.sources is not self._sources:
            self._known_sources = len(program.sources.since(0)) if self._sources is None else 0
            self._sources = program.sources
        fresh = program.sources.since(self._known_sources)
        self._known_sources += len(fresh)
        for path in fresh:
            editor.channel.event("loadedSource", {"reason": "new", "source": editor.source_of(path)})

    def report_output(self) -> None:
        """Report what was written since; to one that has just joined the end of it."""
        editor = self._editor
        program = editor.debugger.programs.of(editor.session_id or "")
        if program is not None and program.console is not self._console:
            self._console = program.console
            self._tail = OutputTail(program.console, show_secrets=editor.debugger.settings.show_secrets)
            left_out = self._tail.skip_to_last(SHOWN_CHARACTERS)
            if left_out:
                editor.channel.event("output", {"category": "console", "output": f"… {left_out} characters before\n"})
        for stream, text in () if self._tail is None else self._tail.news():
            editor.channel.event("output", {"category": _CATEGORIES[stream], "output": text})


class _Seen(Struct):
    """What was reported last."""

    state: State
    snapshot: Snapshot | None = None
    process: tuple[str, int | None] | None = None
    running: str | None = None
    first_threads: frozenset[bytes] = frozenset()


class Follower:
    """Reports to one editor what happens in its session."""

    def __init__(self, editor: Editor, rounds: Rounds) -> None:
        self._editor = editor
        self._rounds = rounds
        self._seen = _Seen(State())
        self._news = ProgramNews(editor)

    def __repr__(self) -> str:
        return f"<Follower of {self._editor!r}>"

    async def run(self) -> None:
        """Report what there is, and what changes, until the session has ended."""
        editor, merger = self._editor, self._editor.debugger.merger
        while True:
            await editor.moves.over()
            state = merger.state
            if state.snapshot(editor.session_id or "") is None and not await self._moved_on(state):
                self._report_end(state)
                return
            self._turn_to_focus()
            state = merger.state
            snapshot = state.snapshot(editor.session_id or "")
            if snapshot is not None:  # else it has ended in this moment
                self._report(state, snapshot)
                await self._report_first_threads(snapshot)
                if merger.state is state:  # else it has changed while the threads were asked for
                    await self._rounds.wait(editor, self._look)

    def _look(self) -> bool:
        """Report what has changed, without waiting; return False if that is for the task of this editor."""
        editor, state = self._editor, self._editor.debugger.merger.state
        snapshot = state.snapshot(editor.session_id or "")
        if editor.moves.are_awaited or snapshot is None or self._lacks_threads(snapshot) or self._turn_to_focus():
            return False
        self._report(state, snapshot)
        return True

    # --- Which session ---------------------------------------------------------------------------------------

    async def _moved_on(self, state: State) -> bool:
        """Join the session that takes the place of one that has ended; return whether there is one."""
        editor, merger = self._editor, self._editor.debugger.merger
        end = state.end_of(editor.session_id or "")
        if end is None or end.end_reason not in GOING_ON:
            return self._turn_to_focus()
        before = {snapshot.id for snapshot in self._seen.state.snapshots}
        with trio.move_on_after(editor.debugger.patience.seconds(LAUNCH_SECONDS)):
            now = await merger.wait_until(lambda now: session_after(end.id, now, before) is not None)
            editor.join(session_after(end.id, now, before) or "")
            return True
        return False

    def _turn_to_focus(self) -> bool:
        """Show the session in focus, for an editor that has one place for all; return whether it is another one."""
        editor, state = self._editor, self._editor.debugger.state
        if editor.fixed or editor.hello.supports_start_debugging_request or state.focus is None:
            return False
        wanted = state.program_of(state.focus)
        if wanted == editor.session_id:
            return False
        editor.join(wanted)
        return True

    # --- What has changed ------------------------------------------------------------------------------------

    def _report(self, state: State, snapshot: Snapshot) -> None:
        """Report what differs from the last time."""
        editor, seen = self._editor, self._seen
        editor.ids.forget(snapshot.id, snapshot.generation)
        editor.report_capabilities()
        self._report_process(snapshot)
        self._report_breakpoints(seen.state, state)
        self._news.report_output()
        self._news.report_sources()
        if seen.snapshot is None or seen.snapshot.id != snapshot.id:
            seen.first_threads = frozenset()
        for name, body in self._rounds.events(seen.snapshot, snapshot):
            if name == "stopped":
                self._look_ahead(snapshot)
            if self._is_wanted(name, body):
                editor.channel.event(name, body)
        seen.state, seen.snapshot = state, snapshot
        editor.at_stop = snapshot.stop.number if snapshot.phase == "Paused" and snapshot.stop is not None else 0

    def _is_wanted(self, event: str, body: Raw) -> bool:
        editor, before = self._editor, self._seen.snapshot
        if event == "thread":
            return bytes(body) not in self._seen.first_threads
        if event == "continued":  # the response to its own request says that, as DAP has it
            return before is None or before.stop is None or (before.id, before.stop.number) != editor.left
        return event != "invalidated" or editor.hello.supports_invalidated_event

    def _look_ahead(self, snapshot: Snapshot) -> None:
        """Ask for what an editor will ask for that has shown the stop before; one that steps waits for it."""
        editor = self._editor
        if editor.shows_values and editor.left is not None and snapshot.stack.frames:
            editor.values.look_ahead(editor.session(), snapshot)
        editor.shows_values, editor.left = False, None

    async def _report_first_threads(self, snapshot: Snapshot) -> None:
        """Report the threads of a program that runs and has not stopped yet: an editor pauses one of them."""
        if self._lacks_threads(snapshot):
            self._seen.running = snapshot.id
            found = await first_threads(self._editor.session())
            bodies = [encode({"reason": "started", "threadId": number}) for number, _ in found]
            self._seen.first_threads = frozenset(
                bodies
            )  # the state has no threads before the first stop, and then these
            for body in bodies:
                self._editor.channel.event("thread", Raw(body))

    def _lacks_threads(self, snapshot: Snapshot) -> bool:
        running = snapshot.phase == "Running" and snapshot.threads.captured_at is None
        return running and self._seen.running != snapshot.id

    def _report_process(self, snapshot: Snapshot) -> None:
        origin = snapshot.origin
        if snapshot.phase == "Starting":  # its number comes with the start
            return
        if self._seen.process == (snapshot.id, origin.process_id):
            return
        self._seen.process = (snapshot.id, origin.process_id)
        name = origin.process_name or origin.executable_path or snapshot.id
        method = "attach" if origin.launch_mode == "Attach" else "launch"
        body: dict[str, object] = {"name": name, "startMethod": method}
        if origin.process_id is not None:
            body["systemProcessId"] = origin.process_id
        self._editor.channel.event("process", body)

    def _report_breakpoints(self, old: State, new: State) -> None:
        editor, changes = self._editor, self._rounds.breakpoints(old, new)
        # First: what another client has changed is a new one in its place, and two are never shown there.
        for each_id in () if changes is None else changes.removed:
            if editor.breakpoints.forget(each_id):
                shown = {"id": number_of(each_id), "verified": False}
                editor.channel.event("breakpoint", {"reason": "removed", "breakpoint": shown})
        for breakpoint in () if changes is None else (*changes.new, *changes.changed):
            shown = breakpoint_of(editor, breakpoint)
            mine = editor.book.is_owner(editor.owner, breakpoint.id)
            known = breakpoint.id in editor.breakpoints.reported
            if not mine:
                announce(editor, breakpoint)
            if known and shown == editor.breakpoints.reported.get(breakpoint.id):  # it differs in its hits only
                continue
            editor.breakpoints.reported[breakpoint.id] = shown
            editor.channel.event("breakpoint", {"reason": "changed" if known else "new", "breakpoint": shown})
        if old.exceptions is not new.exceptions:
            for reason, shown in changed_filters(editor):
                editor.channel.event("breakpoint", {"reason": reason, "breakpoint": shown})

    def _report_end(self, state: State) -> None:
        editor = self._editor
        self._news.report_output()
        end = state.end_of(editor.session_id or "")
        if end is not None and end.exit_code is not None:
            editor.channel.event("exited", {"exitCode": end.exit_code})
        editor.channel.event("terminated")


def session_after(ended_id: str, state: State, before: Collection[str]) -> str | None:
    """Return the session that runs the program of one that has ended again; None: it has not begun yet.

    It may have ended, too, before an editor comes to look. `before`: the sessions that there were beside the first.
    """
    if state.focus is not None and state.focus not in before:
        return state.program_of(state.focus)
    ended = [snapshot.id for snapshot in state.ended]
    later = ended[ended.index(ended_id) + 1 :] if ended_id in ended else []
    return next((session_id for session_id in later if session_id not in before), None)
