"""What the state says of a breakpoint, and where it finds sessions."""

from typing import Any

import pytest

from tests.state.store import Store, breakpoint_on
from trio_debugmcp.state.breakpoint_rules import ENDED
from trio_debugmcp.state.changes import BreakpointPut, SessionClosed
from trio_debugmcp.state.session_index import changed_sessions


@pytest.mark.parametrize(
    ("settings", "always"),
    [
        ({}, True),
        ({"enabled": False}, False),
        ({"condition": "x"}, False),
        ({"hit_condition": "3"}, False),
        ({"log_message": "x"}, False),
    ],
)
def test_a_breakpoint_always_stops_without_a_condition_and_a_message(settings: dict[str, Any], always: bool) -> None:
    assert breakpoint_on(1, **settings).always_stops is always


def test_sessions_are_found_in_each_state_while_others_come_and_go() -> None:
    store = Store("s-1", "s-2", "s-3")
    before = store.state
    store.merge(SessionClosed("s-1", "over"))
    after = store.state
    for _ in range(2):  # the places in one state are not those in the other
        for state in (before, after):
            assert [id_ for id_ in ("s-1", "s-2", "s-3", "s-4") if state.snapshot(id_)] == [
                each.id for each in state.snapshots
            ]
    assert changed_sessions(before.snapshots, after.snapshots) == ["s-1"]


def test_a_session_comes_from_the_root_that_is_left() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.open("s-3", "s-2")
    assert [store.state.root_of(id_) for id_ in ("s-1", "s-2", "s-3", "s-4")] == ["s-1", "s-1", "s-1", None]
    assert store.state.roots() == {"s-1": "s-1", "s-2": "s-1", "s-3": "s-1"}


def test_a_breakpoint_of_some_sessions_is_lost_with_the_last_of_them() -> None:
    store = Store("s-1", "s-2", "s-3")
    store.merge(BreakpointPut(breakpoint_on(1, sessions=("s-2", "s-3"))))
    assert [len(store.state.places_of(id_)) for id_ in ("s-1", "s-2", "s-3")] == [0, 1, 1]
    store.merge(SessionClosed("s-2", "over"))
    assert store.state.breakpoints[0].lost is None
    store.merge(SessionClosed("s-3", "over"))
    assert store.state.breakpoints[0].lost == ENDED
