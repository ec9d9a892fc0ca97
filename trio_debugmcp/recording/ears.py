"""What is heard at one place, put into entries: an adapter's connection, a client's."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.recording.format import (
    AdapterEntry,
    ClientEndEntry,
    ClientEntry,
    Direction,
    Entry,
    GarbageEntry,
    HangUpEntry,
    McpEntry,
)
from trio_debugmcp.recording.shrink import MAX_MESSAGE_BYTES, NotJson


class Notes(Protocol):
    """Where entries are written down. No method waits, nor raises anything but what it says."""

    def note(self, make: Callable[[float], Entry]) -> None:
        """Write down what `make` makes of the time."""

    def fitting(self, text: bytes, make: Callable[..., Entry]) -> Entry:
        """The entry for a JSON message, made with `msg` and `cut`. Raises `NotJson`."""


class AdapterEar:
    """What is heard on the connection to an adapter."""

    def __init__(self, notes: Notes, session: str, adapter: Adapter) -> None:
        self._notes = notes
        self._session = session
        self._adapter = adapter

    def message(self, direction: Direction, body: bytes) -> None:
        """A message, if it is one."""

        def make(t: float) -> Entry:
            try:
                return self._notes.fitting(body, partial(AdapterEntry, t=t, session=self._session, dir=direction))
            except NotJson:
                return GarbageEntry(t=t, session=self._session, text=body[:MAX_MESSAGE_BYTES].decode("latin-1"))

        self._notes.note(make)

    def garbage(self, data: bytes) -> None:
        """Bytes that are none."""
        text = data[:MAX_MESSAGE_BYTES].decode("latin-1")
        self._notes.note(lambda t: GarbageEntry(t=t, session=self._session, text=text))

    def hung_up(self) -> None:
        """The end."""
        tail = self._adapter.stderr_tail
        self._notes.note(lambda t: HangUpEntry(t=t, session=self._session, stderr=tail))


class ClientEar:
    """What is heard from a client, and what it is told."""

    def __init__(self, notes: Notes, client: str, role: Any, transport: str) -> None:
        self._notes = notes
        self._client = client
        self._role = role
        self._transport = transport
        self._known = False

    def heard(self, direction: Direction, text: bytes) -> None:
        """A message, as JSON."""

        def make(t: float) -> Entry:
            return self._notes.fitting(text, partial(McpEntry, t=t, client=self._client, dir=direction))

        if not self._known:
            self._known = True
            self._came("handshake" if b'"initialize"' in text else "modern")
        self._notes.note(make)

    def _came(self, era: Any) -> None:
        self._notes.note(
            lambda t: ClientEntry(t=t, client=self._client, transport=self._transport, role=self._role, era=era)
        )

    def left(self) -> None:
        """It is gone."""
        if self._known:
            self._notes.note(lambda t: ClientEndEntry(t=t, client=self._client))
