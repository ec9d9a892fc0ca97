"""What other clients have done meanwhile: a person at the dashboard, for example."""

from collections import Counter, deque
from collections.abc import Callable, Hashable
from itertools import count
from weakref import WeakKeyDictionary

from msgspec import Struct

_MAX_NAMED = 5

_MAX_CALLS = 1000
"""Calls that are kept for clients that have not had notes on them: more would not be named anyway."""


class _Call(Struct, frozen=True):
    number: int
    caller: int | None
    name: str | None
    tool: str


class OtherClients:
    """Knows the last calls, and up to which of them each client has had notes.

    A client is who it is, not what it is called: two may have one name.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._client_numbers = count(1)
        self._clients: WeakKeyDictionary[Hashable, int] = WeakKeyDictionary()
        self._noted: WeakKeyDictionary[Hashable, int] = WeakKeyDictionary()
        self._calls: deque[_Call] = deque(maxlen=_MAX_CALLS)
        self._last = 0

    def __repr__(self) -> str:
        return f"<OtherClients of {len(self._noted)}>"

    def called(self, reader: Hashable, name: str | None, tool: str) -> None:
        """Record that a client has called a tool, which did not fail."""
        self._last = next(self._numbers)
        self._calls.append(_Call(self._last, self._client(reader), name, tool))

    def notes(self, reader: Hashable, name: str | None, controls: Callable[[str], bool]) -> list[str]:
        """Return a note on the calls of others that changed something since the last answer to this client.

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
            if each.number > last and each.caller != me and controls(each.tool):
                who = f"another {each.name}" if each.name == name else each.name
                calls[f"{who} called {each.tool}"] += 1
        named = [f"{call} {number} times" if number > 1 else call for call, number in calls.items()]
        others = len(named) - _MAX_NAMED
        return [*named[:_MAX_NAMED], *([f"{others} other calls: see timeline_query"] if others > 0 else [])]

    def _client(self, reader: Hashable) -> int | None:
        """Return the number of a client, which keeps nothing of it alive."""
        return None if reader is None else self._clients.setdefault(reader, next(self._client_numbers))
