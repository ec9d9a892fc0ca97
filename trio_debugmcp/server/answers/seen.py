"""The locals that a chat has seen, to mark on the next card what has changed.

    seen = SeenLocals()
    before = seen.changed(moment, stop)  # {"total": "3", "paid": None}

Pure: no tasks, no I/O, no clock.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

_MAX_CALLS = 50
"""Calls of the program whose locals are kept, of 8 kB each at most: a stack is rarely stepped through deeper."""


class _SeenCall(Struct, frozen=True):
    depth: int
    values: dict[str, str]


class SeenLocals:
    """Keeps the locals of each live call of the program as its last stop showed them."""

    def __init__(self) -> None:
        self._calls: dict[tuple[object, ...], _SeenCall] = {}
        self._moment: str | None = None
        self._changed: dict[str, str | None] = {}

    def __repr__(self) -> str:
        return f"<SeenLocals of {len(self._calls)} calls>"

    def changed(self, moment: str, stop: Mapping[str, Any]) -> dict[str, str | None]:
        """Return the locals of a stop, as data, that are not what they were at the last stop in the same call.

        Each with its value of then, or None if it is new. A stop that is shown twice is compared with the one before.
        """
        same_stop = moment.rsplit(" ", 1)[0]  # without the place in the output
        if same_stop == self._moment:
            return self._changed
        self._moment, self._changed = same_stop, {}
        values: dict[str, str] = {each["name"]: each["value"] for each in stop["locals"] or ()}
        place, depth = stop["location"] or {}, stop["totalFrames"]
        within = (*same_stop.split(" ")[:2], stop["threadId"])
        for key_of_call in [key for key, call in self._calls.items() if key[:3] == within and call.depth > depth]:
            del self._calls[key_of_call]  # it has returned: the next one at this depth is another call
        key = (*within, depth, place.get("functionName"), place.get("file"))
        before = self._calls.pop(key, None)
        self._calls[key] = _SeenCall(depth, values)
        while len(self._calls) > _MAX_CALLS:
            del self._calls[next(iter(self._calls))]
        if before is not None:
            self._changed = {
                name: before.values.get(name) for name, value in values.items() if before.values.get(name) != value
            }
        return self._changed
