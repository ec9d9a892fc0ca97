"""`why`: what made a value what it is, what made a line run, or what kept it from running, in a recorded run."""

import signal
from collections.abc import Container
from functools import partial
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.runs.files.process_record import LINE, ProcessRecord
from trio_debugmcp.runs.past.run_moves import cut_off, under_way
from trio_debugmcp.runs.sent_values import sent_values
from trio_debugmcp.runs.why import NoAnswerError, WhyAnswer, WhyQuestion, why
from trio_debugmcp.runs.worker_calls import worker_calls
from trio_debugmcp.server.answers.recorded.why_shown import WhyData, WhyShown, recorded_line
from trio_debugmcp.server.tools.breakpoints.notebook_cells import in_notebook
from trio_debugmcp.server.tools.runs.failing_processes import FailureSearch
from trio_debugmcp.server.tools.runs.reading_runs import (
    EventNumber,
    FoundInRun,
    RunQuestion,
    asked,
    number_of,
    recorded_file,
    shown_to_reader,
    stop_in,
)
from trio_debugmcp.server.tools.tool import Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import ExceptionInfo
from trio_debugmcp.state.recorded_runs import KeptRun

_SO_FAR = "the run has not ended: a line that did not run is one that has not run so far"

_OF_NONE = "no process of this run has run that line"

_KNOWN = "earlier answers have shown all of these lines: this question has led to no others"

_MOST_LOOKED_BACK = 10_000
"""Rows from the end, in which the last line is looked for: what one line has written may be many."""


class Why(RunQuestion, frozen=True, kw_only=True):
    expression: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="A variable or path; default: what failed.")
    ] = None
    at: EventNumber = None
    what: Annotated[Literal["value", "run"], Meta(description="What made the value, or why the line at `at` ran.")] = (
        "value"
    )
    file: Annotated[
        str | None, Meta(description="With `line`: why that did not run (`at`: in that call), or why it did.")
    ] = None
    line: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="With `file`: why it did not run.")] = None
    limit: Annotated[int, Meta(ge=1, le=100, description="How many lines.")] = 12
    repeat: Annotated[bool, Meta(description="With `at`: also lines that earlier answers have shown.")] = False


def _checked(debugger: Debugger, params: Why, at: int) -> Why:
    """Return the parameters with lines of notebooks for those of cells; refuse such as do not go together.

    Raises:
        UsageError: `INVALID_PARAMETER` or `INVALID_PATH`.
    """
    if (params.file is None) != (params.line is None):
        raise UsageError("INVALID_PARAMETER", "`file` and `line` go together: the line that did not run.")
    if params.line is not None and params.expression is not None:
        raise UsageError(
            "INVALID_PARAMETER",
            "`file` and `line` ask why a line ran or did not, in all of the run, or with `at` in the call of that "
            "moment: leave out `expression`, or pass it alone.",
        )
    if params.what == "run" and not at and params.line is None:
        raise UsageError(
            "INVALID_PARAMETER", 'what="run" asks why a line ran: name it by `at`, a number of an earlier answer.'
        )
    return in_notebook(debugger, params, params.file, params.line)


async def _why(debugger: Debugger, params: Why) -> WhyShown:
    at = number_of(params.at, "at")
    params = _checked(debugger, params, at)
    resolved = debugger.workspace.resolve(params.file) if params.file is not None else ""
    run = debugger.runs.run(params.run)
    is_over = run.ended_at is not None
    shown = shown_to_reader(debugger, params)
    known = frozenset(shown.rows) if at and not params.repeat and params.line is None else frozenset()  # not repeated
    stop = stop_in(debugger, run)
    is_bare = params.expression is None and not at and params.line is None
    failure, gone = _search(debugger, run, is_bare=is_bare), _gone(debugger)

    def work(record: ProcessRecord) -> WhyAnswer:
        is_asked = params.process is not None or not failure.process  # others that were killed are only named
        failure.look_at(record, is_over=is_over)
        file = recorded_file(record, params.file, resolved) if params.file is not None else ""
        raising = stop.raising if stop is not None and stop.process == record.facts.pid else ""
        last = _unfinished(record, gone if params.process else (), is_over=is_over) if is_bare and is_asked else 0
        return _answer(record, _question(params, at, file, known), raising, last)

    found = await asked(
        debugger,
        params,
        WhyAnswer,
        work,
        begins_anew=is_bare,
        leads_on=at != 0,
        refused=failure.refused if is_bare else lambda error: error,
        completed=partial(_completed, gone=gone),
        settles=failure.settles if is_bare else lambda answer: bool(at) or not answer.is_unreached,
    )
    numbers = {number_of(line.at, "at") for line in found.found.because}
    is_of_none = found.found.is_unreached and params.process is None and shown.process is not None and not at
    said = [
        *([_SO_FAR] if params.line is not None and not is_over else []),
        *([_OF_NONE] if is_of_none else []),
        *filter(None, (failure.elsewhere, failure.cut_off if is_bare else "")),
        *([_KNOWN] if numbers and numbers <= known else []),
    ]
    shown.show(numbers)
    return _shown(found, shown.process, said)


def _search(debugger: Debugger, run: KeptRun, *, is_bare: bool) -> FailureSearch:
    at_hand = _exception_at_hand(debugger) if is_bare else None
    return FailureSearch(at_hand, _departed(debugger), is_ended=run.killed)


def _completed(
    answer: WhyAnswer, record: ProcessRecord, others: list[ProcessRecord], *, gone: set[int | None]
) -> WhyAnswer:
    said = [*worker_calls(record, others, answer, gone), *sent_values(record, others, answer)]
    return msgspec.structs.replace(answer, elsewhere=said)


def _question(params: Why, at: int, file: str, known: frozenset[int]) -> WhyQuestion:
    return WhyQuestion(
        expression=params.expression or "",
        at=at,
        what=params.what,
        file=file,
        line=params.line or 0,
        limit=params.limit,
        known=known,
    )


def _exception_at_hand(debugger: Debugger) -> ExceptionInfo | None:
    """Return the exception at which the program is stopped."""
    snapshot = None if debugger.state.focus is None else debugger.session().snapshot
    stop = None if snapshot is None or snapshot.phase != "Paused" else snapshot.stop
    return None if stop is None else stop.exception


def _departed(debugger: Debugger) -> set[int | None]:
    """Return the processes that have ended before their programs."""
    return {process.process_id for process in debugger.state.departed}


def _gone(debugger: Debugger) -> set[int | None]:
    """Return the processes that neither came to their end nor were asked to, as a pool asks its workers."""
    pids: dict[str, int | None] = {}
    gone: set[int | None] = set()
    for event in debugger.timeline.after(0):
        if event.type == "sessionStarted":
            pids[event.payload["sessionId"]] = event.payload["processId"]
        elif event.type == "sessionEnded" and event.payload["exitCode"] not in (None, 0, -signal.SIGTERM):
            gone.add(pids.get(event.payload["sessionId"]))
    return gone


def _shown(reading: FoundInRun[WhyAnswer], process: int | None, said: list[str]) -> WhyShown:
    found, run, places, notes = reading
    notes = [*notes, *found.elsewhere, *filter(None, (found.caught, found.unrecorded)), *said]
    if found.repeated:
        lines = "line that an earlier answer has" if found.repeated == 1 else "lines that earlier answers have"
        notes = [*notes, f"passed over: {found.repeated} {lines} shown"]
    return WhyShown(
        full=WhyData(
            value=found.value,
            because=found.because,
            gaps=found.gaps,
            omitted=found.omitted,
            repeated=found.repeated,
            run=run.id,
            process=process,
            notes=notes,
        ),
        value=found.value,
        because=[recorded_line(places, line) for line in found.because],
        gaps=found.gaps,
        omitted=found.omitted,
        run=run.id,
        notes=notes,
    )


def _answer(record: ProcessRecord, question: WhyQuestion, raising: str, last: int) -> WhyAnswer:
    """Return the answer; before what the program is stopped at is a failure, or where it was killed, of its last line.

    `raising`: the message of the exception that it is stopped at; empty: of none. `last`: that line; 0: not of that.
    """
    try:
        found = why(record, question)
        if found.because or not question.known:
            return found
        return why(record, msgspec.structs.replace(question, known=frozenset()))  # there is nothing else than that
    except NoAnswerError:
        if not last:
            raise
        return why(record, msgspec.structs.replace(question, at=last, raising=raising))


def _unfinished(record: ProcessRecord, gone: Container[int | None], *, is_over: bool) -> int:
    """Return the line that did not end; 0: none. Of the processes in `gone` also one that has left by os._exit."""
    is_lost = record.facts.pid in gone and record.facts.ended is None
    return cut_off(record) if is_over and not is_lost else _last_line(record)


def _last_line(record: ProcessRecord) -> int:
    """Return the line that is under way: that which ran last, in a call that has not ended; 0: none."""
    for number in range(record.last, max(record.first, record.last - _MOST_LOOKED_BACK) - 1, -1):
        if record.row(number).kind == LINE:
            return under_way(record, number)
    return 0


TOOLS = (
    Tool(
        name="why",
        title="Why",
        description=(
            "Why something is as it is, in a run recorded by debug_launch(record=true): the lines that led to it, "
            "in the order of time, with values. Without arguments: why it failed. `expression`: why it has its "
            "value; `at`: a line of an answer, by its number; `file`, `line`: why that did not run."
        ),
        params=Why,
        run=_why,
        read_only=True,
        idempotent=True,
        listing="core",
        unlisted=frozenset({"limit", "repeat", "run", "process"}),
    ),
)
