"""`Judging`: conditions, hit conditions and log messages that the server does, where an adapter has none of its own.

Some adapters have none, and stop at every pass; others mean something else by them: a bare `3` is the third hit for
debugpy, the third and every later one for lldb, and the fourth for gdb. Such an adapter gets a plain breakpoint, and
whether one of its stops counts is decided by the `StopJudge`.

    arguments = judging.sent(place)                     # as the adapter is to have it
"""

from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapBreakpoint
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.session.breakpoints.placement import Group, by_line
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import StopPlace

CONDITION_FAILED = "the condition `{}` failed: "

JUDGED_HERE = "{} stops here at every pass, and the server decides what comes of it: a pass costs milliseconds"


def is_judged_twice(profile: Profile, condition: str) -> bool:
    """Whether a condition that an adapter has judged is judged here again: only one that changes nothing."""
    return not profile.code.reads_source and profile.repl.changes_nothing(condition)


class Judging:
    """Which breakpoints of one session are judged here, and how the adapter is to have them."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._joined: set[str] = set()

    def __repr__(self) -> str:
        return f"<Judging of {self._requests.session_id}: {self._joined} joined>"

    def sent(self, place: StopPlace) -> StopPlace:
        """Return a breakpoint as the adapter is to have it."""
        condition, hits, message = self.ours(place)
        return place.with_spec(
            condition=None if condition else place.spec.condition,
            hit_condition=None if hits else place.spec.hit_condition,
            log_message=None if message else place.spec.log_message,
        )

    def joined(self, groups: Sequence[Group]) -> list[Group]:
        """Return groups to be sent, where one that is judged here is alone on its line, with all that are there.

        So are all where the adapter refuses a second breakpoint.
        """
        members = [member for group in groups for member in group.members]
        only_one = self._requests.profile.habits.one_per_line
        lines = {
            group.members[0].spec.line
            for group in by_line(members)
            if any(map(self._is_judged_alone, group.members)) or (only_one and len(group.members) > 1)
        }
        together = [group for group in by_line(members) if group.members[0].spec.line in lines]
        self._joined.difference_update(member.id for member in members)
        self._joined.update(member.id for group in together if len(group.members) > 1 for member in group.members)
        return [*(group for group in groups if group.members[0].spec.line not in lines), *together]

    def noted(self, place: StopPlace, answer: DapBreakpoint) -> DapBreakpoint:
        """Return the answer for a breakpoint, saying that it is judged here, and without what is routine."""
        words, habits = self._requests.profile.words, self._requests.profile.habits
        answer = words.about_breakpoint(answer)
        condition, problem = place.spec.condition, answer.message
        if condition is not None and problem and not answer.verified and habits.refuses_condition(problem):
            return replace(answer, message=f"{CONDITION_FAILED.format(condition)}{problem}")
        if not self.is_judged(place) or answer.message or not answer.verified:
            return answer
        return replace(answer, message=JUDGED_HERE.format(self._requests.debugger_name))

    def is_judged(self, place: StopPlace) -> bool:
        """Whether what a pass of this breakpoint means is decided here."""
        return any(self.ours(place))

    def _is_judged_alone(self, place: StopPlace) -> bool:
        return any(self.ours(place, alone=True))

    def ours(self, place: StopPlace, *, alone: bool = False) -> tuple[bool, bool, bool]:
        """Whether its condition, its hit condition and its log message are judged here: each as those before it."""
        habits, able = self._requests.profile.habits, self._requests.capabilities
        if place.observed is not None or able.hit_records is not None:  # the program judges them, or a run does
            return False, False, False
        if place.spec.watch is not None:  # adapters know no conditions of data, or pass them over without a word
            return place.spec.condition is not None, place.spec.hit_condition is not None, False
        together = not alone and place.id in self._joined
        ours = together or self._by_server(place) or not able.supports_conditional_breakpoints
        condition = place.spec.condition is not None and ours
        ours = condition or together or habits.hit_conditions == "ours"
        hits = place.spec.hit_condition is not None and (ours or not able.supports_hit_conditional_breakpoints)
        ours = hits or condition or together or habits.log_messages == "ours"
        # DAP has none for functions; those of Python are found in its source, and are lines then.
        ours = ours or (place.spec.function is not None and not self._requests.profile.code.finds_functions)
        return condition, hits, place.spec.log_message is not None and (ours or not able.supports_log_points)

    def _by_server(self, place: StopPlace) -> bool:
        """Whether the adapter's own judgement of a condition is not to be had, or cannot be checked."""
        profile, condition = self._requests.profile, place.spec.condition or ""
        if profile.habits.conditions == "guessed":
            return not is_judged_twice(profile, condition)
        return profile.habits.conditions == "ours"
