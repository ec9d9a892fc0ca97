"""`ClientPauses`: the pauses that clients want of a session's program, and take back."""

import logging
from functools import partial

import trio

from trio_debugmcp.dap.messages import Nothing, ThreadsBody
from trio_debugmcp.errors import AdapterRefused, DebugError
from trio_debugmcp.probe.answers import Unpaused
from trio_debugmcp.session.looking.by_probe.program_probe import ProgramProbe
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.session.verbs import Verbs

log = logging.getLogger(__name__)

_ONLY_THREAD = 1
"""The thread to be paused where none is known: adapters of one thread call it so, or do not look at it."""


class ClientPauses:
    """The pauses of one session's program. What was sent and has not led to a stop yet, the suspension knows."""

    def __init__(self, requests: Requests, suspension: Suspension, probe: ProgramProbe, verbs: Verbs) -> None:
        self._requests = requests
        self._suspension = suspension
        self._probe = probe
        self._verbs = verbs
        self._unsent: list[trio.CancelScope] = []

    def __repr__(self) -> str:
        return f"<ClientPauses of {self._requests.session_id}, {len(self._unsent)} not sent yet>"

    async def pause(self, thread_id: int | None, wanted: int | None = None) -> None:
        """Send DAP `pause`, for the first thread if none is named; the stop comes as an event.

        `wanted`: the thread to be shown, where all stop; some adapters show another one than that of the request.

        No `pause` is sent if the program has already stopped, even if that stop is not published yet: see
        `suspension`.

        Raises:
            DebugError: the adapter did not agree.
        """
        self._suspension.wanted_thread = wanted
        if self._suspension.want_pause() and self._verbs.may_begin:
            await self._verbs.carry_out(partial(self._send, thread_id))

    async def take_back(self) -> None:
        """Have a program run on that was asked to pause and has not stopped yet: no caller waits for that any more.

        Only a Python program can be so late; others stop at once.
        """
        await trio.lowlevel.checkpoint()  # the task that sends the pause may not have begun yet
        if self._unsent:  # any of them: as many are left as there are clients that wait
            self._unsent.pop().cancel(reason="no client waits for the pause")
            return
        unwanted = self._suspension.give_up_pause()
        if not unwanted:
            return
        unpaused = await self._probe.quietly("unpause", Unpaused)
        if unpaused is not None and unpaused.taken:
            self._suspension.forget_pauses(unwanted)

    async def _send(self, thread_id: int | None) -> None:
        if thread_id is None:  # a program that is silent answers this late, and is to be paused then
            thread_id = await self._thread_to_pause()
        if thread_id is None or not self._suspension.want_pause():
            return
        self._suspension.begin_pause()
        try:
            await self._requests.request("pause", {"threadId": thread_id}, Nothing)
        except DebugError:
            self._suspension.forget_pauses()
            raise

    async def _thread_to_pause(self) -> int | None:
        """Return a thread to be paused; None if the pause is taken back before one is known."""
        with trio.CancelScope() as scope:
            self._unsent.append(scope)
            try:
                return await self._any_thread()
            finally:
                if scope in self._unsent:
                    self._unsent.remove(scope)
        return None

    async def _any_thread(self) -> int:
        """Return a thread to be paused."""
        if self._requests.capabilities.engine_requests:
            return _ONLY_THREAD  # our engine stops the one that is first to run
        try:
            threads = (await self._requests.request("threads", None, ThreadsBody)).threads or []
        except AdapterRefused as refusal:  # Perl's does not list them while the program runs
            log.info("%s", refusal)
            threads = []
        ids = [thread.id for thread in threads]
        # delve has -1 for the one that runs.
        return next((id_ for id_ in ids if id_ >= 0), ids[0] if ids else _ONLY_THREAD)
