"""Calls of one function that ran at the same time: tasks, threads, generators. Their lines look like those of one.

    calls_of(past, [35, 42, 50])        # {35: ("in call #33 (name='ben')",), 42: ("in call #25 (name='ann')",), …}

A call within another, as of a recursion, is not beside it.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.past_process import PastProcess

_ENDS = frozenset({rows.RETURN, rows.UNWIND})

_MOST_ARGUMENT = 24

_MOST_DEEP = 50
"""Callers of a call that are looked through for another one."""


def calls_of(past: PastProcess, lines: Iterable[int]) -> dict[int, tuple[str]]:
    """Return which call each line is of, where it shows several of one function that ran beside one another."""
    frames = {line: past.record.row(line).subject for line in lines}
    by_code: dict[int, list[int]] = {}
    for frame in dict.fromkeys(frames.values()):
        by_code.setdefault(past.record.frame(frame).code, []).append(frame)
    said: dict[int, str] = {}
    for beside in by_code.values():
        if any(_are_concurrent(past, one, other) for one, other in combinations(sorted(beside), 2)):
            said |= _named(past, beside)
    return {line: (said[frame],) for line, frame in frames.items() if frame in said}


def _are_concurrent(past: PastProcess, one: int, other: int) -> bool:
    """Whether a call began while another one had, and not within it."""
    first, later = sorted(map(past.record.frame, (one, other)), key=lambda frame: frame.start)
    end = past.record.forth_of(_ENDS, first.number, first.start)
    return (not end or end > later.start) and not _is_within(past, later.number, first.number)


def _is_within(past: PastProcess, frame: int, other: int) -> bool:
    for _ in range(_MOST_DEEP):
        frame = past.record.frame(frame).parent
        if frame in (0, other):
            break
    return frame == other


def _named(past: PastProcess, beside: Sequence[int]) -> dict[int, str]:
    """Return what tells calls apart: where each begins, and the first argument that is not the same in all."""
    starts = {frame: past.record.frame(frame).start for frame in beside}
    arguments = {frame: _arguments(past, start) for frame, start in starts.items()}
    names = dict.fromkeys(name for given in arguments.values() for name in given)
    differing = next((name for name in names if len({given.get(name) for given in arguments.values()}) > 1), "")
    said = {}
    for frame, start in starts.items():
        value = arguments[frame].get(differing)
        said[frame] = f"in call #{start}" + (
            f" ({differing}={masked_beginning(value, _MOST_ARGUMENT)})" if value else ""
        )
    return said


def _arguments(past: PastProcess, start: int) -> dict[str, str]:
    """Return the arguments of a call that have texts of their own, by name."""
    effects = past.executions.effects(start)
    return {past.record.label(effect.key): past.record.text(effect) for effect in effects}
