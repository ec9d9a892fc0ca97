"""Lines about many processes, within the bounds of an answer about them. Pure.

    alike(processes, {"s-3": "does not answer"})        # ["1 (rank 3: s-3): does not answer"]
    fitting_lines({"values": (lines, 0.8)}, room_of(len(processes)))

What does not fit is for the caller to count.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow, grouped, named
from trio_debugmcp.session.ending import LEFT
from trio_debugmcp.session.looking.truncation import json_size, truncated
from trio_debugmcp.state.model import Departed
from trio_debugmcp.state.payloads import shortened

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
