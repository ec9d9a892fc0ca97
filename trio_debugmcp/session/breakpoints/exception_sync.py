"""`ExceptionSync`: sends the exception breakpoints to one adapter, and finds out which of their types exist."""

from trio_debugmcp.dap.messages import BreakpointsBody, Capabilities
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.session.breakpoints.hidden import HiddenBreakpoints
from trio_debugmcp.session.breakpoints.session_modes import stopped_by, wanted_exceptions, with_session_modes
from trio_debugmcp.session.looking.by_probe.own_questions import evaluated
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint
from trio_debugmcp.state.changes import ExceptionBreakpointsBound


def exception_problem(profile: Profile, able: Capabilities | None, exception_type: str) -> str | None:
    """Return why an adapter cannot stop at exceptions of a type, as the rest of a sentence; `able`: what it declares.

    Before it has declared anything only what its profile knows counts.
    """
    if able is not None and not able.exception_breakpoint_filters:
        return f"has no exception breakpoints (exceptionBreakpointFilters){profile.thrown.without_breakpoints}"
    told = profile.habits.exception_types and (able is None or able.supports_exception_info_request is True)
    named = "(?P<type>" in (profile.habits.exception or "")  # its stops name the type
    if exception_type == "*" or told or named or profile.thrown.reads_types:
        return None
    return "does not tell the types of exceptions (supportsExceptionInfoRequest): use `*`, which stops at all of them"


class ExceptionSync:
    """Those of one session; one task at a time sends them."""

    def __init__(self, requests: Requests, merger: Merger, hidden: HiddenBreakpoints) -> None:
        self._requests = requests
        self._merger = merger
        self._hidden = hidden

    def __repr__(self) -> str:
        return f"<ExceptionSync of {self._requests.session_id}>"

    def moves_functions(self) -> bool:
        """Have the functions that raise exceptions watched if any are wanted; return whether that is to be sent."""
        mine = [exception for exception in self._merger.state.exceptions if exception.enabled]
        snapshot = self._requests.snapshot
        _, failures = stopped_by(snapshot)
        return self._hidden.raises(bool(wanted_exceptions(mine, snapshot)), bool(failures))

    async def send(self) -> None:
        """Send the exception breakpoints, even if there are none: an adapter that gets none uses its own defaults."""
        exceptions = [exception for exception in self._merger.state.exceptions if exception.enabled]
        if not exceptions and not self._requests.capabilities.exception_breakpoint_filters:
            return
        wanted = await with_session_modes(self._requests, exceptions)
        arguments = self._requests.profile.dialect.exception_arguments(wanted, self._requests.capabilities)
        problem = None
        try:
            body = await self._requests.request("setExceptionBreakpoints", arguments, BreakpointsBody)
            self._hidden.exceptions_bound(body.breakpoints or [])
        except AdapterRefused as refusal:
            problem = refusal.reason
        profile, able = self._requests.profile, self._requests.capabilities
        cannot = {
            exception.id: why
            for exception in exceptions
            if (why := exception_problem(profile, able, exception.exception_type))
        }
        problems = tuple((id_, f"{self._requests.debugger_name} {why}") for id_, why in cannot.items())
        watched = (
            frozenset()
            if problem
            else frozenset(exception.id for exception in exceptions if exception.id not in cannot)
        )
        unknown = await self._unknown_types([exception for exception in exceptions if exception.id in watched])
        bound = ExceptionBreakpointsBound(self._requests.session_id, watched, problem, unknown, problems)
        await self._merger.merge(bound)

    async def look_for_types(self) -> None:
        """At a stop: look whether exception types that did not exist do by now."""
        session_id = self._requests.session_id
        if any(session_id in exception.unknown_in for exception in self._merger.state.exceptions):
            exceptions = [
                exception for exception in self._merger.state.exceptions if session_id in exception.session_ids
            ]
            unknown = await self._unknown_types(exceptions)
            watched = frozenset(exception.id for exception in exceptions)
            await self._merger.merge(ExceptionBreakpointsBound(session_id, watched, None, unknown))

    async def _unknown_types(self, mine: list[ExceptionBreakpoint]) -> frozenset[str]:
        """Return the breakpoints whose types neither the language has nor, as far as it can be asked, the program."""
        types_of = {exception.id: exception.exception_type for exception in mine if exception.exception_type != "*"}
        if not types_of:
            return frozenset()
        expressions = self._requests.profile.expressions
        builtin = {*expressions.exception_types()}
        types_of = {id_: name for id_, name in types_of.items() if name not in builtin}
        question = expressions.types_in(sorted(set(types_of.values()))) if types_of else None
        if question is None:
            return frozenset()
        snapshot = self._requests.snapshot
        phases = {"Paused", "Running"} if self._requests.profile.evaluates_running else {"Paused"}
        able = snapshot is not None and snapshot.phase in phases
        value = await evaluated(self._requests, question, None) if able else None
        found = set((value or "").split())
        return frozenset(id_ for id_, name in types_of.items() if name not in found)
