r"""Why is a value what it is, why did a line run, why did it not: questions to a recorded run.

    answer = why(record, WhyQuestion())                         # what failed
    answer = why(record, WhyQuestion(expression="amount", at=54))
    answer = why(record, WhyQuestion(file="/w/shop.py", line=22))   # why did this line not run
    print("\n".join(map(str, answer.because)))

The answer is a backward slice by data, by control and by absence; see `backward_slice`.
"""

import ast
from itertools import chain

import msgspec

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import count
from trio_debugmcp.runs.past.caught_exceptions import caught_before, no_failure
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.naming_lines import MOST_NEAR, lines_back
from trio_debugmcp.runs.past.past_process import PastProcess, computed_value
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.past.same_names import same_names
from trio_debugmcp.runs.past.values_instead import value_instead
from trio_debugmcp.runs.past.written_calls import asked_instead, call_in, calls_back
from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.passed_handler_edges import passed_by
from trio_debugmcp.runs.slicing.backward_slice import SliceResult, backward_slice
from trio_debugmcp.runs.slicing.origins.recursion_edges import recursion_raised, recursion_said
from trio_debugmcp.runs.slicing.overlaps.concurrent_calls import calls_of
from trio_debugmcp.runs.slicing.overlaps.standstills import standstill
from trio_debugmcp.runs.slicing.run_failures import came_of_unrecorded, failure, looked_back_from
from trio_debugmcp.runs.slicing.shown.alias_notes import asked_objects
from trio_debugmcp.runs.slicing.shown.because_lines import BYTES_A_LINE, because_line, fitting
from trio_debugmcp.runs.slicing.shown.failed_comparisons import wanted_of
from trio_debugmcp.runs.slicing.shown.shortened_values import asked_parts
from trio_debugmcp.runs.slicing.shown.shown_gaps import shown_gap
from trio_debugmcp.runs.slicing.shown.shown_notes import shown_notes
from trio_debugmcp.runs.slicing.shown.unrecorded_calls import unrecorded_calls
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.unreached_lines import UnreachedLine, last_run_of_line, run_in_call, unreached
from trio_debugmcp.runs.slicing.wanted_pieces import NOTHING_WANTED
from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath, path_of, reads_of

_LINES = frozenset((rows.LINE,))

_MOST_GAPS = 4  # the nearest, as they were met


class WhyQuestion(msgspec.Struct, frozen=True):
    """A question to a run.

    Attributes:
        expression: what is asked about; empty: what failed.
        at: the moment, as the number of a row; 0: where it failed, else the end. With `line`: in the call meant.
        what: `value`: what made it; `run`: why the line at `at` ran.
        file, line: a line that did not run, or whose last run is asked about.
        limit: how many lines the answer has at most.
        known: rows that earlier answers have shown.
        raising: the message of what the line at `at` raises, where the program is stopped at that.
    """

    expression: str = ""
    at: int = 0
    what: str = "value"
    file: str = ""
    line: int = 0
    limit: int = 12
    known: frozenset[int] = frozenset()
    raising: str = ""


class WhyAnswer(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The answer.

    Attributes:
        value: what was asked about, and what it is.
        because: what led to it, in the order of time.
        gaps: what changed where nothing was recorded.
        omitted: lines that were found beyond `limit`, at least.
        repeated: lines of earlier answers that were passed over.
        is_unreached: the line that was asked about has not run.
        failed: without a question: the exception that was the failure.
        is_passed_on: it came out of a call of code that was not recorded, and so perhaps of another process.
        caught: exceptions that were caught before the failure, if the lines have none of them.
        unrecorded: calls of libraries in the lines, and what records these.
        elsewhere: what other processes of the run say to it.
    """

    value: str
    because: list[BecauseLine]
    gaps: list[str] = []
    omitted: int = 0
    repeated: int = 0
    is_unreached: bool = False
    failed: str = ""
    is_passed_on: bool = False
    caught: str = ""
    unrecorded: str = ""
    elsewhere: list[str] = []


class NoAnswerError(Exception):
    """A question that the record cannot answer, and what can be asked instead."""


def why(record: ProcessRecord, question: WhyQuestion) -> WhyAnswer:
    """Answer a question.

    Raises:
        NoAnswerError: the record cannot answer it.
    """
    past = PastProcess(record)
    if question.line:
        return _of_line(past, question)
    if question.at:
        return _of_moment(past, question)
    if question.expression and (call := call_in(_parsed(question.expression))) is not None:
        return _of_call_in(past, question, call, 0)
    if question.expression:
        return _of_last(past, question)
    return _of_failure(past, question)


def _of_last(past: PastProcess, question: WhyQuestion) -> WhyAnswer:
    """Answer about an expression where it had a value last; of several variables of the name it says which one."""
    execution = _end(past, question.expression)
    answer = _of_expression(past, question, execution)
    path = path_of(_parsed(question.expression))
    failed = failure(past)
    is_where_it_failed = failed is not None and failed.row == execution.row
    place = "" if path is None or is_where_it_failed else same_names(past, execution, path.name)
    return msgspec.structs.replace(answer, value=f"{answer.value} ({place})") if place else answer


def _of_failure(past: PastProcess, question: WhyQuestion) -> WhyAnswer:
    failed = failure(past)
    if failed is None:
        raise NoAnswerError(no_failure(past))
    line = because_line(past, failed.row)
    is_assertion = line.values[:1] == ["fails"]
    value = ": ".join(filter(None, (line.source, " ".join(line.values[1:])))) if is_assertion else failed.value
    again = [SliceEdge(cost.RAISED_AGAIN, SliceNode(row, aim="run"), "raised it again") for row in failed.again]
    execution = past.executions.at(failed.row)
    wanted = wanted_of(past, execution) if execution is not None else NOTHING_WANTED
    if wanted.said:
        value = f"{value}: {wanted.said}"
    value, calls = recursion_said(past, value, execution)
    again += [*calls, *passed_by(past, failed.raised)]
    asked = max([failed.raised, *(edge.node.row + 1 for edge in again)])
    answer = _answer(past, value, [SliceEdge(0.0, SliceNode(failed.row, wanted=wanted)), *again], question, asked)
    is_passed_on = execution is not None and came_of_unrecorded(past, execution)
    caught = caught_before(past, failed.raised, {(line.file, line.line) for line in answer.because})
    return msgspec.structs.replace(answer, failed=failed.value, is_passed_on=is_passed_on, caught=caught)


def _check_moment(past: PastProcess, at: int) -> None:
    if not past.record.first <= at <= past.record.last:
        raise NoAnswerError(f"this run has #{past.record.first} to #{past.record.last}, and no #{at}")


def _of_moment(past: PastProcess, question: WhyQuestion) -> WhyAnswer:
    _check_moment(past, question.at)
    record, row = past.record, past.record.row(question.at)
    at = question.at if row.kind in (rows.LINE, rows.START) else row.owner
    if row.kind == rows.RESUME:
        at = record.frame(row.subject).start
    if question.expression and record.row(at).kind == rows.START:  # as the first line of the call found it
        at = record.forth_of(_LINES, record.row(at).subject, at) or at
    execution = past.executions.at(at)
    if execution is None and record.row(at).kind == rows.START:
        return _of_call(past, question, at)
    if execution is None:
        raise NoAnswerError(f"#{question.at} has no line whose source is known")
    if question.expression and (call := call_in(_parsed(question.expression))) is not None:
        return _of_call_in(past, question, call, at)
    if question.expression:
        return _of_expression(past, question, execution)
    aim = "run" if question.what == "run" else "value"
    line = because_line(past, at)
    source = line.source.removesuffix(":")
    told = f"{source}: {' '.join(line.values)}" if line.values else line.source
    value = f"why #{at} ran{_of_several(past, question, execution)}: {told}" if aim == "run" else told
    ended = past.executions.ended(at)
    is_under_way = aim == "value" and ended > record.last
    wanted = wanted_of(past, execution, question.raising) if is_under_way else NOTHING_WANTED
    waits = standstill(past, execution) if is_under_way and not question.raising else ""
    if waits:
        value = f"{value}; {waits}"
    if wanted.said:  # it is under way, and compares: stopped at what is to come of that
        value = f"{source}: {wanted.said}"
    value, calls = recursion_raised(past, value, question.raising if is_under_way else "", execution)
    return _answer(past, value, [SliceEdge(0.0, SliceNode(at, aim=aim, wanted=wanted)), *calls], question, ended)


def _of_several(past: PastProcess, question: WhyQuestion, execution: StatementExecution) -> str:
    """Return what is to be said of a line that was named by its place, and ran more than once."""
    sites = past.executions.sites(execution.statement, execution.code) if question.line else []
    times = sum(count(past.record, rows.LINE, site) for site in sites)
    return f", the last of {times:,} runs of line {question.line}" if times > 1 else ""


def _of_call(past: PastProcess, question: WhyQuestion, start: int) -> WhyAnswer:
    """Answer why a function was called, and with these arguments."""
    row = past.record.row(start)
    line = because_line(past, start)
    note = "" if row.owner else "called where nothing is recorded"
    starts = [SliceEdge(0.0, SliceNode(start, names=past.record.code(row.key).params), note)]
    if past.executions.at(row.owner) is not None:
        starts.append(SliceEdge(0.0, SliceNode(row.owner, aim="run")))
    told = f"{line.function}: {' '.join(line.values)}" if line.values else line.function
    return _answer(past, f"the call of {told}", starts, question, start)


def _of_call_in(past: PastProcess, question: WhyQuestion, call: ast.Call, at: int) -> WhyAnswer:
    """Answer about a call as it is written in a line: in that at `at`, or in the last one that made it."""
    begin = at or looked_back_from(past)[1]
    ran = next(calls_back(past, call, begin, 1 if at else MOST_NEAR), None)
    text = ast.unparse(call)
    if ran is None:
        raise NoAnswerError(
            f"{text} is a call, which no line that was looked at has made of recorded code, and no code is run for an "
            f"answer: {asked_instead(past, call)}"
        )
    execution, node, ending = ran
    told = f"raises {past.record.text(ending)}" if ending.kind == rows.UNWIND else past.record.text(ending)
    value = f"{text} -> {told} (called at #{execution.row})"
    starts = [SliceEdge(0.0, SliceNode(execution.row, focus=(node,)))]
    return _answer(past, value, starts, question, past.executions.over(execution))


def _of_expression(past: PastProcess, question: WhyQuestion, execution: StatementExecution) -> WhyAnswer:
    focus = _parsed(question.expression)
    said = [_said(past, execution, read) for read in reads_of(focus) if not read.is_callee]
    if not any(said):
        instead = value_instead(past, [read.path for read in reads_of(focus)], execution)
        raise NoAnswerError(f"the record has no value of {question.expression} at #{execution.row}: {instead}")
    value = ", ".join(text for text in said if text)
    if len(said) > 1 or path_of(focus) is None:
        value = f"{question.expression}: {value}"
    start = SliceEdge(0.0, SliceNode(execution.row, focus=(focus,)))
    path = path_of(focus)
    is_within = any(computed_value(past, execution, read.path) for read in reads_of(focus))
    if path is not None and _written(past, execution, path) is not None:
        is_within = True
        start = SliceEdge(0.0, SliceNode(execution.row, names=() if path.steps else (path.name,)))
    asked = past.executions.over(execution) if is_within else execution.row + 1
    is_about = {read.path.name for read in execution.statement.reads} | {*execution.statement.names}
    is_about |= {stored.name for stored in execution.statement.stores}
    unshown = execution.row if is_about.isdisjoint(read.path.name for read in reads_of(focus)) else 0
    return _answer(past, value, [start], question, asked, unshown)


def _said(past: PastProcess, execution: StatementExecution, read: PathRead) -> str:
    value = _written(past, execution, read.path) or past.values.value(execution, read.path)
    if value is None:
        ending = computed_value(past, execution, read.path)
        return "" if ending is None else f"{read.path}={past.record.text(ending)} (read at #{execution.row})"
    text = past.values.text_at(value, max(value.row, past.executions.settled(execution.row)))
    holder = past.values.value(execution, read.path.holder) if read.path.steps else None
    is_old = value.row < execution.row and holder is not None and holder.object
    if is_old and holder is not None and past.values.is_big(holder.object, execution.row):
        text = f"{text} (when it was last seen, at #{value.owner or value.row}: not every item of it is watched)"
    return f"{read.path}={text or '?'}"


def _written(past: PastProcess, execution: StatementExecution, path: ValuePath) -> RecordedValue | None:
    """Return the value that a statement has given a path itself; None: it has not."""
    value = past.values.value(execution, path, past.executions.over(execution))
    is_own = value is not None and value.owner == execution.row and value.kind in (rows.WRITE, rows.FIELD)
    return value if is_own else None


def _of_line(past: PastProcess, question: WhyQuestion) -> WhyAnswer:
    last = last_run_of_line(past, question.file, question.line)
    found: UnreachedLine | None = None
    if question.at:
        _check_moment(past, question.at)
        in_call = run_in_call(past, question.file, question.line, question.at)
        if in_call is None and last:
            raise NoAnswerError(f"#{question.at} is in no call of the function of line {question.line}: leave out `at`")
        if isinstance(in_call, UnreachedLine):
            found = in_call
        elif in_call:
            question, last = msgspec.structs.replace(question, line=0), in_call
    if last and found is None:
        moment = msgspec.structs.replace(question, at=last, what="run", expression="")
        return _of_moment(past, moment)
    found = found or unreached(past, question.file, question.line)
    if found is None:
        raise NoAnswerError(
            past.scopes.without_code(question.file, question.line)
            or f"{question.file}:{question.line} has no statement that this run recorded: `source_get` shows the file"
        )
    answer = _answer(past, found.value, found.starts, question, past.record.last + 1)
    return msgspec.structs.replace(answer, is_unreached=True)


def _answer(
    past: PastProcess, value: str, starts: list[SliceEdge], question: WhyQuestion, asked: int, unshown: int = 0
) -> WhyAnswer:
    """Return the answer; `unshown`: a line that only says when the question is asked."""
    result: SliceResult = backward_slice(
        past, starts, limit=question.limit, asked=asked, known=question.known, unshown=unshown
    )
    asked_about = asked_parts(past, (start.node for start in starts), (part.row for part in result.parts))
    objects = asked_objects(past, [start.node for start in starts])
    calls = calls_of(past, [part.row for part in result.parts])
    noted = ((part, (*shown_notes(past, part, asked, objects), *calls.get(part.row, ()))) for part in result.parts)
    lines = [(part.far, because_line(past, part.row, notes, part.focus, asked_about)) for part, notes in noted]
    because = fitting(lines, BYTES_A_LINE * question.limit, past.record.facts.root)
    gaps = [shown_gap(past, gap) for gap in result.gaps[:_MOST_GAPS]]
    gaps += [f"{left} more such gaps, further away"] if (left := len(result.gaps) - _MOST_GAPS) > 0 else []
    unrecorded = unrecorded_calls(past, [part.row for part in result.parts])
    omitted = result.omitted + len(lines) - len(because)
    return WhyAnswer(value, because, gaps, omitted, result.repeated, unrecorded=unrecorded)


def _parsed(expression: str) -> ast.expr:
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NoAnswerError(f"{expression!r} cannot be read as an expression: {error}") from None


def _end(past: PastProcess, expression: str) -> StatementExecution:
    """Return the last execution in which an expression has a value."""
    paths = [read.path for read in reads_of(_parsed(expression))]
    last = _last_knowing(past, paths)
    if last is None:
        held = _last_knowing(past, [path.holder for path in paths if path.steps])
        raise NoAnswerError(f"the record has no value of {expression}: {value_instead(past, paths, held)}")
    return last


def _last_knowing(past: PastProcess, paths: list[ValuePath]) -> StatementExecution | None:
    """Return the last execution in which one of some paths has a value."""
    first, begin = looked_back_from(past)
    for number in chain(first, lines_back(past, [path.name for path in paths], begin)) if paths else ():
        execution = past.executions.at(number)
        if execution is not None and any(_is_known(past, execution, path) for path in paths):
            return execution
    return None


def _is_known(past: PastProcess, execution: StatementExecution, path: ValuePath) -> bool:
    known = past.values.value(execution, path) or _written(past, execution, path)
    return (known or computed_value(past, execution, path)) is not None
