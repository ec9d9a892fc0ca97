"""`ConditionTrial`: whether an adapter has refused a breakpoint for its condition, or for its place.

    problem = await trial.problem(place, send)              # None: not for its condition

What an adapter answers is a text for people. So the breakpoint is sent once more, with another condition: one that it
sets then, it has refused for the first. Sent without any it would stop the program meanwhile.
"""

from collections.abc import Awaitable, Callable

from trio_debugmcp.session.breakpoints.judging import CONDITION_FAILED, Judging
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import StopPlace

NEVER = "1 == 2"
"""A condition in most languages that never holds."""


class ConditionTrial:
    """The trials of one session."""

    def __init__(self, requests: Requests, merger: Merger, judging: Judging) -> None:
        self._requests = requests
        self._merger = merger
        self._judging = judging
        self._tried: set[str] = set()

    def __repr__(self) -> str:
        return f"<ConditionTrial of {self._requests.session_id}: {self._tried}>"

    def as_sent(self, place: StopPlace) -> StopPlace:
        """Return a breakpoint as the adapter is to have it."""
        sent = self._judging.sent(place)
        return sent.with_spec(condition=NEVER) if place.id in self._tried else sent

    async def problem(self, mine: StopPlace, send: Callable[[], Awaitable[None]]) -> str | None:
        """Return why the adapter has refused a condition; `send` sends the breakpoint as it is to be sent."""
        problem, snapshot = self._message(mine), self._requests.snapshot
        if problem is None or snapshot is None or snapshot.phase not in ("Running", "Paused"):
            return None
        if mine.spec.condition is None or self._judging.is_judged(mine):
            return None
        self._tried.add(mine.id)
        try:
            await send()
        finally:
            self._tried.discard(mine.id)
        if self._message(mine) is None:
            # It may have been written after the first answer.
            return (self._said(mine) or problem).removeprefix(CONDITION_FAILED.format(mine.spec.condition))
        await send()
        return None

    def _message(self, mine: StopPlace) -> str | None:
        """Return why the adapter has not set a breakpoint; None if it has."""
        now = [stop_place for stop_place in self._merger.state.stop_places if stop_place.id == mine.id]
        session_id = self._requests.session_id
        bindings = [
            binding for stop_place in now for binding in stop_place.bindings if binding.session_id == session_id
        ]
        return next((binding.message or "it is not set" for binding in bindings if not binding.verified), None)

    def _said(self, mine: StopPlace) -> str | None:
        """Return what the adapter has written of a condition; its answer may only say that it is not set."""
        return next(
            (stop_place.problem for stop_place in self._merger.state.stop_places if stop_place.id == mine.id), None
        )
