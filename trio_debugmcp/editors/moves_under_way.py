"""`MovesUnderWay`: one editor's requests that move the program, while they are answered.

    with moves.one():
        ...                     # the step, and the response to it
    await moves.over()          # then its effects may be reported

Events about the effect of a request wait for its response, which the editor is to have first.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from trio_debugmcp.patience import Patience

EFFECTS_SECONDS = 2.0
"""For an adapter to answer what a person asks for, after which events about its effects are sent in any case."""


class MovesUnderWay:
    """The requests, each with the time until which events wait for its response."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._deadlines: dict[object, float] = {}
        self._over = trio.Event()

    def __repr__(self) -> str:
        return f"<MovesUnderWay: {len(self._deadlines)}>"

    @contextmanager
    def one(self) -> Iterator[None]:
        """Have events wait while the block answers a request, for `EFFECTS_SECONDS` at most."""
        request = object()
        self._deadlines[request] = trio.current_time() + self._patience.seconds(EFFECTS_SECONDS)
        try:
            yield
        finally:
            del self._deadlines[request]
            if not self._deadlines:
                self._over.set()

    @property
    def are_awaited(self) -> bool:
        """Whether events have to wait."""
        return bool(self._deadlines) and max(self._deadlines.values()) > trio.current_time()

    async def over(self) -> None:
        """Wait until events need not wait any more."""
        while self.are_awaited:
            self._over = trio.Event()
            with trio.move_on_at(max(self._deadlines.values())):
                await self._over.wait()
