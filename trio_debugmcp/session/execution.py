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
    `echo_until`: until when the adapter may report this stop once more.
    """

    def __init__(self, session: "DebugSession", merger: Merger, examiner: Examiner) -> None:
        self._session = session
        self._merger = merger
        self._examiner = examiner
        self._resuming = False
        self._pauses = 0
        self._echoed = trio.Event()
        self.echo_until = -inf
        self.suspended = False
        self.pause_wanted = False

    def stopped(self, reason: str) -> None:
        """The adapter has just said so, with this reason.

        The program may have stopped before an outstanding `pause` arrived; some adapters then report the stop again.
        """
        if self._pauses > 1 or (self._pauses == 1 and reason != "pause"):
            self.echo_until = trio.current_time() + self._session.profile.dialect.pause_echo_seconds
            self._echoed = trio.Event()
        self.pause_wanted = self._pauses > 0 or (self.suspended and self.pause_wanted)
        self._pauses = 0
        self.suspended = True

    def is_echo(self, reason: str) -> bool:
        """Whether a stop with this reason is the one that is known already, reported again."""
        if reason != "pause" or not self.suspended or trio.current_time() >= self.echo_until:
            return False
        self.echo_until = -inf
        self._echoed.set()
        return True

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
        tasks = self._session.tasks
        if self.suspended:
            self.pause_wanted = True
        elif tasks is not None:
            await self._carried_out(tasks, partial(self._pause, thread_id))

    async def go_on(self, thread_id: int) -> None:
        """Leave a stop that does not count, and was not published.

        Raises:
            AdapterRefused: it stays there.
        """
        self.resumed()
        try:
            await self._session.request("continue", {"threadId": thread_id}, Nothing)
        except AdapterRefused:
            self.suspended = True
            raise

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
        if trio.current_time() < self.echo_until:
            with trio.move_on_at(self.echo_until, shield=True):  # whoever has no time left is carried out as well
                await self._echoed.wait()
        before = self._session.snapshot
        tasks = self._session.tasks
        if tasks is None or self._resuming or before is None or before.phase != "Paused":
            raise not_paused(before)
        self._resuming = True  # until the state says so
        await self._carried_out(tasks, partial(self._resume, kind, command, arguments))

    async def _resume(
        self, kind: ResumeKind, command: str, arguments: dict[str, Any], failed: trio.MemorySendChannel[DebugError]
    ) -> None:
        """It counts as running from before the request is written, not from the answer, which a stop may overtake."""
        with failed:
            self.resumed()
            self._examiner.cancel()
            state = await self._merger.merge(Resumed(self._session.id, kind))
            self.resumed()  # a stop that was reported meanwhile is left, too
            self._examiner.cancel()
            self._resuming = False
            snapshot = state.snapshot(self._session.id)
            try:
                await self._session.request(command, arguments, Nothing)
            except AdapterRefused as refusal:
                if snapshot is not None:
                    await self._merger.merge(ResumeRefused(self._session.id, snapshot.generation))
                now = self._session.snapshot
                self.suspended = now is not None and now.phase == "Paused"
                _report(failed, refusal)
            except ProgramGone as gone:
                log.info("%s: %s", command, gone)
            except DebugError as error:
                _report(failed, error)

    async def _pause(self, thread_id: int | None, failed: trio.MemorySendChannel[DebugError]) -> None:
        self._pauses += 1
        with failed:
            try:
                await self._session.request("pause", {"threadId": thread_id}, Nothing)
            except DebugError as error:
                self._pauses = max(0, self._pauses - 1)
                _report(failed, error)

    async def _carried_out(
        self, tasks: trio.Nursery, verb: Callable[[trio.MemorySendChannel[DebugError]], Awaitable[None]]
    ) -> None:
        """Begin something that the session goes on with if the caller is cancelled, and wait until it is agreed to."""
        failed, failures = trio.open_memory_channel[DebugError](1)
        tasks.start_soon(verb, failed)

        async def agree() -> None:
            async for failure in failures:
                raise failure

        with failures:
            await self._agreed_or_stopped(agree)

    async def _agreed_or_stopped(self, agree: Callable[[], Awaitable[object]]) -> None:
        """Wait for an adapter to agree, but no longer than for what it was asked for: it may answer late, or never."""
        before = self._session.snapshot
        failure: DebugError | None = None
        async with trio.open_nursery() as nursery:

            async def stop() -> None:
                await self._merger.wait_until(lambda state: _stopped_since(before, state.snapshot(self._session.id)))
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
