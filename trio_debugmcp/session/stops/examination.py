"""The examination of a stop: a task that fetches what belongs to it, and decides whether it counts.

Theory of operation
-------------------
First come the threads and the frames, and at an exception what was raised; then the stop is published as a whole, so a
client never reads a pause without a place. The probe has all of that, the locals and the places of the other threads in
one answer (`looking/stop_questions.py`); an adapter is asked for these details once the stop is published. The next
stop or resume cancels what is left, and the generation that every result carries lets the reducer drop what arrives too
late.

A stop at an exception that no breakpoint asked for does not count, nor does one at a place that a run only observes:
it is resumed without having been published (`verdict.py`).
"""

import logging
from collections.abc import Sequence

import trio
from msgspec.structs import replace

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.messages import Nothing, Stopped
from trio_debugmcp.errors import AdapterRefused, DebugError
from trio_debugmcp.session.breakpoints.breakpoint_sync import BreakpointSync
from trio_debugmcp.session.breakpoints.observing import StopObserver
from trio_debugmcp.session.breakpoints.watched_values import DataStop
from trio_debugmcp.session.looking.frames import raising_frames
from trio_debugmcp.session.looking.program import Looking
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.looking.stop_questions import Findings
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.process_facts import ModuleList
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.exception_filter import ExceptionFilter
from trio_debugmcp.session.stops.failing_exceptions import FailingExceptions
from trio_debugmcp.session.stops.other_threads import OtherThreads
from trio_debugmcp.session.stops.raised import Raised
from trio_debugmcp.session.stops.stop_locals import StopLocals
from trio_debugmcp.session.stops.stop_reasons import StopReasons
from trio_debugmcp.session.stops.stop_sources import StopSources
from trio_debugmcp.session.stops.unfinished_step import UnfinishedStep, unfinished_step
from trio_debugmcp.session.stops.verdict import StopFacts, instead, verdict_of
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.state.changes import StopExamined, ThreadsLocated
from trio_debugmcp.state.model import DataChange, Snapshot, StackFrame
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, PauseReason, shortened

log = logging.getLogger(__name__)

_REASONS: dict[str, PauseReason] = {
    "entry": "Entry",
    "breakpoint": "Breakpoint",
    "instruction breakpoint": "Breakpoint",
    "step": "Step",
    "exception": "Exception",
    "pause": "Pause",
    "function breakpoint": "FunctionBreakpoint",
    "data breakpoint": "DataBreakpoint",
    "goto": "Goto",
    "restart": "Restart",
}


class Examiner:
    """Examines the stops of one session, one at a time.

    Attributes:
        last_signal: the signal that the last stop was about; None if that was about something else.
    """

    def __init__(
        self,
        requests: Requests,
        suspension: Suspension,
        merger: Merger,
        clock: Clock,
        sources: Sources,
        console: Console,
        breakpoints: BreakpointSync,
        looking: Looking,
        observer: StopObserver,
        texts: StopSources,
        locals_: StopLocals,
        failing: FailingExceptions,
    ) -> None:
        self._requests = requests
        self._suspension = suspension
        self._merger = merger
        self._clock = clock
        self._sources = sources
        self._console = console
        self._breakpoints = breakpoints
        self._looking = looking
        self._observer = observer
        self.last_signal: str | None = None
        self._texts = texts
        self._locals = locals_
        self._reasons = StopReasons(requests, merger, suspension, breakpoints)
        self._exceptions = ExceptionFilter(requests, merger, console, looking.ways.frames, failing)
        self._others = OtherThreads(requests, suspension, looking.ways.frames)
        # The probe knows more modules than the adapter does.
        self._modules = ModuleList(requests, merger, is_refused=looking.is_python)
        self._step: UnfinishedStep | None = None
        self._current: trio.CancelScope | None = None
        self._explanation: str | None = None

    def __repr__(self) -> str:
        state = "idle" if self._current is None else "examining"
        return f"<Examiner of {self._requests.session_id}, {state}>"

    def begin(self, nursery: trio.Nursery, stopped: Stopped, snapshot: Snapshot) -> None:
        """Examine a stop; `snapshot` is the state right after the event, which carries the stop's generation."""
        self.cancel()
        self._current = trio.CancelScope()
        nursery.start_soon(self._examine, stopped, snapshot, self._current)

    def cancel(self) -> None:
        """Give up the examination under way: the program runs again, or has ended."""
        if self._current is not None:
            self._current.cancel(reason="the stop is over")
            self._current = None

    def explain_next_stop(self, explanation: str) -> None:
        """Keep what the adapter wrote about the stop that it is about to report, as that stop's description."""
        self._explanation = explanation

    # --- The stop --------------------------------------------------------------------------------------------

    async def _examine(self, stopped: Stopped, snapshot: Snapshot, scope: trio.CancelScope) -> None:
        # Taken before the first await: the explanation of the next stop may arrive during this examination.
        explanation, self._explanation = self._explanation, None
        stopped = self._reasons.known(stopped)
        with scope:
            try:
                found = await self._looking.stop.ask(stopped)
                facts, raised, data = await self._facts(stopped, snapshot, found)
                verdict = verdict_of(facts)
                self._step = verdict.step
                if verdict.command is not None:
                    if await self._leave(found.thread_id, scope, verdict.command):
                        return
                    facts = replace(facts, counts=False)
                stopped = facts.stopped
                if not facts.counts:
                    pausing = self._suspension.pause_requested
                    (stopped, explanation), raised = instead(replace(facts, step=self._step, pausing=pausing)), None
                top = await self._publish(stopped, snapshot, found, raised, explanation, data.changes)
                await self._reasons.withdraw_entry()
                await self._fetch_details(snapshot, found, top)
            except DebugError as error:
                log.info("examining a stop: %s", error)

    async def _facts(
        self, stopped: Stopped, snapshot: Snapshot, found: Findings
    ) -> tuple[StopFacts, Raised | None, DataStop]:
        """Find out what decides about a stop, in the order in which each question depends on the one before."""
        meant = await self._reasons.at_place(stopped, found.frames, snapshot)
        stopped = meant or stopped
        raised = await self._exceptions.examine(stopped, found)
        counts = raised.counts if raised is not None else meant is not None and await self._counts(stopped, found)
        data = await self._breakpoints.watched.at_stop(stopped, found.frames)
        facts = StopFacts(
            stopped,
            found,
            counts=counts and not data.passes,
            further=self._reasons.further,
            stepping=snapshot.stepping,
            step=self._step,
        )
        if raised is None and facts.counts and verdict_of(facts).command is None:
            facts = replace(facts, observed=await self._observer.leaves(stopped, found.frames[:1]))
        return facts, raised, data

    async def _counts(self, stopped: Stopped, found: Findings) -> bool:
        """Whether a stop that is not about an exception counts: not one that only attaching makes."""
        if stopped.reason == "attach" and self._requests.profile.habits.stops_attached:
            return self._breakpoints.hidden.kept  # else the program is to run on
        return await self._breakpoints.judge.at_stop(stopped, found.frames)

    def begin_step(self, command: str, thread_id: int | None) -> None:
        """Remember a step that is about to begin."""
        snapshot, self._step = self._requests.snapshot, None
        if snapshot is not None and thread_id is not None:
            enters = self._requests.profile.habits.steps_into_libraries
            self._step = unfinished_step(command, snapshot, thread_id, enters_libraries=enters)

    async def _leave(self, thread_id: int, scope: trio.CancelScope, command: str) -> bool:
        """Resume from a stop that does not count, unless a pause was requested; False if it stays stopped."""
        if self._suspension.pause_requested:
            return False
        # The scope is cancelled when a stop or a resume came with the last answer: then this stop is over already, and
        # a `continue` would resume from the one that follows it.
        if not scope.cancel_called:
            self._suspension.report_resume()
            try:
                await self._requests.request(command, {"threadId": thread_id}, Nothing)
            except AdapterRefused as refusal:
                self._suspension.report_resume_refused(still_stopped=True)
                log.warning("leaving a stop: %s", refusal)
                return False
        return True

    async def _publish(
        self,
        stopped: Stopped,
        snapshot: Snapshot,
        found: Findings,
        raised: Raised | None,
        explanation: str | None,
        data: tuple[DataChange, ...] | None,
    ) -> int | None:
        """Publish a stop; return the frame where it is."""
        frames = found.frames
        for frame in frames:
            self._sources.learn(frame.location.file, self._requests.session_id, frame.source_reference)
        skipped = self._skipped(stopped, raised, frames)
        explanation = explanation or _further_in(stopped, frames[:skipped])
        problem = self._breakpoints.judge.problem
        why = explanation or problem or self._requests.profile.words.why(stopped)
        if skipped and raised is not None and raised.is_fault:
            raised = _with_function(raised, frames[0].name)
        frames = frames[skipped:]
        not_hit, counted = await self._observer.hits(stopped, frames[0].id if frames else None)
        self.last_signal = None if raised is None else raised.signal
        await self._texts.fetch(frames)
        # What was written before the stop precedes it.
        await self._console.announcements.announce(self._requests.session_id)
        await self._merger.merge(
            StopExamined(
                session_id=self._requests.session_id,
                generation=snapshot.generation,
                at=self._clock.now(),
                reason="Exception" if raised is not None else _REASONS.get(stopped.reason, "Pause"),
                thread_id=found.thread_id,
                description=shortened(why, MAX_MESSAGE_LENGTH) if why and not (data and why != problem) else None,
                is_explained=(explanation or problem) is not None,
                data=data,
                hit_ids=None if stopped.hit_breakpoint_ids is None else tuple(stopped.hit_breakpoint_ids),
                exception=raised.info if raised is not None else None,
                **({} if raised is None else _of_exception(raised)),
                not_hit=not_hit,
                counted=tuple(counted.items()),
                frames=frames,
                total_frames=max((found.total or 0) - skipped, len(frames)),
                skipped_frames=skipped,
                threads=found.threads,
                locals=found.locals,
                sources=self._texts.at(frames, snapshot.origin.attached_at),
                handling=found.handling,
            )
        )
        return frames[0].id if frames else None

    def _skipped(self, stopped: Stopped, raised: Raised | None, frames: Sequence[StackFrame]) -> int:
        """Return how many frames at the top are not where the program is for its user."""
        profile = self._requests.profile
        if raised is not None:
            return raising_frames(profile, frames, fails_test=raised.fails_test)
        # A program's first statement may be a library's code that is inlined, as Rust's `vec!` is, and what a paused
        # one is in has variables of the C library.
        is_within = stopped.reason == "entry" or (stopped.reason == "pause" and self._looking.threads.are_native)
        return raising_frames(profile, frames) if is_within and profile.code.tells_library else 0

    # --- Details ---------------------------------------------------------------------------------------------

    async def _fetch_details(self, snapshot: Snapshot, found: Findings, top: int | None) -> None:
        """Fetch what a stop is published without; `top` is the frame where it is."""
        if found.locals is None and top is not None:
            await self._locals.merge(snapshot, await self._looking.stop.locals(found.thread_id, top, found))
        await self._breakpoints.look_for_types()
        await self._modules.look()
        places = () if found.located else await self._others.locate(found)
        if places:
            await self._merger.merge(ThreadsLocated(self._requests.session_id, snapshot.generation, places))


def _further_in(stopped: Stopped, skipped: Sequence[StackFrame]) -> str | None:
    """Return where a paused program is within libraries, whose frames are not shown."""
    if not skipped or stopped.reason != "pause":
        return None
    frames = "1 frame" if len(skipped) == 1 else f"{len(skipped)} frames"
    return f"it is in {skipped[0].name}, {frames} of libraries further in"


def _of_exception(raised: Raised) -> dict[str, tuple[str, ...]]:
    return {"remarks": raised.remarks, "exception_breakpoints": raised.wanted_by}


def _with_function(fault: Raised, function: str) -> Raised:
    """Return a fault with the function where it really was, in its message."""
    message = ", ".join(filter(None, (fault.info.message, f"in {function}")))
    return replace(fault, info=replace(fault.info, message=message))
