"""Lines that have made the items of a container in rounds, where it is not known which round made the wanted item.

    {row["name"]: count(row) for row in read() if row}      # `count` was called three times: which of them is it?

Their edges lead to what was done in each round, that which fits best first, and say that it may be another one.
"""

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import of_tuple
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import is_in


class UncertainRounds:
    """The rounds of lines of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def chosen(self, execution: StatementExecution, path: tuple[str, ...], starts: list[Row]) -> list[Row]:
        """Return the calls of a line whose results are on the way to a wanted item, if that is known: else all.

        Those with an equal result come first: another round may have had one, too.
        """
        wanted = self._on_the_way(execution, path)
        objects = {target for target, _ in wanted} - {0}
        endings = {start.number: self._past.executions.outcome(start.number) for start in starts}
        same = [start for start in starts if (end := endings[start.number]) is not None and end.object in objects]
        if same:
            return same
        texts = [text for target, text in wanted if not target]
        return sorted(starts, key=lambda start: _place(self._text(endings[start.number]), texts, path))

    def of_call(self, edge: SliceEdge, start: Row, starts: list[Row]) -> SliceEdge:
        """Return an edge into one of some calls: not known to be that of the wanted item, if there are several."""
        same = [other.subject for other in starts if other.key == start.key]
        is_continued = self._record.code(start.key).kind == "coroutine"  # that is one call, however often it waits
        if len(set(same) if is_continued else same) < 2:
            return edge
        return _perhaps(edge, range(start.number, self._past.executions.ended(edge.node.row)))

    def of_line(self, edge: SliceEdge) -> SliceEdge:
        """Return an edge to what has been done to items: not known to be to the wanted one."""
        return _perhaps(edge, range(edge.node.row, edge.node.row + 1))

    def _on_the_way(self, execution: StatementExecution, path: tuple[str, ...]) -> set[tuple[int, str]]:
        """Return what a line has made, at each step of the way to an item of it."""
        ending = self._past.executions.ending(execution.row)
        made = [*self._past.executions.effects(execution.row)[-1:], *([ending] if ending is not None else [])]
        found: set[tuple[int, str]] = set()
        for whole in {row.object for row in made} - {0}:
            target, value = whole, None
            for label in path:
                item = self._past.values.field(target, label, self._record.last + 1) if target else None
                value = item or (of_tuple(value, label) if value is not None else None)
                if value is None:
                    break
                found.add((value.object, value.text))
                target = value.object
        return found

    def _text(self, ending: Row | None) -> str:
        return self._record.text(ending) if ending is not None and ending.kind != rows.UNWIND else ""


def _place(text: str, texts: list[str], path: tuple[str, ...]) -> int:
    """Return how well the text of a result fits: it is a value on the way, or has it beside the key, or has it not."""
    if text in texts:
        return 0
    has_value = any(is_in(wanted, text) for wanted in texts)
    return 3 - has_value - (has_value and any(is_in(label[1:-1], text) for label in path))


def _perhaps(edge: SliceEdge, aside: range) -> SliceEdge:
    node: SliceNode = edge.node._replace(aside=aside, is_uncertain=True)
    return edge._replace(node=node)
