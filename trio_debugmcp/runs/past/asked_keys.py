"""Items of containers that are asked for by several values: `RATES[country, kind]`, `rates.get((country, "book"))`."""

import ast

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import is_whole
from trio_debugmcp.runs.source.read_paths import path_of


def label_of_keys(past: PastProcess, execution: StatementExecution, key: ast.expr) -> str:
    """Return the label of an item of several keys; empty: it is not known, or there is one key."""
    texts = [_text(past, execution, part) for part in key.elts] if isinstance(key, ast.Tuple) else []
    return f"[({', '.join(texts)}{',' if len(texts) == 1 else ''})]" if texts and all(texts) else ""


def _text(past: PastProcess, execution: StatementExecution, part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return repr(part.value)
    path = path_of(part)
    value = past.values.value(execution, path) if path is not None else None
    return "" if value is None or (value.object and not is_whole(value.text)) else value.text
