"""Deadlines that stand still while a person is asked.

A limit on a server's silence must not run out because a person reads a consent page, or fills in a form that the server
asked for. All of a connection belong to one `Deadlines`, and are times of its clock.

    deadlines = Deadlines()
    with deadlines.until(deadlines.now() + 30) as scope:
        ...
    with deadlines.paused():             # in the task that asks the person
        ...
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import trio


class Deadlines:
    """See the module's docstring."""

    def __init__(self) -> None:
        self._deadlines: dict[trio.CancelScope, float] = {}
        self._pauses = 0
        self._since = 0.0
        self._skipped = 0.0

    def __repr__(self) -> str:
        return f"<Deadlines: {len(self._deadlines)} deadlines, {'paused' if self._pauses else 'running'}>"

    def now(self) -> float:
        """Trio's time without the pauses."""
        return (self._since if self._pauses else trio.current_time()) - self._skipped

    @contextmanager
    def until(self, deadline: float) -> Iterator[trio.CancelScope]:
        """Open a cancel scope that ends at `deadline`; `extend` moves it."""
        with trio.CancelScope() as scope:
            self.extend(scope, deadline)
            try:
                yield scope
            finally:
                del self._deadlines[scope]

    def extend(self, scope: trio.CancelScope, deadline: float) -> None:
        """Move the deadline of a scope of `until`."""
        self._deadlines[scope] = deadline
        scope.deadline = inf if self._pauses else deadline + self._skipped

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock during the block, which must be bounded or cancellable by itself."""
        if not self._pauses:
            self._since = trio.current_time()
        self._pauses += 1
        self._apply()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._skipped += trio.current_time() - self._since
            self._apply()

    def _apply(self) -> None:
        for scope, deadline in self._deadlines.items():
            self.extend(scope, deadline)
