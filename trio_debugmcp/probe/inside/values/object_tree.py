"""What is inside a value, several levels deep, as a tree in which no object is shown twice.

    tree_json(order, "order", 2, 50, budget, renderer)
    # {"name": "order", "value": "Order(…)", "size": 2, "children": [{"name": "parent", "same": "order", …}, …]}

Level by level, so that an object is shown where it is nearest, and a large one leaves room for the others.
"""

import types
from typing import Any, Dict, List, Tuple

from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import children, variable_listing
from trio_debugmcp.probe.inside.values.children import Child
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

_NAMED = (type, types.ModuleType, types.FunctionType, types.MethodType)
"""What its name says enough of, unless it is asked about itself."""


class _ShownObject:
    """An object in the tree, with its entry, its path, and the ids of the objects that it is inside of."""

    def __init__(self, value: Any, entry: Json, path: str, above: Tuple[int, ...]) -> None:
        self.value = value
        self.entry = entry
        self.path = path
        self.inside = (*above, id(value))


def tree_json(value: Any, path: str, depth: int, most: int, budget: Budget, renderer: Renderer) -> Json:
    """Return a value with its children down to a depth, at most so many of each."""
    root = visible_frames.variable_json(path, value, None, renderer)
    seen: Dict[int, _ShownObject] = {id(value): _ShownObject(value, root, path, ())}
    level = [*seen.values()]
    for _ in range(min(depth, variable_listing.MOST_DEPTH)):
        below: List[_ShownObject] = []
        for place in level:
            if budget.spent():
                break
            below += _expand(place, most, seen, budget, renderer)
        level = below
    return root


def _expand(
    place: _ShownObject, most: int, seen: Dict[int, _ShownObject], budget: Budget, renderer: Renderer
) -> List[_ShownObject]:
    """Put the children into the entry of an object; return the places of those that may have children."""
    try:
        found, _ = children.children(place.value, 0, most)
    except RuntimeError:  # the program changes it meanwhile
        return []
    listed = place.entry["children"] = []
    inner = []
    for child in found:
        if budget.spent():
            break
        known = seen.get(id(child.value)) if _has_inside(child) else None
        if known is not None:
            entry = variable_listing.named_json(child, place.path, budget, renderer)
            entry["cycle" if id(child.value) in place.inside else "same"] = known.path
            budget.take(20 + len(known.path))
        else:
            entry = variable_listing.child_json(child, place.path, budget, renderer)
            if _has_inside(child):
                made = _ShownObject(child.value, entry, entry.get("path", child.name), place.inside)
                seen[id(child.value)] = made  # this keeps the object: its id stays its own
                inner.append(made)
        listed.append(entry)
    return inner


def _has_inside(child: Child) -> bool:
    if child.note or issubclass(type(child.value), _NAMED):
        return False
    return children.count_of(child.value) > 0
