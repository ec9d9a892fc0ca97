"""`LastStops`: what the last answer to each client said of a stop, so that no other answer says it all again.

    last = LastStops()
    last.shown(reader, answer)                 # of a tool that moves the program: as it is
    last.shown(reader, answer, beside=True)    # of one that was asked for something else: without what was said

Pure: no tasks, no I/O, no clock.
"""

from collections.abc import Hashable, Mapping

from msgspec.structs import replace

from trio_debugmcp.server.answers.stop_answer import StopAnswer

AS_BEFORE = "…as before"
"""What stands for a long value that the answer before had as well, under the same name in the same function."""

SHORT = 40
"""Characters of a value that is said again."""

_MAX_READERS = 64
"""Clients whose last stop is remembered, of some 10 KB."""


class LastStops:
    """The last stop that each client was shown."""

    def __init__(self) -> None:
        self._stops: dict[Hashable, StopAnswer] = {}

    def __repr__(self) -> str:
        return f"<LastStops of {len(self._stops)} clients>"

    def shown(self, reader: Hashable, stop: StopAnswer, *, beside: bool = False) -> StopAnswer:
        """Return a stop as it is shown. `beside`: the answer is about something else, so nothing is said twice."""
        before = self._stops.pop(reader, None)
        if stop.state != "Paused":
            return stop
        self._stops[reader] = stop
        while len(self._stops) > _MAX_READERS:
            del self._stops[next(iter(self._stops))]
        if not beside or before is None or _function(before) != _function(stop):
            return stop
        same_place = before.at == stop.at
        return replace(
            stop,
            locals=without_repeats(stop.locals, before.locals),
            source=None if same_place and before.source == stop.source else stop.source,
            stack=[] if same_place and before.stack == stop.stack else stop.stack,
        )


def without_repeats(values: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
    """Return values by name; long ones that were said under the same name are not said again, errors are."""
    return {
        name: AS_BEFORE if before.get(name) == value and len(value) > SHORT and value[:6] != "<error" else value
        for name, value in values.items()
    }


def _function(stop: StopAnswer) -> tuple[str | None, str]:
    """Return the session and the function of a stop, whose locals have one meaning."""
    session = stop.moment.partition(" ")[0] if stop.moment is not None else stop.session
    return session, (stop.at or "").rpartition(" in ")[2]
