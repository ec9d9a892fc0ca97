"""The examination of a stop: a task that fetches what belongs to it, and decides whether it counts.

First frames and threads, and at an exception its type: then the stop is published. After that, for those who look
closer: the locals of the top frame, and where the other threads are. The next stop or resume cancels what is left.
"""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.messages import (
    DapFrame,
    DapThread,
    EvaluateBody,
    ExceptionInfoBody,
    ScopesBody,
    StackTraceBody,
    Stopped,
    ThreadsBody,
    VariablesBody,
)
from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.errors import AdapterRefused, DebugError, ProtocolViolation, UsageError
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.sources import Sources
from trio_debugmcp.session.variables import variable_payload
from trio_debugmcp.state.changes import (
    LocalsFetched,
    StopExamined,
    ThreadsLocated,
)
from trio_debugmcp.state.model import ExceptionBreakpoint, NamedScope, Snapshot, StackFrame, Thread
from trio_debugmcp.state.payloads import ExceptionInfo, Location, PauseReason, shortened

if TYPE_CHECKING:
    from trio_debugmcp.session.session import DebugSession

log = logging.getLogger(__name__)

CAPTURED_FRAMES = 20
"""Frames fetched at every stop: what people look at. Deeper ones are fetched when they are asked for."""

CAPTURED_LOCALS = 100
"""Locals of the top frame kept with the stop."""

MAX_MESSAGE_LENGTH = 1000
"""Characters of an exception's own words that a stop shows; all of them can be evaluated."""

LOCATING_AFTER_SECONDS = 0.25
"""From the end of an examination to the first question where another thread is. For one that waits or runs C code
debugpy answers after half a second, and nothing else meanwhile: whoever steps on at once must not pay for that."""

LOCATING_SECONDS = 0.5
"""After this time no further thread is asked for at a stop. Those that were found last time are asked for first, then
those that were not found the longest time ago."""

EXAMINATION_SECONDS = 3.0
"""For each answer about a stop; the stop is shown without what an adapter does not tell by then."""

T = TypeVar("T")

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


class _Raised(Struct, frozen=True):
    """What is known of an exception stop, which breakpoints asked for it, and whether it is a stop at all."""

    info: ExceptionInfo
    wanted_by: tuple[str, ...] = ()
    counts: bool = True


class _Raise(Struct, frozen=True):
    """A reported exception, as far as it is needed to know it again; `depth` is the height of the stack there."""

    identity: str
    break_mode: str | None
    thread_id: int
    depth: int


class Examiner:
    """Examines the stops of one session, one at a time."""

    def __init__(self, session: "DebugSession", merger: Merger, clock: Clock, sources: Sources) -> None:
        self._session = session
        self._merger = merger
        self._clock = clock
        self._sources = sources
        self._current: trio.CancelScope | None = None
        self._explanation: str | None = None
        self._refreshing = False
        self._last_raise: _Raise | None = None
        self._not_found: dict[int, None] = {}

    def begin(self, nursery: trio.Nursery, stopped: Stopped, snapshot: Snapshot) -> None:
        """Examine a stop; `snapshot` is the state right after the event, which carries the stop's generation."""
        self.cancel()
        self._current = trio.CancelScope()
        nursery.start_soon(self._examine, stopped, snapshot, self._current)

    def cancel(self) -> None:
        """The program runs again, or is gone: what is still being fetched is of no use."""
        if self._current is not None:
            self._current.cancel(reason="the stop is over")
            self._current = None

    def refresh_locals(self, nursery: trio.Nursery, snapshot: Snapshot) -> None:
        """Fetch the top frame's locals again, once however often this is called meanwhile."""
        if snapshot.phase == "Paused" and snapshot.stack.frames and not self._refreshing:
            self._refreshing = True
            nursery.start_soon(self._refresh, snapshot)

    async def _refresh(self, snapshot: Snapshot) -> None:
        self._refreshing = False
        try:
            await self._fetch_locals(snapshot, snapshot.stack.frames[0].id)
        except DebugError as error:
            log.info("refreshing the locals: %s", error)

    def explain_next_stop(self, explanation: str) -> None:
        """The adapter has said why the stop that follows happens."""
        self._explanation = explanation

    async def _examine(self, stopped: Stopped, snapshot: Snapshot, scope: trio.CancelScope) -> None:
        explanation, self._explanation = self._explanation, None
        with scope:
            try:
                listed = (await self._fetch("threads", {}, ThreadsBody)).threads or []
                threads = _with_stopped(listed, stopped.thread_id)
                thread_id = stopped.thread_id if stopped.thread_id is not None else threads[0].id if threads else 0
                where = {"threadId": thread_id, "startFrame": 0, "levels": CAPTURED_FRAMES}
                stack = await self._fetch("stackTrace", where, StackTraceBody)
                raised = await self._examine_exception(stopped, thread_id, stack)
                if raised is not None and not raised.counts:
                    if await self._leave(thread_id, scope):
                        return
                    stopped, raised = Stopped(reason="pause", thread_id=thread_id), None
                await self._publish(stopped, snapshot, thread_id, threads, stack, raised, explanation)
                if stack.stack_frames:
                    await self._fetch_locals(snapshot, stack.stack_frames[0].id)
                await self._locate_others(snapshot, thread_id, threads)
            except DebugError as error:
                log.info("examining a stop: %s", error)

    async def _leave(self, thread_id: int, scope: trio.CancelScope) -> bool:
        """Let the program go on from a stop that does not count, unless somebody wants it to pause, or it cannot."""
        if self._session.execution.pause_wanted:
            return False
        if not scope.cancel_called:  # by a stop, or a resume, that came with the last answer
            try:
                await self._session.execution.go_on(thread_id)
            except AdapterRefused as refusal:
                log.warning("leaving a stop: %s", refusal)
                return False
        return True

    async def _publish(
        self,
        stopped: Stopped,
        snapshot: Snapshot,
        thread_id: int,
        threads: Sequence[DapThread],
        stack: StackTraceBody,
        raised: _Raised | None,
        explanation: str | None,
    ) -> None:
        why = explanation or stopped.text or stopped.description
        frames = captured_frames(self._session.profile, stack.stack_frames or [])
        for frame in frames:
            self._sources.learn(frame.location.file, self._session.id, frame.source_reference)
        await self._session.announce_output()
        await self._merger.merge(
            StopExamined(
                session_id=self._session.id,
                generation=snapshot.generation,
                at=self._clock.now(),
                reason=_REASONS.get(stopped.reason, "Pause"),
                thread_id=thread_id,
                description=shortened(why, MAX_MESSAGE_LENGTH) if why else None,
                hit_ids=None if stopped.hit_breakpoint_ids is None else tuple(stopped.hit_breakpoint_ids),
                exception=raised.info if raised is not None else None,
                exception_breakpoints=raised.wanted_by if raised else (),
                frames=frames,
                total_frames=max(stack.total_frames or 0, len(frames)),
                threads=tuple(Thread(thread.id, thread.name) for thread in threads),
            )
        )

    async def _fetch(self, command: str, arguments: object, kind: type[T]) -> T:
        """The answer, or an empty one: a stop of which little is known is still a stop."""
        try:
            return await self._session.request(command, arguments, kind, seconds=EXAMINATION_SECONDS)
        except (AdapterRefused, UsageError, ProtocolViolation) as error:
            if isinstance(error, UsageError) and error.code == "NOT_PAUSED":
                raise
            log.warning("examining a stop: %s", error)
            return kind()

    # --- Exceptions ------------------------------------------------------------------------------------------

    async def _examine_exception(self, stopped: Stopped, thread_id: int, stack: StackTraceBody) -> _Raised | None:
        """Only asked at an exception stop: elsewhere some adapters answer with nonsense."""
        if stopped.reason != "exception":
            return None
        info = ExceptionInfo(type=stopped.text or "exception", message=stopped.description, break_mode=None)
        if self._session.capabilities.supports_exception_info_request:
            body = await self._fetch("exceptionInfo", {"threadId": thread_id}, ExceptionInfoBody)
            details = body.details
            info = ExceptionInfo(
                type=body.exception_id or (details.full_type_name if details else None) or info.type,
                message=body.description or (details.message if details else None) or info.message,
                break_mode=body.break_mode,
            )
        info = replace(info, message=info.message and shortened(info.message, MAX_MESSAGE_LENGTH))
        candidates = [each for each in self._merger.state.exceptions if each.enabled]
        if not candidates:  # nobody asked for it here, so the adapter was told so in some other way
            return _Raised(info)
        frame_id = stack.stack_frames[0].id if stack.stack_frames else None
        if await self._is_repetition(info, thread_id, frame_id, stack.total_frames or 0):
            return _Raised(info, counts=False)
        lineage = await self._lineage(info, frame_id)
        wanted = [each.id for each in candidates if await self._wants(each, info, lineage, frame_id)]
        return _Raised(info, tuple(wanted), counts=bool(wanted))

    async def _is_repetition(self, info: ExceptionInfo, thread_id: int, frame_id: int | None, depth: int) -> bool:
        """The same exception, reported again in the next frame that it passes on its way up.

        Its identity alone does not tell: the next exception may be put where this one was. On the way up the stack is
        shorter each time, and where something is raised anew it is not.
        """
        expression = self._session.profile.expressions.raise_identity()
        identity = await self._evaluate(expression, frame_id) if expression else None
        if identity is None:
            return False
        last, self._last_raise = self._last_raise, _Raise(identity, info.break_mode, thread_id, depth)
        same = last is not None and (last.identity, last.break_mode, last.thread_id) == (
            identity,
            info.break_mode,
            thread_id,
        )
        return same and last is not None and depth < last.depth

    async def _lineage(self, info: ExceptionInfo, frame_id: int | None) -> tuple[str, ...]:
        own = (info.type, info.type.rpartition(".")[2])
        expression = self._session.profile.expressions.lineage()
        value = await self._evaluate(expression, frame_id) if expression else None
        return own if value is None else (*own, *self._session.profile.expressions.parse_lineage(value))

    async def _wants(
        self, each: ExceptionBreakpoint, info: ExceptionInfo, lineage: tuple[str, ...], frame_id: int | None
    ) -> bool:
        chance = each.second_chance if info.break_mode == "unhandled" else each.first_chance
        ancestors = lineage if each.include_subtypes else lineage[:2]
        if not chance or (each.exception_type != "*" and each.exception_type not in ancestors):
            return False
        if each.condition is None:
            return True
        value = await self._evaluate(self._session.profile.expressions.truth(each.condition), frame_id)
        return value is None or value.lower() in {
            "true",
            "1",
        }  # a condition that fails stops, so that it is seen

    async def _evaluate(self, expression: str, frame_id: int | None) -> str | None:
        arguments = {
            "expression": expression,
            "frameId": frame_id,
            "context": self._session.profile.dialect.evaluate_context,
        }
        try:
            body = await self._session.request("evaluate", arguments, EvaluateBody, seconds=EXAMINATION_SECONDS)
        except DebugError as error:
            log.info("%s: %s", expression, error)
            return None
        return body.result

    # --- For those who look closer ---------------------------------------------------------------------------

    async def _fetch_locals(self, snapshot: Snapshot, frame_id: int) -> None:
        profile = self._session.profile
        scopes = (await self._session.request("scopes", {"frameId": frame_id}, ScopesBody)).scopes or []
        named = tuple(NamedScope(each.name, each.variables_reference, bool(each.expensive)) for each in scopes)
        locals_ = next((each for each in named if profile.dialect.scope_names["locals"] in each.name.lower()), None)
        found = []
        if locals_ is not None and locals_.reference:
            arguments = {"variablesReference": locals_.reference}
            body = await self._session.request("variables", arguments, VariablesBody)
            found = [variable for variable in body.variables or [] if not profile.dialect.hides(variable)]
        shown = tuple(variable_payload(variable) for variable in found[:CAPTURED_LOCALS])
        await self._merger.merge(LocalsFetched(self._session.id, snapshot.generation, named, shown))

    async def _locate_others(self, snapshot: Snapshot, stopped: int, threads: Sequence[DapThread]) -> None:
        places: list[tuple[int, Location]] = []
        others = [thread.id for thread in threads if thread.id != stopped]
        if not others:
            return
        await trio.sleep_until(max(trio.current_time() + LOCATING_AFTER_SECONDS, self._session.execution.echo_until))
        deadline = trio.current_time() + LOCATING_SECONDS
        again = [thread_id for thread_id in self._not_found if thread_id in others]
        self._not_found = dict.fromkeys(again)
        for thread_id in [each for each in others if each not in self._not_found] + again:
            if trio.current_time() >= deadline:
                break
            self._not_found.pop(thread_id, None)
            self._not_found[thread_id] = None
            arguments = {"threadId": thread_id, "startFrame": 0, "levels": 1}
            body = await self._session.request("stackTrace", arguments, StackTraceBody, seconds=EXAMINATION_SECONDS)
            if body.stack_frames:
                del self._not_found[thread_id]
                places.append((thread_id, frame_location(self._session.profile, body.stack_frames[0])))
        if places:
            await self._merger.merge(ThreadsLocated(self._session.id, snapshot.generation, tuple(places)))


def captured_frames(profile: Profile, frames: Sequence[DapFrame]) -> tuple[StackFrame, ...]:
    """The adapter's frames as the state keeps them."""
    return tuple(
        StackFrame(
            id=frame.id,
            name=frame.name,
            location=frame_location(profile, frame),
            is_user_code=frame.presentation_hint not in {"subtle", "label", "deemphasize"},
            source_reference=(frame.source.source_reference or 0) if frame.source is not None else 0,
        )
        for frame in frames
    )


def frame_location(profile: Profile, frame: DapFrame) -> Location:
    """Where a frame is; line 0 means that the adapter does not know."""
    source = frame.source
    return Location(
        file=(source.path or source.name) if source is not None else None,
        line=frame.line or profile.dialect.line_of(frame),
        column=frame.column or None,
        function_name=frame.name or None,
        module_name=profile.dialect.module_name(frame),
    )


def _with_stopped(threads: Sequence[DapThread], stopped: int | None) -> Sequence[DapThread]:
    """A thread that has stopped is there, even if the adapter has forgotten to list it or gave no list at all."""
    if stopped is None or any(thread.id == stopped for thread in threads):
        return threads
    return [*threads, DapThread(stopped)]
