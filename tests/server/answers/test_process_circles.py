"""Processes that wait for each other in pipes, for each other's end, or for locks: which can never resume."""

from typing import Any

import pytest
from msgspec.structs import replace

from trio_debugmcp.probe.answers import BlockedProcess, BlockedThread, PipeEnds, SharedLock, SharedWaiter
from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow
from trio_debugmcp.server.answers.fleet.process_circles import BlockedUse, pipe_questions, process_circles
from trio_debugmcp.session.looking.by_probe.live_threads import LiveThread

NAMES = {1: "MainThread", 2: "feeder"}


def use(rank: int, *waits: tuple[Any, str], runs: int = 3, others: int = 0, locks: tuple[SharedLock, ...] = ()) -> Any:
    threads = tuple(BlockedThread(number, how, of, runs) for number, (how, of) in enumerate(waits, 1))
    live = {number: LiveThread(number, name, "waiting", waits="a lock") for number, name in NAMES.items()}
    process = ProcessNow(f"s-{rank + 2}", {"rank": str(rank)})
    return BlockedUse(process, "here", locks, live, blocked=BlockedProcess(100 + rank, threads, others))


def ends(readers: list[int], writers: list[int]) -> PipeEnds:
    return PipeEnds(tuple(100 + rank for rank in readers), tuple(100 + rank for rank in writers))


def lines(uses: list[BlockedUse], **pipes: PipeEnds) -> list[str]:
    return [about.line for about in process_circles(uses, {"here": pipes}).values()]


JOINED = [use(0, ("end", "101")), use(1, ("thread", ""), ("write", "p"))]


def test_a_parent_that_waits_for_the_end_of_a_child_whose_result_it_does_not_read_is_a_deadlock() -> None:
    assert lines(JOINED, p=ends([0, 1], [0, 1])) == [
        (
            "deadlock: rank 0: s-2 waits for the end of rank 1: s-3; "
            "rank 1: s-3 (thread 2 feeder) waits to write to a full pipe that only rank 0: s-2 and itself can read"
        )
    ]


def test_two_that_read_what_only_the_other_one_can_write_are_a_deadlock() -> None:
    uses = [use(0, ("read", "p")), use(1, ("read", "q"))]
    assert lines(uses, p=ends([0], [1]), q=ends([1], [0])) == [
        (
            "deadlock: rank 0: s-2 waits to read from an empty pipe that only rank 1: s-3 can write to; "
            "rank 1: s-3 waits to read from an empty pipe that only rank 0: s-2 can write to"
        )
    ]


def test_two_that_read_from_the_two_ends_of_one_socket_are_a_deadlock() -> None:
    uses = [use(0, ("read", "socket:[1]")), use(1, ("write", "socket:[2]"))]
    both = ends([0, 1], [0, 1])
    assert lines(uses, **{"socket:[1]": both, "socket:[2]": both}) == [
        (
            "deadlock: "
            "rank 0: s-2 waits to read from an empty socket of which only rank 1: s-3 and itself have an end; "
            "rank 1: s-3 waits to write to a full socket of which only rank 0: s-2 and itself have an end"
        )
    ]


@pytest.mark.parametrize(
    "pipes",
    [
        pytest.param({"p": ends([0, 7], [1])}, id="another process may read it"),
        pytest.param({"p": ends([0, 2], [1])}, id="a process reads it that runs"),
        pytest.param({"p": ends([], [1])}, id="none is seen that reads it"),
        pytest.param({}, id="it is not known who reads it"),
    ],
)
def test_nothing_is_said_where_something_else_may_read_the_pipe(pipes: dict[str, PipeEnds]) -> None:
    assert lines([*JOINED, use(2, others=1)], **pipes) == []


def test_a_process_of_which_one_thread_may_resume_is_in_no_circle() -> None:
    uses = [use(0, ("end", "101"), others=1), JOINED[1]]
    assert lines(uses, p=ends([0], [1])) == []
    assert lines([use(0, ("end", "105")), JOINED[1]], p=ends([0], [1])) == []


def test_processes_of_another_machine_have_other_ids() -> None:
    there = BlockedUse(JOINED[1].process, "there", (), {}, blocked=JOINED[1].blocked)
    assert lines([JOINED[0], there], p=ends([0], [1])) == []
    assert pipe_questions([JOINED[0], there]) == []


def test_a_parent_that_waits_for_the_end_of_a_child_which_waits_for_its_lock_of_a_file_is_a_deadlock() -> None:
    name = "lock:[FLOCK ADVISORY WRITE 100 fe:00:57 0 EOF] /run/app.lock"
    uses = [JOINED[0], use(1, ("file", name))]
    waits = "rank 1: s-3 waits for the lock of /run/app.lock, which"
    start = f"deadlock: rank 0: s-2 waits for the end of rank 1: s-3; {waits}"
    assert pipe_questions(uses)[0].pipes == [name]
    assert lines(uses, **{name: ends([0], [0])}) == [f"{start} rank 0: s-2 has"]
    assert lines(uses, **{name: ends([0, 1], [0, 1])}) == [f"{start} rank 0: s-2 and itself have"]
    assert lines(uses, **{name: ends([0, 7], [0, 7])}) == []  # another process may release it
    assert lines(uses) == []


def lock(count: int, *, wanted: bool = False) -> tuple[SharedLock]:
    return (SharedLock("a", count, True, (), (SharedWaiter(1),) if wanted else ()),)


def test_those_that_wait_for_the_lock_of_one_that_is_blocked_are_a_part_of_the_circle() -> None:
    waiting = use(2, ("lock", ""), locks=lock(0, wanted=True))
    uses = [waiting, JOINED[0], use(1, ("write", "p"), locks=lock(1))]
    [line] = lines(uses, p=ends([0, 2], [1]))
    assert line.endswith("; rank 2: s-4 waits for a lock, which rank 1: s-3 has")
    assert lines([waiting, JOINED[0], use(1, ("write", "p"))], p=ends([0, 2], [1])) == []


def test_nothing_is_said_of_a_lock_that_a_process_may_have_which_does_not_list_all_of_its_own() -> None:
    waiting = use(2, ("lock", ""), locks=lock(0, wanted=True))
    many = use(3, others=1)
    uses = [waiting, JOINED[0], use(1, ("write", "p"), locks=lock(1))]
    assert lines([*uses, many], p=ends([0, 2], [1])) != []
    assert lines([*uses, replace(many, omitted=20)], p=ends([0, 2], [1])) == []


def test_a_circle_of_locks_only_is_not_said_a_second_time() -> None:
    held = SharedLock("b", 1)
    uses = [
        use(0, ("lock", ""), locks=(*lock(0, wanted=True), held)),
        use(1, ("lock", ""), locks=(*lock(1), SharedLock("b", 0, True, (), (SharedWaiter(1),)))),
    ]
    assert lines(uses) == []


def test_of_a_large_circle_the_first_waits_are_said_and_the_others_counted() -> None:
    uses = [use(rank, ("read", f"p{rank}")) for rank in range(6)]
    pipes = {f"p{rank}": ends([rank], [(rank + 1) % 6]) for rank in range(6)}
    [line] = lines(uses, **pipes)
    assert line.count(" waits to read ") == 4
    assert line.endswith("; and 2 more")


def test_a_thread_that_has_run_between_two_looks_makes_another_circle() -> None:
    pipes = {"here": {"p": ends([0], [1])}}
    first, same = process_circles(JOINED, pipes), process_circles(JOINED, pipes)
    moved = process_circles([JOINED[0], use(1, ("thread", ""), ("write", "p"), runs=4)], pipes)
    assert first.keys() == same.keys()
    assert len(moved) == 1
    assert first.keys() != moved.keys()


def test_who_has_the_ends_is_asked_only_where_there_may_be_a_circle() -> None:
    [asked] = pipe_questions(JOINED)
    assert (asked.session_id, asked.machine, asked.pipes, asked.among) == ("s-2", "here", ["p"], [100, 101])
    assert pipe_questions([use(0, ("end", "101"), others=1), JOINED[1]]) == []
    assert pipe_questions([use(0, ("end", "105")), JOINED[1]]) == []
    assert pipe_questions([use(0, ("end", "101")), use(1, ("lock", ""))]) == []
