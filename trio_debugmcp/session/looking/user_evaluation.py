"""What users evaluate in a Python program, through the probe: in a frame of a stop, or while the program runs.

    found = await evaluate_in_frame(requests, probe, frame, "total += 1; total", seconds=5)
    found = await evaluate_in_main(probe, "len(queue)", seconds=5)      # in the globals of the main module

Code that wants to end the program is refused, and the program's standard input stays open. While the program runs a
thread of the debugger's own evaluates, so that code that never ends holds up neither the program nor the debugger.
"""

from collections.abc import Callable
from functools import partial

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.probe import bootstrap
from trio_debugmcp.probe.answers import EvaluationOutcome, ProbeError
from trio_debugmcp.session.looking import paused_program
from trio_debugmcp.session.looking.paused_program import Evaluation
from trio_debugmcp.session.looking.program_probe import PROBE_SECONDS, ProgramProbe
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.exception_filter import MAX_MESSAGE_LENGTH
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import shortened

FIRST_POLL_SECONDS = 0.01
"""Until an evaluation is asked for again whose outcome was not there at once; each time twice as long."""

MAX_POLL_SECONDS = 0.2

_NONE = ("None", "NoneType")


class Evaluated(Struct, frozen=True):
    """A value, and what the code printed as far as the program's own streams saw it."""

    evaluation: Evaluation
    printed: str = ""


# --- At a stop --------------------------------------------------------------------------------------------------------


async def evaluate_in_frame(
    requests: Requests,
    probe: ProgramProbe,
    frame: StackFrame,
    expression: str,
    seconds: float,
    context: str | None = None,
) -> Evaluated:
    """Evaluate in a frame of a stopped thread, by that thread. `context`: that of DAP, where it is not the usual one.

    Raises:
        UsageError: `EVAL_FAILED` with the program's own error, or `EVAL_TIMEOUT`.
    """
    found = await _by_probe(
        requests,
        probe,
        frame,
        expression,
        lambda number: bootstrap.evaluate_expression(number, expression),
        seconds,
        context,
    )
    if found is not None:
        body, outcome = found
        evaluation = paused_program.evaluation(body, _NONE if outcome.has_value else None)
        if outcome.value:  # pydevd shows the address of such an object
            evaluation = replace(evaluation, value=outcome.value)
        return Evaluated(replace(evaluation, length=outcome.length, unit=outcome.unit), outcome.printed)
    return Evaluated(await paused_program.evaluate(requests, frame, expression, seconds, context))


async def assign_in_frame(
    requests: Requests,
    probe: ProgramProbe,
    frame: StackFrame,
    place: tuple[int, int],
    target: str,
    value: str,
    seconds: float,
) -> bool:
    """Set a variable in a frame of a stopped thread; `place` is that thread and the frame's index.

    Returns whether it is done: not by an adapter without a probe.

    Raises:
        UsageError: `EVAL_FAILED` with the program's own error, or `EVAL_TIMEOUT`.
    """
    return (
        await _by_probe(
            requests,
            probe,
            frame,
            f"{target} = {value}",
            lambda number: bootstrap.assign_expression(number, *place, target, value),
            seconds,
        )
        is not None
    )


async def _by_probe(
    requests: Requests,
    probe: ProgramProbe,
    frame: StackFrame,
    expression: str,
    text_of: Callable[[int], str],
    seconds: float,
    context: str | None = None,
) -> tuple[EvaluateBody, EvaluationOutcome] | None:
    """Evaluate the text of that number in a frame, and return the adapter's answer and the probe's; None without one.

    `expression` is what the user knows of it.
    """
    began, interrupts = trio.current_time(), requests.interrupts
    deadline = began + seconds
    by_probe = requests.profile.has_probe and requests.profile.repl.by_probe
    for _ in range(2 if by_probe else 0):  # the question after the first one installs the probe
        number = probe.next_number()
        body: EvaluateBody | None = None
        refusal: UsageError | None = None
        try:
            body = await paused_program.evaluate_text(
                requests, frame, text_of(number), expression, seconds, partial(_withdrawn, probe, number), context
            )
        except UsageError as error:
            if error.code != "EVAL_FAILED":
                raise
            refusal = error
        try:
            # It may wait for an earlier question, whose code of the program is slow: a `__repr__`.
            left = (deadline - trio.current_time()) / probe.patience.factor  # the client has given these
            outcome = await probe.outcome(number, within=max(PROBE_SECONDS, left))
        except ProbeError as error:
            if error.kind == "evaluation":
                continue
            if error.kind == "slow":
                raise _unanswered(expression) from None
            if refusal is None:  # the code has run: a second time could do harm
                raise _unknown_outcome(expression, error) from None
            break
        if outcome.error == "KeyboardInterrupt" and requests.interrupts != interrupts:
            raise _interrupted_for_another(expression, trio.current_time() - began)
        _raise_failure(outcome, expression)
        if body is None:  # the value cannot be shown
            raise refusal or _unanswered(expression)
        return body, outcome
    return None


async def _withdrawn(probe: ProgramProbe, number: int) -> bool:
    """Take back an evaluation that waits for its thread; returns whether it had not begun, and so will not run."""
    try:
        return (await probe.outcome(number, withdraw=True)).withdrawn
    except (ProbeError, DebugError):
        return False


# --- While the program runs -------------------------------------------------------------------------------------------


async def evaluate_in_main(probe: ProgramProbe, expression: str, seconds: float) -> Evaluated:
    """Evaluate in the globals of the main module, while the program runs or is blocked.

    Raises:
        UsageError: `EVAL_FAILED` with the program's own error, `EVAL_TIMEOUT`, or `NOT_PAUSED` without a probe.
        AdapterGone: the program has ended.
    """
    number, deadline = probe.next_number(), trio.current_time() + seconds
    try:
        outcome = await _ended(probe, number, expression, deadline)
    except ProbeError as error:
        if error.kind == "slow":
            raise _unanswered(expression) from None
        if error.kind == "invalid":
            raise _unknown_outcome(expression, error) from None
        raise UsageError(
            "NOT_PAUSED",
            f"`{shortened(expression)}` cannot be evaluated while the program runs: {str(error).rstrip('.')}. Use "
            "debug_pause first.",
            {"currentState": "Running"},
        ) from None
    if not outcome.done:
        raise _too_slow(await _interrupted(probe, number), expression, seconds)
    _raise_failure(outcome, expression)
    if not outcome.has_value:
        return Evaluated(Evaluation("", None, 0, 0), outcome.printed)
    found = Evaluation(outcome.value, outcome.type, outcome.child_count, 0, length=outcome.length, unit=outcome.unit)
    return Evaluated(found, outcome.printed)


async def _ended(probe: ProgramProbe, number: int, expression: str, deadline: float) -> EvaluationOutcome:
    """Return the outcome at the deadline, or before. No question is cancelled by it: it is given out once."""
    pause = FIRST_POLL_SECONDS
    try:
        outcome = await probe.start(number, expression)
        while not outcome.done and trio.current_time() < deadline:
            await trio.sleep(min(pause, max(0.0, deadline - trio.current_time())))
            pause = min(2 * pause, MAX_POLL_SECONDS)
            outcome = await probe.outcome(number)
    except trio.Cancelled:
        with trio.move_on_after(probe.patience.seconds(paused_program.INTERRUPT_SECONDS), shield=True):
            await _interrupted(probe, number)
        raise
    return outcome


async def _interrupted(probe: ProgramProbe, number: int) -> bool:
    """Interrupt an evaluation, again and again as it may catch that; returns whether it has ended."""
    with trio.move_on_after(probe.patience.seconds(paused_program.INTERRUPT_SECONDS)):
        try:
            while not (await probe.outcome(number, interrupt=True)).done:  # noqa: ASYNC110
                await trio.sleep(paused_program.INTERRUPT_AGAIN_SECONDS)
        except (ProbeError, DebugError):
            return False
        return True
    return False


# --- Failures ---------------------------------------------------------------------------------------------------------


def _raise_failure(outcome: EvaluationOutcome, expression: str) -> None:
    details = {"printed": outcome.printed} if outcome.printed else {}
    if outcome.exit is not None:
        raise UsageError(
            "EVAL_FAILED",
            f"`{shortened(expression)}` raised SystemExit ({outcome.exit}), by which a program ends. This one was not "
            "ended: it is where it was, with its standard input open. Use debug_disconnect to end it.",
            details,
        )
    if outcome.error is not None:
        if outcome.trace:
            details["trace"] = shortened(outcome.trace, paused_program.MAX_TRACE_LENGTH)
        error = shortened(outcome.error, MAX_MESSAGE_LENGTH)
        raise UsageError("EVAL_FAILED", f"`{shortened(expression)}` failed: {error}", details)


def _interrupted_for_another(expression: str, seconds: float) -> UsageError:
    return UsageError(
        "EVAL_TIMEOUT",
        f"`{shortened(expression)}` had not finished after {seconds:.1f} s, and was interrupted: another evaluation "
        "waited for it until its own time limit. The program is where it was.",
    )


def _too_slow(interrupted: bool, expression: str, seconds: float) -> UsageError:
    fate = (
        "It was interrupted, and the program runs as before: raise `timeout` to give it longer."
        if interrupted
        else "It waits in C code and ends when that does. It has a thread of its own, so that the program runs as "
        "before, and evaluate works."
    )
    sentence = f"`{shortened(expression)}` did not finish within {seconds:.3g} s. {fate}"
    return UsageError("EVAL_TIMEOUT", sentence)


def _unknown_outcome(expression: str, error: ProbeError) -> UsageError:
    return UsageError(
        "EVAL_FAILED",
        f"`{shortened(expression)}` was evaluated, but its outcome is unknown: {str(error).rstrip('.')}. What it "
        "changes is changed: do not repeat it without a look.",
    )


def _unanswered(expression: str) -> UsageError:
    return UsageError(
        "EVAL_TIMEOUT",
        f"The program does not say what became of `{shortened(expression)}`: it does not let Python run, as C code "
        "keeps the GIL. Once that has ended evaluate works again; debug_restart ends it now.",
    )
