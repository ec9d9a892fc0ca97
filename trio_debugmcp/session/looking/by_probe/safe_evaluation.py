"""Expressions that change nothing: judged before anything is sent, and in a Python program while they are evaluated.

    value, kind = await session.looking.evaluation.safely(place, "len(orders) > 3", seconds=5, limit=200)

docs/evaluate_safe.md says what is guaranteed, where, and why.
"""

from functools import partial

from msgspec import Struct

from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import Body, ValueDescription
from trio_debugmcp.session.looking.by_adapter.adapter_commands import by_commands
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import evaluate
from trio_debugmcp.session.looking.by_probe.program_probe import PROBE_SECONDS
from trio_debugmcp.session.looking.from_outside.silence import About, Unanswered, rejected
from trio_debugmcp.session.looking.variables import FramePlace
from trio_debugmcp.session.looking.ways import Ways
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import shortened


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
        return await by_commands(ways.requests, place.frame, expression, commands, seconds)
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
