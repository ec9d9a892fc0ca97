"""`Attention`: whether anything but breakpoints has to be looked at in an event."""

_NOBODY: frozenset[str] = frozenset()


class Attention:
    """Who looks at all events that come: a stop that others wait for, a step, a pause, an interruption.

    Attributes:
        is_open: whether anybody does. Then no place may be disabled: it would stay so for all threads.
    """

    __slots__ = ("_users", "is_open")

    def __init__(self) -> None:
        self.is_open = False
        self._users: frozenset[str] = frozenset()

    def open(self, user: str) -> None:
        self._users |= {user}
        self.is_open = True

    def close(self, user: str) -> None:
        self._users -= {user}
        self.is_open = self._users != _NOBODY  # no call: another thread may run at one
