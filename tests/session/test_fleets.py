"""Many processes looked at together, on scripted adapters: what each says of itself, and what became of those gone."""

import gc
from functools import partial
from pathlib import Path
from typing import Any

import trio
from trio.testing import MockClock

from tests.server.scene import SESSION, failure
from tests.session.test_children import adopt
from tests.session.test_guests import listening
from trio_debugmcp.session.breakpoints.breakpoint_syncs import EACH_SECONDS
from trio_debugmcp.state.model import State
from trio_debugmcp.testing import FakeAdapter


def stacks(
    rank: int, function: str = "all_reduce", line: int = 88, *, used: float = 0.0, **more: Any
) -> dict[str, dict[str, Any]]:
    """What a probe answers in a process that is in this function."""
    frames = [
        {"index": 0, "file": "/job/dist.py", "line": line, "function": function},
        {"index": 1, "file": "/job/train.py", "line": 40, "function": "<module>"},
    ]
    thread = {"id": 1, "name": "MainThread", "state": "waiting", "frames": frames, "total": 2}
    marks = {"variables": {"RANK": str(rank), "WORLD_SIZE": "4"}, "host": "a1"}
    return {
        "stacks": {"stacks": [thread], "total": 1, "marks": marks, "used": {"processor": 1.0, "at": 5.0}, **more},
        "used": {"processor": 1.0 + used, "at": 6.0},
    }


async def dial_in(door: FakeAdapter, *probes: dict[str, dict[str, Any]]) -> list[FakeAdapter]:
    """Programs that dial in, whose probes answer so."""
    workers = [FakeAdapter() for _ in probes]
    for worker, probe in zip(workers, probes, strict=True):
        worker.probe = probe
        await adopt(door, worker, lasting=True, guest=1)
    return workers


async def test_one_call_names_the_rank_that_is_elsewhere_the_one_that_computes_and_the_one_that_died(
    autojump_clock: MockClock,
) -> None:
    async with listening(probed=True) as (client, door, _):
        odd = stacks(3, "load_batch", 31, used=0.97)
        workers = await dial_in(door, *map(stacks, range(3)), odd, stacks(4))
        await client.call("fleet_state")
        await workers[4].exit(-9)
        await trio.sleep(10)
        answer = await client.call("fleet_state")
        assert answer == {
            "processes": "4 running; 1 ended",
            "missing": [
                (
                    "3 of 5 ranks are in all_reduce /job/dist.py:88; rank 3-4 are not in it: "
                    "3 in load_batch /job/dist.py:31; 4 killed by SIGKILL"
                )
            ],
            "classes": [
                "1 in load_batch /job/dist.py:31 (rank 3: s-5)",
                "3 in all_reduce /job/dist.py:88 (rank 0-2)",
            ],
            "ended": ["1 killed by SIGKILL (rank 4: s-6)"],
            "processor": ["1 busy (rank 3: s-5)", "3 without processor time"],
            "since": answer["since"],
            "tree": [
                "4 <module> /job/train.py:40",
                " 1 load_batch /job/dist.py:31",
                " 3 all_reduce /job/dist.py:88",
            ],
        }
        assert "4 in the same place" in answer["since"]


async def test_labels_are_in_every_list_of_sessions_and_in_stops(autojump_clock: MockClock) -> None:
    async with listening(probed=True) as (client, door, _):
        [worker, _] = await dial_in(door, stacks(0), stacks(1))
        await client.call("fleet_state")
        lines = (await client.call("debug_state", session_id="s-1"))["sessions"]
        assert lines[1].startswith("s-2 rank 0 ")
        await worker.stop("breakpoint", hit=[1])
        stop = await client.call("debug_wait")
        assert (stop["session"], stop["labels"]) == ("s-2", "rank 0")
        session = await client.read(SESSION)
        assert session["labels"] == {"rank": "0", "world_size": "4", "host": "a1"}
        listed = (await client.read("debugger://sessions"))["sessions"]
        assert [each.get("labels", {}).get("rank") for each in listed] == [None, "0", "1"]


async def test_a_deadlock_within_a_process_is_named_with_its_rank(autojump_clock: MockClock) -> None:
    async with listening(probed=True) as (client, door, _):
        blocked = stacks(1, deadlocks=[{"threads": [1, 2], "sure": True}])
        await dial_in(door, stacks(0), blocked)
        answer = await client.call("fleet_state")
        assert answer["deadlocks"] == ["1 (rank 1: s-3): deadlock: threads 1, 2 wait for each other"]


async def test_one_that_cannot_be_asked_is_counted_with_the_reason(autojump_clock: MockClock) -> None:
    async with listening(probed=True) as (client, door, _):
        await dial_in(door, stacks(0), {"stacks": {"stacks": "broken"}})
        answer = await client.call("fleet_state")
        assert answer["processes"] == "2 running"
        [note] = answer["notes"]
        assert note.startswith("1 (s-3): stacks not known: ")


async def test_a_breakpoint_is_set_in_those_that_answer_and_the_silent_ones_are_named(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    (file := tmp_path / "data.py").write_text("x = 1\n")
    async with listening(probed=True) as (client, door, _):
        workers = await dial_in(door, *map(stacks, range(9)))
        await client.call("fleet_state")
        for worker in workers[2:]:
            worker.withhold("setBreakpoints")
        answer = await client.call("breakpoint_set", file=str(file), line=1)
        assert answer["notes"] == ["7 did not answer and may not have it (rank 2-8)"]
        assert "state" not in answer
        assert all(worker.sent("setBreakpoints") for worker in workers[:2])
        again = await client.call("breakpoint_enable", id=answer["id"], enabled=False)
        assert again["notes"] == ["7 did not answer and may not have it (rank 2-8)"]
        removed = await client.call("breakpoint_remove", id=answer["id"])
        assert removed == {
            "removed": [answer["id"]],
            "notes": ["7 did not answer and may still have it (rank 2-8)"],
        }
        assert not any(each.startswith(answer["id"]) for each in (await client.call("breakpoint_list"))["breakpoints"])


async def test_breakpoints_that_each_process_keeps_without_an_answer_are_removed_and_all_are_named(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    (file := tmp_path / "data.py").write_text("x = 1\n")
    async with listening(probed=True) as (client, door, _):
        workers = await dial_in(door, stacks(0), stacks(1))
        for line in (1, 2):
            await client.call("breakpoint_set", file=str(file), line=line)
        for worker in workers:
            worker.withhold("setBreakpoints")
        removed = await client.call("breakpoint_remove", id="*")
        assert removed["notes"] == ["2 did not answer and may still have them (s-2, s-3)"]


async def test_a_process_that_is_busy_with_an_earlier_change_holds_up_the_next_one_no_longer_than_one_that_is_silent(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    (file := tmp_path / "data.py").write_text("x = 1\n")
    async with listening(probed=True) as (client, door, _):
        [_, silent] = await dial_in(door, stacks(0), stacks(1))
        silent.withhold("setBreakpoints")
        took = list[float]()

        async def change(tool: str, **arguments: Any) -> None:
            began = trio.current_time()
            answer = await client.call(tool, **arguments)
            took.append(trio.current_time() - began)
            assert answer["notes"] == ["1 did not answer and may not have it (s-3)"]

        async with trio.open_nursery() as nursery:
            for line in (1, 2, 3):
                nursery.start_soon(partial(change, "breakpoint_set", file=str(file), line=line))
        assert max(took) < EACH_SECONDS + 1


async def test_a_breakpoint_that_none_takes_in_time_is_an_error(autojump_clock: MockClock, tmp_path: Path) -> None:
    (file := tmp_path / "data.py").write_text("x = 1\n")
    async with listening(probed=True) as (client, door, _):
        for worker in await dial_in(door, stacks(0), stacks(1)):
            worker.withhold("setBreakpoints")
        assert (await failure(client, "breakpoint_set", file=str(file), line=1)).code == "TIMEOUT"


async def test_a_process_that_answers_late_has_the_breakpoint_then(autojump_clock: MockClock, tmp_path: Path) -> None:
    (file := tmp_path / "data.py").write_text("x = 1\n")
    async with listening(probed=True) as (client, door, _):
        [_, slow] = await dial_in(door, stacks(0), stacks(1))
        usual = slow.answer_to("setBreakpoints")

        async def late(arguments: dict[str, Any]) -> Any:
            await trio.sleep(25)
            return await usual(arguments)

        slow.answer("setBreakpoints", late)
        answer = await client.call("breakpoint_set", file=str(file), line=1)
        assert answer["notes"] == ["1 did not answer and may not have it (s-3)"]
        slow.restore("setBreakpoints")
        await trio.sleep(10)
        assert [each["source"]["path"] for each in slow.sent("setBreakpoints")].count(str(file)) == 1
        await trio.sleep(20)
        sent = [each["source"]["path"] for each in slow.sent("setBreakpoints")]
        assert sent.count(str(file)) == 2  # once more, whose answer is waited for


async def test_without_any_process_there_is_nothing_to_tell(autojump_clock: MockClock) -> None:
    async with listening(probed=True) as (client, _, _):
        assert await client.call("fleet_state") == {"processes": "none there"}


async def test_sessions_to_which_nothing_happens_do_not_keep_the_states_in_which_that_began(
    autojump_clock: MockClock,
) -> None:
    async with listening(probed=True) as (_, door, _):
        await dial_in(door, *map(stacks, range(12)))
        await trio.sleep(10)
        gc.collect()
        kept = {id(each.snapshots) for each in gc.get_objects() if isinstance(each, State) and each.snapshots}
        assert len(kept) < 5


async def test_of_many_sessions_the_state_shows_twenty_the_stopped_ones_first(autojump_clock: MockClock) -> None:
    async with listening(probed=True) as (client, door, _):
        workers = await dial_in(door, *map(stacks, range(25)))
        await workers[24].stop("breakpoint", hit=[1])
        await client.call("debug_wait")
        state = await client.call("debug_state", session_id="s-1")
        assert len(state["sessions"]) == 20
        assert state["sessions"][0].startswith("s-26 ")
        assert state["omitted"]["sessions"] == 6
        assert "fleet_state has all processes" in state["notes"]
