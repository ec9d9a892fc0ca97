"""Answers about a group of processes: what came of a call in each, as classes with counts, what is rare first.

An answer has at most 2 KB for 32 processes, and 4 KB for a thousand; what is left out is counted.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.fleet.fleet_classes import (
    ProcessNow,
    alike,
    class_line,
    classes_of,
    failure_lines,
    fitting_lines,
    named,
    room_of,
)
from trio_debugmcp.server.answers.fleet.value_classes import value_lines
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.state.labels import Labels
from trio_debugmcp.state.payloads import Location, Payload, SessionPhase, printable

_MAIN_PART, _REST = 0.6, 0.1

_CUT = "values are compared as they are shown: raise max_value_length to compare more of those that are cut"


class ValueIn(Payload, frozen=True):
    """What an expression came to in a process: a value, or why there is none. Statements have neither."""

    session_id: str
    labels: Labels
    value: str | None = None
    type: str | None = None
    printed: str = ""
    error: str | None = None


class GroupValuesData(AnswerData, frozen=True, kw_only=True):
    """The values in all processes of the group."""

    expression: str
    values: list[ValueIn]
    total: int


class GroupValues(Answer, frozen=True, kw_only=True):
    """The values of an expression in the processes of a group, as classes: nan first, then what is rare.

    `failed`: those in which it has none, by the reason. `printed`: what it wrote. `omitted`: lines left out.
    """

    full: GroupValuesData | None = None
    processes: str
    values: list[str] = []
    failed: list[str] = []
    printed: list[str] = []
    omitted: dict[str, int] = {}
    notes: list[str] = []


def group_values(
    expression: str, processes: Sequence[ProcessNow], found: Mapping[str, ValueIn], notes: Sequence[str]
) -> GroupValues:
    """Return the answer about an expression, from what it came to in each process, whose type it shows if need be."""
    valued = [(each, value) for each in processes if (value := found[each.id].value) is not None]
    executed = [each for each in processes if found[each.id].value is None and found[each.id].error is None]
    failures = {id_: error for id_, each in found.items() if (error := each.error) is not None}
    printed = {id_: printable(each.printed) for id_, each in found.items() if each.printed}
    ran = [f"{len(executed)} executed ({named(executed)})"] if executed else []
    lists = {
        "failed": (failure_lines(processes, failures), _REST),
        "values": ([*value_lines(valued), *ran], _MAIN_PART),
        "printed": (alike(processes, printed), _REST),
        "notes": ([*notes, *([_CUT] if any("…" in value for _, value in valued) else [])], _REST),
    }
    kept, omitted = _kept(lists, len(processes))
    return GroupValues(
        full=GroupValuesData(
            expression=expression, values=[found[each.id] for each in processes], total=len(processes)
        ),
        processes=_counted(processes, failures, "has no value", "have no value"),
        omitted=omitted,
        **kept,
    )


class MovedData(Payload, frozen=True):
    """Where a process of the group is after the call, and why the call failed there, if it did."""

    session_id: str
    labels: Labels
    state: SessionPhase | None
    reason: str | None
    location: Location | None
    error: str | None = None


class GroupStateData(AnswerData, frozen=True, kw_only=True):
    """All processes of the group, where they are now."""

    processes: list[MovedData]
    total: int


class GroupState(Answer, frozen=True, kw_only=True):
    """Where the processes of a group are after a call, as classes of equal stacks, the smallest first.

    `failed`: those in which the call failed, by the reason. `ended`: since the call. `omitted`: lines left out.
    """

    full: GroupStateData | None = None
    processes: str
    classes: list[str] = []
    failed: list[str] = []
    ended: list[str] = []
    omitted: dict[str, int] = {}
    notes: list[str] = []


class GroupMoved(Struct, frozen=True, kw_only=True):
    """What came of moving a group.

    Attributes:
        said: what the answer begins with: `8 paused`.
        processes: where those of the group are that live.
        failures: by the ids of their sessions; `ended`: lines about those that are gone.
    """

    said: str
    processes: Sequence[ProcessNow]
    failures: Mapping[str, str] = {}
    ended: Sequence[str] = ()
    notes: Sequence[str] = ()


def group_state(places: Places, moved: GroupMoved) -> GroupState:
    """Return the answer about a group that was moved."""
    standing = [each for each in moved.processes if each.stack]
    running = [each for each in moved.processes if not each.stack and each.id not in moved.failures]
    runs = [f"{len(running)} running ({named(running)})"] if running else []
    lists = {
        "failed": (failure_lines(moved.processes, moved.failures), _REST),
        "classes": ([*(class_line(places, each) for each in classes_of(standing)), *runs], _MAIN_PART),
        "ended": (list(moved.ended), _REST),
        "notes": (list(moved.notes), _REST),
    }
    kept, omitted = _kept(lists, len(moved.processes))
    data = [
        MovedData(
            session_id=each.id,
            labels=each.labels,
            state=each.phase,
            reason=each.stopped,
            location=each.stack[0].location if each.stack else None,
            error=moved.failures.get(each.id),
        )
        for each in moved.processes
    ]
    full = GroupStateData(processes=data, total=len(data))
    return GroupState(full=full, processes=moved.said, omitted=omitted, **kept)


def _kept(lists: Mapping[str, tuple[list[str], float]], number: int) -> tuple[dict[str, list[str]], dict[str, int]]:
    kept = fitting_lines(lists, room_of(number))
    left_out = {name: len(lines) - len(kept[name]) for name, (lines, _) in lists.items()}
    return kept, {name: count for name, count in left_out.items() if count}


def _counted(processes: Sequence[ProcessNow], failures: Mapping[str, str], one: str, more: str) -> str:
    """Return `32 (rank 0-31)`, and in how many a call failed."""
    which = f"{len(processes)} ({named(processes)})"
    return f"{which}; {len(failures)} {one if len(failures) == 1 else more}" if failures else which
