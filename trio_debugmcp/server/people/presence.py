"""Who is here: agents as they connect, and persons, whose clients may be gone for a moment.

    presence = Presence(debugger, client)
    await presence.arrived("claude-code")              # an agent, until a person joins
    person = await presence.joined("dashboard", key="the tab's own id")
    await presence.left("dashboard")                   # for GRACE_SECONDS the person may come back, by the key

`serve_presence` ends what a person held who does not come back.
"""

from collections.abc import Hashable
from typing import NoReturn

import trio

from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.people.caller import Caller
from trio_debugmcp.server.people.other_clients import PersonBeside
from trio_debugmcp.session.debugger import Debugger, current_reader
from trio_debugmcp.state.people.party import Party
from trio_debugmcp.state.people.people_changes import PartyArrived, PartyLeft, PersonGone, PersonJoined

GRACE_SECONDS = 15.0
"""For a person's page to be loaded again, or to reconnect: it tries at most 10 s apart."""


class Presence:
    """The parties on one connection: usually one. Over HTTP, all agents of the modern era share a connection."""

    def __init__(self, debugger: Debugger, client: Client) -> None:
        self._debugger = debugger
        self._client = client

    def __repr__(self) -> str:
        return f"<Presence on connection {self._client.number}>"

    async def arrived(self, name: str | None) -> None:
        """Record that a client in control has introduced itself; it counts as an agent until a person joins by it."""
        change = PartyArrived(connection=self._client.number, name=name, at=self._debugger.clock.now())
        await self._debugger.merger.merge(change)

    async def left(self, name: str | None) -> None:
        """Record that it has disconnected."""
        change = PartyLeft(connection=self._client.number, name=name, at=self._debugger.clock.now())
        await self._debugger.merger.merge(change)

    async def joined(self, name: str | None, key: str, *, answers: bool = True) -> Party | None:
        """Record that a person sits at it. Returns the person, who may have been here before, with that key.

        `answers`: it can show what agents ask.
        """
        number = self._client.number
        change = PersonJoined(connection=number, name=name, key=key, answers=answers, at=self._debugger.clock.now())
        return (await self._debugger.merger.merge(change)).people.party_of(number, name)


def current_caller(debugger: Debugger) -> Caller:
    """Return who has called the tool that this task runs."""
    return caller_of(debugger, *current_reader())


def caller_of(debugger: Debugger, client: object, name: str | None) -> Caller:
    """Return who calls a tool by that client, under that name."""
    # What a replay's watchers do leaves no trace, and their numbers are those of others.
    number = client.number if isinstance(client, Client) and client.in_timeline else None
    return Caller(client, debugger.state.people.party_of(number, name), name)


def is_person(debugger: Debugger, reader: Hashable, name: str | None) -> bool:
    """Whether a person calls: at a page, in an editor, or by a card on an agent's connection."""
    return isinstance(reader, PersonBeside) or caller_of(debugger, reader, name).is_person


async def serve_presence(debugger: Debugger) -> NoReturn:
    """Forget persons who do not come back in time, and end what they held. Runs until cancelled."""
    merger = debugger.merger
    while True:
        party = (await merger.wait_until(lambda state: state.people.first_absent is not None)).people.first_absent
        if party is None or party.absent_since is None:
            continue
        with trio.move_on_after(max(0.0, party.absent_since + GRACE_SECONDS - debugger.clock.now())):
            await merger.wait_until(lambda state, party=party: state.people.first_absent != party)  # type: ignore[misc]
            continue
        gone = PersonGone(party=party.id, absent_since=party.absent_since, at=debugger.clock.now())
        await merger.merge(gone)
