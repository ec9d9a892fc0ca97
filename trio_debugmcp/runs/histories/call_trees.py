"""The calls of a recorded run as a tree, equal ones folded and counted.

    tree = call_tree(past, root_starts(record), TreeLimits(depth=3))
    tree.calls[0].values                            # arguments and result of the first

Under one call, calls of one function are shown up to the third; the others are counted, with how they ended.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import called_by
from trio_debugmcp.runs.histories.call_histories import NO_FUNCTIONS, arguments_of, call_lookup, ending_of
from trio_debugmcp.runs.histories.recorded_conditions import RecordedCondition
from trio_debugmcp.runs.past.past_process import PastProcess

_SHOWN_EACH = 3
"""Calls of one function by one call that have a line each."""

_MOST_LOOKED = 20_000
"""Calls that are looked at for one answer."""

_MOST_OUTCOMES = 3


class CallNode(msgspec.Struct, frozen=True):
    """A line of the tree: a call, or several equal ones that are not shown.

    Attributes:
        depth: how many calls it is inside of, from where the tree begins.
        at: the number of the call, or of the last one of several.
        file, line, function: what was called.
        values: arguments and result, or what several came to.
        count: how many calls the line stands for.
    """

    depth: int
    at: str
    file: str
    line: int
    function: str
    values: list[str]
    count: int = 1


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
        """Add calls under one call, those of a function together, in the order of their first."""
        groups: dict[int, list[int]] = {}
        for start in starts:
            self.looked += 1
            if self.looked > _MOST_LOOKED:
                break
            groups.setdefault(self.past.record.row(start).key, []).append(start)
        for group in sorted(groups.values(), key=lambda group: group[0]):
            self._add_group(group, depth)

    def _add_group(self, group: list[int], depth: int) -> None:
        record = self.past.record
        shown = group if len(group) <= _SHOWN_EACH else group[: _SHOWN_EACH - 1]
        for start in shown:
            self.total += 1
            if len(self.calls) >= self.limits.lines:
                self.omitted += 1
                continue
            self.calls.append(_node(record, start, [*arguments_of(record, start), ending_of(record, start)], depth))
            if depth + 1 < self.limits.depth:
                self.add(starts_under(record, start), depth + 1)
        others = group[len(shown) :]
        if not others:
            return
        self.total += len(others)
        if len(self.calls) >= self.limits.lines:
            self.omitted += len(others)
            return
        outcomes = Counter(ending_of(record, start) for start in others)
        values = [f"{text} ({count:,} times)" for text, count in outcomes.most_common(_MOST_OUTCOMES)]
        more = len(outcomes) - _MOST_OUTCOMES
        values += [f"… {more} other outcomes"] if more > 0 else []
        self.calls.append(msgspec.structs.replace(_node(record, others[-1], values, depth), count=len(others)))


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


def is_call(record: ProcessRecord, number: int) -> bool:
    """Whether a row is the beginning of a call."""
    return record.row(number).kind == rows.START
