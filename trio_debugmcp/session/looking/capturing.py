"""Captures of the variables of a frame, by one question to the probe, or by the adapter.

    found = await session.looking.values.capture(FramePlace(1), depth=2)
    # to be numbered and merged: CaptureTaken(Capture(id="snap-1", variables=found.variables, …))

The probe runs no code of the program for it.
"""

import hashlib
import logging
import re

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.probe.answers import ProbeAnswer, ProbePlace
from trio_debugmcp.session.looking.by_adapter.adapter_variables import scope_variables
from trio_debugmcp.session.looking.by_adapter.composites import (
    ADAPTER_SECONDS,
    MAX_NODES,
    children,
    identity,
    path_below,
)
from trio_debugmcp.session.looking.variables import FramePlace
from trio_debugmcp.session.looking.ways import WITHOUT_CODE_SECONDS, Ways
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.captures import CapturedValue
from trio_debugmcp.state.payloads import Location, shortened

log = logging.getLogger(__name__)

MAX_CHILDREN = 100
"""Of each value. The probe digests what comes after them."""

MAX_SIZE = 300_000
"""Characters of the probe's answer: some thousands of values, which take it less than half a second."""

_CUT = re.compile(r"(\.\.\.|…)[\"'>)\]}]*$")
"""At the end of a text that the adapter has cut, as gdb and lldb do."""


class CapturedFrame(Struct, frozen=True):
    """The variables of a frame, how many it has, and where it is. `seed`: what their digests are comparable by."""

    variables: tuple[CapturedValue, ...]
    total: int
    location: Location
    seed: str | None = None


class _FetchedVariables(ProbeAnswer, frozen=True):
    variables: tuple[CapturedValue, ...]
    total: int
    seed: str
    at: ProbePlace


async def by_probe(ways: Ways, place: FramePlace, depth: int) -> CapturedFrame:
    """Ask the probe, which runs no code of the program."""
    answer = await ways.probe.ask(
        "capture",
        _FetchedVariables,
        within=WITHOUT_CODE_SECONDS,
        thread=place.thread_id,
        frame=place.index,
        depth=depth,
        count=MAX_CHILDREN,
        size=MAX_SIZE,
        code=False,
        types=True,
        fields=True,
    )
    location = Location(answer.at.file, answer.at.line, None, answer.at.qualname or answer.at.function, None)
    return CapturedFrame(answer.variables, answer.total, location, answer.seed)


# --- By the adapter ---------------------------------------------------------------------------------------------------


async def by_adapter(ways: Ways, place: FramePlace, depth: int) -> CapturedFrame:
    """Ask the adapter, level by level."""
    requests = ways.requests
    frame = await ways.frames.find(ways.snapshot, place.thread_id, place.index)
    variables = await scope_variables(requests, frame, "locals", ways.unmade)
    shown = variables[:MAX_NODES]
    growing = _AdapterCapture(requests, MAX_NODES - len(shown))
    places: list[_Place] = [
        (variable, (variable.evaluate_name or variable.name,), (identity(variable),)) for variable in shown
    ]
    with trio.move_on_after(requests.patience.seconds(ADAPTER_SECONDS)):
        await growing.level(places, depth)
    values = tuple(growing.value(variable, paths[-1], {}) for variable, paths, _ in places)
    return CapturedFrame(values, len(variables), frame.location, "adapter")


_Place = tuple[DapVariable, tuple[str, ...], tuple[str, ...]]
"""A variable, the paths from the frame down to it, and the identities of what stands there."""


class _AdapterCapture:
    """Variables with their children by the identities down to them, fetched level by level and within bounds.

    Paths of adapters may be the same for two variables, as for one of an inner block that hides one of an outer block.
    """

    def __init__(self, requests: Requests, room: int) -> None:
        self._requests = requests
        self._room = room
        self._children: dict[tuple[str, ...], list[DapVariable]] = {}

    async def level(self, places: list[_Place], depth: int) -> None:
        """Fetch the children of these variables, and of what they have."""
        below: list[_Place] = []
        for variable, paths, above in places:
            if not variable.variables_reference or above[-1] in above[:-1] or self._room <= 0 or depth <= 0:
                continue
            try:
                found = await children(self._requests, variable.variables_reference, variable.type)
            except AdapterRefused as refusal:  # a pointer that leads nowhere: what is behind it stays unseen
                log.info("%s", refusal)
                continue
            self._children[above] = found
            shown = found[: min(MAX_CHILDREN, self._room)]
            below += [(child, (*paths, path_below(child, paths[-1])), (*above, identity(child))) for child in shown]
            self._room -= min(len(found), MAX_CHILDREN)
        if below:
            await self.level(below, depth - 1)

    def value(self, variable: DapVariable, path: str, above: dict[str, str]) -> CapturedValue:
        """Return a variable as far as it was fetched; `above`: the paths of what it is inside of, by identity."""
        text = variable.value
        value = CapturedValue(
            variable.name,
            shortened(text),
            variable.type,
            path,
            digest=_digest(text) if len(text) != len(shortened(text)) else None,
        )
        if not variable.variables_reference:
            return replace(value, unseen=_CUT.search(text) is not None)
        known = identity(variable)
        if known in above:
            return replace(value, cycle=above[known])
        found = self._children.get((*above, known))  # here, as objects that know each other have endlessly many places
        if found is None:
            return replace(value, unseen=True)
        above = {**above, known: path}
        shown = found[:MAX_CHILDREN]
        children = tuple(self.value(child, path_below(child, path), above) for child in shown)
        partial = len(shown) < len(found)
        return replace(value, children=children, partial=partial, unseen=partial, digest=None, own=True)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()
