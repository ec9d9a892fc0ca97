"""Threads, tasks, sessions and breakpoints, each as one line with whatever is special about it."""

from typing import Any

import msgspec
import pytest

from trio_debugmcp.probe.answers import (
    LockHolder,
    ProbeFrame,
    ProbePlace,
    ProbeTask,
    ProbeThread,
    ProbeThreadPlace,
    ProbeVariable,
    ThreadWait,
)
from trio_debugmcp.server.answers.lines import (
    breakpoint_line,
    session_line,
    task_line,
    task_locals,
    task_now,
    thread_line,
    thread_name,
    thread_now,
)
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.looking.by_probe.live_threads import last_thread, live_task, live_thread
from trio_debugmcp.state.breakpoint import Binding, Breakpoint, BreakpointSpec, ExceptionBreakpoint
from trio_debugmcp.state.model import Origin, Snapshot, Stop, Thread, Threads
from trio_debugmcp.state.payloads import Location

PLACES = Places("/shop")
HERE = Location("/shop/till.py", 24, 1, "visit", None)

# --- Threads and tasks ------------------------------------------------------------------------------------------------


def test_a_thread_of_the_last_stop_has_its_place_and_the_active_one_a_star() -> None:
    def line(thread: Thread, current: int | None) -> str:
        return thread_line(PLACES, thread_now(last_thread(thread), current))

    assert line(Thread(2, "counter", location=HERE), 2) == "*2 counter till.py:24 in visit"
    assert line(Thread(3, None, "Running"), 2) == "3, running"
    assert line(Thread(4, "gone", "Exited"), None) == "4 gone, exited"


def test_a_thread_as_it_is_now_says_what_it_waits_for() -> None:
    at = ProbeThreadPlace("/lib/queue.py", 171, "get", from_=ProbePlace("/shop/till.py", 3, "work", "Pool.work"))
    waits = ThreadWait("lock", "self.lock", holder=LockHolder(2, "payer", sure=True))

    def line(state: str, **more: Any) -> str:
        return thread_line(PLACES, thread_now(live_thread(ProbeThread(1, "main", state, at=at, **more)), None))

    assert line("waiting", waits=waits) == "1 main till.py:3 in Pool.work, waits for self.lock, held by thread 2 payer"
    assert line("waiting") == "1 main till.py:3 in Pool.work, waits in C code"
    assert line("stopped") == "1 main till.py:3 in Pool.work"
    assert line("running") == line("unknown") == "1 main till.py:3 in Pool.work, running"
    assert thread_line(PLACES, thread_now(live_thread(ProbeThread(7, "bare", "running")), 7)) == "*7 bare, running"


def test_a_thread_is_named_by_its_id_and_name() -> None:
    threads = Threads((Thread(1, "main"), Thread(2, None)))
    snapshot = Snapshot("s-1", Origin("fake", "Fake", "Launch", 0.0), threads=threads)
    assert [thread_name(snapshot, each) for each in (1, 2, 3)] == ["1 main", "2", "3"]


def test_a_task_is_indented_as_its_nursery_is_and_shows_what_it_awaits() -> None:
    chain = (
        ProbeFrame("/shop/till.py", 4, "handle", index=1, locals=(ProbeVariable("price", "3"),), locals_total=2),
        ProbeFrame("/shop/till.py", 9, "get", "Queue.get"),
    )
    task = ProbeTask("trio", 1, "ben", "waiting", chain, waits="a timer", depth=2)

    def line(task: ProbeTask) -> str:
        return task_line(PLACES, task_now(live_task(task, str.isidentifier)))

    assert line(task) == "    ben: handle till.py:4 > Queue.get :9, waits for a timer"
    assert line(ProbeTask("trio", 1, "ben", "ready", chain[:1])) == "ben: handle till.py:4, ready"
    cut = (msgspec.structs.replace(chain[0], index=40), chain[1])
    omitted = ProbeTask("trio", 1, "ben", "ready", cut, chain_omitted=39)
    assert line(omitted) == "ben: handle till.py:4 > (39 more) > Queue.get :9, ready"
    without_gap = msgspec.structs.replace(omitted, chain=chain, depth=10**9)
    assert line(without_gap).strip() == "ben: handle till.py:4 > Queue.get :9 > (39 more), ready"
    assert len(line(without_gap)) < 1000
    values = task_locals(task_now(live_task(task, str.isidentifier)))
    assert values == {"1 handle": {"price": "3", "…": "1 more: variables_get"}}


def test_a_session_has_its_program_its_phase_and_the_place_where_it_is_paused() -> None:
    origin = Origin("fake", "Fake", "Launch", 0.0, process_id=4711, process_name="till.py")
    stop = Stop(1, "Breakpoint", None, 1, HERE)
    paused = Snapshot("s-2", origin, phase="Paused", stop=stop)
    assert session_line(PLACES, paused) == "s-2 till.py (pid 4711) Paused at till.py:24 in visit"
    running = Snapshot("s-2", Origin("fake", "Fake", "Launch", 0.0), phase="Running", stop=stop)
    assert session_line(PLACES, running) == "s-2 Running"


# --- Breakpoints ------------------------------------------------------------------------------------------------------


def bound(**more: Any) -> Breakpoint:
    binding = Binding("s-1", 1, verified=True)
    known = {"file": "/shop/till.py", "line": 24, **more}
    spec = BreakpointSpec(**{name: known.pop(name) for name in BreakpointSpec.__struct_fields__ if name in known})
    return Breakpoint(**{"id": "bp-1", "spec": spec, "bindings": (binding,), **known})


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, "bp-1 till.py:24"),
        ({"condition": "x > 3", "hits": 4}, "bp-1 till.py:24 if x > 3, 4 hits"),
        ({"hits": 1}, "bp-1 till.py:24, 1 hit"),
        ({"hit_condition": ">= 3"}, "bp-1 till.py:24, hit condition >= 3"),
        ({"id": "tp-1", "log_message": "x={x}"}, "tp-1 till.py:24, log `x={x}`"),
        ({"enabled": False}, "bp-1 till.py:24, disabled"),
        ({"bindings": ()}, "bp-1 till.py:24, pending"),
        ({"problem": "no code here"}, "bp-1 till.py:24, no code here"),
        ({"id": "fn-1", "file": None, "line": None, "function": "visit"}, "fn-1 visit"),
    ],
)
def test_a_breakpoint_has_its_place_and_what_is_special_about_it(more: dict[str, Any], line: str) -> None:
    assert breakpoint_line(PLACES, bound(**more), in_session=True) == line


def test_without_a_session_pending_is_not_said() -> None:
    assert breakpoint_line(PLACES, bound(bindings=()), in_session=False) == "bp-1 till.py:24"


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, "ex-1 ValueError raised"),
        ({"first_chance": False}, "ex-1 ValueError not caught"),
        ({"first_chance": False, "user_unhandled": True}, "ex-1 ValueError not caught or leaving the user's code"),
        (
            {"first_chance": False, "second_chance": False, "user_unhandled": True},
            "ex-1 ValueError leaving the user's code",
        ),
        ({"user_unhandled": True}, "ex-1 ValueError raised"),
        ({"include_subtypes": False}, "ex-1 ValueError raised, without its subtypes"),
        ({"condition": "x > 3", "hits": 2}, "ex-1 ValueError raised if x > 3, 2 hits"),
        ({"enabled": False}, "ex-1 ValueError raised, disabled"),
        ({"session_ids": ()}, "ex-1 ValueError raised, pending"),
    ],
)
def test_an_exception_breakpoint_says_when_it_stops(more: dict[str, Any], line: str) -> None:
    each = ExceptionBreakpoint(**{"id": "ex-1", "exception_type": "ValueError", "session_ids": ("s-1",), **more})
    assert breakpoint_line(PLACES, each, in_session=True) == line
