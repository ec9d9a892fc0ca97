"""Answers to waits: the stop, or of a program that still runs, where its threads are."""

from collections.abc import Container, Sequence
from contextlib import suppress

import trio
from msgspec.structs import replace

from trio_debugmcp.errors import AdapterGone, DebugError, UsageError
from trio_debugmcp.server.answers.lines import thread_line
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop import StopAnswer, stop_answer
from trio_debugmcp.server.answers.values import rendered
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.looking.adapter_evaluation import INTERRUPT_SECONDS
from trio_debugmcp.session.looking.live_threads import LiveThread
from trio_debugmcp.session.stops.looking_back import keep_value
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import shortened

MAX_SHOWN_THREADS = 20
"""Threads in the answer about a program that runs or is blocked; threads_list has all of them."""

SHOW_SECONDS = 5.0
"""For all expressions that are shown at a stop, as for one evaluation."""

LEAST_SHOW_SECONDS = 1.0
"""For these, however little is left of the wait's own time: the stop has come, and what it shows was asked for."""

THREADS_SECONDS = 1.5
"""For the places of the threads, or why they are not known, after a wait that ended without a stop."""

_UNKNOWN = "where the threads are is not known: {}. threads_list looks from outside"


async def wait_answer(
    debugger: Debugger,
    outcome: Outcome | None,
    deadline: float,
    *,
    show: Sequence[str] = (),
    waited: bool = True,
    session_id: str | None = None,
    held: Container[str] = (),
) -> StopAnswer:
    """Answer how a wait ended; of a program that still runs, with where its threads are.

    `session_id`: the session that was to run; default: the one in focus. `held`: breakpoints that were not to stop it.
    """
    timed_out = waited and outcome is None
    answer = await stop_answer(
        debugger, outcome, deadline=deadline, timed_out=timed_out, session_id=session_id, held=held
    )
    if timed_out:
        return await with_threads(debugger, answer, session_id)
    if show and outcome is not None and outcome.paused is not None:
        least, most = debugger.patience.seconds(LEAST_SHOW_SECONDS), debugger.patience.seconds(SHOW_SECONDS)
        seconds = min(max(deadline - trio.current_time(), least), most)
        return replace(answer, show=await _evaluated(debugger, outcome.paused, show, seconds))
    return answer


async def _evaluated(debugger: Debugger, snapshot: Snapshot, show: Sequence[str], seconds: float) -> dict[str, str]:
    """Return the values of expressions in the top frame of a stop; of one that fails, or takes too long, why."""
    values = dict.fromkeys(show, "<not evaluated: out of time>")
    session = debugger.session(snapshot.id)
    end = trio.current_time() + seconds
    # The evaluation that uses up the time is interrupted, and says so itself; this only bounds the interruption.
    with trio.move_on_at(end + debugger.patience.seconds(INTERRUPT_SECONDS)):
        for each in values:
            left = end - trio.current_time()
            if left <= 0:
                break
            values[each] = "<out of time>"
            try:
                frame = await session.looking.frame(None, 0, snapshot)
                found = (await session.looking.evaluation.in_frame(frame, each, left)).evaluation
            except DebugError as error:  # also one that ended the program: the stop is answered all the same
                values[each] = f"<{shortened(error.message if isinstance(error, UsageError) else str(error))}>"
            else:
                told = shortened(found.value)
                await keep_value(debugger.merger, snapshot, snapshot.stack.thread_id or 0, 0, each, told, found.type)
                text = rendered(told, found.type, python=session.looking.is_python)
                values[each] = text if text or found.type else "<executed>"
    session.refresh_locals()  # an expression may change something
    return values


async def with_threads(debugger: Debugger, answer: StopAnswer, session_id: str | None = None) -> StopAnswer:
    """Return the answer about a program that runs, with where its threads are."""
    threads, notes = await _threads(debugger, session_id)
    return replace(answer, threads=threads, notes=[*answer.notes, *notes])


async def _threads(debugger: Debugger, session_id: str | None) -> tuple[list[str], list[str]]:
    """Return where the threads of the running program are; if it does not say so in time, a note."""
    with suppress(UsageError, AdapterGone):
        session = debugger.session(session_id)
        with trio.move_on_after(debugger.patience.seconds(THREADS_SECONDS)):
            found = await session.looking.threads.threads(from_outside=False)
            if found.failure is not None:
                return [], [_UNKNOWN.format(found.failure.reason)] if found.failure.is_slow else []
            current = None if session.snapshot is None else session.snapshot.threads.current
            return thread_lines(debugger, found.threads, found.total, current), []
        return [], [_UNKNOWN.format("there was not enough time")]
    return [], []


def thread_lines(
    debugger: Debugger, threads: Sequence[LiveThread], total: int, current: int | None = None
) -> list[str]:
    """Return a line for each thread; of very many only the first, and how many there are more."""
    places = Places(debugger.workspace.directory)
    lines = [thread_line(places, thread, current) for thread in threads[:MAX_SHOWN_THREADS]]
    return [*lines, f"{total - len(lines)} more: see threads_list"] if total > len(lines) else lines
