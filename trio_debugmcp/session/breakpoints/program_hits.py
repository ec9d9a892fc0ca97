"""`ProgramHits`: breakpoints that a program on the direct line judges itself, and their hits as it records them.

    condition = hits.condition([(place, "limit > 3")])          # for `setBreakpoints`, once `hits.ready()` is None
    await hits.take(output)                                     # records in an `output` event, see `dap.records`
    reported = hits.at_stop(["bp-1", "bp-2"])                   # who stopped the program, and at which hit

So several breakpoints on one line are each judged and counted, in front of the user's own conditions; no message is
lost when the program ends; and a `print` of the program cannot look like a hit.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapBreakpoint, OutputEvent
from trio_debugmcp.dap.records import HitRecord, records_of
from trio_debugmcp.errors import DebugError
from trio_debugmcp.probe.answers import Interrupted
from trio_debugmcp.session.breakpoints.observations import OBSERVED, Observations
from trio_debugmcp.session.breakpoints.placement import HELD, Group
from trio_debugmcp.session.looking.by_probe.program_probe import ProgramProbe
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import StopPlace
from trio_debugmcp.state.changes import BreakpointFaulted, HitsRecorded, RecordedHit

LEFT = "trace"
"""The kind of a record beside the hits: what a program that ends has traced. As in `inside.tracing.call_tracer`."""

NEVER = "< 1"
"""The hit condition of a breakpoint whose hits are only counted."""

NOT_RECORDED = "hits may be lost and counts inexact: the program does not record them ({})"


def noted(place: StopPlace, answer: DapBreakpoint, problem: str | None) -> DapBreakpoint:
    """Return the answer for a breakpoint, with why it does not stop or its hits are not recorded."""
    if place.is_held:
        return replace(answer, message=HELD)
    if not problem or not (place.spec.log_message or place.spec.hit_condition):
        return answer
    return replace(answer, message=answer.message or problem)


class ProgramHits:
    """The judged breakpoints of one session.

    Attributes:
        recording: the program judges them, and records their hits.
    """

    def __init__(
        self,
        requests: Requests,
        merger: Merger,
        console: Console,
        probe: ProgramProbe,
        may_notify: Callable[[StopPlace], bool],
        observations: Observations,
    ) -> None:
        self._requests = requests
        self._merger = merger
        self._console = console
        self._probe = probe
        self._may_notify = may_notify
        self._observations = observations
        self.recording = False
        self._stops: dict[str, int] = {}
        self._failed: set[tuple[str, int]] = set()

    def __repr__(self) -> str:
        return f"<ProgramHits of {self._requests.session_id}, {'recording' if self.recording else 'not recording'}>"

    @property
    def possible(self) -> bool:
        """Whether the program can judge breakpoints: it is on the direct line."""
        return self._requests.capabilities.hit_records is not None

    async def ready(self) -> str | None:
        """Have the program record hits; return why it does not."""
        if not self.recording:
            try:
                failure = await self._probe.record(self._requests.capabilities.hit_records or "")
            except DebugError as error:
                return NOT_RECORDED.format(error)
            if failure is not None:
                return NOT_RECORDED.format(failure.text)
            self.recording = True
        return None

    async def problem_with(self, groups: Iterable[Group]) -> str | None:
        """Have the program judge these if one needs it. Return None, or why it does not: "" without a direct line."""
        if all(group.is_simple for group in groups):
            return None
        return await self.ready() if self.possible else ""

    def condition(self, judged: Iterable[tuple[StopPlace, str]]) -> str:
        """Return the condition with which the program judges these breakpoints, each with its own as it is sent."""
        parts: list[list[object]] = []
        for place, condition in judged:
            observed = self._observations.form(place.id)
            if observed is not None:
                parts.append([place.id, place.version, condition or None, None, None, *observed])
                continue
            spec = place.spec
            hit_condition = f"% {spec.hit_count_multiple}" if spec.hit_count_multiple else spec.hit_condition
            hit_condition = NEVER if place.is_held else hit_condition  # of the same version, so its count continues
            part: list[object] = [place.id, place.version, condition or None, hit_condition, spec.log_message]
            parts.append([*part, spec.max_notifications] if spec.max_notifications else part)
        return self._requests.form.hit(json.dumps(parts, separators=(",", ":")))

    async def end_judging(self) -> int:
        """Interrupt conditions of observed places that the program still evaluates; return how many these were."""
        over = await self._probe.quietly("over", Interrupted) if self.recording else None
        return 0 if over is None else over.interrupted

    def at_stop(self, ids: Sequence[str]) -> dict[str, int]:
        """Return which of these breakpoints have stopped the program since they were asked about, and their hits."""
        return {id_: self._stops.pop(id_) for id_ in ids if id_ in self._stops}

    async def take(self, output: OutputEvent) -> tuple[bool, str | None]:
        """Take the records that an event may carry; return whether it did, and what explains the stop that follows."""
        records = records_of(output) if self.possible else []
        explanation = None
        for record in records:
            if record.kind == LEFT:
                number, left = record.breakpoint_id, self._probe.left
                left[number] = left.get(number, "") + record.text
        if any(record.kind == "log" for record in records):
            # What the program wrote before a hit may still be on its way through a pipe.
            await self._console.settle()
        for together, group in groupby(records, lambda record: record.kind in ("log", "count")):
            if together:
                await self._merge(list(group))
            else:
                for record in group:
                    explanation = await self._take_stop(record) or explanation
        return bool(records), explanation

    async def _merge(self, records: list[HitRecord]) -> None:
        hits = []
        for record in records:
            text, found = record.text if record.kind == "log" else None, self._found(record)
            if text is not None:
                if found is not None and not self._may_notify(found):
                    continue  # another process of the program has sent the last one
                text = self._console.message((found and found.spec.log_message) or "", text)
                self._console.append("tracepoint", f"{text}\n")
            if found is not None:
                hits.append(RecordedHit(record.breakpoint_id, record.hits, text))
        if hits:
            await self._merger.merge(HitsRecorded(self._requests.session_id, tuple(hits)))

    async def _take_stop(self, record: HitRecord) -> str | None:
        """Keep who stops the program; return the error, if it stops because a condition failed."""
        found = self._found(record)
        if found is None:
            return None
        if record.kind == "fail":
            return await self._fail(record, found)
        if record.kind in OBSERVED:
            self._observations.take(self._requests.session_id, record)
            return None
        self._stops[found.id] = max(record.hits, self._stops.get(found.id, 0))  # threads write in any order
        return None

    def _found(self, record: HitRecord) -> StopPlace | None:
        """Return the breakpoint that was hit, unless it was removed or replaced meanwhile."""
        mine = (record.breakpoint_id, record.version)
        return next(
            (
                stop_place
                for stop_place in self._merger.state.stop_places
                if (stop_place.id, stop_place.version) == mine
            ),
            None,
        )

    async def _fail(self, record: HitRecord, found: StopPlace) -> str | None:
        """A condition raised an error: the program stops there, or says so once in place of a message."""
        problem = f"the condition `{found.spec.condition}` failed: {record.text}"
        condition = found.spec.condition or ""
        await self._merger.merge(BreakpointFaulted(self._requests.session_id, condition, problem, found.id))
        if found.spec.log_message is None:
            self._stops[found.id] = record.hits
            return problem
        if (found.id, found.version) not in self._failed:
            self._failed.add((found.id, found.version))
            self._console.append("tracepoint", f"{found.id}: {problem}\n")
        return None
