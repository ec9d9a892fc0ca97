"""`history_get` and `calls_get`: how something changed over a recorded run, and what was called."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import each
from trio_debugmcp.runs.histories.call_histories import call_history, called_names, codes_named
from trio_debugmcp.runs.histories.call_trees import (
    CallTree,
    TreeLimits,
    call_tree,
    matching,
    outermost,
    root_starts,
    starts_under,
)
from trio_debugmcp.runs.histories.histories import HistoryPage, NoHistoryError, RunHistory
from trio_debugmcp.runs.histories.line_histories import line_history
from trio_debugmcp.runs.histories.variable_histories import variable_history
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_conditions import ConditionError, RecordedCondition
from trio_debugmcp.server.answers.recorded.run_answers import (
    CallsData,
    CallsShown,
    HistoryData,
    HistoryShown,
    call_lines_of,
)
from trio_debugmcp.server.answers.recorded.why_shown import recorded_line
from trio_debugmcp.server.tools.runs.reading_runs import (
    EventNumber,
    RunQuestion,
    asked,
    number_of,
    recorded_file,
)
from trio_debugmcp.server.tools.tool import Start, Tool
from trio_debugmcp.session.debugger import Debugger

_Where = Annotated[
    Annotated[str, Meta(min_length=1)] | None,
    Meta(description="Only where this holds: recorded values compared, such as `price > 3 and name == 'tea'`."),
]


class HistoryGet(RunQuestion, frozen=True, kw_only=True):
    expression: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="A path or `Class.attribute`: every write of it or in it, with `old` and `new` value."),
    ] = None
    file: Annotated[str | None, Meta(description="With `line`: every run of it, with the values that it left.")] = None
    line: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="With `file`: each run of it.")] = None
    function: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Every call, with arguments, `result` (or `raised`) and caller; a name or pattern."),
    ] = None
    where: _Where = None
    before: EventNumber = None
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=1000, description="How many entries.")] = 20


class CallsGet(RunQuestion, frozen=True, kw_only=True):
    function: Annotated[Annotated[str, Meta(min_length=1)] | None, Meta(description="A name or pattern.")] = None
    file: Annotated[str | None, Meta(description="Calls of this file's functions.")] = None
    where: _Where = None
    under: EventNumber = None
    depth: Annotated[int, Meta(ge=1, le=50, description="Levels.")] = 3
    count: Annotated[int, Meta(ge=1, le=1000, description="How many lines.")] = 60


_KNOWN_THERE = (
    "Known are the variables of the line, of a write also `old` and `new`, of a call its arguments, `result` and "
    "`raised`, and of objects the attributes that recorded code had written or read by then."
)


def _unjudged(found: RunHistory) -> list[str]:
    """Return what is said where nothing is shown, and there are some of which it is not known whether they fit."""
    if not found.undecided or found.total:
        return []
    return [
        f"what `where` asks about is not known at {found.undecided} of them, and it held at no other. {_KNOWN_THERE}"
    ]


async def _history(debugger: Debugger, params: HistoryGet) -> HistoryShown:
    _check_subject(params)
    page = HistoryPage(
        where=_condition(params.where),
        before=number_of(params.before, "before"),
        start=params.start,
        count=params.count,
    )
    resolved = debugger.workspace.resolve(params.file) if params.file is not None else ""

    def work(record: ProcessRecord) -> RunHistory:
        past = PastProcess(record)
        _check_number(record, page.before)
        if params.expression is not None:
            return variable_history(past, params.expression, page)
        if params.function is not None:
            return call_history(past, params.function, page)
        return line_history(past, recorded_file(record, params.file or "", resolved), params.line or 0, page)

    found, run, places, of_process = await asked(debugger, params, RunHistory, work, leads_on=page.before != 0)
    notes = [*found.notes, *of_process, *_unjudged(found)]
    data = HistoryData(
        entries=found.entries,
        total=found.total,
        is_least=found.is_least,
        undecided=found.undecided,
        run=run.id,
        notes=notes,
    )
    return HistoryShown(
        full=data,
        entries=[recorded_line(places, line) for line in found.entries],
        total=found.total,
        undecided=found.undecided,
        run=run.id,
        notes=[*notes, *_next_page(params.start, len(found.entries), found.total)],
    )


def _next_page(start: int, shown: int, total: int) -> list[str]:
    """Return a note on how to get the entries that follow those of a page."""
    end = start + shown
    return [f"{start + 1} to {end} of {total}: start={end} has the next"] if end < total else []


def _check_subject(params: HistoryGet) -> None:
    if (params.file is None) != (params.line is None):
        raise UsageError("INVALID_PARAMETER", "`file` and `line` go together.")
    wanted = [name for name in ("expression", "file", "function") if getattr(params, name) is not None]
    if len(wanted) != 1:
        raise UsageError("INVALID_PARAMETER", "Pass one of `expression`, `file` with `line`, and `function`.")


async def _calls(debugger: Debugger, params: CallsGet) -> CallsShown:
    condition, under = _condition(params.where), number_of(params.under, "under")
    resolved = debugger.workspace.resolve(params.file) if params.file is not None else ""
    limits = TreeLimits(depth=params.depth, lines=params.count)

    def work(record: ProcessRecord) -> CallTree:
        past, undecided = PastProcess(record), list[int]()
        starts = _starts(record, params, under, resolved)
        if condition is None:  # else one that fits may be inside of one that does not
            starts = outermost(record, starts, params.depth)
        tree = call_tree(past, matching(past, starts, condition, undecided), limits)
        return msgspec.structs.replace(tree, undecided=len(undecided))

    found, run, places, notes = await asked(debugger, params, CallTree, work)
    notes += ["there are more calls than were looked at: narrow it by `where` or `under`"] if found.is_least else []
    if not found.calls:
        notes.append("no call fits")
    if found.omitted:
        notes.append(f"{found.omitted:,} calls are in no line: pass more than count={params.count}, or `under`")
    data = CallsData(
        calls=found.calls, total=found.total, omitted=found.omitted, undecided=found.undecided, run=run.id, notes=notes
    )
    return CallsShown(
        full=data,
        calls=call_lines_of(places, found.calls),
        total=found.total,
        omitted=found.omitted,
        undecided=found.undecided,
        run=run.id,
        notes=notes,
    )


def _starts(record: ProcessRecord, params: CallsGet, under: int, resolved: str) -> Iterator[int]:
    """Return the calls with which the tree begins."""
    _check_number(record, under)
    codes: set[int] | None = None
    if params.function is not None:
        codes = set(codes_named(record, params.function))
        if not codes:
            where = "this run" if params.process is None else f"process {params.process} of this run"
            raise NoHistoryError(f"no function {params.function} was called in {where}. {called_names(record)}")
    if params.file is not None:
        file = recorded_file(record, params.file, resolved)
        of_file = {code.number for code in record.codes if code.file == file and code.kind not in ("module", "class")}
        codes = of_file if codes is None else codes & of_file
    if codes is not None:
        starts = sorted(start for code in codes for start in each(record, rows.START, code))
        return iter([start for start in starts if not under or _is_under(record, start, under)])
    return root_starts(record) if not under else starts_under(record, _call_of(record, under))


def _check_number(record: ProcessRecord, number: int) -> None:
    if number and not record.first <= number <= record.last:
        raise UsageError("INVALID_PARAMETER", f"This run has #{record.first} to #{record.last}, and no #{number}.")


def _call_of(record: ProcessRecord, number: int) -> int:
    """Return the START row of the call that a row belongs to."""
    row = record.row(number)
    if row.kind == rows.START:
        return number
    frame = row.subject if row.kind < rows.FIELD or row.kind == rows.SEEN_NAME else record.row(row.owner).subject
    return record.frame(frame).start


def _is_under(record: ProcessRecord, start: int, under: int) -> bool:
    """Whether a call was made inside of another one."""
    above = record.row(_call_of(record, under)).subject
    frame = record.row(start).subject
    while frame and frame != above:
        frame = record.frame(frame).parent
    return frame == above


def _condition(where: str | None) -> RecordedCondition | None:
    try:
        return None if where is None else RecordedCondition(where)
    except ConditionError as error:
        raise UsageError("INVALID_CONDITION", f"{str(error).rstrip('.')}.", {"condition": where}) from None


TOOLS = (
    Tool(
        name="history_get",
        title="How it changed",
        description=(
            "How something changed over a recorded run: every write of a variable or attribute, run of a line, or call "
            "of a function, with values and numbers for the next question."
        ),
        params=HistoryGet,
        run=_history,
        read_only=True,
        idempotent=True,
        phrase="recorded runs: each write and call, a moment, two compared",
        unlisted=frozenset({"run", "process"}),
    ),
    Tool(
        name="calls_get",
        title="What was called",
        description="The calls of a recorded run as a tree, with arguments and results; equal ones are counted.",
        params=CallsGet,
        run=_calls,
        read_only=True,
        idempotent=True,
        phrase="recorded runs: each write and call, a moment, two compared",
        unlisted=frozenset({"run", "process"}),
    ),
)
