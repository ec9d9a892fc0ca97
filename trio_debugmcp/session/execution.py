"""The verbs that move a session's program: continue, step, pause.

Events drive the state, responses do not: `stopped` may come before the response of the step that led to it. So the
program counts as running from before a resume is written, and a verb returns when the adapter has agreed *or* the
program has stopped again, whichever comes first.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Literal

import trio

from trio_debugmcp.dap.messages import Nothing, ThreadsBody
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, ProgramGone, UsageError
from trio_debugmcp.probe.answers import Unpaused
from trio_debugmcp.session.ending import Ending
from trio_debugmcp.session.looking.adapter_evaluation import check_evaluations_ended
from trio_debugmcp.session.looking.program_probe import ProgramProbe
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.not_paused import not_paused
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.examination import Examiner
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.state.changes import Resumed, ResumeRefused
from trio_debugmcp.state.model import ResumeKind, Snapshot

log = logging.getLogger(__name__)

StepMode = Literal["over", "in", "out", "back"]

_STEP_COMMANDS: dict[StepMode, str] = {"over": "next", "in": "stepIn", "out": "stepOut", "back": "stepBack"}


_INSTEAD_OF_BACK = "Use debug_restart and a breakpoint instead."

_RECORDED_INSTEAD = (
    "debug_launch(record=true) keeps the run, and steps back through that; or use debug_restart and a breakpoint."
)
"""Where runs can be recorded."""

_ONLY_THREAD = 1
"""The thread to be paused where none is known: adapters of one thread call it so, or do not look at it."""


class _Response:
    """What has come of a verb so far."""

    def __init__(self) -> None:
        self.has_come = False
        self.failure: DebugError | None = None


class Execution:
    """Moves the program of one session.

    A method for each way to move a program, and what they share, hence so many.

    Attributes:
        tasks: where tasks that end with the session are started; None before it has begun and once it is ending.
    """

    def __init__(
        self,
        requests: Requests,
        suspension: Suspension,
        merger: Merger,
        examiner: Examiner,
        ending: Ending,
        probe: ProgramProbe,
    ) -> None:
        self.tasks: trio.Nursery | None = None
        self._requests = requests
        self._suspension = suspension
        self._merger = merger
        self._examiner = examiner
        self._ending = ending
        self._probe = probe
        self._unsent_pauses: list[trio.CancelScope] = []
        self._resuming = False

    def __repr__(self) -> str:
        return f"<Execution of {self._requests.session_id}{', resuming' if self._resuming else ''}>"

    @property
    def _instead_of_back(self) -> str:
        return _RECORDED_INSTEAD if self._requests.capabilities.records_runs else _INSTEAD_OF_BACK

    async def continue_(self, thread_id: int, *, reverse: bool = False) -> None:
        """Resume with DAP `continue`, or backwards with `reverseContinue`.

        Raises:
            UsageError: `NOT_SUPPORTED`: this adapter does not run backwards.
            UsageError: `NOT_PAUSED`: the program is running; another client may have just resumed it.
            DebugError: the adapter did not agree.
        """
        if reverse:
            self._requests.need("supportsStepBack", "run backwards", self._instead_of_back)
        await self._resume("continue", "reverseContinue" if reverse else "continue", {"threadId": thread_id})

    async def step(
        self, mode: StepMode, thread_id: int, granularity: str | None = None, target: int | None = None
    ) -> None:
        """Resume with DAP `next`, `stepIn`, `stepOut` or `stepBack`; raises what `continue_` does.

        `target`: the id of a call to step into.
        """
        if mode == "back":
            self._requests.need("supportsStepBack", "step back", self._instead_of_back)
        refused = self._requests.profile.habits.step_out if mode == "out" else None
        if refused is not None:
            name = self._requests.profile.name
            sentence = f"{name} cannot step out: {refused}. Set a breakpoint where the call returns, and continue."
            raise UsageError("NOT_SUPPORTED", sentence, {"adapter": name, "capability": "stepOut"})
        if granularity == "instruction":  # the others are a line to an adapter that has no sizes of steps
            self._requests.need("supportsSteppingGranularity", "step by instructions", "Leave out `granularity`.")
        arguments: dict[str, Any] = {"threadId": thread_id}
        if granularity is not None and self._requests.capabilities.supports_stepping_granularity:
            arguments["granularity"] = granularity
        if target is not None:
            arguments["targetId"] = target
        await self._resume("step", _STEP_COMMANDS[mode], arguments)

    async def goto(self, thread_id: int, target: int) -> None:
        """Have a thread continue from a target with DAP `goto`, which stops there; raises what `continue_` does."""
        await self._resume("step", "goto", {"threadId": thread_id, "targetId": target})

    async def restart_frame(self, frame_id: int) -> None:
        """Begin a frame's function again with DAP `restartFrame`; raises what `continue_` does."""
        self._requests.need(
            "supportsRestartFrame", "restart a frame", "Leave out `frame_index` to restart the program."
        )
        await self._resume("step", "restartFrame", {"frameId": frame_id})

    async def pause(self, thread_id: int | None) -> None:
        """Send DAP `pause`, for the first thread if none is named; the stop comes as an event.

        No `pause` is sent if the program has already stopped, even if that stop is not published yet: see
        `suspension`.

        Raises:
            DebugError: the adapter did not agree.
        """
        tasks = self.tasks
        if self._suspension.want_pause() and tasks is not None:
            await self._complete(tasks, partial(self._send_pause, thread_id))

    async def _any_thread(self) -> int:
        """Return a thread to be paused."""
        try:
            threads = (await self._requests.request("threads", None, ThreadsBody)).threads or []
        except AdapterRefused as refusal:  # Perl's does not list them while the program runs
            log.info("%s", refusal)
            threads = []
        ids = [thread.id for thread in threads]
        # delve has -1 for the one that runs.
        return next((id_ for id_ in ids if id_ >= 0), ids[0] if ids else _ONLY_THREAD)

    async def take_back_pause(self) -> None:
        """Have a program run on that was asked to pause and has not stopped yet: no caller waits for that any more.

        Only a Python program can be so late; others stop at once.
        """
        await trio.lowlevel.checkpoint()  # the task that sends the pause may not have begun yet
        if self._unsent_pauses:  # any of them: as many are left as there are clients that wait
            self._unsent_pauses.pop().cancel(reason="no client waits for the pause")
            return
        unwanted = self._suspension.give_up_pause()
        if not unwanted:
            return
        unpaused = await self._probe.quietly("unpause", Unpaused)
        if unpaused is not None and unpaused.taken:
            self._suspension.forget_pauses(unwanted)

    def check_runs(self) -> None:
        """Check that there is a program that can run.

        Raises:
            UsageError: `NOT_SUPPORTED`: it is a core file.
        """
        snapshot = self._requests.snapshot
        if snapshot is not None and snapshot.origin.core_file is not None:
            raise UsageError(
                "NOT_SUPPORTED",
                "A core file does not run: it is what the program left when it crashed. Look at it with stack_get, "
                "variables_get and evaluate, and end the session with debug_disconnect.",
                {"adapter": self._requests.profile.name, "coreFile": snapshot.origin.core_file},
            )

    async def _resume(self, kind: ResumeKind, command: str, arguments: dict[str, Any]) -> None:
        self.check_runs()
        await self._suspension.wait_echo()
        await check_evaluations_ended(self._requests, command)
        before = self._requests.snapshot
        tasks = self.tasks
        if self._resuming:
            raise UsageError(
                "NOT_PAUSED",
                "Another step or continue of this program is under way. Use debug_wait for the stop that it leads to.",
                {"currentState": "Running"},
            )
        if tasks is None or before is None or before.phase != "Paused":
            raise not_paused(before, probe=self._requests.profile.evaluates_running)
        self._resuming = True  # closes the gap until the state says so: of two resumes at once one is refused
        await self._complete(tasks, partial(self._send_resume, kind, command, arguments))

    async def _send_resume(self, kind: ResumeKind, command: str, arguments: dict[str, Any]) -> None:
        # Here, where the caller's cancellation does not reach it: a resume with timeout=0 is a resume.
        await self._examiner.catch_up()
        self._examiner.begin_step(command, arguments.get("threadId"))
        self._suspension.report_resume()
        self._examiner.cancel()
        # Running from before the request is written: a stop may overtake the response.
        state = await self._merger.merge(Resumed(self._requests.session_id, kind))
        # The pump may have reported a stop during that merge; the resume leaves that one, too.
        self._suspension.report_resume()
        self._examiner.cancel()
        self._resuming = False
        snapshot = state.snapshot(self._requests.session_id)
        try:
            await self._requests.request(command, arguments, Nothing)
        except AdapterRefused as refusal:
            refused = refusal
        except ProgramGone as gone:
            log.info("%s: %s", command, gone)
            return
        else:
            return
        if snapshot is not None:
            await self._merger.merge(ResumeRefused(self._requests.session_id, snapshot.generation))
        now = self._requests.snapshot
        self._suspension.report_resume_refused(still_stopped=now is not None and now.phase == "Paused")
        if now is None or now.lost is None:
            raise refused

    async def _send_pause(self, thread_id: int | None) -> None:
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
            self._unsent_pauses.append(scope)
            try:
                return await self._any_thread()
            finally:
                if scope in self._unsent_pauses:
                    self._unsent_pauses.remove(scope)
        return None

    async def _complete(self, tasks: trio.Nursery, verb: Callable[[], Awaitable[None]]) -> None:
        """Run a verb in a task of the session, and wait until the adapter has agreed, or the program has stopped.

        The verb is carried out even if the caller is cancelled: a program that counts as running but was never
        resumed would wait for ever. Some adapters respond late, or never.
        """
        session_id, before = self._requests.session_id, self._requests.snapshot
        response = _Response()
        tasks.start_soon(self._run_verb, verb, response)
        for _ in range(2):  # turns: then the verb has begun, and a caller that does not wait finds the program running
            await trio.lowlevel.cancel_shielded_checkpoint()
        await self._merger.wait_until(
            lambda state: response.has_come or _stopped_since(before, state.snapshot(session_id))
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
            self._merger.look_again()


def _stopped_since(before: Snapshot | None, now: Snapshot | None) -> bool:
    """Whether there has been another stop, or the session has ended."""
    if before is None or now is None:
        return now is None
    return now.phase == "Paused" and now.stop is not before.stop
