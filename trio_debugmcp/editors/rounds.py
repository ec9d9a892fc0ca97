"""`Rounds`: when editors get what has changed, and what several of them get, which is put together once.

    await rounds.wait(editor, look)               # calls `look` for each change; returns when that has returned False
    for name, body in rounds.events(old, new):    # encoded, and shared with all that have seen the same
        channel.event(name, body)

An editor whose person has just acted gets each change at once. Those that watch get theirs together, a moment
later: by then a step has ended, so that all its changes are one report, and the client that steps has its answer.
Of an agent that steps faster than people can look they get what there is ten times a second.
"""

from collections.abc import Callable, Hashable, Mapping
from math import inf
from typing import Any, TypeVar

import msgspec
import trio

from trio_debugmcp.editors.editor import Editor
from trio_debugmcp.editors.reported_events import BreakpointChanges, of_breakpoints, of_session
from trio_debugmcp.masking.mask import masked
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.model import Snapshot, State

ROUND_SECONDS = 0.03
"""From a change until those that watch get it: a step takes less, and a person does not see it."""

BETWEEN_SECONDS = 0.1
"""From one round to the next, while there are changes: ten stops a second are more than a person can follow, and twenty
editors that get each would cost the agent who steps so fast a third of the server's time."""

ACTING_SECONDS = 1.0
"""After a person has acted, for its effects to be reported at once; what comes later may take a moment."""

MAX_SHARED = 16
"""Reports that are kept for others: editors of one session have seen the same but for the moments of joining."""

_encoder = msgspec.json.Encoder()

_Made = TypeVar("_Made")


class _WaitingEditor(msgspec.Struct):
    """An editor's: what reports to it, what wakes its task, and the state that was reported last."""

    look: Callable[[], bool]
    woken: trio.Event
    reported: State


class Rounds:
    """The rounds of one server."""

    def __init__(self, debugger: Debugger) -> None:
        self._merger = debugger.merger
        self._show_secrets = debugger.settings.show_secrets
        self._waiting: dict[Editor, _WaitingEditor] = {}
        self._begin = trio.Event()
        self._shared: dict[Hashable, tuple[object, object, Any]] = {}
        self.made = 0

    def __repr__(self) -> str:
        return f"<Rounds: {len(self._waiting)} editors wait, {self.made} reports were made>"

    async def run(self) -> None:
        """Report to those that watch after each change, until cancelled."""
        last = -inf
        while True:
            if not self._waiting:  # idle: no change of the state wakes this task
                self._begin = trio.Event()
                await self._begin.wait()
            # Not from the state as this task finds it: it may have changed since an editor began to wait.
            await self._merger.wait_until(
                lambda now: any(waiting.reported is not now for waiting in self._waiting.values()), events=True
            )
            await trio.sleep_until(max(trio.current_time() + ROUND_SECONDS, last + BETWEEN_SECONDS))
            last, state = trio.current_time(), self._merger.state
            for editor, waiting in list(self._waiting.items()):
                # From this task, as twenty that wake cost the one who steps more than what they report.
                if self._looks(waiting):
                    waiting.reported = state
                else:
                    self._waiting.pop(editor, None)
                    waiting.woken.set()

    @staticmethod
    def _looks(waiting: _WaitingEditor) -> bool:
        try:
            return waiting.look()
        except Exception:  # noqa: BLE001 - a bug of ours costs one editor: its own task meets it again
            return False

    async def wait(self, editor: Editor, look: Callable[[], bool]) -> None:
        """Have changes reported by `look`, which never waits, until it returns False or the person acts.

        The caller has reported the state as it is.
        """
        if editor.acts_until > trio.current_time():
            state = self._merger.state
            await self._merger.wait_until(lambda now: now is not state, events=True)
            return
        # No checkpoint before this: a change in between would not wake this one.
        mine = self._waiting[editor] = _WaitingEditor(look, trio.Event(), self._merger.state)
        self._begin.set()
        try:
            await mine.woken.wait()
        finally:
            if self._waiting.get(editor) is mine:
                del self._waiting[editor]

    def hurry(self, editor: Editor) -> None:
        """Report changes to this editor at once for a while: its person acts."""
        editor.acts_until = trio.current_time() + ACTING_SECONDS
        if (waiting := self._waiting.pop(editor, None)) is not None:
            waiting.woken.set()

    # --- Shared ----------------------------------------------------------------------------------------------

    def events(self, old: Snapshot | None, new: Snapshot) -> list[tuple[str, msgspec.Raw]]:
        """Return the events of a session between two of its snapshots, encoded."""

        def make() -> list[tuple[str, msgspec.Raw]]:
            self.made += 1
            return [(name, msgspec.Raw(_encoder.encode(self._plain(body)))) for name, body in of_session(old, new)]

        return self._share("session", old, new, make)

    def _plain(self, body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """Return a body without secrets in its text, which is the program's, unless the server shows them."""
        if body is None or "text" not in body or self._show_secrets:
            return body
        return {**body, "text": masked(body["text"])}

    def breakpoints(self, old: State, new: State) -> BreakpointChanges | None:
        """Return how the breakpoints of two states differ; None if they do not."""
        if old.breakpoints is new.breakpoints:
            return None
        return self._share("breakpoints", old, new, lambda: of_breakpoints(old, new))

    def _share(self, kind: str, old: object, new: object, make: Callable[[], _Made]) -> _Made:
        key = (kind, id(old), id(new))
        found = self._shared.get(key)
        if found is None:  # both are kept with it, so that no other object has their ids
            found = self._shared[key] = (old, new, make())
            if len(self._shared) > MAX_SHARED:
                del self._shared[next(iter(self._shared))]
        made: _Made = found[2]
        return made
