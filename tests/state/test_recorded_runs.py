"""Recorded runs outlive their sessions, know how these ended, and are shown in a resource of the server."""

from typing import Any

from msgspec.structs import replace

from tests.state.store import Store
from trio_debugmcp.state.changes import KeptRunMeasured, KeptRunsRemoved, RunKept, SessionClosed
from trio_debugmcp.state.recorded_runs import RUNS, KeptRun, runs_payload
from trio_debugmcp.state.session_resources import changed_of_server, list_differs, listed


def run(number: int, session_id: str = "s-1", **more: Any) -> KeptRun:
    return KeptRun(id=f"run-{number}", session_id=session_id, what="shop.py", begun_at=1000.5, max_mb=256, **more)


def test_a_run_begins_ends_and_goes() -> None:
    store = Store("s-1")
    for change, kept in (
        (RunKept(run(1)), ["run-1"]),
        (RunKept(run(2, "s-2")), ["run-1", "run-2"]),
        (RunKept(run(1, ended_at=1001.0, size=5)), ["run-1", "run-2"]),
        (KeptRunsRemoved(frozenset({"run-1"})), ["run-2"]),
    ):
        before = store.state
        assert RUNS not in store.merge(change), "it is of no session"
        assert changed_of_server(before, store.state) == {RUNS}
        assert [each.id for each in store.state.runs] == kept


def test_a_run_outlives_its_session_and_knows_how_that_ended() -> None:
    store = Store("s-1")
    store.merge(RunKept(run(1)))
    store.merge(SessionClosed("s-1", "over", exit_code=-11))
    (kept,) = store.state.runs
    assert kept == replace(run(1), program_ended=True, exit_code=-11)
    (shown,) = runs_payload(store.state.runs, 3).runs
    assert (shown.state, shown.exit_code, shown.signal, shown.bytes) == ("Recording", -11, "SIGSEGV", None)
    store.merge(RunKept(replace(kept, ended_at=1002.0, size=42)))
    (shown,) = runs_payload(store.state.runs, 4).runs
    assert (shown.state, shown.bytes, shown.ended_at) == ("Recorded", 42, "1970-01-01T00:16:42.000+00:00")
    store.merge(KeptRunMeasured("run-1", 50))
    store.merge(KeptRunMeasured("run-9", 60))
    assert [(run.id, run.size, run.ended_at) for run in store.state.runs] == [("run-1", 50, 1002.0)]


def test_runs_are_listed_once_there_is_one_and_only_with_a_session() -> None:
    store = Store("s-1")
    listings = []
    for change in (RunKept(run(1)), RunKept(run(2)), SessionClosed("s-1", "over")):
        before = store.state
        store.merge(change)
        listings.append((RUNS in {each.uri for each in listed(store.state)}, list_differs(before, store.state)))
    assert listings == [(True, True), (True, False), (False, True)]
    assert not listed(store.state)


def test_the_end_of_another_session_leaves_the_runs_the_same_object() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.merge(RunKept(run(1)))
    before = store.state.runs
    store.merge(SessionClosed("s-2", "over", exit_code=1))
    assert store.state.runs is before
