"""Captures: the variables of a frame as they were at one moment. Users know them as snapshots, and compare them.

    captures = with_capture(captures, taken)
    captures = without_captures(captures, frozenset({"snap-1"}))

Of too many, or too large ones, the oldest are discarded. They outlive their session: a run that fails is compared with
one that does not.
"""

from msgspec import Struct, field
from msgspec.structs import replace

from trio_debugmcp.state.payloads import Location, Payload, UnixTime, iso_time

MAX_CAPTURES = 100
"""Captures that are kept; more of them no reader tells apart."""

MAX_BYTES = 16_000_000
"""Of all captures together, about. One has at most some hundreds of kilobytes."""

_NODE_BYTES = 200
"""Of a value in memory, beside its texts."""


class CapturedValue(Struct, frozen=True):
    """A variable, field or item, with what is inside of it.

    Attributes:
        path: leads to it where the name does not; empty where nothing does.
        key: what tells it from its neighbours where its name is only a position, as in a set.
        children: what it consists of; None of what is its text, or was not looked into.
        digest: of all that is inside, where the children or the text do not show all of it.
        unseen: there is more to it than children, text and digest tell.
        vague: the text says nothing about the value.
        cycle: the path of the object that it is, and is inside of.
        partial: it has more children than these.
        own: the text tells something besides the children: the address of a pointer.
    """

    name: str
    value: str
    type: str | None = None
    path: str | None = None
    key: str | None = None
    children: tuple["CapturedValue", ...] | None = None
    digest: str | None = None
    unseen: bool = False
    vague: bool = False
    cycle: str | None = None
    partial: bool = False
    own: bool = False


class Capture(Struct, frozen=True, kw_only=True):
    """The variables of a frame at one moment.

    `seed`: digests are comparable if it is equal. `total`: how many variables the frame had, captured or not.
    `discarded`: the captures that made room for this one.
    """

    id: str
    label: str
    session_id: str
    created_at: UnixTime
    thread_id: int
    frame_index: int
    location: Location
    depth: int
    variables: tuple[CapturedValue, ...]
    total: int
    seed: str | None = None
    discarded: tuple[str, ...] = ()
    size: int = field(default=0)


class SnapshotPayload(Payload, frozen=True):
    """One snapshot of the variables of a frame."""

    id: str
    label: str
    created_at: str
    thread_id: int
    frame_index: int
    function_name: str | None
    variable_count: int


class SnapshotsPayload(Payload, frozen=True):
    """`debugger://snapshots`: the snapshots that can be compared, the oldest first."""

    snapshots: list[SnapshotPayload]
    count: int
    revision: int


def with_capture(captures: tuple[Capture, ...], taken: Capture) -> tuple[Capture, ...]:
    """Return the captures with a new one, which remembers those that were discarded for it."""
    taken = replace(taken, size=_weight(taken.variables))
    room = MAX_BYTES - taken.size - sum(capture.size for capture in captures)
    gone = max(0, len(captures) + 1 - MAX_CAPTURES)
    room += sum(capture.size for capture in captures[:gone])
    while room < 0 and gone < len(captures):
        room += captures[gone].size
        gone += 1
    return (*captures[gone:], replace(taken, discarded=tuple(capture.id for capture in captures[:gone])))


def without_captures(captures: tuple[Capture, ...], ids: frozenset[str]) -> tuple[Capture, ...]:
    """Return the captures but those with these ids."""
    return tuple(capture for capture in captures if capture.id not in ids)


def snapshots_payload(captures: tuple[Capture, ...], revision: int) -> SnapshotsPayload:
    """The payload of `debugger://snapshots`."""
    return SnapshotsPayload([capture_payload(capture) for capture in captures], len(captures), revision)


def capture_payload(capture: Capture) -> SnapshotPayload:
    """A capture as clients see it in lists."""
    return SnapshotPayload(
        capture.id,
        capture.label,
        iso_time(capture.created_at),
        capture.thread_id,
        capture.frame_index,
        capture.location.function_name,
        capture.total,
    )


def _weight(values: tuple[CapturedValue, ...]) -> int:
    """Return the bytes that values take in memory, about."""
    return sum(
        _NODE_BYTES + len(value.name) + len(value.value) + len(value.path or "") + _weight(value.children or ())
        for value in values
    )
