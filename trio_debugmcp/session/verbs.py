"""`Verbs`: what clients do with a program, in tasks of its session.

    await verbs.carry_out(partial(requests.request, "next", {"threadId": 1}, Nothing))

A verb returns when the adapter has agreed *or* the program has stopped again, whichever comes first.
"""

from collections.abc import Awaitable, Callable

import trio

from trio_debugmcp.errors import AdapterGone, DebugError
from trio_debugmcp.session.ending import Ending
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.model import Snapshot


class _Response:
    """What has come of a verb so far."""

    def __init__(self) -> None:
        self.has_come = False
        self.failure: DebugError | None = None


class Verbs:
    """The verbs of one session.

    Attributes:
        tasks: where tasks that end with the session are started; None before it has begun and once it is ending.
    """

    def __init__(self, session_id: str, merger: Merger, ending: Ending) -> None:
        self.tasks: trio.Nursery | None = None
        self._session_id = session_id
        self._merger = merger
        self._ending = ending

    def __repr__(self) -> str:
        return f"<Verbs of {self._session_id}{'' if self.may_begin else ', none may begin'}>"

    @property
    def may_begin(self) -> bool:
        """Whether a verb can be carried out: the session has begun, and is not ending."""
        return self.tasks is not None

    async def carry_out(self, verb: Callable[[], Awaitable[None]]) -> None:
        """Run a verb in a task of the session, and wait until the adapter has agreed, or the program has stopped.

        The verb is carried out even if the caller is cancelled: a program that counts as running but was never
        resumed would wait for ever. Some adapters respond late, or never.
        """
        tasks, session_id = self.tasks, self._session_id
        if tasks is None:
            raise AssertionError("no verb may begin")
        before = self._merger.state.snapshot(session_id)
        response = _Response()
        tasks.start_soon(self._run_verb, verb, response)
        for _ in range(2):  # turns: then the verb has begun, and a caller that does not wait finds the program running
            await trio.lowlevel.cancel_shielded_checkpoint()
        await self._merger.wait_until(
            lambda state: response.has_come or _stopped_since(before, state.snapshot(session_id)), of=session_id
        )
        failure = response.failure
        # Some adapters exit with the program before they respond: that is the program's end, not a failure.
        if failure is not None and not (isinstance(failure, AdapterGone) and self._ending.exited):
            raise failure

    async def _run_verb(self, verb: Callable[[], Awaitable[None]], response: _Response) -> None:
        try:
            await verb()
        except DebugError as error:
            response.failure = error
        finally:
            response.has_come = True
            self._merger.look_again(self._session_id)


def _stopped_since(before: Snapshot | None, now: Snapshot | None) -> bool:
    """Whether there has been another stop, or the session has ended."""
    if before is None or now is None:
        return now is None
    return now.phase == "Paused" and now.stop is not before.stop
