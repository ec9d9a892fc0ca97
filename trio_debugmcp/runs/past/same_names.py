"""Variables of the same name: which one a question without a moment means, and which others there are.

    same_names(past, execution, "total")        # "in one, the last of 3 calls; a variable total is also in two (…)"

A question about `total` may be meant for another function that has one.
"""

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.source.source_scopes import SourceScope

_MOST_NAMED = 3

_OF_METHODS = frozenset({"self", "cls"})


def same_names(past: PastProcess, execution: StatementExecution, name: str) -> str:
    """Return where the variable of a name is that a line sees, and where others of that name are; empty: it is alone.

    Args:
        past: the process.
        execution: the line.
        name: of the variable.
    """
    home = execution.scope.home(name)
    others = {} if name in _OF_METHODS else _others(past, home, name)
    calls = len(past.scopes.frames_of(home)) if home is execution.scope and home.is_function else 1
    if not others and calls < 2:
        return ""
    place = f"in {_title(home)}"
    if calls > 1:
        place += f", the last of {calls} calls"
    if not others:
        return place
    return f"{place}; a variable {name} is also in {_listed(others)}"


def elsewhere(past: PastProcess, execution: StatementExecution, name: str) -> str:
    """Return where a variable of a name is that a line does not see; empty: it is nowhere."""
    others = _others(past, execution.scope.home(name), name)
    return f"{execution.scope.name} has none; a variable {name} is in {_listed(others)}" if others else ""


def _listed(others: dict[str, int]) -> str:
    named = [f'{title} (at="#{row}")' for title, row in list(others.items())[:_MOST_NAMED]]
    left = len(others) - len(named)
    return f"{', '.join(named)}{f' and {left} more' if left > 0 else ''}"


def _others(past: PastProcess, home: SourceScope | None, name: str) -> dict[str, int]:
    """Return the lines that have written other variables of a name last, by the titles of their scopes."""
    key, last = past.record.key_of(name), past.record.last + 1
    found: dict[str, int] = {}
    for scope in past.mentions.binding(name) if key else ():
        if scope is home:
            continue
        frames = reversed(past.scopes.frames_of(scope))
        number = next((row for row in (past.record.back(rows.WRITE, key, frame, last) for frame in frames) if row), 0)
        if number and (owner := past.record.row(number).owner):
            found[_title(scope)] = owner
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _title(scope: SourceScope | None) -> str:
    return "the module" if scope is None or scope.parent is None else scope.name.replace(".<locals>", "")
