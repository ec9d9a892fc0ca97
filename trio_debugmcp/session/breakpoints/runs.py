"""`Runs`: what serves one run of the program: places where it stops once, or that are observed.

    async with registry.runs.temporary(file, 7, of="s-1"):
        ...                                         # resume, and wait for a stop
    async with registry.runs.observing(run) as held:
        ...                                         # the same; what is found is in the run's places

Wherever a caller is cancelled: afterwards the adapters have the user's breakpoints as they were, and no others.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count

import trio

from trio_debugmcp.patience import Patience
from trio_debugmcp.session.breakpoints.breakpoint_sync import BreakpointSync
from trio_debugmcp.session.breakpoints.breakpoint_syncs import BreakpointSyncs
from trio_debugmcp.session.breakpoints.observations import Observations, ObservedPlace, Run
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec, RunPlace
from trio_debugmcp.state.changes import BreakpointsHeld, RunPlacePut, RunPlacesRemoved, RunPlacesWithdrawn
from trio_debugmcp.state.model import State

UNDO_SECONDS = 1.0
"""To take a place of a run away from the adapters; one that does not answer by then keeps it."""

INTERRUPT_SECONDS = 0.5
"""To interrupt conditions of a run that is over; a program that does not answer by then keeps the GIL in C code."""


UNEXPLAINED = "its adapter has set no breakpoint there yet, and does not say why"


def may_be_set_later(problem: str) -> bool:
    """Whether code that is loaded on the way may have a place that is not set: then adapters name what is loaded."""
    return problem == UNEXPLAINED or "loaded" in problem


class Runs:
    """The places of runs of one server.

    Attributes:
        observations: the places that runs are observed at.
    """

    def __init__(self, merger: Merger, versions: Iterator[int], syncs: BreakpointSyncs, patience: Patience) -> None:
        self.observations = Observations()
        self._merger = merger
        self._versions = versions
        self._syncs = syncs
        self._patience = patience
        self._numbers = count(1)

    def __repr__(self) -> str:
        return f"<Runs {self.observations!r}>"

    @asynccontextmanager
    async def temporary(
        self, file: str, line: int, condition: str | None = None, *, of: str | None = None
    ) -> AsyncIterator[RunPlace]:
        """Stop at a line in one run. No client sees it, and the user's own breakpoints stay as they are.

        `of`: a session of the one program that runs; None: of any.
        """
        place = self._place(BreakpointSpec(file=file, line=line, condition=condition), of)
        try:
            await self._merger.merge(RunPlacePut(place))
            await self._syncs.send([place])
            yield place
        finally:
            with trio.move_on_after(self._patience.seconds(2 * UNDO_SECONDS), shield=True):
                await self._withdraw([place])

    @asynccontextmanager
    async def observing(self, run: Run, *, of: str | None = None) -> AsyncIterator[list[str]]:
        """Observe a run's places for the length of the block; `of`: as above.

        If it holds the user's breakpoints, those do not stop the program meanwhile, and the block gets their ids;
        tracepoints write on, and exceptions stop it.
        """
        breakpoints = [breakpoint for breakpoint in self._state.breakpoints if run.holds and _stops(breakpoint)]
        hidden: list[RunPlace] = []
        self.observations.open(run)
        try:
            for place in run.places:
                spec = BreakpointSpec(file=place.file, line=place.line, function=place.function)
                place.run_place = self._place(spec, of, place.text)
                hidden.append(place.run_place)
                await self._merger.merge(RunPlacePut(place.run_place))
            if run.holds:  # another run, of another program, may hold them
                await self._merger.merge(
                    BreakpointsHeld(frozenset(breakpoint.id for breakpoint in breakpoints), self._root(of))
                )
            await self._syncs.send([*hidden, *breakpoints])
            yield [breakpoint.id for breakpoint in breakpoints]
        finally:
            self.observations.close(run)
            for place in run.places:
                now = None if place.run_place is None else self._now(place.run_place)
                place.run_place = now if now is not None and now.bindings else place.run_place
            with trio.move_on_after(self._patience.seconds(2 * UNDO_SECONDS), shield=True):
                await self._withdraw(hidden, releases=run.holds)
            # Not before: the program would run on past breakpoints of the user's that are still held.
            with trio.move_on_after(self._patience.seconds(INTERRUPT_SECONDS), shield=True):
                await self._end_judging(run)

    async def _withdraw(self, places: Sequence[RunPlace], *, releases: bool = False) -> None:
        """Take the places of a run away and release what was held, also for a caller that is cancelled."""
        ids = frozenset(place.id for place in places)
        with trio.CancelScope(shield=True):  # bounded: the merger never waits
            await self._merger.merge(RunPlacesWithdrawn(ids, releases))
            # The sessions send what has changed, however long their adapters take: nothing is left behind.
            with trio.move_on_after(UNDO_SECONDS):
                await self._merger.wait_until(lambda state: not self._syncs.lag(state))
            await self._merger.merge(RunPlacesRemoved(ids))

    async def _end_judging(self, run: Run) -> None:
        """Interrupt conditions of a run that programs still evaluate: no caller waits for them any more."""
        if any(place.condition is not None and not place.is_complete for place in run.places):

            async def interrupt(sync: BreakpointSync) -> None:
                run.interrupted += await sync.end_judging()

            async with trio.open_nursery() as nursery:
                for sync in self._syncs:
                    nursery.start_soon(interrupt, sync)

    def _now(self, place: RunPlace) -> RunPlace:
        return next((run_place for run_place in self._state.run_places if run_place.id == place.id), place)

    def line_of(self, place: RunPlace) -> int | None:
        """Return the line where a place is in force, which may not be the one that was asked for."""
        lines = (binding.line for binding in self._now(place).bindings if binding.verified and binding.line)
        return next(lines, place.spec.line)

    def problem_of(self, place: ObservedPlace) -> str | None:
        """Return why no session observes a place of a run that is under way; None if one does."""
        bindings = () if place.run_place is None else self._now(place.run_place).bindings
        if any(binding.verified for binding in bindings):
            return None
        return next((binding.message for binding in bindings if binding.message), UNEXPLAINED)

    def problem(self, place: RunPlace) -> str | None:
        """Return why no session stops at the line of this place; None if one does."""
        line = place.spec.file, place.spec.line
        stop_places = [
            stop_place for stop_place in self._state.stop_places if (stop_place.spec.file, stop_place.spec.line) == line
        ]
        able = [stop_place for stop_place in stop_places if stop_place.always_stops or stop_place.id == place.id]
        bindings = [binding for stop_place in able for binding in stop_place.bindings]
        if any(binding.verified for binding in bindings):
            return None
        return next((binding.message for binding in bindings if binding.message), UNEXPLAINED)

    # --- Parts -----------------------------------------------------------------------------------------------

    @property
    def _state(self) -> State:
        return self._merger.state

    def _root(self, session_id: str | None) -> str | None:
        return None if session_id is None else self._state.root_of(session_id)

    def _place(self, spec: BreakpointSpec, of: str | None, observed: str | None = None) -> RunPlace:
        """Make a place of one run. Its id is known before it is merged, which may be cancelled halfway."""
        id_, version = f"run-to-{next(self._numbers)}", next(self._versions)
        return RunPlace(id_, spec, version, observed=observed, run_of=self._root(of))


def _stops(breakpoint: Breakpoint) -> bool:
    """Whether a breakpoint stops the program at a line or in a function."""
    return (
        breakpoint.is_sent
        and breakpoint.spec.watch is None
        and breakpoint.spec.address is None
        and breakpoint.spec.log_message is None
    )
