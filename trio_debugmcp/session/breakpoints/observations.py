"""`Observations`: the places that runs of the program are observed at, and what is found there.

    run = Run([ObservedPlace(file=file, line=7, capture=("x", "y"), max_hits=3)], most_hits=500)
    async with registry.runs.observing(run):        # adapters have these places, until the end of the block
        ...                                         # resume, and wait for a stop or `run.done`
    run.places[0].hits                              # [Hit(passes=1, values=(("1", None), ("2", None)))]

Where the program judges breakpoints itself, it looks at each pass without a stop, and sends records. Elsewhere each
pass is a stop that no client sees, and `observing.py` looks. The hit that completes a run is a real stop.
"""

import logging
from collections import Counter, deque
from collections.abc import Sequence
from itertools import count
from typing import TypeVar

import msgspec
import trio
from msgspec import Struct

from trio_debugmcp.dap.records import HitRecord
from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.breakpoint import RunPlace, StopPlace

log = logging.getLogger(__name__)

OBSERVED = frozenset({"capture", "look"})
"""Kinds of records about observed places, as `probe/inside/observed.py` writes them."""

_PAST_RUNS = 5
"""Runs that are over, and whose last stops may still be on their way."""

Value = tuple[str, str | None]
"""A rendered value, and its type where it does not show it."""


class Hit(Struct, frozen=True):
    """What was captured at a hit, and the number of the pass at which it was."""

    passes: int
    values: tuple[Value, ...] = ()


class _Captured(Struct, array_like=True, frozen=True):
    passes: int = 0
    values: tuple[Value, ...] = ()


class _Looked(Struct, array_like=True, frozen=True):
    value: str = ""
    failures: int = 0
    error: str = ""


_Found = TypeVar("_Found", _Captured, _Looked)


class ObservedPlace:
    """One observed place: a condition that is looked at, and what is captured at `max_hits` passes where it holds.

    Attributes:
        requested: the line that was asked for, where the place is at another one, on which code is.
        until: the value of the condition is wanted where it does not hold; a run ends at a first look that fails.
        run_place: what adapters have there, once there is one, as it was last.
        hits: what was found, in order.
        failures: passes at which the condition raised an error; `error` is the last one.
        value: what the condition was at the last look, where it did not hold.
    """

    def __init__(
        self,
        *,
        file: str | None = None,
        line: int | None = None,
        function: str | None = None,
        condition: str | None = None,
        capture: Sequence[str] = (),
        max_hits: int = 1,
        until: bool = False,
        requested: int | None = None,
    ) -> None:
        self.file, self.line, self.function = file, line, function
        self.condition, self.capture, self.max_hits, self.until = condition, tuple(capture), max_hits, until
        self.requested = None if requested == line else requested
        self.run_place: RunPlace | None = None
        self.hits: list[Hit] = []
        self.failures = 0
        self.error: str | None = None
        self.value: str | None = None
        self._passes: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"<Place {self.file or self.function}:{self.line or ''} {len(self.hits)} of {self.max_hits}>"

    @property
    def passes(self) -> int:
        """How often the program has come by, in all its processes."""
        return self._passes.total()

    @property
    def sessions(self) -> list[str]:
        """The sessions whose programs have come by."""
        return list(self._passes)

    @property
    def is_complete(self) -> bool:
        """Whether it has all its hits."""
        return len(self.hits) >= self.max_hits

    @property
    def moved(self) -> str | None:
        """What is to be said of a line that is not the one that was asked for."""
        return None if self.requested is None else f"moved from line {self.requested} to {self.line}, where code is"

    @property
    def text(self) -> str:
        """The expressions that are evaluated there, in braces."""
        return " ".join(f"{{ {expression} }}" for expression in (self.condition, *self.capture) if expression)

    def passed(self, session_id: str) -> int:
        """Count a pass; return its number in that session."""
        self._passes[session_id] += 1
        return self._passes[session_id]

    def looked(self, session_id: str, passes: int, value: str, failures: int, error: str) -> None:
        """Record a pass at which the condition did not hold."""
        self._passes[session_id] = max(self._passes[session_id], passes)  # threads write in any order
        self._failures[session_id] = max(self._failures[session_id], failures)
        self.failures = self._failures.total()
        self.value = value or None
        self.error = error or self.error

    def failures_in(self, session_id: str) -> int:
        """Return how often the condition has failed in a session."""
        return self._failures[session_id]


class Run:
    """One run of the program, observed at some places.

    Attributes:
        most_hits: of all places together.
        stops: whether the hit that completes the run stops the program.
        holds: whether breakpoints of the user's do not stop it.
        done: set once there are all the hits.
        interrupted: conditions that were still being evaluated when it was over.
        closed: it takes no more hits, and a stop that is still on its way is left again.
    """

    def __init__(
        self, places: Sequence[ObservedPlace], most_hits: int, *, stops: bool = True, holds: bool = False
    ) -> None:
        self.places = tuple(places)
        self.most_hits, self.stops, self.holds = most_hits, stops, holds
        self.done = trio.Event()
        self.closed = False
        self.interrupted = 0
        self.key = ""
        self._hit_in: set[str] = set()

    def __repr__(self) -> str:
        return f"<Run {self.key}: {self.hits} of {self.wanted} hits{', closed' if self.closed else ''}>"

    @property
    def has_one_session(self) -> bool:
        """Whether one process of the program has had all the hits: it stops at the last one by itself."""
        return len(self._hit_in) < 2

    @property
    def hits(self) -> int:
        """The hits so far, of all places."""
        return sum(len(place.hits) for place in self.places)

    @property
    def wanted(self) -> int:
        """The hits that complete it."""
        return min(self.most_hits, sum(place.max_hits for place in self.places))

    def wants(self, place: ObservedPlace) -> bool:
        """Return whether further hits of this place count."""
        return not (self.closed or self.done.is_set() or place.is_complete)

    def add(self, place: ObservedPlace, hit: Hit, session_id: str) -> bool:
        """Add a hit of a session, unless there are enough; return whether it completes the run."""
        if not self.wants(place):  # another process of the program had the last one
            return False
        place.hits.append(hit)
        self._hit_in.add(session_id)
        if self.hits >= self.wanted:
            self.done.set()
        return self.done.is_set()


class Observations:
    """The runs that are under way, and the last ones that were."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._runs: list[Run] = []
        self._past: deque[Run] = deque(maxlen=_PAST_RUNS)

    def __repr__(self) -> str:
        return f"<Observations {self._runs}>"

    @property
    def used(self) -> bool:
        """Whether there is a run, or was one."""
        return bool(self._runs or self._past)

    def open(self, run: Run) -> None:
        """Take findings for this run from now on.

        Raises:
            UsageError: `NOT_PAUSED`: another run is under way, and holds the breakpoints of the user's.
        """
        if run.holds and any(other.holds for other in self._runs):
            raise UsageError(
                "NOT_PAUSED",
                "Another batch_evaluate is under way. Put all experiments into one call, or wait for its end.",
                {"currentState": "Running"},
            )
        run.key = f"run-{next(self._numbers)}"
        self._runs.append(run)

    def close(self, run: Run) -> None:
        """Take nothing more for this run; its breakpoints are on their way out of the adapters."""
        run.closed = True
        self._runs.remove(run)
        self._past.append(run)

    def form(self, breakpoint_id: str) -> list[object] | None:
        """Return what the program needs to know to observe at that breakpoint; None for one that only stops."""
        found = self._find(breakpoint_id)
        if found is None:
            return None
        run, place = found
        wanted = {"condition": place.condition, "capture": place.capture, "key": run.key, "together": run.wanted}
        wanted |= {"stops": run.stops, "until": place.until}
        return [place.max_hits, {name: value for name, value in wanted.items() if value}]

    def take(self, session_id: str, record: HitRecord) -> None:
        """Take what the program has recorded at a place."""
        found = self._find(record.breakpoint_id)
        if found is None:
            return
        run, place = found
        if record.kind == "capture":
            captured = _decoded(record.text, _Captured)
            place.looked(session_id, captured.passes, "", 0, "")
            run.add(place, Hit(captured.passes, captured.values), session_id)
        else:
            looked = _decoded(record.text, _Looked)
            place.looked(session_id, record.hits, looked.value, looked.failures, looked.error)

    def of(self, breakpoints: Sequence[StopPlace]) -> list[tuple[Run, ObservedPlace]]:
        """Return the places under way that have one of these breakpoints."""
        return [found for breakpoint in breakpoints if (found := self._find(breakpoint.id)) is not None]

    def was_observed(self, session_id: str, adapter_ids: frozenset[int]) -> bool:
        """Return whether all these are the adapter's ids of places of runs that are over."""
        places = [place.run_place for run in self._past for place in run.places if place.run_place is not None]
        hidden = {
            binding.adapter_id for place in places for binding in place.bindings if binding.session_id == session_id
        }
        return bool(adapter_ids) and adapter_ids <= hidden

    def _find(self, breakpoint_id: str) -> tuple[Run, ObservedPlace] | None:
        for run in self._runs:
            for place in run.places:
                if place.run_place is not None and place.run_place.id == breakpoint_id:
                    return run, place
        return None


def _decoded(text: str, kind: type[_Found]) -> _Found:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        log.warning("a record of an observed place: %s", error)
        return kind()  # the hit counts, though its values are lost
