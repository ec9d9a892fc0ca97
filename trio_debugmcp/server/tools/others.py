"""What other clients have done meanwhile: other agents, and persons at a page."""

from collections import Counter, deque
from collections.abc import Callable, Hashable
from itertools import count
from weakref import WeakKeyDictionary

import trio
from msgspec import Struct

from trio_debugmcp.server.clients import Client
from trio_debugmcp.server.people.deeds import repeats, sentence

_MAX_NAMED = 5

_MAX_CALLS = 1000
"""Calls that are kept for clients that have not had notes on them: more would not be named anyway."""


class _Call(Struct, frozen=True):
    number: int
    caller: int | None
    name: str | None
    tool: str
    deed: str | None
    at: float


class PersonBeside:
    """A person beside an agent, on the same connection."""


class OtherClients:
    """Knows the last calls, and up to which of them each client has had notes.

    A client is who it is, not what it is called: two may have one name.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._client_numbers = count(1)
        self._clients: WeakKeyDictionary[Hashable, int] = WeakKeyDictionary()
        self._noted: WeakKeyDictionary[Hashable, int] = WeakKeyDictionary()
        self._told: WeakKeyDictionary[Hashable, int] = WeakKeyDictionary()
        self._calls: deque[_Call] = deque(maxlen=_MAX_CALLS)
        self._last = 0
        self._persons: WeakKeyDictionary[Hashable, PersonBeside] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"<OtherClients of {len(self._noted)}>"

    def person_beside(self, reader: Hashable) -> Hashable:
        """Return the person who calls tools on the connection of an agent, which is another client."""
        return None if reader is None else self._persons.setdefault(reader, PersonBeside())

    def called(self, reader: Hashable, name: str | None, tool: str, deed: str | None = None) -> None:
        """Record that a client has called a tool, which did not fail. `deed`: what a person did by that."""
        self._last, client = next(self._numbers), self._client(reader)
        if deed is not None and repeats(deed, (each.deed or "" for each in self._calls if each.caller == client)):
            deed = ""
        self._calls.append(_Call(self._last, client, name, tool, deed, trio.current_time()))

    def deeds(self, reader: Hashable) -> list[str]:
        """Return a sentence for each person who has done something since the last answer to this client."""
        if reader is None:
            return []
        last, me = self._told.get(reader), self._client(reader)
        connected_at = reader.connected_at if isinstance(reader, Client) else 0.0
        self._told[reader] = self._last
        done: dict[int | None, list[_Call]] = {}
        for each in self._calls:
            if each.deed and each.caller != me and (each.at >= connected_at if last is None else each.number > last):
                done.setdefault(each.caller, []).append(each)
        return [sentence(calls[0].name, [each.deed or "" for each in calls]) for calls in done.values()]

    def notes(self, reader: Hashable, name: str | None, controls: Callable[[str], bool]) -> list[str]:
        """Return a note on the calls of other agents that changed something since the last answer to this client.

        `controls`: whether a tool can change something.
        """
        if reader is None:
            return []
        last = self._noted.get(reader)
        self._noted[reader] = self._last
        if last is None:
            return []
        me = self._client(reader)
        calls: Counter[str] = Counter()
        for each in self._calls:
            if each.number > last and each.caller != me and each.deed is None and controls(each.tool):
                who = f"another {each.name}" if each.name == name else each.name
                calls[f"{who} called {each.tool}"] += 1
        named = [f"{call} {number} times" if number > 1 else call for call, number in calls.items()]
        others = len(named) - _MAX_NAMED
        return [*named[:_MAX_NAMED], *([f"{others} other calls: see timeline_query"] if others > 0 else [])]

    def _client(self, reader: Hashable) -> int | None:
        """Return the number of a client, which keeps nothing of it alive."""
        return None if reader is None else self._clients.setdefault(reader, next(self._client_numbers))
