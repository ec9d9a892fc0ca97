"""What a program that stands still waits for: which line holds the lock, where that thread or task is, and so on.

    steps = Standstills(past).steps(execution)      # of a lock that a line has not got
    said = standstill(past, execution)              # "transfer waits at #36 (line 12) for journal, which report …"

It is about the end of a record: a line is under way there if nothing of its frame came after it.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.handed_over_calls import HandedOverCalls
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.slicing.origins.opaque_edges import OpaqueEdges
from trio_debugmcp.runs.slicing.overlaps.concurrent_calls import calls_of
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of
from trio_debugmcp.runs.source.source_scopes import Statement

_WAITS = ("acquire", "join", "wait", "get", "result")
"""Methods that come back when another thread or task has done something."""

_SUSPENDING = ("coroutine", "async_generator", "generator")

_LAST_EVENTS = frozenset({rows.LINE, rows.RESUME, rows.RETURN, rows.YIELD, rows.UNWIND})

_MOST_STEPS, _MOST_FRAMES, _MOST_DEPTH = 5, 100, 50

_MOST_SUSPENDED = 4

_MOST_TEXT = 60


class StandstillStep(NamedTuple):
    """One wait.

    Attributes:
        waiting: the line that waits.
        path: for what.
        is_thread: it waits for the end of a thread, and not for a lock or an event.
        holder: the line that has acquired the lock.
        now: the line at which the one is that holds it.
    """

    waiting: StatementExecution
    path: ValuePath
    is_thread: bool
    holder: StatementExecution | None
    now: StatementExecution | None


class Standstills:
    """The waits of one process at the end of its record."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._opaque = OpaqueEdges(past)
        self._handed = HandedOverCalls(past)

    def steps(self, execution: StatementExecution) -> list[StandstillStep]:
        """Return what a line waits for, what that waits for which holds it, and so on; empty: it does not wait."""
        steps: list[StandstillStep] = []
        at: StatementExecution | None = execution
        while at is not None and len(steps) < _MOST_STEPS and at.row not in [step.waiting.row for step in steps]:
            step = self._step(at)
            if step is None:
                break
            steps.append(step)
            at = step.now
        return steps

    def suspended(self) -> list[StatementExecution]:
        """Return the lines at which coroutines await something at the end of the record, in order."""
        found = []
        for code in self._record.codes:
            scope = self._past.scopes.of_code(code.number) if code.kind in _SUSPENDING[:2] else None
            for frame in self._past.scopes.frames_of(scope)[-_MOST_FRAMES:] if scope is not None else ():
                number = self._record.back_of(_LAST_EVENTS, frame, self._record.last + 1)
                row = self._record.row(number) if number else None
                if row is not None and row.kind == rows.YIELD and row.owner:
                    found.append(row.owner)
        lines = [self._past.executions.at(row) for row in sorted(found)]
        return [line for line in lines if line is not None]

    def stands(self, execution: StatementExecution) -> bool:
        """Whether a line is under way at the end of the record, and has called nothing that is."""
        number = self._past.executions.ended(execution.row)
        is_under_way = number > self._record.last
        if not is_under_way:
            row = self._record.row(number)
            is_last = row.number == self._record.back_of(_LAST_EVENTS, execution.frame, self._record.last + 1)
            return row.kind == rows.YIELD and row.owner == execution.row and is_last
        calls = self._past.executions.calls(execution.row)
        return all(self._past.executions.outcome(start.number) is not None for start in calls)

    def _step(self, execution: StatementExecution) -> StandstillStep | None:
        if not self.stands(execution):
            return None
        for path, method in _waited_for(execution.statement):
            value = self._past.values.value(execution, path)
            if value is None or not value.object:
                continue
            if method == "join":
                frame = self._frame_of_thread(value.object)
                now = self._now(frame) if frame else None
                if now is not None:
                    return StandstillStep(execution, path, True, None, now)
            holder = next(self._holders(execution, value.object), None) if method in ("with", "acquire") else None
            is_lock = method == "with" and holder is None and not self._is_left(execution)
            if not is_lock:
                return StandstillStep(execution, path, False, holder, self._now(holder.frame) if holder else None)
        return None

    def _is_left(self, execution: StatementExecution) -> bool:
        """Whether a `with` awaits something: other contexts than locks are entered without waiting."""
        return self._past.executions.ended(execution.row) <= self._record.last

    def _holders(self, waiting: StatementExecution, target: int) -> Iterator[StatementExecution]:
        """Yield the lines of other frames that have acquired a lock, and have not released it."""
        names = self._opaque.names_of(target)
        end = self._record.last + 1
        releases = [
            (statement, path)
            for statement, path, call in self._past.mentions.method_calls(names)
            if called(call) == "release"
        ]
        acquires = [
            (statement, path)
            for statement, path, call in self._past.mentions.method_calls(names)
            if called(call) == "acquire"
        ]
        for statement, path in [*self._past.mentions.entering(frozenset(names)), *acquires]:
            for frame in self._past.scopes.frames_of(statement.scope)[-_MOST_FRAMES:][::-1]:
                run = self._past.executions.last_run(statement, frame, end)
                if run is None or run.row == waiting.row or not self._is_of(run, path, target):
                    continue
                if isinstance(statement.node, ast.With | ast.AsyncWith):
                    if self._is_inside(run):
                        yield run
                elif not self.stands(run) and not self._is_released(run, releases, target):
                    yield run

    def _is_of(self, run: StatementExecution, path: ValuePath, target: int) -> bool:
        value = self._past.values.value(run, path)
        return value is not None and value.object == target

    def _is_inside(self, run: StatementExecution) -> bool:
        """Whether a frame is in the block of a `with` now."""
        number = self._record.back_of(_LAST_EVENTS, run.frame, self._record.last + 1)
        last = self._past.executions.at(self._past.executions.last_line(run.frame))
        is_over = self._record.row(number).kind in (rows.RETURN, rows.UNWIND)
        return not is_over and last is not None and run.statement in list(last.statement.outer())

    def _is_released(self, run: StatementExecution, releases: list[tuple[Statement, ValuePath]], target: int) -> bool:
        for statement, path in releases:
            for frame in self._past.scopes.frames_of(statement.scope)[-_MOST_FRAMES:]:
                later = self._past.executions.last_run(statement, frame, self._record.last + 1)
                if later is not None and later.row > run.row and self._is_of(later, path, target):
                    return True
        return False

    def _frame_of_thread(self, target: int) -> int:
        """Return the first frame of a thread, by the object that was made for it; 0: not known."""
        maker = self._past.executions.at(self._past.values.birth(target, self._record.last + 1))
        starts = self._handed.starts_of(maker) if maker is not None else []
        return starts[0].subject if len(starts) == 1 else 0

    def _now(self, frame: int) -> StatementExecution | None:
        """Return the line that a call, or the innermost of those that it has made, is at."""
        line = 0
        for _ in range(_MOST_DEPTH):
            line = self._past.executions.last_line(frame) or line
            started = [
                start
                for start in (self._past.executions.calls(line) if line else ())
                if self._past.executions.outcome(start.number) is None
            ]
            if not started:
                break
            frame = started[-1].subject
        execution = self._past.executions.at(line) if line else None
        return execution if execution is not None and self.stands(execution) else None


def standstill(past: PastProcess, execution: StatementExecution) -> str:
    """Return who waits for what where a program stands still; empty: the line does not wait."""
    found = Standstills(past)
    steps = found.steps(execution)
    if steps:
        lines = [line.row for step in steps for line in (step.waiting, step.holder) if line is not None]
        calls = calls_of(past, lines)
        return "; ".join(_wait(step, calls) for step in steps) + _circle(steps)
    if not found.stands(execution):
        return ""
    suspended = found.suspended()
    said = [
        f"{_name(line)} awaits at #{line.row} (line {line.statement.first}): "
        f"{masked_beginning(line.statement.text, _MOST_TEXT)}"
        for line in suspended[:_MOST_SUSPENDED]
    ]
    left = len(suspended) - _MOST_SUSPENDED
    return "; ".join([*said, *([f"{left} more wait, too"] if left > 0 else [])])


def _circle(steps: list[StandstillStep]) -> str:
    """Return whether the last of these waits is for what another one, or itself, holds."""
    last, waiting = steps[-1].now, [step.waiting.row for step in steps]
    if last is None or last.row not in waiting:
        return ""
    around = len(steps) - waiting.index(last.row)
    who = {1: "it waits for what it holds itself", 2: "each waits for the other"}.get(
        around, "each waits for the next one"
    )
    return f": {who}, a deadlock"


def _wait(step: StandstillStep, calls: Mapping[int, Sequence[str]]) -> str:
    name, line = _name(step.waiting, calls), step.waiting.statement.first
    what = f"the end of {step.path}" if step.is_thread else str(step.path)
    said = f"{name} waits at #{step.waiting.row} (line {line}) for {what}"
    if step.holder is not None:
        holder = step.holder
        said += f", which {_name(holder, calls)} holds since #{holder.row} (line {holder.statement.first})"
    return said


def _name(execution: StatementExecution, calls: Mapping[int, Sequence[str]] = MappingProxyType({})) -> str:
    """Return the function of a line, and which call of it that is where several ran at the same time."""
    return " ".join((execution.scope.name.replace(".<locals>", ""), *calls.get(execution.row, ())))


def _waited_for(statement: Statement) -> Iterator[tuple[ValuePath, str]]:
    """Yield what a statement may wait for, each with how: by a method, or by `with`."""
    for call in statement.calls:
        target = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
        if target is not None and called(call) in _WAITS:
            yield target, called(call)
    if isinstance(statement.node, ast.With | ast.AsyncWith):
        for item in statement.node.items:
            path = path_of(item.context_expr)
            if path is not None:
                yield path, "with"
