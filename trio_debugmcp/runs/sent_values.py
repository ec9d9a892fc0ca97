"""Values out of a queue or pipe of `multiprocessing`, as lines of an answer took them: who put them in.

    sent_values(record, others, answer)     # ['results.get() (#54) took out (1, 21), put in by process 1901 at #37: …

A line is named only if no other can have put that in: by what the message is, or by its place in the order. Else it is
said that the value came from another process, and which lines may have been it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files.block_files import RunFileError
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.process_messages import PUTTING, TAKING, ProcessMessage, all_messages, messages_at
from trio_debugmcp.runs.slicing.shown.because_lines import because_line
from trio_debugmcp.runs.why import NoAnswerError, WhyAnswer, WhyQuestion, why

_MOST_PROCESSES, _MOST_SAID = 64, 3

_LINES = 4
"""Of the other process, that are shown: the rest has a question of its own."""

_MOST_TEXT = 40


class _Sender(NamedTuple):
    """A process, and what it put in and took out."""

    past: PastProcess
    put: list[ProcessMessage]
    taken: list[ProcessMessage]


def sent_values(record: ProcessRecord, others: Sequence[ProcessRecord], answer: WhyAnswer) -> list[str]:
    """Return what is to be said of the last line of an answer that took something out of a queue or pipe."""
    if answer.is_unreached:
        return []
    past = PastProcess(record)
    taken = _last_taken(past, answer)
    if taken is None:
        return []
    own = _Sender(past, all_messages(past, PUTTING), all_messages(past, TAKING))
    senders = list(_senders(others[:_MOST_PROCESSES]))
    candidates = [(sender, put) for sender in senders for put in sender.put if put.is_pipe == taken.is_pipe]
    may_be_own = any(put.is_pipe == taken.is_pipe and _may_reach(put, taken) for put in own.put)
    what = f"{taken.call} (#{taken.row})"
    looked_at = f"of the first {_MOST_PROCESSES} of {len(others)} processes" if len(others) > _MOST_PROCESSES else ""
    unknown = f"{what} took out what may be from another process; which line put it in is not known"
    if not candidates:
        recorded = f"{what} took out what another process put in, which was not recorded"
        return [] if may_be_own else [f"{unknown}: none {looked_at} put anything in" if looked_at else recorded]
    put = None
    if not may_be_own and len(others) <= _MOST_PROCESSES:
        all_taken = [message for side in (own, *senders) for message in side.taken]
        put = _by_text(candidates, all_taken, taken) or _by_order(own, senders, candidates, taken)
    if put is not None:
        return _named(what, *put)
    shown = [_place(sender, each) for sender, each in candidates[:_MOST_SAID]]
    left = len(candidates) - _MOST_SAID
    more = f" and {left:,} more" if left > 0 else ""
    more += f", {looked_at}" if looked_at else ""
    return [f"{unknown}: {', '.join(shown)}{more}"]


def _last_taken(past: PastProcess, answer: WhyAnswer) -> ProcessMessage | None:
    for line in reversed(answer.because):
        execution = past.executions.at(int(line.at[1:]))
        taken = list(messages_at(past, execution, TAKING)) if execution is not None else []
        if len(taken) == 1:
            return taken[0]
    return None


def _senders(others: Sequence[ProcessRecord]) -> Iterator[_Sender]:
    for other in others:
        try:
            past = PastProcess(other)
            yield _Sender(past, all_messages(past, PUTTING), all_messages(past, TAKING))
        except RunFileError:  # it was killed before it had written a thing
            continue


def _may_reach(put: ProcessMessage, taken: ProcessMessage) -> bool:
    """Whether a message of the same process may be what it took: of another end of a pipe, of the same queue."""
    return put.holder != taken.holder if taken.is_pipe else put.holder == taken.holder


_Put = tuple[_Sender, ProcessMessage]


def _by_text(candidates: list[_Put], all_taken: list[ProcessMessage], taken: ProcessMessage) -> _Put | None:
    """Return the message that alone can be the one that was taken, as all others were something else.

    If its text was taken out more than once, what is not recorded has put it in, too.
    """
    if taken.text is None or any(put.text is None or sender.past.record.first > 1 for sender, put in candidates):
        return None
    same = [found for found in candidates if found[1].text == taken.text]
    times = sum(message.text == taken.text and message.is_pipe == taken.is_pipe for message in all_taken)
    return same[0] if len(same) == 1 and times <= 1 else None


def _by_order(own: _Sender, senders: list[_Sender], candidates: list[_Put], taken: ProcessMessage) -> _Put | None:
    """Return the message at the same place in the order, if one thread of one process puts, and only this one takes."""
    sender = candidates[0][0]
    puts = [put for _, put in candidates]
    takes = [found for found in own.taken if found.is_pipe == taken.is_pipe]
    is_one = all(len({(each.thread, each.holder) for each in side}) == 1 for side in (puts, takes))
    is_alone = all(each.is_alone for each in (*puts, *takes)) and all(found[0] is sender for found in candidates)
    is_from_begin = own.past.record.first == sender.past.record.first == 1
    takes_own = any(found.holder == puts[0].holder for found in sender.taken) and not taken.is_pipe
    elsewhere = (found for other in senders for found in other.taken if found.is_pipe == taken.is_pipe)
    others_take = takes_own or (len(senders) > 1 and any(elsewhere))
    if not (is_one and is_alone and is_from_begin) or others_take:
        return None
    place = [found.row for found in takes].index(taken.row)
    if len(puts) < len(takes):
        return None
    pairs = zip(puts, takes, strict=False)
    fits = all(put.text is None or found.text is None or put.text == found.text for put, found in pairs)
    return (sender, puts[place]) if fits else None


def _place(sender: _Sender, put: ProcessMessage) -> str:
    line = because_line(sender.past, put.row)
    pid = sender.past.record.facts.pid
    text = f" {masked_beginning(put.text, _MOST_TEXT)}" if put.text is not None else ""
    return f"process {pid} #{put.row} line {line.line}{text}"


def _named(what: str, sender: _Sender, put: ProcessMessage) -> list[str]:
    """Return the lines that led to a message, in the process that put it in."""
    record = sender.past.record
    pid = record.facts.pid
    said = f'{what} took out what process {pid} put in: why(at="#{put.row}", process={pid}) leads on from there'
    try:
        inner = why(record, WhyQuestion(at=put.row, limit=_LINES)).because
    except NoAnswerError:
        inner = []
    lines = inner if any(line.at == f"#{put.row}" for line in inner) else [*inner, because_line(sender.past, put.row)]
    return [said, *(f"in process {pid}: {line}" for line in lines)]
