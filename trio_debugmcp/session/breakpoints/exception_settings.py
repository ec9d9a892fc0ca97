"""`ExceptionWishes`: what each client wants to stop at of a type of exceptions, and what follows for all of them. Pure.

    wishes = ExceptionWishes()
    wishes.put(ExceptionSpec(second_chance=True, first_chance=False), agent)
    wishes.put(ExceptionSpec(first_chance=True, second_chance=False), editor)    # both: one breakpoint for both
    wishes.leave("*", editor)                                                    # the agent's again

What a client that has disconnected wants stays until another one sets the type; or, if it is `kept`, until it is left.
"""

from collections.abc import Hashable

from msgspec import Struct

from trio_debugmcp.session.breakpoints.ownership import Owner


class ExceptionSpec(Struct, frozen=True, kw_only=True):
    """What an exception breakpoint should be; the type is `*` for all.

    `file`: the only one in which it stops, or a directory, with a slash behind it.
    """

    exception_type: str = "*"
    first_chance: bool = True
    second_chance: bool = True
    user_unhandled: bool = False
    include_subtypes: bool = True
    condition: str | None = None
    file: str | None = None


class ExceptionWishes:
    """The wishes of all clients, by type; those under None are of clients that have disconnected, or are not known.

    `kept`: clients whose wishes are theirs beyond their connection. Who adds one sees to it that it leaves them.
    """

    def __init__(self) -> None:
        self.kept: set[Owner] = set()
        self._wishes: dict[str, dict[Owner | None, ExceptionSpec]] = {}

    def __repr__(self) -> str:
        return f"<ExceptionWishes of {len(self._wishes)} types>"

    def of(self, exception_type: str, owner: Owner) -> ExceptionSpec | None:
        """Return what a client wants of a type."""
        return self._wishes.get(exception_type, {}).get(owner)

    def is_only(self, exception_type: str, owner: Owner) -> bool:
        """Return whether a client is the only one that wants something of a type."""
        return [*self._wishes.get(exception_type, {})] == [owner]

    def put(self, spec: ExceptionSpec, owner: Owner | None) -> ExceptionSpec:
        """Record what a client wants; return what all of them want."""
        wishes = self._wishes.setdefault(spec.exception_type, {})
        if owner is None:
            wishes.clear()
        wishes.pop(None, None)
        wishes[owner] = spec
        return _joined(list(wishes.values()))

    def leave(self, exception_type: str, owner: Owner) -> ExceptionSpec | None:
        """Forget what a client wants; return what the others want, None if there are none."""
        wishes = self._wishes.get(exception_type, {})
        wishes.pop(owner, None)
        return _joined(list(wishes.values())) if wishes else None

    def wanted_by(self, owner: Owner) -> list[str]:
        """Return the types of which a client wants something."""
        return [exception_type for exception_type, wishes in self._wishes.items() if owner in wishes]

    def pass_on(self, before: Owner, now: Owner) -> None:
        """Record that a client wants what another one has wanted, of types of which it wants nothing itself."""
        for wishes in self._wishes.values():
            if before in wishes:
                wishes.setdefault(now, wishes.pop(before))

    def forget(self, exception_type: str) -> None:
        """Forget a type: its breakpoint was removed."""
        self._wishes.pop(exception_type, None)

    def release(self, connection: Hashable) -> None:
        """Keep what the clients of a connection want as of no client: it has ended."""
        for wishes in self._wishes.values():
            owners = [
                owner for owner in wishes if owner is not None and owner[0] is connection and owner not in self.kept
            ]
            specs = [wishes.pop(owner) for owner in owners]
            if specs:
                wishes[None] = _joined([*specs, *([wishes[None]] if None in wishes else [])])


def _joined(specs: list[ExceptionSpec]) -> ExceptionSpec:
    """Return what stops whenever one of these does. Of different conditions none holds: a stop too many is seen."""
    last = specs[-1]
    conditions, files = {spec.condition for spec in specs}, {spec.file for spec in specs}
    return ExceptionSpec(
        exception_type=last.exception_type,
        first_chance=any(spec.first_chance for spec in specs),
        second_chance=any(spec.second_chance for spec in specs),
        user_unhandled=any(spec.user_unhandled for spec in specs),
        include_subtypes=any(spec.include_subtypes for spec in specs),
        condition=last.condition if len(conditions) == 1 else None,
        file=last.file if len(files) == 1 else None,
    )
