"""What an answer says beside one of its lines: why it is there, and how other runs of it differ."""

import ast

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.backward_slice import SlicePart
from trio_debugmcp.runs.slicing.origins.combined_items import combined_note
from trio_debugmcp.runs.slicing.overlaps.lost_update_edges import WROTE_OVER
from trio_debugmcp.runs.slicing.shown.accumulated_rounds import rounds_of
from trio_debugmcp.runs.slicing.shown.alias_notes import alias_note, items_note
from trio_debugmcp.runs.slicing.shown.differing_runs import differing_items, raised_runs

_MOST_DECORATOR = 40
"""Characters of one that are shown."""


def shown_notes(past: PastProcess, part: SlicePart, asked: int, objects: frozenset[int]) -> tuple[str, ...]:
    """Return what is said beside a line of an answer to a question about a row, and about some objects."""
    execution = past.executions.at(part.row)
    if execution is None:
        return part.notes
    is_lost = any(note.startswith(WROTE_OVER) for note in part.notes)  # what it added, it added to another value
    rounds = rounds_of(past, execution) if not is_lost else ""
    notes = (_decorated(execution), rounds or differing_items(past, execution), raised_runs(past, execution, asked))
    return (
        *part.notes,
        *filter(
            None,
            (*notes, combined_note(past, execution), alias_note(past, objects, execution), items_note(past, execution)),
        ),
    )


def _decorated(execution: StatementExecution) -> str:
    """Return what is said of a function with several decorators: their order may be what is wrong."""
    node = execution.statement.node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or len(node.decorator_list) < 2:
        return ""
    first, last = node.decorator_list[0], node.decorator_list[-1]
    texts = [ast.unparse(decorator) for decorator in node.decorator_list]
    said = [f"@{text if len(text) <= _MOST_DECORATOR else f'{text[:_MOST_DECORATOR]}…'}" for text in texts]
    return f"decorated by {' '.join(said)} (lines {first.lineno} to {last.lineno}), the last one first"
