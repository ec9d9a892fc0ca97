"""The reducer: when a change applies, and the state after it."""

import pytest

from tests.state.store import ALL, ORIGIN, Store, breakpoint_on, frame, place
from trio_debugmcp.dap.messages import (
    BreakpointEvent,
    Continued,
    DapBreakpoint,
    EventBody,
    Exited,
    Stopped,
    Terminated,
)
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint
from trio_debugmcp.state.breakpoint_payloads import breakpoints_payload
from trio_debugmcp.state.changes import (
    BreakpointFaulted,
    BreakpointLogged,
    BreakpointsBound,
    EventReceived,
    ExceptionBreakpointPut,
    ExceptionBreakpointsBound,
    OriginLearned,
    OutputWritten,
    Resumed,
    ResumeRefused,
    SessionClosed,
    SessionOpened,
    SessionStarted,
    ThreadsLocated,
)
from trio_debugmcp.state.model import Thread
from trio_debugmcp.state.resources import BREAKPOINTS, OUTPUT, SESSION, STACK, THREADS

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


def test_which_engine_debugs_a_program_is_learned_and_worth_a_word_only_if_it_is_not_the_usual_one() -> None:
    store = Store("s-1")
    assert (store["s-1"].origin.engine, store["s-1"].origin.unusual_engine) == (None, None)
    assert store.merge(OriginLearned("s-1", engine="own")) == {SESSION}
    assert (store["s-1"].origin.engine, store["s-1"].origin.unusual_engine) == ("own", None)
    store.merge(OriginLearned("s-1", engine="pydevd", engine_is_usual=False))
    assert store.merge(OriginLearned("s-1", process_id=7)) == {SESSION}
    assert (store["s-1"].origin.engine, store["s-1"].origin.unusual_engine) == ("pydevd", "pydevd")


@pytest.mark.parametrize("event", [Exited(3), Terminated()])
def test_the_end_of_the_program_changes_the_session_and_closing_removes_it(event: EventBody) -> None:
    store = Store("s-1")
    assert store.event(event) == {SESSION}
    assert store["s-1"].phase == "Terminating"
    assert store.merge(SessionClosed("s-1", "the program ended")) == ALL
    assert (store.state.snapshots, store.state.focus) == ((), None)
    assert store.state.last is not None
    assert store.state.last.end_reason == "the program ended"


def test_a_new_root_session_replaces_everything_of_the_one_before() -> None:
    store = Store("s-1")
    store.put("bp-1", condition="x")
    store.bound("bp-1")
    store.merge(BreakpointFaulted("s-1", "x", "boom"))
    store.merge(ExceptionBreakpointPut(ExceptionBreakpoint("ex-1")))
    store.merge(ExceptionBreakpointsBound("s-1", frozenset({"ex-1"}), "not here"))
    store.stop(reason="Exception", exception_breakpoints=("ex-1",), hit_ids=(1,))
    store.merge(OutputWritten("s-1", 10, ()))
    store.merge(SessionClosed("s-1", "over"))
    store.open("s-2")
    assert ([each.id for each in store.state.snapshots], store.state.focus) == (["s-2"], "s-2")
    assert store["s-2"].written == 0
    assert store.state.breakpoints == (breakpoint_on(1, condition="x"),)
    assert store.state.exceptions == (ExceptionBreakpoint("ex-1"),)


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


def test_an_exit_code_that_arrives_late_changes_the_session() -> None:
    store = Store("s-1")
    store.event(Terminated())
    generation = store["s-1"].generation
    assert store.event(Exited(3)) == {SESSION}
    assert (store["s-1"].exit_code, store["s-1"].generation) == (3, generation)


def test_output_of_a_live_session_changes_the_output_only() -> None:
    store = Store("s-1")
    assert store.merge(OutputWritten("s-1", 10, ())) == {OUTPUT}
    assert store.merge(OutputWritten("s-2", 20, ())) == set()
    assert store["s-1"].written == 10


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


def test_breakpoints_become_pending_when_their_session_ends() -> None:
    store = Store("s-1")
    store.put("bp-1")
    store.bound("bp-1", line=2)
    store.merge(ExceptionBreakpointPut(ExceptionBreakpoint("ex-2")))
    store.merge(ExceptionBreakpointsBound("s-1", frozenset({"ex-2"})))
    assert BREAKPOINTS in store.merge(SessionClosed("s-1", "over"))
    payload = breakpoints_payload(store.state, 1)
    assert (payload.breakpoints[0].state, payload.breakpoints[0].verified) == ("Pending", False)
    assert payload.breakpoints[0].line == 1
    assert payload.exception_breakpoints[0].verified is False


def test_changes_of_a_session_that_has_ended_change_nothing() -> None:
    store = Store("s-1")
    store.put("bp-1")
    store.merge(ExceptionBreakpointPut(ExceptionBreakpoint("ex-2")))
    store.merge(SessionClosed("s-1", "over"))
    before = store.state
    for change in (
        SessionClosed("s-1", "again"),
        SessionStarted("s-1"),
        EventReceived("s-1", Terminated()),
        EventReceived("s-1", BreakpointEvent("changed", DapBreakpoint(True, 1))),
        Resumed("s-1"),
        ResumeRefused("s-1", 0),
        BreakpointsBound("s-1", (("bp-1", DapBreakpoint(True, 1)),)),
        ExceptionBreakpointsBound("s-1", frozenset({"ex-2"})),
        BreakpointLogged("s-1", "bp-1"),
    ):
        assert store.merge(change) == set()
        assert store.state.snapshots == before.snapshots
        assert store.state.breakpoints == before.breakpoints
        assert store.state.exceptions == before.exceptions


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
    snapshot = store["s-1"]
    assert snapshot.phase == "Paused"
    assert snapshot.stop is not None
    assert (snapshot.stop.number, snapshot.stop.reason, snapshot.stop.location) == (1, "Breakpoint", place(7))
    assert (snapshot.threads.current, snapshot.threads.stale, snapshot.threads.captured_at) == (1, False, 1002.0)
    assert (snapshot.stack.thread_id, snapshot.stack.frames, snapshot.stack.locals) == (1, (frame(7),), None)


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
    found = store["s-1"].stack.locals
    assert found is not None
    assert [variable.name for variable in found.variables] == ["x"]


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


def test_what_is_fetched_before_its_stop_is_published_is_dropped() -> None:
    store = Store("s-1")
    store.event(Stopped("step"))
    assert store.fetched(store["s-1"].generation) == set()
    assert store["s-1"].stack.locals is None


def test_a_step_ends_with_its_stop() -> None:
    store = Store("s-1")
    store.stop()
    store.resume(kind="step")
    assert store["s-1"].stepping
    store.stop()
    assert not store["s-1"].stepping


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
    snapshot = store["s-1"]
    assert (snapshot.phase, snapshot.stop, snapshot.stepping) == ("Paused", stop, False)
    assert (snapshot.threads.stale, snapshot.stack.stale) == (False, False)


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
    numbers = [snapshot.stop.number for snapshot in store.state.snapshots if snapshot.stop]
    assert numbers == [2, 1]
