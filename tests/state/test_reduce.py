"""The reducer: when a change applies, and the state after it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.state.store import ALL, APP, ORIGIN, Store, frame, place
from trio_debugmcp.dap.messages import (
    BreakpointEvent,
    Continued,
    DapBreakpoint,
    DapModule,
    EventBody,
    Exited,
    ModuleEvent,
    Output,
    Process,
    Stopped,
    Terminated,
    ThreadEvent,
    UnknownEvent,
)
from trio_debugmcp.state.changes import (
    BreakpointLogged,
    BreakpointsBound,
    BreakpointsRemoved,
    Change,
    EventReceived,
    ExceptionBreakpointsBound,
    LocalsFetched,
    OriginLearned,
    Resumed,
    ResumeRefused,
    SessionClosed,
    SessionOpened,
    SessionStarted,
    StopExamined,
    ThreadsLocated,
)
from trio_debugmcp.state.model import Snapshot, State, Thread
from trio_debugmcp.state.reduce import reduce
from trio_debugmcp.state.resources import (
    SESSION,
    STACK,
    THREADS,
    changed,
)

# --- Sessions ---------------------------------------------------------------------------------------------------------


def test_an_opened_session_is_starting_and_every_resource_appears() -> None:
    store = Store()
    assert store.merge(SessionOpened("s-1", ORIGIN)) == ALL
    assert store["s-1"].phase == "Starting"
    assert store.state.focus == "s-1"


def test_a_started_session_is_running() -> None:
    store = Store()
    store.merge(SessionOpened("s-1", ORIGIN))
    assert store.merge(SessionStarted("s-1")) == {SESSION}
    assert store["s-1"].phase == "Running"


def test_a_session_that_stopped_before_it_had_started_stays_paused() -> None:
    store = Store()
    store.merge(SessionOpened("s-1", ORIGIN))
    store.stop(reason="Entry")
    assert store.merge(SessionStarted("s-1")) == set()
    assert store["s-1"].phase == "Paused"


def test_the_runtime_version_is_learned_later() -> None:
    store = Store("s-1")
    assert store.merge(OriginLearned("s-1", "CPython 3.13")) == {SESSION}
    assert store.merge(OriginLearned("s-1", "CPython 3.13")) == set()


@pytest.mark.parametrize("event", [Exited(3), Terminated()])
def test_the_end_of_the_program_changes_the_session_and_closing_removes_it(event: EventBody) -> None:
    store = Store("s-1")
    assert store.event(event) == {SESSION}
    assert store["s-1"].phase == "Terminating"
    assert store.merge(SessionClosed("s-1", "the program ended")) == ALL
    assert (store.state.snapshots, store.state.focus) == ((), None)
    assert store.state.last is not None
    assert store.state.last.end_reason == "the program ended"


def test_the_exit_code_comes_from_the_event_or_from_closing() -> None:
    store = Store("s-1")
    store.event(Exited(3))
    store.event(Terminated())
    assert store["s-1"].exit_code == 3
    store.merge(SessionClosed("s-1", "the program ended"))
    assert store.state.last is not None
    assert store.state.last.exit_code == 3
    store.open("s-2")
    store.merge(SessionClosed("s-2", "the program ended", exit_code=4))
    assert store.state.last.exit_code == 4


def test_a_terminating_session_stays_terminating() -> None:
    store = Store("s-1")
    store.stop()
    store.event(Terminated())
    generation = store["s-1"].generation
    store.resume()
    assert store["s-1"].phase == "Terminating"
    store.merge(ResumeRefused("s-1", store["s-1"].generation))
    assert store["s-1"].phase == "Terminating"
    store.event(Continued(1))
    store.event(Stopped("step"))
    store.examined()
    store.merge(SessionStarted("s-1"))
    assert store["s-1"].phase == "Terminating"
    assert store["s-1"].generation >= generation


@pytest.mark.parametrize("failed", [True, False])
def test_a_session_remembers_whether_it_was_meant_to_end(failed: bool) -> None:
    store = Store("s-1")
    store.merge(SessionClosed("s-1", "gone", failed=failed))
    assert store.state.last is not None
    assert store.state.last.failed is failed


def test_changes_of_a_session_that_has_ended_change_nothing() -> None:
    store = Store("s-1")
    store.put("bp-1")
    store.merge(SessionClosed("s-1", "over"))
    before = store.state
    for change in (
        SessionClosed("s-1", "again"),
        SessionStarted("s-1"),
        EventReceived("s-1", Terminated(), 0.0),
        EventReceived("s-1", BreakpointEvent("changed", DapBreakpoint(True, 1)), 0.0),
        Resumed("s-1"),
        ResumeRefused("s-1", 0),
        BreakpointsBound("s-1", (("bp-1", DapBreakpoint(True, 1)),)),
        ExceptionBreakpointsBound("s-1", frozenset()),
        BreakpointLogged("s-1", "bp-1"),
    ):
        assert store.merge(change) == set()
        assert store.state.snapshots == before.snapshots
        assert store.state.breakpoints == before.breakpoints


def test_a_child_that_ends_is_not_the_last_session() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    assert store.merge(SessionClosed("s-2", "over")) == {SESSION}
    assert store.state.last is None


def test_when_the_root_ends_its_children_end_too() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.open("s-3", "s-2")
    store.put("bp-1")
    store.bound("bp-1", "s-3")
    store.merge(SessionClosed("s-1", "over"))
    assert (store.state.snapshots, store.state.focus) == ((), None)
    assert store.breakpoint("bp-1").bindings == ()
    assert store.state.last is not None
    assert store.state.last.id == "s-1"


# --- Stops ------------------------------------------------------------------------------------------------------------


def test_a_stop_is_published_whole() -> None:
    store = Store("s-1")
    assert store.event(Stopped("breakpoint", thread_id=1)) == set()
    assert store["s-1"].phase == "Running"
    assert store.examined(line=7, reason="Breakpoint") == {SESSION, THREADS, STACK}
    session = store["s-1"]
    assert session.phase == "Paused"
    assert session.stop is not None
    assert (session.stop.number, session.stop.reason, session.stop.location) == (1, "Breakpoint", place(7))
    assert (session.threads.current, session.threads.stale, session.threads.captured_at) == (1, False, 1002.0)
    assert (session.stack.thread_id, session.stack.frames, session.stack.locals) == (1, (frame(7),), None)


def test_the_stopped_thread_is_where_the_top_frame_is() -> None:
    store = Store("s-1")
    store.stop(line=7, thread=0, threads=(Thread(0, "main"), Thread(5, "worker")))
    assert [thread.location for thread in store["s-1"].threads.threads] == [place(7), None]


def test_a_stop_without_frames_is_a_stop_without_a_location() -> None:
    store = Store("s-1")
    store.stop(frames=(), threads=())
    assert store["s-1"].phase == "Paused"
    assert store["s-1"].stop is not None
    assert store["s-1"].stop.location is None


def test_the_locals_of_a_stop_change_the_stack_only() -> None:
    store = Store("s-1")
    store.stop()
    assert store.fetched(store["s-1"].generation) == {STACK}
    assert [variable.name for variable in store["s-1"].stack.locals or ()] == ["x"]


def test_the_locations_of_other_threads_change_the_threads_only() -> None:
    store = Store("s-1")
    store.stop(threads=(Thread(1, "main"), Thread(2, "worker")))
    located = ThreadsLocated("s-1", store["s-1"].generation, ((2, place(9, "work")), (3, place(1))))
    assert store.merge(located) == {THREADS}
    assert [thread.location for thread in store["s-1"].threads.threads] == [place(1), place(9, "work")]


def test_an_examination_that_a_newer_stop_overtook_is_dropped() -> None:
    store = Store("s-1")
    store.event(Stopped("step"))
    old = store["s-1"].generation
    store.event(Stopped("breakpoint"))
    assert store.examined(generation=old, line=1) == set()
    assert store["s-1"].phase == "Running"
    assert SESSION in store.examined(line=2)


def test_what_was_fetched_for_an_older_stop_is_dropped() -> None:
    store = Store("s-1")
    store.stop()
    old = store["s-1"].generation
    store.resume()
    assert store.fetched(old) == set()
    assert store.merge(ThreadsLocated("s-1", old, ((1, place(9)),))) == set()
    store.stop()
    assert store.fetched(old) == set()
    assert store["s-1"].stack.locals is None


def test_an_examination_that_our_own_resume_overtook_is_dropped() -> None:
    store = Store("s-1")
    store.stop()
    store.event(Stopped("breakpoint"))
    old = store["s-1"].generation
    store.resume()
    assert store.examined(generation=old) == set()
    assert store["s-1"].phase == "Running"


def test_an_examination_that_a_continued_event_overtook_is_dropped() -> None:
    store = Store("s-1")
    store.event(Stopped("entry"))
    old = store["s-1"].generation
    store.event(Continued(1))
    assert store.examined(generation=old) == set()
    assert store["s-1"].phase == "Running"


def test_a_resume_that_the_adapter_refuses_leaves_the_stop_as_it_was() -> None:
    store = Store("s-1")
    store.stop(line=7)
    stop = store["s-1"].stop
    store.resume(kind="step")
    assert store.merge(ResumeRefused("s-1", store["s-1"].generation)) == {SESSION, THREADS, STACK}
    session = store["s-1"]
    assert (session.phase, session.stop, session.stepping) == ("Paused", stop, False)
    assert (session.threads.stale, session.stack.stale) == (False, False)


def test_a_refusal_that_a_stop_overtook_changes_nothing() -> None:
    store = Store("s-1")
    store.stop()
    store.resume()
    refused = ResumeRefused("s-1", store["s-1"].generation)
    store.event(Stopped("breakpoint"))
    assert store.merge(refused) == set()
    assert store["s-1"].phase == "Running"


def test_stops_are_numbered_across_sessions() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.stop("s-2")
    store.stop("s-1")
    numbers = [session.stop.number for session in store.state.snapshots if session.stop]
    assert numbers == [2, 1]


# --- Anything in any order --------------------------------------------------------------------------------------------

ids = st.sampled_from(["s-1", "s-2", "s-3"])
numbers = st.integers(0, 3)
breakpoint_ids = st.sampled_from(["bp-1", "bp-2", "tp-3"])
answers = st.builds(DapBreakpoint, st.booleans(), st.none() | numbers, line=st.none() | numbers)
events = st.one_of(
    st.builds(Stopped, st.sampled_from(["step", "breakpoint", ""]), thread_id=st.none() | numbers),
    st.builds(Continued, st.none() | numbers),
    st.builds(Exited, numbers),
    st.just(Terminated()),
    st.builds(ThreadEvent, st.sampled_from(["started", "exited", "odd"]), numbers),
    st.builds(BreakpointEvent, st.sampled_from(["new", "changed", "removed"]), answers),
    st.builds(ModuleEvent, st.sampled_from(["new", "changed", "removed"]), st.builds(DapModule, numbers)),
    st.builds(Process, st.text(max_size=2), st.none() | numbers),
    st.just(Output("x")),
    st.just(UnknownEvent("x")),
)
stops = st.builds(
    StopExamined,
    session_id=ids,
    generation=numbers,
    at=st.just(1.0),
    reason=st.sampled_from(["Step", "Breakpoint"]),
    thread_id=numbers,
    hit_ids=st.none() | st.tuples(numbers),
    frames=st.just(()) | st.just((frame(1),)),
    threads=st.just(()) | st.just((Thread(1, None), Thread(2, "x"))),
)
changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(EventReceived, ids, events, st.just(1.0)),
    st.builds(EventReceived, ids, events, st.just(1.0)),
    stops,
    st.builds(SessionOpened, ids, st.just(ORIGIN), st.none() | ids),
    st.builds(SessionStarted, ids),
    st.builds(SessionClosed, ids, st.just("over"), st.none() | numbers),
    st.builds(Resumed, ids, st.sampled_from(["continue", "step"])),
    st.builds(ResumeRefused, ids, numbers),
    st.builds(LocalsFetched, ids, numbers, st.just(()), st.just(())),
    st.builds(ThreadsLocated, ids, numbers, st.just(((1, place(1)),))),
    st.builds(BreakpointsBound, ids, st.tuples(st.tuples(breakpoint_ids, st.none() | answers))),
    st.builds(BreakpointsRemoved, st.frozensets(breakpoint_ids, max_size=1)),
    st.builds(BreakpointLogged, ids, breakpoint_ids),
)


def opens_twice(state: State, change: Change) -> bool:
    """What the debugger never does: an id is used once, and a child has a parent."""
    return isinstance(change, SessionOpened) and (
        state.snapshot(change.session_id) is not None
        or (change.parent is not None and state.snapshot(change.parent) is None)
    )


def check(session: Snapshot, before: Snapshot | None) -> None:
    if session.phase != "Paused":
        assert session.threads.stale
        assert session.stack.stale
    else:
        assert session.stop is not None
        assert (session.threads.stale, session.stack.stale, session.stepping) == (False, False, False)
    if before is not None:
        assert session.generation >= before.generation
        assert before.phase != "Terminating" or session.phase == "Terminating"
    assert len({thread.id for thread in session.threads.threads}) == len(session.threads.threads)


@settings(max_examples=300)
@given(steps=st.lists(changes, max_size=40))
def test_any_changes_in_any_order_leave_a_consistent_state(steps: list[Change]) -> None:
    store = Store()
    for each in ("bp-1", "bp-2"):
        store.put(each)
    store.put("tp-3", file=APP, log_message="x")
    store.open("s-1")
    store.open("s-2", "s-1")
    for change in steps:
        if opens_twice(store.state, change):
            continue
        old, new = store.state, reduce(change, store.state)
        touched = changed(old, new)
        store.state = new
        assert new.focus is None or new.snapshot(new.focus) is not None
        assert (new.root is None) == (new.focus is None)
        assert new.stops >= old.stops
        for session in new.snapshots:
            check(session, old.snapshot(session.id))
            assert session.parent is None or new.snapshot(session.parent) is not None
        assert all(binding.session_id != "gone" for each in new.breakpoints for binding in each.bindings)
        assert {b.session_id for each in new.breakpoints for b in each.bindings} <= {s.id for s in new.snapshots}
        if new is old:
            assert touched == set()
