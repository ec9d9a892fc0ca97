"""Snapshots of variables as data, and what differs between two."""

from trio_debugmcp.server.answers.answer import AnswerData
from trio_debugmcp.state.captures import CapturedValue, ChangedPath, SnapshotPayload
from trio_debugmcp.state.payloads import Payload


class SnapshotData(AnswerData, frozen=True, kw_only=True):
    """What was kept. `omitted`: how many of its variables were left out."""

    snapshot: SnapshotPayload
    omitted: int


class CapturedPayload(Payload, frozen=True):
    """A value as it was. `cycle`: the path of the object that it is, and is inside of."""

    value: str
    type: str | None
    cycle: str | None


class ChangePayload(Payload, frozen=True):
    """What is different at a path: `kind` is added, removed or modified; a value is null where there was none.

    `reordered`: it has the same items in another order.
    """

    kind: str
    path: str
    old: CapturedPayload | None
    new: CapturedPayload | None
    reordered: bool


class DifferenceData(AnswerData, frozen=True, kw_only=True):
    """A page of `total` differences. `unchanged` counts equal paths; `unknown`: those that were not seen whole."""

    changes: list[ChangePayload]
    total: int
    unchanged: int
    unknown: list[str]


class SnapshotsData(AnswerData, frozen=True, kw_only=True):
    """The first of `total` snapshots, as in `debugger://snapshots`."""

    snapshots: list[SnapshotPayload]
    total: int


def change_payload(change: ChangedPath) -> ChangePayload:
    """Return a difference as data."""
    return ChangePayload(change.kind, change.path, _captured(change.old), _captured(change.new), change.reordered)


def _captured(value: CapturedValue | None) -> CapturedPayload | None:
    return None if value is None else CapturedPayload(value.value, value.type, value.cycle)
