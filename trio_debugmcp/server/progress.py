"""How far a call has come, for clients that asked for it with a progress token.

    await report_progress(17, 50, "17 of 50 tries, none failed")

A client that did not send one hears nothing.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

PROGRESS: ContextVar[Callable[[float, float | None, str | None], Awaitable[None]] | None] = ContextVar(
    "PROGRESS", default=None
)
"""What tells the client of the call that a task serves; it does nothing if that has not asked for it."""


async def report_progress(done: float, total: float | None, message: str) -> None:
    """Tell the client; `done` has to grow from call to call."""
    report = PROGRESS.get()
    if report is not None:
        await report(done, total, message)
