"""Any changes, of any content, in any order: every resource can be read, and every difference has a new revision."""

import types
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.inputs import TEXT
from tests.fuzz.running import run, whole_server
from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.messages import EVENT_TYPES
from trio_debugmcp.session.event_ring import Timeline
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.console import Console
from trio_debugmcp.state import changes
from trio_debugmcp.state.model import Origin
from trio_debugmcp.state.payloads import OutputPayload, TimelinePayload, to_json
from trio_debugmcp.state.resources import RESOURCES, View

SESSIONS = st.sampled_from(["s-1", "s-2", "s-3"])
BREAKPOINTS = st.sampled_from(["bp-1", "tp-2", "ex-3", "fn-4"])
CHANGES = [
    kind
    for kind in vars(changes).values()
    if isinstance(kind, type) and issubclass(kind, changes.Change) and kind is not changes.Change
]
TIMES = st.floats(0, 4e9)

BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "session_id": SESSIONS,
    "parent": st.none() | SESSIONS,
    "generation": st.integers(0, 6),
    "thread_id": st.integers(0, 2),
    "id": st.integers(0, 3) | BREAKPOINTS,
    "ids": st.frozensets(BREAKPOINTS, max_size=2),
    "at": TIMES,
    "attached_at": TIMES,
    "total": st.integers(0, 2**40),
    "what": st.just(changes.Happening("toolCalled", {"tool": "x"})),
}
"""Fields whose values must often be those of other changes: any value of the type would hardly ever meet them."""


def fitting(hint: Any, name: str = "") -> st.SearchStrategy[Any]:
    """Values of a type, as the state's changes use them."""
    arguments = get_args(hint)
    if name in BY_NAME and (name != "id" or hint in (str, int, int | None)):
        found = BY_NAME[name]
        return found.filter(lambda value: isinstance(value, hint)) if name == "id" else found
    match get_origin(hint):
        case _ if hint is type(None):
            return st.none()
        case _ if hint is Any:
            return st.none() | TEXT
        case origin if origin is Literal:
            return st.sampled_from(arguments)
        case origin if origin in (Union, types.UnionType):
            return st.one_of([fitting(each, name) for each in arguments])
        case origin if origin is tuple:
            if arguments[-1] is Ellipsis:
                return st.lists(fitting(arguments[0]), max_size=2).map(tuple)
            return st.tuples(*[fitting(each) for each in arguments])
        case origin if origin is frozenset:
            return st.frozensets(BREAKPOINTS, max_size=2)
        case origin if origin in (list, dict):
            return st.just(origin())
        case origin if origin is Mapping:
            return st.dictionaries(TEXT, fitting(arguments[1]), max_size=2)
        case _:
            pass
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return st.deferred(lambda: built(hint))  # some are made of themselves
    simple = {str: TEXT, int: st.integers(0, 5), float: TIMES, bool: st.booleans(), msgspec.Raw: st.just(msgspec.Raw())}
    simple[msgspec.UnsetType] = st.just(msgspec.UNSET)
    return simple[hint]


@cache
def built(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Structs with any values in their fields."""
    hints = get_type_hints(kind)
    members = {field.name: fitting(hints[field.name], field.name) for field in msgspec.structs.fields(kind)}
    return st.builds(kind, **members)


SAID = st.builds(changes.EventReceived, SESSIONS, st.sampled_from(list(EVENT_TYPES.values())).flatmap(built))


@st.composite
def histories(draw: st.DrawFn) -> list[changes.Change]:
    """Changes as they reach the merger, after a session that is running."""
    kinds = [kind for kind in CHANGES if kind is not changes.EventReceived]
    steps: list[changes.Change] = [changes.SessionOpened("s-1", draw(built(Origin))), changes.SessionStarted("s-1")]
    later = st.sampled_from(kinds).flatmap(built)
    return steps + draw(st.lists(SAID | later | later | later, max_size=25))


class Rings:
    """A merger with the ring buffers of a debugger, but without the debugger."""

    def __init__(self) -> None:
        clock = Clock()
        self.timeline = Timeline(clock)
        self.merger = Merger(self, self.timeline)
        self._console = Console(clock, self.merger)

    def resources_updated(self, *uris: AbstractSet[str]) -> None: ...

    def list_changed(self) -> None: ...

    def output_payload(self, session_id: str, revision: int) -> OutputPayload:
        return self._console.payload(revision)

    def timeline_payload(self, revision: int) -> TimelinePayload:
        return self.timeline.payload(revision)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every resource as JSON, with its revision left out."""
        state = self.merger.state
        snapshot = state.focused
        if snapshot is not None:
            for uri, resource in RESOURCES.items():
                yield uri, to_json(resource.payload(View(state, snapshot, 0, self)))


def never_made(rings: Rings, change: changes.Change) -> bool:
    """Whether the change is one that the debugger never makes: an id is used once, and a child has a parent."""
    state = rings.merger.state
    return isinstance(change, changes.SessionOpened) and (
        state.snapshot(change.session_id) is not None
        or (change.parent is not None and state.snapshot(change.parent) is None)
    )


@whole_server
@given(histories())
def test_after_any_changes_every_resource_is_json_and_every_difference_has_a_revision(
    steps: list[changes.Change],
) -> None:
    async def main() -> None:
        rings = Rings()
        async with trio.open_nursery() as nursery:
            await nursery.start(rings.merger.run)
            for change in steps:
                if never_made(rings, change):
                    continue
                before, revisions = dict(rings.texts()), {uri: rings.merger.revisions[uri] for uri in RESOURCES}
                await rings.merger.merge(change)
                state, after = rings.merger.state, dict(rings.texts())
                assert state.focus is None or state.focused is not None
                for uri in RESOURCES:
                    risen = rings.merger.revisions[uri] - revisions[uri]
                    assert risen >= 0
                    assert risen == 1 or before.get(uri) == after.get(uri), (uri, change)
            nursery.cancel_scope.cancel()

    run(main)
