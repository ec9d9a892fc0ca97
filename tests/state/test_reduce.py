"""The reducer: what each change does, and what it must not."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.state.world import ALL, APP, ORIGIN, World, frame, place
from trio_debugmcp.dap.messages import (
    BreakpointEvent,
    CapabilitiesEvent,
    Continued,
    DapBreakpoint,
    DapModule,
    EventBody,
    Exited,
    Initialized,
    LoadedSource,
    ModuleEvent,
    Output,
    Process,
    Source,
    Stopped,
    Terminated,
    ThreadEvent,
    UnknownEvent,
)
from trio_debugmcp.state.changes import (
    BreakpointEnabled,
    BreakpointFaulted,
    BreakpointLogged,
    BreakpointsBound,
    BreakpointsRemoved,
    Change,
    EventReceived,
    ExceptionBreakpointPut,
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
from trio_debugmcp.state.execution import MAX_EXITED_THREADS, MAX_MODULES
from trio_debugmcp.state.model import ExceptionBreakpoint, Module, Snapshot, State, Thread
from trio_debugmcp.state.payloads import ExceptionInfo
from trio_debugmcp.state.reduce import reduce
from trio_debugmcp.state.resources import (
    BREAKPOINTS,
    MODULES,
    SESSION,
    STACK,
    THREADS,
    breakpoints_payload,
    changed,
)

# --- Sessions ---------------------------------------------------------------------------------------------


def test_a_session_that_opens_is_starting_and_everything_has_appeared() -> None:
    world = World()
    assert world.tell(SessionOpened("s-1", ORIGIN)) == ALL
    assert world["s-1"].phase == "Starting"
    assert world.state.focus == "s-1"


def test_a_session_that_may_run_is_running() -> None:
    world = World()
    world.tell(SessionOpened("s-1", ORIGIN))
    assert world.tell(SessionStarted("s-1")) == {SESSION}
    assert world["s-1"].phase == "Running"


def test_a_session_that_stopped_before_it_was_said_to_run_stays_paused() -> None:
    world = World()
    world.tell(SessionOpened("s-1", ORIGIN))
    world.stop(reason="Entry")
    assert world.tell(SessionStarted("s-1")) == set()
    assert world["s-1"].phase == "Paused"


def test_the_process_event_tells_pid_and_name() -> None:
    world = World()
    world.tell(SessionOpened("s-1", replace(ORIGIN, process_name=None)))
    assert world.said(Process("python", 42, "launch")) == {SESSION}
    assert (world["s-1"].origin.process_id, world["s-1"].origin.process_name) == (42, "python")
    assert world.said(Process("")) == set()
    assert (world["s-1"].origin.process_id, world["s-1"].origin.process_name) == (42, "python")


def test_the_runtime_version_is_learned_later() -> None:
    world = World("s-1")
    assert world.tell(OriginLearned("s-1", "CPython 3.13")) == {SESSION}
    assert world.tell(OriginLearned("s-1", "CPython 3.13")) == set()


@pytest.mark.parametrize("event", [Exited(3), Terminated()])
def test_the_programs_end_changes_the_session_and_then_it_is_gone(event: EventBody) -> None:
    world = World("s-1")
    assert world.said(event) == {SESSION}
    assert world["s-1"].phase == "Terminating"
    assert world.tell(SessionClosed("s-1", "the program ended")) == ALL
    assert (world.state.snapshots, world.state.focus) == ((), None)
    assert world.state.last is not None
    assert world.state.last.end_reason == "the program ended"


def test_the_exit_code_is_kept_from_whoever_knows_it() -> None:
    world = World("s-1")
    world.said(Exited(3))
    world.said(Terminated())
    assert world["s-1"].exit_code == 3
    world.tell(SessionClosed("s-1", "the program ended"))
    assert world.state.last is not None
    assert world.state.last.exit_code == 3
    world.open("s-2")
    world.tell(SessionClosed("s-2", "the program ended", exit_code=4))
    assert world.state.last.exit_code == 4


def test_an_end_while_paused_leaves_a_stale_capture() -> None:
    world = World("s-1")
    world.stop()
    assert world.said(Terminated()) == {SESSION, THREADS, STACK}
    assert world["s-1"].threads.stale
    assert world["s-1"].stack.stale


def test_nothing_brings_a_terminating_session_back() -> None:
    world = World("s-1")
    world.stop()
    world.said(Terminated())
    generation = world["s-1"].generation
    world.resume()
    assert world["s-1"].phase == "Terminating"
    world.tell(ResumeRefused("s-1", world["s-1"].generation))
    assert world["s-1"].phase == "Terminating"
    world.said(Continued(1))
    world.said(Stopped("step"))
    world.examined()
    world.tell(SessionStarted("s-1"))
    assert world["s-1"].phase == "Terminating"
    assert world["s-1"].generation >= generation


@pytest.mark.parametrize("failed", [True, False])
def test_a_session_remembers_whether_it_was_meant_to_end(failed: bool) -> None:
    world = World("s-1")
    world.tell(SessionClosed("s-1", "gone", failed=failed))
    assert world.state.last is not None
    assert world.state.last.failed is failed


def test_breakpoints_become_pending_when_their_session_ends() -> None:
    world = World("s-1")
    world.put("bp-1")
    world.bound("bp-1", line=2)
    world.tell(ExceptionBreakpointPut(ExceptionBreakpoint("ex-2")))
    world.tell(ExceptionBreakpointsBound("s-1", frozenset({"ex-2"})))
    assert BREAKPOINTS in world.tell(SessionClosed("s-1", "over"))
    payload = breakpoints_payload(world.state, 1)
    assert (payload.breakpoints[0].state, payload.breakpoints[0].verified) == ("Pending", False)
    assert payload.breakpoints[0].line == 1
    assert payload.exception_breakpoints[0].verified is False


def test_a_new_root_session_counts_hits_from_zero() -> None:
    world = World("s-1")
    world.put("bp-1", condition="x")
    world.bound("bp-1")
    world.stop(reason="Breakpoint", hit_ids=(1,))
    world.tell(BreakpointFaulted("s-1", "x", "boom"))
    world.tell(SessionClosed("s-1", "over"))
    assert world.breakpoint("bp-1").hits == 1
    world.open("s-2")
    assert (world.breakpoint("bp-1").hits, world.breakpoint("bp-1").problem) == (0, None)


def test_a_session_that_is_gone_changes_nothing_any_more() -> None:
    world = World("s-1")
    world.put("bp-1")
    world.tell(SessionClosed("s-1", "over"))
    before = world.state
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
        assert world.tell(change) == set()
        assert world.state.snapshots == before.snapshots
        assert world.state.breakpoints == before.breakpoints


# --- Stops ------------------------------------------------------------------------------------------------


def test_a_stop_is_published_whole() -> None:
    world = World("s-1")
    assert world.said(Stopped("breakpoint", thread_id=1)) == set()
    assert world["s-1"].phase == "Running"
    assert world.examined(line=7, reason="Breakpoint") == {SESSION, THREADS, STACK}
    session = world["s-1"]
    assert session.phase == "Paused"
    assert session.stop is not None
    assert (session.stop.number, session.stop.reason, session.stop.location) == (1, "Breakpoint", place(7))
    assert (session.threads.current, session.threads.stale, session.threads.captured_at) == (1, False, 1002.0)
    assert (session.stack.thread_id, session.stack.frames, session.stack.locals) == (1, (frame(7),), None)


def test_the_stopped_thread_is_where_the_top_frame_is() -> None:
    world = World("s-1")
    world.stop(line=7, thread=0, threads=(Thread(0, "main"), Thread(5, "worker")))
    assert [thread.location for thread in world["s-1"].threads.threads] == [place(7), None]


def test_a_stop_without_frames_has_no_place_and_is_a_stop_all_the_same() -> None:
    world = World("s-1")
    world.stop(frames=(), threads=())
    assert world["s-1"].phase == "Paused"
    assert world["s-1"].stop is not None
    assert world["s-1"].stop.location is None


def test_the_locals_of_a_stop_change_the_stack_alone() -> None:
    world = World("s-1")
    world.stop()
    assert world.fetched(world["s-1"].generation) == {STACK}
    assert [variable.name for variable in world["s-1"].stack.locals or ()] == ["x"]


def test_the_places_of_other_threads_change_the_threads_alone() -> None:
    world = World("s-1")
    world.stop(threads=(Thread(1, "main"), Thread(2, "worker")))
    located = ThreadsLocated("s-1", world["s-1"].generation, ((2, place(9, "work")), (3, place(1))))
    assert world.tell(located) == {THREADS}
    assert [thread.location for thread in world["s-1"].threads.threads] == [place(1), place(9, "work")]


def test_an_examination_that_a_newer_stop_overtook_is_dropped() -> None:
    world = World("s-1")
    world.said(Stopped("step"))
    old = world["s-1"].generation
    world.said(Stopped("breakpoint"))
    assert world.examined(generation=old, line=1) == set()
    assert world["s-1"].phase == "Running"
    assert SESSION in world.examined(line=2)


def test_what_was_fetched_for_an_older_stop_is_dropped() -> None:
    world = World("s-1")
    world.stop()
    old = world["s-1"].generation
    world.resume()
    assert world.fetched(old) == set()
    assert world.tell(ThreadsLocated("s-1", old, ((1, place(9)),))) == set()
    world.stop()
    assert world.fetched(old) == set()
    assert world["s-1"].stack.locals is None


def test_an_examination_that_our_own_resume_overtook_is_dropped() -> None:
    world = World("s-1")
    world.stop()
    world.said(Stopped("breakpoint"))
    old = world["s-1"].generation
    world.resume()
    assert world.examined(generation=old) == set()
    assert world["s-1"].phase == "Running"


def test_an_examination_that_the_programs_resumption_overtook_is_dropped() -> None:
    world = World("s-1")
    world.said(Stopped("entry"))
    old = world["s-1"].generation
    world.said(Continued(1))
    assert world.examined(generation=old) == set()
    assert world["s-1"].phase == "Running"


@pytest.mark.parametrize("kind", ["continue", "step"])
def test_a_resume_of_ours_changes_session_threads_and_stack(kind: str) -> None:
    world = World("s-1")
    world.stop()
    assert world.resume(kind=kind) == {SESSION, THREADS, STACK}
    session = world["s-1"]
    assert (session.phase, session.threads.stale, session.stack.stale) == ("Running", True, True)
    assert session.threads.captured_at == 1002.0
    assert session.threads.threads


def test_a_continued_event_changes_session_threads_and_stack() -> None:
    world = World("s-1")
    world.stop()
    assert world.said(Continued(1)) == {SESSION, THREADS, STACK}
    assert world["s-1"].phase == "Running"


def test_a_continued_event_after_our_own_resume_changes_nothing() -> None:
    world = World("s-1")
    world.stop()
    world.resume()
    assert world.said(Continued(1, True)) == set()


def test_continued_before_anything_ran_changes_nothing() -> None:
    world = World()
    world.tell(SessionOpened("s-1", ORIGIN))
    assert world.said(Continued()) == set()
    assert world["s-1"].phase == "Starting"


def test_a_resume_that_the_adapter_refuses_leaves_the_stop_as_it_was() -> None:
    world = World("s-1")
    world.stop(line=7)
    stop = world["s-1"].stop
    world.resume(kind="step")
    assert world.tell(ResumeRefused("s-1", world["s-1"].generation)) == {SESSION, THREADS, STACK}
    session = world["s-1"]
    assert (session.phase, session.stop, session.stepping) == ("Paused", stop, False)
    assert (session.threads.stale, session.stack.stale) == (False, False)


def test_a_refusal_that_a_stop_overtook_changes_nothing() -> None:
    world = World("s-1")
    world.stop()
    world.resume()
    refused = ResumeRefused("s-1", world["s-1"].generation)
    world.said(Stopped("breakpoint"))
    assert world.tell(refused) == set()
    assert world["s-1"].phase == "Running"


def test_stops_are_numbered_across_sessions() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.stop("s-2")
    world.stop("s-1")
    numbers = [session.stop.number for session in world.state.snapshots if session.stop]
    assert numbers == [2, 1]


# --- Threads and modules ----------------------------------------------------------------------------------


def test_thread_events_before_the_first_capture_change_nothing() -> None:
    world = World("s-1")
    assert world.said(ThreadEvent("started", 1)) == set()
    assert world["s-1"].threads.threads == ()


def test_a_thread_that_starts_is_listed_as_running() -> None:
    world = World("s-1")
    world.stop()
    world.resume()
    assert world.said(ThreadEvent("started", 2)) == {THREADS}
    assert world["s-1"].threads.threads[-1] == Thread(2, None, "Running")
    assert world.said(ThreadEvent("started", 2)) == set()


def test_a_thread_that_exits_stays_listed_as_exited_until_the_next_capture() -> None:
    world = World("s-1")
    world.stop(threads=(Thread(1, "main"), Thread(2, "worker")))
    world.resume()
    assert world.said(ThreadEvent("exited", 2)) == {THREADS}
    assert [thread.state for thread in world["s-1"].threads.threads] == ["Suspended", "Exited"]
    assert world.said(ThreadEvent("exited", 2)) == set()
    assert world.said(ThreadEvent("exited", 99)) == set()
    world.stop()
    assert [thread.id for thread in world["s-1"].threads.threads] == [1]


def test_a_thread_id_that_is_used_again_is_a_thread_again() -> None:
    world = World("s-1")
    world.stop(threads=(Thread(1, "main"), Thread(2, "worker")))
    world.resume()
    world.said(ThreadEvent("exited", 2))
    assert world.said(ThreadEvent("started", 2)) == {THREADS}
    assert [(t.id, t.state) for t in world["s-1"].threads.threads] == [(1, "Suspended"), (2, "Running")]


def test_of_many_exited_threads_the_oldest_are_forgotten_and_no_living_one_is() -> None:
    world = World("s-1")
    world.stop(threads=(Thread(1, "main"), Thread(2, "worker")))
    world.resume()
    for number in range(3, MAX_EXITED_THREADS + 8):
        world.said(ThreadEvent("started", number))
        world.said(ThreadEvent("exited", number))
    threads = world["s-1"].threads.threads
    assert [thread.id for thread in threads] == [1, 2, *range(8, MAX_EXITED_THREADS + 8)]


def test_modules_come_change_and_go() -> None:
    world = World("s-1")
    assert world.said(ModuleEvent("new", DapModule(1, "a"))) == {MODULES}
    assert world.said(ModuleEvent("new", DapModule("x", "b"))) == {MODULES}
    assert world.said(ModuleEvent("changed", DapModule(1, "a", version="2"))) == {MODULES}
    assert {(module.id, module.version) for module in world["s-1"].modules} == {(1, "2"), ("x", None)}
    assert world.said(ModuleEvent("removed", DapModule(1))) == {MODULES}
    assert [module.id for module in world["s-1"].modules] == ["x"]
    assert world.said(ModuleEvent("removed", DapModule(1))) == set()


def test_a_source_that_is_loaded_changes_the_modules() -> None:
    world = World("s-1")
    assert world.said(LoadedSource("new", Source(path="/src/lib.py"))) == {MODULES}
    assert world.said(LoadedSource("changed", Source(path="/src/lib.py"))) == {MODULES}


def test_a_module_that_changes_keeps_its_place_in_the_list() -> None:
    world = World("s-1")
    for number in (1, 2, 3):
        world.said(ModuleEvent("new", DapModule(number, str(number))))
    world.said(ModuleEvent("changed", DapModule(2, "two")))
    assert [module.name for module in world["s-1"].modules] == ["1", "two", "3"]


def test_the_module_table_is_bounded_and_loses_nothing_that_it_has() -> None:
    world = World("s-1")
    full = replace(world["s-1"], modules=tuple(Module(number, "m") for number in range(MAX_MODULES)))
    world.state = replace(world.state, snapshots=(full,))
    assert world.said(ModuleEvent("new", DapModule("one more", "m"))) == set()
    assert len(world["s-1"].modules) == MAX_MODULES
    assert world.said(ModuleEvent("changed", DapModule(0, "renamed"))) == {MODULES}
    assert len(world["s-1"].modules) == MAX_MODULES


@pytest.mark.parametrize(
    "event",
    [
        Output("x"),
        Initialized(),
        CapabilitiesEvent(),
        UnknownEvent("debugpySockets", {}),
    ],
)
def test_events_that_are_not_about_state_change_none(event: EventBody) -> None:
    world = World("s-1")
    before = world.state
    assert world.said(event) == set()
    assert world.state is before


# --- Breakpoints ------------------------------------------------------------------------------------------


def test_setting_binding_switching_and_removing_a_breakpoint_change_the_breakpoints_alone() -> None:
    world = World("s-1")
    assert world.put("bp-1") == {BREAKPOINTS}
    assert world.bound("bp-1") == {BREAKPOINTS}
    assert world.bound("bp-1") == set()
    assert world.put("bp-1", enabled=False) == {BREAKPOINTS}
    assert world.tell(BreakpointsRemoved(frozenset({"bp-1"}))) == {BREAKPOINTS}
    assert world.tell(BreakpointsRemoved(frozenset({"bp-1"}))) == set()


def test_breakpoints_without_a_session_change_no_resource_because_there_is_none() -> None:
    world = World()
    assert world.put("bp-1") == set()
    assert [each.id for each in world.state.breakpoints] == ["bp-1"]


def test_a_breakpoint_that_was_not_sent_is_bound_no_longer() -> None:
    world = World("s-1")
    world.put("bp-1")
    world.bound("bp-1")
    assert world.tell(BreakpointsBound("s-1", (("bp-1", None),))) == {BREAKPOINTS}
    assert world.breakpoint("bp-1").bindings == ()


def test_a_breakpoint_that_the_adapter_moves_is_shown_where_it_is() -> None:
    world = World("s-1")
    world.put("bp-1", 3)
    world.bound("bp-1", id=7, line=3)
    moved = BreakpointEvent("changed", DapBreakpoint(True, 7, line=5))
    assert world.said(moved) == {BREAKPOINTS}
    shown = breakpoints_payload(world.state, 1).breakpoints[0]
    assert (shown.line, shown.requested_line, shown.message) == (
        5,
        3,
        "moved from line 3 to 5, where code is",
    )
    assert world.said(moved) == set()


def test_a_breakpoint_that_the_adapter_takes_away_is_pending_and_still_ours() -> None:
    world = World("s-1")
    world.put("bp-1")
    world.bound("bp-1", id=7)
    assert world.said(BreakpointEvent("removed", DapBreakpoint(True, 7))) == {BREAKPOINTS}
    assert breakpoints_payload(world.state, 1).breakpoints[0].state == "Pending"


def test_a_breakpoint_event_about_a_breakpoint_that_is_not_ours_changes_nothing() -> None:
    world = World("s-1")
    world.put("bp-1")
    world.bound("bp-1", id=None, verified=False)
    assert world.said(BreakpointEvent("new", DapBreakpoint(True, 9, line=4))) == set()
    assert world.said(BreakpointEvent("changed", DapBreakpoint(True, None, line=4))) == set()


def test_a_stop_at_a_breakpoint_counts_a_hit() -> None:
    world = World("s-1")
    world.put("bp-1")
    world.put("bp-2")
    world.bound("bp-1")
    world.bound("bp-2")
    assert world.stop(reason="Breakpoint", hit_ids=(1,)) == {SESSION, THREADS, STACK, BREAKPOINTS}
    assert (world.breakpoint("bp-1").hits, world.breakpoint("bp-2").hits) == (1, 0)
    assert world["s-1"].stop is not None
    assert world["s-1"].stop.breakpoint_ids == ("bp-1",)


@pytest.mark.parametrize("hit_ids", [None, ()])
def test_an_adapter_that_names_no_breakpoint_is_understood_by_the_place(hit_ids: Any) -> None:
    world = World("s-1")
    for number, line in ((1, 7), (2, 8)):
        world.put(f"bp-{number}", line)
        world.bound(f"bp-{number}", id=None, line=line)
    world.put("bp-3", 7, enabled=False)
    world.stop(reason="Breakpoint", hit_ids=hit_ids, line=7)
    assert [each.hits for each in world.state.breakpoints] == [1, 0, 0]


def test_a_step_that_ends_on_a_breakpoints_line_is_no_hit() -> None:
    world = World("s-1")
    world.put("bp-1", 7)
    world.bound("bp-1")
    assert BREAKPOINTS not in world.stop(reason="Step", line=7)


def test_hits_follow_the_hit_condition() -> None:
    world = World("s-1")
    world.put("bp-1", hit_condition="% 3")
    world.bound("bp-1")
    for expected in (3, 6, 9):
        world.stop(reason="Breakpoint", hit_ids=(1,))
        assert world.breakpoint("bp-1").hits == expected
        world.resume()


def test_hits_of_two_sessions_are_counted_apart_and_shown_together() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.put("bp-1", hit_condition="5")
    world.bound("bp-1", "s-1")
    world.bound("bp-1", "s-2")
    world.stop("s-1", reason="Breakpoint", hit_ids=(1,))
    assert world.breakpoint("bp-1").hits == 5
    world.stop("s-2", reason="Breakpoint", hit_ids=(1,))
    assert world.breakpoint("bp-1").hits == 10


def test_an_adapters_breakpoint_id_is_worth_nothing_in_another_session() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.put("bp-1")
    world.bound("bp-1", "s-1", id=1)
    world.stop("s-2", reason="Breakpoint", hit_ids=(1,))
    assert world.breakpoint("bp-1").hits == 0


def test_a_breakpoint_that_logs_counts_and_touches_neither_session_nor_threads() -> None:
    world = World("s-1")
    world.put("tp-1", type="Tracepoint", log_message="x")
    world.bound("tp-1")
    assert world.tell(BreakpointLogged("s-1", "tp-1")) == {BREAKPOINTS}
    assert world.breakpoint("tp-1").hits == 1


def test_a_condition_that_failed_is_told_at_its_breakpoint() -> None:
    world = World("s-1")
    world.put("bp-1", condition="x > 1")
    world.put("bp-2", condition="y")
    assert world.tell(BreakpointFaulted("s-1", "x > 1", "NameError")) == {BREAKPOINTS}
    assert [each.problem for each in world.state.breakpoints] == ["NameError", None]


def test_a_temporary_breakpoint_is_shown_to_nobody() -> None:
    world = World("s-1")
    assert world.put("bp-9", temporary=True) == set()
    assert world.bound("bp-9") == set()
    world.stop(reason="Breakpoint", hit_ids=(9,))
    assert world["s-1"].stop is not None
    assert world["s-1"].stop.breakpoint_ids == ()
    assert breakpoints_payload(world.state, 1).breakpoints == []
    assert world.tell(BreakpointsRemoved(frozenset({"bp-9"}))) == set()


def test_exception_breakpoints_are_verified_while_watched_for_and_count() -> None:
    world = World("s-1")
    assert world.tell(ExceptionBreakpointPut(ExceptionBreakpoint("ex-1"))) == {BREAKPOINTS}
    assert world.tell(ExceptionBreakpointsBound("s-1", frozenset({"ex-1"}))) == {BREAKPOINTS}
    info = ExceptionInfo("ValueError", "bad", "always")
    touched = world.stop(reason="Exception", exception=info, exception_breakpoints=("ex-1",))
    assert touched == {SESSION, THREADS, STACK, BREAKPOINTS}
    assert world.state.exceptions[0].hits == 1
    assert world["s-1"].stop is not None
    assert (world["s-1"].stop.exception, world["s-1"].stop.breakpoint_ids) == (info, ("ex-1",))
    assert world.tell(ExceptionBreakpointsBound("s-1", frozenset(), "not here")) == {BREAKPOINTS}
    assert world.state.exceptions[0].problem == "not here"


# --- Focus ------------------------------------------------------------------------------------------------


def test_a_child_session_changes_the_parents_payload_and_leaves_the_focus() -> None:
    world = World("s-1")
    assert world.open("s-2", "s-1") == {SESSION}
    assert world.state.focus == "s-1"


def test_a_stop_takes_the_focus_from_a_session_that_runs() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    assert {SESSION, THREADS, STACK, MODULES} <= world.stop("s-2")
    assert world.state.focus == "s-2"


def test_a_stop_leaves_the_focus_where_somebody_is_paused() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.stop("s-1")
    assert world.stop("s-2") == {SESSION}
    assert world.state.focus == "s-1"


def test_a_stop_leaves_the_focus_where_somebody_is_in_the_middle_of_a_step() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.stop("s-1")
    world.resume("s-1", "step")
    world.stop("s-2")
    assert world.state.focus == "s-1"
    world.stop("s-1")
    assert world.state.focus == "s-1"


def test_continuing_hands_the_focus_to_whoever_waits_longest() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.open("s-3", "s-1")
    for session in ("s-1", "s-3", "s-2"):
        world.stop(session)
    assert {SESSION, THREADS, STACK} <= world.resume("s-1")
    assert world.state.focus == "s-3"


def test_a_refused_continue_gives_the_focus_back() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.stop("s-1")
    world.stop("s-2")
    world.resume("s-1")
    assert world.state.focus == "s-2"
    world.tell(ResumeRefused("s-1", world["s-1"].generation))
    assert world.state.focus == "s-1"


def test_continuing_another_session_leaves_the_focus() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.stop("s-1")
    world.stop("s-2")
    world.resume("s-2")
    assert world.state.focus == "s-1"


def test_when_the_focused_child_ends_the_focus_goes_to_one_that_waits_else_to_the_parent() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.open("s-3", "s-2")
    world.stop("s-3")
    world.tell(SessionClosed("s-3", "over"))
    assert world.state.focus == "s-2"
    world.stop("s-2")
    world.stop("s-1")
    world.tell(SessionClosed("s-2", "over"))
    assert world.state.focus == "s-1"


def test_a_child_that_ends_is_not_the_last_session() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    assert world.tell(SessionClosed("s-2", "over")) == {SESSION}
    assert world.state.last is None


def test_when_the_root_ends_its_whole_family_goes() -> None:
    world = World("s-1")
    world.open("s-2", "s-1")
    world.open("s-3", "s-2")
    world.put("bp-1")
    world.bound("bp-1", "s-3")
    world.tell(SessionClosed("s-1", "over"))
    assert (world.state.snapshots, world.state.focus) == ((), None)
    assert world.breakpoint("bp-1").bindings == ()
    assert world.state.last is not None
    assert world.state.last.id == "s-1"


# --- Anything in any order --------------------------------------------------------------------------------

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
def test_whatever_is_said_in_whatever_order_the_state_makes_sense(steps: list[Change]) -> None:
    world = World()
    for each in ("bp-1", "bp-2"):
        world.put(each)
    world.put("tp-3", file=APP, log_message="x")
    world.open("s-1")
    world.open("s-2", "s-1")
    for change in steps:
        if opens_twice(world.state, change):
            continue
        old, new = world.state, reduce(change, world.state)
        touched = changed(old, new)
        world.state = new
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


def test_switching_a_breakpoint_that_was_removed_meanwhile_does_not_bring_it_back() -> None:
    world = World("s-1")
    world.put("bp-1")
    world.tell(BreakpointsRemoved(frozenset({"bp-1"})))
    assert world.tell(BreakpointEnabled("bp-1", enabled=True)) == set()
    assert world.state.breakpoints == ()


def test_an_update_of_a_breakpoint_keeps_the_hits_that_came_in_meanwhile() -> None:
    world = World("s-1")
    world.put("bp-1")
    world.bound("bp-1")
    world.stop(hit_ids=(1,), reason="Breakpoint")
    world.put("bp-1", condition="x > 1")
    assert (world.breakpoint("bp-1").hits, world.breakpoint("bp-1").condition) == (1, "x > 1")
