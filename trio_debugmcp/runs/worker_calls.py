"""Functions that lines of an answer have handed over, and that ran in other processes: a pool's workers.

    worker_calls(record, others, answer)     # ["work(name='pie') -> 0 ran in process 1901: why(at="#14", …", …]

A call is followed only where its result is what was asked about, and no other call of that function had that result.
Where none had, and a process has ended during a call, as one that breaks its pool, that call is named.
"""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.block_files import RunFileError
from trio_debugmcp.runs.files.process_record import ProcessRecord, Row
from trio_debugmcp.runs.files.row_search import each_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.why import NoAnswerError, WhyAnswer, WhyQuestion, why

_FUNCTION = re.compile(r"<function (?:.*\.)?(\w+)>")

_ASKED = re.compile(r"(?:=|-> )([^=]+)$")
"""The value at the end of what an answer says it is about."""

_MOST_FUNCTIONS, _MOST_PROCESSES, _MOST_CALLS = 2, 64, 1_000

_MOST_SAID = 3

_LINES = 4
"""Of the other process, that are shown: the rest has a question of its own."""

_MOST_TEXT = 30
"""Characters of an argument or a result: it is there to tell the calls apart."""


class CallElsewhere(NamedTuple):
    """A call in another process.

    Attributes:
        record: of that process.
        start: its START row.
        ending: how it ended; None: it has not.
    """

    record: ProcessRecord
    start: Row
    ending: Row | None

    @property
    def at(self) -> int:
        """The row to ask about: of the line that ended it, which leads on; of one under way its START."""
        is_ended = self.ending is not None and self.ending.owner
        return self.ending.owner if self.ending is not None and is_ended else self.start.number

    @property
    def result(self) -> str:
        """The text of what it returned; empty: it did not."""
        is_result = self.ending is not None and self.ending.kind == rows.RETURN
        return self.record.text(self.ending) if self.ending is not None and is_result else ""


def worker_calls(
    record: ProcessRecord, others: Sequence[ProcessRecord], answer: WhyAnswer, gone: Container[int | None] = ()
) -> list[str]:
    """Return what is to be said of calls in other processes that lines of an answer have had made.

    Args:
        record: the process that the answer is about.
        others: those of the same run.
        answer: the answer.
        gone: the processes that have ended otherwise than their parent has asked them to.
    """
    if not others or answer.is_unreached:
        return []
    past, said = PastProcess(record), list[str]()
    for name, texts in islice(_handed_over(past, answer).items(), _MOST_FUNCTIONS):
        if past.scopes.named(name):
            continue  # it was called here, too: which process gave the value is not known
        calls = [call for other in others[:_MOST_PROCESSES] for call in _readable_calls(other, name)]
        asked = _ASKED.search(answer.value)
        same = [call for call in calls if call.result and asked and call.result == asked[1]]
        same = same or [call for call in calls if call.result and call.result in texts]
        if len(same) == 1:
            said += _followed(same[0], name)
        elif not same and (lost := [call for call in calls if call.ending is None and call.record.facts.pid in gone]):
            said += [_lost(call, name) for call in lost[:_MOST_SAID]]
        elif calls:
            said.append(_several(same or calls, name, same[0].result if same else ""))
    return said


def _handed_over(past: PastProcess, answer: WhyAnswer) -> dict[str, set[str]]:
    """Return the functions that lines of an answer have given to calls, with what these lines wrote."""
    found: dict[str, set[str]] = {}
    for line in reversed(answer.because):
        execution = past.executions.at(int(line.at[1:]))
        for name in _functions_given(past, execution) if execution is not None else ():
            effects = past.executions.effects(execution.row) if execution is not None else []
            found.setdefault(name, set()).update(past.record.text(effect) for effect in effects if not effect.object)
    return found


def _functions_given(past: PastProcess, execution: StatementExecution) -> Iterator[str]:
    for read in execution.statement.reads:
        value = past.values.read(execution, read) if read.argument_of is not None and not read.is_callee else None
        function = _FUNCTION.fullmatch(value.text) if value is not None else None
        if function is not None:
            yield function[1]


def _readable_calls(record: ProcessRecord, name: str) -> list[CallElsewhere]:
    try:
        return list(_calls_of(record, name))
    except RunFileError:  # it was killed before it had written a thing
        return []


def _calls_of(record: ProcessRecord, name: str) -> Iterator[CallElsewhere]:
    """Yield the calls of a function in a process that no recorded line has made, in the order in which they began."""
    past = PastProcess(record)
    for code in record.codes:
        if code.name.rpartition(".")[2] != name:
            continue
        starts = list(islice(each_back(record, rows.START, code.number, record.last + 1), _MOST_CALLS))
        for start in (record.row(number) for number in reversed(starts)):
            if not start.owner or past.executions.at(start.owner) is None:
                yield CallElsewhere(record, start, past.executions.outcome(start.number))


def _followed(call: CallElsewhere, name: str) -> list[str]:
    """Return the lines that led to the result of a call, in its process."""
    pid = call.record.facts.pid
    said = f'{_shown(call, name)} ran in process {pid}: why(at="#{call.at}", process={pid}) leads on from there'
    try:
        inner = why(call.record, WhyQuestion(at=call.at, limit=_LINES))
    except NoAnswerError:
        return [said]
    return [said, *(f"in process {pid}: {line}" for line in inner.because)]


def _lost(call: CallElsewhere, name: str) -> str:
    """Return what is to be said of a call during which its process has ended."""
    pid = call.record.facts.pid
    return f"process {pid} ended during {_shown(call, name)}: why(process={pid}) says what led to it"


def _several(calls: list[CallElsewhere], name: str, result: str) -> str:
    """Return which calls may have given a value, where that is not known."""
    said = [f"process {call.record.facts.pid} {_shown(call, name)} (#{call.at})" for call in calls[:_MOST_SAID]]
    left = len(calls) - _MOST_SAID
    more = f" and {left:,} more" if left > 0 else ""
    which = f"{len(calls):,} calls of {name} returned {result}" if result else f"{name} ran in other processes"
    first = calls[0]
    return (
        f"{which}, and which of them it was is not known: {', '.join(said)}{more}; "
        f'why(at="#{first.at}", process={first.record.facts.pid}) asks about the first'
    )


def _shown(call: CallElsewhere, name: str) -> str:
    past = PastProcess(call.record)
    effects = [row for row in past.executions.effects(call.start.number) if row.kind == rows.WRITE]
    given = ", ".join(
        f"{call.record.label(row.key)}={masked_beginning(call.record.text(row), _MOST_TEXT)}" for row in effects
    )
    if call.ending is None:
        return f"{name}({given})"
    verb = "raises" if call.ending.kind == rows.UNWIND else "->"
    return f"{name}({given}) {verb} {masked_beginning(call.record.text(call.ending), _MOST_TEXT)}"
