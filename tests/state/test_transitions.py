"""The snapshot of a session after events of its adapter and after resumes."""

import pytest
from msgspec.structs import replace

from tests.state.store import ORIGIN, Store
from trio_debugmcp.dap.messages import (
    CapabilitiesEvent,
    Continued,
    DapModule,
    DapSource,
    EventBody,
    Initialized,
    LoadedSource,
    ModuleEvent,
    OutputEvent,
    ProcessEvent,
    Terminated,
    ThreadEvent,
    UnknownEvent,
)
from trio_debugmcp.state.changes import (
    SessionOpened,
)
from trio_debugmcp.state.model import Module, Thread
from trio_debugmcp.state.resources import (
    MODULES,
    SESSION,
    STACK,
    THREADS,
)
from trio_debugmcp.state.transitions import MAX_EXITED_THREADS, MAX_MODULES

# --- The process ------------------------------------------------------------------------------------------------------


def test_the_process_event_sets_pid_and_name() -> None:
    store = Store()
    store.merge(SessionOpened("s-1", replace(ORIGIN, process_name=None)))
    assert store.event(ProcessEvent("python", 42, "launch")) == {SESSION}
    assert (store["s-1"].origin.process_id, store["s-1"].origin.process_name) == (42, "python")
    assert store.event(ProcessEvent("")) == set()
    assert (store["s-1"].origin.process_id, store["s-1"].origin.process_name) == (42, "python")


def test_the_path_of_a_process_gives_its_name_and_is_kept() -> None:
    store = Store()
    store.merge(SessionOpened("s-1", replace(ORIGIN, process_name=None)))
    store.event(ProcessEvent("/usr/bin/python", 42))
    origin = store["s-1"].origin
    assert (origin.process_name, origin.executable_path) == ("python", "/usr/bin/python")
    store.event(ProcessEvent("/usr/bin/other", 43))
    origin = store["s-1"].origin
    assert (origin.process_name, origin.executable_path, origin.process_id) == ("python", "/usr/bin/python", 43)


def test_an_end_while_paused_leaves_a_stale_capture() -> None:
    store = Store("s-1")
    store.stop()
    assert store.event(Terminated()) == {SESSION, THREADS, STACK}
    assert store["s-1"].threads.stale
    assert store["s-1"].stack.stale


# --- Resumes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["continue", "step"])
def test_a_resume_changes_session_threads_and_stack(kind: str) -> None:
    store = Store("s-1")
    store.stop()
    assert store.resume(kind=kind) == {SESSION, THREADS, STACK}
    snapshot = store["s-1"]
    assert (snapshot.phase, snapshot.threads.stale, snapshot.stack.stale) == ("Running", True, True)
    assert snapshot.threads.captured_at == 1002.0
    assert snapshot.threads.threads


def test_a_continued_event_changes_session_threads_and_stack() -> None:
    store = Store("s-1")
    store.stop()
    assert store.event(Continued(1)) == {SESSION, THREADS, STACK}
    assert store["s-1"].phase == "Running"


def test_a_continued_event_after_our_own_resume_changes_nothing() -> None:
    store = Store("s-1")
    store.stop()
    store.resume()
    assert store.event(Continued(1, True)) == set()


def test_a_continued_event_while_starting_changes_nothing() -> None:
    store = Store()
    store.merge(SessionOpened("s-1", ORIGIN))
    assert store.event(Continued()) == set()
    assert store["s-1"].phase == "Starting"


# --- Threads ----------------------------------------------------------------------------------------------------------


def test_thread_events_before_the_first_capture_change_nothing() -> None:
    store = Store("s-1")
    assert store.event(ThreadEvent("started", 1)) == set()
    assert store["s-1"].threads.threads == ()


def test_a_started_thread_is_listed_as_running() -> None:
    store = Store("s-1")
    store.stop()
    store.resume()
    assert store.event(ThreadEvent("started", 2)) == {THREADS}
    assert store["s-1"].threads.threads[-1] == Thread(2, None, "Running")
    assert store.event(ThreadEvent("started", 2)) == set()


def test_an_exited_thread_stays_listed_until_the_next_capture() -> None:
    store = Store("s-1")
    store.stop(threads=(Thread(1, "main"), Thread(2, "worker")))
    store.resume()
    assert store.event(ThreadEvent("exited", 2)) == {THREADS}
    assert [thread.state for thread in store["s-1"].threads.threads] == ["Suspended", "Exited"]
    assert store.event(ThreadEvent("exited", 2)) == set()
    assert store.event(ThreadEvent("exited", 99)) == set()
    store.stop()
    assert [thread.id for thread in store["s-1"].threads.threads] == [1]


def test_a_thread_id_that_is_used_again_is_a_new_thread() -> None:
    store = Store("s-1")
    store.stop(threads=(Thread(1, "main"), Thread(2, "worker")))
    store.resume()
    store.event(ThreadEvent("exited", 2))
    assert store.event(ThreadEvent("started", 2)) == {THREADS}
    assert [(t.id, t.state) for t in store["s-1"].threads.threads] == [(1, "Suspended"), (2, "Running")]


def test_of_many_exited_threads_only_the_oldest_are_dropped() -> None:
    store = Store("s-1")
    store.stop(threads=(Thread(1, "main"), Thread(2, "worker")))
    store.resume()
    for number in range(3, MAX_EXITED_THREADS + 8):
        store.event(ThreadEvent("started", number))
        store.event(ThreadEvent("exited", number))
    threads = store["s-1"].threads.threads
    assert [thread.id for thread in threads] == [1, 2, *range(8, MAX_EXITED_THREADS + 8)]


# --- Modules ----------------------------------------------------------------------------------------------------------


def test_modules_are_added_changed_and_removed() -> None:
    store = Store("s-1")
    assert store.event(ModuleEvent("new", DapModule(1, "a"))) == {MODULES}
    assert store.event(ModuleEvent("new", DapModule("x", "b"))) == {MODULES}
    assert store.event(ModuleEvent("changed", DapModule(1, "a", version="2"))) == {MODULES}
    assert {(module.id, module.version) for module in store["s-1"].modules} == {(1, "2"), ("x", None)}
    assert store.event(ModuleEvent("removed", DapModule(1))) == {MODULES}
    assert [module.id for module in store["s-1"].modules] == ["x"]
    assert store.event(ModuleEvent("removed", DapModule(1))) == set()


def test_a_loaded_source_notifies_the_subscribers_of_modules() -> None:
    store = Store("s-1")
    assert store.event(LoadedSource("new", DapSource(path="/src/lib.py"))) == {MODULES}
    assert store.event(LoadedSource("changed", DapSource(path="/src/lib.py"))) == {MODULES}


def test_a_module_that_changes_keeps_its_place_in_the_list() -> None:
    store = Store("s-1")
    for number in (1, 2, 3):
        store.event(ModuleEvent("new", DapModule(number, str(number))))
    store.event(ModuleEvent("changed", DapModule(2, "two")))
    assert [module.name for module in store["s-1"].modules] == ["1", "two", "3"]


def test_the_module_table_is_bounded_and_keeps_its_entries() -> None:
    store = Store("s-1")
    full = replace(store["s-1"], modules=tuple(Module(number, "m") for number in range(MAX_MODULES)))
    store.state = replace(store.state, snapshots=(full,))
    assert store.event(ModuleEvent("new", DapModule("one more", "m"))) == set()
    assert len(store["s-1"].modules) == MAX_MODULES
    assert store.event(ModuleEvent("changed", DapModule("one more", "m"))) == set()
    assert store.event(ModuleEvent("changed", DapModule(0, "renamed"))) == {MODULES}
    assert len(store["s-1"].modules) == MAX_MODULES


# --- Other events -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        OutputEvent("x"),
        Initialized(),
        CapabilitiesEvent(),
        UnknownEvent("debugpySockets", {}),
    ],
)
def test_events_without_a_part_in_the_state_change_nothing(event: EventBody) -> None:
    store = Store("s-1")
    before = store.state
    assert store.event(event) == set()
    assert store.state is before
