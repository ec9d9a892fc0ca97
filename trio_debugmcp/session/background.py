"""Work that a caller waits for, but not for ever: it continues in the background when the wait has ended."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from trio_debugmcp.errors import DebugError

log = logging.getLogger(__name__)

T = TypeVar("T")


async def finished_within(
    nursery: trio.Nursery, work: Callable[[], Awaitable[T]], seconds: float, late: list[DebugError] | None = None
) -> T | None:
    """Return the result of `work`; None if it takes longer than `seconds`, and then it continues in the nursery.

    Cancelling cancels the work.

    Raises:
        DebugError: the work's own. When the caller waits no more, it is logged instead, and appended to `late`.
    """
    results: list[T] = []
    failures: list[DebugError] = []
    done, scope = trio.Event(), trio.CancelScope()
    waiting = True

    async def run() -> None:
        with scope:
            try:
                results.append(await work())
            except DebugError as error:
                failures.append(error)
                if not waiting:
                    log.warning("in the background: %s", error)
                    if late is not None:
                        late.append(error)
        done.set()

    nursery.start_soon(run)
    try:
        with trio.move_on_after(seconds):
            await done.wait()
    except trio.Cancelled:
        scope.cancel(reason="the caller was cancelled")
        raise
    waiting = False
    if failures:
        raise failures[0]
    return results[0] if results else None


async def finished_even_if_cancelled(work: Callable[[], Awaitable[object]], seconds: float) -> None:
    """Wait for work that cancelling does not end at once: it then has so many `seconds`. It bounds itself otherwise."""
    scope = trio.CancelScope(shield=True)

    async def run() -> None:
        with scope:
            await work()
        nursery.cancel_scope.cancel(reason="the work is done")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        try:
            await trio.sleep_forever()
        finally:  # the work is done, or the caller was cancelled
            scope.deadline = trio.current_time() + seconds
