"""Captures: the variables of a frame as they were at one moment. Users know them as snapshots, and compare them.

    captures = with_capture(captures, taken)
    captures = without_captures(captures, frozenset({"snap-1"}))

Of too many, or too large ones, the oldest are discarded. They outlive their session: a run that fails is compared with
one that does not: path by path, in the order of the program.

    found = difference(before, after)
    found.changes     # (Change("modified", "basket.lines[0].price", old, new), …)
    found.unchanged   # paths that were seen in both, whole, and are equal
    found.unknown     # paths of which no one can say that: not seen in one of them, or not whole

Nothing counts as equal that was not seen. An object is compared by what is inside of it, not by which one it is; if it
was added or removed, its inside is not listed once more.
"""

from typing import Literal

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


Kind = Literal["added", "removed", "modified"]


class ChangedPath(Struct, frozen=True):
    """A path whose value is another; `old` or `new` is missing where it did not exist."""

    kind: Kind
    path: str
    old: CapturedValue | None = None
    new: CapturedValue | None = None
    reordered: bool = False
    """Whether it has the same items in another order."""


class CaptureDifference(Struct, frozen=True):
    """The changes from one capture to another, how many paths are equal, and those of which it is not known."""

    changes: tuple[ChangedPath, ...] = ()
    unchanged: int = 0
    unknown: tuple[str, ...] = ()


def difference(before: Capture, after: Capture) -> CaptureDifference:
    """Compare two captures."""
    comparing = _Comparing(same_seed=before.seed is not None and before.seed == after.seed)
    comparing.inside(_root(before), _root(after), "")
    return CaptureDifference(tuple(comparing.changes), comparing.unchanged, tuple(comparing.unknown))


def _root(capture: Capture) -> CapturedValue:
    left = capture.total - len(capture.variables)
    return CapturedValue(f"… {left} locals left out", "", children=capture.variables, partial=left > 0)


class _Comparing:
    """A comparison under way. Whatever it does is the same, mirrored, from the later capture to the earlier one."""

    def __init__(self, *, same_seed: bool) -> None:
        self.changes: list[ChangedPath] = []
        self.unchanged = 0
        self.unknown: list[str] = []
        self._same_seed = same_seed

    def inside(self, old: CapturedValue, new: CapturedValue, path: str) -> None:
        """Compare what two values consist of, child by child, and then what else there is to them."""
        before = {child.key or child.name: child for child in old.children or ()}
        after = {child.key or child.name: child for child in new.children or ()}
        known = len(self.changes), len(self.unknown)
        for key, child in before.items():
            other = after.get(key)
            if other is not None:
                self._compare(child, other)
            elif new.partial:
                self.unknown.append(shown_path(child))
            else:
                self.changes.append(ChangedPath("removed", shown_path(child), old=child))
        for key, child in after.items():
            if key in before:
                continue
            if old.partial:
                self.unknown.append(shown_path(child))
            else:
                self.changes.append(ChangedPath("added", shown_path(child), new=child))
        if _reordered(before, after):
            self.changes.append(ChangedPath("modified", path, old, new, reordered=True))
        self._rest(old, new, path, changed=known[0] != len(self.changes))
        if known == (len(self.changes), len(self.unknown)) and not before:
            self.unchanged += 1

    def _rest(self, old: CapturedValue, new: CapturedValue, path: str, *, changed: bool) -> None:
        """Compare what is not shown by the children."""
        if old.own and new.own and old.value != new.value and not changed:
            self.changes.append(ChangedPath("modified", path, old, new))
            return
        if not any((value.digest or value.unseen or value.partial) for value in (old, new)):
            return
        equal = self._equal_digests(old, new)
        if equal is False and not changed:
            self.changes.append(ChangedPath("modified", path, old, new))
        elif not equal or old.unseen or new.unseen:
            self.unknown.append(path or f"{old.name}, {new.name}")

    def _compare(self, old: CapturedValue, new: CapturedValue) -> None:
        path = shown_path(new)
        if old.type != new.type or old.cycle != new.cycle:
            self.changes.append(ChangedPath("modified", path, old, new))
        elif old.cycle is not None:
            self.unchanged += 1
        elif old.children is not None and new.children is not None:
            self.inside(old, new, path)
        else:
            equal = self._equal(old, new)
            if equal is None:
                self.unknown.append(path)
            elif equal:
                self.unchanged += 1
            else:
                self.changes.append(ChangedPath("modified", path, old, new))

    def _equal(self, old: CapturedValue, new: CapturedValue) -> bool | None:
        """Return whether two values are equal by what is known of them; None where that does not tell."""
        equal = self._equal_digests(old, new)
        whole = not (old.unseen or new.unseen)
        if equal is False or (equal and whole):  # before the text: that of a set may have another order
            return equal
        vague = old.vague or new.vague
        if not vague and old.value != new.value:
            return False
        same_kind = (old.children is None) == (new.children is None)
        if vague or not whole or not same_kind or old.digest is not None or new.digest is not None:
            return None
        return True

    def _equal_digests(self, old: CapturedValue, new: CapturedValue) -> bool | None:
        if old.digest is None or new.digest is None or not self._same_seed:
            return None
        return old.digest == new.digest


def shown_path(value: CapturedValue) -> str:
    """Return the path of a value as answers have it; of what has none, its name."""
    return value.name if value.path is None else value.path or f"{value.name} (no path)"


def _reordered(before: dict[str, CapturedValue], after: dict[str, CapturedValue]) -> bool:
    """Whether the items that both have are in another order. That of fields and variables means nothing."""
    items = [key for key, child in before.items() if key in after and child.name.startswith("[") and key[0] != "{"]
    return items != [key for key in after if key in set(items)]
