"""Expressions that change nothing: judged before anything is sent, and in a Python program while they are evaluated.

    value, kind = await session.looking.evaluation.safely(place, "len(orders) > 3", seconds=5, limit=200)

docs/evaluate_safe.md says what is guaranteed, where, and why.
"""

import logging
from collections.abc import Sequence
from functools import partial

import trio
from msgspec import Struct

from trio_debugmcp.dap.messages import EvaluateBody, ScopesBody
from trio_debugmcp.dap.profiles.native.safe_commands import SafeRepl
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.probe.answers import Body, ValueDescription
from trio_debugmcp.session.looking.adapter_evaluation import evaluate, evaluate_text
from trio_debugmcp.session.looking.program_probe import PROBE_SECONDS
from trio_debugmcp.session.looking.silence import Unanswered
from trio_debugmcp.session.looking.variables import FramePlace
from trio_debugmcp.session.looking.ways import About, Ways, rejected
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened

log = logging.getLogger(__name__)

COMMAND_CONTEXT = "repl"
"""The context of DAP in which debuggers take commands."""


class SafePlace(Struct, frozen=True):
    """Where to evaluate: in a frame of a stopped thread, or of a task; or without one in the main module."""

    thread_id: int | None = None
    index: int = 0
    frame: StackFrame | None = None
    task: str | None = None
    is_own: bool = False


async def evaluate_safely(
    ways: Ways, place: SafePlace, expression: str, seconds: float, limit: int
) -> tuple[str, str | None]:
    """Return the value of an expression, and its type.

    Raises:
        UsageError: `SAFE_EVAL_REJECTED` with the part and the rule, `EVAL_FAILED`, `EVAL_TIMEOUT` or `NOT_SUPPORTED`.
    """
    check_safe(ways.profile, expression)
    if ways.has_probe:
        found = await ask_safely(ways, place, "safe", ValueDescription, expression, limit=limit)
        return found.value, found.type
    if place.frame is None:
        raise UsageError(
            "NOT_PAUSED",
            "The program is not paused, so there is no frame to evaluate in. Use debug_pause first.",
            {"currentState": "Running"},
        )
    commands = ways.profile.repl.safe_commands(expression)
    if commands:
        return await by_commands(ways, place.frame, expression, commands, seconds)
    value = await evaluate(ways.requests, place.frame, expression, seconds)
    return value.value, value.type


def check_safe(profile: Profile, expression: str) -> None:
    """Refuse an expression whose syntax shows that it may change something. Nothing is sent for that.

    Raises:
        UsageError: `SAFE_EVAL_REJECTED`, or `EVAL_FAILED` where it has no sense.
    """
    try:
        found = profile.repl.safe_rejection(expression)
    except SyntaxError as error:
        sentence = f"`{shortened(expression)}` failed: SyntaxError: {error.msg}"
        raise UsageError("EVAL_FAILED", sentence) from None
    if found is not None:
        raise rejected(f"`{shortened(found.part)}`: {found.rule}")


async def ask_safely(
    ways: Ways,
    place: SafePlace,
    question: str,
    kind: type[Body],
    expression: str,
    *,
    within: float = PROBE_SECONDS,
    **parameters: object,
) -> Body:
    """Ask the probe about the value of an expression, which it evaluates without running code of the program.

    Raises:
        UsageError: there is no such value, or none that can be had in this way.
    """
    words = f"`{shortened(expression)}`"
    ask = partial(
        ways.probe.ask,
        question,
        kind,
        within=within,
        thread=place.thread_id,
        task=place.task,
        frame=None if place.is_own else place.index,
        expression=expression.strip(),
        code=False,
        **parameters,
    )
    where = FramePlace(place.thread_id or 0, place.index, place.task)
    found = await ways.probed(ask, About(words, where, timeout="EVAL_TIMEOUT"))
    if isinstance(found, Unanswered):
        raise UsageError(
            "NOT_SUPPORTED",
            f"{words} cannot be evaluated safely: {found.reason}. Use evaluate.",
            {"adapter": ways.profile.name},
        )
    return found


async def command_answer(ways: Ways, frame: StackFrame, command: str, expression: str, seconds: float) -> EvaluateBody:
    """Return what the adapter answers to a command in a frame. Raises as `evaluate_text`."""
    repl, ask = ways.profile.repl, partial(evaluate_text, ways.requests, frame, command, expression, seconds)
    if not isinstance(repl, SafeRepl) or not repl.in_selected:
        return await ask(context=COMMAND_CONTEXT)
    written, body, failure = trio.Event(), EvaluateBody(), None

    async def select() -> None:
        try:
            await ways.requests.request("scopes", {"frameId": frame.id}, ScopesBody, sent=written.set)
        except DebugError as error:  # the command has the same reason, and says it
            log.info("selecting a frame: %s", error)
        written.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(select)
        await written.wait()  # no longer: what is asked meanwhile may select another frame
        try:
            body = await ask(context=COMMAND_CONTEXT)
        except DebugError as error:
            failure = error
    if failure is not None:
        raise failure
    return body


async def by_commands(
    ways: Ways, frame: StackFrame, expression: str, commands: Sequence[str], seconds: float
) -> tuple[str, str | None]:
    """Return value and type in the answer of the first command that works.

    Raises:
        UsageError: `SAFE_EVAL_REJECTED`, `EVAL_FAILED` or `EVAL_TIMEOUT`: none works; with the reason of the last.
    """
    repl = ways.profile.repl
    reason = ""
    for command in commands:
        try:
            body = await command_answer(ways, frame, command, expression, seconds)
            return repl.safe_answer(body.result)
        except ValueError as error:
            reason = str(error)
        except UsageError as error:
            if error.code != "EVAL_FAILED":
                raise
            reason = str(error)
        if repl.needs_call(reason):
            raise rejected(f"`{shortened(expression)}` would call a function of the program")
    first = shortened(reason.partition("\n")[0], MAX_MESSAGE_LENGTH)
    raise UsageError("EVAL_FAILED", first if " failed: " in first else f"`{shortened(expression)}` failed: {first}")
