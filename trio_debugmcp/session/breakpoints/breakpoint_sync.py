"""`BreakpointSync`: keeps one session's adapter in step with the user's breakpoints.

`setBreakpoints` replaces all breakpoints of one file, so a file is always sent whole, from the current state, by one
task at a time per session.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapBreakpoint
from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.errors import AdapterRefused, DebugError
from trio_debugmcp.session.breakpoints import placement
from trio_debugmcp.session.breakpoints.adapter_ids import AdapterIds
from trio_debugmcp.session.breakpoints.addressed_breakpoints import AddressedBreakpoints
from trio_debugmcp.session.breakpoints.condition_trial import ConditionTrial
from trio_debugmcp.session.breakpoints.exception_sync import ExceptionSync
from trio_debugmcp.session.breakpoints.function_names import FunctionNames
from trio_debugmcp.session.breakpoints.hidden import HiddenBreakpoints
from trio_debugmcp.session.breakpoints.judging import Judging
from trio_debugmcp.session.breakpoints.program_hits import ProgramHits, noted
from trio_debugmcp.session.breakpoints.source_places import SourcePlaces
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.start import Start, directory_of
from trio_debugmcp.state.breakpoint import Breakpoint, RunPlace, StopPlace
from trio_debugmcp.state.changes import BreakpointsBound
from trio_debugmcp.state.model import State

AGAIN_SECONDS = 1.0
"""Until breakpoints are sent again to an adapter that did not answer."""

FUNCTIONS = ""
"""Among files: the breakpoints on functions."""

EXCEPTIONS = "*"
"""Among files: the exception breakpoints."""

NO_FUNCTION = "no such function yet: the breakpoint is set, and stops once one of that name is called"


class BreakpointSync:
    """Sends the breakpoints of the state to one adapter, and merges what the adapter answers.

    Attributes:
        accepting: the adapter takes breakpoints: from `initialized` on.
        peers: returns the profiles of all sessions.
        hidden: what the adapter has of ours besides.
        judging: what is decided here about breakpoints at their stops.
        addressed: those on data and on instructions.
        places: where they belong in source.
        sent_files, sent_functions: what the adapter has some of.
    """

    def __init__(
        self,
        requests: Requests,
        merger: Merger,
        sources: Sources,
        host: Host,
        hits: ProgramHits,
        judging: Judging,
        start: Start,
    ) -> None:
        self.accepting = False
        self.judging = judging
        self.hidden = HiddenBreakpoints(requests.profile, start)
        self._hits = hits
        self.places = SourcePlaces(requests.profile, host, sources, directory_of(start))
        self._requests = requests
        self._merger = merger
        self._sources = sources
        # Two tasks that send the same file could overtake each other between the state and the wire, and the older
        # list would stay with the adapter.
        self._one_at_a_time = trio.Lock()
        self._ids = AdapterIds(requests)
        self._exceptions = ExceptionSync(requests, merger, self.hidden)
        self.addressed = AddressedBreakpoints(requests, merger, self._one_at_a_time, judging)
        self.sent_files: set[str] = set()
        self.sent_functions = False
        self._functions: dict[str, tuple[str, int]] = {}
        self._names = FunctionNames(requests)
        self._session_id = requests.session_id
        self._unsure: set[str] = set()
        self.peers: Callable[[], Iterable[Profile]] = tuple
        self._trial = ConditionTrial(requests, merger, judging)

    def __repr__(self) -> str:
        return f"<BreakpointSync of {self._requests.session_id}: {len(self.sent_files)} files sent>"

    @property
    def profile(self) -> Profile:
        """The profile of the session's adapter."""
        return self._requests.profile

    async def send_all(self) -> None:
        """Send every breakpoint, to a session that is being configured."""
        self.accepting = True
        files = {each.spec.file for each in self._merger.state.stop_places if each.spec.file is not None}
        await self.send({*files, *self.hidden.named, *self.hidden.files(), FUNCTIONS, EXCEPTIONS})
        await self.addressed.send()

    async def withdraw_entry(self) -> None:
        """Take back the hidden breakpoint where the program begins."""
        files, self.hidden.entry = self.hidden.files(), None
        await self.send(files or {FUNCTIONS})

    async def send(self, wanted: Iterable[str]) -> None:
        """Send the breakpoints of these files, as they are when their turn comes; `FUNCTIONS`, `EXCEPTIONS`: those."""
        files = {*wanted}
        with self._marked_if_cancelled(*files):
            async with self._one_at_a_time:
                await self._send(files)

    async def _send(self, wanted: set[str]) -> None:
        await self._send_files(wanted - {FUNCTIONS, EXCEPTIONS})
        if (EXCEPTIONS in wanted and self._exceptions.moves_functions()) or FUNCTIONS in wanted:
            await self._send_all_functions()
        if EXCEPTIONS in wanted:
            await self._exceptions.send()

    async def _send_files(self, files: set[str]) -> None:
        with self._marked_if_cancelled(*files):
            for file in sorted(files):
                if file in self.sent_files or not self._is_foreign(file):
                    await self._send_file(file)

    def _is_foreign(self, file: str) -> bool:
        """Return whether a file is of a language that other sessions have, and this one has not.

        With sessions of one language only, the adapter gets every file: it may know more of them than its table says.
        """
        suffix = Path(file).suffix
        if not suffix or suffix in self.profile.detect.suffixes:
            return False
        return any(suffix in each.detect.suffixes for each in self.peers())

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
            await self._merger.wait_until(self.lags)
            try:
                async with self._one_at_a_time:
                    await self._catch_up()
            except DebugError:  # an adapter that refuses keeps what it has
                await trio.sleep(AGAIN_SECONDS)

    async def _catch_up(self) -> None:
        behind = placement.out_of_step(self._merger.state, self._session_id)
        wanted = {breakpoint.spec.file or FUNCTIONS for breakpoint in behind} | self._unsure
        # Before they are sent: one that is marked meanwhile has changed since, and is sent once more.
        self._unsure -= wanted
        try:
            await self._send(wanted)
        except DebugError:
            self._unsure |= wanted
            raise

    @contextmanager
    def _marked_if_cancelled(self, *files: str) -> Iterator[None]:
        """Have these sent again if the block is cancelled: then it is not known what the adapter has."""
        try:
            yield
        except trio.Cancelled:
            self._unsure.update(files)
            raise

    async def end_judging(self) -> int:
        """Interrupt conditions of observed places that the program still evaluates; return how many these were."""
        snapshot = self._requests.snapshot
        return await self._hits.end_judging() if snapshot is not None and snapshot.phase == "Running" else 0

    def lags(self, state: State) -> bool:
        """Return whether the adapter has other breakpoints than it should, which `keep_in_step` is about to send."""
        return bool(self._unsure or placement.out_of_step(state, self._session_id))

    def _places(self) -> list[StopPlace]:
        return self._merger.state.places_of(self._session_id)

    async def _send_all_functions(self) -> None:
        """Send the function breakpoints; those whose function is found, as breakpoints on its line."""
        mine = [each for each in self._places() if each.spec.function is not None]
        found = [(each.id, self.places.function_place(each.spec.function or "")) for each in mine]
        before = {file for file, _ in self._functions.values()}
        places = {id_: place for id_, place in found if place is not None}
        self._functions = {id_: place for id_, place in places.items() if place[1]}
        await self._send_files(before | {file for file, _ in self._functions.values()})
        await self._send_functions([each for each in mine if each.id not in self._functions], {*places})

    async def _send_functions(self, mine: list[StopPlace], known: set[str]) -> None:
        hidden = self.hidden.functions()
        if not mine and not hidden and not self.sent_functions:
            return
        if not self._requests.capabilities.supports_function_breakpoints:
            await self._bind(mine, [], [(each, "breakpoints on functions") for each in mine])
            return
        sent, unsupported = placement.supported(mine, self._requests.capabilities)
        problem = await self._judging(placement.Group((each,)) for each in sent)
        if problem is not None:
            unable = [each for each in sent if each.spec.log_message is not None and not self.judging.is_judged(each)]
            unsupported += [(each, "log messages on functions") for each in unable]
            sent = [each for each in sent if each not in unable]
        wanted = [self._function_breakpoint(each, judged=problem is None) for each in sent]
        self.sent_functions = bool(sent or hidden)
        found = await self._names.set([*wanted, *hidden])
        self.hidden.functions_bound(found, len(sent))
        answered = zip(sent, found, strict=False)
        answers = [(each, self.judging.noted(each, answer)) for each, answer in answered]
        if self._requests.profile.code.reads_source:  # such adapters verify whatever name they get
            answers = [
                (each, answer if each.id in known else replace(answer, verified=False, message=NO_FUNCTION))
                for each, answer in answers
            ]
        await self._bind(mine, answers, unsupported)

    def _function_breakpoint(self, each: StopPlace, *, judged: bool) -> dict[str, Any]:
        expressions, code = self._requests.profile.expressions, self._requests.profile.code
        name, guard = code.function_breakpoint(each.spec.function or "")
        conditions = placement.conditions_of(self._trial.as_sent(each))
        if guard is not None:
            conditions["condition"] = expressions.both(guard, each.spec.condition) if each.spec.condition else guard
        if judged and not placement.Group((each,)).is_simple:
            return {"name": name, "condition": self._hits.condition([(each, conditions.get("condition", ""))])}
        return {"name": name, **conditions}

    async def _send_file(self, file: str) -> None:
        placed: list[StopPlace] = []
        without_code: list[tuple[StopPlace, DapBreakpoint]] = []
        mine = [each for each in map(self._located, self._places()) if each.spec.file == file]
        able, unsupported = placement.supported(mine, self._requests.capabilities)
        for each in able:
            line, lost = each.spec.line, each.lost if isinstance(each, Breakpoint) else None
            if each.spec.function is None:
                line = self.places.line_with_code(file, line or 1)
            if line is None or lost:
                message = lost or f"no code follows line {each.spec.line} of the file"
                without_code.append((each, DapBreakpoint(message=message)))
            else:
                placed.append(each.with_spec(line=line))
        answers = await self._send_placed(file, placed)
        if self._requests.profile.dialect.one_breakpoint_per_line:
            moved = {each.id: answer.line for each, answer in answers if answer.verified and answer.line is not None}
            again = [each.with_spec(line=moved.get(each.id, each.spec.line)) for each in placed]
            if len({each.spec.line for each in again}) < len({each.spec.line for each in placed}):
                answers = await self._send_placed(file, again)  # the adapter has moved two to one line
        await self._bind(mine, [*answers, *without_code], unsupported)

    async def _send_placed(self, file: str, placed: list[StopPlace]) -> list[tuple[StopPlace, DapBreakpoint]]:
        """Send breakpoints at their lines, and return what became of each."""
        shared = self._requests.profile.dialect.one_breakpoint_per_line
        groups = placement.by_line(placed) if shared else placement.apart(placed)
        problem = await self._judging(groups)
        unjudged = [
            (each, DapBreakpoint(message=problem)) for each in placed if problem is not None and each.spec.is_limited
        ]
        if problem is not None:
            placed = [each for each in placed if not (each.spec.is_limited or each.is_held)]
            groups = placement.grouped(placed) if shared else placement.apart(placed)
        groups = self.judging.joined(groups)
        hidden = self.hidden.lines(file, lambda: self.places.first_statement(file))
        wanted = [*(self._line_breakpoint(file, each, judged=problem is None) for each in groups), *hidden]
        arguments = {"source": {"path": file, "name": Path(file).name}, "breakpoints": wanted, "sourceModified": False}
        try:
            body = await self._ids.set_breakpoints(arguments)
        except AdapterRefused as refusal:
            return [(each, DapBreakpoint(message=refusal.reason)) for each in placed]
        self.sent_files.add(file)
        self.hidden.entry_bound(body.breakpoints or [], len(groups))
        # Some adapters answer with fewer breakpoints than were sent; those keep what is known of them.
        answered = list(zip(groups, body.breakpoints or [], strict=False))
        answers = [
            (each, self.judging.noted(each, noted(each, answer, problem)))
            for group, answer in answered
            for each in group.members
        ]
        for group, _ in answered:
            winner = next((each for each in group.members if not isinstance(each, RunPlace)), None)
            if winner is not None:  # for one run that is not worth a message
                why = f"overridden by {winner.id}, which is on the same line: remove one of the two"
                answers += [(each, DapBreakpoint(message=why)) for each in group.overridden]
        return answers + unjudged

    def _located(self, each: StopPlace) -> StopPlace:
        """The breakpoint with the place of its function, if that is found."""
        file, line = self._functions.get(each.id, (each.spec.file, each.spec.line))
        return each.with_spec(file=file, line=line)

    async def _bind(
        self,
        mine: list[StopPlace],
        answers: list[tuple[StopPlace, DapBreakpoint]],
        unsupported: list[tuple[StopPlace, str]],
    ) -> None:
        results: list[tuple[str, DapBreakpoint | None]] = [(each.id, answer) for each, answer in answers]
        name = self._requests.profile.name
        results += [(e.id, DapBreakpoint(message=f"{name} does not support {what}")) for e, what in unsupported]
        sent = {each for each, _ in results}
        for each in mine:
            if not each.is_sent and each.id not in sent:  # of one that has finished, records may still be on the way
                unsent = DapBreakpoint(message=placement.HELD if each.is_held else None)
                results.append((each.id, unsent if each.enabled else None))
        for each, answer in answers:
            if answer.verified:
                self._sources.learn(each.spec.file, self._requests.session_id)
        await self._merger.merge(BreakpointsBound(self._requests.session_id, tuple(results)))

    async def _judging(self, groups: Iterable[placement.Group]) -> str | None:
        """Have the program judge these if one needs it. Return None, or why it does not: "" without a direct line."""
        if all(each.is_simple for each in groups):
            return None
        return await self._hits.ready() if self._hits.possible else ""

    def _line_breakpoint(self, file: str, group: placement.Group, *, judged: bool) -> dict[str, Any]:
        if judged and not group.is_simple:
            condition = self._hits.condition((each, self.places.guarded(file, each)) for each in group.members)
            return {"line": group.members[0].spec.line, "condition": condition}
        members = [self._trial.as_sent(each) for each in group.members]
        first, conditions = members[0], placement.conditions_of(members[0])
        guarded = list(dict.fromkeys(self.places.guarded(file, each) for each in members))
        if all(guarded):
            either = self._requests.profile.expressions.either
            conditions["condition"] = either(guarded) if len(guarded) > 1 else guarded[0]
        else:  # one of them always stops
            conditions.pop("condition", None)
        arguments: dict[str, Any] = {"line": first.spec.line, **conditions}
        if first.spec.column is not None:
            arguments["column"] = first.spec.column
        if first.spec.log_message is not None:
            arguments["logMessage"] = self._requests.profile.dialect.log_message(first.id, first.spec.log_message)
        return arguments
