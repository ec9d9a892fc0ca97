"""`Owners`: which client has set which breakpoint, so that a client's update changes no other client's. Pure.

    owners = Owners()
    owners.add("bp-1", ann)
    owners.choose([bp_1], ben, same)     # None: what Ben wants is another breakpoint
    owners.choose([bp_1], ann, same)     # bp-1, which Ann updates

What a client that has disconnected has set belongs to the next one that sets a breakpoint there.
"""

from collections.abc import Callable, Hashable, Sequence

from trio_debugmcp.state.breakpoint import Breakpoint

Owner = tuple[Hashable, str | None]
"""A connection, and the name of the client: several clients may share a connection."""


class Owners:
    """The clients that have set each breakpoint, by its id.

    `followers` are called with the ids of a breakpoint and of that which takes its place; `witnesses` with the id of
    one that a client is about to set, and the client.
    """

    def __init__(self) -> None:
        self.followers: list[Callable[[str, str], None]] = []
        self.witnesses: list[Callable[[str, Owner], None]] = []
        self._owners: dict[str, set[Owner]] = {}
        self._names: dict[str, dict[str, None]] = {}

    def __repr__(self) -> str:
        return f"<Owners of {len(self._owners)} breakpoints>"

    def add(self, breakpoint_id: str, owner: Owner | None) -> None:
        """Record that a client has set a breakpoint."""
        if owner is not None:
            self._owners.setdefault(breakpoint_id, set()).add(owner)
            if owner[1] is not None:
                self._names.setdefault(breakpoint_id, {})[owner[1]] = None

    def made(self, breakpoint_id: str, owner: Owner | None) -> None:
        """Record that a client sets a breakpoint, before anything shows it, and tell the witnesses."""
        self.add(breakpoint_id, owner)
        if owner is not None:
            for witness in self.witnesses:
                witness(breakpoint_id, owner)

    def names(self, breakpoint_id: str) -> tuple[str, ...]:
        """Return the names of those that have set a breakpoint, also of such as have disconnected since."""
        return tuple(self._names.get(breakpoint_id, ()))

    def has_any(self, breakpoint_id: str) -> bool:
        """Return whether a client that is connected has set a breakpoint."""
        return bool(self._owners.get(breakpoint_id))

    def has_other(self, breakpoint_id: str, owner: Owner) -> bool:
        """Return whether another client that is connected has set a breakpoint."""
        return bool(self._owners.get(breakpoint_id, set()) - {owner})

    def choose(
        self, there: Sequence[Breakpoint], owner: Owner | None, same: Callable[[Breakpoint], bool]
    ) -> Breakpoint | None:
        """Return which of the breakpoints at a place a client means; None if none: it sets another one there.

        Its own one, which no other client has set as well; one without an owner; or one that is the `same`.
        """
        if owner is None:
            return there[0] if there else None
        for wanted in ({owner}, set()):
            found = next((breakpoint for breakpoint in there if self._owners.get(breakpoint.id, set()) == wanted), None)
            if found is not None:
                return found
        return next((breakpoint for breakpoint in there if same(breakpoint)), None)

    def discard(self, breakpoint_id: str, owner: Owner) -> None:
        """Record that a client does not mean a breakpoint any more."""
        owners = self._owners.get(breakpoint_id, set())
        owners.discard(owner)
        if owner[1] is not None and owner[1] not in [name for _, name in owners]:
            self._names.get(breakpoint_id, {}).pop(owner[1], None)

    def leave(self, there: Sequence[Breakpoint], kept: Breakpoint | None, owner: Owner | None) -> None:
        """Record that a client means only one of the breakpoints at a place, or another one."""
        for breakpoint in there:
            if owner is not None and breakpoint is not kept:
                self.discard(breakpoint.id, owner)

    def pass_on(self, one_id: str, other_id: str) -> None:
        """Record that another breakpoint takes the place of one, for the clients that have set that one."""
        self._owners.setdefault(other_id, set()).update(self._owners.get(one_id, set()))
        self._names.setdefault(other_id, {}).update(self._names.get(one_id, {}))
        for follower in self.followers:
            follower(one_id, other_id)

    def forget(self, breakpoint_id: str) -> None:
        """Forget a breakpoint that was removed."""
        self._owners.pop(breakpoint_id, None)
        self._names.pop(breakpoint_id, None)

    def release(self, connection: Hashable) -> None:
        """Release what the clients of a connection have set: it has ended."""
        for owners in self._owners.values():
            owners.difference_update([owner for owner in owners if owner[0] is connection])
