"""`run_goto`: a moment of a recorded run as a stop, and from there back, forward, in and out."""

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.run_moves import NoMomentError, last_line, moment_at, moment_number, moved
from trio_debugmcp.runs.shown_moments import RunMoment
from trio_debugmcp.server.answers.recorded.recorded_moment import RecordedMoment, recorded_moment
from trio_debugmcp.server.tools.runs.reading_runs import (
    EventNumber,
    RunQuestion,
    asked,
    number_of,
    sentence,
    shown_to_reader,
)
from trio_debugmcp.server.tools.tool import Tool
from trio_debugmcp.session.debugger import Debugger, current_reader


class RunGoto(RunQuestion, frozen=True, kw_only=True):
    at: EventNumber = None
    move: Annotated[
        Literal["back", "forward", "in", "out"] | None,
        Meta(description="From there, or from the moment that was shown last: a line of the same function, or a call."),
    ] = None
    count: Annotated[int, Meta(ge=1, le=10_000, description="How often.")] = 1


_NOWHERE = {
    "back": "has no recorded line before it, in its call or a caller",
    "forward": "has no recorded line after it, in its call or a caller",
    "in": "has called nothing that was recorded",
    "out": "was called by nothing that was recorded",
}


async def _goto(debugger: Debugger, params: RunGoto) -> RecordedMoment:
    reader = current_reader()[0]
    if params.run is None and params.at is None:  # a move leads on from the moment at hand, whichever run is the last
        params = replace(params, run=debugger.runs.readers.run_of_moment(reader))
    shown = shown_to_reader(debugger, params)
    known = shown.row if params.process in (None, shown.process) else 0
    at = number_of(params.at, "at")

    def work(record: ProcessRecord) -> RunMoment:
        try:
            line = moment_number(record, at or known) if at or known else last_line(record)
        except NoMomentError as error:
            reason = str(error)
            raise UsageError("INVALID_PARAMETER", sentence(reason)) from None
        if not line:
            raise UsageError("INVALID_PARAMETER", "No line was recorded in this run: see run_list.")
        for step in range(params.count if params.move is not None else 0):
            following = moved(record, line, params.move or "")
            if not following:
                after = f" (after {step} of {params.count})" if params.count > 1 else ""
                where = _NOWHERE[params.move or "back"]
                raise UsageError("INVALID_PARAMETER", f"#{line} {where}{after}. Pass another `at` or `move`.")
            line = following
        return moment_at(PastProcess(record), line)

    found, run, places, notes = await asked(debugger, params, RunMoment, work, leads_on=at != 0 or known != 0)
    shown.row = found.row
    debugger.runs.readers.has_moment(reader, run.id)
    return recorded_moment(places, found, run.id, notes)


TOOLS = (
    Tool(
        name="run_goto",
        title="A moment of a run",
        description=(
            "A moment of a recorded run, before a line ran: stack and locals as they were, and what the line did. Then "
            "`move` from it. Without `at`: the last line."
        ),
        params=RunGoto,
        run=_goto,
        read_only=True,
        idempotent=True,
        phrase="recorded runs: each write and call, a moment, two compared",
        unlisted=frozenset({"run", "process"}),
    ),
)
