"""`RecursionCycle`: which functions have called each other on and on, and with what.

    cycle = recursion_cycle(past, frame)        # of the innermost call that is known; None: none repeats
    cycle.begun                                 # the LINE row that made the first of these calls; 0: not recorded
    cycle_text(past, cycle)                     # walk -> parse -> walk, at least 494 rounds; depth=0, 1, 2, …, 493

At the limit there was no room to record what the last calls were given.
"""

from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.past_process import PastProcess

_MOST_FRAMES = 20_000

_MOST_APART = 12
"""Functions in one round."""

_MOST_INNERMOST = 20
"""Calls at the limit that are not a part of it: what a function of it has called when there was no more room."""

_LEAST_ROUNDS = 5

_MOST_CHANGES = 1_000

_FIELDS = frozenset({rows.FIELD})

_FIRST = 3
"""Rounds whose arguments are shown, before those of the last one."""


class RecursionCycle(NamedTuple):
    """Calls that repeat.

    Attributes:
        frames: of the first call of each round, the outermost first.
        names: of the functions of one round, in the order of their calls.
        begun: the LINE row that has made the first call; 0: that is not recorded.
    """

    frames: list[int]
    names: list[str]
    begun: int


def recursion_cycle(past: PastProcess, frame: int) -> RecursionCycle | None:
    """Return the calls that repeat above a frame, with it or with one that it was called by."""
    record = past.record
    frames: list[int] = []
    while frame and record.frames.has(frame) and len(frames) < _MOST_FRAMES:
        frames.append(frame)
        frame = record.frame(frame).parent
    codes = [record.frame(each).code for each in frames]
    for inner in range(min(_MOST_INNERMOST, len(codes))):
        for apart in range(1, _MOST_APART + 1):
            end = inner
            while end + apart < len(codes) and codes[end] == codes[end + apart]:
                end += 1
            if end - inner >= apart * _LEAST_ROUNDS:
                cycle = frames[inner : end + apart][::-1]
                names = [record.code(record.frame(each).code).name.replace(".<locals>", "") for each in cycle[:apart]]
                return RecursionCycle(cycle[::apart], names, record.row(record.frame(cycle[0]).start).owner)
    return None


def cycle_text(past: PastProcess, cycle: RecursionCycle) -> str:
    """Return who calls whom, how often, and the arguments that stay, or change."""
    calls = " -> ".join([*cycle.names, cycle.names[0]])
    code = past.record.code(past.record.frame(cycle.frames[0]).code)
    said = [_argument(past, cycle.frames, name) for name in code.params]
    return "; ".join(filter(None, (f"{calls}, at least {len(cycle.frames):,} rounds", *said)))


def written_into_itself(past: PastProcess, cycle: RecursionCycle) -> list[int]:
    """Return the lines that have put an argument that stays the same into itself."""
    record, lines = past.record, []
    start = record.row(record.frame(_last_known(past, cycle.frames)).start)
    for name in record.code(start.key).params:
        value = past.values.parameter(start, name)
        number = start.number if value is not None and value.object else 0
        for _ in range(_MOST_CHANGES if number else 0):
            number = record.back_of(_FIELDS, value.object, number) if value is not None else 0
            row = record.row(number) if number else None
            if row is None:
                break
            if value is not None and row.object == value.object and row.owner:
                lines.append(row.owner)
    return lines[:1]


def _last_known(past: PastProcess, frames: list[int]) -> int:
    """Return the last of some frames whose arguments are known: at the limit there was no room to record them."""
    record = past.record
    for frame in frames[:-_MOST_INNERMOST:-1]:
        start = record.row(record.frame(frame).start)
        if all(past.values.parameter(start, name) for name in record.code(start.key).params):
            return frame
    return frames[0]


def _argument(past: PastProcess, frames: list[int], name: str) -> str:
    """Return an argument in the first rounds and the last one; empty: it is not known."""
    record = past.record
    starts = [record.row(record.frame(frame).start) for frame in (*frames[:_FIRST], _last_known(past, frames))]
    found = [value for start in starts if (value := past.values.parameter(start, name)) is not None]
    if len(found) < len(starts):
        return ""
    texts = [value.text for value in found]
    if len({(value.object, value.text if not value.object else "") for value in found}) == 1:
        return f"{name} is the same {texts[0]} each time" if found[0].object else f"{name}={texts[0]} each time"
    return f"{name}={', '.join(texts[:-1])}, …, {texts[-1]}"
