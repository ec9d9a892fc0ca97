"""`UserEvaluation`: what users evaluate and set in a program: in a frame of a stop, or while a Python program runs.

    found = await session.looking.evaluation.in_frame(frame, "total += 1; total", seconds=5)
    found = await session.looking.evaluation.in_main("len(queue)", seconds=5)      # in the globals of the main module
    shown = await session.looking.evaluation.assign(place, "basket.owner", "'eva'")

By the probe where there is one, else by the adapter. Code that wants to end a Python program is refused, and the
program's standard input stays open. While the program runs a thread of the debugger's own evaluates, so that code that
never ends holds up neither the program nor the debugger.

What a variable is after an assignment is read from the program, whatever the adapter says. The probe knows whose
variable a name is: DAP's `setExpression` of pydevd would set a global in the frame's locals, where no code looks.
"""

from collections.abc import Callable

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe import bootstrap
from trio_debugmcp.probe.answers import AwaitedAnswer, EvaluationOutcome, ProbeVariables
from trio_debugmcp.probe.forms import Arguments
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import (
    INTERRUPT_AGAIN_SECONDS,
    INTERRUPT_SECONDS,
    Evaluation,
    Unended,
    evaluate,
    evaluation,
    interrupted,
    send,
)
from trio_debugmcp.session.looking.by_adapter.name_origins import origin_notes
from trio_debugmcp.session.looking.by_adapter.running_evaluation import evaluate_running
from trio_debugmcp.session.looking.by_adapter.set_variable import assign_by_adapter
from trio_debugmcp.session.looking.by_probe.live_threads import at_breakpoint, waits_for
from trio_debugmcp.session.looking.by_probe.program_probe import PROBE_SECONDS
from trio_debugmcp.session.looking.by_probe.safe_evaluation import SafePlace, check_safe, evaluate_safely
from trio_debugmcp.session.looking.by_probe.withheld import failed_value
from trio_debugmcp.session.looking.evaluation_errors import (
    circumstances,
    interrupted_for_another,
    raise_failure,
    too_slow,
    unknown_outcome,
)
from trio_debugmcp.session.looking.from_outside.silence import Unanswered, no_task
from trio_debugmcp.session.looking.variables import FramePlace, VariablesQuestion
from trio_debugmcp.session.looking.ways import Ways
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.not_paused import out_of_reach
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, MAX_VALUE_LENGTH, Variable, shortened

FIRST_POLL_SECONDS = 0.01
"""Until an evaluation is asked for again whose outcome was not there at once; each time twice as long."""

MAX_POLL_SECONDS = 0.2

ASSIGN_SECONDS = 5.0
"""For a value and for its assignment, as for an evaluation: both may run code of the program."""

READ_SECONDS = 2.0
"""For reading a variable back. The change is made by then, so that a slow `__repr__` must not make it look failed."""


_MOST_NAMED = 3
"""Threads that are named in an error."""

_STOPPED = "the program has stopped in what was evaluated, before it had a value: debug_wait says where and why"


class Evaluated(Struct, frozen=True):
    """A value, and what the code printed as far as the program's own streams saw it."""

    evaluation: Evaluation
    printed: str = ""
    notes: tuple[str, ...] = ()
    """What is to be said of how it was evaluated."""


class UserEvaluation:
    """What users evaluate in the program of one session."""

    def __init__(self, ways: Ways, merger: Merger) -> None:
        self._ways = ways
        self._merger = merger

    def __repr__(self) -> str:
        return f"<UserEvaluation in {self._ways.requests.session_id}>"

    # --- At a stop -------------------------------------------------------------------------------------------

    async def in_frame(
        self,
        frame: StackFrame,
        expression: str,
        seconds: float,
        context: str | None = None,
        *,
        limit: int = MAX_VALUE_LENGTH,
        numbered: bool = False,
    ) -> Evaluated:
        """Evaluate in a frame of a stopped thread, by that thread. `context`: that of DAP, if it is not the usual one.

        `limit`: characters of the value. `numbered`: its children are to be asked for by its `reference`.

        Raises:
            UsageError: `EVAL_FAILED` with the program's own error, or `EVAL_TIMEOUT`.
        """
        requests, form = self._ways.requests, self._ways.requests.form
        found = await self._by_probe(
            frame, expression, lambda number: form.evaluation(number, limit, expression, numbered), seconds, context
        )
        if found is None:
            unmade = self._ways.unmade.notes(expression, frame)
            try:
                value = await evaluate(requests, frame, expression, seconds, context)
            except UsageError as error:
                if error.code != "EVAL_FAILED" or not unmade:
                    raise
                raise UsageError(error.code, f"{error.message}; {'; '.join(unmade)}", error.details) from None
            return Evaluated(value, notes=(*await origin_notes(requests, frame, expression), *unmade))
        body, outcome = found
        value = evaluation(body, ("None", "NoneType") if outcome.has_value else None)
        if outcome.value:
            whole = replace(value, value=outcome.value, is_fitted=True)
        else:
            whole = replace(value, length=outcome.length, unit=outcome.unit)
        return Evaluated(whole, outcome.printed, circumstances(outcome))

    async def safely(self, place: SafePlace, expression: str, seconds: float, limit: int) -> tuple[str, str | None]:
        """Return the value of an expression that changes nothing, and its type. Raises as `evaluate_safely`."""
        return await evaluate_safely(self._ways, place, expression, seconds, limit)

    def check_safe(self, expression: str) -> None:
        """Refuse an expression whose syntax shows that it may change something. Nothing is sent for that.

        Raises:
            UsageError: `SAFE_EVAL_REJECTED`, or `EVAL_FAILED` where it has no sense.
        """
        check_safe(self._ways.profile, expression)

    async def assign(self, place: FramePlace, path: str, value: str) -> Variable:
        """Set a variable to the value of an expression, and return what it is afterwards.

        Raises:
            UsageError: `INVALID_FRAME`, `EVAL_FAILED`, `EVAL_TIMEOUT`, or `NOT_SUPPORTED` with what the adapter lacks.
        """
        frame = await self._ways.frames.find(self._ways.snapshot, place.thread_id, place.index)
        requests, where = self._ways.requests, (place.thread_id, place.index)
        seconds = requests.patience.seconds(ASSIGN_SECONDS)
        done = await self._by_probe(
            frame,
            f"{path} = {value}",
            lambda number: requests.form.assignment(number, where, path, value),
            seconds,
        )
        if done is None:
            await assign_by_adapter(requests, frame, path, value, seconds)
        return await self._read_back(place, frame, path)

    async def _read_back(self, place: FramePlace, frame: StackFrame, path: str) -> Variable:
        question = VariablesQuestion(path=path, count=0).at(place)
        found = await self._ways.probe.attempt("variables", ProbeVariables, types=True, code=True, **question)
        if not isinstance(found, Unanswered):
            return Variable(path, found.value or "", found.type, path, found.size)
        if found.is_slow:
            return Variable(path, failed_value(found), None, path, None)
        try:
            seconds = self._ways.requests.patience.seconds(READ_SECONDS)
            seen = (await self.in_frame(frame, path, seconds)).evaluation
        except UsageError as error:
            text = f"<set, but not shown: {shortened(error.message, MAX_MESSAGE_LENGTH)}>"
            return Variable(path, text, None, path, None)
        return Variable(path, seen.shown, seen.type, path, seen.child_count)

    async def _by_probe(
        self,
        frame: StackFrame,
        expression: str,
        wanted: Callable[[int], Arguments],
        seconds: float,
        context: str | None = None,
    ) -> tuple[EvaluateBody, EvaluationOutcome] | None:
        """Evaluate what is wanted of a number in a frame; return the answers of adapter and probe, or None.

        `expression` is what the user knows of it.
        """
        requests, began = self._ways.requests, trio.current_time()
        interrupts, deadline = requests.evaluations.interrupts, began + seconds
        by_probe = self._ways.has_probe and self._ways.profile.repl.by_probe
        for _ in range(2 if by_probe else 0):  # the question after the first one installs the probe
            number = self._ways.probe.next_number()
            body = await self._sent(frame, number, wanted(number), expression, seconds, context)
            # It may wait for an earlier question, whose code of the program is slow: a `__repr__`.
            left = (deadline - trio.current_time()) / requests.patience.factor  # the client has given these
            within = max(PROBE_SECONDS, left)
            outcome = await self._ways.probe.attempt("outcome", EvaluationOutcome, within=within, number=number)
            if isinstance(outcome, Unanswered):
                if outcome.kind == "evaluation":  # nothing has been evaluated: the probe was not there
                    continue
                if outcome.is_slow:
                    raise await self._unanswered(expression, outcome)
                if isinstance(body, EvaluateBody):  # the code has run: a second time could do harm
                    raise unknown_outcome(expression, outcome)
                return None
            if outcome.error == "KeyboardInterrupt" and requests.evaluations.interrupts != interrupts:
                raise interrupted_for_another(expression, trio.current_time() - began)
            raise_failure(outcome, expression)
            if not isinstance(body, EvaluateBody):  # the value cannot be shown
                raise body
            return body, outcome
        return None

    async def _sent(
        self, frame: StackFrame, number: int, wanted: Arguments, expression: str, seconds: float, context: str | None
    ) -> EvaluateBody | UsageError:
        """Return the adapter's answer, or the error with which it refuses.

        Raises:
            UsageError: `EVAL_TIMEOUT`.
        """
        requests = self._ways.requests
        try:
            found = await send(requests, frame, wanted, expression, seconds, context)
        except UsageError as error:
            if error.code != "EVAL_FAILED":
                raise
            return error
        if not isinstance(found, Unended):
            return found
        # Taken back first, as it would begin when the one before it is interrupted.
        withdrawn = found.blocked_by is not None and await self._withdrawn(number)
        waits = None if found.blocked_by is not None else await self._awaited(number)
        raise await interrupted(requests, found, withdrawn=withdrawn, waits=waits)

    async def _awaited(self, number: int) -> str | None:
        """Return what an evaluation waits for that has not ended, as far as that is known."""
        answer = await self._ways.probe.quietly("awaited", AwaitedAnswer, number=number)
        if answer is None:
            return None
        waits = [waits_for(answer.waits)] if answer.waits is not None else []
        if answer.waits is None or answer.waits.holder is None:
            waits += map(at_breakpoint, answer.turned_away[:_MOST_NAMED])
        return ", and perhaps for ".join(waits) or None

    async def _withdrawn(self, number: int) -> bool:
        """Take back an evaluation that waits for its thread; returns whether it had not begun, and so will not run."""
        outcome = await self._ways.probe.quietly("outcome", EvaluationOutcome, number=number, withdraw=True)
        return outcome is not None and outcome.withdrawn

    # --- While the program runs ------------------------------------------------------------------------------

    async def in_main(
        self, expression: str, seconds: float, *, limit: int, place: FramePlace | None = None
    ) -> Evaluated:
        """Evaluate in the globals of the main module, while the program runs or is blocked; or in a frame of a task.

        Of a program without a probe, in what its adapter takes for that: the page. `limit`: characters of the value.
        `place`: of a task, also while the program is stopped.

        Raises:
            UsageError: `EVAL_FAILED` with the program's own error, `EVAL_TIMEOUT`, or `NOT_PAUSED` without a probe;
                `INVALID_PARAMETER` where there is no such task.
            AdapterGone: the program has ended.
        """
        if not self._ways.has_probe and place is None and self._ways.profile.dialect.running_context is not None:
            value = await evaluate_running(self._ways.requests, self._merger, expression, seconds)
            return Evaluated(Evaluation("", None, 0, 0), notes=(_STOPPED,)) if value is None else Evaluated(value)
        number, deadline = self._ways.probe.next_number(), trio.current_time() + seconds
        outcome = await self._ended(number, limit, expression, deadline, place)
        if isinstance(outcome, Unanswered):
            if outcome.kind == "task":
                raise no_task(outcome.text)
            if outcome.is_slow:
                raise await self._unanswered(expression, outcome)
            if outcome.kind == "gone":
                raise out_of_reach(self._ways.snapshot, outcome.reason)
            if outcome.kind == "invalid":
                raise unknown_outcome(expression, outcome)
            raise UsageError(
                "NOT_PAUSED",
                f"`{shortened(expression)}` cannot be evaluated while the program runs: {outcome.reason}. Use "
                "debug_pause first.",
                {"currentState": "Running"},
            )
        if not outcome.done:
            waits = await self._awaited(number)
            raise too_slow(await self._interrupted(number), expression, seconds, waits)
        raise_failure(outcome, expression)
        if not outcome.has_value:
            return Evaluated(Evaluation("", None, 0, 0), outcome.printed)
        value = Evaluation(outcome.value, outcome.type, outcome.child_count, 0, is_fitted=True)
        return Evaluated(value, outcome.printed)

    async def _ended(
        self, number: int, limit: int, expression: str, deadline: float, place: FramePlace | None
    ) -> EvaluationOutcome | Unanswered:
        """Return the outcome at the deadline, or before. No question is cancelled by it: it is given out once."""
        pause, probe = FIRST_POLL_SECONDS, self._ways.probe
        try:
            source = bootstrap.source_text(expression)
            where = {} if place is None else place.parameters()
            outcome = await probe.attempt(
                "start", EvaluationOutcome, number=number, limit=limit, source=source, **where
            )
            while not isinstance(outcome, Unanswered) and not outcome.done and trio.current_time() < deadline:
                await trio.sleep(min(pause, max(0.0, deadline - trio.current_time())))
                pause = min(2 * pause, MAX_POLL_SECONDS)
                outcome = await probe.attempt("outcome", EvaluationOutcome, number=number)
        except trio.Cancelled:
            with trio.move_on_after(probe.patience.seconds(INTERRUPT_SECONDS), shield=True):
                await self._interrupted(number)
            raise
        return outcome

    async def _interrupted(self, number: int) -> bool:
        """Interrupt an evaluation, again and again as it may catch that; returns whether it has ended."""
        with trio.move_on_after(self._ways.probe.patience.seconds(INTERRUPT_SECONDS)):
            while True:
                outcome = await self._ways.probe.quietly("interrupt", EvaluationOutcome, number=number)
                if outcome is None or outcome.done:
                    return outcome is not None
                await trio.sleep(INTERRUPT_AGAIN_SECONDS)
        return False

    async def _unanswered(self, expression: str, failure: Unanswered) -> UsageError:
        failure = await self._ways.probe.process.explained(failure)
        advice = "" if failure.silence is None else f" {failure.silence.advice}"
        sentence = f"It is not known what became of `{shortened(expression)}`: {failure.reason}.{advice}"
        return UsageError("EVAL_TIMEOUT", sentence)
