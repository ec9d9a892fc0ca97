"""`Owners`: which client has set which breakpoint, so that a client's update changes no other client's. Pure.

    owners = Owners()
    owners.add("bp-1", ann)
    owners.choose([bp_1], ben, same)     # None: what Ben wants is another breakpoint
    owners.choose([bp_1], ann, same)     # bp-1, which Ann updates

What a client that has disconnected has set belongs to the next one that sets a breakpoint there.
"""

from collections.abc import Callable, Hashable, Sequence

from trio_debugmcp.state.model import Breakpoint

Owner = tuple[Hashable, str | None]
"""A connection, and the name of the client: several clients may share a connection."""


class Owners:
    """The clients that have set each breakpoint, by its id."""

    def __init__(self) -> None:
        self._owners: dict[str, set[Owner]] = {}

    def __repr__(self) -> str:
        return f"<Owners of {len(self._owners)} breakpoints>"

    def add(self, breakpoint_id: str, owner: Owner | None) -> None:
        """Record that a client has set a breakpoint."""
        if owner is not None:
            self._owners.setdefault(breakpoint_id, set()).add(owner)

    def choose(
        self, there: Sequence[Breakpoint], owner: Owner | None, same: Callable[[Breakpoint], bool]
    ) -> Breakpoint | None:
        """Return which of the breakpoints at a place a client means; None if none: it sets another one there.

        Its own one, which no other client has set as well; one without an owner; or one that is the `same`.
        """
        if owner is None:
            return there[0] if there else None
        for wanted in ({owner}, set()):
            found = next((each for each in there if self._owners.get(each.id, set()) == wanted), None)
            if found is not None:
                return found
        return next((each for each in there if same(each)), None)

    def leave(self, there: Sequence[Breakpoint], kept: Breakpoint | None, owner: Owner | None) -> None:
        """Record that a client means only one of the breakpoints at a place, or another one."""
        for each in there:
            if owner is not None and each is not kept:
                self._owners.get(each.id, set()).discard(owner)

    def forget(self, breakpoint_id: str) -> None:
        """Forget a breakpoint that was removed."""
        self._owners.pop(breakpoint_id, None)

    def release(self, connection: Hashable) -> None:
        """Release what the clients of a connection have set: it has ended."""
        for owners in self._owners.values():
            owners.difference_update([each for each in owners if each[0] is connection])
