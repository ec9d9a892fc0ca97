"""Answers to waits: the stop, or of a program that still runs, where its threads are."""

from collections.abc import Container, Sequence
from contextlib import suppress

import trio
from msgspec.structs import replace

from trio_debugmcp.errors import AdapterGone, DebugError, UsageError
from trio_debugmcp.server.answers.failures.asserted import with_operands
from trio_debugmcp.server.answers.failures.cleanup_notes import cleanup_notes
from trio_debugmcp.server.answers.lines import task_now, thread_line, thread_now
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop import stop_answer
from trio_debugmcp.server.answers.stop_answer import ShownValue, StopAnswer, ThreadNow, with_data
from trio_debugmcp.server.answers.task_summary import MOST_LINES, task_summary
from trio_debugmcp.server.answers.values import shown_value
from trio_debugmcp.server.tools.looking.threads import deadlock_notes
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import INTERRUPT_SECONDS
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.stops.looking_back import keep_value
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import shortened

_MOST_TASKS = 200
"""That are asked for; of equal ones an answer has one line."""

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
    if outcome is not None and outcome.paused is not None:
        answer = await with_operands(debugger, answer, outcome.paused)
        answer = replace(answer, notes=[*answer.notes, *cleanup_notes(debugger, outcome.paused)])
    if show and outcome is not None and outcome.paused is not None:
        least, most = debugger.patience.seconds(LEAST_SHOW_SECONDS), debugger.patience.seconds(SHOW_SECONDS)
        seconds = min(max(deadline - trio.current_time(), least), most)
        python = debugger.session(outcome.paused.id).looking.is_python  # an expression may end the session
        shown = await _evaluated(debugger, outcome.paused, show, seconds)
        words = {each.expression: shown_value(each, python=python) for each in shown}
        return replace(with_data(answer, show=shown), show=words)
    return answer


async def _evaluated(debugger: Debugger, snapshot: Snapshot, show: Sequence[str], seconds: float) -> list[ShownValue]:
    """Return the values of expressions in the top frame of a stop; of one that fails, or takes too long, why."""
    shown = {each: ShownValue(each, None, None, "not evaluated: out of time") for each in show}
    session = debugger.session(snapshot.id)
    end = trio.current_time() + seconds
    # The evaluation that uses up the time is interrupted, and says so itself; this only bounds the interruption.
    with trio.move_on_at(end + debugger.patience.seconds(INTERRUPT_SECONDS)):
        for expression in shown:
            left = end - trio.current_time()
            if left <= 0:
                break
            shown[expression] = ShownValue(expression, None, None, "out of time")
            try:
                frame = await session.looking.frame(None, 0, snapshot)
                found = (await session.looking.evaluation.in_frame(frame, expression, left)).evaluation
            except DebugError as error:  # also one that ended the program: the stop is answered all the same
                problem = shortened(error.message if isinstance(error, UsageError) else str(error))
                shown[expression] = ShownValue(expression, None, None, problem)
            else:
                told = found.shown
                await keep_value(
                    debugger.merger, snapshot, snapshot.stack.thread_id or 0, 0, expression, told, found.type
                )
                shown[expression] = ShownValue(expression, told if told or found.type else None, found.type, None)
    session.refresh_locals()  # an expression may change something
    return list(shown.values())


async def with_threads(debugger: Debugger, answer: StopAnswer, session_id: str | None) -> StopAnswer:
    """Return the answer about a program that runs, with where its threads are, and the tasks of loops that wait."""
    with suppress(UsageError, AdapterGone):
        session = debugger.session(session_id)
        with trio.move_on_after(debugger.patience.seconds(THREADS_SECONDS)) as limit:
            found = await session.looking.threads.threads(from_outside=False)
        if limit.cancelled_caught:
            return _noted(answer, _UNKNOWN.format("there was not enough time"))
        if found.failure is not None:
            return _noted(answer, *([_UNKNOWN.format(found.failure.reason)] if found.failure.is_slow else []))
        current = None if session.snapshot is None else session.snapshot.threads.current
        threads = [thread_now(thread, current) for thread in found.threads]
        answer = with_thread_lines(debugger, _noted(answer, *deadlock_notes(found)), threads, found.total)
        return await with_tasks(debugger, answer, session) if found.wait_in_loops else answer
    return answer


async def with_waiting_threads(debugger: Debugger, answer: StopAnswer, session: DebugSession) -> StopAnswer:
    """Return the answer about a pause with the threads, if one waits: the place alone does not say what for."""
    with suppress(UsageError, AdapterGone):
        with trio.move_on_after(debugger.patience.seconds(THREADS_SECONDS)) as limit:
            found = await session.looking.threads.threads(from_outside=False)
        if limit.cancelled_caught:
            return _noted(answer, "there was not enough time for what its threads wait for: see threads_list")
        if all(thread.waits is None for thread in found.threads):
            return answer
        current = None if session.snapshot is None else session.snapshot.threads.current
        threads = [thread_now(thread, current) for thread in found.threads]
        return with_thread_lines(debugger, _noted(answer, *deadlock_notes(found)), threads, found.total)
    return answer


def _noted(answer: StopAnswer, *notes: str) -> StopAnswer:
    return replace(answer, notes=[*answer.notes, *notes])


async def with_tasks(debugger: Debugger, answer: StopAnswer, session: DebugSession) -> StopAnswer:
    """Return the answer with the tasks of asyncio and Trio, and which wait for each other, if the program says so."""
    with suppress(UsageError, AdapterGone), trio.move_on_after(debugger.patience.seconds(THREADS_SECONDS)):
        found = await session.looking.threads.tasks(0, _MOST_TASKS)
        if not found.total:
            return answer
        tasks = [task_now(task) for task in found.tasks]
        lines = task_summary(Places(debugger.workspace.directory), tasks, found.total)
        shown = with_data(answer, tasks=tasks[:MOST_LINES], total_tasks=found.total)
        return _noted(replace(shown, tasks=lines), *found.notes)
    return _noted(answer, "there was not enough time for the tasks of its loops: see tasks_list")


def with_thread_lines(debugger: Debugger, answer: StopAnswer, threads: Sequence[ThreadNow], total: int) -> StopAnswer:
    """Return the answer with a line for each thread; of very many only the first, and how many there are more."""
    places, shown = Places(debugger.workspace.directory), list(threads[:MAX_SHOWN_THREADS])
    lines = [thread_line(places, thread) for thread in shown]
    lines += [f"{total - len(lines)} more: see threads_list"] if total > len(lines) else []
    return replace(with_data(answer, threads=shown, total_threads=total), threads=lines)
