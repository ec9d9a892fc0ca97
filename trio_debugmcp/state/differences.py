"""What differs between two captures, path by path. Pure.

    found = difference(before, after)
    found.changes     # (Change("modified", "basket.lines[0].price", old, new), …), in the order of the program
    found.unchanged   # paths that were seen in both, whole, and are equal
    found.unknown     # paths of which no one can say that: not seen in one of them, or not whole

Nothing counts as equal that was not seen. An object is compared by what is inside of it, not by which one it is; if it
was added or removed, its inside is not listed once more.
"""

from typing import Literal

from msgspec import Struct

from trio_debugmcp.state.captures import Capture, CapturedValue

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
