"""The requests that move the program."""

import sys
from typing import Any

from trio_debugmcp.engine.inside.call_targets import CallTarget, CallTargets
from trio_debugmcp.engine.inside.quiet_warnings import without_warnings
from trio_debugmcp.engine.inside.request_table import LATER, EngineRequest, RequestRefusedError, RequestTable
from trio_debugmcp.engine.inside.thread_records import ThreadRecord, program_frame

_frame: Any = sys._getframe

_STUCK = (
    "the thread still waits in C code, for an evaluation that was interrupted. Continue: then the other threads run, "
    "and this one does when its wait has ended"
)
"""Why a thread does not move by itself."""


def _go_to(frame: Any, line: int) -> None:
    """Have a frame continue at another line. The interpreter warns that variables without a value get None.

    Raises:
        ValueError: it cannot, and why.
    """
    without_warnings(RuntimeWarning, lambda: setattr(frame, "f_lineno", line))


class MovingRequests:
    """Continue, steps, breakpoints. Each is answered before the program continues, so before the next stop."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._calls = CallTargets(engine.sources)
        self._targets: dict[int, CallTarget] = {}

    def add_to(self, table: RequestTable) -> None:
        table.add(
            setBreakpoints=self._set_breakpoints,
            setFunctionBreakpoints=self._set_function_breakpoints,
            setExceptionBreakpoints=self._set_exception_breakpoints,
            pause=self._pause,
            gotoTargets=self._goto_targets,
            goto=self._goto,
            next=lambda request: self._step(request, "over"),
            stepInTargets=self._step_in_targets,
            stepIn=self._step_in,
            stepOut=lambda request: self._step(request, "out"),
        )
        table.add(**{"continue": self._continue})

    def _set_breakpoints(self, request: EngineRequest) -> Any:
        path = str(request.arguments["source"]["path"])
        return {"breakpoints": self._engine.breakpoints.set(path, request.arguments.get("breakpoints") or [])}

    def _set_function_breakpoints(self, request: EngineRequest) -> Any:
        engine, wanted = self._engine, request.arguments.get("breakpoints") or []
        return {"breakpoints": engine.functions.set(wanted, engine.breakpoints.number, engine.breakpoints.report)}

    def _set_exception_breakpoints(self, request: EngineRequest) -> Any:
        self._engine.exceptions.set(request.arguments.get("exceptionOptions") or [])
        return {}

    def _pause(self, request: EngineRequest) -> Any:
        request.respond()
        if self._engine.held.holder is None:
            self._engine.pauses.begin()
        return LATER

    def _goto_targets(self, request: EngineRequest) -> Any:
        line = int(request.arguments["line"])
        return {"targets": [{"id": line, "line": line, "label": f"line {line}"}]}

    def _goto(self, request: EngineRequest) -> Any:
        record, line = self._stopped(request), int(request.arguments["targetId"])
        if self._engine.evaluations.is_stuck(record):
            raise RequestRefusedError(_STUCK)
        frame = record.stop.frame

        def go() -> None:
            if program_frame(_frame(0)) is not frame:
                request.refuse("")  # a call has just returned to it: from there the interpreter goes nowhere
                return
            try:
                _go_to(frame, line)
            except ValueError as error:
                request.refuse(str(error))
                return
            record.passing = frame, frame.f_lineno
            request.respond()
            self._engine.frames.forget()
            body = {name: value for name, value in record.stop.body.items() if name != "hitBreakpointIds"}
            self._engine.stop_answers.send({**body, "reason": "goto"})

        record.inbox.put(go)
        return LATER

    def _stopped(self, request: EngineRequest) -> ThreadRecord:
        record = self._engine.threads.by_id(request.arguments.get("threadId"))
        if record is None or record.stop is None:
            record = self._engine.held.holder
        if record is None or record.stop is None:
            raise RequestRefusedError("the thread is not stopped")
        found: ThreadRecord = record
        return found

    def _continue(self, request: EngineRequest) -> Any:
        record = self._stopped(request)
        request.respond({"allThreadsContinued": True})
        self._engine.steps.end()
        self._resume(record)
        return LATER

    def _step_in_targets(self, request: EngineRequest) -> Any:
        found = self._engine.frames.find(request.arguments.get("frameId"))
        if found is None or found[0].stop is None:
            raise RequestRefusedError("there is no such frame: its thread has continued")
        targets = self._calls.ahead_of(found[1])
        self._targets = {each.id: each for each in targets}
        return {"targets": [each.described() for each in targets]}

    def _step_in(self, request: EngineRequest) -> Any:
        number = request.arguments.get("targetId")
        if number is None:
            return self._step(request, "in")
        target = self._targets.get(number)
        if target is None:
            raise RequestRefusedError("there is no such target: those of a stop are gone when a thread continues")
        return self._step(request, "in", target)

    def _step(self, request: EngineRequest, kind: str, target: CallTarget | None = None) -> Any:
        record = self._stopped(request)
        if self._engine.evaluations.is_stuck(record):
            raise RequestRefusedError(_STUCK)
        request.respond(with_next=True)  # of nearly all steps the stop comes in less than a millisecond
        frame = record.stop.frame if target is None else target.frame
        self._engine.steps.begin(kind, record, frame, target)
        self._resume(record)
        return LATER

    def _resume(self, record: ThreadRecord) -> None:
        self._targets = {}
        self._engine.frames.forget()
        self._engine.evaluations.leave(record)
        self._engine.held.resume(record)
