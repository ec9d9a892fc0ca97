"""What a container is asked for: the item of which a statement wants to know, by `get`, by an index, or by `in`."""

import ast

from trio_debugmcp.runs.past.asked_keys import label_of_keys
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.origins.stale_edges import asked_for_by, is_asking
from trio_debugmcp.runs.slicing.wanted_pieces import is_piece
from trio_debugmcp.runs.source.read_paths import PathRead, path_of


def label_asked_for(past: PastProcess, execution: StatementExecution, read: PathRead) -> str:
    """Return the label of the item that a container is asked for, as by `get`, or by several keys; empty: of none."""
    if read.asked_for and (read.target_of is None or is_asking(read.target_of)):
        label = label_of_keys(past, execution, read.asked_for[0])
        value = past.values.value(execution, read.path) if label else None
        if value is not None and past.values.field(value.object, label, execution.row) is not None:
            return label
    asked_for = asked_for_by(read)
    value = past.values.value(execution, asked_for) if asked_for is not None else None
    return past.record.label(past.record.row(value.row).key) if value is not None else ""


def named_in(past: PastProcess, execution: StatementExecution, read: PathRead) -> tuple[str, ...]:
    """Return the texts of what is looked for in a container: of `names.index("Jo")`, `"Jo" in names`: `'Jo'`."""
    texts = [repr(part.value) for part in read.asked_for if isinstance(part, ast.Constant)]
    paths = [path_of(part) for part in read.asked_for]
    values = [past.values.value(execution, path) for path in paths if path is not None]
    texts += [value.text for value in values if value is not None and not value.object]
    return tuple(text for text in texts if is_piece(text))
