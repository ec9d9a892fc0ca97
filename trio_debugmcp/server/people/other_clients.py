"""What other clients have done meanwhile: other agents, and persons at a page."""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence
from itertools import count, takewhile
from weakref import WeakKeyDictionary

import trio
from msgspec import Struct

from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.people.person_actions import repeats, sentence

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


class _Caller:
    """A client by its connection and its name. `noted`, `reported`: up to which call it has had notes, and deeds."""

    def __init__(self, number: int, since: float) -> None:
        self.number = number
        self.since = since
        self.noted: int | None = None
        self.reported: int | None = None


class OtherClients:
    """Knows the last calls, and up to which of them each client has had notes.

    A client is who it is, not what it is called: two may have one name. Over HTTP, agents of the modern era share a
    connection, and are known by their names.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._client_numbers = count(1)
        self._callers: WeakKeyDictionary[Hashable, dict[str | None, _Caller]] = WeakKeyDictionary()
        self._calls: deque[_Call] = deque(maxlen=_MAX_CALLS)
        self._last = 0
        self._persons: WeakKeyDictionary[Hashable, PersonBeside] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"<OtherClients of {sum(len(caller) for caller in self._callers.values())}>"

    def person_beside(self, reader: Hashable) -> Hashable:
        """Return the person who calls tools on the connection of an agent, which is another client."""
        return None if reader is None else self._persons.setdefault(reader, PersonBeside())

    def caller(self, reader: Hashable, name: str | None) -> tuple[Hashable, str | None]:
        """Record that a client begins a call; what persons do from then on is for it, too. Returns the same two."""
        self._known(reader, name)
        return reader, name

    def called(self, reader: Hashable, name: str | None, tool: str, deed: str | None = None) -> None:
        """Record that a client has called a tool, which did not fail. `deed`: what a person did by that."""
        self._last, known = next(self._numbers), self._known(reader, name)
        client = None if known is None else known.number
        if deed and repeats(deed, [call.deed or "" for call in self._calls if call.caller == client]):
            deed = ""
        self._calls.append(_Call(self._last, client, name, tool, deed, trio.current_time()))

    def deeds(self, reader: Hashable, name: str | None, between: Sequence[float] = ()) -> list[tuple[float, str]]:
        """Return a sentence for each person who has done something since the last answer to this client, and when.

        They are in no later one: this is for an answer that is sent. `between`: times, in order, at which a person
        said something: what was done before is another sentence than what was done after.
        """
        known = self._known(reader, name)
        if known is None:
            return []
        last, me, since = known.reported, known.number, known.since
        known.reported = self._last
        done: dict[tuple[int | None, int], list[_Call]] = {}
        for each in self._after(last or 0):
            if each.deed and each.caller != me and (last is not None or each.at >= since):
                done.setdefault((each.caller, bisect_left(between, each.at)), []).append(each)
        return [(calls[0].at, sentence(calls[0].name, [call.deed or "" for call in calls])) for calls in done.values()]

    def notes(self, reader: Hashable, name: str | None, controls: Callable[[str], bool]) -> list[str]:
        """Return a note on the calls of other agents that changed something since the last answer to this client.

        `controls`: whether a tool can change something.
        """
        known = self._known(reader, name)
        if known is None:
            return []
        last, me = known.noted, known.number
        known.noted = self._last
        if last is None:
            return []
        calls: Counter[str] = Counter()
        for each in self._after(last):
            if each.caller != me and each.deed is None and controls(each.tool):
                who = f"another {each.name}" if each.name == name else each.name
                calls[f"{who} called {each.tool}"] += 1
        named = [f"{call} {number} times" if number > 1 else call for call, number in calls.items()]
        others = len(named) - _MAX_NAMED
        return [*named[:_MAX_NAMED], *([f"{others} other calls: see timeline_query"] if others > 0 else [])]

    def _after(self, number: int) -> list[_Call]:
        """Return the calls after one, in order. Looked for from the last, as it is one of the last for who steps."""
        fresh = list(takewhile(lambda each: each.number > number, reversed(self._calls)))
        fresh.reverse()
        return fresh

    def _known(self, reader: Hashable, name: str | None) -> _Caller | None:
        """Return what is known of a client, which keeps nothing of it alive."""
        if reader is None:
            return None
        here = self._callers.setdefault(reader, {})
        if name not in here:
            # The first on a connection is here since that was opened; who comes by it later is here from now on.
            connected_at = reader.connected_at if isinstance(reader, Client) else 0.0
            here[name] = _Caller(next(self._client_numbers), trio.current_time() if here else connected_at)
        return here[name]
