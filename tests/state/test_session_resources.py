"""The resources of each session: which URIs name them, and which of them a change affects."""

import pytest

from tests.state.store import ORIGIN, Store
from trio_debugmcp.dap.messages import DapModule, ModuleEvent
from trio_debugmcp.state.changes import Change, FocusMoved, OutputWritten, SessionClosed, SessionOpened, SessionStarted
from trio_debugmcp.state.model import State
from trio_debugmcp.state.session_resources import (
    RESOURCES_OF_SESSIONS,
    SESSIONS,
    SESSIONS_RESOURCE,
    changed_in_sessions,
    changed_trees,
    find,
    gone,
    resource_of,
    session_uri,
)


def uris(session_id: str, *names: str) -> set[str]:
    return {session_uri(session_id, name) for name in names or RESOURCES_OF_SESSIONS}


def changed_by(store: Store, before: State) -> set[str]:
    return changed_in_sessions(before, store.state).union(*changed_trees(before, store.state))


@pytest.mark.parametrize("name", ["session", "threads", "stack", "output", "modules"])
def test_a_uri_names_a_session_and_one_of_its_resources(name: str) -> None:
    found = find(f"debugger://sessions/s-12/{name}")
    assert found is not None
    assert (found.session_id, found.resource.uri) == ("s-12", f"debugger://{name}")


@pytest.mark.parametrize(
    "rest", ["", "/", "/s-1", "/s-1/", "/1/stack", "/s-1/breakpoints", "/s-1/stack/", "/s-x/stack"]
)
def test_every_other_uri_names_none(rest: str) -> None:
    assert find(SESSIONS + rest) is None
    assert find(f"x{SESSIONS}/s-1/stack") is None


def test_the_sessions_are_listed_beside_the_resources_of_the_one_in_focus() -> None:
    assert resource_of(SESSIONS) is SESSIONS_RESOURCE
    assert (resource_of("debugger://stack") or SESSIONS_RESOURCE).name == "Call Stack"
    assert resource_of("debugger://tea") is None


def test_a_stop_changes_the_session_and_its_program_and_no_other() -> None:
    store = Store("s-1", "s-2")
    store.open("s-3", "s-1")
    before = store.state
    store.stop("s-1")
    expected = {SESSIONS, *uris("s-1", "session", "threads", "stack"), *uris("s-3", "session")}
    assert changed_by(store, before) == expected


def test_output_changes_that_of_every_session_of_its_program() -> None:
    store = Store("s-1", "s-2")
    store.open("s-3", "s-1")
    before = store.state
    store.merge(OutputWritten("s-3", 5, ()))
    assert changed_by(store, before) == uris("s-1", "output") | uris("s-3", "output")
    store.open("s-4", "s-1")
    assert {each.id: each.written for each in store.state.snapshots} == {"s-1": 5, "s-2": 0, "s-3": 5, "s-4": 5}


def test_a_module_changes_those_of_its_session() -> None:
    store = Store("s-1", "s-2")
    before = store.state
    store.event(ModuleEvent("new", DapModule(id=1, name="shop")), "s-2")
    assert changed_by(store, before) == uris("s-2", "modules")


def test_opening_and_ending_change_all_that_a_session_has() -> None:
    store = Store("s-1")
    before = store.state
    store.open("s-2")
    assert changed_by(store, before) == {SESSIONS, *uris("s-2")}
    assert gone(before, store.state) == set()
    before = store.state
    store.merge(SessionClosed("s-2", "over"))
    assert changed_by(store, before) == {SESSIONS, *uris("s-2")}
    assert gone(before, store.state) == uris("s-2")


def test_the_end_of_a_session_that_is_not_in_focus_changes_the_list_and_no_other_program() -> None:
    store = Store("s-1", "s-2")
    store.stop("s-1")
    before = store.state
    store.merge(SessionClosed("s-2", "over"))
    assert (before.focus, store.state.focus) == ("s-1", "s-1")
    assert changed_by(store, before) == {SESSIONS, *uris("s-2")}


def test_a_move_of_the_focus_alone_changes_the_list() -> None:
    store = Store("s-1", "s-2")
    store.stop("s-1")
    before = store.state
    store.merge(FocusMoved("s-2"))
    assert store.state.focus == "s-2"
    assert changed_by(store, before) == {SESSIONS}


def test_another_focus_changes_the_list_of_sessions_alone() -> None:
    store = Store("s-1", "s-2")
    store.stop("s-1")
    before = store.state
    assert before.focus == "s-1"
    store.stop("s-2")
    assert changed_by(store, before) == {SESSIONS, *uris("s-2", "session", "threads", "stack")}
    assert changed_by(store, store.state) == set()


def test_a_stop_changes_the_session_of_all_of_its_tree_as_others_come_and_go() -> None:
    store = Store("s-1", "s-9")

    def sessions(change: Change) -> set[str]:
        before = store.state
        store.merge(change)
        return {uri.split("/")[-2] for uri in changed_by(store, before) if uri.endswith("/session")}

    assert sessions(SessionOpened("s-2", ORIGIN, "s-1")) == {"s-1", "s-2"}
    assert sessions(SessionStarted("s-2")) == {"s-1", "s-2"}
    assert sessions(SessionOpened("s-3", ORIGIN, "s-1")) == {"s-1", "s-2", "s-3"}
    assert sessions(SessionClosed("s-2", "over")) == {"s-1", "s-2", "s-3"}
    assert sessions(SessionStarted("s-3")) == {"s-1", "s-3"}
    assert sessions(SessionClosed("s-9", "over")) == {"s-9"}


def test_of_a_tree_of_sessions_a_change_has_the_very_same_uris_as_the_one_before() -> None:
    store = Store("s-1", "s-9")
    store.open("s-2", "s-1")
    store.open("s-3", "s-1")
    found = []
    for stopped in ("s-2", "s-3", "s-9"):
        before = store.state
        store.stop(stopped)
        found += changed_trees(before, store.state)
    assert found == [uris("s-1", "session") | uris("s-2", "session") | uris("s-3", "session")] * 2 + [
        uris("s-9", "session")
    ]
    assert found[0] is found[1]


def test_trees_that_differ_together_have_no_uri_in_common() -> None:
    store = Store("s-1", "s-2")
    store.open("s-3", "s-1")
    before = store.state
    store.stop("s-3")
    store.stop("s-2")
    trees = changed_trees(before, store.state)
    assert sorted(map(sorted, trees)) == [
        sorted(uris("s-1", "session") | uris("s-3", "session")),
        [*uris("s-2", "session")],
    ]
