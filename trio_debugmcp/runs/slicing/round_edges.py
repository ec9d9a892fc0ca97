"""Rounds of a loop: what it began with, and the round that went another way than the others."""

import ast
from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import each_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.parting_edges import PartingEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode

_RARE = 20
"""A kind of round is rare if it is at most one in so many."""

_LEAST_ROUNDS = 8

_MOST_KINDS = 2

_MOST_ROUNDS, _MOST_WITHOUT_CALLS = 5_000, 300
"""The last ones. What a round read takes longer to find than what it called."""


_MOST_SIBLINGS = 30


class RoundEdges:
    """The edges between rounds of loops of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._parting = PartingEdges(past)

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the value before the first round of what a loop carries on, and the rare round among many."""
        statement = execution.statement
        carried = [read.path.name for read in statement.reads if read.path.name in statement.names]
        is_accumulating = bool(carried or statement.mutates or statement.stores)
        if not is_accumulating:
            return
        is_looped = any(outer.is_loop for outer in statement.outer())
        most = _MOST_ROUNDS if self._past.executions.calls(execution.row) else _MOST_WITHOUT_CALLS
        rounds = list(islice(self._rounds(execution, is_looped=is_looped), most))
        yield from self._parting.of_rounds(rounds)
        if not is_looped and len(rounds) < _LEAST_ROUNDS:
            return
        if carried and is_looped and len(rounds) > 1:
            before = self._past.values.name(rounds[-1], carried[0], rounds[-1].row)
            if before is not None and before.owner and self._record.row(before.owner).kind == rows.LINE:
                yield SliceEdge(cost.READ, SliceNode(before.owner))
        yield from self._rare(rounds)

    def of_siblings(self, execution: StatementExecution, *, is_unsure: bool = False) -> Iterator[SliceEdge]:
        """Yield what other rounds of a statement have read and called: what other statements than in this round did.

        `is_unsure`: something is missing, and its round may be one of the others.
        """
        known = {id(writer.statement) for writer in self._writers(execution)} | {id(execution.statement)}
        ends = {ending.key for ending in self._ends(execution)}
        for sibling in islice(self.siblings(execution), _MOST_SIBLINGS):
            aside = range(sibling.row, self._past.executions.ended(sibling.row))
            for ending in self._ends(sibling):
                if ending.key not in ends:
                    ends.add(ending.key)
                    yield SliceEdge(cost.SIBLING, SliceNode(ending.number, aside=aside, is_uncertain=is_unsure))
            for writer in self._writers(sibling):
                if id(writer.statement) not in known and not writer.statement.is_definition:
                    known.add(id(writer.statement))
                    yield SliceEdge(cost.SIBLING, SliceNode(writer.row))

    def siblings(self, execution: StatementExecution) -> Iterator[StatementExecution]:
        """Yield the runs of a statement in other rounds: of its loop, or in other calls by the line that called it."""
        if any(outer.is_loop for outer in execution.statement.outer()):
            runs = self._past.executions.runs(execution.statement, execution.frame, self._record.last + 1)
            yield from (run for run in runs if run.row != execution.row)
        caller = self._past.executions.caller(execution.frame)
        for start in self._calls_in_rounds(caller) if caller is not None else ():
            if start.kind == rows.START and start.subject != execution.frame and start.key == execution.code:
                run = self._past.executions.last_run(execution.statement, start.subject, self._record.last + 1)
                if run is not None:
                    yield run

    def _calls_in_rounds(self, caller: StatementExecution) -> Iterator[Row]:
        """Yield the calls of a line, the last first; of a generator expression those of all its rounds."""
        is_expression = isinstance(caller.scope.node, ast.GeneratorExp)
        end = self._record.last + 1
        rounds = self._past.executions.runs(caller.statement, caller.frame, end) if is_expression else iter((caller,))
        for run in islice(rounds, _MOST_SIBLINGS):
            yield from reversed(self._past.executions.calls(run.row))

    def _ends(self, execution: StatementExecution) -> list[Row]:
        """Return the lines at which the calls of a statement have ended."""
        endings = [self._past.executions.outcome(start.number) for start in self._past.executions.calls(execution.row)]
        return [self._record.row(ending.owner) for ending in endings if ending is not None and ending.owner]

    def _writers(self, execution: StatementExecution) -> Iterator[StatementExecution]:
        """Yield what has written the attributes and items that a statement reads."""
        for read in execution.statement.reads:
            value = self._past.values.read(execution, read) if read.path.steps and not read.is_callee else None
            writer = self._past.executions.at(value.owner) if value is not None and value.kind == rows.FIELD else None
            if writer is not None:
                yield writer

    def _rounds(self, execution: StatementExecution, *, is_looped: bool) -> Iterator[StatementExecution]:
        """Yield the runs of a statement up to one, the last first: in its loop, or in all calls of its function."""
        executions = self._past.executions
        if is_looped:
            yield from executions.runs(execution.statement, execution.frame, execution.row + 1)
            return
        for site in executions.sites(execution.statement, execution.code)[:1]:
            for row in each_back(self._record, rows.LINE, site, execution.row + 1):
                run = executions.at(row)
                if run is not None:
                    yield run

    def _rare(self, rounds: list[StatementExecution]) -> Iterator[SliceEdge]:
        kinds: dict[object, list[StatementExecution]] = {}
        for run in rounds:
            kinds.setdefault(self._kind(run), []).append(run)
        is_rare = len(rounds) >= _LEAST_ROUNDS
        others = [runs for runs in list(kinds.values())[1:] if not is_rare or len(runs) * _RARE <= len(rounds)]
        for runs in sorted(others, key=len)[:_MOST_KINDS]:
            others_left = len(rounds) - len(runs)
            note = f"differs from its other {f'{others_left} runs' if others_left > 1 else 'run'}"
            yield SliceEdge(cost.CHANGE if is_rare else cost.OTHER_ROUND, SliceNode(runs[-1].row), note)
            for start in self._past.executions.calls(runs[-1].row):
                ending = self._past.executions.outcome(start.number)
                if ending is not None and ending.owner:
                    yield SliceEdge(cost.OTHER_ROUND + cost.RESULT, SliceNode(ending.owner))

    def _kind(self, run: StatementExecution) -> object:
        """Return what rounds of one statement have in common: the lines that ended their calls, or kinds of values."""
        endings = [self._past.executions.outcome(start.number) for start in self._past.executions.calls(run.row)]
        if endings:
            return tuple(self._record.row(ending.owner).key if ending and ending.owner else 0 for ending in endings)
        values = [self._past.values.read(run, read) for read in run.statement.reads if not read.is_callee]
        return tuple(_kind_of_text(value.text) if value is not None else "" for value in values)


def _kind_of_text(text: str) -> str:
    """Return the kind of a value by its text: of a number whether it is negative, or none."""
    if text[:1] == "-":
        return "negative"
    if text in ("0", "0.0"):
        return "zero"
    if text[:1].isdigit():
        return "float" if "." in text else "int"
    return "text" if text[:1] in "'\"" else text[:12]
