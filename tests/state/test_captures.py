"""Captures are bounded in number and size, outlive their session, and are shown in a resource."""

from typing import Any

import pytest

from tests.state.store import Store, place
from trio_debugmcp.state import captures
from trio_debugmcp.state.captures import Capture, CapturedValue, snapshots_payload
from trio_debugmcp.state.changes import CapturesRemoved, CaptureTaken, Resumed, SessionClosed
from trio_debugmcp.state.payloads import to_json
from trio_debugmcp.state.resources import SNAPSHOTS


def capture(number: int, session_id: str = "s-1", **more: Any) -> Capture:
    values: dict[str, Any] = {"variables": (CapturedValue("x", "1"),), "total": 1, **more}
    return Capture(
        id=f"snap-{number}",
        label=f"snapshot-{number}",
        session_id=session_id,
        created_at=1000.5,
        thread_id=1,
        frame_index=0,
        location=place(3, "visit"),
        depth=2,
        **values,
    )


def discarded(store: Store) -> tuple[str, ...]:
    return store.state.captures[-1].discarded


def ids(store: Store) -> list[str]:
    return [each.id for each in store.state.captures]


def test_taking_and_removing_captures_changes_their_resource_only() -> None:
    store = Store("s-1")
    assert store.merge(CaptureTaken(capture(1))) == {SNAPSHOTS}
    assert store.merge(CaptureTaken(capture(2))) == {SNAPSHOTS}
    assert store.merge(CapturesRemoved(frozenset({"snap-1"}))) == {SNAPSHOTS}
    assert ids(store) == ["snap-2"]
    assert SNAPSHOTS not in store.merge(Resumed("s-1"))
    assert ids(store) == ["snap-2"]


def test_captures_outlive_their_session_so_that_two_runs_can_be_compared() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    for number, session in ((1, "s-1"), (2, "s-2"), (3, "s-1")):
        store.merge(CaptureTaken(capture(number, session)))
    before = store.state.captures
    assert SNAPSHOTS not in store.merge(SessionClosed("s-2", "over"))
    assert store.merge(CaptureTaken(capture(4, "s-2"))) == set(), "a late one"
    store.merge(SessionClosed("s-1", "over"))
    assert store.state.captures is before
    store.open("s-3")
    store.merge(CaptureTaken(capture(5, "s-3")))
    assert ids(store) == ["snap-1", "snap-2", "snap-3", "snap-5"]


def test_of_too_many_the_oldest_is_discarded_and_the_new_one_names_it() -> None:
    store = Store("s-1")
    for number in range(1, 101):
        store.merge(CaptureTaken(capture(number)))
    assert len(ids(store)) == 100
    assert discarded(store) == ()
    store.merge(CaptureTaken(capture(101)))
    assert (len(ids(store)), ids(store)[0], ids(store)[-1]) == (100, "snap-2", "snap-101")
    assert discarded(store) == ("snap-1",)


def test_of_too_large_ones_as_many_are_discarded_as_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = CapturedValue("y", "v" * 700, path="p" * 100, children=(CapturedValue("z", "1"),))
    large = (CapturedValue("x", "1", children=(inner,)),)
    store = Store("s-1")
    store.merge(CaptureTaken(capture(1, variables=large)))
    size = store.state.captures[0].size
    assert 1400 < size < 1500
    monkeypatch.setattr(captures, "MAX_BYTES", 3 * size)
    for number in (2, 3):
        store.merge(CaptureTaken(capture(number, variables=large)))
    assert ids(store) == ["snap-1", "snap-2", "snap-3"]
    store.merge(CaptureTaken(capture(4, variables=large)))
    assert (ids(store), discarded(store)) == (["snap-2", "snap-3", "snap-4"], ("snap-1",))
    store.merge(CaptureTaken(capture(5, variables=large * 2)))
    assert (ids(store), discarded(store)) == (["snap-4", "snap-5"], ("snap-2", "snap-3"))
    store.merge(CaptureTaken(capture(6, variables=large * 9)))
    assert ids(store) == ["snap-6"], "one is always kept"


def test_the_payload_lists_them_without_their_variables() -> None:
    assert to_json(snapshots_payload((capture(1, total=7),), 4)) == (
        '{"snapshots":[{"id":"snap-1","label":"snapshot-1","createdAt":"1970-01-01T00:16:40.500+00:00","threadId":1,'
        '"frameIndex":0,"functionName":"visit","variableCount":7}],"count":1,"revision":4}'
    )
