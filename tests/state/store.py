"""`Store`: a state into which tests merge changes, and which resources each of them changed. Shared by these tests."""

from typing import Any

from trio_debugmcp.dap.messages import DapBreakpoint, EventBody, Stopped
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec, RunPlace
from trio_debugmcp.state.changes import (
    BreakpointPut,
    BreakpointsBound,
    Change,
    EventReceived,
    LocalsFetched,
    Resumed,
    RunPlacePut,
    SessionOpened,
    SessionStarted,
    StopExamined,
)
from trio_debugmcp.state.model import Locals, NamedScope, Origin, Snapshot, StackFrame, State, Thread
from trio_debugmcp.state.payloads import Location, Variable
from trio_debugmcp.state.reduce import reduce
from trio_debugmcp.state.resources import (
    BREAKPOINTS,
    MODULES,
    OUTPUT,
    SESSION,
    SNAPSHOTS,
    STACK,
    THREADS,
    TIMELINE,
    changed,
)

ALL = {SESSION, BREAKPOINTS, THREADS, STACK, OUTPUT, MODULES, TIMELINE, SNAPSHOTS}
APP = "/src/app.py"
ORIGIN = Origin("fake", "Fake", "Launch", 1000.0, process_name="app.py")


def place(line: int, name: str = "main", file: str = APP) -> Location:
    return Location(file, line, 1, name, "app")


def frame(line: int, name: str = "main", file: str = APP) -> StackFrame:
    return StackFrame(line, name, place(line, name, file))


def breakpoint_on(line: int | None, breakpoint_id: str = "bp-1", *, enabled: bool = True, **more: Any) -> Breakpoint:
    return Breakpoint(breakpoint_id, BreakpointSpec(**{"file": APP, "line": line, **more}), enabled=enabled)


class Store:
    """A state. `merge` and what builds on it reduce a change and return the URIs of the resources that it changed."""

    def __init__(self, *session_ids: str) -> None:
        self.state = State()
        for session_id in session_ids:
            self.open(session_id)

    def merge(self, change: Change) -> set[str]:
        old, self.state = self.state, reduce(change, self.state)
        return changed(old, self.state)

    def open(self, session_id: str, parent: str | None = None) -> set[str]:
        uris = self.merge(SessionOpened(session_id, ORIGIN, parent))
        return uris | self.merge(SessionStarted(session_id))

    def event(self, body: EventBody, session_id: str = "s-1") -> set[str]:
        return self.merge(EventReceived(session_id, body))

    def examined(self, session_id: str = "s-1", *, line: int = 1, thread: int = 1, **more: Any) -> set[str]:
        values: dict[str, Any] = {
            "generation": self[session_id].generation,
            "at": 1002.0,
            "reason": "Step",
            "thread_id": thread,
            "frames": (frame(line),),
            "total_frames": 1,
            "threads": (Thread(thread, "MainThread"),),
        }
        return self.merge(StopExamined(session_id, **{**values, **more}))

    def stop(self, session_id: str = "s-1", **more: Any) -> set[str]:
        """A whole stop: the adapter's event, and what was found there."""
        return self.event(Stopped("step", thread_id=1), session_id) | self.examined(session_id, **more)

    def resume(self, session_id: str = "s-1", kind: Any = "continue") -> set[str]:
        return self.merge(Resumed(session_id, kind))

    def fetched(self, generation: int, session_id: str = "s-1") -> set[str]:
        variable = Variable("x", "1", "int", "x", 0)
        return self.merge(LocalsFetched(session_id, generation, Locals((NamedScope("Locals", 7),), (variable,), 1)))

    def put(self, breakpoint_id: str, line: int | None = 1, **more: Any) -> set[str]:
        return self.merge(BreakpointPut(breakpoint_on(line, breakpoint_id, **more)))

    def put_place(self, place_id: str, line: int = 1, **more: Any) -> set[str]:
        """A place that a run stops at."""
        return self.merge(RunPlacePut(RunPlace(place_id, BreakpointSpec(file=APP, line=line), **more)))

    def bound(self, breakpoint_id: str, session_id: str = "s-1", **answer: Any) -> set[str]:
        answer = {"verified": True, "id": int(breakpoint_id.rpartition("-")[2]), **answer}
        return self.merge(BreakpointsBound(session_id, ((breakpoint_id, DapBreakpoint(**answer)),)))

    def breakpoint(self, breakpoint_id: str) -> Breakpoint:
        return next(each for each in self.state.breakpoints if each.id == breakpoint_id)

    def __getitem__(self, session_id: str) -> Snapshot:
        found = self.state.snapshot(session_id)
        assert found is not None
        return found
