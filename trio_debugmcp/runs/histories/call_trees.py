"""The calls of a recorded run as a tree, equal ones folded and counted.

    tree = call_tree(past, root_starts(record), TreeLimits(depth=3))
    tree.calls[0].values                            # arguments and result of the first

Under one call, calls of one function are shown up to the third; the others are counted, with how they ended.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import called_by
from trio_debugmcp.runs.histories.call_histories import (
    NO_FUNCTIONS,
    arguments_of,
    call_lookup,
    ending_of,
    outcome_of,
    outcome_text,
)
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_conditions import RecordedCondition

_SHOWN_EACH = 3
"""Calls of one function by one call that have a line each."""

_MOST_LOOKED = 20_000
"""Calls that are looked at for one answer."""

_MOST_INSIDE = 100
"""Calls of one call that are counted where they are too deep to be shown."""


class CallNode(msgspec.Struct, frozen=True):
    """A line of the tree: a call, or several equal ones that are not shown.

    Attributes:
        depth: how many calls it is inside of, from where the tree begins.
        at: the number of the call, or of the last one of several.
        file, line, function: what was called.
        values: arguments and result, or what several came to.
        count: how many calls the line stands for.
        until: the number with which the call ended; None if it has not, and where the line stands for several.
    """

    depth: int
    at: str
    file: str
    line: int
    function: str
    values: list[str]
    count: int = 1
    until: str | None = None


class CallTree(msgspec.Struct, frozen=True):
    """The lines of the tree; `omitted`: calls that are in none of them; `undecided`: by the condition."""

    calls: list[CallNode]
    total: int
    omitted: int = 0
    undecided: int = 0
    is_least: bool = False


class TreeLimits(msgspec.Struct, frozen=True):
    """How much of a tree is shown: levels, and lines."""

    depth: int = 3
    lines: int = 100


class _Growing:
    """A tree while it is made."""

    def __init__(self, past: PastProcess, limits: TreeLimits) -> None:
        self.past, self.limits = past, limits
        self.calls: list[CallNode] = []
        self.looked = self.total = self.omitted = 0

    def add(self, starts: Iterable[int], depth: int) -> None:
        """Add calls under one call in the order of time; the further ones of a function stand where these begin."""
        groups: dict[int, list[int]] = {}
        for start in starts:
            self.looked += 1
            if self.looked > _MOST_LOOKED:
                break
            groups.setdefault(self.past.record.row(start).key, []).append(start)
        for line in sorted(line for group in groups.values() for line in _lines_of(group)):
            self._add_line(line, depth)

    def _add_line(self, line: list[int], depth: int) -> None:
        """Add a call, or several of one function in one line."""
        record = self.past.record
        self.total += len(line)
        if len(self.calls) >= self.limits.lines:
            self.omitted += len(line)
            return
        if len(line) > 1:
            outcomes = Counter(ending_of(record, start) for start in line)
            values = [text if count == 1 else f"{text} ({count:,} times)" for text, count in outcomes.most_common(3)]
            more = len(outcomes) - len(values)
            values += [f"… {more} other outcome{'s' if more > 1 else ''}"] if more > 0 else []
            self.calls.append(msgspec.structs.replace(_node(record, line[-1], values, depth), count=len(line)))
            return
        (start,) = line
        is_deepest = depth + 1 >= self.limits.depth
        inside = _inside(record, start) if is_deepest else []
        end = outcome_of(record, start)
        node = _node(record, start, [*arguments_of(record, start), outcome_text(record, end), *inside], depth)
        self.calls.append(node if end is None else msgspec.structs.replace(node, until=f"#{end.number}"))
        if not is_deepest:
            self.add(starts_under(record, start), depth + 1)


def _lines_of(group: list[int]) -> list[list[int]]:
    """Return the calls of one function by the lines that they have: one each, but the further ones together."""
    shown = len(group) if len(group) <= _SHOWN_EACH else _SHOWN_EACH - 1
    return [[start] for start in group[:shown]] + ([group[shown:]] if len(group) > shown else [])


def _inside(record: ProcessRecord, start: int) -> list[str]:
    """Return what is to be said of the calls that a call has made, where these are too deep to be shown."""
    count = sum(1 for _ in islice(starts_under(record, start), _MOST_INSIDE))
    return [f"… {count}{' or more' if count == _MOST_INSIDE else ''} inside"] if count else []


def call_tree(past: PastProcess, starts: Iterator[int], limits: TreeLimits) -> CallTree:
    """Return the tree of these calls and of what they have called."""
    growing = _Growing(past, limits)
    growing.add(starts, 0)
    return CallTree(growing.calls, growing.total, growing.omitted, is_least=growing.looked > _MOST_LOOKED)


def starts_under(record: ProcessRecord, start: int) -> Iterator[int]:
    """Yield the calls that a call has made, as far as their code is recorded; of class bodies those that they made."""
    for frame in called_by(record, record.row(start).subject):
        yield from _with_bodies(record, frame)


def root_starts(record: ProcessRecord) -> Iterator[int]:
    """Yield the calls with which what is recorded begins: modules, and the first calls of threads."""
    for frame in called_by(record, 0):
        number = record.frame(frame).start
        if number >= record.first:
            yield number


def outermost(record: ProcessRecord, starts: Iterable[int], depth: int) -> Iterator[int]:
    """Yield the calls that are not inside of another one of these, within so many levels: there they are shown."""
    kept: set[int] = set()
    for start in starts:
        frame, levels = record.row(start).subject, depth - 1
        above = record.frame(frame).parent
        while above and levels and above not in kept:
            above, levels = record.frame(above).parent, levels - 1
        if not (above and levels):
            kept.add(frame)
            yield start


def _with_bodies(record: ProcessRecord, frame: int) -> Iterator[int]:
    found = record.frame(frame)
    if found.start < record.first:
        return
    if record.code(found.code).kind == "class":
        yield from starts_under(record, found.start)
    else:
        yield found.start


def matching(
    past: PastProcess, starts: Iterator[int], condition: RecordedCondition | None, undecided: list[int]
) -> Iterator[int]:
    """Yield the calls of which a condition holds; those of which it is not known are added to a list."""
    for start in starts:
        holds = True if condition is None else condition.holds(call_lookup(past, start))
        if holds is None:
            undecided.append(start)
        if holds:
            yield start


def _node(record: ProcessRecord, start: int, values: list[str], depth: int) -> CallNode:
    code = record.code(record.row(start).key)
    name = code.name.replace(".<locals>", "") if code.kind not in NO_FUNCTIONS else code.name
    return CallNode(depth, f"#{start}", code.file, code.first, name, values)
