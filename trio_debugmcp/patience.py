"""How long a peer that owes an answer is waited for: the times in the code, and a factor on all of them.

    PROBE_SECONDS = 1.0         # on a machine that has time for the program

    with trio.fail_after(patience.seconds(PROBE_SECONDS)):
        ...

A healthy peer that gets no processor time is as silent as a broken one. Only the person who starts the server knows
which machine it runs on: `serve --patience 10` multiplies every wait for an adapter, a debugged program, a process that
should end, a client that should read. The factor is in the `Settings` and is handed down from there.

Nothing else is multiplied: polls, quiet windows, graces for persons, limits on strangers, and the time limits that
clients give.
"""

from msgspec import Struct

MAX_FACTOR = 60.0
"""A program under an emulator or a checker of memory is some fifty times slower, and no tool waits for over an hour."""


class Patience(Struct, frozen=True):
    """A factor on the times in which peers should answer."""

    factor: float = 1.0

    def seconds(self, seconds: float) -> float:
        """Return how long to wait for what takes less than so many seconds on a machine that has time for it."""
        return seconds * self.factor


USUAL = Patience()
"""On a machine that has time."""
