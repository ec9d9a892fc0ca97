"""Breakpoints: set, bound, moved, hit; and the hits that a hit condition lets through."""

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.state.store import Store
from trio_debugmcp.dap.messages import (
    BreakpointEvent,
    DapBreakpoint,
)
from trio_debugmcp.state.breakpoint import BreakpointSpec, ExceptionBreakpoint, RunPlace
from trio_debugmcp.state.breakpoint_payloads import breakpoints_payload
from trio_debugmcp.state.breakpoint_rules import breakpoints_at
from trio_debugmcp.state.changes import (
    BreakpointEnabled,
    BreakpointFaulted,
    BreakpointLogged,
    BreakpointsBound,
    BreakpointsHeld,
    BreakpointsRemoved,
    ExceptionBreakpointPut,
    ExceptionBreakpointsBound,
    RunPlacePut,
    RunPlacesRemoved,
    SessionClosed,
)
from trio_debugmcp.state.hit_conditions import hits_after_stop, is_hit_condition
from trio_debugmcp.state.payloads import ExceptionInfo
from trio_debugmcp.state.resources import BREAKPOINTS, SESSION, STACK, THREADS


def test_setting_binding_switching_and_removing_a_breakpoint_change_the_breakpoints_only() -> None:
    store = Store("s-1")
    assert store.put("bp-1") == {BREAKPOINTS}
    assert store.bound("bp-1") == {BREAKPOINTS}
    assert store.bound("bp-1") == set()
    assert store.put("bp-1", enabled=False) == {BREAKPOINTS}
    assert store.merge(BreakpointsRemoved(frozenset({"bp-1"}))) == {BREAKPOINTS}
    assert store.merge(BreakpointsRemoved(frozenset({"bp-1"}))) == set()


def test_breakpoints_without_a_session_change_no_resource() -> None:
    store = Store()
    assert store.put("bp-1") == set()
    assert [each.id for each in store.state.breakpoints] == ["bp-1"]


def test_a_breakpoint_that_was_not_sent_loses_its_binding() -> None:
    store = Store("s-1")
    store.put("bp-1")
    store.bound("bp-1")
    assert store.merge(BreakpointsBound("s-1", (("bp-1", None),))) == {BREAKPOINTS}
    assert store.breakpoint("bp-1").bindings == ()


def test_what_a_later_answer_leaves_out_is_kept() -> None:
    store = Store("s-1")
    store.put("bp-1", 3)
    store.bound("bp-1", id=7, line=5, column=2)
    assert store.bound("bp-1", id=None, line=None, column=None) == set()
    assert store.event(BreakpointEvent("changed", DapBreakpoint(False, 7, message="unloaded"))) == {BREAKPOINTS}
    (binding,) = store.breakpoint("bp-1").bindings
    assert (binding.adapter_id, binding.line, binding.column, binding.message) == (7, 5, 2, "unloaded")


def test_a_breakpoint_that_the_adapter_moves_is_shown_where_it_is() -> None:
    store = Store("s-1")
    store.put("bp-1", 3)
    store.bound("bp-1", id=7, line=3)
    moved = BreakpointEvent("changed", DapBreakpoint(True, 7, line=5))
    assert store.event(moved) == {BREAKPOINTS}
    shown = breakpoints_payload(store.state, 1).breakpoints[0]
    assert (shown.line, shown.requested_line, shown.message) == (
        5,
        3,
        "moved from line 3 to 5, where code is",
    )
    assert store.event(moved) == set()


def test_a_breakpoint_that_the_adapter_removes_becomes_pending() -> None:
    store = Store("s-1")
    store.put("bp-1")
    store.bound("bp-1", id=7)
    assert store.event(BreakpointEvent("removed", DapBreakpoint(True, 7))) == {BREAKPOINTS}
    assert breakpoints_payload(store.state, 1).breakpoints[0].state == "Pending"


def test_an_event_about_an_unknown_breakpoint_changes_nothing() -> None:
    store = Store("s-1")
    store.put("bp-1")
    store.bound("bp-1", id=None, verified=False)
    assert store.event(BreakpointEvent("new", DapBreakpoint(True, 9, line=4))) == set()
    assert store.event(BreakpointEvent("changed", DapBreakpoint(True, None, line=4))) == set()


def test_a_stop_at_a_breakpoint_counts_a_hit() -> None:
    store = Store("s-1")
    store.put("bp-1")
    store.put("bp-2")
    store.bound("bp-1")
    store.bound("bp-2")
    assert store.stop(reason="Breakpoint", hit_ids=(1,)) == {SESSION, THREADS, STACK, BREAKPOINTS}
    assert (store.breakpoint("bp-1").hits, store.breakpoint("bp-2").hits) == (1, 0)
    assert store["s-1"].stop is not None
    assert store["s-1"].stop.breakpoint_ids == ("bp-1",)


@pytest.mark.parametrize("hit_ids", [None, ()])
def test_without_ids_from_the_adapter_the_location_decides_what_was_hit(hit_ids: Any) -> None:
    store = Store("s-1")
    for number, line in ((1, 7), (2, 8)):
        store.put(f"bp-{number}", line)
        store.bound(f"bp-{number}", id=None, line=line)
    store.put("bp-3", 7, enabled=False)
    store.bound("bp-3", id=None, line=7)
    store.put("bp-4", 7, file="/src/other.py")
    store.bound("bp-4", id=None, line=7)
    store.stop(reason="Breakpoint", hit_ids=hit_ids, line=7)
    assert [each.hits for each in store.state.breakpoints] == [1, 0, 0, 0]


@pytest.mark.parametrize("line", [5, 7])
def test_a_stop_at_the_line_asked_for_or_at_the_line_bound_is_a_hit(line: int) -> None:
    store = Store("s-1")
    store.put("bp-1", 5)
    store.bound("bp-1", id=None, line=7)
    store.stop(reason="Breakpoint", line=line)
    assert store.breakpoint("bp-1").hits == 1


def test_the_location_counts_for_the_sessions_that_have_the_breakpoint() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.put("bp-1", 7)
    store.bound("bp-1", "s-1", id=None, line=7)
    store.stop("s-2", reason="Breakpoint", line=7)
    assert store["s-2"].stop is not None
    assert store["s-2"].stop.breakpoint_ids == ()


def test_a_step_that_ends_on_the_line_of_a_breakpoint_does_not_hit_it() -> None:
    store = Store("s-1")
    store.put("bp-1", 7)
    store.bound("bp-1")
    assert BREAKPOINTS not in store.stop(reason="Step", line=7)


def test_hits_follow_the_hit_condition() -> None:
    store = Store("s-1")
    store.put("bp-1", hit_condition="% 3")
    store.bound("bp-1")
    for expected in (3, 6, 9):
        store.stop(reason="Breakpoint", hit_ids=(1,))
        assert store.breakpoint("bp-1").hits == expected
        store.resume()


def test_hits_are_counted_per_session_and_shown_as_a_sum() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.put("bp-1", hit_condition="5")
    store.bound("bp-1", "s-1")
    store.bound("bp-1", "s-2")
    store.stop("s-1", reason="Breakpoint", hit_ids=(1,))
    assert store.breakpoint("bp-1").hits == 5
    store.stop("s-2", reason="Breakpoint", hit_ids=(1,))
    assert store.breakpoint("bp-1").hits == 10
    store.merge(SessionClosed("s-2", "over"))
    store.stop("s-1", reason="Breakpoint", hit_ids=(1,))
    assert store.breakpoint("bp-1").hits == 11


def test_an_adapters_breakpoint_id_means_nothing_in_another_session() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.put("bp-1")
    store.bound("bp-1", "s-1", id=1)
    store.stop("s-2", reason="Breakpoint", hit_ids=(1,))
    assert store.breakpoint("bp-1").hits == 0
    assert store["s-2"].stop is not None
    assert store["s-2"].stop.breakpoint_ids == ()
    store.bound("bp-1", "s-2", id=2, line=1)
    assert store.event(BreakpointEvent("changed", DapBreakpoint(True, 1, line=9)), "s-2") == set()


def test_a_logged_message_counts_a_hit_and_changes_the_breakpoints_only() -> None:
    store = Store("s-1")
    store.put("tp-1", log_message="x")
    store.bound("tp-1")
    assert store.merge(BreakpointLogged("s-1", "tp-1")) == {BREAKPOINTS}
    assert store.breakpoint("tp-1").hits == 1


def test_a_failed_condition_is_reported_at_its_breakpoint() -> None:
    store = Store("s-1")
    store.put("bp-1", condition="x > 1")
    store.put("bp-2", condition="y")
    assert store.merge(BreakpointFaulted("s-1", "x > 1", "NameError")) == {BREAKPOINTS}
    assert [each.message for each in breakpoints_payload(store.state, 1).breakpoints] == ["NameError", None]


def test_a_place_of_a_run_is_in_no_payload() -> None:
    store = Store("s-1")
    assert store.put_place("run-to-9") == set()
    assert store.bound("run-to-9") == set()
    store.stop(reason="Breakpoint", hit_ids=(9,))
    assert store["s-1"].stop is not None
    assert (store["s-1"].stop.reason, store["s-1"].stop.breakpoint_ids) == ("Step", ())
    assert breakpoints_payload(store.state, 1).breakpoints == []


def test_a_stop_at_a_place_of_a_run_and_a_breakpoint_is_that_of_the_breakpoint() -> None:
    store = Store("s-1")
    store.put("bp-8")
    store.bound("bp-8")
    store.put_place("run-to-9")
    store.bound("run-to-9")
    store.stop(reason="Breakpoint", hit_ids=(8, 9))
    assert store["s-1"].stop is not None
    assert (store["s-1"].stop.reason, store["s-1"].stop.breakpoint_ids) == ("Breakpoint", ("bp-8",))
    assert store.merge(RunPlacesRemoved(frozenset({"run-to-9"}))) == set()


def test_a_breakpoint_that_another_program_passes_by_counts_where_a_run_of_this_one_observes() -> None:
    store = Store("s-1", "s-2")
    store.put("bp-1", 7)
    store.merge(BreakpointsHeld(frozenset({"bp-1"}), "s-2"))
    store.put_place("run-to-1", 7, observed="{ x }", run_of="s-1")
    store.bound("bp-1")
    store.bound("run-to-1")
    assert [each.id for each in breakpoints_at(store.state, "s-1", {1}, None)] == ["bp-1", "run-to-1"]
    store.merge(BreakpointsHeld(frozenset({"bp-1"}), "s-1"))
    assert [each.id for each in breakpoints_at(store.state, "s-1", {1}, None)] == ["run-to-1"]


def test_a_function_that_a_run_observes_exists_once_it_was_called() -> None:
    store = Store("s-1")
    store.merge(RunPlacePut(RunPlace("run-to-1", BreakpointSpec(function="main"))))
    store.bound("run-to-1", verified=False, message="no such function yet")
    store.stop(reason="Breakpoint", hit_ids=(1,))
    assert [binding.verified for each in store.state.run_places for binding in each.bindings] == [True]


def test_exception_breakpoints_are_verified_while_watched_for_and_count_their_hits() -> None:
    store = Store("s-1")
    assert store.merge(ExceptionBreakpointPut(ExceptionBreakpoint("ex-1"))) == {BREAKPOINTS}
    assert store.merge(ExceptionBreakpointsBound("s-1", frozenset({"ex-1"}))) == {BREAKPOINTS}
    info = ExceptionInfo("ValueError", "bad", "always")
    uris = store.stop(reason="Exception", exception=info, exception_breakpoints=("ex-1",))
    assert uris == {SESSION, THREADS, STACK, BREAKPOINTS}
    assert store.state.exceptions[0].hits == 1
    assert store["s-1"].stop is not None
    assert (store["s-1"].stop.exception, store["s-1"].stop.breakpoint_ids) == (info, ("ex-1",))
    assert store.merge(ExceptionBreakpointsBound("s-1", frozenset(), "not here")) == {BREAKPOINTS}
    assert store.state.exceptions[0].problem == "not here"


def test_breakpoints_of_all_kinds_are_switched_off_and_removed_by_id() -> None:
    store = Store("s-1")
    for breakpoint_id in ("bp-1", "bp-2"):
        store.put(breakpoint_id)
    for breakpoint_id in ("ex-3", "ex-4"):
        store.merge(ExceptionBreakpointPut(ExceptionBreakpoint(breakpoint_id)))
    for breakpoint_id in ("bp-1", "ex-3"):
        assert store.merge(BreakpointEnabled(breakpoint_id, enabled=False)) == {BREAKPOINTS}
    assert [each.enabled for each in store.state.breakpoints] == [False, True]
    assert [each.enabled for each in store.state.exceptions] == [False, True]
    assert store.merge(BreakpointsRemoved(frozenset({"bp-1", "ex-3"}))) == {BREAKPOINTS}
    assert [each.id for each in store.state.breakpoints] == ["bp-2"]
    assert [each.id for each in store.state.exceptions] == ["ex-4"]


def test_an_exception_breakpoint_is_verified_while_enabled_and_watched_for_by_a_session() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.merge(ExceptionBreakpointPut(ExceptionBreakpoint("ex-1")))
    for session_id in ("s-1", "s-2"):
        store.merge(ExceptionBreakpointsBound(session_id, frozenset({"ex-1"})))
    store.merge(ExceptionBreakpointsBound("s-2", frozenset()))
    assert store.state.exceptions[0].session_ids == ("s-1",)
    assert breakpoints_payload(store.state, 1).exception_breakpoints[0].verified
    store.merge(BreakpointEnabled("ex-1", enabled=False))
    assert not breakpoints_payload(store.state, 1).exception_breakpoints[0].verified
    store.merge(ExceptionBreakpointsBound("s-2", frozenset(), "not here"))
    assert store.state.exceptions[0].problem is None  # the adapter refused others: this one was not sent


def test_switching_a_removed_breakpoint_does_not_bring_it_back() -> None:
    store = Store("s-1")
    store.put("bp-1")
    store.merge(BreakpointsRemoved(frozenset({"bp-1"})))
    assert store.merge(BreakpointEnabled("bp-1", enabled=True)) == set()
    assert store.state.breakpoints == ()


def test_an_update_of_a_breakpoint_keeps_hits_counted_meanwhile() -> None:
    store = Store("s-1")
    store.put("bp-1")
    store.bound("bp-1")
    store.stop(hit_ids=(1,), reason="Breakpoint")
    store.put("bp-1", condition="x > 1")
    assert (store.breakpoint("bp-1").hits, store.breakpoint("bp-1").spec.condition) == (1, "x > 1")


def test_an_update_of_an_exception_breakpoint_keeps_its_hits_and_stays_verified() -> None:
    store = Store("s-1")
    store.merge(ExceptionBreakpointPut(ExceptionBreakpoint("ex-1")))
    store.merge(ExceptionBreakpointsBound("s-1", frozenset({"ex-1"})))
    store.stop(reason="Exception", exception_breakpoints=("ex-1",))
    store.merge(ExceptionBreakpointPut(ExceptionBreakpoint("ex-1", condition="x > 1")))
    (shown,) = breakpoints_payload(store.state, 1).exception_breakpoints
    assert (shown.hit_count, shown.verified, shown.condition) == (1, True, "x > 1")


# --- Hit conditions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["3", "== 3", ">3", ">= 3", "< 3", "<=3", "% 2", "  %  10  "])
def test_the_forms_that_adapters_share_are_hit_conditions(text: str) -> None:
    assert is_hit_condition(text)


@pytest.mark.parametrize("text", ["", " ", "0", "== 0", "% 0", "-1", "3.5", "x > 3", "!= 3", "=3", "3 3", "> ", "٣x"])
def test_anything_else_is_not_a_hit_condition(text: str) -> None:
    assert not is_hit_condition(text)


@pytest.mark.parametrize(
    ("condition", "counts"),
    [
        (None, [1, 2, 3, 4]),
        ("5", [5, 6, 7]),
        ("== 5", [5, 6]),
        (">= 5", [5, 6, 7]),
        ("> 5", [6, 7, 8]),
        ("% 3", [3, 6, 9]),
        ("< 3", [1, 2]),
        ("<= 3", [1, 2, 3]),
        ("nonsense", [1, 2, 3]),
        ("% 0", [1, 2, 3]),
    ],
)
def test_the_counts_at_successive_stops(condition: str | None, counts: list[int]) -> None:
    hits, seen = 0, []
    for _ in counts:
        hits = hits_after_stop(condition, hits)
        seen.append(hits)
    assert seen == counts


STOPS: dict[str, Callable[[int, int], bool]] = {
    "": operator.eq,
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "%": lambda passes, number: passes % number == 0,
}
"""Whether an adapter that counts the passes stops at this one."""


@given(form=st.sampled_from(list(STOPS)), number=st.integers(1, 50))
def test_the_count_at_each_stop_is_the_number_of_passes(form: str, number: int) -> None:
    hits = 0
    for passes in range(1, 160):
        if STOPS[form](passes, number):
            hits = hits_after_stop(f"{form} {number}", hits)
            assert hits == passes
