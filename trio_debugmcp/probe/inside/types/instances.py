"""The instances of a class: how many there are, and the ways that hold them, some of them followed.

    instances_json(Page, budget, renderer)
    # {"instances": 2306, "followed": 12, "groups": [{"count": 12, "path": "hub.ticks[…].__self__", …}]}

Each is followed by walks through all objects, so that only some are, evenly taken; ways that differ in their indices
only are one.
"""

from typing import Any, Dict, List, Set

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.types import referrers
from trio_debugmcp.probe.inside.types.holders import collector
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_FOLLOWED = 12
"""Instances, each of which takes some walks."""

_MOST_WAYS = 3
"""Of one instance that count."""

_CHUNK = 10000
"""Objects that are looked at between two looks at the time."""


class NoClassError(Exception):
    """What was asked about is something else than a class."""


def instances_json(cls: Any, most: int, budget: Budget, renderer: Renderer) -> Json:
    """Return how many instances of a class and its subclasses there are, and the ways that hold them, by frequency.

    Raises:
        NoClassError: it is not a class.
    """
    if not issubclass(type(cls), type):
        raise NoClassError(facts.type_name(type(cls)))
    notes: List[str] = []
    found = _instances(cls, budget, notes)
    step = max(1, -(-len(found) // MOST_FOLLOWED))
    groups: Dict[str, Json] = {}
    followed = 0
    for index in range(0, len(found), step):
        if budget.spent() and followed:
            break
        entries = _ways(found, index, followed, budget, renderer)
        followed += 1
        seen: Set[str] = set()
        for entry in entries[:_MOST_WAYS] or [{"way": "", "of": ""}]:
            key = _without_indices(str(entry.get("path") or entry.get("under") or ""))
            key += (
                f"|{entry.get('way', '')}|{entry.get('type', '')}|{entry.get('function', '')}|{entry.get('name', '')}"
            )
            key = _without_indices(key)
            if key not in seen:
                seen.add(key)
                known = groups.setdefault(key, {**_general(entry), "count": 0})
                known["count"] += 1
    listed = sorted(groups.values(), key=lambda group: -int(group["count"]))
    answer: Json = {"value": renderer.render(cls), "type": facts.shown_type(type(cls)), "instances": len(found)}
    answer.update({"followed": followed, "groups": listed[:most], "groupsTotal": len(listed), "notes": notes})
    return answer


def _instances(cls: Any, budget: Budget, notes: List[str]) -> List[Any]:
    known: Dict[int, bool] = {}
    found: List[Any] = []
    everything = collector().get_objects()
    for number, each in enumerate(everything):
        kind = type(each)
        is_wanted = known.get(id(kind))
        if is_wanted is None:
            is_wanted = known[id(kind)] = any(base is cls for base in facts.mro(kind))
        if is_wanted:
            found.append(each)
        if not number % _CHUNK and budget.spent():
            notes.append(f"of {len(everything)} objects only the first {number} were looked at")
            break
    if not found:
        notes.append("the garbage collector tracks none; objects that can hold no others are not tracked")
    return found


def _ways(found: List[Any], index: int, followed: int, budget: Budget, renderer: Renderer) -> List[Json]:
    """Return what refers to one of the instances, within its share of the time that is left."""
    own = Budget(0.0)
    now = own.end
    own.end = now + (budget.end - now) / max(1, MOST_FOLLOWED - followed)
    question = referrers.ReferenceQuestion("inbound", _MOST_WAYS + 1)
    entries: List[Json] = referrers.references_json(found[index], question, own, renderer, [found])["inbound"]
    return sorted(entries, key=lambda entry: not (entry.get("path") or entry.get("under") or entry.get("local")))


def _general(entry: Json) -> Json:
    """Return a way without what is only of the one instance that it was found for."""
    left_out = ("way", "of", "type") if entry.get("path") else ()
    general = {name: value for name, value in entry.items() if name not in left_out}
    for name in ("path", "under", "way"):
        if name in general:
            general[name] = _without_indices(str(general[name]))
    return general


def _without_indices(path: str) -> str:
    """Return a path with `[…]` in place of its indices."""
    said, depth = "", 0
    for character in path:
        if character == "[":
            depth += 1
            said += "[…]" if depth == 1 else ""
        elif character == "]":
            depth = max(0, depth - 1)
        elif not depth:
            said += character
    return said
