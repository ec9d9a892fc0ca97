"""`OpenedRuns`: the files of recorded runs, opened to be asked; what was read is kept for the next question.

    record = await opened.ask(directory, is_over=True, pid=None, work=lambda record: why(record, question))

Reading is work without an end in sight, so it is done in a thread, one question at a time.
"""

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import trio

from trio_debugmcp.runs.files.block_files import RunFileError
from trio_debugmcp.runs.files.block_indexes import BlockIndexes
from trio_debugmcp.runs.files.process_record import ProcessRecord, RecordedRun, open_run
from trio_debugmcp.runs.files.run_facts import RunFacts, facts_of_run

T = TypeVar("T")

_KEPT = 2
"""Runs whose columns are kept in memory: one, and the one that it is compared with."""


class ProcessAnswer(NamedTuple, Generic[T]):
    """What was found, in the record of which process, and of how many."""

    found: T
    record: ProcessRecord
    processes: int


class OpenedRuns:
    """The runs that were asked last."""

    def __init__(self) -> None:
        self._opened: OrderedDict[str, RecordedRun] = OrderedDict()
        self._facts: dict[str, RunFacts] = {}
        self._indexes: OrderedDict[str, BlockIndexes] = OrderedDict()
        self._one = trio.CapacityLimiter(1)

    def __repr__(self) -> str:
        return f"<OpenedRuns {list(self._opened)}>"

    async def ask(
        self,
        directory: str,
        work: Callable[[ProcessRecord], T],
        *,
        is_over: bool,
        pid: int | None = None,
        likely: int | None = None,
        passes_on: tuple[type[Exception], ...] = (),
        settles: Callable[[T], bool] = lambda _: True,
        refused: Callable[[Exception], Exception] = lambda error: error,
        completed: Callable[[T, ProcessRecord, list[ProcessRecord]], T] = lambda found, *_: found,
    ) -> ProcessAnswer[T]:
        """Return what `work` finds in the record of a process: of that id, or the one that was launched.

        `likely`: without `pid`, the process that is asked first, if it is recorded. `passes_on`: where it raises one
        of these, the other processes are asked. `settles`: whether what was found is what was looked for; where it is
        not, the others are asked, too, and the first answer counts if no other is. `refused`: returns what is raised
        where none has an answer, of what the first has raised. `completed`: returns what was found with what the other
        processes say to it. `is_over`: the files do not change
        any more. When the caller is cancelled, the thread is left to itself, and the next question waits.

        Raises:
            RunFileError: there is no such record, or it cannot be read.
        """

        def run() -> ProcessAnswer[T]:
            opened = self._open(directory, is_over=is_over)
            answer = best_of(opened)
            others = [record for record in opened.processes if record is not answer.record]
            return answer._replace(found=completed(answer.found, answer.record, others))

        def best_of(opened: RecordedRun) -> ProcessAnswer[T]:
            recorded = {record.facts.pid for record in opened.processes}
            first = process_of(opened, likely if pid is None and likely in recorded else pid)
            second_best: ProcessAnswer[T] | None = None
            failed: Exception | None = None
            for record in (first, *(other for other in opened.processes if other is not first)):
                try:
                    answer = ProcessAnswer(work(record), record, len(opened.processes))
                except passes_on as error:
                    failed = failed or error
                    continue
                if settles(answer.found):
                    return answer
                second_best = second_best or answer
            if second_best is None:
                raise RunFileError("the run has no process") if failed is None else refused(failed)
            return second_best

        return await trio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=self._one)

    async def ask_two(
        self, directories: tuple[str, str], work: Callable[[ProcessRecord, ProcessRecord], T], *, is_over: bool
    ) -> T:
        """Return what `work` finds in the records of two runs, each of the process that was launched.

        Raises:
            RunFileError: one of them cannot be read.
        """

        def run() -> T:
            first, second = (self._open(directory, is_over=is_over) for directory in directories)
            return work(process_of(first, None), process_of(second, None))

        return await trio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=self._one)

    async def facts(self, directory: str, *, is_over: bool) -> RunFacts:
        """Return what is known of a run as a whole.

        Raises:
            RunFileError: nothing of it can be read.
        """
        known = self._facts.get(directory)
        if known is None:
            known = await trio.to_thread.run_sync(
                lambda: facts_of_run(directory), abandon_on_cancel=True, limiter=self._one
            )
            if is_over:
                self._facts[directory] = known
        return known

    def forget(self, directory: str) -> None:
        """Forget a run whose files are gone."""
        self._opened.pop(directory, None)
        self._facts.pop(directory, None)
        self._indexes.pop(directory, None)

    def _open(self, directory: str, *, is_over: bool) -> RecordedRun:
        """Open a run; called in the one thread that reads."""
        known = self._opened.get(directory) if is_over else None
        if known is None:
            indexes = self._indexes.setdefault(directory, BlockIndexes())  # of blocks that do not change any more
            self._indexes.move_to_end(directory)
            while len(self._indexes) > _KEPT:
                self._indexes.popitem(last=False)
            known = open_run(Path(directory), indexes)
        if is_over:
            self._opened[directory] = known
            self._opened.move_to_end(directory)
            while len(self._opened) > _KEPT:
                self._opened.popitem(last=False)
        return known


def process_of(run: RecordedRun, pid: int | None) -> ProcessRecord:
    """Return the record of a process of a run.

    Raises:
        RunFileError: it has none of that id.
    """
    found = next((record for record in run.processes if pid in (None, record.facts.pid)), None)
    if found is None:
        known = ", ".join(str(record.facts.pid) for record in run.processes)
        raise RunFileError(f"the run has no process {pid}; it has {known}")
    return found
