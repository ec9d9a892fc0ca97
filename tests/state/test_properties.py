"""Any changes in any order: properties that every state has."""

from hypothesis import given
from hypothesis import strategies as st

from tests.state.store import APP, ORIGIN, Store, frame, place
from trio_debugmcp.dap.messages import (
    BreakpointEvent,
    Continued,
    DapBreakpoint,
    DapModule,
    Exited,
    ModuleEvent,
    OutputEvent,
    ProcessEvent,
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
    LocalsFetched,
    Resumed,
    ResumeRefused,
    SessionClosed,
    SessionOpened,
    SessionStarted,
    StopExamined,
    ThreadsLocated,
)
from trio_debugmcp.state.model import Locals, Snapshot, State, Thread
from trio_debugmcp.state.reduce import reduce
from trio_debugmcp.state.resources import (
    changed,
)

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
    st.builds(ProcessEvent, st.text(max_size=2), st.none() | numbers),
    st.just(OutputEvent("x")),
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
    st.builds(EventReceived, ids, events),
    st.builds(EventReceived, ids, events),
    stops,
    st.builds(SessionOpened, ids, st.just(ORIGIN), st.none() | ids),
    st.builds(SessionStarted, ids),
    st.builds(SessionClosed, ids, st.just("over"), st.none() | numbers),
    st.builds(Resumed, ids, st.sampled_from(["continue", "step"])),
    st.builds(ResumeRefused, ids, numbers),
    st.builds(LocalsFetched, ids, numbers, st.just(Locals())),
    st.builds(ThreadsLocated, ids, numbers, st.just(((1, place(1)),))),
    st.builds(BreakpointsBound, ids, st.tuples(st.tuples(breakpoint_ids, st.none() | answers))),
    st.builds(BreakpointsRemoved, st.frozensets(breakpoint_ids, max_size=1)),
    st.builds(BreakpointLogged, ids, breakpoint_ids),
)


def never_made(state: State, change: Change) -> bool:
    """Whether the change is one that the debugger never makes: an id is used once, and a child has a parent."""
    return isinstance(change, SessionOpened) and (
        state.snapshot(change.session_id) is not None
        or (change.parent is not None and state.snapshot(change.parent) is None)
    )


def check(snapshot: Snapshot, before: Snapshot | None) -> None:
    if snapshot.phase != "Paused":
        assert snapshot.threads.stale
        assert snapshot.stack.stale
    else:
        assert snapshot.stop is not None
        assert (snapshot.threads.stale, snapshot.stack.stale, snapshot.stepping) == (False, False, False)
    if before is not None:
        assert snapshot.generation >= before.generation
        assert before.phase != "Terminating" or snapshot.phase == "Terminating"
    assert len({thread.id for thread in snapshot.threads.threads}) == len(snapshot.threads.threads)


@given(steps=st.lists(changes, max_size=40))
def test_any_changes_in_any_order_leave_a_consistent_state(steps: list[Change]) -> None:
    store = Store()
    for each in ("bp-1", "bp-2"):
        store.put(each)
    store.put("tp-3", file=APP, log_message="x")
    store.open("s-1")
    store.open("s-2", "s-1")
    for change in steps:
        if never_made(store.state, change):
            continue
        old, new = store.state, reduce(change, store.state)
        uris = changed(old, new)
        store.state = new
        assert new.focus is None or new.snapshot(new.focus) is not None
        assert (new.root is None) == (new.focus is None)
        assert new.stops >= old.stops
        for snapshot in new.snapshots:
            check(snapshot, old.snapshot(snapshot.id))
            assert snapshot.parent is None or new.snapshot(snapshot.parent) is not None
        assert {b.session_id for each in new.breakpoints for b in each.bindings} <= {s.id for s in new.snapshots}
        if new is old:
            assert uris == set()
