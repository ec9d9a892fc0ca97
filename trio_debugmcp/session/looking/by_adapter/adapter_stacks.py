"""The stacks of all threads of a stopped program, from its adapter: for programs without a probe."""

import trio

from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.session.looking.by_probe.live_threads import LiveStack, last_thread
from trio_debugmcp.session.looking.ways import Ways
from trio_debugmcp.state.model import Snapshot

_MAX_THREADS = 200
"""Threads that are asked for, a request each; goroutines may be ten thousands. The answer counts the others."""

_SECONDS = 5.0
"""For all of them together: some adapters take 50 ms for each."""


async def adapter_stacks(ways: Ways, snapshot: Snapshot, most: int) -> tuple[LiveStack, ...]:
    """Return the threads of a stop with their frames, at most so many of each.

    Threads whose frames the adapter refuses, and those that are not asked for in time, are left out.
    """
    found: list[LiveStack] = []
    with trio.move_on_after(ways.requests.patience.seconds(_SECONDS)):
        for thread in snapshot.threads.threads[:_MAX_THREADS]:
            try:
                stack, total = await ways.frames.fetch(snapshot, thread.id, 0, most)
            except AdapterRefused:
                continue
            found.append(LiveStack(last_thread(thread), tuple(stack), total))
    return tuple(found)
