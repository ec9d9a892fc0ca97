"""Resources as clients read them: keys, spelling, and URIs."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.state.store import ALL, APP, ORIGIN, Store, frame
from trio_debugmcp.dap.messages import DapBreakpoint, DapModule, Exited, ModuleEvent, ProcessEvent
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint
from trio_debugmcp.state.changes import (
    BreakpointsBound,
    ExceptionBreakpointPut,
    ExceptionBreakpointsBound,
    SessionClosed,
    SessionOpened,
)
from trio_debugmcp.state.model import Thread
from trio_debugmcp.state.payloads import (
    ExceptionInfo,
    OutputPayload,
    TimelinePayload,
    to_json,
)
from trio_debugmcp.state.resources import (
    BREAKPOINTS,
    MODULES,
    OUTPUT,
    RESOURCES,
    SESSION,
    SNAPSHOTS,
    STACK,
    THREADS,
    TIMELINE,
    View,
    canonical,
    changed,
    source_path,
    source_uri,
)
from trio_debugmcp.state.session_view import session_payload

CONTRACT = {
    SESSION: "processId processName executablePath runtimeVersion state launchMode attachedAt pauseReason "
    "currentLocation activeThreadId commandLineArgs workingDirectory adapter language exitCode exception children "
    "revision",
    BREAKPOINTS: "breakpoints exceptionBreakpoints functionBreakpoints dataBreakpoints revision",
    THREADS: "threads stale capturedAt revision",
    STACK: "threadId frames scopes locals localsTotal stop changed comparedWith stale capturedAt revision",
    MODULES: "modules count revision",
    OUTPUT: "entries nextSeq dropped revision",
    TIMELINE: "events totalEvents eventsDropped revision",
    SNAPSHOTS: "snapshots count revision",
}

ALLOWED = {
    SESSION: {"sessionId", "parentSessionId", "sessions"},
    STACK: {"total"},
}
"""What we serve beyond the contract."""

BREAKPOINT = """id statement type file line column enabled verified state hitCount condition logMessage hitCountMultiple
    maxNotifications notificationsSent hitCondition requestedLine functionName message"""

EXCEPTION = """id exceptionType breakOnFirstChance breakOnSecondChance includeSubtypes enabled verified hitCount
    condition message"""


class NoRings:
    """Nothing was written, and nothing happened."""

    def output_payload(self, session_id: str, revision: int) -> OutputPayload:
        return OutputPayload([], 1, 0, revision)

    def timeline_payload(self, revision: int) -> TimelinePayload:
        return TimelinePayload([], 0, 0, revision)


RINGS = NoRings()


def read(store: Store, uri: str, revision: int = 1) -> Any:
    snapshot = store.state.focused
    assert snapshot is not None
    return json.loads(to_json(RESOURCES[uri].payload(View(store.state, snapshot, revision, RINGS))))


def busy_store() -> Store:
    store = Store("s-1")
    store.put("bp-1", 3)
    store.bound("bp-1", id=7, line=4, column=2)
    store.put("fn-2", None, file=None, function="main")
    store.merge(ExceptionBreakpointPut(ExceptionBreakpoint("ex-3", condition="x")))
    store.merge(ExceptionBreakpointsBound("s-1", frozenset({"ex-3"})))
    store.event(ModuleEvent("new", DapModule(1, "app", APP, "1.0", "Symbols loaded", True)))
    store.event(ProcessEvent("python", 42))
    store.stop(line=4, reason="Exception", exception=ExceptionInfo("ValueError", "bad", "always"))
    store.fetched(store["s-1"].generation)
    store.open("s-2", "s-1")
    return store


@pytest.mark.parametrize("store", [busy_store(), Store("s-1")], ids=["busy", "empty"])
@pytest.mark.parametrize("uri", list(CONTRACT))
def test_a_payload_has_exactly_the_keys_of_the_contract_whatever_is_known(uri: str, store: Store) -> None:
    assert set(read(store, uri)) == set(CONTRACT[uri].split()) | ALLOWED.get(uri, set())


def test_every_resource_is_named_and_described() -> None:
    assert set(RESOURCES) == ALL == set(CONTRACT)
    for uri, resource in RESOURCES.items():
        assert resource.uri == uri
        assert resource.name
        assert resource.description
    names = [RESOURCES[uri].name for uri in (SESSION, BREAKPOINTS, THREADS)]
    assert names == ["Debug Session", "Breakpoints", "Threads"]


def test_the_session_at_a_stop() -> None:
    store = busy_store()
    child = {
        "sessionId": "s-2",
        "processId": None,
        "processName": "app.py",
        "state": "Running",
        "pauseReason": None,
        "currentLocation": None,
        "parentSessionId": "s-1",
    }
    itself = {
        "sessionId": "s-1",
        "processId": 42,
        "processName": "app.py",
        "state": "Paused",
        "pauseReason": "Exception",
        "currentLocation": {"file": APP, "line": 4, "column": 1, "functionName": "main", "moduleName": "app"},
        "parentSessionId": None,
    }
    assert read(store, SESSION, 7) == {
        "processId": 42,
        "processName": "app.py",
        "executablePath": None,
        "runtimeVersion": None,
        "state": "Paused",
        "launchMode": "Launch",
        "attachedAt": "1970-01-01T00:16:40.000+00:00",
        "pauseReason": "Exception",
        "currentLocation": {"file": APP, "line": 4, "column": 1, "functionName": "main", "moduleName": "app"},
        "activeThreadId": 1,
        "commandLineArgs": [],
        "workingDirectory": None,
        "adapter": "fake",
        "language": "Fake",
        "exitCode": None,
        "exception": {"type": "ValueError", "message": "bad", "breakMode": "always", "caughtBy": None},
        "children": [child],
        "sessions": [itself, child],
        "sessionId": "s-1",
        "parentSessionId": None,
        "revision": 7,
    }


def test_a_running_session_shows_nothing_of_its_last_stop() -> None:
    store = busy_store()
    store.resume()
    payload = read(store, SESSION)
    assert payload["state"] == "Running"
    for key in ("pauseReason", "currentLocation", "activeThreadId", "exception"):
        assert payload[key] is None


def test_a_starting_session_can_be_read() -> None:
    store = Store()
    store.merge(SessionOpened("s-1", ORIGIN))
    assert read(store, SESSION)["state"] == "Starting"
    assert read(store, THREADS) == {"threads": [], "stale": True, "capturedAt": None, "revision": 1}
    assert read(store, STACK)["frames"] == []
    assert (read(store, STACK)["stale"], read(store, STACK)["capturedAt"]) == (True, None)


def test_a_session_that_has_ended_still_has_a_payload_with_its_exit_code() -> None:
    store = busy_store()
    store.event(Exited(3))
    store.merge(SessionClosed("s-1", "the program ended"))
    assert store.state.last is not None
    payload = session_payload(store.state, store.state.last, 9)
    assert (payload.state, payload.exit_code, payload.exception) == ("Terminating", 3, None)


def test_breakpoints_by_kind() -> None:
    payload = read(busy_store(), BREAKPOINTS)
    (line,), (function,), (exception,) = (
        payload["breakpoints"],
        payload["functionBreakpoints"],
        payload["exceptionBreakpoints"],
    )
    assert set(line) == set(function) == set(BREAKPOINT.split())
    assert set(exception) == set(EXCEPTION.split())
    assert (line["id"], line["type"], line["file"]) == ("bp-1", "Breakpoint", APP)
    assert (line["line"], line["requestedLine"]) == (4, 3)
    assert (line["state"], line["verified"], line["enabled"], line["hitCount"]) == ("Bound", True, True, 0)
    assert (function["functionName"], function["state"], function["file"]) == ("main", "Pending", None)
    assert (exception["exceptionType"], exception["verified"], exception["condition"]) == ("*", True, "x")
    assert payload["dataBreakpoints"] == []


@pytest.mark.parametrize(
    ("enabled", "verified", "state"),
    [(True, True, "Bound"), (True, False, "Pending"), (False, True, "Disabled")],
)
def test_the_state_of_a_breakpoint(enabled: bool, verified: bool, state: str) -> None:
    store = Store("s-1")
    store.put("bp-1", enabled=enabled)
    store.bound("bp-1", verified=verified, message=None if verified else "no code here")
    (shown,) = read(store, BREAKPOINTS)["breakpoints"]
    assert shown["state"] == state
    assert shown["verified"] is (state == "Bound")
    assert shown["message"] == (None if verified else "no code here")


def test_a_breakpoint_is_shown_where_a_session_could_place_it() -> None:
    store = Store("s-1")
    store.open("s-2", "s-1")
    store.put("bp-1", 3)
    store.bound("bp-1", "s-1", verified=False, message="not loaded")
    store.bound("bp-1", "s-2", line=5)
    (shown,) = read(store, BREAKPOINTS)["breakpoints"]
    assert (shown["verified"], shown["line"], shown["requestedLine"]) == (True, 5, 3)


def test_threads_and_which_of_them_is_current() -> None:
    store = Store("s-1")
    store.stop(thread=0, line=4, threads=(Thread(0, "main"), Thread(9, None)))
    payload = read(store, THREADS)
    assert [set(each) for each in payload["threads"]] == [{"id", "name", "state", "isCurrent", "location"}] * 2
    assert [(t["id"], t["name"], t["state"], t["isCurrent"]) for t in payload["threads"]] == [
        (0, "main", "Suspended", True),
        (9, None, "Suspended", False),
    ]
    assert payload["threads"][0]["location"]["line"] == 4
    assert (payload["stale"], payload["capturedAt"]) == (False, "1970-01-01T00:16:42.000+00:00")


def test_while_the_program_runs_the_last_capture_is_served_as_stale() -> None:
    store = busy_store()
    threads, stack = read(store, THREADS), read(store, STACK)
    store.resume()
    assert read(store, THREADS) == {**threads, "stale": True}
    assert read(store, STACK) == {**stack, "stale": True}


def test_the_stack_with_the_locals_of_its_top_frame() -> None:
    payload = read(busy_store(), STACK)
    assert payload["frames"] == [
        {
            "index": 0,
            "name": "main",
            "location": {"file": APP, "line": 4, "column": 1, "functionName": "main", "moduleName": "app"},
            "isUserCode": True,
        }
    ]
    assert payload["scopes"] == [{"name": "Locals", "expensive": False}]
    x = {"name": "x", "value": "1", "type": "int", "path": "x", "childCount": 0, "digest": None}
    assert (payload["locals"], payload["localsTotal"]) == ([x], 1)


def test_new_timeline_events_change_the_timeline_only() -> None:
    store = Store("s-1")
    assert changed(store.state, replace(store.state, happened=store.state.happened + 1)) == {TIMELINE}


def test_modules_with_their_count() -> None:
    payload = read(busy_store(), MODULES)
    assert payload["modules"] == [
        {
            "id": 1,
            "name": "app",
            "path": APP,
            "version": "1.0",
            "symbolStatus": "Symbols loaded",
            "isUserCode": True,
        }
    ]
    assert payload["count"] == 1


def test_a_hundred_breakpoints_and_two_hundred_threads_are_served_whole() -> None:
    store = Store("s-1")
    for number in range(100):
        store.put(f"bp-{number}", number + 1)
    results = tuple((f"bp-{number}", DapBreakpoint(True, number)) for number in range(100))
    assert store.merge(BreakpointsBound("s-1", results)) == {BREAKPOINTS}
    store.stop(threads=tuple(Thread(number, f"worker {number}") for number in range(200)))
    assert len(read(store, BREAKPOINTS)["breakpoints"]) == 100
    assert all(each["verified"] for each in read(store, BREAKPOINTS)["breakpoints"])
    assert len(read(store, THREADS)["threads"]) == 200


def test_json_is_compact_and_text_is_itself() -> None:
    store = Store("s-1")
    store.stop(frames=(frame(1, "grüße", "/src/with space.py"),))
    snapshot = store.state.focused
    assert snapshot is not None
    text = to_json(RESOURCES[STACK].payload(View(store.state, snapshot, 1, RINGS)))
    assert text == json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
    assert "grüße" in text


# --- URIs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/src/app.py", "debugger://source//src/app.py"),
        ("/src/with space.py", "debugger://source//src/with%20space.py"),
        ("/src/a#b?c%d.py", "debugger://source//src/a%23b%3Fc%25d.py"),
        ("/src/%41.py", "debugger://source//src/%2541.py"),
        ("/src/grün.py", "debugger://source//src/gr%C3%BCn.py"),
        ("C:/src/app.cs", "debugger://source/C:/src/app.cs"),
        ("<string>", "debugger://source/%3Cstring%3E"),
    ],
)
def test_a_path_becomes_a_uri_and_comes_back(path: str, uri: str) -> None:
    assert source_uri(path) == uri
    assert source_path(uri) == path
    assert canonical(uri) == uri


@given(st.text(min_size=1))
def test_any_path_survives_a_round_trip_through_a_uri(path: str) -> None:
    assert source_path(source_uri(path)) == path


def test_percent_encoding_is_undone_exactly_once() -> None:
    assert source_path("debugger://source//src/%252e%252e/x") == "/src/%2e%2e/x"


def test_all_spellings_of_a_source_are_one_resource() -> None:
    spellings = ["/src/a b.py", "/src/a%20b.py", "%2F%73rc/a%20b.py", "%2fsrc%2fa b%2epy"]
    assert {canonical(f"debugger://source/{each}") for each in spellings} == {"debugger://source//src/a%20b.py"}


@pytest.mark.parametrize("uri", [SESSION, "debugger://nothing", "file:///src/app.py", "debugger://sources//x", ""])
def test_other_uris_name_no_source_and_are_canonical(uri: str) -> None:
    assert source_path(uri) is None
    assert canonical(uri) == uri
