"""Runs of a line that differ from its others: which of many items it has put is another kind, in how many it raised.

    differing_items(past, execution)    # "2 of 40 items differ: [3]=-3 (#45), [10]=None (#136)"
    raised_runs(past, execution)        # "raised in 3 of 5 runs (#36, #69, #78)"

A slice shows each line of the source once, by one of its runs; the wrong one may be another.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from statistics import median

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import each_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.recorded_contents import literal

_MOST_RUNS = 300
"""That are looked at: the last ones."""

_LEAST_ITEMS = 5

_FEW = 5
"""Items differ if they are at most one in so many."""

_FAR = 10
"""A number differs if it is so many times as far from the middle one as half of the others are."""

_MOST_SAID = 3

_MOST_TEXT = 24

_FIELDS = frozenset({rows.FIELD})

_WORDS, _DIGITS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")


def raised_runs(past: PastProcess, execution: StatementExecution, before: int) -> str:
    """Return in how many runs before a row a line has raised the same type of exception, and which raised others."""
    own = past.executions.raised(execution.row)
    if own is None:
        return ""
    kind, count = _type_of(past, own), 0
    raised, others = list[str](), list[str]()
    for site in past.executions.sites(execution.statement, execution.code)[:1]:
        for row in islice(each_back(past.record, rows.LINE, site, before), _MOST_RUNS):
            count += 1
            found = past.executions.raised(row)
            if found is not None and _type_of(past, found) == kind:
                raised.append(f"#{row}")
            elif found is not None:
                others.append(f"#{row} {_type_of(past, found)}".rstrip())
    least = "the last " if count >= _MOST_RUNS else ""
    said = f"{len(raised)} of {least}{count} runs ({_some(raised[::-1])})" if len(raised) > 1 else ""
    if not others:
        return said and f"raised in {said}"
    return f"{said and f'raised {kind} in {said}; '}others of {least}{count} runs raised: {_some(others[::-1])}"


def _type_of(past: PastProcess, raised: Row) -> str:
    """Return the type of the exception of a RAISE row, as its text has it."""
    return past.record.text(raised).split("(", maxsplit=1)[0]


def differing_items(past: PastProcess, execution: StatementExecution) -> str:
    """Return which items differ among those that a line has put into one container; empty: none, or too many."""
    if not isinstance(execution.statement.node, ast.Expr | ast.Assign):
        return ""
    effects = [row for row in past.executions.effects(execution.row) if past.record.label(row.key)[:1] == "["]
    if len(effects) != 1:
        return ""
    items = list(_items(past, execution, effects[0]))[::-1]
    texts = [past.record.text(row) for row in items]
    places = _differing(texts) if len(items) >= _LEAST_ITEMS else []
    if not places:
        return ""
    said = [
        f"{past.record.label(items[place].key)}={masked_beginning(texts[place], _MOST_TEXT)} (#{items[place].owner})"
        for place in places
    ]
    least = "the last " if len(items) >= _MOST_RUNS else ""
    verb = "differs" if len(places) == 1 else "differ"
    return f"{len(places)} of {least}{len(items)} items {verb}: {_some(said)}"


def _items(past: PastProcess, execution: StatementExecution, last: Row) -> Iterator[Row]:
    """Yield the rows with which a line has put items into a container, the last ones first."""
    seen: set[int] = set()
    number = last.number
    for _ in range(_MOST_RUNS):
        row = past.record.row(number)
        writer = past.executions.at(row.owner) if row.owner else None
        if writer is not None and writer.statement is execution.statement and row.key not in seen:
            yield row
        seen.add(row.key)
        number = past.record.back_of(_FIELDS, last.subject, number)
        if not number:
            return


def _differing(texts: list[str]) -> list[int]:
    """Return the places of the few values of another kind than most have, or else of numbers far from the others."""
    kinds = [_kind(text) for text in texts]
    usual, times = Counter(kinds).most_common(1)[0]
    others = [place for place, kind in enumerate(kinds) if kind != usual]
    if others:
        return others if len(others) * _FEW <= len(texts) and times + len(others) == len(texts) else []
    numbers = [value for value in map(literal, texts) if type(value) in (int, float)]
    if len(numbers) < len(texts):
        return []
    middle = median(numbers)
    spread = median(abs(number - middle) for number in numbers)
    far = [place for place, number in enumerate(numbers) if abs(number - middle) > _FAR * spread > 0]
    return far if len(far) * _FEW <= len(texts) else []


def _kind(text: str) -> str:
    """Return what values of one kind have in common: of a number its sign, of a text how it is put together."""
    if text[:1] == "-":
        return "negative"
    if text[:1].isdigit():
        return "number"
    if text[:1] in "'\"":
        return _DIGITS.sub("9", _WORDS.sub("a", text[1:-1])) or "empty"
    return _DIGITS.sub("9", text.split("(", maxsplit=1)[0].split(" ", maxsplit=1)[0][:12])


def _some(said: list[str]) -> str:
    if len(said) <= _MOST_SAID:
        return ", ".join(said)
    return f"{', '.join(said[: _MOST_SAID - 1])}, …, {said[-1]}"
