"""`OtherThreads`: where the threads are that have not stopped, of adapters that have to be asked for each of them."""

import trio

from trio_debugmcp.dap.messages import StackTraceBody
from trio_debugmcp.session.looking.by_probe.own_questions import EXAMINATION_SECONDS
from trio_debugmcp.session.looking.frames import ProgramFrames
from trio_debugmcp.session.looking.stop_questions import Findings
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.state.payloads import Location

LOCATING_AFTER_SECONDS = 0.25
"""From the end of an examination to the first question where another thread is. For a thread that waits or runs C code
debugpy answers after half a second, and serves nothing else until then; a step right after the stop must not wait for
that."""

LOCATING_SECONDS = 0.5
"""After this time no further thread is asked about at a stop. Those that were located last time come first, then those
that have not been asked about for longest."""


class OtherThreads:
    """The other threads at the stops of one session."""

    def __init__(self, requests: Requests, suspension: Suspension, frames: ProgramFrames) -> None:
        self._requests = requests
        self._suspension = suspension
        self._frames = frames
        self._not_located: dict[int, None] = {}

    def __repr__(self) -> str:
        return f"<OtherThreads of {self._requests.session_id}>"

    async def locate(self, found: Findings) -> tuple[tuple[int, Location], ...]:
        """Return places of threads that have not stopped, by their ids, as many as there is time for."""
        others = [thread.id for thread in found.threads if thread.id != found.thread_id]
        if not others:
            return ()
        # Not before an echo of the stop can no longer come: debugpy would answer neither until it has.
        await trio.sleep_until(max(trio.current_time() + LOCATING_AFTER_SECONDS, self._suspension.echo_until))
        deadline = trio.current_time() + LOCATING_SECONDS
        again = [thread_id for thread_id in self._not_located if thread_id in others]
        self._not_located = dict.fromkeys(again)
        places: list[tuple[int, Location]] = []
        for thread_id in [other for other in others if other not in self._not_located] + again:
            if trio.current_time() >= deadline:
                break
            # Moved to the end before the request: if that is cancelled, this thread waits longest for its next turn.
            self._not_located.pop(thread_id, None)
            self._not_located[thread_id] = None
            arguments = {"threadId": thread_id, "startFrame": 0, "levels": 1}
            body = await self._requests.request("stackTrace", arguments, StackTraceBody, seconds=EXAMINATION_SECONDS)
            if body.stack_frames:
                del self._not_located[thread_id]
                places.append((thread_id, self._frames.location(body.stack_frames[0])))
        return tuple(places)
