"""Errors of what users evaluate, and what is to be said of how it was evaluated. Pure."""

from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import EvaluationOutcome
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import MAX_TRACE_LENGTH
from trio_debugmcp.session.looking.from_outside.silence import Unanswered
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened


def raise_failure(outcome: EvaluationOutcome, expression: str) -> None:
    """Raise `EVAL_FAILED` if the code has raised something, or wanted to end the program."""
    details: dict[str, object] = {"printed": outcome.printed} if outcome.printed else {}
    notes = circumstances(outcome)
    if notes:
        details["notes"] = list(notes)
    if outcome.exit is not None:
        raise UsageError(
            "EVAL_FAILED",
            f"`{shortened(expression)}` raised SystemExit ({outcome.exit}), by which a program ends. This one was not "
            "ended: it is where it was, with its standard input open. Use debug_disconnect to end it.",
            details,
        )
    if outcome.error is not None:
        if outcome.trace:
            details["trace"] = shortened(outcome.trace, MAX_TRACE_LENGTH)
        error = shortened(outcome.error, MAX_MESSAGE_LENGTH)
        raise UsageError("EVAL_FAILED", f"`{shortened(expression)}` failed: {error}", details)


def circumstances(outcome: EvaluationOutcome) -> tuple[str, ...]:
    """Return what a client would not expect of how something was evaluated at a stop."""
    if outcome.elsewhere:
        return ("evaluated by a thread of the debugger's: the stopped one still waits for an earlier evaluation",)
    notes = []
    if outcome.others_ran:
        notes.append("other threads ran until it had ended: it took so long that it could have waited for one of them")
    if outcome.raised_later:
        notes.append(
            "a signal handler of the program raised it: it is raised in the program as well when that continues"
        )
    if outcome.others_passed:
        notes.append("another thread passed a breakpoint meanwhile: breakpoints do not stop for what is evaluated")
    return tuple(notes)


def interrupted_for_another(expression: str, seconds: float) -> UsageError:
    """Return the error for code that was interrupted because a later evaluation waited for it."""
    return UsageError(
        "EVAL_TIMEOUT",
        f"`{shortened(expression)}` had not finished after {seconds:.1f} s, and was interrupted: another evaluation "
        "waited for it until its own time limit. The program is where it was.",
    )


def too_slow(interrupted: bool, expression: str, seconds: float, waits: str | None) -> UsageError:
    """Return the error for code that had not ended in time while the program runs; `waits`: what for, if known."""
    fate = (
        "It was interrupted, and the program runs as before: raise `timeout` to give it longer."
        if interrupted
        else "It waits in C code and ends when that does. It has a thread of its own, so that the program runs as "
        "before, and evaluate works."
    )
    waiting = "" if waits is None else f": it waits for {waits}"
    sentence = f"`{shortened(expression)}` did not finish within {seconds:.3g} s{waiting}. {fate}"
    return UsageError("EVAL_TIMEOUT", sentence)


def unknown_outcome(expression: str, failure: Unanswered) -> UsageError:
    """Return the error for code that has run, without an answer."""
    sentence = f"`{shortened(expression)}` was evaluated, but its outcome is unknown: {failure.reason}."
    return UsageError("EVAL_FAILED", f"{sentence} What it changes is changed: do not repeat it without a look.")
