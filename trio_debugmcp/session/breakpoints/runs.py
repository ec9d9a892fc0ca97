"""`Runs`: what serves one run of the program: hidden breakpoints, to stop at a line once or to observe places.

    async with registry.runs.temporary(file, 7, of="s-1"):
        ...                                         # resume, and wait for a stop
    async with registry.runs.observing(run) as held:
        ...                                         # the same; what is found is in the run's places

Wherever a caller is cancelled: afterwards the adapters have the user's breakpoints as they were, and no others.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count

import trio
from msgspec.structs import replace

from trio_debugmcp.patience import Patience
from trio_debugmcp.session.breakpoints.breakpoint_sync import BreakpointSync
from trio_debugmcp.session.breakpoints.observations import Observations, ObservedPlace, Run
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.changes import BreakpointPut, BreakpointsHeld, BreakpointsRemoved
from trio_debugmcp.state.model import Breakpoint, State

UNDO_SECONDS = 1.0
"""To take a temporary breakpoint away from the adapters; one that does not answer by then keeps it."""

INTERRUPT_SECONDS = 0.5
"""To interrupt conditions of a run that is over; a program that does not answer by then keeps the GIL in C code."""


class Runs:
    """The hidden breakpoints of one server.

    Attributes:
        observations: the places that runs are observed at.
    """

    def __init__(
        self,
        merger: Merger,
        versions: Iterator[int],
        send: Callable[[Sequence[Breakpoint]], Awaitable[None]],
        syncs: Callable[[], Sequence[BreakpointSync]],
        patience: Patience,
    ) -> None:
        self.observations = Observations()
        self._merger = merger
        self._versions = versions
        self._send = send
        self._syncs = syncs
        self._patience = patience
        self._numbers = count(1)

    def __repr__(self) -> str:
        return f"<Runs {self.observations!r}>"

    @asynccontextmanager
    async def temporary(
        self, file: str, line: int, condition: str | None = None, *, of: str | None = None
    ) -> AsyncIterator[Breakpoint]:
        """Set a breakpoint for one run. No client sees it, and the user's own breakpoints stay as they are.

        `of`: a session of the one program that runs; None: of any.
        """
        made = replace(self._hidden(file, line), condition=condition, run_of=self._root(of))
        try:
            await self._merger.merge(BreakpointPut(made))
            await self._send([made])
            yield made
        finally:
            with trio.move_on_after(self._patience.seconds(2 * UNDO_SECONDS), shield=True):
                await self._withdraw([made])

    @asynccontextmanager
    async def observing(self, run: Run, *, of: str | None = None) -> AsyncIterator[list[str]]:
        """Observe a run's places for the length of the block, by hidden breakpoints; `of`: as above.

        If it holds the user's breakpoints, those do not stop the program meanwhile, and the block gets their ids;
        tracepoints write on, and exceptions stop it.
        """
        held = [each for each in self._state.breakpoints if run.holds and _stops(each)]
        made: list[Breakpoint] = []
        self.observations.open(run)
        try:
            for place in run.places:
                hidden = self._hidden(place.file, place.line, place.function, place.text)
                made.append(replace(hidden, run_of=self._root(of)))
                place.breakpoint = made[-1]
                await self._merger.merge(BreakpointPut(made[-1]))
            if run.holds:  # another run, of another program, may hold them
                await self._merger.merge(BreakpointsHeld(frozenset(each.id for each in held), run_of=self._root(of)))
            await self._send([*made, *held])
            yield [each.id for each in held]
        finally:
            self.observations.close(run)
            for place in run.places:
                now = None if place.breakpoint is None else self._now(place.breakpoint)
                place.breakpoint = now if now is not None and now.bindings else place.breakpoint
            with trio.move_on_after(self._patience.seconds(2 * UNDO_SECONDS), shield=True):
                await self._withdraw(made, release=run.holds)
            # Not before: the program would run on past breakpoints of the user's that are still held.
            with trio.move_on_after(self._patience.seconds(INTERRUPT_SECONDS), shield=True):
                await self._end_judging(run)

    async def _withdraw(self, made: Sequence[Breakpoint], *, release: bool = False) -> None:
        """Take hidden breakpoints away and release those that were held, also for a caller that is cancelled."""
        ids = frozenset(each.id for each in made)
        with trio.CancelScope(shield=True):  # bounded: the merger never waits
            await self._merger.merge(BreakpointsHeld(frozenset() if release else None, ids))
            # The sessions send what has changed, however long their adapters take: nothing is left behind.
            with trio.move_on_after(self._patience.seconds(UNDO_SECONDS)):
                await self._merger.wait_until(lambda state: not any(each.lags(state) for each in self._syncs()))
            await self._merger.merge(BreakpointsRemoved(ids))

    async def _end_judging(self, run: Run) -> None:
        """Interrupt conditions of a run that programs still evaluate: no caller waits for them any more."""
        if any(each.condition is not None and not each.is_complete for each in run.places):

            async def interrupt(sync: BreakpointSync) -> None:
                run.interrupted += await sync.end_judging()

            async with trio.open_nursery() as nursery:
                for sync in self._syncs():
                    nursery.start_soon(interrupt, sync)

    def _now(self, wanted: Breakpoint) -> Breakpoint:
        return next((each for each in self._state.breakpoints if each.id == wanted.id), wanted)

    def line_of(self, wanted: Breakpoint) -> int | None:
        """Return the line where a breakpoint is in force, which may not be the one that was asked for."""
        return next(
            (binding.line for binding in self._now(wanted).bindings if binding.verified and binding.line), wanted.line
        )

    def problem_of(self, place: ObservedPlace) -> str | None:
        """Return why no session observes a place of a run that is under way; None if one does."""
        bindings = () if place.breakpoint is None else self._now(place.breakpoint).bindings
        if any(binding.verified for binding in bindings):
            return None
        return next((binding.message for binding in bindings if binding.message), "there is no code at that line")

    def problem(self, wanted: Breakpoint) -> str | None:
        """Return why no session stops at the line of this breakpoint; None if one does."""
        there = [each for each in self._state.breakpoints if (each.file, each.line) == (wanted.file, wanted.line)]
        able = [each for each in there if each.always_stops or each.id == wanted.id]
        bindings = [binding for each in able for binding in each.bindings]
        if any(binding.verified for binding in bindings):
            return None
        return next((binding.message for binding in bindings if binding.message), "there is no code at that line")

    # --- Parts -----------------------------------------------------------------------------------------------

    @property
    def _state(self) -> State:
        return self._merger.state

    def _root(self, session_id: str | None) -> str | None:
        return None if session_id is None else self._state.roots().get(session_id)

    def _hidden(
        self, file: str | None, line: int | None, function: str | None = None, observed: str | None = None
    ) -> Breakpoint:
        """Make a breakpoint for one run. Its id is known before it is merged, which may be cancelled halfway."""
        id_, version = f"run-to-{next(self._numbers)}", next(self._versions)
        return Breakpoint(
            id=id_, file=file, line=line, function=function, temporary=True, observed=observed, version=version
        )


def _stops(each: Breakpoint) -> bool:
    """Whether a breakpoint of the user's stops the program at a line or in a function."""
    is_placed = each.watch is None and each.address is None and not each.temporary
    return is_placed and each.is_sent and each.log_message is None
