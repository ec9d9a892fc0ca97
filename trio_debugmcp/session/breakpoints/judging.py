"""`Judging`: conditions, hit conditions and log messages that the server does, where an adapter has none of its own.

Some adapters have none, and stop at every pass; others mean something else by them: a bare `3` is the third hit for
debugpy, the third and every later one for lldb, and the fourth for gdb. Such an adapter gets a plain breakpoint, and
whether one of its stops counts is decided here; one that does not is left without having been published.

    arguments = judging.sent(breakpoint_)               # as the adapter is to have it
    counts = await judging.at_stop(stopped, stack)
"""

from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapBreakpoint, StackTraceBody, Stopped
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.errors import AdapterRefused, DebugError
from trio_debugmcp.session.breakpoints.log_template import template_parts
from trio_debugmcp.session.breakpoints.placement import Group, by_line
from trio_debugmcp.session.looking.frames import frame_location
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.exception_filter import holds, value_of
from trio_debugmcp.state.breakpoint import StopPlace
from trio_debugmcp.state.breakpoint_rules import breakpoints_at
from trio_debugmcp.state.changes import BreakpointFaulted, HitsRecorded, RecordedHit
from trio_debugmcp.state.hit_conditions import meets_hit_condition
from trio_debugmcp.state.payloads import shortened

JUDGED_HERE = "{} stops here at every pass, and the server decides what comes of it: a pass costs milliseconds"


def is_judged_twice(profile: Profile, condition: str) -> bool:
    """Whether a condition that an adapter has judged is judged here again: only one that changes nothing."""
    return not profile.code.reads_source and profile.repl.safe_rejection(condition) is None


class Judging:
    """The breakpoints of one session that are judged here."""

    def __init__(self, requests: Requests, merger: Merger, console: Console) -> None:
        self._requests = requests
        self._merger = merger
        self._console = console
        self._hits: dict[tuple[str, int], int] = {}
        self._joined: set[str] = set()
        self._found: tuple[tuple[str, ...], dict[str, int]] | None = None
        self._problem: str | None = None

    def __repr__(self) -> str:
        return f"<Judging of {self._requests.session_id}: {self._hits}>"

    # --- Sending ---------------------------------------------------------------------------------------------

    def sent(self, each: StopPlace) -> StopPlace:
        """Return a breakpoint as the adapter is to have it."""
        condition, hits, message = self._ours(each)
        return each.with_spec(
            condition=None if condition else each.spec.condition,
            hit_condition=None if hits else each.spec.hit_condition,
            log_message=None if message else each.spec.log_message,
        )

    def joined(self, groups: Sequence[Group]) -> list[Group]:
        """Return groups to be sent, where one that is judged here is alone on its line, with all that are there.

        So are all where the adapter refuses a second breakpoint.
        """
        members = [each for group in groups for each in group.members]
        only_one = self._requests.profile.habits.one_per_line
        lines = {
            group.members[0].spec.line
            for group in by_line(members)
            if any(map(self._is_judged_alone, group.members)) or (only_one and len(group.members) > 1)
        }
        together = [group for group in by_line(members) if group.members[0].spec.line in lines]
        self._joined.difference_update(each.id for each in members)
        self._joined.update(each.id for group in together if len(group.members) > 1 for each in group.members)
        return [*(group for group in groups if group.members[0].spec.line not in lines), *together]

    def noted(self, each: StopPlace, answer: DapBreakpoint) -> DapBreakpoint:
        """Return the answer for a breakpoint, saying that it is judged here, and without what is routine."""
        answer = self._requests.profile.words.about_breakpoint(answer)
        if not self.is_judged(each) or answer.message or not answer.verified:
            return answer
        return replace(answer, message=JUDGED_HERE.format(self._requests.profile.name))

    def is_judged(self, each: StopPlace) -> bool:
        """Whether what a pass of this breakpoint means is decided here."""
        return any(self._ours(each))

    def _is_judged_alone(self, each: StopPlace) -> bool:
        return any(self._ours(each, alone=True))

    def _ours(self, each: StopPlace, *, alone: bool = False) -> tuple[bool, bool, bool]:
        """Whether its condition, its hit condition and its log message are judged here: each as those before it."""
        habits, able = self._requests.profile.habits, self._requests.capabilities
        if each.observed is not None or able.hit_records is not None:  # the program judges them, or a run does
            return False, False, False
        if each.spec.watch is not None:  # adapters know no conditions of data, or pass them over without a word
            return each.spec.condition is not None, each.spec.hit_condition is not None, False
        together = not alone and each.id in self._joined
        ours = together or habits.conditions == "ours" or not able.supports_conditional_breakpoints
        condition = each.spec.condition is not None and ours
        ours = condition or together or habits.hit_conditions == "ours"
        hits = each.spec.hit_condition is not None and (ours or not able.supports_hit_conditional_breakpoints)
        ours = hits or condition or together or habits.log_messages == "ours"
        # DAP has none for functions; those of Python are found in its source, and are lines then.
        ours = ours or (each.spec.function is not None and not self._requests.profile.code.reads_source)
        return condition, hits, each.spec.log_message is not None and (ours or not able.supports_log_points)

    # --- At a stop -------------------------------------------------------------------------------------------

    async def at_stop(self, stopped: Stopped, stack: StackTraceBody) -> bool:
        """Judge the breakpoints of a stop; return whether one of them stops there, or none is judged here."""
        self._found = self._problem = None
        there = self._there(stopped, stack)
        frame_id = stack.stack_frames[0].id if stack.stack_frames else None
        records: list[RecordedHit] = []
        passed: list[str] = []
        counted: dict[str, int] = {}
        for each in there:
            if not self.is_judged(each):
                if await self._is_wrong(each, frame_id, at_step=stopped.reason == "step"):
                    passed.append(each.id)
                continue
            hit, record = await self._judge(each, frame_id)
            if record is not None:
                records.append(record)
            if hit is None or record is not None:
                passed.append(each.id)
            else:
                counted[each.id] = hit
        if records:
            await self._merger.merge(HitsRecorded(self._requests.session_id, tuple(records)))
        if not passed and not counted:
            return True
        self._found = tuple(passed), counted
        stopping = [each for each in there if each.id in passed or each.id in counted or each.spec.log_message is None]
        return stopped.reason == "step" or len(passed) < len(stopping)

    async def _judge(self, each: StopPlace, frame_id: int | None) -> tuple[int | None, RecordedHit | None]:
        """Return the number of a hit, None if its condition does not hold; and a record of one that does not stop."""
        condition, hits, message = self._ours(each)
        if condition and not await self._is_met(each, frame_id):
            return None, None
        hit = self._count(each)
        if hits and not meets_hit_condition(each.spec.hit_condition or "", hit):
            return hit, RecordedHit(each.id, hit, None)
        if message and self._problem is None:
            return hit, RecordedHit(each.id, hit, await self._message(each, frame_id))
        return hit, None

    async def stops(self, each: StopPlace, frame_id: int | None) -> bool:
        """Judge a data breakpoint that was hit; return whether it stops there."""
        hit, record = await self._judge(each, frame_id)
        if record is not None:
            await self._merger.merge(HitsRecorded(self._requests.session_id, (record,)))
        return hit is not None and record is None

    def taken(self) -> tuple[tuple[str, ...], dict[str, int]] | None:
        """Return which breakpoints of the stop are passed, and the hits of the others; None if not judged."""
        found, self._found = self._found, None
        return found

    @property
    def problem(self) -> str | None:
        """Why a condition at this stop could not be judged."""
        return self._problem

    def _there(self, stopped: Stopped, stack: StackTraceBody) -> list[StopPlace]:
        at_step = stopped.reason == "step" and stopped.hit_breakpoint_ids
        if not at_step and stopped.reason not in ("breakpoint", "function breakpoint", "instruction breakpoint"):
            return []
        state, session_id = self._merger.state, self._requests.session_id
        frames = stack.stack_frames
        place = frame_location(self._requests, frames[0]) if frames else None
        pointer = frames[0].instruction_pointer_reference if frames else None
        return breakpoints_at(state, session_id, frozenset(stopped.hit_breakpoint_ids or ()), place, pointer)

    async def _is_wrong(self, each: StopPlace, frame_id: int | None, *, at_step: bool) -> bool:
        """Whether the adapter names a breakpoint whose condition does not hold, as gdb does where a step ends.

        Each condition is looked at: lldb takes any, and stops where it cannot judge one that may hold or not.
        """
        profile = self._requests.profile
        by_program = self._requests.capabilities.hit_records is not None
        doubted = profile.habits.conditions == "doubted"
        if each.spec.condition is None or by_program:
            return False
        # One that the adapter could not judge has changed nothing yet.
        if not is_judged_twice(profile, each.spec.condition) and not (doubted and each.problem is not None):
            return False
        return not await self._is_met(each, frame_id) and (at_step or doubted)

    async def _is_met(self, each: StopPlace, frame_id: int | None) -> bool:
        """Whether a condition holds; one that cannot be judged does, so that the user sees it."""
        condition = each.spec.condition or ""
        try:
            return holds(await value_of(self._requests, self._requests.profile.expressions.truth(condition), frame_id))
        except DebugError as error:
            reason = self._reason(error)
        self._problem = f"the condition `{condition}` failed: {reason}"
        fault = BreakpointFaulted(self._requests.session_id, condition, self._problem, each.id)
        await self._merger.merge(fault)
        return True

    async def _message(self, each: StopPlace, frame_id: int | None) -> str:
        written = []
        for part in template_parts(each.spec.log_message or ""):
            if isinstance(part, str):
                written.append(part)
                continue
            try:
                written.append(await value_of(self._requests, part.text, frame_id))
            except DebugError as error:
                written.append(f"<error: {self._reason(error)}>")
        text = self._console.message(each.spec.log_message or "", "".join(written))
        self._console.append("tracepoint", f"{text}\n")
        return text

    def _reason(self, error: DebugError) -> str:
        reason = error.reason if isinstance(error, AdapterRefused) else str(error)
        lines = reason.strip().splitlines() or [""]
        words = self._requests.profile.words
        return shortened(words.plain_error(lines[words.telling_line("\n".join(lines))]))

    def _count(self, each: StopPlace) -> int:
        key = each.id, each.version
        self._hits[key] = self._hits.get(key, 0) + 1
        return self._hits[key]
