"""Many processes as few classes: those with equal stacks together, with their labels. Pure.

    for each in classes_of(processes):
        class_line(places, each)            # `1 in load_batch child.py:31 (rank 3: s-5), waits for jobs.get`

The smallest class is the first: one process that differs from the rest is why one looks.

    alike(processes, {"s-3": "does not answer"})        # ["1 (rank 3: s-3): does not answer"]
    fitting_lines({"values": (lines, 0.8)}, room_of(len(processes)))

What does not fit into an answer is for the caller to count.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.ending import LEFT
from trio_debugmcp.state.labels import Labels, in_ranges, short_label
from trio_debugmcp.state.model import Departed, StackFrame
from trio_debugmcp.state.payloads import SessionPhase, json_size, printable, shortened, truncated

MOST_BY_LINE = 8
"""Classes by the lines of their stacks. Of processes that compute there would be one for each: then functions count."""

_NAMED_BY_ID = 2
"""Members of a class that are named by their sessions as well: they are what one looks at next."""

_NAMED = 8
"""Members of a class, or ranges of their ranks, that are named; all are counted."""

Frames = tuple[StackFrame, ...]
T = TypeVar("T")


class ProcessNow(Struct, frozen=True):
    """A process of a fleet at the moment.

    Attributes:
        stack: of the thread that stands for it: the one that is stopped, else the main one; the innermost first.
        others: the stacks of its other threads, but those that wait for work.
        waits: what the thread waits for; `stopped`: why it is stopped; `all_wait`: every thread waits.
        unknown: why its stacks are not known; `silent`: why it does not answer, where they were seen from outside.
    """

    id: str
    labels: Labels = {}
    phase: SessionPhase = "Running"
    stack: Frames = ()
    others: tuple[Frames, ...] = ()
    waits: str | None = None
    stopped: str | None = None
    all_wait: bool = False
    unknown: str | None = None
    silent: str | None = None

    @property
    def answers(self) -> bool:
        """Whether it has said itself where it is: frames that are seen from outside are not quite the same."""
        return self.unknown is None and self.silent is None


class ProcessClass(Struct, frozen=True):
    """Processes with equal stacks. `by_line`: also the lines are equal."""

    members: tuple[ProcessNow, ...]
    by_line: bool


def classes_of(processes: Sequence[ProcessNow]) -> list[ProcessClass]:
    """Return the classes of those whose stacks are known, the smallest first."""
    known = [process for process in processes if process.unknown is None]
    by_line = grouped(known, lambda each: (each.phase == "Paused", lines_of(each.stack)))
    exact = len(by_line) <= MOST_BY_LINE
    found = by_line if exact else grouped(known, lambda each: (each.phase == "Paused", _functions(each.stack)))
    return [ProcessClass(tuple(members), exact) for members in sorted(found, key=len)]


def grouped(items: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Return the items in groups of equal keys, in the order of their first ones."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def lines_of(stack: Frames) -> tuple[tuple[str, str, int], ...]:
    """Return what is equal of stacks that are in the same lines."""
    return tuple((frame.name, frame.location.file or "", frame.location.line or 0) for frame in stack)


def place_of(stack: Frames) -> int:
    """Return a number that is the same for stacks in the same lines, and for no others, as far as that can be."""
    return hash(lines_of(stack))


def _functions(stack: Frames) -> tuple[tuple[str, str], ...]:
    return tuple((frame.name, frame.location.file or "") for frame in stack)


def innermost(stack: Frames) -> StackFrame | None:
    """Return the frame that says where a thread is: the innermost of the user's code, where there is one."""
    return next((frame for frame in stack if frame.is_user_code), stack[0] if stack else None)


def named(processes: Sequence[ProcessNow]) -> str:
    """Return which processes these are: `rank 0-2, 4-31`, `rank 3: s-5`, `ForkPoolWorker-1, s-9 and 12 more`."""
    ranked = sorted((each for each in processes if "rank" in each.labels), key=lambda each: int(each.labels["rank"]))
    alone = [short_label(process.labels) or process.id for process in processes if "rank" not in process.labels]
    names = ([f"rank {_ranges(ranked)}"] if ranked else []) + alone[:_NAMED]
    if len(alone) > _NAMED:
        names[-1] += f" and {len(alone) - _NAMED} more"
    hosts = {process.labels.get("host") for process in processes}
    on = f" on {hosts.pop()}" if len(hosts) == 1 and None not in hosts else ""
    labelled = [*ranked, *(each for each in processes if "rank" not in each.labels and short_label(each.labels))]
    ids = [process.id for process in labelled[:_NAMED_BY_ID]]
    few = f": {', '.join(ids)}" if ids and len(processes) <= _NAMED_BY_ID else ""
    return ", ".join(names) + on + few


def _ranges(processes: Sequence[ProcessNow]) -> str:
    ranges = in_ranges(int(process.labels["rank"]) for process in processes).split(", ")
    more = f" and {len(ranges) - _NAMED} more ranges" if len(ranges) > _NAMED else ""
    return ", ".join(ranges[:_NAMED]) + more


def class_line(places: Places, found: ProcessClass) -> str:
    """Return how many processes are where, which they are, and what they wait for."""
    members = found.members
    stopped = "stopped " if members[0].phase == "Paused" else ""
    line = f"{len(members)} {stopped}{_where(places, found)} ({named(members)})"
    waits = dict.fromkeys(member.waits or member.stopped for member in members)
    if len(waits) == 1 and (only := next(iter(waits))):
        return f"{line}: {only}" if stopped else f"{line}, waits for {only}"
    return line


def _where(places: Places, found: ProcessClass) -> str:
    frames = [frame for member in found.members if (frame := innermost(member.stack)) is not None]
    if not frames:
        return "without Python code"
    [first, *_] = frames
    lines = sorted({frame.location.line for frame in frames if frame.location.line is not None})
    at = places.line(first.location.file, lines[0] if lines else None)
    to = f"-{lines[-1]}" if len(lines) > 1 else ""
    return f"in {printable(first.name)} {at}{to}"


FEW = 64
"""Processes of which an answer has less room: there are fewer classes."""

_FEW_BYTES, _MANY_BYTES = 1900, 3900

_MOST_SAID = 200
"""Characters of a reason."""


Labelled = TypeVar("Labelled", ProcessNow, Departed)
"""A process with its labels."""


def room_of(number: int) -> int:
    """Return how many bytes the lists of an answer about so many processes may have."""
    return _FEW_BYTES if number <= FEW else _MANY_BYTES


def fitting_lines(lists: Mapping[str, tuple[list[str], float]], room: int) -> dict[str, list[str]]:
    """Return the first lines of each list. What one does not need of its part goes to the others, in their order."""
    own = {name: min(sum(map(json_size, lines)), int(room * part)) for name, (lines, part) in lists.items()}
    spare, kept = room - sum(own.values()), dict[str, list[str]]()
    for name, (lines, _) in lists.items():
        kept[name] = truncated(lines, own[name] + spare) if lines else []
        spare = max(0, spare + own[name] - sum(map(json_size, kept[name])))
    return kept


def counted(processes: Sequence[ProcessNow], ended: Sequence[Departed]) -> str:
    """Return `32: 31 running, 1 stopped; 2 ended`, or `3 stopped` where all are."""
    stopped, left = (
        sum(process.phase == "Paused" for process in processes),
        sum(each.reason == LEFT for each in ended),
    )
    now = _numbers({"running": len(processes) - stopped, "stopped": stopped})
    there = f"{len(processes)}: {', '.join(now)}" if len(now) > 1 else "".join(now) or "none there"
    return "; ".join([there, *_numbers({"ended": len(ended) - left, LEFT: left})])


def _numbers(of: Mapping[str, int]) -> list[str]:
    return [f"{number} {what}" for what, number in of.items() if number]


def alike(processes: Sequence[ProcessNow], said: Mapping[str, str]) -> list[str]:
    """Return what is said of processes, a line for all of which the same is."""
    those = [process for process in processes if process.id in said]
    groups = sorted(grouped(those, lambda process: said[process.id]), key=len)
    return [f"{len(group)} ({named(group)}): {shortened(said[group[0].id], _MOST_SAID)}" for group in groups]


def failure_lines(processes: Sequence[ProcessNow], failures: Mapping[str, str], what: str = "") -> list[str]:
    """Return the reasons of failures, those that differ in numbers only as one: `2 (rank 3, 7): thread 5 …`.

    `what`: has failed, behind the number of the processes. Where the reason is empty, no more is said.
    """
    those = [each for each in processes if each.id in failures]
    groups = sorted(grouped(those, lambda each: re.sub(r"\d+", "0", failures[each.id])), key=len)
    return [
        f"{len(group)}{what} ({named(group)}){_reason({failures[each.id]: None for each in group})}" for group in groups
    ]


def _reason(reasons: Mapping[str, None]) -> str:
    first = next(iter(reasons))
    others = " (other numbers elsewhere)" if len(reasons) > 1 else ""
    return f": {shortened(first, _MOST_SAID - len(others))}{others}" if first else ""


def without_host(processes: Sequence[Labelled]) -> list[Labelled]:
    """Return processes without the label of their host."""
    labels = [{label: value for label, value in each.labels.items() if label != "host"} for each in processes]
    return [replace(each, labels=own) for each, own in zip(processes, labels, strict=True)]


def without_common_host(processes: Sequence[ProcessNow]) -> Sequence[ProcessNow]:
    """Return processes without the label of their host, unless they are on several."""
    hosts = {process.labels.get("host") for process in processes} - {None}
    return processes if len(hosts) > 1 else without_host(processes)
