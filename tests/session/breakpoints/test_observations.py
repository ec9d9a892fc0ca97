"""What is found at the places of a run (`session.observations`), from records in any order and of several processes."""

from typing import Any

import msgspec
import pytest

from trio_debugmcp.dap.records import HitRecord
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.breakpoints.observations import Hit, Observations, ObservedPlace, Run
from trio_debugmcp.state.breakpoint import Binding, BreakpointSpec, RunPlace


def place(number: int, **more: Any) -> ObservedPlace:
    made = ObservedPlace(file="/app.py", line=number, **more)
    binding = Binding("s-1", adapter_id=number, verified=True)
    made.run_place = RunPlace(f"run-to-{number}", BreakpointSpec(file="/app.py", line=number), bindings=(binding,))
    return made


def opened(*places: ObservedPlace, **more: Any) -> tuple[Observations, Run]:
    observations, run = Observations(), Run(places, more.pop("most_hits", 500), **more)
    observations.open(run)
    return observations, run


def captured(number: int, passes: int, *values: str) -> HitRecord:
    text = msgspec.json.encode([passes, [[each, None] for each in values]]).decode()
    return HitRecord("capture", f"run-to-{number}", 1, passes, text)


def looked(number: int, passes: int, *found: object) -> HitRecord:
    return HitRecord("look", f"run-to-{number}", 1, passes, msgspec.json.encode(found).decode())


def test_a_place_is_complete_with_its_hits_and_a_run_with_those_of_all_places() -> None:
    first, second = place(1, max_hits=2), place(2)
    observations, run = opened(first, second)
    assert run.wanted == 3
    observations.take("s-1", captured(1, 1, "a"))
    assert (first.is_complete, run.done.is_set()) == (False, False)
    observations.take("s-1", captured(1, 2, "b"))
    assert (first.is_complete, run.wants(first), run.wants(second)) == (True, False, True)
    observations.take("s-1", captured(1, 3, "c"))  # it was on its way
    assert first.hits == [Hit(1, (("a", None),)), Hit(2, (("b", None),))]
    assert first.passes == 3
    observations.take("s-1", captured(2, 1))
    assert run.done.is_set()
    assert opened(place(1, max_hits=9), most_hits=2)[1].wanted == 2


def test_looks_of_threads_come_in_any_order_and_what_was_seen_last_counts() -> None:
    only = place(1, condition="x")
    observations, _ = opened(only)
    observations.take("s-1", looked(1, 5, "", 2, "NameError: x"))
    observations.take("s-1", looked(1, 4, "0", 1, ""))
    assert (only.passes, only.failures, only.failures_in("s-1")) == (5, 2, 2)
    assert (only.value, only.error) == ("0", "NameError: x")
    observations.take("s-1", looked(1, 6, "", 2, ""))
    assert only.value is None


def test_passes_and_failures_of_several_processes_are_added() -> None:
    only = place(1, condition="x", max_hits=2)
    observations, _ = opened(only)
    observations.take("s-1", looked(1, 5, "0", 2, ""))
    observations.take("s-2", looked(1, 3, "0", 1, ""))
    assert (only.passes, only.failures, only.sessions) == (8, 3, ["s-1", "s-2"])


def test_a_process_that_has_all_the_hits_stops_also_if_others_have_only_come_by() -> None:
    only = place(1, condition="x", max_hits=2)
    observations, run = opened(only)
    observations.take("s-1", looked(1, 1, "0", 0, ""))
    observations.take("s-2", captured(1, 1))
    assert run.has_one_session
    observations.take("s-3", captured(1, 1))
    assert run.done.is_set()
    assert not run.has_one_session


def test_a_record_that_cannot_be_read_is_a_hit_without_values() -> None:
    only = place(1)
    observations, run = opened(only)
    observations.take("s-1", HitRecord("capture", "run-to-1", 1, 1, "nonsense"))
    assert (only.hits, run.done.is_set()) == ([Hit(0)], True)


def test_what_the_program_gets_has_only_what_is_wanted() -> None:
    places = place(1, condition="x", capture=["y"], max_hits=3), place(2, until=True)
    observations, run = opened(*places, stops=False)
    assert observations.form("run-to-1") == [3, {"condition": "x", "capture": ("y",), "key": run.key, "together": 4}]
    assert observations.form("run-to-2") == [1, {"key": run.key, "together": 4, "until": True}]
    assert observations.form("bp-1") is None
    assert [each.text for each in places] == ["{ x } { y }", ""]


def test_a_run_that_is_over_takes_no_more_and_its_last_stops_are_known() -> None:
    only = place(7, max_hits=2)
    observations, run = opened(only)
    assert observations.used
    observations.close(run)
    assert not run.wants(only)
    assert not run.add(only, Hit(1), "s-1")
    assert only.hits == []
    assert observations.of([only.run_place] if only.run_place else []) == []
    assert observations.used
    assert observations.was_observed("s-1", frozenset({7}))
    assert not observations.was_observed("s-1", frozenset({7, 8}))
    assert not observations.was_observed("s-1", frozenset())
    assert not observations.was_observed("s-2", frozenset({7})), "an id of another session's adapter"


def test_only_one_run_at_a_time_holds_breakpoints() -> None:
    observations, _ = opened(place(1), holds=True)
    observations.open(Run([place(2)], 1))
    with pytest.raises(UsageError, match="Another batch_evaluate"):
        observations.open(Run([place(3)], 1, holds=True))
