"""A connected client, and the name by which others know it."""

from collections.abc import Callable, Mapping

import trio

from trio_debugmcp.server.auth import Role

MAX_NAME_LENGTH = 100
"""Characters of the name by which others know a client: it is repeated in answers, notes and events of theirs."""


def known_name(given: str) -> str:
    """Return the name by which others know a client that calls itself so: of bounded length, in one line."""
    return "".join(each if each.isprintable() else " " for each in given[:MAX_NAME_LENGTH]).strip()


class Client:
    """A connected client; no other one has had its `number`. Made by `Clients.connect`."""

    def __init__(
        self,
        role: Role,
        number: int,
        take_control: "Callable[[Client, Mapping[str, object]], None]",
        *,
        in_timeline: bool = True,
        is_editor: bool = False,
    ) -> None:
        self.role = role
        self.is_editor = is_editor
        self.number = number
        self.in_timeline = in_timeline
        self.connected_at = trio.current_time()
        self._take_control = take_control

    def __repr__(self) -> str:
        return f"<Client {self.number} role={self.role!r}>"

    def take_control(self, arguments: Mapping[str, object]) -> None:
        """Make this client the owner of the program that a call is about; what it starts beside others takes none."""
        self._take_control(self, arguments)
