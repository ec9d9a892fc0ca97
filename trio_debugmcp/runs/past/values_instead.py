"""What is said where a record has no value of what was asked about: what is there instead, and what can be asked."""

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, getter_of
from trio_debugmcp.runs.past.same_names import elsewhere
from trio_debugmcp.runs.past.written_names import written_instead
from trio_debugmcp.runs.source.read_paths import ValuePath


def value_instead(past: PastProcess, paths: list[ValuePath], execution: StatementExecution | None) -> str:
    """Return what can be asked where the record has no value of some paths: of a property there are calls.

    `execution`: where an object may be known that has no such item or attribute; None: nowhere.
    """
    for path in paths:
        name = str(path.steps[-1])[1:] if path.steps else path.name
        getter = getter_of(past, name)
        if getter is not None:
            return f"{name} is a property, and history_get(function='{getter}') has what it returned"
    said = _not_in(past, paths, execution) if execution is not None else ""
    if not said and execution is not None and len(paths) == 1:
        said = elsewhere(past, execution, paths[0].name)
    named = written_instead(past.record, paths[0]) if paths else ""
    return said or f"name one that recorded code has written or read. {named}".strip()


def _not_in(past: PastProcess, paths: list[ValuePath], execution: StatementExecution) -> str:
    """Return which object has no such item or attribute, and what has set it since; empty: none of them is known."""
    for path in paths:
        held = past.values.value(execution, path.holder) if path.steps else None
        if held is not None and held.object:
            later = past.values.value(execution, path, past.record.last + 1)
            if later is not None and later.owner:
                since = f"after #{execution.row} had begun: why(at='#{later.owner}')"
                return f"#{later.owner} has set it to {later.text}, {since}"
            text, step = past.values.text_at(held, execution.row + 1), str(path.steps[-1]).strip("[].")
            return f"no {step} was seen in {path.holder}={text} at #{execution.row}: why(expression='{path.holder}')"
    return ""
