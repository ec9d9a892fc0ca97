"""`Announced`: which breakpoints of others were reported to the editors of a name, over all their connections. Pure.

Editors keep what is reported to them among their own breakpoints, as one that says nothing but where it is: DAP has no
word for its condition there. They send it with their next connection, to which nothing was reported yet.

    announced = Announced()
    announced.add("Visual Studio Code", "bp-1", place)
    announced.has("Visual Studio Code", "bp-1", elsewhere)      # either is enough: it may have been moved, or set anew
    announced.discard("Visual Studio Code", "bp-1", place)      # its person has taken it away
"""

from collections.abc import Hashable

MAX_NAMES = 50
"""Names of editors: who has the token may call itself anything."""

MAX_KEYS = 4000
"""Ids and places for each name, three for a breakpoint. Those that were reported last are kept."""


class Announced:
    """What was reported to editors, by their names: ids of breakpoints, and the places where they show them."""

    def __init__(self) -> None:
        self._keys: dict[str, dict[Hashable, None]] = {}

    def __repr__(self) -> str:
        return f"<Announced to {len(self._keys)} names: {sum(map(len, self._keys.values()))} ids and places>"

    def add(self, name: str, *keys: Hashable) -> None:
        """Record that a breakpoint was reported to an editor of this name."""
        known = self._keys[name] = self._keys.pop(name, {})  # the last of the names now
        for key in keys:
            known.pop(key, None)
            known[key] = None
        _shorten(known, MAX_KEYS)
        _shorten(self._keys, MAX_NAMES)

    def discard(self, name: str, *keys: Hashable) -> None:
        """Record that editors of this name do not show a breakpoint any more."""
        for key in keys:
            self._keys.get(name, {}).pop(key, None)

    def has(self, name: str, *keys: Hashable) -> bool:
        """Return whether one of these was reported to an editor of this name."""
        return not self._keys.get(name, {}).keys().isdisjoint(keys)


def _shorten(known: dict[str, dict[Hashable, None]] | dict[Hashable, None], most: int) -> None:
    while len(known) > most:
        del known[next(iter(known))]  # type: ignore[arg-type]
