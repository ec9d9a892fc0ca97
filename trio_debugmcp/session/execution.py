"""The verbs that move a session's program: continue, step, pause."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import trio

from trio_debugmcp.dap.messages import Nothing, ThreadsBody
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, ProgramGone, UsageError
from trio_debugmcp.session.examination import Examiner
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.changes import Resumed, ResumeRefused
from trio_debugmcp.state.model import ResumeKind, Snapshot

if TYPE_CHECKING:
    from trio_debugmcp.session.session import DebugSession

log = logging.getLogger(__name__)

StepMode = Literal["over", "in", "out", "back"]

_STEP_COMMANDS: dict[StepMode, str] = {"over": "next", "in": "stepIn", "out": "stepOut", "back": "stepBack"}


def not_paused(snapshot: Snapshot | None) -> UsageError:
    """The refusal of what needs a paused program."""
    phase = snapshot.phase if snapshot is not None else "Disconnected"
    return UsageError(
        "NOT_PAUSED",
        f"The program is not paused (it is {phase}). Use debug_pause to stop it now, or debug_wait to wait for a "
        "breakpoint.",
        {"currentState": phase},
    )


class Execution:
    """Moves the program of one session. Made by the session, and usable while it lives.

    `suspended`: between a stop, published or not yet, and the resume that ends it.
    `pause_wanted`: somebody wants the program to pause, so that this stop counts, whatever it is.
    """

    def __init__(self, session: "DebugSession", merger: Merger, examiner: Examiner) -> None:
        self._session = session
        self._merger = merger
        self._examiner = examiner
        self._resuming = False
        self._pauses = 0
        self._echo_until = -inf
        self.suspended = False
        self.pause_wanted = False

    def stopped(self, reason: str) -> None:
        """The adapter has just said so, with this reason.

        It may have stopped before an outstanding `pause` reached it, which it then reports as a stop of its own.
        """
        if self._pauses > 1 or (self._pauses == 1 and reason != "pause"):
            self._echo_until = trio.current_time() + self._session.profile.pause_echo_seconds
        self.pause_wanted = self._pauses > 0
        self._pauses = 0
        self.suspended = True

    def resumed(self) -> None:
        """The adapter has said so, or will be told to."""
        self.suspended = False

    async def continue_(self, thread_id: int) -> None:
        """DAP `continue`."""
        await self._go("continue", "continue", {"threadId": thread_id})

    async def step(self, mode: StepMode, thread_id: int, granularity: str | None = None) -> None:
        """DAP `next`, `stepIn`, `stepOut` or `stepBack`."""
        arguments: dict[str, Any] = {"threadId": thread_id}
        if granularity is not None and self._session.capabilities.supports_stepping_granularity:
            arguments["granularity"] = granularity
        await self._go("step", _STEP_COMMANDS[mode], arguments)

    async def pause(self, thread_id: int | None) -> None:
        """DAP `pause`, of any thread if none is named; the stop comes as an event.

        A program that has stopped, though nobody may know yet, is not told to: some adapters report that stop once
        more, and the program may have gone on by then.
        """
        if thread_id is None and not self.suspended:
            thread_id = await self._first_thread()
        if self.suspended:
            self.pause_wanted = True
        else:
            self._pauses += 1
            await self._agreed_or_stopped(partial(self._session.request, "pause", {"threadId": thread_id}, Nothing))

    async def go_on(self, thread_id: int) -> None:
        """Leave a stop that does not count, and was not published."""
        self.resumed()
        await self._session.request("continue", {"threadId": thread_id}, Nothing)

    async def _first_thread(self) -> int:
        """Some thread's id, for a program that has not stopped yet."""
        body = await self._session.request("threads", None, ThreadsBody)
        return body.threads[0].id if body.threads else 0

    async def _go(self, kind: ResumeKind, command: str, arguments: dict[str, Any]) -> None:
        """Let the program go; returns when the adapter has agreed, or the program has stopped again.

        Once begun it is carried out even if the caller is cancelled: a program that counts as running and was never
        told to run would wait for ever.

        Raises:
            UsageError: `NOT_PAUSED`: somebody else was quicker.
            DebugError: the adapter did not agree.
        """
        if trio.current_time() < self._echo_until:
            with trio.CancelScope(shield=True):  # whoever has no time left is carried out as well
                await trio.sleep_until(self._echo_until)
        before = self._session.snapshot
        tasks = self._session.tasks
        if tasks is None or self._resuming or before is None or before.phase != "Paused":
            raise not_paused(before)
        self._resuming = True  # until the state says so
        failed, failures = trio.open_memory_channel[DebugError](1)
        tasks.start_soon(self._carry_out, kind, command, arguments, failed)

        async def agree() -> None:
            async for failure in failures:
                raise failure

        with failures:
            await self._agreed_or_stopped(agree)

    async def _carry_out(
        self, kind: ResumeKind, command: str, arguments: dict[str, Any], failed: trio.MemorySendChannel[DebugError]
    ) -> None:
        """It counts as running from before the request is written, not from the answer, which a stop may overtake."""
        with failed:
            self.resumed()
            self._examiner.cancel()
            state = await self._merger.merge(Resumed(self._session.id, kind))
            self._resuming = False
            snapshot = state.session(self._session.id)
            try:
                await self._session.request(command, arguments, Nothing)
            except AdapterRefused as refusal:
                self.suspended = True
                if snapshot is not None:
                    await self._merger.merge(ResumeRefused(self._session.id, snapshot.generation))
                _report(failed, refusal)
            except ProgramGone as gone:
                log.info("%s: %s", command, gone)
            except DebugError as error:
                _report(failed, error)

    async def _agreed_or_stopped(self, agree: Callable[[], Awaitable[object]]) -> None:
        """Wait for an adapter to agree, but no longer than for what it was asked for: it may answer late, or never."""
        before = self._session.snapshot
        failure: DebugError | None = None
        async with trio.open_nursery() as nursery:

            async def stop() -> None:
                await self._merger.wait_until(lambda state: _stopped_since(before, state.session(self._session.id)))
                nursery.cancel_scope.cancel(reason="it has stopped")

            nursery.start_soon(stop)
            try:
                await agree()
            except DebugError as error:
                failure = error
            nursery.cancel_scope.cancel(reason="it has agreed")
        if failure is not None and not (isinstance(failure, AdapterGone) and self._session.exited):
            raise failure


def _stopped_since(before: Snapshot | None, now: Snapshot | None) -> bool:
    """Whether there was another stop, or the end."""
    if before is None or now is None:
        return now is None
    return now.phase == "Paused" and now.stop is not before.stop


def _report(failed: trio.MemorySendChannel[DebugError], error: DebugError) -> None:
    """To whoever still waits for it."""
    with suppress(trio.BrokenResourceError):
        failed.send_nowait(error)
