"""The tools that keep the variables of a frame as they are now, and say later what has changed."""

from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError, no_session
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.snapshots import DifferenceData, SnapshotData, SnapshotsData, change_payload
from trio_debugmcp.server.answers.values import rendered
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, FrameIndex, Params, SessionId, Start, ThreadId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.captures import (
    MAX_BYTES,
    MAX_CAPTURES,
    Capture,
    CaptureDifference,
    CapturedValue,
    ChangedPath,
    capture_payload,
    difference,
)
from trio_debugmcp.state.changes import CapturesRemoved, CaptureTaken
from trio_debugmcp.state.payloads import json_size, shortened, truncated

_ROOM_BYTES = MAX_RESULT_BYTES - 4000
"""For the changes in an answer, beside the notes and counts."""

_MAX_UNKNOWN = 10
"""Paths that are named as unknown; the others are counted."""

_MAX_LABEL = 100


class SnapshotCreate(Params, frozen=True, kw_only=True):
    label: Annotated[str, Meta(max_length=_MAX_LABEL, description="Default: snapshot-N.")] = ""
    depth: Annotated[int, Meta(ge=0, le=5, description="Levels inside the variables.")] = 2
    frame_index: FrameIndex = 0
    thread_id: ThreadId = None
    session_id: SessionId = None


_Id = Annotated[str, Meta(min_length=1, description="Its id or label.")]


class SnapshotDiff(Params, frozen=True, kw_only=True):
    before: _Id
    after: _Id
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=1000, description="How many differences.")] = 100


class SnapshotList(Params, frozen=True, kw_only=True):
    pass


class SnapshotDelete(Params, frozen=True, kw_only=True):
    id: Annotated[str, Meta(min_length=1, description="Its id or label, or `*` for all.")]


class SnapshotTaken(Answer, frozen=True, kw_only=True):
    """`variables`: how many the frame has; `omitted` of them were left out."""

    full: SnapshotData | None = None
    id: str
    label: str = ""
    at: str
    variables: int
    omitted: int = 0
    notes: list[str] = []


class SnapshotDifference(Answer, frozen=True, kw_only=True):
    """What changed, by path; what is inside of something added or removed is not listed.

    `total`: of all differences, where some were left out. `unchanged` counts the paths that are equal, `unknown` those
    that were not seen whole.
    """

    full: DifferenceData | None = None
    added: dict[str, str] = {}
    removed: dict[str, str] = {}
    modified: dict[str, Any] = {}
    unchanged: int = 0
    unknown: int = 0
    unknown_at: list[str] = []
    total: int = 0
    notes: list[str] = []


class SnapshotLines(Answer, frozen=True, kw_only=True):
    """A line each: id, label, number of variables, place. `total`: how many there are, where some were left out."""

    full: SnapshotsData | None = None
    snapshots: list[str]
    total: int = 0


class SnapshotsDeleted(Answer, frozen=True, kw_only=True):
    """The ids of those that are gone."""

    deleted: list[str]


async def _create(debugger: Debugger, params: SnapshotCreate) -> SnapshotTaken:
    session, _ = debugger.paused(params.session_id)
    place = session.looking.place(params.thread_id, params.frame_index)
    found = await session.looking.values.capture(place, params.depth)
    number = next(debugger.merger.capture_numbers)
    taken = Capture(
        id=f"snap-{number}",
        label=params.label or f"snapshot-{number}",
        session_id=session.id,
        created_at=debugger.clock.now(),
        thread_id=place.thread_id,
        frame_index=place.index,
        location=found.location,
        depth=params.depth,
        variables=found.variables,
        total=found.total,
        seed=found.seed,
    )
    state = await debugger.merger.merge(CaptureTaken(taken))
    kept = next((capture for capture in state.captures if capture.id == taken.id), None)
    if kept is None:  # the session has ended meanwhile
        raise no_session()
    gone = ", ".join(kept.discarded)
    return SnapshotTaken(
        full=SnapshotData(snapshot=capture_payload(kept), omitted=kept.total - len(kept.variables)),
        id=kept.id,
        label=kept.label if not params.label else "",
        at=_place(debugger, kept),
        variables=kept.total,
        omitted=kept.total - len(kept.variables),
        notes=[f"{gone} discarded: {MAX_CAPTURES} snapshots or {MAX_BYTES // 1_000_000} MB are kept"] if gone else [],
    )


async def _diff(debugger: Debugger, params: SnapshotDiff) -> SnapshotDifference:
    before, after = _find(debugger, params.before), _find(debugger, params.after)
    found = difference(before, after)
    page = found.changes[params.start : params.start + params.count]
    answer = _compact(found, page)
    return replace(answer, notes=_notes(debugger, before, after))


def _compact(found: CaptureDifference, page: tuple[ChangedPath, ...]) -> SnapshotDifference:
    """Return the differences of a page, as many as there is room for."""
    shown: dict[str, dict[str, Any]] = {"added": {}, "removed": {}, "modified": {}}
    room = _ROOM_BYTES
    number = 0
    for variable in page:
        value = _shown(variable)
        room -= json_size({variable.path: value})
        if room < 0:  # not at the first: paths and values are far shorter
            break
        shown[variable.kind][variable.path] = value
        number += 1
    changes = [change_payload(each) for each in page[:number]]
    return SnapshotDifference(
        full=DifferenceData(
            changes=changes, total=len(found.changes), unchanged=found.unchanged, unknown=list(found.unknown)
        ),
        added=shown["added"],
        removed=shown["removed"],
        modified=shown["modified"],
        unchanged=found.unchanged,
        unknown=len(found.unknown),
        unknown_at=[shortened(each) for each in found.unknown[:_MAX_UNKNOWN]],
        total=len(found.changes) if number < len(found.changes) else 0,
    )


def _shown(change: ChangedPath) -> Any:
    if change.old is None or change.new is None:
        return _text(change.old or change.new)
    old, new = _text(change.old), _text(change.new)
    if old == new:
        new = "(in another order)" if change.reordered else "(differs beyond what is shown)"
    return {"old": old, "new": new}


def _text(value: CapturedValue | None) -> str:
    if value is None:
        return ""
    return f"<{value.cycle}>" if value.cycle is not None else rendered(value.value, value.type)


def _notes(debugger: Debugger, before: Capture, after: Capture) -> list[str]:
    """Return what makes the two hard to compare."""
    pairs = [
        ("sessions", before.session_id, after.session_id),
        ("threads", f"{before.thread_id}", f"{after.thread_id}"),
        ("functions", _function(debugger, before), _function(debugger, after)),
        ("depths", f"{before.depth}", f"{after.depth}"),
    ]
    return [f"different {what}: {old}, then {new}" for what, old, new in pairs if old != new]


def _function(debugger: Debugger, capture: Capture) -> str:
    place = capture.location
    return Places(debugger.workspace.directory).at(place.file, None, place.function_name)


async def _list(debugger: Debugger, params: SnapshotList) -> SnapshotLines:
    captures = debugger.state.captures
    shown = truncated((_line(debugger, capture) for capture in captures), _ROOM_BYTES)
    full = SnapshotsData(
        snapshots=[capture_payload(capture) for capture in captures[: len(shown)]], total=len(captures)
    )
    return SnapshotLines(full=full, snapshots=shown, total=len(captures) if len(shown) < len(captures) else 0)


def _line(debugger: Debugger, capture: Capture) -> str:
    return f"{capture.id} {capture.label}: {capture.total} variables, {_place(debugger, capture)}"


def _place(debugger: Debugger, capture: Capture) -> str:
    several = len({other.session_id for other in debugger.state.captures}) > 1
    where = Places(debugger.workspace.directory).at_location(capture.location) or "?"
    return f"{where}, session {capture.session_id}" if several else where


async def _delete(debugger: Debugger, params: SnapshotDelete) -> SnapshotsDeleted:
    ids = [capture.id for capture in debugger.state.captures] if params.id == "*" else [_find(debugger, params.id).id]
    await debugger.merger.merge(CapturesRemoved(frozenset(ids)))
    return SnapshotsDeleted(deleted=ids)


def _find(debugger: Debugger, id_: str) -> Capture:
    """Return a capture by its id, or by its label if no other one has it.

    Raises:
        UsageError: `SNAPSHOT_NOT_FOUND`.
    """
    captures = debugger.state.captures
    found = [capture for capture in captures if capture.id == id_] or [
        capture for capture in captures if capture.label == id_
    ]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(each.id for each in found)
        raise UsageError("SNAPSHOT_NOT_FOUND", f"Several snapshots are labelled '{shortened(id_)}': name one of {ids}.")
    known = ", ".join(capture.id for capture in captures)
    raise UsageError(
        "SNAPSHOT_NOT_FOUND",
        f"There is no snapshot '{shortened(id_)}'. "
        + (f"Snapshots: {known}." if known else "There are none. Use snapshot_create."),
    )


TOOLS = (
    Tool(
        name="snapshot_create",
        title="Snapshot variables",
        description="Keep a frame's variables as they are now, to see later with snapshot_diff what has changed.",
        params=SnapshotCreate,
        run=_create,
        acts_on="captures",
        phrase="keep variables, compare later",
    ),
    Tool(
        name="snapshot_diff",
        title="Compare snapshots",
        description=(
            "What is different in the later snapshot: added, removed and modified by path, nested. `unknown`: paths "
            "that were not seen whole."
        ),
        params=SnapshotDiff,
        run=_diff,
        read_only=True,
        idempotent=True,
        phrase="keep variables, compare later",
    ),
    Tool(
        name="snapshot_list",
        title="List snapshots",
        description="The snapshots, the oldest first.",
        params=SnapshotList,
        run=_list,
        read_only=True,
        idempotent=True,
        phrase="keep variables, compare later",
    ),
    Tool(
        name="snapshot_delete",
        title="Delete snapshots",
        description="Delete a snapshot, or all.",
        params=SnapshotDelete,
        run=_delete,
        destructive=True,
        idempotent=True,
        acts_on="captures",
        phrase="keep variables, compare later",
    ),
)
