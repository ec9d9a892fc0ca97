"""`FunctionSync`: sends the breakpoints on functions to one adapter; where a function is found, as one on its line."""

from typing import Any

from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapBreakpoint
from trio_debugmcp.session.breakpoints import placement
from trio_debugmcp.session.breakpoints.function_names import FunctionNames
from trio_debugmcp.session.breakpoints.line_sync import LineSync, SyncContext
from trio_debugmcp.state.breakpoint import StopPlace

NO_FUNCTION = "no such function yet: the breakpoint is set, and stops once one of that name is called"


class FunctionSync:
    """The breakpoints on functions of one session; one task at a time sends them.

    Attributes:
        sent: the adapter has some.
    """

    def __init__(self, context: SyncContext, lines: LineSync) -> None:
        self.sent = False
        self._requests, self._merger, self._lines = context.requests, context.merger, lines
        self._hits, self._judging, self._trial = context.hits, context.judging, context.trial
        self._hidden, self._places = context.hidden, context.places
        self._names = FunctionNames(context.requests)

    def __repr__(self) -> str:
        return f"<FunctionSync of {self._requests.session_id}>"

    async def send(self) -> None:
        """Send them; those whose function is found, as breakpoints on its line."""
        places_of_session = self._merger.state.places_of(self._requests.session_id)
        stop_places = [stop_place for stop_place in places_of_session if stop_place.spec.function is not None]
        near = self._directories()
        found = [
            (stop_place.id, await self._places.function_place(stop_place.spec.function or "", near))
            for stop_place in stop_places
        ]
        before = {place.file for place in self._lines.functions.values()}
        places = {id_: place for id_, place in found if place is not None}
        self._lines.functions = {id_: place for id_, place in places.items() if place.line}
        await self._lines.send(before | {place.file for place in self._lines.functions.values()})
        await self._send_named(
            [stop_place for stop_place in stop_places if stop_place.id not in self._lines.functions], {*places}
        )

    async def _send_named(self, mine: list[StopPlace], known: set[str]) -> None:
        hidden = self._hidden.functions()
        if not mine and not hidden and not self.sent:
            return
        if not self._requests.capabilities.supports_function_breakpoints:
            await self._lines.bind(mine, [], [(place, await self._without(place)) for place in mine])
            return
        sent, unsupported = placement.supported(mine, self._requests.capabilities)
        problem = await self._hits.problem_with(placement.Group((place,)) for place in sent)
        if problem is not None:
            unable = [
                place for place in sent if place.spec.log_message is not None and not self._judging.is_judged(place)
            ]
            unsupported += [(place, "log messages on functions") for place in unable]
            sent = [place for place in sent if place not in unable]
        # The program judges each of a name itself; debuggers keep one of a name, and would lose the others.
        groups = placement.by_function(sent) if problem is None else [placement.Group((place,)) for place in sent]
        wanted = [self._function_breakpoint(group, judged=problem is None) for group in groups]
        self.sent = bool(sent or hidden)
        found = await self._names.set([*wanted, *hidden])
        self._hidden.functions_bound(found, len(groups))
        answered = [(place, answer) for group, answer in zip(groups, found, strict=False) for place in group.members]
        answers = [(place, self._judging.noted(place, answer)) for place, answer in answered]
        if self._requests.profile.code.reads_source:  # such adapters verify whatever name they get
            answers = [(each, got if each.id in known else await self._not_found(each, got)) for each, got in answers]
        else:
            answers = [(each, got if got.verified else await self._with_alike(each, got)) for each, got in answers]
        await self._lines.bind(mine, answers, unsupported)

    def _directories(self) -> list[str]:
        """Return where the processes of this program run, for an adapter that stops in no function by its name."""
        if self._requests.capabilities.supports_function_breakpoints:
            return []
        state = self._merger.state
        root = state.root_of(self._requests.session_id)
        family = set[str]() if root is None else state.family(root)
        directories = (each.origin.working_directory for each in state.snapshots if each.id in family)
        return list(dict.fromkeys(each for each in directories if each))

    async def _without(self, place: StopPlace) -> str:
        """Return what an adapter cannot do that has no breakpoints on functions, where none was found either."""
        function = place.spec.function or ""
        if not self._requests.profile.code.finds_functions:
            return "breakpoints on functions"
        meant = await self._places.functions_alike(function, self._directories())
        none = f"breakpoints on functions that are in no file of the program, as `{function}`"
        return "; ".join(filter(None, (none, meant, "else pass `file` and `statement`, the text of a line in it")))

    async def _with_alike(self, place: StopPlace, answer: DapBreakpoint) -> DapBreakpoint:
        """Return the answer for a function that the adapter does not know, with those of the source that are meant."""
        meant = await self._places.functions_alike(place.spec.function or "")
        return replace(answer, message="; ".join(filter(None, (answer.message, meant))) or None)

    async def _not_found(self, place: StopPlace, answer: DapBreakpoint) -> DapBreakpoint:
        meant = await self._places.functions_alike(place.spec.function or "")
        return replace(answer, verified=False, message="; ".join(filter(None, (NO_FUNCTION, meant))))

    def _function_breakpoint(self, group: placement.Group, *, judged: bool) -> dict[str, Any]:
        name, _ = self._requests.profile.code.function_breakpoint(group.members[0].spec.function or "")
        conditions = [self._conditions(place) for place in group.members]
        if judged and not group.is_simple:
            guarded = [each.get("condition", "") for each in conditions]
            return {"name": name, "condition": self._hits.condition(zip(group.members, guarded, strict=True))}
        return {"name": name, **conditions[0]}

    def _conditions(self, place: StopPlace) -> dict[str, Any]:
        expressions, code = self._requests.profile.expressions, self._requests.profile.code
        _, guard = code.function_breakpoint(place.spec.function or "")
        conditions = placement.conditions_of(self._trial.as_sent(place))
        if guard is not None:
            conditions["condition"] = expressions.both(guard, place.spec.condition) if place.spec.condition else guard
        if self._requests.capabilities.keeps_hits:
            conditions["key"] = place.hits_key
        return conditions
