"""Where a session stands among others, and which differ between two states, without a look at each of a thousand.

    place_of(state.snapshots, "s-3")                        # 2; None: it is not there
    changed_sessions(old.snapshots, new.snapshots)          # ["s-3"], with those that have opened or ended

What was found last is remembered, as one change is asked about a dozen times; it is checked, so it is never wrong.
"""

from collections.abc import Sequence
from itertools import compress
from operator import is_not
from typing import Protocol, TypeAlias


class Identified(Protocol):
    """A session, as far as it is looked for here."""

    @property
    def id(self) -> str:
        """Its id; no two of a state have the same."""
        ...


Sessions: TypeAlias = tuple[Identified, ...]


class _Places:
    """Where sessions stand among others, as they stood when last looked for: most changes of a state move none.

    One is asked for a hundred times in a step, there may be a thousand, and each change makes another tuple of them.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._of: Sessions = ()

    def of(self, snapshots: Sessions, session_id: str) -> int | None:
        """Return the place of a session; None if it is not among these."""
        place = self._known.get(session_id)
        if place is not None and place < len(snapshots) and snapshots[place].id == session_id:
            return place
        if snapshots and snapshots[-1].id == session_id:  # it has just opened
            self._known[session_id] = len(snapshots) - 1
            return len(snapshots) - 1
        if snapshots is not self._of:
            self._known = {snapshot.id: place for place, snapshot in enumerate(snapshots)}
            self._of = snapshots
            return self._known.get(session_id)
        return None


_places = _Places()


def place_of(snapshots: Sessions, session_id: str) -> int | None:
    """Return the place of a session among others; None if it is not there."""
    return _places.of(snapshots, session_id)


class _LastChange:
    """Which sessions differ, of the two values that this was asked about last: of one change it is a dozen times."""

    def __init__(self) -> None:
        self._asked: tuple[Sessions, Sessions] = (), ()
        self._ids: list[str] = []

    def between(self, before: Sessions, after: Sessions) -> list[str]:
        """Return the ids of the sessions that differ."""
        if self._asked[0] is not before or self._asked[1] is not after:
            self._asked, self._ids = (before, after), _differing(before, after)
        return self._ids


def _differing(before: Sessions, after: Sessions) -> list[str]:
    pairs = [*compress(zip(before, after, strict=False), map(is_not, before, after))]  # no bytecode for each of them
    if len(before) <= len(after) and all(was.id == now.id for was, now in pairs):  # none of them has ended
        return [now.id for _, now in pairs] + [opened.id for opened in after[len(before) :]]
    were, are = ({snapshot.id: snapshot for snapshot in each} for each in (before, after))
    ids = [*were, *(id_ for id_ in are if id_ not in were)]
    return [id_ for id_ in ids if were.get(id_) is not are.get(id_)]


_last_change = _LastChange()


def changed_sessions(before: Sessions, after: Sessions) -> Sequence[str]:
    """Return the ids of the sessions that differ between two states, with those that have opened or ended."""
    return [] if before is after else _last_change.between(before, after)
