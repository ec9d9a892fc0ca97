"""`StopJudge`: whether a stop counts, where breakpoints are judged here. One that does not is left without being seen.

Hits are counted here, and messages written.

    counts = await judge.at_stop(stopped, frames)
    not_hit, counted = judge.taken() or ((), {})
"""

from collections.abc import Sequence

from trio_debugmcp.dap.log_template import template_parts
from trio_debugmcp.dap.messages import Stopped
from trio_debugmcp.errors import AdapterRefused, DebugError
from trio_debugmcp.session.breakpoints.judging import CONDITION_FAILED, Judging, is_judged_twice
from trio_debugmcp.session.looking.by_probe.own_questions import holds, value_of
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import StopPlace
from trio_debugmcp.state.breakpoint_rules import breakpoints_at
from trio_debugmcp.state.changes import BreakpointFaulted, HitsRecorded, RecordedHit
from trio_debugmcp.state.hit_conditions import meets_hit_condition
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import shortened


class StopJudge:
    """Judges the stops of one session.

    Attributes:
        judging: which breakpoints are judged here.
        problem: why a condition at this stop could not be judged.
    """

    def __init__(self, requests: Requests, merger: Merger, console: Console) -> None:
        self.judging = Judging(requests)
        self.problem: str | None = None
        self._requests = requests
        self._merger = merger
        self._console = console
        self._hits: dict[tuple[str, int], int] = {}
        self._found: tuple[tuple[str, ...], dict[str, int]] | None = None

    def __repr__(self) -> str:
        return f"<StopJudge of {self._requests.session_id}: {self._hits}>"

    async def at_stop(self, stopped: Stopped, frames: Sequence[StackFrame]) -> bool:
        """Judge the breakpoints of a stop; return whether one of them stops there, or none is judged here."""
        self._found = self.problem = None
        places = self._there(stopped, frames)
        unjudged = None
        if (reason := self._requests.profile.habits.unjudged_at(stopped)) is not None:
            unjudged = next((place for place in places if place.spec.condition is not None), None)
            await self._fault(unjudged, reason)
        frame_id = frames[0].id if frames else None
        records: list[RecordedHit] = []
        passed: list[str] = []
        counted: dict[str, int] = {}
        for place in places:
            if place is unjudged:
                continue
            if not self.judging.is_judged(place):
                if await self._is_wrong(place, frame_id, at_step=stopped.reason == "step"):
                    passed.append(place.id)
                continue
            hit, record = await self._judge(place, frame_id)
            if record is not None:
                records.append(record)
            if hit is None or record is not None:
                passed.append(place.id)
            else:
                counted[place.id] = hit
        if records:
            await self._merger.merge(HitsRecorded(self._requests.session_id, tuple(records)))
        if not passed and not counted:
            return True
        self._found = tuple(passed), counted
        stopping = [
            place for place in places if place.id in passed or place.id in counted or place.spec.log_message is None
        ]
        return stopped.reason == "step" or len(passed) < len(stopping)

    async def _judge(self, place: StopPlace, frame_id: int | None) -> tuple[int | None, RecordedHit | None]:
        """Return the number of a hit, None if its condition does not hold; and a record of one that does not stop."""
        condition, hits, message = self.judging.ours(place)
        if condition and not await self._is_met(place, frame_id):
            return None, None
        hit = self._count(place)
        if hits and not meets_hit_condition(place.spec.hit_condition or "", hit):
            return hit, RecordedHit(place.id, hit, None)
        if message and self.problem is None:
            return hit, RecordedHit(place.id, hit, await self._message(place, frame_id))
        return hit, None

    async def stops(self, place: StopPlace, frame_id: int | None) -> bool:
        """Judge a data breakpoint that was hit; return whether it stops there."""
        hit, record = await self._judge(place, frame_id)
        if record is not None:
            await self._merger.merge(HitsRecorded(self._requests.session_id, (record,)))
        return hit is not None and record is None

    def taken(self) -> tuple[tuple[str, ...], dict[str, int]] | None:
        """Return which breakpoints of the stop are passed, and the hits of the others; None if not judged."""
        found, self._found = self._found, None
        return found

    def _there(self, stopped: Stopped, frames: Sequence[StackFrame]) -> list[StopPlace]:
        at_step = stopped.reason == "step" and stopped.hit_breakpoint_ids
        if not at_step and stopped.reason not in ("breakpoint", "function breakpoint", "instruction breakpoint"):
            return []
        state, session_id = self._merger.state, self._requests.session_id
        place = frames[0].location if frames else None
        pointer = frames[0].instruction if frames else None
        return breakpoints_at(state, session_id, frozenset(stopped.hit_breakpoint_ids or ()), place, pointer)

    async def _is_wrong(self, place: StopPlace, frame_id: int | None, *, at_step: bool) -> bool:
        """Whether the adapter names a breakpoint whose condition does not hold, as gdb does where a step ends.

        Each condition is looked at: lldb takes any, and stops where it cannot judge one that may hold or not.
        """
        profile = self._requests.profile
        by_program = self._requests.capabilities.hit_records is not None
        doubted = profile.habits.conditions in ("doubted", "guessed")
        if place.spec.condition is None or by_program:
            return False
        # One that the adapter could not judge has changed nothing yet.
        if not is_judged_twice(profile, place.spec.condition) and not (doubted and place.problem is not None):
            return False
        return not await self._is_met(place, frame_id) and (at_step or doubted)

    async def _is_met(self, place: StopPlace, frame_id: int | None) -> bool:
        """Whether a condition holds; one that cannot be judged does, so that the user sees it."""
        condition = place.spec.condition or ""
        try:
            return await self._holds(condition, frame_id)
        except DebugError as error:
            await self._fault(place, self._reason(error))
        return True

    async def _fault(self, place: StopPlace | None, reason: str) -> None:
        """Keep why the condition of a breakpoint could not be judged; None: of one that is not known."""
        condition = (place.spec.condition if place is not None else None) or ""
        self.problem = f"{CONDITION_FAILED.format(condition)}{reason}" if condition else f"a condition failed: {reason}"
        if place is not None:
            fault = BreakpointFaulted(self._requests.session_id, condition, self.problem, place.id)
            await self._merger.merge(fault)

    async def _holds(self, condition: str, frame_id: int | None) -> bool:
        """Judge a condition part by part, as far as that decides it."""
        expressions = self._requests.profile.expressions
        for parts in expressions.alternatives(condition):
            for part in parts:
                if not holds(await value_of(self._requests, expressions.truth(part), frame_id)):
                    break
            else:
                return True
        return False

    async def _message(self, place: StopPlace, frame_id: int | None) -> str:
        written = []
        for part in template_parts(place.spec.log_message or ""):
            if isinstance(part, str):
                written.append(part)
                continue
            try:
                written.append(await value_of(self._requests, part.text, frame_id))
            except DebugError as error:
                written.append(f"<error: {self._reason(error)}>")
        text = self._console.message(place.spec.log_message or "", "".join(written))
        self._console.append("tracepoint", f"{text}\n")
        return text

    def _reason(self, error: DebugError) -> str:
        reason = error.reason if isinstance(error, AdapterRefused) else str(error)
        lines = reason.strip().splitlines() or [""]
        words = self._requests.profile.words
        return shortened(words.plain_error(lines[words.telling_line("\n".join(lines))]))

    def _count(self, place: StopPlace) -> int:
        key = place.id, place.version
        self._hits[key] = self._hits.get(key, 0) + 1
        return self._hits[key]
