"""Places that a run of the program is observed at: each pass is judged there, and hits are captured, without a stop.

    place = Observed("run-to-1", 3, None, 2, {"condition": "x > 1", "capture": ["x", "y"], "key": "r", "together": 5})
    place.look(line, globals, locals)       # whether to stop there, and the records of this pass

The hit that completes the run stops the program, so that it stands at a real place. What is captured runs within the
bounds of `bounds.py`; a condition that does not end is interrupted when the run is over (`interrupt_all`).
"""

import _thread
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import bounds, message_templates, record_connection, signal_handlers
from trio_debugmcp.probe.inside.bounds import Budget, TooSlowError
from trio_debugmcp.probe.inside.encoding import encoded
from trio_debugmcp.probe.inside.values import atoms, facts, rendering

CAPTURED, LOOKED, STOPPED = "capture", "look", "stop"
"""Kinds of records: a hit, a pass at which the condition did not hold, and that the program stops there."""

HIT_SECONDS = 1.0
"""For all that is captured at one hit: what does not end leaves the same time to the others."""

_VALUE_SECONDS = 0.2
"""To show what a condition is instead of true."""

_CAPTURE_SIZE = 10000


class _Expression:
    def __init__(self, text: str) -> None:
        self.error = ""
        self.given_up = False
        try:
            self.code, self.nested = message_templates.compiled(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.error = message_templates.error_text(error)

    def value(self, names: Tuple[Dict[str, Any], Any]) -> Any:
        return message_templates.evaluate(self.code, self.nested, *names)


class Observed:
    """One place of a run, as this process sees it."""

    def __init__(self, id_: str, version: int, guard: Optional[str], most: int, wanted: Dict[str, Any]) -> None:
        self.id, self.version, self.most = id_, version, most
        self._guard = _Expression(guard) if guard else None
        self._condition = _Expression(wanted["condition"]) if wanted.get("condition") else None
        self._captured = [_Expression(each) for each in wanted.get("capture", ())]
        self._run, self._together = (str(wanted["key"]), 0), int(wanted["together"])
        self._stops, self._until = bool(wanted.get("stops")), bool(wanted.get("until"))

    def look(
        self, line: record_connection.RecordConnection, global_names: Dict[str, Any], local_names: Any
    ) -> Tuple[bool, str]:
        """Judge one pass; return whether to stop, and its records."""
        names = (global_names, local_names)
        if not line.is_open or self._is_over(line) or not self._is_meant(names):
            return False, ""
        passes = _count(line, (self.id, self.version))
        if self._condition is not None:
            held, shown, error = self._judged(self._condition, names)
            if not held:
                failures = _count(line, (f"{self.id}!", self.version), 1 if error else 0)
                first = self._until and bool(error) and passes == 1
                records = self._record(LOOKED, passes, encoded([shown, failures, error]))
                return first, records + (self._record(STOPPED, passes, "") if first else "")
        hits, is_last = self._take(line)
        if not hits:  # another thread's was the last one
            return False, ""
        records = self._record(CAPTURED, hits, encoded([passes, self._values(names)]))
        stop = is_last and self._stops
        return stop, records + (self._record(STOPPED, hits, "") if stop else "")

    def _is_over(self, line: record_connection.RecordConnection) -> bool:
        return line.sent.get((self.id, self.version), 0) >= self.most or line.sent.get(self._run, 0) >= self._together

    def _is_meant(self, names: Tuple[Dict[str, Any], Any]) -> bool:
        """Whether this is the frame that is meant, and not that of a comprehension on the line."""
        try:
            return self._guard is None or bool(self._guard.value(names))
        except Exception:
            return False

    def _take(self, line: record_connection.RecordConnection) -> Tuple[int, bool]:
        """Count a hit; return its number, 0 if there were enough, and whether it is the last one of the run."""
        key = (self.id, self.version)
        with line.lock:
            hits, together = line.sent.get(key, 0) + 1, line.sent.get(self._run, 0) + 1
            if hits > self.most or together > self._together:
                return 0, False
            line.sent[key], line.sent[self._run] = hits, together
        return hits, together == self._together

    def _judged(self, condition: _Expression, names: Tuple[Dict[str, Any], Any]) -> Tuple[bool, str, str]:
        """Return whether the condition holds; if not, its value where that is wanted, and its error if it failed."""
        if condition.error:
            return False, "", condition.error

        def judge() -> Tuple[bool, Any]:
            value = condition.value(names)
            return bool(value), value

        try:
            held, value = _interruptible(judge)
        except TooSlowError:
            return False, "", "it did not end before the run was over"
        except BaseException as error:  # also a SystemExit, which must not end the program
            if signal_handlers.has_raised(error):
                raise
            return False, "", message_templates.error_text(error)
        return held, _shown(value) if self._until and not held else "", ""

    def _values(self, names: Tuple[Dict[str, Any], Any]) -> List[List[Optional[str]]]:
        """Return what is captured: the text of each value, and its type where that does not show it."""
        budget = Budget(HIT_SECONDS, _CAPTURE_SIZE)
        try:
            renderer = rendering.Renderer(budget)
            return [_value(each, names, budget, renderer) for each in self._captured]
        finally:
            budget.close()

    def _record(self, kind: str, number: int, text: str) -> str:
        return encoded([kind, self.id, self.version, number, text]) + "\n"


def _count(line: record_connection.RecordConnection, key: Tuple[str, int], new: int = 1) -> int:
    with line.lock:
        number = line.counts[key] = line.counts.get(key, 0) + new
    return number


def _value(
    wanted: _Expression, names: Tuple[Dict[str, Any], Any], budget: Budget, renderer: rendering.Renderer
) -> List[Optional[str]]:
    if wanted.error:
        return [f"<error: {wanted.error}>", None]
    if wanted.given_up:
        return [f"<error: not evaluated again: it {bounds.slowness()}>", None]
    begin = time.monotonic()
    try:
        value = budget.run(None, lambda: wanted.value(names))
    except TooSlowError:
        took = time.monotonic() - begin
        wanted.given_up = took >= bounds.patient(bounds.SLOW_SECONDS) * 0.9  # the timer is not exact
        why = f"it {bounds.slowness()}" if wanted.given_up else "not evaluated: no time left at this hit"
        return [f"<error: {why}>", None]
    except BaseException as error:  # also a SystemExit, which must not end the program
        if signal_handlers.has_raised(error):
            raise
        return [f"<error: {message_templates.error_text(error)}>", None]
    text = renderer.render(value)
    return [text, None if rendering.shows_type(value, text) else facts.shown_type(type(value))]


def _shown(value: Any) -> str:
    simple = atoms.of(type(value))
    if simple is not None:
        return str(simple(value, rendering.LIMIT))
    budget = Budget(_VALUE_SECONDS)
    try:
        return rendering.Renderer(budget).render(value)
    finally:
        budget.close()


# --- Conditions that do not end ---------------------------------------------------------------------------------------


class _RunningCondition:
    """A condition that a thread evaluates."""

    def __init__(self) -> None:
        self.thread = _thread.get_ident()
        self.lock = _thread.allocate_lock()
        self.active = True

    def close(self) -> None:
        """No exception is on its way afterwards: it must not hit what runs next."""
        while True:
            try:
                with self.lock:
                    self.active = False
                return
            except TooSlowError:  # it came between the evaluation and this method
                continue


_running: Dict[int, _RunningCondition] = {}


def _interruptible(function: Callable[[], Any]) -> Any:
    this = _RunningCondition()
    before = _running.get(this.thread)
    _running[this.thread] = this
    try:
        return function()
    finally:
        this.close()
        if before is None:
            del _running[this.thread]
        else:  # code of the program, which the condition runs, has come by an observed place
            _running[this.thread] = before


def interrupt_all() -> int:
    """Interrupt the conditions that are being evaluated; return how many these are."""
    found = list(_running.values())
    for each in found:
        with each.lock:
            if each.active:
                bounds.interrupt(each.thread, TooSlowError)
    return len(found)
