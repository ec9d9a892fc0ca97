"""A value of a paused program as a tree: by the probe, which knows objects by their identity, or by the adapter.

    tree = await inspected(requests, probe, snapshot, FramePlace(1, 0), question)
    tree.children[0].cycle      # "order": the path of an object that it is inside of

An adapter is asked level by level, within bounds of number and time.
"""

import logging
import re

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.probe.answers import ProbeError
from trio_debugmcp.probe.answers import ProbeVariable as Node
from trio_debugmcp.session.looking import frames, paused_program
from trio_debugmcp.session.looking.composites import children
from trio_debugmcp.session.looking.probed_variables import has_withheld, no_frame, refuse, without_code_first
from trio_debugmcp.session.looking.program_probe import ProgramProbe, VariablesQuestion
from trio_debugmcp.session.looking.variables import failed_value, unknown_value
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import shortened

log = logging.getLogger(__name__)

ADAPTER_SECONDS = 4.0
"""For all requests to an adapter; what is not there by then is left out, and counted where the adapter counts."""

UNKNOWN_SIZE = -1
"""Of what has something inside that the adapter has not counted."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")


class FramePlace(Struct, frozen=True):
    """A frame of a thread."""

    thread_id: int
    index: int


async def inspected(
    requests: Requests, probe: ProgramProbe, snapshot: Snapshot, place: FramePlace, question: VariablesQuestion
) -> Node:
    """Return the value that an expression stands for, with what is inside of it.

    Raises:
        UsageError: `INVALID_FRAME`, `EVAL_FAILED`, `EVAL_TIMEOUT` or `TIMEOUT`.
    """
    found = await _by_probe(requests, probe, place, question) if requests.profile.has_probe else None
    return found or await _by_adapter(requests, snapshot, place, question)


async def _by_probe(
    requests: Requests, probe: ProgramProbe, place: FramePlace, question: VariablesQuestion
) -> Node | None:
    path = question.path or ""
    try:
        found, failure = await without_code_first(
            lambda question, seconds: probe.inspect(place.thread_id, place.index, question, seconds=seconds),
            question,
            lambda found: has_withheld((found.object,)),
            again=requests.profile.expressions.is_path(path),
        )
    except ProbeError as error:
        if error.kind == "frame":
            raise await no_frame(probe, place.thread_id, place.index) from None  # noqa: ASYNC120 (it is replaced)
        refuse(error, place.thread_id, path)
        return None
    if failure is None:
        return found.object
    log.info("inspecting: %s", failure)
    text = unknown_value([], failure) if failure.kind == "slow" else failed_value(failure)
    return _without_withheld(found.object, text)


def _without_withheld(node: Node, text: str) -> Node:
    """Return a tree in which a text stands for the values that are not known."""
    below = tuple(_without_withheld(each, text) for each in node.children)
    return replace(node, value=text if node.withheld else node.value, withheld=False, children=below)


# --- By the adapter ---------------------------------------------------------------------------------------------------


async def _by_adapter(requests: Requests, snapshot: Snapshot, place: FramePlace, question: VariablesQuestion) -> Node:
    frame = await frames.find_frame(requests, snapshot, place.thread_id, place.index)
    path = question.path or ""
    value = await paused_program.evaluate(requests, frame, path, requests.patience.seconds(ADAPTER_SECONDS))
    root = DapVariable(path, value.value, value.type, path, value.reference)
    size = value.child_count if value.child_count is not None else UNKNOWN_SIZE
    grown = _AdapterTree(requests, question)
    with trio.move_on_after(requests.patience.seconds(ADAPTER_SECONDS)):
        await grown.level([(root, (path,))], question.depth)
    return grown.node(root, path, size)


class _AdapterTree:
    """A tree that is fetched level by level. The same reference, or the same address and type, is the same object."""

    def __init__(self, requests: Requests, question: VariablesQuestion) -> None:
        self._requests = requests
        self._question = question
        self._room = paused_program.MAX_NODES
        self._children: dict[str, list[DapVariable]] = {}
        self._shown: dict[str, str] = {}

    async def level(self, places: list[tuple[DapVariable, tuple[str, ...]]], depth: int) -> None:
        """Fetch the children of these variables, and of what they have."""
        below = []
        for variable, above in places:
            known = identity(variable)
            if not variable.variables_reference or known in self._shown or self._room <= 0:
                continue
            self._shown[known] = above[-1]
            try:
                found = await children(self._requests, variable.variables_reference, variable.type)
            except AdapterRefused as refusal:  # a pointer that leads nowhere: how much is behind it stays unknown
                log.info("%s", refusal)
                continue
            self._children[above[-1]] = found
            shown = found[: min(self._question.count, max(self._room, 0))]
            self._room -= len(shown)
            below += [(each, (*above, path_below(each, above[-1]))) for each in shown]
        if depth > 1 and below:
            await self.level(below, depth - 1)

    def node(self, variable: DapVariable, path: str, size: int, above: tuple[str, ...] = ()) -> Node:
        """Return a variable as far as it was fetched."""
        known = self._shown.get(identity(variable)) if variable.variables_reference else None
        if known is not None and known != path:
            marked = Node(variable.name, "", path=path)
            return replace(marked, cycle=known) if known in above else replace(marked, same=known)
        found = self._children.get(path)
        shown = (found or [])[: self._question.count]
        return Node(
            variable.name,
            shortened(variable.value, self._question.limit),
            variable.type,
            path,
            size if found is None else len(found),
            children=tuple(self.node(each, path_below(each, path), _size(each), (*above, path)) for each in shown),
        )


def identity(variable: DapVariable) -> str:
    """Return what tells one object of a stop from another: its address and type, or its reference."""
    address = _ADDRESS.search(variable.value)
    return f"{variable.type} {address[0]}" if address is not None else f"{variable.variables_reference}"


def path_below(variable: DapVariable, parent: str) -> str:
    """Return the path of a child; `parent` is that of what it is inside of."""
    if variable.evaluate_name:
        return variable.evaluate_name
    return f"{parent}{variable.name}" if variable.name.startswith("[") else f"{parent}.{variable.name}"


def _size(variable: DapVariable) -> int:
    if not variable.variables_reference:
        return 0
    return ((variable.named_variables or 0) + (variable.indexed_variables or 0)) or UNKNOWN_SIZE
