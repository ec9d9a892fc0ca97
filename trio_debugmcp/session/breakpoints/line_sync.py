"""`LineSync`: sends the breakpoints in files to one adapter, and merges what the adapter answers.

`setBreakpoints` replaces all breakpoints of one file, so a file is always sent whole, from the current state.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapBreakpoint
from trio_debugmcp.dap.profiles.function_code import FunctionPlace
from trio_debugmcp.dap.profiles.near_names import MAX_NAMED
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.session.breakpoints import placement
from trio_debugmcp.session.breakpoints.adapter_ids import AdapterIds
from trio_debugmcp.session.breakpoints.class_breakpoints import ClassBreakpoints
from trio_debugmcp.session.breakpoints.condition_trial import ConditionTrial
from trio_debugmcp.session.breakpoints.hidden import HiddenBreakpoints
from trio_debugmcp.session.breakpoints.judging import Judging
from trio_debugmcp.session.breakpoints.program_hits import ProgramHits, noted
from trio_debugmcp.session.breakpoints.source_places import SourcePlaces
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import Breakpoint, RunPlace, StopPlace
from trio_debugmcp.state.changes import BreakpointsBound


class SyncContext(Struct, frozen=True):
    """What breakpoints on lines and functions are sent with, in one session.

    `hidden`: what the adapter has of ours besides. `places`: where breakpoints belong in source.
    """

    requests: Requests
    merger: Merger
    sources: Sources
    hits: ProgramHits
    judging: Judging
    trial: ConditionTrial
    hidden: HiddenBreakpoints
    places: SourcePlaces


class LineSync:
    """The breakpoints in files of one session; one task at a time sends them.

    Attributes:
        sent_files: the files in which the adapter has some.
        unsure: the files, and kinds, of which it is not known what the adapter has.
        functions: where each function is that was found, by the id of its breakpoint.
        suffixes: returns those of files in the languages of all sessions.
    """

    def __init__(self, context: SyncContext) -> None:
        self.sent_files: set[str] = set()
        self.unsure: set[str] = set()
        self.functions: dict[str, FunctionPlace] = {}
        self.suffixes: Callable[[], Collection[str]] = tuple
        self._requests, self._merger, self._sources = context.requests, context.merger, context.sources
        self._hits, self._judging, self._trial = context.hits, context.judging, context.trial
        self._hidden, self._places = context.hidden, context.places
        by_class = ClassBreakpoints(
            context.requests,
            partial(context.places.classes, class_path=context.hidden.class_path),
            self._send_again,
        )
        self._ids = AdapterIds(context.requests, by_class)

    def __repr__(self) -> str:
        return f"<LineSync of {self._requests.session_id}: {len(self.sent_files)} files sent>"

    async def send(self, files: set[str]) -> None:
        """Send the breakpoints of these files, but for files of a language that only other sessions have."""
        with self.marked_if_cancelled(*files):
            for file in sorted(files):
                if file in self.sent_files or not self._is_foreign(file):
                    await self._send_file(file)

    @contextmanager
    def marked_if_cancelled(self, *files: str) -> Iterator[None]:
        """Have these sent again if the block is cancelled: then it is not known what the adapter has."""
        try:
            yield
        except trio.Cancelled:
            self._send_again(*files)
            raise

    def _send_again(self, *files: str) -> None:
        self.unsure.update(files)
        self._merger.look_again()

    def _is_foreign(self, file: str) -> bool:
        """Return whether a file is of a language that other sessions have, and this one has not.

        With sessions of one language only, the adapter gets every file: it may know more of them than its table says.
        """
        suffix = Path(file).suffix
        if not suffix or suffix in self._requests.profile.detect.suffixes:
            return False
        return suffix in self.suffixes()

    async def _send_file(self, file: str) -> None:
        placed: list[StopPlace] = []
        without_code: list[tuple[StopPlace, DapBreakpoint]] = []
        places, changed = self._in_running_text([place for place in self._located() if place.spec.file == file])
        able, unsupported = placement.supported(places, self._requests.capabilities)
        for place in able:
            line, lost = place.spec.line, place.lost if isinstance(place, Breakpoint) else None
            if place.spec.function is None:
                line = self._places.line_with_code(file, line or 1)
            if line is None or lost:
                message = lost or f"no code follows line {place.spec.line} of the file"
                without_code.append((place, DapBreakpoint(message=message)))
            else:
                placed.append(place.with_spec(line=line))
        answers = await self._send_placed(file, placed)
        if self._requests.profile.dialect.one_breakpoint_per_line:
            moved = {place.id: answer.line for place, answer in answers if answer.verified and answer.line is not None}
            again = [place.with_spec(line=moved.get(place.id, place.spec.line)) for place in placed]
            if len({place.spec.line for place in again}) < len({place.spec.line for place in placed}):
                answers = await self._send_placed(file, again)  # the adapter has moved two to one line
        told = [(place, _with_change(answer, changed.get(place.id))) for place, answer in answers]
        await self.bind(places, [*told, *without_code], unsupported, changed)

    async def _send_placed(self, file: str, placed: list[StopPlace]) -> list[tuple[StopPlace, DapBreakpoint]]:
        """Send breakpoints at their lines, and return what became of each."""
        shared = self._requests.profile.dialect.one_breakpoint_per_line
        groups = placement.by_line(placed) if shared else placement.apart(placed)
        problem = await self._hits.problem_with(groups)
        unjudged = [
            (place, DapBreakpoint(message=problem)) for place in placed if problem is not None and place.spec.is_limited
        ]
        if problem is not None:
            placed = [place for place in placed if not (place.spec.is_limited or place.is_held)]
            groups = placement.grouped(placed) if shared else placement.apart(placed)
        groups = self._judging.joined(groups)
        hidden = self._hidden.lines(file, lambda: self._places.first_statement(file))
        wanted = [*(self._line_breakpoint(file, group, judged=problem is None) for group in groups), *hidden]
        arguments = {"source": {"path": file, "name": Path(file).name}, "breakpoints": wanted, "sourceModified": False}
        try:
            body = await self._ids.set_breakpoints(arguments)
        except AdapterRefused as refusal:
            return [(place, DapBreakpoint(message=refusal.reason)) for place in placed]
        self.sent_files.add(file)
        self._hidden.entry_bound(body.breakpoints or [], len(groups))
        # Some adapters answer with fewer breakpoints than were sent; those keep what is known of them.
        answered = list(zip(groups, body.breakpoints or [], strict=False))
        answers = [
            (member, self._judging.noted(member, noted(member, answer, problem)))
            for group, answer in answered
            for member in group.members
        ]
        for group, _ in answered:
            winner = next((member for member in group.members if not isinstance(member, RunPlace)), None)
            if winner is not None:  # for one run that is not worth a message
                why = f"overridden by {winner.id}, which is on the same line: remove one of the two"
                answers += [(place, DapBreakpoint(message=why)) for place in group.overridden]
        return answers + unjudged

    def _located(self) -> list[StopPlace]:
        """What the adapter is to have; on functions that were found, at their lines."""
        places = self._merger.state.places_of(self._requests.session_id)
        return [self._at_function(place, self.functions.get(place.id)) for place in places]

    def _at_function(self, place: StopPlace, at: FunctionPlace | None) -> StopPlace:
        return place if at is None else place.with_spec(file=at.file, line=at.line, column=at.column)

    def _in_running_text(self, places: list[StopPlace]) -> tuple[list[StopPlace], dict[str, str]]:
        """Return breakpoints of a file where they are in the text that this process runs, and what differs, by id."""
        snapshot = self._merger.state.snapshot(self._requests.session_id)
        began = None if snapshot is None else snapshot.origin.attached_at
        found: list[StopPlace] = []
        changed: dict[str, str] = {}
        for place in places:
            if isinstance(place, Breakpoint) and place.spec.function is None:
                now, note = self._places.in_running_text(place, began)
                changed |= {place.id: note} if note else {}
                found.append(now)
            else:
                others = self._others_of(place)
                changed |= {place.id: others} if others else {}
                found.append(place)
        return found, changed

    def _others_of(self, place: StopPlace) -> str:
        """Return a note that the name of a function may mean others as well."""
        at = self.functions.get(place.id)
        if at is None or not at.others:
            return ""
        more = f" and {len(at.others) - MAX_NAMED} more" if len(at.others) > MAX_NAMED else ""
        named = ", ".join(at.others[:MAX_NAMED])
        where = f"{Path(at.file).name}:{at.line}"
        return f"is in the first `{place.spec.function}`, {where}; others: {named}{more}: say which by its `file`"

    async def bind(
        self,
        mine: list[StopPlace],
        answers: list[tuple[StopPlace, DapBreakpoint]],
        unsupported: list[tuple[StopPlace, str]],
        remarks: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Merge what became of breakpoints: what the adapter answered, what it cannot do, what else is to be said."""
        results: list[tuple[str, DapBreakpoint | None]] = [(place.id, answer) for place, answer in answers]
        name = self._requests.debugger_name
        results += [(place.id, DapBreakpoint(message=f"{name} does not support {what}")) for place, what in unsupported]
        sent = {place for place, _ in results}
        for place in mine:
            if not place.is_sent and place.id not in sent:  # of one that has finished, records may still be on the way
                unsent = DapBreakpoint(message=placement.HELD if place.is_held else None)
                results.append((place.id, unsent if place.enabled else None))
        for place, answer in answers:
            if answer.verified:
                self._sources.learn(place.spec.file, self._requests.session_id)
        await self._merger.merge(BreakpointsBound(self._requests.session_id, tuple(results), tuple(remarks.items())))

    def _line_breakpoint(self, file: str, group: placement.Group, *, judged: bool) -> dict[str, Any]:
        if judged and not group.is_simple:
            condition = self._hits.condition((member, self._places.guarded(file, member)) for member in group.members)
            return {"line": group.members[0].spec.line, "condition": condition}
        members = [self._trial.as_sent(member) for member in group.members]
        first, conditions = members[0], placement.conditions_of(members[0])
        guarded = list(dict.fromkeys(self._places.guarded(file, member) for member in members))
        if all(guarded):
            either = self._requests.profile.expressions.either
            # Our engine sees to it itself that a condition sees its whole frame, and leaves nothing there.
            conditions["condition"] = either(guarded, alone=not self._requests.capabilities.engine_requests)
        else:  # one of them always stops
            conditions.pop("condition", None)
        arguments: dict[str, Any] = {"line": first.spec.line, **conditions}
        if first.spec.column is not None:
            arguments["column"] = first.spec.column
        if self._requests.capabilities.keeps_hits:
            arguments["key"] = first.hits_key
        if first.spec.log_message is not None:
            arguments["logMessage"] = self._requests.profile.dialect.log_message(first.id, first.spec.log_message)
        return arguments


def _with_change(answer: DapBreakpoint, note: str | None) -> DapBreakpoint:
    """Return what an adapter answered, with what is not as it was when the breakpoint was set."""
    return answer if note is None else replace(answer, message="; ".join(filter(None, (note, answer.message))))
