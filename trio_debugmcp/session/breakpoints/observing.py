"""`StopObserver`: looks at the observed places of a run where the program cannot do so itself, at stops no client sees.

    if await observer.leaves(stopped, frames):
        ...                                         # the stop is not to be published: resume
    not_hit, counted = await observer.hits(stopped, frame_id)

Each pass of such a place is a stop of the adapter's. Conditions and captures are evaluated there, one after the other,
and the program is resumed, unless this was the hit that completes the run or a breakpoint of the user's was hit, too.
"""

from collections.abc import Sequence

import trio

from trio_debugmcp.dap.messages import Stopped
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.breakpoints.observations import Hit, Observations, ObservedPlace, Run, Value
from trio_debugmcp.session.breakpoints.placement import out_of_step
from trio_debugmcp.session.breakpoints.program_hits import ProgramHits
from trio_debugmcp.session.breakpoints.stop_judge import StopJudge
from trio_debugmcp.session.looking.by_probe.own_questions import evaluated, holds
from trio_debugmcp.session.looking.user_evaluation import UserEvaluation
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import StopPlace
from trio_debugmcp.state.breakpoint_rules import breakpoints_at
from trio_debugmcp.state.changes import RunPlacesWithdrawn
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import shortened

LOOK_SECONDS = 1.0
"""For each condition and each capture. A capture that took as long is not evaluated again in the same run."""

_NO_FRAME = "where the program was is not known"


class StopObserver:
    """Observes at the stops of one session, and tells what was hit there."""

    def __init__(
        self,
        requests: Requests,
        merger: Merger,
        evaluation: UserEvaluation,
        observations: Observations,
        hits: ProgramHits,
        judge: StopJudge,
    ) -> None:
        self._requests = requests
        self._merger = merger
        self._evaluation = evaluation
        self._observations = observations
        self._hits = hits
        self._judge = judge
        self._known: tuple[tuple[str, ...], dict[str, int]] | None = None
        self._given_up: dict[tuple[str, str], str] = {}

    def __repr__(self) -> str:
        return f"<StopObserver of {self._requests.session_id}>"

    async def leaves(self, stopped: Stopped, frames: Sequence[StackFrame]) -> bool:
        """Look at the places where the program has stopped; return whether only a run wanted this stop, and resumes."""
        self._known = None
        if not self._observations.used:
            return False
        session_id, ids = self._requests.session_id, frozenset(stopped.hit_breakpoint_ids or ())
        location = frames[0].location if frames and stopped.reason in ("breakpoint", "function breakpoint") else None
        here = breakpoints_at(self._merger.state, session_id, ids, location)
        observed = self._observations.of(here)
        own_places = [stop_place for stop_place in here if stop_place.observed is None]
        if not observed:
            # The end of a run has overtaken its last stop.
            return not own_places and self._observations.was_observed(session_id, ids)
        if self._hits.recording:  # the program has looked itself, and stops only where a stop is meant
            return False
        ends = [await self._look(run, place, frames[0] if frames else None) for run, place in observed]
        if any(ends):
            return False
        return not own_places or await self._are_not_hit(own_places, stopped, frames)

    async def hits(self, stopped: Stopped, frame_id: int | None) -> tuple[tuple[str, ...], dict[str, int]]:
        """Return which breakpoints on the line of a stop were not hit there, and the number of hits where it is known.

        Where the program does not say it, the conditions are evaluated again.
        """
        known, self._known = self._known or self._judge.taken(), None
        if known is not None:
            return known
        hit = set(stopped.hit_breakpoint_ids or ())
        stop_places = [
            stop_place
            for stop_place in self._merger.state.stop_places
            for binding in stop_place.bindings
            if binding.session_id == self._requests.session_id
            and binding.adapter_id in hit
            and stop_place.spec.watch is None
        ]
        counted = self._hits.at_stop([stop_place.id for stop_place in stop_places])
        if counted:
            return tuple(stop_place.id for stop_place in stop_places if stop_place.id not in counted), counted
        if len(stop_places) < 2:
            return (), {}
        false = []
        for stop_place in stop_places:
            if stop_place.spec.condition is not None:
                value = await evaluated(
                    self._requests, self._requests.profile.expressions.truth(stop_place.spec.condition), frame_id
                )
                if value is not None and value.lower() not in {"true", "1"}:
                    false.append(stop_place.id)
        # If all were false, one of them was hit all the same: its condition changes something.
        return tuple(false) if len(false) < len(stop_places) else (), {}

    async def _are_not_hit(self, own: Sequence[StopPlace], stopped: Stopped, frames: Sequence[StackFrame]) -> bool:
        self._known = await self.hits(stopped, frames[0].id if frames else None)  # asked once: evaluating has effects
        not_hit, _ = self._known
        return {stop_place.id for stop_place in own} <= {*not_hit}

    async def _look(self, run: Run, place: ObservedPlace, frame: StackFrame | None) -> bool:
        """Look at a place; return whether the run ends here."""
        session_id = self._requests.session_id
        if not run.wants(place):
            return False
        passes = place.passed(session_id)
        held, value, error = (False, "", _NO_FRAME) if frame is None else await self._judged(place, frame)
        if frame is None or not held:
            failures = place.failures_in(session_id) + (1 if error else 0)
            place.looked(session_id, passes, value, failures, error)
            return bool(error) and place.until and passes == 1
        values = [await self._value(run, frame, expression) for expression in place.capture]
        if run.add(place, Hit(passes, tuple(values)), session_id):
            return run.stops
        if place.is_complete:
            await self._withdraw(place)
        return False

    async def _withdraw(self, place: ObservedPlace) -> None:
        """Take a place away that has all its hits, before the program is resumed: each pass costs a stop."""
        if place.run_place is None:
            return
        id_, session_id = place.run_place.id, self._requests.session_id
        now = next((run_place for run_place in self._merger.state.run_places if run_place.id == id_), place.run_place)
        place.run_place = now  # with its bindings: where it was, and by which id a late stop is known
        await self._merger.merge(RunPlacesWithdrawn(frozenset({id_})))
        with trio.move_on_after(self._look_seconds):
            await self._merger.wait_until(lambda state: not out_of_step(state, session_id))

    @property
    def _look_seconds(self) -> float:
        return self._requests.patience.seconds(LOOK_SECONDS)

    async def _judged(self, place: ObservedPlace, frame: StackFrame) -> tuple[bool, str, str]:
        """Return whether the condition of a place holds; where it does not, its value, and the error if it failed."""
        if place.condition is None:
            return True, "", ""
        profile = self._requests.profile
        judged = in_words = profile.repl.judged(place.condition)
        if judged == place.condition:  # what counts as true is the language's to say: 0 does in Ruby
            judged = profile.expressions.truth(place.condition)
        try:
            value, _ = await self._evaluated(frame, judged)
        except (UsageError, AdapterRefused) as error:
            return False, "", _reason(error, judged)
        if in_words != place.condition:
            return value == "True", value, ""
        if judged == place.condition:
            return holds(value), value, ""
        said = value.lower()
        return said in {"true", "1"}, value, "" if said in {"true", "1", "false", "0"} else value

    async def _value(self, run: Run, frame: StackFrame, expression: str) -> Value:
        known = self._given_up.get((run.key, expression))
        if known is not None:
            return known, None
        try:
            return await self._evaluated(frame, expression)
        except (UsageError, AdapterRefused) as error:
            text = f"<error: {_reason(error, expression)}>"
            if isinstance(error, UsageError) and error.code != "EVAL_FAILED":
                self._given_up[run.key, expression] = (
                    f"<error: not evaluated again: it took over {self._look_seconds:g} s>"
                )
            return text, None

    async def _evaluated(self, frame: StackFrame, expression: str) -> Value:
        found = await self._evaluation.in_frame(frame, expression, self._look_seconds)
        return found.evaluation.shown, found.evaluation.type


def _reason(error: UsageError | AdapterRefused, expression: str) -> str:
    """Return why an expression was not evaluated; what it is, the reader of the answer knows."""
    text = error.message if isinstance(error, UsageError) else error.reason
    return shortened(text.removeprefix(f"`{shortened(expression)}` failed: "))
