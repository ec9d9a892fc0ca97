"""The locals of a frame as a tree that a later one can be compared with: what is not shown is digested.

    capture_json(pairs, 2, 100, budget, renderer)
    # {"variables": [{"name": "xs", "value": "[1, 2]", "type": "list", "children": [{"name": "[0]", …}, …]}, …], …}

Level by level, as in an answer to `inspect`. But an object that is met twice is shown twice: its paths are to be found
in every capture, whatever else refers to it. Only what is inside of itself is a reference to there.

What has `children` (there may be none) consists of them, unless there is a `digest`, which is of the whole; `partial`:
it has more children than these. Anything else is its text, or its digest. `unseen`: there is more to it, known only to
code or to C. `vague`: the text says nothing. `key`: what elements of sets and dicts are known by whose names are only
their places.
"""

import types
from typing import Any, Dict, List, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import children, digests, facts, variable_listing
from trio_debugmcp.probe.inside.values.children import Child
from trio_debugmcp.probe.inside.values.digests import Digests
from trio_debugmcp.probe.inside.values.parts import OUT_OF_TIME
from trio_debugmcp.probe.inside.values.program_text import is_quick
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

_NAMED = (type, types.ModuleType, types.BuiltinFunctionType)
"""Shown by name, and the same if their names are."""

_LEAVES = (*_NAMED, str, bytes, bytearray, int, float, complex, type(None), type(...), type(NotImplemented))

_CUT = "… (+"

_VAGUE = (OUT_OF_TIME, "<cannot be shown")


class _CapturedValue:
    """A value of the tree, with its entry, the path that leads to it, and the paths of what it is inside of, by id."""

    def __init__(self, value: Any, entry: Json, path: str, above: Dict[int, str]) -> None:
        self.value = value
        self.entry = entry
        self.path = path
        self.above = {**above, id(value): path}


class _CaptureTree:
    """A tree that is grown within the bounds of one answer."""

    def __init__(self, most: int, budget: Budget, renderer: Renderer) -> None:
        self.digests = Digests(budget.end)
        self._most = most
        self._budget = budget
        self._renderer = renderer

    def listed(self, found: List[Child], parent: str, above: Dict[int, str]) -> Tuple[List[Json], List[_CapturedValue]]:
        """Return the entries of children, as many as there is room for, and the places of what can be grown."""
        entries: List[Json] = []
        places: List[_CapturedValue] = []
        for child in found:
            if self._budget.spent():
                break
            entry = self._entry(child, parent)
            entries.append(entry)
            if child.note:
                entry["unseen"] = True
            elif id(child.value) in above and not _is_leaf(child.value):
                entry["cycle"] = above[id(child.value)]
            else:
                places.append(_CapturedValue(child.value, entry, str(entry.get("path", child.name)), above))
        return entries, places

    def _entry(self, child: Child, parent: str) -> Json:
        entry = variable_listing.child_json(child, parent, self._budget, self._renderer)
        entry.pop("size", None)
        entry.pop("withheld", None)
        if entry.pop("nameWithheld", False) or child.keyed:
            digest, whole = self.digests.of(child.key)
            entry["key"] = "[" + digest + "]" if whole else entry["name"]
        if any(each in entry["value"] for each in _VAGUE):
            entry["vague"] = True
        return entry

    def expanded(self, place: _CapturedValue) -> List[_CapturedValue]:
        """Put the children of a value into its entry; return the places of those that can be grown."""
        if _is_leaf(place.value):
            return []
        try:
            found, total = children.children(place.value, 0, self._most)
        except RuntimeError:  # the program changes it meanwhile
            return []
        if total and not found:
            return []
        state = [each for each in found if "property" not in each.note]
        entries, places = self.listed(state, place.path, place.above)
        if issubclass(type(place.value), (set, frozenset)):
            self._key_elements(entries, state)
        _number_equal_keys(entries)
        place.entry["children"] = entries
        if len(entries) < len(state) or len(found) < total:
            place.entry["partial"] = True
        return places

    def _key_elements(self, entries: List[Json], found: List[Child]) -> None:
        """Elements of a set have no places that stay: they are known by what they are."""
        for entry, child in zip(entries, found):
            digest, whole = self.digests.of(child.value)
            entry["key"] = "{" + digest + "}" if whole else "{" + entry["value"] + "}"

    def close(self, place: _CapturedValue) -> None:
        """Digest a value of which the tree does not show all."""
        entry = place.entry
        if "children" in entry and "partial" not in entry and not _has_more(place.value):
            return
        if "children" not in entry and _says_all(place.value, entry["value"]):
            return
        digest, whole = self.digests.of(place.value)
        if digest:
            entry["digest"] = digest
        if not whole:
            entry["unseen"] = True


def capture_json(pairs: List[Tuple[str, Any, str]], depth: int, most: int, budget: Budget, renderer: Renderer) -> Json:
    """Return the variables of a scope with what is inside of them, `depth` levels down, at most `most` of each."""
    growing = _CaptureTree(most, budget, renderer)
    listed, level = growing.listed([Child(*pair) for pair in pairs], "", {})
    everything = list(level)
    for _ in range(min(depth, variable_listing.MOST_DEPTH)):
        below: List[_CapturedValue] = []
        for place in level:
            if budget.spent():
                break
            below += growing.expanded(place)
        everything += below
        level = below
    for place in everything:
        growing.close(place)
    return {"variables": listed, "total": len(pairs), "seed": digests.hashed("")}


def _is_leaf(value: Any) -> bool:
    """Whether a value is its text, and has nothing inside that is worth a path of its own."""
    cls = type(value)
    if issubclass(cls, _LEAVES) or facts.is_enum(cls) or is_quick(cls):
        return True
    return facts.class_attribute(cls, "columns") is not facts.MISSING and facts.array_shape(value) is not None


def _has_more(value: Any) -> bool:
    """Whether there is more to a value than its children."""
    cls = type(value)
    if facts.container(value) is not None:
        return bool(facts.fields(value))
    return not issubclass(cls, BaseException) and not digests.sees_all(cls)


def _says_all(value: Any, text: str) -> bool:
    """Whether the text of a leaf is all there is to it."""
    cls = type(value)
    if any(each in text for each in _VAGUE):
        return False
    if issubclass(cls, _NAMED) or is_quick(cls):
        return True
    return digests.is_plain(cls) and _CUT not in text and not text.startswith("<int of")


def _number_equal_keys(entries: List[Json]) -> None:
    """Give elements that are equal, of a set for example, keys of their own."""
    seen: Dict[str, int] = {}
    for entry in entries:
        key = str(entry.get("key", entry["name"]))
        seen[key] = number = seen.get(key, 0) + 1
        if number > 1:
            entry["key"] = f"{key}#{number}"
