"""Recorded runs are kept within bounds, and their files go with the server."""

import os
from collections.abc import AsyncIterator
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from tests.session.test_block_indexing import add_block
from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.profiles.starts import RunRecording
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session import run_room
from trio_debugmcp.session.block_indexing import LOOK_SECONDS
from trio_debugmcp.session.event_ring import Timeline
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.run_directories import RunDirectories
from trio_debugmcp.session.run_room import MAX_KEPT_MB, MAX_RUNS
from trio_debugmcp.session.run_store import RunStore


class _NoListener:
    def resources_updated(self, *uris: AbstractSet[str]) -> None: ...

    def list_changed(self) -> None: ...


@asynccontextmanager
async def opened() -> AsyncIterator[RunStore]:
    clock = Clock()
    merger = Merger(_NoListener(), Timeline(clock))
    async with trio.open_nursery() as nursery:
        await nursery.start(merger.run)
        store = RunStore(merger, clock, Host())
        try:
            yield store
        finally:
            store.close()
            nursery.cancel_scope.cancel()


async def record(store: RunStore, session_id: str, size: int = 0, *, max_mb: int = 1) -> Path:
    """Record a run to its end; return where its files are."""
    recording = store.planned(session_id, "shop.py", RunRecording(root="/src", max_mb=max_mb))
    await store.begin(session_id)
    place = Path(recording.directory)
    (place / "p-1-1").mkdir()
    (place / "p-1-1" / "rows").write_bytes(b"x" * size)
    await store.end(session_id)
    return place


def ids(store: RunStore) -> list[str]:
    return [run.id for run in store.runs]


async def test_the_last_runs_are_kept_and_the_files_of_others_go() -> None:
    async with opened() as store:
        places = [await record(store, f"s-{number}", 100) for number in range(MAX_RUNS + 2)]
        assert ids(store) == [f"run-{number}" for number in range(3, MAX_RUNS + 3)]
        assert [place.is_dir() for place in places] == [False, False] + [True] * MAX_RUNS
        assert {run.size for run in store.runs} == {100}
        with pytest.raises(UsageError, match=r"no run 'run-1'\. Runs: run-3, ") as caught:
            store.run("run-1")
        assert caught.value.code == "RUN_NOT_FOUND"
        assert store.run().id == "run-10", "the last one"
        assert store.run("4").id == "run-4"
    assert not any(place.exists() for place in places)


async def test_runs_make_room_by_what_they_take_and_by_what_the_next_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_room, "MAX_KEPT_MB", 3)
    async with opened() as store:
        for number in range(3):
            await record(store, f"s-{number}", 900_000)
        assert ids(store) == ["run-1", "run-2", "run-3"]
        await record(store, "s-4", max_mb=2)
        assert ids(store) == ["run-3", "run-4"]


async def test_the_indexes_beside_the_blocks_of_a_run_are_a_part_of_what_it_takes(autojump_clock: MockClock) -> None:
    async with opened() as store, trio.open_nursery() as nursery:
        directory = await record(store, "s-1", 1000)
        add_block(directory / "p-1-1", 0)
        (block,) = (directory / "p-1-1").glob("*.z")
        nursery.start_soon(store.indexing.run)
        while store.run().size == 1000:
            await trio.sleep(LOOK_SECONDS)
        index = block.with_suffix(".index").stat().st_size
        assert index > 0
        assert store.run().size == store.directories.size("run-1") == 1000 + block.stat().st_size + index
        nursery.cancel_scope.cancel()


async def test_a_run_that_is_being_recorded_is_not_dropped_and_too_many_are_refused() -> None:
    async with opened() as store:
        wanted = RunRecording(root="/src", max_mb=MAX_KEPT_MB // 2)
        for session_id in ("s-1", "s-2"):
            store.planned(session_id, "shop.py", wanted)
            await store.begin(session_id)
        with pytest.raises(UsageError, match=r"sessions s-1, s-2.*debug_disconnect, or pass a smaller max_mb"):
            store.planned("s-3", "shop.py", wanted)
        await store.end("s-1")
        store.planned("s-3", "shop.py", wanted)
        await store.begin("s-3")
        assert ids(store) == ["run-1", "run-2", "run-3"], "what has taken no room need not go"


async def test_a_start_that_fails_leaves_no_run_and_no_files() -> None:
    async with opened() as store:
        place = Path(store.planned("s-1", "shop.py", RunRecording(root="/src")).directory)
        await store.begin("s-1")
        assert place.stat().st_mode & 0o777 == 0o700
        await store.end("s-1", discard=True)
        assert (ids(store), place.exists()) == ([], False)
        store.planned("s-2", "shop.py", RunRecording(root="/src"))
        await store.end("s-2", discard=True)  # before it began
        assert store.planned("s-3", "shop.py", RunRecording(root="/src")).directory.endswith("/run-3")


def test_what_a_server_that_was_killed_has_left_goes_and_what_a_living_one_has_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    living, next_one = RunDirectories(), RunDirectories()
    kept = Path(living.home())
    killed = tmp_path / "trio_debugmcp-runs-killed"
    (killed / "run-1").mkdir(parents=True)
    (killed / "lock").touch()
    strange = tmp_path / "trio_debugmcp-runs-without-a-lock"
    strange.mkdir()
    own = Path(next_one.home())
    assert sorted(os.listdir(tmp_path)) == sorted(place.name for place in (kept, strange, own))
    living.close()
    next_one.close()
    assert os.listdir(tmp_path) == [strange.name]
