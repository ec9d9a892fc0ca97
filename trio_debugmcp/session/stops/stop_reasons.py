"""`StopReasons`: what a stop is for the user, whatever the adapter calls it.

    stopped = reasons.known(stopped)                        # by the event alone
    meant = await reasons.at_place(stopped, frames, snapshot)
    if meant is None:
        ...                                                 # not to be published: the program is to run on

- The first stop of a program that was launched to stop where it begins is an `entry`, unless a breakpoint of the user's
  is there. One in code without source, as in a runtime that calls the program's, is left for the next.
- A stop that was asked for by `pause` is one, although lldb reports a signal and js-debug the end of a step.
- A step that ends as a `breakpoint`, as all of Perl's do, is a step if there is no breakpoint at its end.
- A breakpoint that the user has removed, and the adapter keeps, as rdbg 1.4 does, stops nothing.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.dap.messages import Stopped
from trio_debugmcp.dap.profiles.native.native_code import NativeCode
from trio_debugmcp.session.breakpoints.breakpoint_sync import BreakpointSync
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.state.breakpoint import StopPlace
from trio_debugmcp.state.breakpoint_rules import breakpoints_at
from trio_debugmcp.state.model import Snapshot, StackFrame

_PAUSING = re.compile(r"\bSIG(STOP|INT)\b")
"""Signals by which adapters stop a program that is to pause."""

_SIGNAL_NAME = re.compile(r"\bSIG[A-Z]+\d*\b")

_BEGINNINGS = frozenset({"entry", "pause", "step", "breakpoint", "function breakpoint", "stopped"})
"""Reasons that adapters have for a stop where a program begins."""


class StopReasons:
    """The stops of one session.

    Attributes:
        further: the request that resumes from a stop which is to be left.
    """

    def __init__(self, requests: Requests, merger: Merger, suspension: Suspension, breakpoints: BreakpointSync) -> None:
        self._requests = requests
        self._merger = merger
        self._suspension = suspension
        self._breakpoints = breakpoints
        self._at_beginning = breakpoints.hidden.launched
        self.further = "continue"

    def __repr__(self) -> str:
        return f"<StopReasons of {self._requests.session_id}>"

    def known(self, stopped: Stopped) -> Stopped:
        """Return a stop with the reason that follows from the event alone."""
        profile, snapshot = self._requests.profile, self._requests.snapshot
        if profile.habits.unjudged_at(stopped) is not None:
            stopped = replace(stopped, reason="breakpoint")
        if stopped.reason == "attach" and snapshot is not None and snapshot.origin.core_file is not None:
            stopped = replace(stopped, reason="signal")  # as gdb has it when a program crashes before its eyes
        meant = profile.habits.reasons.get(stopped.reason)
        if meant == "signal":
            stopped = _at_signal(stopped)
        elif meant is not None:
            stopped = replace(stopped, reason=meant)
        stopped = self._breakpoints.hidden.interpreted(stopped)
        if not self._suspension.pause_requested:
            return stopped
        signal = profile.thrown.signal(stopped) or f"{stopped.reason} {stopped.text} {stopped.description}"
        by_signal = stopped.reason not in ("step", "breakpoint") and _PAUSING.search(signal) is not None
        if not by_signal and stopped.reason != "pause":
            return stopped
        all_stop = stopped.all_threads_stopped and isinstance(profile.code, NativeCode)
        wanted = self._suspension.wanted_thread if all_stop else None  # gdb shows the first one, whichever was named
        stopped = Stopped(reason="pause", thread_id=stopped.thread_id) if by_signal else stopped
        return stopped if wanted is None else replace(stopped, thread_id=wanted)

    async def at_place(self, stopped: Stopped, frames: Sequence[StackFrame], before: Snapshot) -> Stopped | None:
        """Return a stop with its reason there; None if it is to be left. `before`: the state while the program ran."""
        self.further = "continue"
        if self._raises(stopped, frames):
            return replace(stopped, reason="exception", hit_breakpoint_ids=None)
        may_be_taken_back = self._requests.profile.habits.may_be_taken_back(stopped)
        if may_be_taken_back:
            stopped = replace(stopped, text=None, description=None)  # which only say where it is
        hidden = self._breakpoints.hidden
        own = stopped.reason == "entry" and hidden.place is not None  # at the breakpoint that is hidden
        paused = self._suspension.pause_requested
        if (
            stopped.reason == "pause"
            and not paused
            and any(place.always_stops for place in self._there(stopped, frames))
        ):
            stopped = replace(stopped, reason="breakpoint")  # delve's pause, for a hit while it was setting breakpoints
        if own or (self._at_beginning and stopped.reason in _BEGINNINGS and not paused):
            return await self._first(stopped, frames, own=own)
        kept = self._requests.profile.habits.keeps_steps and stopped.reason == "step" and not before.stepping
        if kept and not paused:
            return None  # the end of a step that a breakpoint had cut short, long since
        self._at_beginning = self._at_beginning and paused  # a pause before the beginning leaves that to come
        if may_be_taken_back and not self._there(stopped, frames):
            return replace(stopped, reason="pause") if paused else None
        if stopped.hit_breakpoint_ids or stopped.reason not in ("step", "breakpoint") or self._there(stopped, frames):
            return stopped
        if before.stepping:
            return replace(stopped, reason="step")
        by_pause = self._suspension.follows_pause and stopped.reason == "step"
        return replace(stopped, reason="pause") if by_pause else stopped

    async def withdraw_entry(self) -> None:
        """Take back the hidden breakpoint once the program has begun.

        Not before a stop at a breakpoint of the user's is published: adapters give those that are sent again other ids.
        """
        if not self._at_beginning and self._breakpoints.hidden.entry is not None:
            await self._breakpoints.withdraw_entry()

    async def _first(self, stopped: Stopped, frames: Sequence[StackFrame], *, own: bool) -> Stopped | None:
        hidden, top = self._breakpoints.hidden, frames[0] if frames else None
        if own and (hidden.entry is None or top is None):
            return None
        if top is not None and (own or hidden.wanted) and self._is_elsewhere(frames):
            return None  # of Rust, `main` is the runtime's, which calls the program's
        if hidden.wanted and not self._there(stopped, frames) and self._is_at_end(top):
            self.further = "next"  # to the line where it does begin
            return None
        self._at_beginning = False
        habit = self._requests.profile.habits.entry
        unasked = habit is not None and habit.always
        if not (unasked or hidden.wanted):
            return stopped
        if self._there(stopped, frames):
            return stopped if stopped.hit_breakpoint_ids else replace(stopped, reason="breakpoint")
        await self.withdraw_entry()  # here, as a resume of the stop that is published would cancel it
        return replace(stopped, reason="entry", hit_breakpoint_ids=None) if hidden.wanted else None

    def _raises(self, stopped: Stopped, frames: Sequence[StackFrame]) -> bool:
        """Whether a stop at a breakpoint that is not the user's is that of an exception filter: CodeLLDB has no ids."""
        if stopped.reason != "breakpoint" or not frames or not stopped.hit_breakpoint_ids:
            return False
        return self._requests.profile.thrown.raises(frames[0].label) and not self._there(stopped, frames)

    def _is_at_end(self, top: StackFrame | None) -> bool:
        """Whether a function begins in the line where it ends.

        For gcc a `main` does whose first variable is a vector of strings: what clears up after it comes first.
        """
        place = top.location if top is not None else None
        if place is None or place.file is None or place.line is None or self._breakpoints.hidden.entry is None:
            return False
        return self._breakpoints.places.ends_block(place.file, place.line)

    def _is_elsewhere(self, frames: Sequence[StackFrame]) -> bool:
        """Whether a stop is in what calls the program: in code without source, and not inlined into the user's."""
        file, code = frames[0].location.file, self._requests.profile.code
        caller = frames[1].name if len(frames) > 1 else None
        snapshot = self._requests.snapshot
        program = None if snapshot is None else snapshot.origin.executable_path
        if isinstance(code, NativeCode) and code.calls_program(frames[0].name, file, caller, program):
            return True
        if file is None or not self._requests.profile.code.is_disassembly(file):
            return file is None and not frames[0].source_reference
        return not any(frame.is_user_code for frame in frames)

    def _there(self, stopped: Stopped, frames: Sequence[StackFrame]) -> list[StopPlace]:
        """Return the user's breakpoints at a stop."""
        ids = frozenset(stopped.hit_breakpoint_ids or ())
        place = frames[0].location if frames else None
        return breakpoints_at(self._merger.state, self._requests.session_id, ids, place)


def _at_signal(stopped: Stopped) -> Stopped:
    """Return a stop at a signal as lldb reports one."""
    said = f"{stopped.reason} {stopped.text or ''} {stopped.description or ''}"
    named = _SIGNAL_NAME.search(said)
    what = stopped.description or stopped.text
    about = f": {what}" if what and named and named[0] != what else ""
    return replace(stopped, reason="exception", description=f"signal {named[0] if named else 'SIG'}{about}", text=None)
