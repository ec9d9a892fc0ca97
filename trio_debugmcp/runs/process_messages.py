"""What a recorded process put into queues and pipes of `multiprocessing`, and took out of them.

    taken = messages_at(past, execution, TAKING)    # of `number = results.get()`: the queue, and 3
    put = all_messages(past, PUTTING)               # in the order of time

A message is known by its text, as far as the record has all of it; who put it in is known by that, or by the order.
"""

import ast
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import each
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, call_of, depends_on_value
from trio_debugmcp.runs.source.read_paths import path_of

TAKING = frozenset({"get", "get_nowait", "recv"})

PUTTING = frozenset({"put", "put_nowait", "send"})

_KEEPING = frozenset({"append", "add", "appendleft"})
"""Methods whose argument is what a line wrote, if it wrote one thing."""

_QUEUES = ("<Queue>", "<JoinableQueue>", "<SimpleQueue>")

_PIPE = "<Connection>"

_MOST_RUNS = 2_000
"""Of a line that puts or takes."""


class ProcessMessage(NamedTuple):
    """A message that a line put in or took out.

    Attributes:
        row: of that line.
        thread: in which it ran.
        is_pipe: of a pipe, else of a queue.
        holder: the number of the queue, or of the end of the pipe, in its process.
        text: the message; None: the record does not have all of it.
        is_alone: each run of the line puts or takes one message, so that the order of lines is that of messages.
        call: as it is written.
    """

    row: int
    thread: int
    is_pipe: bool
    holder: int
    text: str | None
    is_alone: bool
    call: str


def all_messages(past: PastProcess, methods: frozenset[str]) -> list[ProcessMessage]:
    """Return the messages of a process by some methods, in the order of time."""
    return sorted(_all(past, methods), key=lambda message: message.row)


def _all(past: PastProcess, methods: frozenset[str]) -> Iterator[ProcessMessage]:
    for code in past.record.codes:
        scope = past.scopes.of_code(code.number)
        for statement in scope.statements if scope is not None else ():
            if not any(_method(call) in methods for call in statement.calls):
                continue
            for site in past.executions.sites(statement, code.number):
                for count, row in enumerate(islice(each(past.record, rows.LINE, site), _MOST_RUNS + 1)):
                    execution = past.executions.at(row)
                    if execution is None or execution.statement is not statement:
                        continue
                    for message in messages_at(past, execution, methods):
                        is_beyond = count == _MOST_RUNS  # it stands for all that follow: what they were is not known
                        yield message._replace(text=None, is_alone=False) if is_beyond else message


def messages_at(past: PastProcess, execution: StatementExecution, methods: frozenset[str]) -> Iterator[ProcessMessage]:
    """Yield the messages that one line put in or took out; none if it raised."""
    statement = execution.statement
    calls = [call for call in statement.calls if _method(call) in methods]
    if not calls or past.executions.raised(execution.row) is not None:
        return
    for call in calls:
        path = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
        holder = past.values.value(execution, path) if path is not None else None
        if holder is None or not holder.object or holder.text not in (*_QUEUES, _PIPE):
            continue
        if holder.text != _PIPE and not _is_between_processes(past, holder.object, execution.row):
            continue
        is_alone = len(calls) == 1 and not depends_on_value(call, *statement.heads) and not statement.is_loop
        text = _put(past, execution, call) if methods is PUTTING else _taken(past, execution, call)
        thread = past.record.frame(execution.frame).thread
        yield ProcessMessage(
            execution.row, thread, holder.text == _PIPE, holder.object, text, is_alone, ast.unparse(call)
        )


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_between_processes(past: PastProcess, queue: int, before: int) -> bool:
    """Whether a queue is one of `multiprocessing`: made by that, or given to a process as it began."""
    birth = past.values.birth(queue, before)
    row = past.record.row(birth) if birth else None
    if row is None or row.kind == rows.START:
        return row is not None and not row.owner
    execution = past.executions.at(birth)
    return execution is not None and any(_is_maker(past, execution, call) for call in execution.statement.calls)


def _is_maker(past: PastProcess, execution: StatementExecution, call: ast.Call) -> bool:
    path = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else path_of(call.func)
    value = past.values.value(execution, path) if path is not None else None
    if value is None:
        return False
    if isinstance(call.func, ast.Attribute):
        return value.text.startswith("<module multiprocessing") or value.text.endswith("Context>")
    return value.text.startswith("<bound method") or value.text == "<method>"  # `from multiprocessing import Queue`


# --- What a message was -----------------------------------------------------------------------------------------------


def _put(past: PastProcess, execution: StatementExecution, call: ast.Call) -> str | None:
    if len(call.args) != 1 or call.keywords:
        return None
    return _text_of(past, execution, call.args[0])


def _text_of(past: PastProcess, execution: StatementExecution, node: ast.expr) -> str | None:
    """Return the whole text of an expression; None: that is not known."""
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.Tuple):
        return _joined([_text_of(past, execution, item) for item in node.elts])
    if isinstance(node, ast.Call):
        starts = [start for start in past.executions.calls(execution.row) if call_of(past, execution, start) is node]
        ending = past.executions.outcome(starts[0].number) if len(starts) == 1 else None
        is_result = ending is not None and ending.kind == rows.RETURN
        return _whole(past.record.text(ending)) if ending is not None and is_result else None
    path = path_of(node)
    value = past.values.value(execution, path) if path is not None else None
    settled = past.executions.settled(execution.row)
    return _whole(past.values.text_at(value, settled)) if value is not None else None


def _taken(past: PastProcess, execution: StatementExecution, call: ast.Call) -> str | None:
    """Return the message that a line wrote down; None: it did something else with it, too."""
    node, wanted = execution.statement.node, list[str]()
    if isinstance(node, ast.Return) and node.value is call:
        ending = past.executions.ending(execution.row)
        return _whole(past.record.text(ending)) if ending is not None and ending.kind == rows.RETURN else None
    effects = past.executions.effects(execution.row)
    if isinstance(node, ast.Assign) and node.value is call and len(node.targets) == 1:
        target = node.targets[0]
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        wanted = [name.id for name in names if isinstance(name, ast.Name)]
        if len(wanted) != len(names) or len(set(wanted)) != len(wanted):
            return None
        written = {past.record.label(row.key).removeprefix("."): past.record.text(row) for row in effects}
        texts = [_whole(written[name]) if name in written else None for name in wanted]
        return _joined(texts) if isinstance(target, ast.Tuple) else texts[0]
    keeping = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    if keeping is not None and keeping.args == [call] and _method(keeping) in _KEEPING:
        items = [row for row in effects if row.kind == rows.FIELD and past.record.label(row.key)[:1] == "["]
        return _whole(past.record.text(items[0])) if len(items) == 1 else None
    return None


def _joined(texts: list[str | None]) -> str | None:
    """Return the text of a tuple of some texts."""
    known = [text for text in texts if text is not None]
    if len(known) != len(texts):
        return None
    return f"({known[0]},)" if len(known) == 1 else f"({', '.join(known)})"


def _whole(text: str) -> str | None:
    """Return a text that has all of its value, as numbers and strings have; None for others."""
    return None if any(sign in text for sign in ("…", "<", " of ")) else text
