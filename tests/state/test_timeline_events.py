"""The timeline events of a change, derived from it and the states before and after it."""

import json
from typing import Any

import pytest

from tests.state.store import APP, ORIGIN, breakpoint_on, frame, place
from trio_debugmcp.dap.messages import Continued, DapBreakpoint, DapModule, Exited, ModuleEvent, Stopped, ThreadEvent
from trio_debugmcp.state.breakpoint import BreakpointSpec, ExceptionBreakpoint, RunPlace
from trio_debugmcp.state.call_events import tool_called, tool_started
from trio_debugmcp.state.changes import (
    BreakpointFaulted,
    BreakpointLogged,
    BreakpointPut,
    BreakpointsBound,
    BreakpointsRemoved,
    Change,
    EventReceived,
    ExceptionBreakpointPut,
    ExceptionBreakpointsBound,
    Happened,
    Happening,
    LocalsFetched,
    OutputWritten,
    Resumed,
    ResumeRefused,
    RunPlacePut,
    RunPlacesRemoved,
    RunPlacesWithdrawn,
    SessionClosed,
    SessionOpened,
    SessionStarted,
    StopExamined,
    WrittenPiece,
)
from trio_debugmcp.state.model import Locals, State, Thread
from trio_debugmcp.state.payloads import ExceptionInfo, Location, to_json
from trio_debugmcp.state.reduce import reduce
from trio_debugmcp.state.timeline_events import (
    EVENT_TYPES,
    client_joined,
    client_left,
    happenings,
)


class EventLog:
    """A state. `merge` reduces a change and returns its events; `types` only their types."""

    def __init__(self, *session_ids: str) -> None:
        self.state = State()
        for session_id in session_ids:
            self.merge(SessionOpened(session_id, ORIGIN))
            self.merge(SessionStarted(session_id))

    def merge(self, change: Change) -> list[Happening]:
        old, self.state = self.state, reduce(change, self.state)
        events = happenings(old, change, self.state)
        assert all(each.type in EVENT_TYPES for each in events)
        assert to_json([each.payload for each in events])
        return events

    def types(self, change: Change) -> list[str]:
        return [each.type for each in self.merge(change)]

    def stop(self, **more: Any) -> list[Happening]:
        assert self.merge(EventReceived("s-1", Stopped("step", thread_id=1))) == []
        snapshot = self.state.snapshot("s-1")
        assert snapshot is not None
        values: dict[str, Any] = {
            "generation": snapshot.generation,
            "at": 1002.0,
            "reason": "Step",
            "thread_id": 1,
            "frames": (frame(7),),
            "threads": (Thread(1, "MainThread"),),
        }
        return self.merge(StopExamined("s-1", **{**values, **more}))

    def event(self, body: Any) -> list[Happening]:
        return self.merge(EventReceived("s-1", body))


def test_a_session_starts_and_ends_with_events() -> None:
    log = EventLog()
    opening = SessionOpened("s-1", ORIGIN)
    assert log.merge(opening) == [
        Happening(
            "sessionStarted",
            {
                "sessionId": "s-1",
                "parentSessionId": None,
                "launchMode": "Launch",
                "adapter": "fake",
                "processName": "app.py",
                "processId": None,
            },
        )
    ]
    assert log.types(SessionStarted("s-1")) == []
    child = SessionOpened("s-2", ORIGIN, parent="s-1")
    assert log.merge(child)[0].payload["parentSessionId"] == "s-1"
    log.event(Exited(3))
    parent, orphan = log.merge(SessionClosed("s-1", "the program ended", exit_code=4))
    assert parent.payload == {"sessionId": "s-1", "exitCode": 4, "reason": "the program ended", "failed": False}
    assert (orphan.type, orphan.payload["sessionId"], orphan.payload["exitCode"]) == ("sessionEnded", "s-2", None)
    assert log.merge(SessionClosed("s-1", "again")) == []


def test_a_stop_has_its_reason_location_and_breakpoints() -> None:
    log = EventLog("s-1")
    log.merge(BreakpointPut(breakpoint_on(7)))
    log.merge(BreakpointsBound("s-1", (("bp-1", DapBreakpoint(verified=True, id=5, line=7)),)))
    stopped, hit = log.stop(reason="Breakpoint", hit_ids=(5,))
    assert (stopped.type, stopped.thread_id) == ("stopped", 1)
    assert stopped.payload == {
        "sessionId": "s-1",
        "stop": 1,
        "reason": "Breakpoint",
        "description": None,
        "location": place(7),
        "breakpointIds": ["bp-1"],
    }
    assert (hit.type, hit.thread_id) == ("breakpointHit", 1)
    assert hit.payload == {"sessionId": "s-1", "id": "bp-1", "hitCount": 1, "location": place(7)}


def test_an_exception_is_an_event_after_its_stop() -> None:
    log = EventLog("s-1")
    log.merge(ExceptionBreakpointPut(ExceptionBreakpoint("ex-1")))
    info = ExceptionInfo("ValueError", "b" * 1000, "always")
    events = log.stop(reason="Exception", exception=info, exception_breakpoints=("ex-1",))
    assert [each.type for each in events] == ["stopped", "exception", "breakpointHit"]
    assert events[1].payload["exceptionType"] == "ValueError"
    assert len(events[1].payload["message"]) < 240
    assert isinstance(events[1].payload["location"], Location)
    log.merge(Resumed("s-1", "continue"))
    snapshot = log.state.snapshot("s-1")
    assert snapshot is not None
    assert log.types(ResumeRefused("s-1", snapshot.generation)) == ["stopped"]  # it is not raised again


def test_a_stop_that_follows_another_without_a_resume_is_an_event() -> None:
    log = EventLog("s-1")
    assert [each.type for each in log.stop()] == ["stopped"]
    assert [each.type for each in log.stop(reason="Pause")] == ["stopped"]


def test_a_resume_is_one_event_and_a_refusal_is_the_stop_again() -> None:
    log = EventLog("s-1")
    log.stop()
    (continued,) = log.merge(Resumed("s-1", "continue"))
    assert (continued.type, continued.thread_id, continued.payload) == ("continued", 1, {"sessionId": "s-1"})
    assert log.event(Continued(1)) == []  # the adapter reports it as well
    log.stop()
    assert log.types(Resumed("s-1", "step")) == ["stepped"]
    snapshot = log.state.snapshot("s-1")
    assert snapshot is not None
    assert log.types(ResumeRefused("s-1", snapshot.generation)) == ["stopped"]
    assert [each.type for each in log.event(Continued(1))] == ["continued"]  # the program resumed itself


def test_details_that_are_fetched_later_make_no_event() -> None:
    log = EventLog("s-1")
    log.stop()
    snapshot = log.state.snapshot("s-1")
    assert snapshot is not None
    assert log.types(LocalsFetched("s-1", snapshot.generation, Locals())) == []


def test_breakpoints_are_set_changed_and_removed() -> None:
    log = EventLog("s-1")
    (made,) = log.merge(BreakpointPut(breakpoint_on(7, condition="c" * 500)))
    assert made.type == "breakpointSet"
    assert made.payload["line"] == 7
    assert len(made.payload["condition"]) < 120
    bound = BreakpointsBound("s-1", (("bp-1", DapBreakpoint(verified=True, id=5, line=8)),))
    (changed,) = log.merge(bound)
    assert (changed.type, changed.payload["state"], changed.payload["line"]) == ("breakpointChanged", "Bound", 8)
    assert log.types(bound) == []
    off = breakpoint_on(7, enabled=False)
    assert [each.payload["enabled"] for each in log.merge(BreakpointPut(off))] == [False]
    assert log.types(BreakpointPut(off)) == []
    assert log.merge(BreakpointsRemoved(frozenset({"bp-1"}))) == [Happening("breakpointRemoved", {"id": "bp-1"})]
    assert log.types(ExceptionBreakpointPut(ExceptionBreakpoint("ex-2", "KeyError"))) == ["breakpointSet"]
    (watched,) = log.merge(ExceptionBreakpointsBound("s-1", frozenset({"ex-2"})))
    assert (watched.payload["exceptionType"], watched.payload["verified"]) == ("KeyError", True)


def test_the_places_of_runs_and_the_start_and_end_of_a_session_make_no_breakpoint_events() -> None:
    log = EventLog("s-1")
    place = RunPlace("run-to-1", BreakpointSpec(file=APP, line=7))
    assert log.types(RunPlacePut(place)) == []
    assert log.types(RunPlacesWithdrawn(frozenset({"run-to-1"}))) == []
    assert log.types(RunPlacesRemoved(frozenset({"run-to-1"}))) == []
    log.merge(BreakpointPut(breakpoint_on(7, "bp-2", condition="x")))
    log.merge(BreakpointsBound("s-1", (("bp-2", DapBreakpoint(verified=True, id=5)),)))
    assert log.types(SessionClosed("s-1", "over")) == ["sessionEnded"]
    log.merge(BreakpointFaulted("s-1", "x", "NameError"))
    assert log.types(SessionOpened("s-2", ORIGIN)) == ["sessionStarted"]


def test_a_tracepoint_is_an_event_with_its_text_and_neither_hit_nor_stop() -> None:
    log = EventLog("s-1")
    log.merge(BreakpointPut(breakpoint_on(7, "tp-1", log_message="x")))
    log.merge(BreakpointsBound("s-1", (("tp-1", DapBreakpoint(verified=True, id=5)),)))
    (traced,) = log.merge(BreakpointLogged("s-1", "tp-1", "x = 1\n"))
    assert traced == Happening(
        "tracepoint",
        {"sessionId": "s-1", "id": "tp-1", "text": "x = 1", "hitCount": 1, "file": APP, "line": 7},
    )


def test_threads_and_modules() -> None:
    log = EventLog("s-1")
    assert log.event(ThreadEvent("started", 4)) == [Happening("threadStarted", {"sessionId": "s-1"}, 4)]
    assert log.event(ThreadEvent("exited", 4)) == [Happening("threadExited", {"sessionId": "s-1"}, 4)]
    (loaded,) = log.event(ModuleEvent("new", DapModule(1, "json")))
    assert loaded.payload == {"sessionId": "s-1", "name": "json", "count": 1}
    assert log.event(ModuleEvent("changed", DapModule(1, "json"))) == []
    assert log.merge(EventReceived("s-9", ThreadEvent("started", 4))) == []


def test_output_is_dropped_after_its_session_has_ended() -> None:
    log = EventLog("s-1")
    written = OutputWritten("s-1", 5000, (WrittenPiece("stdout", "a…", 4990), WrittenPiece("stderr", "b", 10)))
    out, err = log.merge(written)
    assert out.payload == {"stream": "stdout", "text": "a…", "length": 4990}
    assert err.payload == {"stream": "stderr", "text": "b", "length": 10}
    assert log.state.snapshots[0].written == 5000
    log.merge(SessionClosed("s-1", "over"))
    assert log.merge(written) == []


def test_events_of_the_server_change_nothing_else() -> None:
    log = EventLog("s-1")
    before = log.state
    joined = client_joined("agent", "1.0", "control")
    assert log.merge(Happened(joined)) == [joined]
    assert joined.payload == {"name": "agent", "version": "1.0", "role": "control"}
    assert client_left("agent", None, "observe").payload == {"name": "agent", "version": None, "role": "observe"}
    assert log.state is before


@pytest.mark.parametrize(
    "arguments",
    [
        {"env": {"TOKEN": "hunter2"}},
        {"env": ["TOKEN=hunter2"]},
        {"adapter_options": {"password": "hunter2"}},
        {"adapter_options": {"env": {"TOKEN": "hunter2"}}},
        {"experiments": [{"env": {"TOKEN": "hunter2"}}]},
        {"data": "x" * 20 + "hunter2"},
        {"expression": "x" * 100 + "hunter2"},
        {"breakpoints": ["x" * 100 + "hunter2"]},
    ],
)
def test_a_tool_call_is_recorded_short_and_without_secrets(arguments: dict[str, Any]) -> None:
    called = tool_called(1, "debug_launch", arguments, "agent", milliseconds=12.345, error=None, result="")
    assert tool_started(1, "debug_launch", arguments, "agent").payload.items() <= called.payload.items()
    text = json.dumps(called.payload)
    assert "hunter2" not in text
    assert len(text) < 300
    assert list(called.payload["arguments"]) == list(arguments)


def test_a_tool_call_is_recorded_with_its_outcome() -> None:
    arguments = {"mode": "in", "count": 2, "wait": True}
    called = tool_called(7, "debug_step", arguments, "agent", milliseconds=12.345, error="NOT_PAUSED", result="x" * 400)
    assert called == Happening(
        "toolCalled",
        {
            "call": 7,
            "tool": "debug_step",
            "arguments": arguments,
            "client": "agent",
            "milliseconds": 12.3,
            "error": "NOT_PAUSED",
            "result": "x" * 299 + "…",
        },
    )


def test_output_names_its_session_where_several_programs_write() -> None:
    log = EventLog("s-1")
    written = OutputWritten("s-1", 1, (WrittenPiece("stdout", "a", 1),))
    assert "sessionId" not in log.merge(written)[0].payload
    other = SessionOpened("s-2", ORIGIN)
    log.merge(other)
    assert log.merge(OutputWritten("s-1", 2, written.pieces))[0].payload["sessionId"] == "s-1"


def test_the_end_of_one_session_is_that_of_no_other() -> None:
    log = EventLog("s-1", "s-2")
    [ended] = log.merge(SessionClosed("s-2", "over"))
    assert (ended.type, ended.payload["sessionId"]) == ("sessionEnded", "s-2")
