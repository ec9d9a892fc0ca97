"""Breakpoints judged inside the program: conditions, hit conditions and log messages, and an exact count of the hits.

    hit('[["tp-1", 3, null, "% 2", "x is {x}"]]')      # the condition of a breakpoint: whether to stop there

Each list stands for one of the user's breakpoints on that line: its id, which of that id it is, its condition, its hit
condition and its log message; then how many messages it writes at most, where that is limited, and what a run observes
there (`observed`). Each hit is recorded before the program continues (`recorder`); user code is never run while the
recorder's lock is held.
"""

import sys
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from trio_debugmcp.probe.inside import message_templates, record_connection, signal_handlers
from trio_debugmcp.probe.inside.encoding import decoded, encoded
from trio_debugmcp.probe.inside.observed import Observed

REACHED = "@reached "
"""How the condition begins by which the calls of a traced function are found, where our engine judges it."""

STOPPED, LOGGED, COUNTED, FAILED = "stop", "log", "count", "fail"
"""Kinds of records: it stops there, it wrote a message, it was hit without either, its condition raised an error."""

_MOST_SPECIFICATIONS = 1000

_HitTest = Callable[[int, int], bool]

_TESTS: Dict[str, _HitTest] = {
    "==": lambda hits, number: hits == number,
    ">=": lambda hits, number: hits >= number,
    "<=": lambda hits, number: hits <= number,
    ">": lambda hits, number: hits > number,
    "<": lambda hits, number: hits < number,
    "%": lambda hits, number: number > 0 and hits % number == 0,
    "": lambda hits, number: hits == number,
}
"""In this order: what is longer first."""


def _hit_test(condition: str) -> Optional[Tuple[_HitTest, int]]:
    """Return what a hit condition asks of the number of hits: `>= 3`, `% 2`, `5`."""
    text = condition.lstrip()
    operator = next(each for each in _TESTS if text.startswith(each))
    digits = ""
    for letter in text[len(operator) :].lstrip():
        if not letter.isdecimal():
            break
        digits += letter
    return (_TESTS[operator], int(digits)) if digits else None


class Judge:
    """One breakpoint of the user's."""

    def __init__(
        self,
        id_: str,
        version: int,
        condition: Optional[str],
        hit_condition: Optional[str],
        message: Optional[str],
        most: int = 0,
    ) -> None:
        self.id, self.version, self.most = id_, version, most
        self.condition: Optional[Tuple[Any, bool]] = None
        self.traced: Optional[int] = None
        self.broken = ""
        if condition and condition.startswith(REACHED):
            self.traced = int(condition[len(REACHED) :])
        elif condition:
            try:
                self.condition = message_templates.compiled(condition)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                self.broken = message_templates.error_text(error)
        self.test = _hit_test(hit_condition or "")
        self.template = message_templates.Template(message, lenient=True) if message is not None else None

    def holds(self, frame: Any, global_names: Dict[str, Any], local_names: Any) -> Tuple[bool, str]:
        """Return whether the condition holds in a frame, and the error if that cannot be said."""
        if self.broken:
            return False, self.broken
        if self.traced is not None:
            reached(self.traced, frame)
            return False, ""
        if self.condition is None:
            return True, ""
        try:
            return bool(message_templates.evaluate(*self.condition, global_names, local_names)), ""
        except BaseException as error:  # also a SystemExit, which must not end the program
            if signal_handlers.has_raised(error):
                raise
            return False, message_templates.error_text(error)


def reached(number: int, frame: Any) -> None:
    """A frame is at the first line of a function whose calls are traced: see `call_tracer`."""
    from trio_debugmcp.probe.inside.tracing import call_tracer

    call_tracer.reached_in(number, frame)


_judges: Dict[str, List[Union[Judge, Observed]]] = {}


def hit(specification: str) -> bool:
    """Judge the breakpoints of a line in the frame that asks, record what became of them; return whether to stop."""
    return hit_in(specification, sys._getframe(1))


def hit_in(specification: str, asking: Any) -> bool:
    """Judge the breakpoints of a line in a frame, record what became of them; return whether to stop."""
    line = record_connection.line()
    if line is None:  # a fork that is not debugged
        return False
    global_names, local_names = asking.f_globals, asking.f_locals
    stop = False
    records = ""
    for judge in _judges.get(specification) or _parsed(specification):
        if isinstance(judge, Observed):
            stops, more = judge.look(line, global_names, local_names)
            stop = stop or stops
            if more:  # at once: the next one's condition may not end before the run is over
                line.write(more.encode())
            continue
        if judge.template is not None and (not line.is_open or _finished(line, judge)):
            continue
        holds, error = judge.holds(asking, global_names, local_names)
        if not holds and not error:
            continue
        if not line.is_of_this_process:  # asked only now, as that takes longer than all the rest
            return False
        if error:
            stop = stop or judge.template is None
            records += _record(judge, FAILED, _count(line, judge, 0 if judge.template else 1), error)
            continue
        hits, notify = _count_hit(line, judge)
        if hits == 0:
            continue
        if not notify:
            records += _record(judge, COUNTED, hits, "")
        elif judge.template is None:
            stop = True
            records += _record(judge, STOPPED, hits, "")
        else:
            records += _record(judge, LOGGED, hits, judge.template.render(global_names, local_names))
    if records:
        line.write(records.encode())
    return stop


def _parsed(specification: str) -> List[Union[Judge, Observed]]:
    if len(_judges) >= _MOST_SPECIFICATIONS:
        _judges.clear()
    judges = _judges[specification] = [_judge(each) for each in decoded(specification)]
    return judges


def _judge(form: List[Any]) -> Union[Judge, Observed]:
    if len(form) < 7:
        return Judge(*form)
    id_, version, guard, _, _, most, wanted = form
    return Observed(id_, version, guard, most, wanted)


def _count(line: record_connection.RecordConnection, judge: Judge, new: int) -> int:
    key = (judge.id, judge.version)
    with line.lock:
        hits = line.counts[key] = line.counts.get(key, 0) + new
    return hits


def _count_hit(line: record_connection.RecordConnection, judge: Judge) -> Tuple[int, bool]:
    """Count a hit; return its number, 0 if another thread's message was the last one, and whether it counts."""
    key = (judge.id, judge.version)
    with line.lock:
        if 0 < judge.most <= line.sent.get(key, 0):
            return 0, False
        hits = line.counts[key] = line.counts.get(key, 0) + 1
        notify = judge.test is None or judge.test[0](hits, judge.test[1])
        if notify and judge.most:
            line.sent[key] = line.sent.get(key, 0) + 1
    return hits, notify


def _finished(line: record_connection.RecordConnection, judge: Judge) -> bool:
    """Whether a tracepoint has written all its messages: nothing of it is evaluated any more."""
    return 0 < judge.most <= line.sent.get((judge.id, judge.version), 0)


def _record(judge: Judge, kind: str, hits: int, text: str) -> str:
    return encoded([kind, judge.id, judge.version, hits, text]) + "\n"
