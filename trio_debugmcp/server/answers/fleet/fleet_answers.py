"""`FleetAnswer`: all processes at once, as classes with counts, those that differ first.

    answer = fleet_answer(places, FleetLook(processes=processes, ended=ended))

It has at most 2 KB for 32 processes, and 4 KB for a thousand; what is left out is counted.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.fleet.collectives import missing_lines, unconnected_lines
from trio_debugmcp.server.answers.fleet.fleet_classes import (
    ProcessNow,
    alike,
    class_line,
    classes_of,
    counted,
    failure_lines,
    fitting_lines,
    grouped,
    innermost,
    named,
    place_of,
    room_of,
    without_host,
)
from trio_debugmcp.server.answers.fleet.merged_stacks import StackBranchData, merged, tree_data, tree_lines
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.ending import BY_ITSELF, LEFT
from trio_debugmcp.state.labels import Labels
from trio_debugmcp.state.model import Departed
from trio_debugmcp.state.payloads import Location, Payload, SessionPhase, json_size, shortened, signal_name

_CLASSES, _TREE, _DEADLOCKS, _REST = 0.25, 0.15, 0.3, 0.06
"""Parts of an answer that its classes, the tree, deadlocks and each other list have in any case: together all of it.

What one does not need goes to the others, in the order of the lists."""

_BUSY, _STILL = 0.5, 0.1
"""Of a processor: what uses more of one computes, what uses less stands still. The questions take some, too."""

_SHELLS_SIGNALS = 128
"""What shells and containers add to the number of a signal that has ended a process."""


class Used(Struct, frozen=True):
    """How much of a processor a process has used: now, and since the last look; None where that is not known."""

    now: float | None = None
    since: float | None = None


class FleetLook(Struct, frozen=True, kw_only=True):
    """What was seen of all processes.

    Attributes:
        used: processor time, by the sessions' ids.
        deadlocks: what is to be said of each process whose threads wait for each other.
        circles: lines on processes that wait for each other; `locks`: on the locks that they share and wait for.
        before: the places of the stacks at the last look, `ago` seconds; None: there was none. None of one of them: its
            stack was not known.
        is_whole: these are all that have connected.
    """

    processes: Sequence[ProcessNow]
    ended: Sequence[Departed] = ()
    used: Mapping[str, Used] = {}
    deadlocks: Mapping[str, str] = {}
    circles: Sequence[str] = ()
    locks: Sequence[str] = ()
    before: Mapping[str, int | None] | None = None
    ago: float = 0.0
    is_whole: bool = True


class ProcessData(Payload, frozen=True):
    """A process, where it is, and the number of its class in the list of classes, from 0; None: it is not known.

    `processor`: the part of one that it uses.
    """

    session_id: str
    labels: Labels
    state: SessionPhase
    location: Location | None
    waits_for: str | None
    processor: float | None
    class_index: int | None


class FleetData(AnswerData, frozen=True, kw_only=True):
    """All processes, and the stacks of all threads merged. `total`, `totalBranches`: how many of either there are."""

    processes: list[ProcessData]
    total: int
    tree: list[StackBranchData]
    total_branches: int


class FleetAnswer(Answer, frozen=True, kw_only=True):
    """All processes as classes of equal stacks, the smallest first: what differs from the rest is there.

    `missing`: ranks that are not in the collective in which most are, and those that never connected. `ended`: those
    that have ended since the fleet began. `locks`: those in shared memory that are waited for, and who has them.
    `since`: what has changed since the last call. `tree`: the stacks of all threads merged, with how many processes
    have each. `omitted`: lines that were left out.
    """

    full: FleetData | None = None
    processes: str
    missing: list[str] = []
    classes: list[str] = []
    ended: list[str] = []
    deadlocks: list[str] = []
    locks: list[str] = []
    processor: list[str] = []
    since: str | None = None
    tree: list[str] = []
    omitted: dict[str, int] = {}
    notes: list[str] = []


def fleet_answer(places: Places, look: FleetLook, notes: Sequence[str] = ()) -> FleetAnswer:
    """Return the answer, within its bounds; what is left out is counted."""
    look = _without_common_host(look)
    processes = look.processes
    found = classes_of(processes)
    index = {member.id: number for number, each in enumerate(found) for member in each.members}
    since, branches = _since(look), merged(processes)
    tree = tree_lines(places, branches)
    lists = {
        "deadlocks": ([*look.circles, *alike(processes, look.deadlocks)], _DEADLOCKS),
        "locks": (list(look.locks), _REST),
        "missing": ([*missing_lines(places, processes, look.ended, how_it_ended), *_unconnected(look)], _REST),
        "classes": ([class_line(places, each) for each in found], _CLASSES),
        "ended": (ended_lines(look.ended), _REST),
        "notes": ([*_unknown(processes), *notes], _REST),
        "processor": (_processor(look), _REST),
        "tree": (tree if len(tree) > 1 else [], _TREE),
    }
    kept = fitting_lines(lists, room_of(len(processes)) - json_size(since))
    omitted = {name: len(lines) - len(kept[name]) for name, (lines, _) in lists.items()}
    return FleetAnswer(
        full=FleetData(
            processes=[_data(look, process, index) for process in processes],
            total=len(processes),
            tree=tree_data(branches),
            total_branches=len(branches),
        ),
        processes=counted(look.processes, look.ended),
        since=since,
        omitted={name: count for name, count in omitted.items() if count},
        **kept,
    )


def _without_common_host(look: FleetLook) -> FleetLook:
    """Leave out of the labels a host that all processes are on."""
    labels = [*(process.labels for process in look.processes), *(process.labels for process in look.ended)]
    if len({each.get("host") for each in labels} - {None}) > 1:
        return look
    return replace(look, processes=without_host(look.processes), ended=without_host(look.ended))


def _unconnected(look: FleetLook) -> list[str]:
    """Return which ranks never connected, where all are looked at, and each has said who it is."""
    is_known = all(process.labels or process.unknown is None for process in look.processes)
    return unconnected_lines(look.processes, look.ended) if look.is_whole and is_known else []


def _data(look: FleetLook, process: ProcessNow, index: Mapping[str, int]) -> ProcessData:
    frame = innermost(process.stack)
    return ProcessData(
        session_id=process.id,
        labels=process.labels,
        state=process.phase,
        location=None if frame is None else frame.location,
        waits_for=process.waits,
        processor=look.used.get(process.id, Used()).now,
        class_index=index.get(process.id),
    )


def how_it_ended(process: Departed) -> str:
    """Return in words how a process has ended."""
    if process.killed:
        return "ended by the debugger"
    if process.reason == LEFT:
        return LEFT
    if process.exit_code is None:
        return f"ended ({shortened(process.reason)}), the exit code is not known"
    why = "" if process.reason in ("", BY_ITSELF) else f": {shortened(process.reason)}"
    if process.exit_code < 0:
        return f"killed by {signal_name(process.exit_code)}{why}"
    number = process.exit_code - _SHELLS_SIGNALS
    as_shell = f", a shell's code for {signal_name(-number)}{why}" if 0 < number < _SHELLS_SIGNALS / 4 else ""
    return f"exited with {process.exit_code}{as_shell}"


def ended_lines(ended: Sequence[Departed]) -> list[str]:
    """Return how processes have ended, those that have not ended well first."""
    groups = sorted(grouped(ended, lambda process: (how_it_ended(process), process.exit_code == 0)), key=_order_of_end)
    return [
        f"{len(group)} {how_it_ended(group[0])} ({named([ProcessNow(each.id, each.labels) for each in group])})"
        for group in groups
    ]


def _order_of_end(group: Sequence[Departed]) -> tuple[bool, int]:
    return group[0].exit_code == 0, len(group)


def _unknown(processes: Sequence[ProcessNow]) -> list[str]:
    unknown = {each.id: f"stacks not known: {each.unknown}" for each in processes if each.unknown is not None}
    silent = {each.id: f"seen from outside, as {each.silent}" for each in processes if each.silent is not None}
    return failure_lines(processes, unknown | silent)


def _processor(look: FleetLook) -> list[str]:
    """Return who computes and who stands still, those fewer first."""
    known = [
        (process, used) for process in look.processes if (used := look.used.get(process.id, Used()).now) is not None
    ]
    busy = [process for process, used in known if used >= _BUSY]
    still = [process for process, used in known if used < _STILL]
    lines = [(len(busy), f"{len(busy)} busy ({named(busy)})")] if busy else []
    lines += [(len(still), f"{len(still)} without processor time" + ("" if busy else f" ({named(still)})"))] * bool(
        still
    )
    if len(busy) + len(still) < len(known):
        rest = [process for process, used in known if _STILL <= used < _BUSY]
        lines.append((len(rest), f"{len(rest)} busy at times ({named(rest)})"))
    return [line for _, line in sorted(lines)]


def _since(look: FleetLook) -> str | None:
    """Return what has changed since the last look: who has moved, who computed where they were, who stood still."""
    before = look.before
    if before is None:
        return None
    known = [process for process in look.processes if process.id in before and process.answers]
    there, unknown = _parted(known, lambda process: before[process.id] is not None)
    moved, same = _parted(there, lambda process: place_of(process.stack) != before[process.id])
    still, computed = _parted(same, lambda process: (look.used.get(process.id, Used()).since or 0.0) < _STILL)
    new = [process for process in look.processes if process.id not in before]
    parts = [
        (still, "in the same place, without processor time"),
        (computed, "in the same place, computing"),
        (moved, "moved"),
        (unknown, "not known then"),
        (new, "new"),
    ]
    words = [f"{len(group)} {what}" + _unless_most(group, known) for group, what in parts if group]
    gone = len(before.keys() - {process.id for process in look.processes})
    words += [f"{gone} ended"] if gone else []
    return f"{look.ago:.0f} s ago: {'; '.join(words)}" if words else None


def _parted(
    processes: Sequence[ProcessNow], is_first: Callable[[ProcessNow], bool]
) -> tuple[list[ProcessNow], list[ProcessNow]]:
    first, others = list[ProcessNow](), list[ProcessNow]()
    for process in processes:
        (first if is_first(process) else others).append(process)
    return first, others


def _unless_most(group: Sequence[ProcessNow], of: Sequence[ProcessNow]) -> str:
    return f" ({named(group)})" if 2 * len(group) <= len(of) else ""
