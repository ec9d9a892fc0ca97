"""Evaluation in a frame of a paused program by its adapter, bounded in time: what takes too long is interrupted."""

import logging
from collections.abc import Awaitable, Callable, Mapping

import msgspec
import trio
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable, EvaluateBody
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, IndexedItem
from trio_debugmcp.errors import AdapterRefused, DebugError, UsageError
from trio_debugmcp.probe import bootstrap
from trio_debugmcp.session.evaluations import UnfinishedEvaluation
from trio_debugmcp.session.looking.by_adapter.composites import composed
from trio_debugmcp.session.looking.variables import child_count
from trio_debugmcp.session.not_paused import out_of_reach
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, shortened

log = logging.getLogger(__name__)

MAX_TRACE_LENGTH = 4000
"""Characters of the traceback of an evaluation that failed."""

INTERRUPT_SECONDS = 1.0
"""For an evaluation to end that is interrupted because it took too long: one that waits in C code does not."""

INTERRUPT_AGAIN_SECONDS = 0.05
"""Between two interrupts of the same evaluation."""


class Evaluation(msgspec.Struct, frozen=True):
    """The whole value of an expression; `reference` leads to its children while the stop lasts.

    `memory`: where it is, or what it points to, as the adapter names places in memory. `length`: of the whole, where it
    is known, in `unit`s: items, characters or bytes; the adapter may have cut the value. `named` and `indexed`: how
    many children of each kind there are, where the adapter says that; a client may ask for a page of them.
    `is_fitted`: the program has written the value for the limit that was asked for.
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
    is_fitted: bool = False

    @property
    def shown(self) -> str:
        """The value as answers have it, unless they were asked for another length."""
        return self.value if self.is_fitted else shortened(self.value)


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
    meant = await indexed(
        requests.profile.values,
        last,
        frame.location.file,
        lambda part: evaluate_text(requests, frame, part, expression, seconds),
    )
    left = max(0.0, deadline - trio.current_time())
    body = await evaluate_text(requests, frame, meant, expression, left, context=context)
    shown, kind = profile.values.shown(body.result, body.type), profile.values.plain_type(body.type)
    whole = DapVariable(last, shown, type=kind, variables_reference=body.variables_reference)
    body = replace(body, result=(await composed(requests, whole)).value, type=kind)
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


class Unended(msgspec.Struct, frozen=True):
    """An evaluation that has not ended in its time; `blocked_by`: what its thread was evaluating before."""

    running: UnfinishedEvaluation
    blocked_by: UnfinishedEvaluation | None
    seconds: float


async def evaluate_text(
    requests: Requests, frame: StackFrame, part: str, expression: str, seconds: float, context: str | None = None
) -> EvaluateBody:
    """Evaluate a part of what the user wants evaluated, as it is; errors name the whole.

    `context`: that of DAP, where it is not the one for expressions. What has not ended in time is interrupted.
    """
    found = await send(requests, frame, {"expression": part}, expression, seconds, context)
    if isinstance(found, Unended):
        raise await interrupted(requests, found)
    return found


async def send(
    requests: Requests,
    frame: StackFrame,
    wanted: Mapping[str, object],
    expression: str,
    seconds: float,
    context: str | None = None,
) -> EvaluateBody | Unended:
    """Have something evaluated as `evaluate_text` does. If its caller is cancelled it is interrupted in the program.

    `wanted`: arguments of `evaluate`.
    """
    requests.evaluations.awaited += 1
    running = requests.evaluations.begun(expression)
    try:
        return await _sent(requests, frame, wanted, running, seconds, context)
    except trio.Cancelled:
        requests.evaluations.keep(running)  # at once: what is asked next waits for it, and says so
        if requests.evaluations.awaited == 1:  # else that of another client might be interrupted
            with trio.move_on_after(requests.patience.seconds(INTERRUPT_SECONDS), shield=True):
                if await _interrupt(requests):
                    running.end()
        raise
    finally:
        requests.evaluations.awaited -= 1


async def _sent(
    requests: Requests,
    frame: StackFrame,
    wanted: Mapping[str, object],
    running: UnfinishedEvaluation,
    seconds: float,
    context: str | None,
) -> EvaluateBody | Unended:
    expression = running.expression
    context = context or requests.profile.dialect.evaluate_context
    arguments = {**wanted, "frameId": frame.id, "context": context}
    # The engine evaluates in another thread while the stopped one is stuck.
    blocked_by = None if requests.capabilities.engine_requests else requests.evaluations.unfinished
    try:
        with trio.move_on_after(seconds):
            body = await requests.request("evaluate", arguments, EvaluateBody, seconds=seconds + 1, late=running.end)
            wrong = requests.profile.habits.error_in(body.result)
            if wrong is not None:
                raise AdapterRefused("evaluate", wrong)
            return body
    except AdapterRefused as refusal:
        lines = refusal.reason.strip().splitlines() or [""]
        words = requests.profile.words
        error = words.plain_error(lines.pop(words.telling_line("\n".join(lines))))
        trace = "\n".join(lines)
        raise UsageError(
            "EVAL_FAILED",
            f"`{shortened(expression)}` failed: {shortened(error, MAX_MESSAGE_LENGTH)}{_where(requests, frame)}",
            {"trace": shortened(trace, MAX_TRACE_LENGTH)} if trace else {},
        ) from None
    return Unended(running, blocked_by, seconds)


def _where(requests: Requests, frame: StackFrame) -> str:
    """Return in which function of a library something was evaluated, as the top one of another thread mostly is."""
    if frame.is_user_code or not requests.profile.code.tells_library:
        return ""
    return f" (in {frame.name}, a library's: pass the frame_index of a function of yours, see stacktrace_get)"


async def interrupted(
    requests: Requests, unended: Unended, *, withdrawn: bool = False, waits: str | None = None
) -> UsageError:
    """Interrupt what has not ended in time, and return the error that says what has become of it.

    `withdrawn`: it had not begun, and will not. `waits`: what it waits for, where that is known.
    """
    ended, snapshot = await _interrupt(requests), requests.snapshot
    if snapshot is not None and snapshot.lost is not None:
        return out_of_reach(snapshot, snapshot.lost)
    if ended:
        requests.evaluations.forget()
    elif not withdrawn:
        requests.evaluations.keep(unended.running)
    running, blocked_by, seconds = unended.running, unended.blocked_by, unended.seconds
    shown = f"`{shortened(running.expression)}`"
    if blocked_by is not None:
        sentence = f"{shown} waited {seconds:.3g} s for `{shortened(blocked_by.expression)}`, which "
        sentence += _fate_of_waiting(ended, withdrawn, blocked_by)
    else:
        waiting = "" if waits is None else f": it waits for {waits}"
        sentence = f"{shown} did not finish within {seconds:.3g} s{waiting}. {_fate(requests, ended, running)}"
    return UsageError("EVAL_TIMEOUT", sentence)


def _fate(requests: Requests, ended: bool, running: UnfinishedEvaluation) -> str:
    if ended:
        return "It was interrupted, and the program is where it was: raise `timeout` to give it longer."
    if requests.capabilities.engine_requests:
        return (
            "It cannot be interrupted in C code, and ends as soon as that does. The stop is what it was: evaluate "
            "works, in another thread; with debug_continue the program runs, and this thread when its wait has ended."
        )
    return f"It may still be running in the program, which does not move until then. {running.remedy}"


async def check_evaluations_ended(requests: Requests, command: str) -> None:
    """Check that no evaluation holds up the program at its stop: a move would be carried out only when that ends.

    Our engine continues all the same: the other threads run, among them the one that is waited for.

    Raises:
        UsageError: `TIMEOUT`: one does. It names the expression and what ends it.
    """
    running, snapshot = requests.evaluations.unfinished, requests.snapshot
    if running is None or snapshot is None or not snapshot.stack.frames:
        return
    if requests.capabilities.engine_requests:
        if command == "continue":
            return
        raise UsageError(
            "TIMEOUT",
            f"The thread cannot step: it waits in C code, for the evaluation of `{shortened(running.expression)}`, and "
            "is where it was. Use debug_continue: then the program runs, and this thread when its wait has ended.",
            {"expression": running.expression},
        )
    # Some adapters never answer an evaluation that has ended; one that answers the next has ended the one before.
    context = requests.profile.dialect.evaluate_context
    arguments = {"expression": "1", "frameId": snapshot.stack.frames[0].id, "context": context}
    with trio.move_on_after(requests.patience.seconds(INTERRUPT_SECONDS)):
        try:
            await requests.request("evaluate", arguments, EvaluateBody)
        except AdapterRefused as refusal:
            log.info("after an evaluation: %s", refusal)
        requests.evaluations.forget()
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
    expression = bootstrap.INTERRUPT if requests.capabilities.engine_requests else requests.profile.repl.interrupt()
    if expression is None:
        return False
    requests.evaluations.interrupts += 1
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


async def indexed(
    values: AdapterValues, expression: str, file: str | None, evaluate: Callable[[str], Awaitable[EvaluateBody]]
) -> str:
    """Return an expression in a frame of this file with what it indexes as the adapter knows it.

    `evaluate` asks for a part.

    Raises:
        UsageError: `EVAL_FAILED`: the adapter cannot index that, or the index is out of bounds; or the `EVAL_TIMEOUT`
            of `evaluate`.
    """
    meant, spelled = expression, dict[str, str]()
    for written in values.indexed(expression, file):
        part = max((each for each in spelled if written.startswith(each)), key=len, default="")
        holder = f"{spelled.get(part, '')}{written.removeprefix(part)}"  # as the adapter knows what it is an item of
        try:
            kind = (await evaluate(holder)).type
        except UsageError as error:
            if error.code != "EVAL_FAILED":
                raise
            continue  # then the whole fails as well, in words of its own
        before = meant
        while (item := values.meanings.item(meant, holder, kind)) is not None:  # once for each index of it
            await _check_bounds(item, written, expression, evaluate)
            spelled[f"{written}{item.brackets}"] = item.spelled
            meant = item.expression
        problem = values.index_problem(kind)
        if problem is not None and meant == before:
            raise UsageError(
                "EVAL_FAILED",
                f"`{shortened(expression)}` was not evaluated: `{shortened(holder)}` {problem}. Its items are spelled "
                f"as docs/adapters.md shows under Rust; `*({shortened(holder)} + 1)` is the memory behind.",
            )
    return meant


async def _check_bounds(
    item: IndexedItem, holder: str, expression: str, evaluate: Callable[[str], Awaitable[EvaluateBody]]
) -> None:
    if item.index is None or item.length is None:
        return
    index = (await evaluate(item.index)).result
    length = (await evaluate(item.length)).result
    if index.isdecimal() and length.isdecimal() and int(index) < int(length):
        return
    raise UsageError(
        "EVAL_FAILED",
        f"`{shortened(expression)}` was not evaluated: index {shortened(index)} is out of bounds, "
        f"`{shortened(holder)}` has {shortened(length)} items.",
    )
