"""Attributes of `threading.local()`: each thread has its own, so a record has no values of them.

The line that set one last in the same thread is followed; where there is none, those that set it in other threads.
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import each_back, thread_of
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.past.recorded_values import type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath, path_of
from trio_debugmcp.runs.source.source_scopes import Statement

_ASKING = ("getattr", "hasattr")

_MOST_RUNS = 1_000
"""Of a line that sets the attribute, in whatever thread."""


class ThreadLocalEdges:
    """The edges to what has set attributes of thread-local objects of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_reads(self, execution: StatementExecution, reads: Iterable[PathRead]) -> Iterator[SliceEdge]:
        """Yield what has set the attributes that some reads of a line go through, or ask for by name."""
        reads = list(reads)
        for target, label in dict.fromkeys((*self._on_the_way(execution, reads), *self._named(execution, reads))):
            yield from self._of_attribute(execution, target, label)

    def _on_the_way(self, execution: StatementExecution, reads: list[PathRead]) -> Iterator[tuple[int, str]]:
        for read in reads:
            for place, step in enumerate(read.path.steps):
                target = self._local(execution, ValuePath(read.path.name, read.path.steps[:place]))
                if target and isinstance(step, str) and step[:1] == ".":
                    yield target, step

    def _named(self, execution: StatementExecution, reads: list[PathRead]) -> Iterator[tuple[int, str]]:
        """Yield what `getattr(context, "user", None)` asks for."""
        for call in {id(read.argument_of): read.argument_of for read in reads}.values():
            path = path_of(call.args[0]) if call is not None and called(call) in _ASKING and call.args else None
            name = call.args[1] if path is not None and call is not None and len(call.args) > 1 else None
            target = self._local(execution, path) if path is not None else 0
            if target and isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield target, f".{name.value}"

    def _local(self, execution: StatementExecution, path: ValuePath) -> int:
        """Return the number of a thread-local object; 0: the path leads to something else."""
        value = self._past.values.value(execution, path)
        if value is None or not value.object:
            return 0
        name = type_name(value.text)
        bases = (base for scope in self._past.scopes.classes(name) for base in scope.bases)
        is_local = name == "_local" or any(base.rpartition(".")[2] == "local" for base in bases)
        return value.object if is_local else 0

    def _of_attribute(self, execution: StatementExecution, target: int, label: str) -> Iterator[SliceEdge]:
        own = perhaps = other = 0
        thread = self._thread(execution)
        for run in self._stores(target, label, execution.row):
            of = self._thread(run)
            if of == thread:
                own = max(own, run.row)
            elif of[0] == thread[0]:
                perhaps = max(perhaps, run.row)
            else:
                other = max(other, run.row)
        if own:
            note = f"sets {label}, which #{execution.row} reads in the same thread"
            yield SliceEdge(cost.READ, SliceNode(own), note)
        if own > perhaps:
            return
        if perhaps:
            note = f"sets {label}; whether #{execution.row} reads it in the same thread is not known"
            yield SliceEdge(cost.READ, SliceNode(perhaps), note)
        if other:
            note = f"sets {label}, but not in the thread of #{execution.row}"
            yield SliceEdge(cost.ABSENCE, SliceNode(other), note)

    def _stores(self, target: int, label: str, before: int) -> Iterator[StatementExecution]:
        """Yield the runs that have set an attribute of an object: of each line the last one in each thread."""
        for statement in self._past.mentions.storing(label):
            threads = set[tuple[int, int]]()
            for run in self._runs(statement, before):
                thread = self._thread(run)
                if thread not in threads and self._is_of(run, target, label):
                    threads.add(thread)
                    yield run

    def _runs(self, statement: Statement, before: int) -> Iterator[StatementExecution]:
        for code in self._past.scopes.codes_of(statement.scope):
            for site in self._past.executions.sites(statement, code):
                for row in islice(each_back(self._record, rows.LINE, site, before), _MOST_RUNS):
                    run = self._past.executions.at(row)
                    if run is not None and run.statement is statement:
                        yield run

    def _is_of(self, run: StatementExecution, target: int, label: str) -> bool:
        holders = (path.holder for path in run.statement.stores if path.steps[-1] == label)
        values = (self._past.values.value(run, holder) for holder in holders)
        is_own = any(value is not None and value.object == target for value in values)
        return is_own and self._past.executions.raised(run.row) is None

    def _thread(self, run: StatementExecution) -> tuple[int, int]:
        """Return the number of a line's thread, and its outermost frame, if that is not the first thread.

        A thread that begins when another one has ended may get its number: only calls of one frame are surely of one.
        """
        first = self._record.frame(self._record.frames.first)
        thread, frame = thread_of(self._record, self._record.row(run.row)), run.frame
        if thread == first.thread and self._record.code(first.code).name == "<module>":
            return thread, 0
        while parent := self._record.frame(frame).parent:
            frame = parent
        return thread, frame
