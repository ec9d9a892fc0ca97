"""Stops are kept as they were last read: bounded in number and bytes, compared with the one before of the same call."""

from sys import getsizeof
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from tests.state.store import APP, Store, frame, place
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.stops.looking_back import kept_stop, stops_of
from trio_debugmcp.state import kept_stops
from trio_debugmcp.state.changes import LocalsFetched, SessionClosed, ThreadsLocated, VariablesRead
from trio_debugmcp.state.kept_stops import source_bytes
from trio_debugmcp.state.model import KeptStop, KeptStops, Locals, Reading, SourceText, Thread
from trio_debugmcp.state.payloads import ExceptionInfo, Variable


def local(name: str, value: str, kind: str = "int") -> Variable:
    return Variable(name, value, kind, name, 0)


def locals_of(total: int | None = None, **values: Any) -> Locals:
    found = tuple(local(name, value) for name, value in values.items())
    return Locals((), found, len(found) if total is None else total)


def stop(store: Store, session_id: str = "s-1", total: int | None = None, **values: Any) -> KeptStop:
    """Let the session stop with these locals, and return what is kept of it."""
    more = {name.removeprefix("at_"): values.pop(name) for name in [*values] if name.startswith("at_")}
    store.stop(session_id, locals=locals_of(total, **values), **more)
    return store.state.kept.stops[-1]


def numbers(store: Store) -> list[int]:
    return [each.stop.number for each in store.state.kept.stops]


def reading(path: str | None, value: str = "1", **more: Any) -> Reading:
    values: dict[str, Any] = {
        "of": "value",
        "thread_id": 1,
        "frame_index": 0,
        "scope": None,
        "path": path,
        "start": 0,
        "variables": (local(path or "x", value),),
        "total": 1,
    }
    return Reading(**{**values, **more})


def read(store: Store, what: Reading) -> None:
    store.merge(VariablesRead("s-1", store["s-1"].generation, what))


# --- What is kept -----------------------------------------------------------------------------------------------------


def test_a_stop_is_kept_with_its_stack_and_threads_when_the_program_has_resumed() -> None:
    store = Store("s-1")
    store.stop(line=4, locals=locals_of(x="1"))
    shown = store["s-1"].stack
    store.resume()
    (kept,) = store.state.kept.stops
    assert (kept.stop.number, kept.session_id, kept.process_name) == (1, "s-1", "app.py")
    assert kept.stack is shown  # shared with the snapshot, not copied
    assert kept.threads.threads == (Thread(1, "MainThread", location=place(4)),)
    assert not kept.stack.stale
    assert store.state.kept.find(1) is kept
    assert store.state.kept.find(2) is store.state.kept.find(0) is None


def test_locals_that_come_later_or_are_read_again_replace_those_of_before() -> None:
    store = Store("s-1")
    store.stop()
    (first,) = store.state.kept.stops
    assert first.stack.locals is None
    generation = store["s-1"].generation
    store.fetched(generation)
    (second,) = store.state.kept.stops
    assert second.stack.locals is not None
    assert (second.revision, second.size > first.size) == (2, True)
    store.merge(LocalsFetched("s-1", generation, locals_of(x="2")))
    (third,) = store.state.kept.stops
    assert third.stack.locals == locals_of(x="2")
    assert store.state.kept.size == third.size
    store.resume()
    store.merge(LocalsFetched("s-1", generation, locals_of(x="3")))  # too late: it is not of that stop
    assert store.state.kept.stops == (third,)


def test_places_of_threads_that_come_later_are_kept_with_their_stop() -> None:
    store = Store("s-1")
    store.stop(threads=(Thread(1, "MainThread"), Thread(2, "worker")))
    store.merge(ThreadsLocated("s-1", store["s-1"].generation, ((2, place(9)),)))
    (kept,) = store.state.kept.stops
    assert [each.location for each in kept.threads.threads] == [place(1), place(9)]
    assert kept.revision == 2


def test_of_very_many_threads_the_first_are_kept_and_all_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_stops, "MAX_THREADS", 2)
    store = Store("s-1")
    store.stop(threads=tuple(Thread(number, f"t{number}") for number in (1, 2, 3)))
    (kept,) = store.state.kept.stops
    assert (len(kept.threads.threads), kept.total_threads) == (2, 3)
    store.fetched(store["s-1"].generation)
    (kept,) = store.state.kept.stops
    assert (len(kept.threads.threads), kept.total_threads) == (2, 3)


def test_what_clients_read_at_a_stop_is_kept_with_it_and_the_same_question_once() -> None:
    store = Store("s-1")
    store.stop()
    read(store, reading("len(x)"))
    read(store, reading(None, of="variables", frame_index=1, scope="locals"))
    read(store, reading("len(x)", "2"))
    (kept,) = store.state.kept.stops
    assert [(each.path, each.variables[0].value) for each in kept.readings] == [(None, "1"), ("len(x)", "2")]
    assert (kept.revision, kept.unkept) == (4, 0)
    assert kept.size == store.state.kept.size
    late = VariablesRead("s-1", store["s-1"].generation, reading("y"))
    store.resume()
    store.merge(late)  # what it was asked may have been answered by the running program
    assert store.state.kept.stops == (kept,)


def test_readings_are_bounded_in_number_and_bytes_and_those_without_room_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_stops, "MAX_READINGS", 3)
    monkeypatch.setattr(kept_stops, "MAX_READ_BYTES", 5000)
    store = Store("s-1")
    store.stop()
    read(store, reading("large", "x" * 5000))
    for name in "abcd":
        read(store, reading(name))
    (kept,) = store.state.kept.stops
    assert ([each.path for each in kept.readings], kept.unkept) == (["a", "b", "c"], 2)
    monkeypatch.setattr(kept_stops, "MAX_READINGS", 50)
    read(store, reading("d", "x" * 2500))
    read(store, reading("e", "x" * 2500))  # each has room, both have not
    (kept,) = store.state.kept.stops
    assert ([each.path for each in kept.readings], kept.unkept) == (["a", "b", "c", "d"], 3)
    read(store, reading("a", "x" * 5000))  # the answer of before is no longer what was read last
    (kept,) = store.state.kept.stops
    assert ([each.path for each in kept.readings], kept.unkept) == (["b", "c", "d"], 4)


def test_stops_of_all_sessions_are_kept_in_one_order_and_outlive_their_sessions() -> None:
    store = Store("s-1", "s-2")
    stop(store, "s-1", x="1")
    stop(store, "s-2", x="2")
    stop(store, "s-1", x="3")
    for session_id in ("s-1", "s-2"):
        store.merge(SessionClosed(session_id, "done"))
    store.open("s-3")
    stop(store, "s-3", x="4")
    assert [(each.stop.number, each.session_id) for each in store.state.kept.stops] == [
        (1, "s-1"), (2, "s-2"), (3, "s-1"), (4, "s-3"),
    ]  # fmt: skip
    assert [each.stop.number for each in stops_of(store.state.kept, "s-1")] == [1, 3]
    with pytest.raises(UsageError, match="Sessions with stops: s-1, s-2, s-3"):
        stops_of(store.state.kept, "s-9")


# --- What has changed -------------------------------------------------------------------------------------------------


def test_locals_are_compared_with_the_stop_before_of_the_same_call() -> None:
    store = Store("s-1")
    stop(store, x="1", y="1")
    inner = stop(store, at_frames=(frame(9, "inner"), frame(2)), at_total_frames=2, x="7")
    assert (inner.compared_with, inner.changed) == (None, ())
    back = stop(store, x="2", y="1", z="0")
    assert (back.compared_with, back.changed) == (1, (("x", "1"), ("z", None)))
    again = stop(store, at_frames=(frame(9, "inner"), frame(2)), at_total_frames=2, x="8")
    assert again.compared_with is None  # its caller was seen meanwhile: it is another call


def test_other_sessions_and_threads_are_passed_over_in_the_comparison() -> None:
    store = Store("s-1", "s-2")
    stop(store, x="1")
    stop(store, "s-2", x="5")
    store.stop("s-1", thread=2, locals=locals_of(x="6"))
    kept = stop(store, x="2")
    assert (kept.compared_with, kept.changed) == (1, (("x", "1"),))


def test_another_function_at_the_same_depth_ends_the_call() -> None:
    store = Store("s-1")
    stop(store, x="1")
    stop(store, at_frames=(frame(3, "other"),), x="1")
    assert stop(store, x="2").compared_with is None


def test_a_local_that_may_have_been_behind_the_cut_is_not_called_new() -> None:
    store = Store("s-1")
    stop(store, total=101, x="1")
    kept = stop(store, total=101, x="2", y="1")
    assert kept.changed == (("x", "1"),)


def test_another_type_with_the_same_text_is_a_change() -> None:
    store = Store("s-1")
    store.stop(locals=Locals((), (local("x", "1"),), 1))
    store.stop(locals=Locals((), (local("x", "1", "float"),), 1))
    assert store.state.kept.stops[-1].changed == (("x", "1"),)


# --- Bounds -----------------------------------------------------------------------------------------------------------


def test_the_last_two_hundred_stops_are_kept_and_what_is_dropped_is_counted() -> None:
    store = Store("s-1")
    for number in range(1, 501):
        stop(store, n=str(number))
    kept = store.state.kept
    assert (len(kept.stops), kept.first, kept.last, kept.dropped) == (200, 301, 500, 300)
    for number in range(301, 501):
        found = kept_stop(kept, number)
        assert found.stop.number == number
        assert found.stack.locals == locals_of(n=str(number))
    assert kept.size == sum(each.size for each in kept.stops)
    with pytest.raises(UsageError) as caught:
        kept_stop(kept, 300)
    assert "those from 301 to 500 are" in caught.value.message
    assert caught.value.details == {"first": 301, "last": 500, "dropped": 300}
    with pytest.raises(UsageError, match="the last one is stop 500"):
        kept_stop(kept, 501)
    with pytest.raises(UsageError, match="not been a stop yet"):
        kept_stop(KeptStops(), 1)


def test_large_stops_make_the_oldest_go_and_what_is_left_is_within_the_bound() -> None:
    store = Store("s-1")
    for number in range(60):
        store.stop(locals=locals_of(None, **{f"v{each}": f"{number:04}" * 500 for each in range(100)}))
    kept = store.state.kept
    assert kept.size <= kept_stops.MAX_BYTES < kept.size + kept.stops[0].size
    assert 15 < len(kept.stops) < 60
    assert kept.first == 61 - len(kept.stops)


def test_a_stop_that_alone_is_too_large_is_not_kept_and_said_so() -> None:
    store = Store("s-1")
    stop(store, x="1")
    store.stop(locals=locals_of(x="y" * 9_000_000))
    kept = store.state.kept
    assert (kept.stops, kept.first, kept.last, kept.dropped, kept.size) == ((), 3, 2, 2, 0)
    assert kept.find(2) is None
    with pytest.raises(UsageError, match="none is, so large are they"):
        kept_stop(kept, 2)
    assert stop(store, x="1").stop.number == 3


def test_a_text_is_counted_once_for_all_stops_that_are_in_it_and_goes_with_the_last_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_stops, "MAX_STOPS", 3)
    old, new = SourceText(APP, "v1", "x = 1\n" * 100), SourceText(APP, "v2", "x = 2\n" * 200)
    store = Store("s-1")
    sizes = []
    for text in (old, old, new, new, new):
        store.stop(sources=(text,))
        kept = store.state.kept
        used = {id(each): each for one in kept.stops for each in one.sources}
        assert kept.size == sum(each.size for each in kept.stops) + sum(map(source_bytes, used.values()))
        sizes.append(kept.size)
    assert [each.sources[0].version for each in kept.stops] == ["v2", "v2", "v2"]
    assert dict(kept.users) == {new: 3}
    assert sizes[3] > sizes[1]


def memory(value: object, seen: set[int]) -> int:
    """What a value really takes, with all that is in it, each object once."""
    if id(value) in seen or value is None or isinstance(value, bool):
        return 0
    seen.add(id(value))
    size = getsizeof(value)
    if isinstance(value, Struct):
        return size + sum(memory(getattr(value, each), seen) for each in value.__struct_fields__)
    if isinstance(value, tuple | list):
        return size + sum(memory(each, seen) for each in value)
    return size


def test_the_counted_size_is_what_a_stop_takes_in_memory() -> None:
    store = Store("s-1")
    decode = msgspec.json.Decoder(Variable).decode
    for number in range(2):
        own = tuple(
            decode(msgspec.json.encode(local(f"name_{each}", f"{number} " + "żółć" * 40, "builtins.str")))
            for each in range(60)
        )
        frames = tuple(frame(line, f"function_{line}", f"/src/{line}.py") for line in range(20))
        raised = ExceptionInfo("ValueError", "m" * 300, "always")
        store.stop(locals=Locals((), own, 60), frames=frames, total_frames=20, exception=raised)
        read(store, reading("all", of="variables", variables=own[:30], total=30))
    kept = store.state.kept.stops[-1]
    taken = memory(kept, set())
    assert kept.changed
    assert 0.8 * taken < kept.size < 1.8 * taken
