"""Who gets the answer of the tool call that this task runs.

    READER.set((client, "claude-code"))
    client, name = current_reader()

`Toolbox.call` sets it.
"""

from collections.abc import Hashable
from contextvars import ContextVar

READER: ContextVar[tuple[Hashable, str | None] | None] = ContextVar("READER", default=None)
"""A client and its name. What is new in the output is kept apart for each client."""


def current_reader() -> tuple[Hashable, str | None]:
    """Return the client and its name; both None where no client has called."""
    return READER.get() or (None, None)
