"""The stacks of all threads of a stopped program, from its adapter: for programs without a probe.

    found = await adapter_stacks(requests, snapshot, most=20)

The answer is as the probe's.
"""

import trio

from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.probe.answers import ProbeFrame, ProbeStack, ProbeStacks
from trio_debugmcp.session.looking.frames import fetch_frames
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import Snapshot, StackFrame

_MAX_THREADS = 200
"""Threads that are asked for, a request each; goroutines may be ten thousands. The answer counts the others."""

_SECONDS = 5.0
"""For all of them together: some adapters take 50 ms for each."""


async def adapter_stacks(requests: Requests, snapshot: Snapshot, most: int) -> ProbeStacks:
    """Return the threads of a stop with their frames, at most so many of each.

    Threads whose frames the adapter refuses, and those that are not asked for in time, are only counted.
    """
    threads = snapshot.threads.threads
    found: list[ProbeStack] = []
    with trio.move_on_after(requests.patience.seconds(_SECONDS)):
        for each in threads[:_MAX_THREADS]:
            try:
                frames, total = await fetch_frames(requests, snapshot, each.id, 0, most)
            except AdapterRefused:
                continue
            shown = tuple(_frame(index, frame) for index, frame in enumerate(frames))
            found.append(ProbeStack(id=each.id, name=each.name or "", state="stopped", frames=shown, total=total))
    return ProbeStacks(tuple(found), len(threads))


def _frame(index: int, frame: StackFrame) -> ProbeFrame:
    place = frame.location
    return ProbeFrame(
        function=frame.name, file=place.file or "", line=place.line or 0, library=not frame.is_user_code, index=index
    )
