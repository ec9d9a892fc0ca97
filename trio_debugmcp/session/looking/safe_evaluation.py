"""Expressions that change nothing: judged before anything is sent, and in a Python program while they are evaluated.

    value, kind = await evaluate_safely(session, place, "len(orders) > 3")

docs/evaluate_safe.md says what is guaranteed, where, and why.
"""

from collections.abc import Sequence

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import ProbeError, ValueDescription
from trio_debugmcp.session.looking import paused_program
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.stops.exception_filter import MAX_MESSAGE_LENGTH
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import shortened

COMMAND_CONTEXT = "repl"
"""The context of DAP in which debuggers take commands."""


class SafePlace(Struct, frozen=True):
    """Where to evaluate: in a frame of a stopped thread, or without one in the main module."""

    thread_id: int | None = None
    index: int = 0
    frame: StackFrame | None = None


async def evaluate_safely(
    session: DebugSession, place: SafePlace, expression: str, seconds: float, limit: int
) -> tuple[str, str | None]:
    """Return the value of an expression, and its type.

    Raises:
        UsageError: `SAFE_EVAL_REJECTED` with the part and the rule, `EVAL_FAILED`, `EVAL_TIMEOUT` or `NOT_SUPPORTED`.
    """
    check_safe(session, expression)
    if session.profile.has_probe:
        return await _in_program(session, place, expression, limit)
    if place.frame is None:
        raise UsageError(
            "NOT_PAUSED",
            "The program is not paused, so there is no frame to evaluate in. Use debug_pause first.",
            {"currentState": "Running"},
        )
    commands = session.profile.repl.safe_commands(expression)
    if commands:
        return await _by_commands(session, place.frame, expression, commands, seconds)
    found = await paused_program.evaluate(session.requests, place.frame, expression, seconds)
    return found.value, found.type


def check_safe(session: DebugSession, expression: str) -> None:
    """Refuse an expression whose syntax shows that it may change something. Nothing is sent for that.

    Raises:
        UsageError: `SAFE_EVAL_REJECTED`, or `EVAL_FAILED` where it has no sense.
    """
    try:
        found = session.profile.repl.safe_rejection(expression)
    except SyntaxError as error:
        sentence = f"`{shortened(expression)}` failed: SyntaxError: {error.msg}"
        raise UsageError("EVAL_FAILED", sentence) from None
    if found is not None:
        raise _rejected(f"`{shortened(found.part)}`: {found.rule}")


def _rejected(why: str) -> UsageError:
    return UsageError(
        "SAFE_EVAL_REJECTED",
        f"Not evaluated safely: {why}. Ask for something simpler, for a stored field for example, or use evaluate, "
        "which runs anything.",
    )


async def _by_commands(
    session: DebugSession, frame: StackFrame, expression: str, commands: Sequence[str], seconds: float
) -> tuple[str, str | None]:
    """Return what the first command answers that works, or else raise the error of the last."""
    repl = session.profile.repl
    reason = ""
    for command in commands:
        try:
            body = await paused_program.evaluate_text(
                session.requests, frame, command, expression, seconds, context=COMMAND_CONTEXT
            )
            return repl.safe_answer(body.result)
        except ValueError as error:
            reason = str(error)
        except UsageError as error:
            if error.code != "EVAL_FAILED":
                raise
            reason = str(error)
        if repl.needs_call(reason):
            raise _rejected(f"`{shortened(expression)}` would call a function of the program")
    first = shortened(reason.partition("\n")[0], MAX_MESSAGE_LENGTH)
    raise UsageError("EVAL_FAILED", first if " failed: " in first else f"`{shortened(expression)}` failed: {first}")


async def _in_program(session: DebugSession, place: SafePlace, expression: str, limit: int) -> tuple[str, str | None]:
    try:
        reply = await session.probe.ask(
            "safe",
            ValueDescription,
            thread=place.thread_id,
            frame=place.index,
            expression=expression.strip(),
            limit=limit,
            code=False,
        )
    except ProbeError as error:
        raise refused(error, session, expression) from None
    return reply.answer.value, reply.answer.type


def refused(error: ProbeError, session: DebugSession, expression: str) -> UsageError:
    """Return the error for an expression that the probe found no value for without running code of the program."""
    shown = f"`{shortened(expression)}`"
    if error.kind == "rejected":
        return _rejected(str(error))
    if error.kind == "ambiguous":
        return UsageError("INVALID_PARAMETER", f"{error}: pass the one that you mean.", {"parameter": "expression"})
    if error.kind == "raised":
        return UsageError("EVAL_FAILED", f"{shown} failed: {shortened(str(error), MAX_MESSAGE_LENGTH)}")
    if error.kind == "slow":
        return UsageError("EVAL_TIMEOUT", f"{shown} took too long, and was given up. Ask for less.")
    return UsageError(
        "NOT_SUPPORTED",
        f"{shown} cannot be evaluated safely: {str(error).rstrip('.')}. Use evaluate.",
        {"adapter": session.profile.name},
    )
