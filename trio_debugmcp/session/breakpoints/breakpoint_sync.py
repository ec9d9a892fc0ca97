"""`BreakpointSync`: keeps one session's adapter in step with the user's breakpoints.

One task at a time per session sends them, from the current state; what was cancelled meanwhile is sent again.
"""

from collections.abc import Iterable
from functools import partial

import trio

from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import Start
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.breakpoints import placement
from trio_debugmcp.session.breakpoints.addressed_sync import AddressedSync
from trio_debugmcp.session.breakpoints.condition_trial import ConditionTrial
from trio_debugmcp.session.breakpoints.exception_sync import ExceptionSync
from trio_debugmcp.session.breakpoints.function_sync import FunctionSync
from trio_debugmcp.session.breakpoints.hidden import HiddenBreakpoints
from trio_debugmcp.session.breakpoints.line_sync import LineSync, SyncContext
from trio_debugmcp.session.breakpoints.program_hits import ProgramHits
from trio_debugmcp.session.breakpoints.source_places import SourcePlaces, source_of_built
from trio_debugmcp.session.breakpoints.stop_judge import StopJudge
from trio_debugmcp.session.breakpoints.watched_values import WatchedValues
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import StopPlace
from trio_debugmcp.state.model import State

AGAIN_SECONDS = 1.0
"""Until breakpoints are sent again to an adapter that did not answer."""

FUNCTIONS = ""
"""Among files: the breakpoints on functions."""

EXCEPTIONS = "*"
"""Among files: the exception breakpoints."""


class BreakpointSync:
    """Sends the breakpoints of the state to one adapter, and merges what the adapter answers.

    Attributes:
        accepting: the adapter takes breakpoints: from `initialized` on.
        hidden: what the adapter has of ours besides.
        judge: decides here about breakpoints at their stops.
        lines, functions: what is sent of these; `addressed`: those on data and on instructions.
        watched: what data breakpoints watch.
        session_id: of the session whose adapter this is about.
        places: where they belong in source.
    """

    def __init__(
        self,
        requests: Requests,
        merger: Merger,
        sources: Sources,
        host: Host,
        hits: ProgramHits,
        judge: StopJudge,
        start: Start,
    ) -> None:
        self.accepting = False
        self.judge, judging = judge, judge.judging
        self.hidden = HiddenBreakpoints(requests.profile, start, partial(source_of_built, requests.profile.code, host))
        self._hits = hits
        self.places = SourcePlaces(requests.profile, host, sources, start)
        self._catching_up = False
        self._requests = requests
        self._merger = merger
        self.session_id = requests.session_id
        self._trial = ConditionTrial(requests, merger, judging)
        context = SyncContext(requests, merger, sources, hits, judging, self._trial, self.hidden, self.places)
        self.lines = LineSync(context)
        self.functions = FunctionSync(context, self.lines)
        # Two tasks that send the same file could overtake each other between the state and the wire, and the older
        # list would stay with the adapter.
        self._one_at_a_time = trio.Lock()
        self._exceptions = ExceptionSync(requests, merger, self.hidden)
        self.watched = WatchedValues(requests, merger, judge)
        self.addressed = AddressedSync(requests, merger, self._one_at_a_time, judging, self.watched.read)

    def __repr__(self) -> str:
        return f"<BreakpointSync of {self._requests.session_id}: {len(self.lines.sent_files)} files sent>"

    @property
    def profile(self) -> Profile:
        """The profile of the session's adapter."""
        return self._requests.profile

    async def send_all(self) -> None:
        """Send every breakpoint, to a session that is being configured."""
        self.accepting = True
        files = {
            stop_place.spec.file for stop_place in self._merger.state.stop_places if stop_place.spec.file is not None
        }
        await self.send({*files, *self.hidden.named, *self.hidden.files(), FUNCTIONS, EXCEPTIONS})
        await self.addressed.send()

    async def withdraw_entry(self) -> None:
        """Take back the hidden breakpoint where the program begins."""
        files, self.hidden.entry = self.hidden.files(), None
        await self.send(files or {FUNCTIONS})

    async def send(self, wanted: Iterable[str]) -> None:
        """Send the breakpoints of these files, as they are when their turn comes; `FUNCTIONS`, `EXCEPTIONS`: those."""
        files = {*wanted}
        with self.lines.marked_if_cancelled(*files):
            async with self._one_at_a_time:
                await self._send(files)

    async def _send(self, wanted: set[str]) -> None:
        await self.lines.send(wanted - {FUNCTIONS, EXCEPTIONS})
        if (EXCEPTIONS in wanted and self._exceptions.moves_functions()) or FUNCTIONS in wanted:
            await self.functions.send()
        if EXCEPTIONS in wanted:
            await self._exceptions.send()

    async def condition_problem(self, mine: StopPlace) -> str | None:
        """Return why the adapter has refused a condition of a breakpoint that it would have set without."""
        if self._hits.possible:
            return None
        return await self._trial.problem(mine, lambda: self.send({mine.spec.file or FUNCTIONS}))

    async def look_for_types(self) -> None:
        """At a stop: look whether exception types that did not exist do by now."""
        async with self._one_at_a_time:
            await self._exceptions.look_for_types()

    async def keep_in_step(self) -> None:
        """Until cancelled, send what has changed without a sender, or with one that was cancelled meanwhile."""
        while True:
            await self._merger.wait_until(self.lags, of=self.session_id)
            try:
                async with self._one_at_a_time:
                    await self._catch_up()
            except DebugError:  # an adapter that refuses keeps what it has
                await trio.sleep(AGAIN_SECONDS)

    async def _catch_up(self) -> None:
        behind = placement.out_of_step(self._merger.state, self.session_id)
        wanted = {breakpoint.spec.file or FUNCTIONS for breakpoint in behind} | self.lines.unsure
        # Before they are sent: one that is marked meanwhile has changed since, and is sent once more.
        self.lines.unsure -= wanted
        # What is on its way may be out of step when it has come: a run must not take the adapter to be in step before.
        self._catching_up = True
        try:
            await self._send(wanted)
        except DebugError:
            self.lines.unsure |= wanted
            raise
        finally:
            self._catching_up = False
            self._merger.look_again()

    async def end_judging(self) -> int:
        """Interrupt conditions of observed places that the program still evaluates; return how many these were."""
        snapshot = self._requests.snapshot
        return await self._hits.end_judging() if snapshot is not None and snapshot.phase == "Running" else 0

    def lags(self, state: State) -> bool:
        """Return whether the adapter has other breakpoints than it should, which `keep_in_step` is about to send."""
        return bool(self._catching_up or self.lines.unsure or placement.out_of_step(state, self.session_id))
