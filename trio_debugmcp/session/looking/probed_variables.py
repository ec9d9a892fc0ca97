"""Variables of a stopped program through the probe: of any frame of any thread, any slice, with true totals.

    found = await probed_variables(requests, probe, thread_id, 0, VariablesQuestion(path="basket.lines", start=100))
    found.variables, found.total

Where there is no probe the adapter has to be asked: `inspection.py`.
"""

import logging
from collections.abc import Awaitable, Callable

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import Body, ProbeError, ProbeReply, ProbeVariable
from trio_debugmcp.session.looking.program_probe import PROBE_SECONDS, ProgramProbe, VariablesQuestion
from trio_debugmcp.session.looking.variables import failed_value, probe_variable, unknown_value
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.stops.exception_filter import MAX_MESSAGE_LENGTH
from trio_debugmcp.state.payloads import Variable, shortened

log = logging.getLogger(__name__)

VARIABLES_SECONDS = 5.0
"""For variables without code of the program. They take milliseconds, but such code of an earlier question may run."""

MAX_APART = 20
"""Values that are asked for one by one, where the answer with all of them was of no use."""

APART_SECONDS = 2.0
"""Until the values that are not known by then are given up: a client waits for the answer."""


class VariablesPage(Struct, frozen=True):
    """Some of the variables that there are."""

    variables: list[Variable]
    total: int
    leaf: Variable | None = None
    """What the path leads to, where nothing is inside of it."""


async def without_code_first(
    ask: Callable[[VariablesQuestion, float], Awaitable[ProbeReply[Body]]],
    question: VariablesQuestion,
    lacks: Callable[[Body], bool],
    *,
    again: bool = True,
) -> tuple[Body, ProbeError | None]:
    """Ask without running code of the program, so that there is an answer in any case; then, if it `lacks` some, with.

    Without `again` it is only asked once, with code: what calls something is not evaluated twice. Returns the best
    answer, and why the second question had none.

    Raises:
        ProbeError: the first question had no answer.
    """
    # Longer than it takes: it may wait for an earlier question, whose code of the program is slow.
    first = (await ask(replace(question, code=not again), VARIABLES_SECONDS)).answer
    if not again or not lacks(first):
        return first, None
    try:
        return (await ask(question, PROBE_SECONDS)).answer, None
    except ProbeError as error:
        return first, error


async def probed_variables(
    requests: Requests, probe: ProgramProbe, thread_id: int, frame: int, question: VariablesQuestion
) -> VariablesPage | None:
    """Return variables from the probe; None where the adapter has to be asked: there is no probe.

    First no code of the program is run, so that there is an answer in any case; a second question follows where a value
    lacks what only such code tells. That the path itself needs code of the program is only bounded in time.

    Raises:
        UsageError: `INVALID_THREAD`, `INVALID_FRAME`, `EVAL_FAILED` for the path or a filter, or `TIMEOUT`.
    """
    if not requests.profile.has_probe:
        return None
    try:
        found, failure = await without_code_first(
            lambda question, seconds: probe.variables(thread_id, frame, question, seconds=seconds),
            question,
            lambda found: has_withheld(found.variables) or (found.withheld and not found.size),
        )
    except ProbeError as error:
        if error.kind == "frame":
            raise await no_frame(probe, thread_id, frame) from None  # noqa: ASYNC120 (the error is replaced)
        refuse(error, thread_id, question.path)
        return None
    if failure is not None:
        log.info("variables: %s", failure)
        if question.filter and any(each.name_withheld for each in found.variables):  # they may not be those wanted
            refuse(failure, thread_id, question.path)
            text = f"The keys cannot be searched: {failure} Use start and count instead."
            raise UsageError("EVAL_FAILED", text, {"path": question.path})
        found = replace(found, variables=await values_apart(probe, thread_id, frame, found.variables, failure))
    is_path = requests.profile.expressions.is_path
    unknown = unknown_value(found.variables, failure)
    shown = [probe_variable(each, is_path, unknown) for each in found.variables]
    if question.path is None or found.value is None or found.size:
        return VariablesPage(shown, found.total)
    leaf = ProbeVariable(question.path, found.value, found.type, withheld=found.withheld)
    return VariablesPage(shown, found.total, probe_variable(leaf, is_path, unknown))


async def values_apart(
    probe: ProgramProbe, thread_id: int, frame: int, variables: tuple[ProbeVariable, ...], error: ProbeError
) -> tuple[ProbeVariable, ...]:
    """Return variables with the values that were withheld, each asked for by itself: what spoils one, spoils no other.

    `error` is how the question for all of them failed; if that is slow, none is asked for. Bounded in number and time;
    those beyond stay withheld.
    """
    shown = list(variables)
    wanted = [index for index, each in enumerate(shown) if each.withheld and each.path != ""]
    if error.kind == "slow":
        return variables
    with trio.move_on_after(probe.patience.seconds(APART_SECONDS)):
        for index in wanted[:MAX_APART]:
            each = shown[index]
            question = VariablesQuestion(path=each.path or each.name, count=0)
            try:
                value = (await probe.variables(thread_id, frame, question)).answer.value
            except ProbeError as failure:
                if failure.kind == "slow":
                    shown[index] = replace(each, value=unknown_value([each]), withheld=False)
                    break
                value = failed_value(failure)
            if value is not None:
                shown[index] = replace(each, value=value, withheld=False)
    return tuple(shown)


def has_withheld(variables: tuple[ProbeVariable, ...]) -> bool:
    """Return whether one of them lacks what only code of the program knows."""
    return any(each.withheld or each.name_withheld or has_withheld(each.children) for each in variables)


async def no_frame(probe: ProgramProbe, thread_id: int, frame: int) -> UsageError:
    """Return the error for a frame that is not there, with those that are."""
    try:
        total = (await probe.frames(thread_id, 0, 1)).answer.total
    except ProbeError:
        total = 0
    there = f"frames go from 0 to {total - 1}" if total else "it runs no Python code"
    return UsageError("INVALID_FRAME", f"There is no frame {frame} in thread {thread_id}: {there}.", {"total": total})


def refuse(error: ProbeError, thread_id: int, path: str | None) -> None:
    """Raise the error that a client gets; there is none where the probe just is not there."""
    subject = f"`{shortened(path)}`" if path is not None else "the variables"
    match error.kind:
        case "thread":
            raise UsageError("INVALID_THREAD", f"{error} Ask threads_list for those there are.")
        case "raised":
            raise UsageError(
                "EVAL_FAILED", f"{subject} failed: {shortened(str(error), MAX_MESSAGE_LENGTH)}", {"path": path}
            )
        case "slow":
            raise UsageError(
                "TIMEOUT",
                f"{subject}: {error}. Ask again when it does, or look at other threads with stacktrace_get.",
                {"threadId": thread_id},
            )
    log.info("variables: %s", error)
