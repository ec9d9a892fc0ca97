"""The verbs that resume a session's program: continue, step, go to a line, restart a frame.

Events drive the state, responses do not: `stopped` may come before the response of the step that led to it. So the
program counts as running from before a resume is written.
"""

import logging
from functools import partial
from typing import Any, Literal

from trio_debugmcp.dap.messages import Nothing
from trio_debugmcp.errors import AdapterRefused, ProgramGone, UsageError
from trio_debugmcp.session.breakpoints.watched_values import WatchedValues
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import check_evaluations_ended
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.not_paused import not_paused
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.examination import Examiner
from trio_debugmcp.session.suspension import Suspension
from trio_debugmcp.session.verbs import Verbs
from trio_debugmcp.state.changes import Resumed, ResumeRefused
from trio_debugmcp.state.model import ResumeKind

log = logging.getLogger(__name__)

StepMode = Literal["over", "in", "out", "back"]

_STEP_COMMANDS: dict[StepMode, str] = {"over": "next", "in": "stepIn", "out": "stepOut", "back": "stepBack"}


_INSTEAD_OF_BACK = "Use debug_restart and a breakpoint instead."

_RECORDED_INSTEAD = (
    "debug_launch(record=true) keeps the run, and steps back through that; or use debug_restart and a breakpoint."
)
"""Where runs can be recorded."""


class Execution:
    """Moves the program of one session.

    Args:
        watched: what data breakpoints watch; it is read before a resume, if a client has changed something.
    """

    def __init__(
        self,
        requests: Requests,
        suspension: Suspension,
        merger: Merger,
        examiner: Examiner,
        watched: WatchedValues,
        verbs: Verbs,
    ) -> None:
        self._requests = requests
        self._suspension = suspension
        self._merger = merger
        self._examiner = examiner
        self._watched = watched
        self._verbs = verbs
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
        if self._resuming:
            raise UsageError(
                "NOT_PAUSED",
                "Another step or continue of this program is under way. Use debug_wait for the stop that it leads to.",
                {"currentState": "Running"},
            )
        if not self._verbs.may_begin or before is None or before.phase != "Paused":
            raise not_paused(before, probe=self._requests.profile.evaluates_running)
        self._resuming = True  # closes the gap until the state says so: of two resumes at once one is refused
        await self._verbs.carry_out(partial(self._send_resume, kind, command, arguments))

    async def _send_resume(self, kind: ResumeKind, command: str, arguments: dict[str, Any]) -> None:
        # Here, where the caller's cancellation does not reach it: a resume with timeout=0 is a resume.
        await self._watched.catch_up()
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
