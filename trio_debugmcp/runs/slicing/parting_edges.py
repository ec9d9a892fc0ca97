"""Where one of some rounds has gone a way of its own: the first line that ran in no other round."""

from collections import Counter
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import count
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode

_LEAST_ROUNDS, _MOST_ROUNDS = 3, 100

_MOST_ROWS = 400
"""Of one round: those of longer ones tell little."""


class PartingEdges:
    """The edges to where rounds of one process part."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_rounds(self, rounds: list[StatementExecution]) -> Iterator[SliceEdge]:
        """Yield the first line of the round that has most lines of its own, if most of the rounds have none.

        Args:
            rounds: the runs of one statement, the last first.
        """
        if not _LEAST_ROUNDS <= len(rounds) <= _MOST_ROUNDS:
            return
        ways = [self._way(run) for run in rounds]
        times = Counter(site for way in ways for site in way)
        own = [[row for site, row in way.items() if times[site] == 1] for way in ways]
        odd = max(own[:-1], key=len)  # what the first one alone has done is to begin
        if odd and 2 * sum(map(bool, own)) <= len(rounds):
            yield SliceEdge(cost.PARTING, SliceNode(min(odd)), self._note(min(odd), rounds))

    def _note(self, odd: int, rounds: list[StatementExecution]) -> str:
        """Return what is said of a line: it may have run in rounds, too, that did not get as far as the statement."""
        runs = count(self._record, rows.LINE, self._record.row(odd).key)
        line = rounds[0].statement.first
        reaching = f"in one of the {len(rounds)} rounds only that reach line {line}"
        return f"runs {reaching}" if runs == 1 else f"runs {runs:,} times, but {reaching}"

    def _way(self, run: StatementExecution) -> dict[int, int]:
        """Return the sites that ran in a round up to its statement, in order, each with its first row.

        What other tasks and threads did meanwhile is none of it.
        """
        begin = self._record.frame(run.frame).start
        for outer in run.statement.outer():
            header = self._past.executions.last_run(outer, run.frame, run.row) if outer.is_loop else None
            if header is not None:
                begin = header.row
                break
        way: dict[int, int] = {}
        is_within = {run.frame: True, 0: False}
        for number in range(max(begin, run.row - _MOST_ROWS), run.row):
            row = self._record.row(number)
            if row.kind == rows.LINE and self._is_within(row.subject, is_within):
                way.setdefault(row.key, number)
        return way

    def _is_within(self, frame: int, known: dict[int, bool]) -> bool:
        """Whether a frame is of a call within a round; `known` for some frames, and afterwards for this one, too."""
        callers = []
        while frame not in known:
            callers.append(frame)
            frame = self._record.frame(frame).parent
        known.update(dict.fromkeys(callers, known[frame]))
        return known[frame]
