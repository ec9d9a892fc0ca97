"""Looking into a paused program: variables and evaluation. Every answer is bounded in size and in time."""

import logging
from collections.abc import Awaitable, Callable

import msgspec
import trio
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable, EvaluateBody, ScopesBody
from trio_debugmcp.errors import AdapterRefused, DebugError, UsageError
from trio_debugmcp.session.looking.composites import MAX_COMPOSED, children, composed, in_short, scope_children
from trio_debugmcp.session.looking.indexing import check_indexed
from trio_debugmcp.session.looking.scopes import ScopeName, chosen_scopes
from trio_debugmcp.session.looking.variables import child_count, variable_payload
from trio_debugmcp.session.requests import Requests, UnfinishedEvaluation
from trio_debugmcp.session.stops.exception_filter import MAX_MESSAGE_LENGTH
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import Variable, shortened

log = logging.getLogger(__name__)

MAX_NODES = 1000
"""Variables fetched by one call, including children: every parent costs the adapter a request."""

MAX_TRACE_LENGTH = 4000
"""Characters of the traceback of an evaluation that failed."""

LENGTHS_SECONDS = 2.0
"""For the lengths of collections, which takes no time unless the thread is busy."""

INTERRUPT_SECONDS = 1.0
"""For an evaluation to end that is interrupted because it took too long: one that waits in C code does not."""

INTERRUPT_AGAIN_SECONDS = 0.05
"""Between two interrupts of the same evaluation."""


class Evaluation(msgspec.Struct, frozen=True):
    """The whole value of an expression; `reference` leads to its children while the stop lasts.

    `memory`: where it is, or what it points to, as the adapter names places in memory. `length`: of the whole, where it
    is known, in `unit`s: items, characters or bytes; the adapter may have cut the value. `named` and `indexed`: how
    many children of each kind there are, where the adapter says that; a client may ask for a page of them.
    """

    value: str
    type: str | None
    child_count: int | None
    reference: int
    memory: str | None = None
    length: int | None = None
    unit: str = ""
    named: int | None = None
    indexed: int | None = None


# --- Variables -----------------------------------------------------------------------------------------------


async def scope_variables(requests: Requests, frame: StackFrame, scope: ScopeName) -> list[DapVariable]:
    """Return the variables of a frame's scopes, without the groups that the adapter invents.

    Raises:
        UsageError: `NOT_SUPPORTED`: the adapter has no such scope.
    """
    scopes = (await requests.request("scopes", {"frameId": frame.id}, ScopesBody)).scopes or []
    chosen = chosen_scopes(requests.profile.dialect, scopes, scope)
    if not chosen and scope not in ("all", "locals"):  # a frame without locals may have no scope for them
        names = ", ".join(each.name for each in scopes) or "none"
        raise UsageError(
            "NOT_SUPPORTED",
            f"{requests.profile.name} has no scope '{scope}' here; it has: {names}.",
            {"scopes": names},
        )
    found: list[DapVariable] = []
    for each in chosen:
        found += await scope_children(requests, each.variables_reference)
    return requests.profile.values.locals_of(found)


async def expand(
    requests: Requests,
    found: list[DapVariable],
    *,
    depth: int,
    limit: int,
    parent: str | None = None,
    kind: str | None = None,
) -> list[Variable]:
    """Return variables with their children down to `depth` levels, at most `MAX_NODES` in all.

    They are inside of `parent`, whose type is `kind`.
    """
    room, to_compose = MAX_NODES, MAX_COMPOSED

    async def grow(variable: DapVariable, levels: int, above: str | None, kind: str | None) -> Variable:
        nonlocal room, to_compose
        room -= 1
        if (levels <= 1 or room <= 0) and to_compose > 0:
            value = variable.value
            variable = await composed(requests, variable)
            to_compose -= variable.value != value
        shown = variable_payload(variable, requests.profile, limit=limit, parent=above, parent_type=kind)
        if levels <= 1 or not variable.variables_reference or room <= 0:
            return shown
        try:
            below = await children(requests, variable.variables_reference, variable.type)
        except AdapterRefused as refusal:  # a pointer that leads nowhere
            log.info("%s", refusal)
            return shown
        shown = replace(shown, value=in_short(requests, variable, shown.value))
        grown = [await grow(each, levels - 1, shown.path, variable.type) for each in below[: max(0, room)]]
        return replace(shown, children=grown, child_count=len([each for each in below if each.name != "len()"]))

    return [await grow(each, depth, parent, kind) for each in found]


async def with_lengths(requests: Requests, frame: StackFrame, shown: list[Variable]) -> list[Variable]:
    """Return variables with the number of their children, where the adapter did not count them and it is known how."""
    unknown = [(each.path, each.type or "") for each in shown if each.child_count is None and each.path is not None]
    question = requests.profile.repl.lengths(unknown)
    if question is None:
        return shown
    try:
        answer = (await evaluate(requests, frame, question, requests.patience.seconds(LENGTHS_SECONDS))).value
        lengths = {path: int(each) for (path, _), each in zip(unknown, answer.strip("'").split(), strict=True)}
    except (UsageError, ValueError):
        return shown
    return [
        replace(each, child_count=lengths[each.path])
        if each.path is not None and lengths.get(each.path, -1) >= 0
        else each
        for each in shown
    ]


# --- Evaluation ----------------------------------------------------------------------------------------------


async def evaluate(
    requests: Requests, frame: StackFrame, expression: str, seconds: float, context: str | None = None
) -> Evaluation:
    """Evaluate an expression in a frame, for so many `seconds`: no patience is added, as a client may have given them.

    `context`: that of DAP, where it is not the one for expressions.

    Raises:
        UsageError: `EVAL_FAILED` with the program's own error, or `EVAL_TIMEOUT`.
    """
    profile, deadline = requests.profile, trio.current_time() + seconds
    before, last = profile.repl.parts(expression)
    if before:
        await evaluate_text(requests, frame, before, expression, seconds)
    await check_indexed(
        requests.profile.values,
        last,
        frame.location.file,
        lambda part: evaluate_text(requests, frame, part, expression, seconds),
    )
    left = max(0.0, deadline - trio.current_time())
    body = await evaluate_text(requests, frame, last, expression, left, context=context)
    shown = profile.values.shown(body.result, body.type)
    whole = DapVariable(last, shown, type=body.type, variables_reference=body.variables_reference)
    body = replace(body, result=(await composed(requests, whole)).value)
    return evaluation(body, profile.repl.nothing(last))


def evaluation(body: EvaluateBody, nothing: tuple[str, str] | None) -> Evaluation:
    """Return the value in an answer; `nothing` are value and type where the answer has neither."""
    if not body.result and body.type is None and nothing is not None:
        return Evaluation(*nothing, 0, 0)
    return Evaluation(
        body.result,
        body.type,
        child_count(body),
        body.variables_reference,
        body.memory_reference,
        named=body.named_variables,
        indexed=body.indexed_variables,
    )


async def evaluate_text(
    requests: Requests,
    frame: StackFrame,
    part: str,
    expression: str,
    seconds: float,
    withdraw: Callable[[], Awaitable[bool]] | None = None,
    context: str | None = None,
) -> EvaluateBody:
    """Evaluate a part of what the user wants evaluated, as it is; errors name the whole.

    `withdraw` takes it back if it has not begun when the time is over, and returns whether it did. `context`: that of
    DAP, where it is not the one for expressions. If its caller is cancelled it is interrupted in the program.
    """
    requests.evaluations += 1
    try:
        return await _evaluate_text(requests, frame, part, expression, seconds, withdraw, context)
    except trio.Cancelled:
        if requests.evaluations == 1:  # else that of another client might be interrupted
            with trio.move_on_after(requests.patience.seconds(INTERRUPT_SECONDS), shield=True):
                await _interrupt(requests)
        raise
    finally:
        requests.evaluations -= 1


async def _evaluate_text(
    requests: Requests,
    frame: StackFrame,
    part: str,
    expression: str,
    seconds: float,
    withdraw: Callable[[], Awaitable[bool]] | None,
    context: str | None,
) -> EvaluateBody:
    context = context or requests.profile.dialect.evaluate_context
    arguments = {"expression": part, "frameId": frame.id, "context": context}
    blocked_by = requests.unfinished
    running = UnfinishedEvaluation(expression, None if requests.snapshot is None else requests.snapshot.generation)
    body: EvaluateBody | None = None
    try:
        with trio.move_on_after(seconds):
            body = await requests.request("evaluate", arguments, EvaluateBody, seconds=seconds + 1, late=running.end)
            wrong = requests.profile.habits.error_in(body.result)
            if wrong is not None:
                raise AdapterRefused("evaluate", wrong)
    except AdapterRefused as refusal:
        lines = refusal.reason.strip().splitlines() or [""]
        words = requests.profile.words
        error = words.plain_error(lines.pop(words.telling_line("\n".join(lines))))
        trace = "\n".join(lines)
        raise UsageError(
            "EVAL_FAILED",
            f"`{shortened(expression)}` failed: {shortened(error, MAX_MESSAGE_LENGTH)}",
            {"trace": shortened(trace, MAX_TRACE_LENGTH)} if trace else {},
        ) from None
    if body is not None:
        return body
    raise await _unended(requests, running, blocked_by, seconds, withdraw)


async def _unended(
    requests: Requests,
    running: UnfinishedEvaluation,
    blocked_by: UnfinishedEvaluation | None,
    seconds: float,
    withdraw: Callable[[], Awaitable[bool]] | None,
) -> UsageError:
    """Interrupt what did not end in time, and return the error that says what has become of it."""
    # First this, as it would begin when the one before it is interrupted.
    withdrawn = blocked_by is not None and withdraw is not None and await withdraw()
    interrupted = await _interrupt(requests)
    if interrupted:
        requests.forget_unfinished()
    elif not withdrawn:
        requests.keep_unfinished(running)
    shown = f"`{shortened(running.expression)}`"
    if blocked_by is not None:
        sentence = f"{shown} waited {seconds:.3g} s for `{shortened(blocked_by.expression)}`, which "
        sentence += _fate_of_waiting(interrupted, withdrawn, blocked_by)
    else:
        fate = (
            "It was interrupted, and the program is where it was: raise `timeout` to give it longer."
            if interrupted
            else f"It may still be running in the program, which does not move until then. {running.remedy}"
        )
        sentence = f"{shown} did not finish within {seconds:.3g} s. {fate}"
    return UsageError("EVAL_TIMEOUT", sentence)


async def check_evaluations_ended(requests: Requests) -> None:
    """Check that no evaluation holds up the program at its stop: a move would be carried out only when that ends.

    Raises:
        UsageError: `TIMEOUT`: one does. It names the expression and what ends it.
    """
    running, snapshot = requests.unfinished, requests.snapshot
    if running is None or snapshot is None or not snapshot.stack.frames:
        return
    # Some adapters never answer an evaluation that has ended; one that answers the next has ended the one before.
    context = requests.profile.dialect.evaluate_context
    arguments = {"expression": "1", "frameId": snapshot.stack.frames[0].id, "context": context}
    with trio.move_on_after(requests.patience.seconds(INTERRUPT_SECONDS)):
        try:
            await requests.request("evaluate", arguments, EvaluateBody)
        except AdapterRefused as refusal:
            log.info("after an evaluation: %s", refusal)
        requests.forget_unfinished()
        return
    if not running.ended:
        raise UsageError(
            "TIMEOUT",
            f"The program cannot move: it is still evaluating `{shortened(running.expression)}` at this stop. Nothing "
            f"was sent, and it is where it was. {running.remedy}",
            {"expression": running.expression},
        )


def _fate_of_waiting(interrupted: bool, withdrawn: bool, running: UnfinishedEvaluation) -> str:
    if withdrawn:
        fate = "was interrupted just now: try again." if interrupted else f"is still running. {running.remedy}"
        return f"{fate} This one was taken back, and will not run."
    if interrupted:
        return "was interrupted just now. It may have begun then: look at what it changes before you try again."
    return f"is still running. {running.remedy} This one will still run when that has ended: do not repeat it."


async def _interrupt(requests: Requests) -> bool:
    """Interrupt what is being evaluated; returns whether nothing is any more."""
    expression = requests.profile.repl.interrupt()
    if expression is None:
        return False
    requests.interrupts += 1
    arguments = {"expression": expression, "context": requests.profile.dialect.evaluate_context}
    with trio.move_on_after(requests.patience.seconds(INTERRUPT_SECONDS)):
        try:
            # Until there is none: an interrupt is taken between two steps of the interpreter, and may be caught.
            while (await requests.request("evaluate", arguments, EvaluateBody)).result != "0":  # noqa: ASYNC110
                await trio.sleep(INTERRUPT_AGAIN_SECONDS)
        except DebugError as error:
            log.info("interrupting an evaluation: %s", error)
            return False
        return True
    return False
