"""Collective operations that ranks of a job are in, and which ranks are not, with what each does instead. Pure.

    missing_lines(places, processes, ended, how_it_ended)
    # ["30 of 32 ranks are in all_reduce child.py:88; rank 3, 31 are not in it: 3 in load_batch child.py:31; …"]

A collective is known by its name on a stack, as libraries have it and as programs call what wraps one. A group of ranks
that a program has made for it is not known: all ranks of the job count. Nor is whether a rank is yet to come or has
left: the root of a broadcast need not wait.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from trio_debugmcp.server.answers.fleet.fleet_classes import Frames, ProcessNow, grouped, innermost
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.state.labels import Labels, in_ranges
from trio_debugmcp.state.model import Departed, StackFrame
from trio_debugmcp.state.payloads import printable

_COLLECTIVE = re.compile(
    r"_?i?(all_?reduce|all_?gather|all_?to_?all|reduce_?scatter|(monitored_)?barrier|bcast|broadcast)\w*", re.IGNORECASE
)
"""Not `gather`, `scatter` and `reduce`: many functions are called so that no other process waits for."""

_MOST_RANGES = 8
"""Ranges of ranks that never connected; all are counted."""

_MOST_SAID = 6
"""Places of ranks that are not in it; all of these ranks are named."""

Ranks = Mapping[int, Sequence[ProcessNow]]
"""The processes of each rank: it may have children, which have its label."""


def missing_lines(
    places: Places, processes: Sequence[ProcessNow], ended: Sequence[Departed], how: Callable[[Departed], str]
) -> list[str]:
    """Return a line for each job of which most ranks are in one collective, and others not. `how` a process ended."""
    jobs = grouped([each for each in processes if "rank" in each.labels], lambda each: each.labels.get("job"))
    lines = list[str]()
    for job in jobs:
        name = job[0].labels.get("job")
        gone = [each for each in ended if "rank" in each.labels and each.labels.get("job") == name]
        lines += _missing(places, _by_rank(job), {_rank(each.labels): f" {how(each)}" for each in gone})
    return lines


def unconnected_lines(processes: Sequence[ProcessNow], ended: Sequence[Departed]) -> list[str]:
    """Return a line for each job of which some ranks have never connected, by its size, which the others have as label.

    Of those without a name that have several sizes nothing is said: it is not known which ranks are of which.
    """
    living = [each for each in processes if "rank" in each.labels and "world_size" in each.labels]
    lines = list[str]()
    for job in grouped(living, lambda each: each.labels.get("job")):
        name, sizes = job[0].labels.get("job"), {int(each.labels["world_size"]) for each in job}
        gone = {_rank(each.labels) for each in ended if "rank" in each.labels and each.labels.get("job") == name}
        there = gone.union(_rank(each.labels) for each in job)
        if len(sizes) == 1 and (line := _unconnected(sizes.pop(), there)) is not None:
            lines.append(line)
    return lines


def _unconnected(size: int, connected: AbstractSet[int]) -> str | None:
    there = sorted(rank for rank in connected if rank < size)
    gaps = [(before + 1, after - 1) for before, after in pairwise([-1, *there, size]) if after - before > 1]
    if not gaps:
        return None
    number = size - len(there)
    ranges = [str(first) if first == last else f"{first}-{last}" for first, last in gaps]
    more = f" and {len(ranges) - _MOST_RANGES} more ranges" if len(ranges) > _MOST_RANGES else ""
    has = "has" if number == 1 else "have"
    return f"{number} of {size} ranks {has} never connected: rank {', '.join(ranges[:_MOST_RANGES])}{more}"


def _rank(labels: Labels) -> int:
    return int(labels["rank"])


def _by_rank(processes: Sequence[ProcessNow]) -> Ranks:
    return {_rank(group[0].labels): group for group in grouped(processes, lambda each: each.labels["rank"])}


def _missing(places: Places, ranks: Ranks, gone: Mapping[int, str]) -> list[str]:
    gone = {rank: how for rank, how in gone.items() if rank not in ranks}
    inside = {rank: found for rank, members in ranks.items() if (found := _collective(members)) is not None}
    known = len(ranks) + len(gone)
    most = Counter(stack[0].name for stack in inside.values()).most_common(1)
    if not most or 2 * most[0][1] <= known or most[0][1] == known:
        return []
    [(name, count)] = most
    at = Counter(_called(places, stack) for stack in inside.values() if stack[0].name == name).most_common(1)[0][0]
    late = {rank: members for rank, members in ranks.items() if _name(inside.get(rank)) != name}
    absent = {rank: _instead(places, members, inside.get(rank)) for rank, members in late.items()}
    said = grouped(sorted({**absent, **gone}.items()), lambda each: each[1])
    where = [f"{in_ranges(rank for rank, _ in group)}{group[0][1]}" for group in said]
    more = f"; and {len(where) - _MOST_SAID} more places" if len(where) > _MOST_SAID else ""
    are = "is" if known - count == 1 else "are"
    who = in_ranges([*absent, *gone])
    line = f"{count} of {known} ranks are in {printable(name)} {at}; rank {who} {are} not in it: "
    return [line + "; ".join(where[:_MOST_SAID]) + more]


def _name(stack: Frames | None) -> str | None:
    return stack[0].name if stack else None


def _collective(members: Sequence[ProcessNow]) -> Frames | None:
    """Return the stack from the collective outwards that one of these is in, the one that its program has called."""
    for process in members:
        for stack in (process.stack, *process.others):
            number = next((n for n in range(len(stack) - 1, -1, -1) if _COLLECTIVE.fullmatch(stack[n].name)), None)
            if number is not None:
                return stack[number:]
    return None


def _called(places: Places, stack: Frames) -> str:
    """Return where it waits, or where the program has called what is a library's."""
    frame = innermost(stack) or stack[0]
    return ("" if frame is stack[0] else "from ") + _at(places, frame)


def _at(places: Places, frame: StackFrame) -> str:
    return places.line(frame.location.file, frame.location.line)


def _instead(places: Places, members: Sequence[ProcessNow], elsewhere: Frames | None) -> str:
    """Return where a rank is that is not in it; `elsewhere`: in another collective. Its first process stands for it."""
    first = members[0]
    if elsewhere is not None:
        return f" in {printable(elsewhere[0].name)} {_called(places, elsewhere)}"
    if first.unknown is not None:
        return " not known"
    frame = innermost(first.stack)
    if frame is None:
        return " in no Python code"
    stopped = " stopped" if first.phase == "Paused" else ""
    waits = f", waits for {first.waits}" if first.waits else ""
    return f"{stopped} in {printable(frame.name)} {_at(places, frame)}{waits}"
