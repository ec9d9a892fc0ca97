"""Which stop an answer is about, for cards in a chat: they stay there while the program moves on.

    text = moment_of(snapshot, console.next_seq)
    still_there = Moment.parsed(text).is_now(debugger.state)

A card gives the text back with each of its calls.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from msgspec import Struct

from trio_debugmcp.state.model import Snapshot, State

WANTED: ContextVar[bool] = ContextVar("WANTED", default=False)
"""Whether the client of this task draws cards: others see nothing of what is made for them."""

META_KEY = "trio-debugmcp/stop"
"""Where a result holds it, in `_meta`, which hosts do not show to a model."""


class Moment(Struct, frozen=True):
    """A stop of a session, and the number of the output entry that was the next one then.

    `began`: a server that was started anew counts its sessions and stops from 1 again.
    """

    session: str
    began: float
    stop: int
    next_seq: int

    def __str__(self) -> str:
        return f"{self.session} {self.began!r} {self.stop} {self.next_seq}"

    @classmethod
    def parsed(cls, text: str) -> "Moment | None":
        """Return the moment of such a text; None if it is another text."""
        try:
            session, began, stop, next_seq = text.split(" ")
            return cls(session, float(began), int(stop), int(next_seq))
        except ValueError:
            return None

    def snapshot(self, state: State) -> Snapshot | None:
        """Return the session as it is now; None if it has ended."""
        found = state.snapshot(self.session)
        return found if found is not None and found.origin.attached_at == self.began else None

    def was(self, state: State) -> bool:
        """Return whether the session is known, be it that it has ended."""
        found = state.snapshot(self.session) or state.end_of(self.session)
        return found is not None and found.origin.attached_at == self.began

    def is_now(self, state: State) -> bool:
        """Return whether the session is still at that stop."""
        found = self.snapshot(state)
        return (
            found is not None and found.phase == "Paused" and found.stop is not None and found.stop.number == self.stop
        )


def for_card(moment: str | None, stop: Callable[[], Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the `_meta` of an answer with a stop, which it has as data; None for a client that draws no cards."""
    if not WANTED.get():
        return None
    return {META_KEY: {"stop": stop(), **({"moment": moment} if moment else {})}}


def moment_of(snapshot: Snapshot, next_seq: int) -> str | None:
    """Return what names the stop at which a session is; None if it is not at one."""
    if snapshot.phase != "Paused" or snapshot.stop is None:
        return None
    return str(Moment(snapshot.id, snapshot.origin.attached_at, snapshot.stop.number, next_seq))
