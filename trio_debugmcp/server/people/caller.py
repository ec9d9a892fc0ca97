"""`Caller`: who calls a tool."""

from msgspec import Struct

from trio_debugmcp.state.people.party import Party


class Caller(Struct, frozen=True):
    """Who calls a tool: its client, its party, if that is known, and its name."""

    client: object = None
    party: Party | None = None
    name: str | None = None

    @property
    def id(self) -> str | None:
        """The id of the party."""
        return None if self.party is None else self.party.id

    @property
    def is_person(self) -> bool:
        """Whether a person sits at this client."""
        return self.party is not None and self.party.key is not None
