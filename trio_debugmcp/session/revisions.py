"""The revisions of resources: how often each has changed, counted without a look at each of a thousand.

    revisions = Revisions([SESSION, SESSIONS])               # each is 0
    revisions.count({SESSION, SESSIONS}, [tree])             # these have changed, and so has every URI of `tree`
    revisions[SESSION]                                       # 1

In a fleet, which is one tree of sessions, each change is one of a resource of every session. Such a set of URIs has one
count of its own for as long as it stays the same. The revision of a URI is what was counted for it alone and in a set.
"""

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet


class Revisions:
    """The revision of every resource. It never falls, and rises by one each time that the resource is counted."""

    def __init__(self, uris: Iterable[str]) -> None:
        self._alone = Counter(dict.fromkeys(uris, 0))
        # No URI is in two of these. They are sets that hash themselves once, so they are found without a look inside.
        self._together: dict[frozenset[str], int] = {}

    def __repr__(self) -> str:
        return f"<Revisions of {len(self.counted())} resources>"

    def __getitem__(self, uri: str) -> int:
        return self._alone[uri] + sum(times for uris, times in self._together.items() if uri in uris)

    def counted(self) -> set[str]:
        """Return the URIs that have been counted and are not forgotten, with those that there were at first."""
        return set(self._alone).union(*self._together)

    def count(self, alone: AbstractSet[str], together: Iterable[frozenset[str]] = ()) -> None:
        """Give each of these its next revision: once, also one that is named twice.

        No URI is in two of the sets that are counted together.
        """
        for uris in together:
            if uris not in self._together:
                self._separate(uris)
            self._together[uris] = self._together.get(uris, 0) + 1
            alone = alone - uris  # goes through the fewer of them, which `-=` does not
        self._alone.update(alone)

    def forget(self, uris: AbstractSet[str]) -> None:
        """Keep nothing of these, which are never read again."""
        if uris:
            self._separate(uris)
        for uri in uris:
            del self._alone[uri]

    def _separate(self, uris: AbstractSet[str]) -> None:
        """Let no set be kept that has any of these: what was counted for it is counted for each of its URIs alone."""
        for others in [each for each in self._together if not each.isdisjoint(uris)]:
            self._alone.update(dict.fromkeys(others, self._together.pop(others)))
