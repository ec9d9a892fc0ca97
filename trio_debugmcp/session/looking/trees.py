"""A value of a paused program as a tree: by the probe, which knows objects by their identity, or by the adapter.

    tree = await session.looking.values.tree(FramePlace(1), VariablesQuestion(path="order", depth=3))
    tree.children[0].cycle      # "order": the path of an object that it is inside of

An adapter is asked level by level, within bounds of number and time.
"""

import logging
from functools import partial
from typing import NamedTuple

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.probe.answers import ProbeAnswer
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import evaluate
from trio_debugmcp.session.looking.by_adapter.composites import (
    ADAPTER_SECONDS,
    MAX_NODES,
    children,
    identity,
    path_below,
)
from trio_debugmcp.session.looking.by_probe.withheld import unknown_value
from trio_debugmcp.session.looking.variables import FramePlace, VariablesQuestion
from trio_debugmcp.session.looking.ways import Ways, without_code_first
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.payloads import shortened

log = logging.getLogger(__name__)

UNKNOWN_SIZE = -1
"""Of what has something inside that the adapter has not counted."""


class TreeNode(ProbeAnswer, frozen=True):
    """A value with what is inside of it, as the probe answers it.

    Attributes:
        path: the expression that leads to it, where the name is not one; empty where there is none.
        size: how much is inside, shown or not.
        same: in place of value and children: the path where this very object is shown.
        cycle: the same, of an object that this one is inside of.
        withheld: the value lacks what only code of the program knows, which was not to be run.
    """

    name: str
    value: str
    type: str | None = None
    path: str | None = None
    size: int = 0
    children: tuple["TreeNode", ...] = ()
    same: str | None = None
    cycle: str | None = None
    withheld: bool = False
    name_withheld: bool = False


class _Tree(ProbeAnswer, frozen=True):
    object: TreeNode


async def by_probe(ways: Ways, place: FramePlace, question: VariablesQuestion) -> TreeNode:
    """Ask the probe, which knows objects by their identity; see `without_code_first`."""
    path = question.path or ""
    asked = question.at(place, "path", "depth", "count", "limit", "size")
    found, failure = await without_code_first(
        partial(ways.probe.ask, "inspect", _Tree, types=True, **asked),
        lambda found: _has_withheld(found.object),
        again=ways.profile.expressions.is_path(path),
    )
    if failure is None:
        return found.object
    log.info("inspecting: %s", failure.text)
    return _without_withheld(found.object, unknown_value((), failure))


def _has_withheld(node: TreeNode) -> bool:
    return node.withheld or node.name_withheld or any(map(_has_withheld, node.children))


def _without_withheld(node: TreeNode, text: str) -> TreeNode:
    """Return a tree in which a text stands for the values that are not known."""
    below = tuple(_without_withheld(child, text) for child in node.children)
    return replace(node, value=text if node.withheld else node.value, withheld=False, children=below)


# --- By the adapter ---------------------------------------------------------------------------------------------------


async def by_adapter(ways: Ways, place: FramePlace, question: VariablesQuestion) -> TreeNode:
    """Ask the adapter, level by level."""
    requests, path = ways.requests, question.path or ""
    frame = await ways.frames.find(ways.snapshot, place.thread_id, place.index)
    value = await evaluate(requests, frame, path, requests.patience.seconds(ADAPTER_SECONDS))
    root = DapVariable(path, value.value, value.type, path, value.reference)
    size = value.child_count if value.child_count is not None else UNKNOWN_SIZE
    grown = _AdapterTree(requests, question)
    with trio.move_on_after(requests.patience.seconds(ADAPTER_SECONDS)):
        await grown.level([_Place(root, path, ())], question.depth)
    return grown.node(_Place(root, path, ()), size)


class _Place(NamedTuple):
    """A variable, its path, and the numbers of the children that lead to it: paths of adapters need not differ."""

    variable: DapVariable
    path: str
    position: tuple[int, ...]

    def below(self, number: int, child: DapVariable) -> "_Place":
        """Return the place of a child."""
        return _Place(child, path_below(child, self.path), (*self.position, number))


class _AdapterTree:
    """A tree that is fetched level by level. The same reference, or the same address and type, is the same object."""

    def __init__(self, requests: Requests, question: VariablesQuestion) -> None:
        self._requests = requests
        self._question = question
        self._room = MAX_NODES
        self._children: dict[tuple[int, ...], list[DapVariable]] = {}
        self._shown: dict[str, _Place] = {}

    async def level(self, places: list[_Place], depth: int) -> None:
        """Fetch the children of these variables, and of what they have."""
        below = []
        for place in places:
            variable = place.variable
            known = identity(variable)
            if not variable.variables_reference or known in self._shown or self._room <= 0:
                continue
            self._shown[known] = place
            try:
                found = await children(self._requests, variable.variables_reference, variable.type)
            except AdapterRefused as refusal:  # a pointer that leads nowhere: how much is behind it stays unknown
                log.info("%s", refusal)
                continue
            self._children[place.position] = found
            shown = found[: min(self._question.count, max(self._room, 0))]
            self._room -= len(shown)
            below += [place.below(number, child) for number, child in enumerate(shown)]
        if depth > 1 and below:
            await self.level(below, depth - 1)

    def node(self, place: _Place, size: int) -> TreeNode:
        """Return a variable as far as it was fetched."""
        variable = place.variable
        known = self._shown.get(identity(variable)) if variable.variables_reference else None
        if known is not None and known.position != place.position:
            marked = TreeNode(variable.name, "", path=place.path)
            is_above = place.position[: len(known.position)] == known.position
            return replace(marked, cycle=known.path) if is_above else replace(marked, same=known.path)
        found = self._children.get(place.position)
        shown = (found or [])[: self._question.count]
        below = [place.below(number, child) for number, child in enumerate(shown)]
        return TreeNode(
            variable.name,
            shortened(variable.value, self._question.limit),
            variable.type,
            place.path,
            size if found is None else len(found),
            children=tuple(self.node(each, _size(each.variable)) for each in below),
        )


def _size(variable: DapVariable) -> int:
    if not variable.variables_reference:
        return 0
    return ((variable.named_variables or 0) + (variable.indexed_variables or 0)) or UNKNOWN_SIZE
