"""Locks that processes share: who waits for whom over processes, and who has what others wait for."""

from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.probe.answers import ProbePlace, SharedLock, SharedTaker, SharedWaiter
from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow
from trio_debugmcp.server.answers.fleet.shared_waits import LockUse, SharedWaits, shared_waits
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.looking.by_probe.live_threads import LiveThread

PLACES = Places("/job")


def taken(lock: str, count: int = 1, *, line: int = 3, by_call: bool = False, single: bool = True) -> SharedLock:
    taker = SharedTaker(1, ProbePlace("/job/work.py", line, "work"), by_call)
    return SharedLock(lock, count, single, (taker,) if count > 0 else ())


def wanted(lock: str, *, timed: bool = False, thread: int = 1, single: bool = True) -> SharedLock:
    return SharedLock(lock, 0, single, (), (SharedWaiter(thread, timed),))


def use(rank: int, *locks: SharedLock, machine: str = "here", threads: Sequence[LiveThread] = ()) -> LockUse:
    waits = next((lock.id for lock in locks if lock.waiters), None)
    main = LiveThread(1, "MainThread", "waiting", None, waits, "lock")
    process = ProcessNow(f"s-{rank + 2}", {"rank": str(rank)})
    return LockUse(process, machine, locks, {each.id: each for each in (main, *threads)})


def lines(found: SharedWaits) -> tuple[list[str], list[str], list[str]]:
    circles, held, orphans = (
        [about.line for about in each.values()] for each in (found.circles, found.held, found.orphans)
    )
    return circles, held, orphans


def test_processes_that_wait_for_each_other_are_a_deadlock_with_what_each_waits_for() -> None:
    uses = [
        use(0, taken("a", line=5), wanted("b")),
        use(1, taken("b", line=8), wanted("c")),
        use(2, taken("c", line=9), wanted("a")),
    ]
    assert lines(shared_waits(PLACES, uses)) == (
        [
            (
                "deadlock: rank 0: s-2 waits for b, which rank 1 has, in work work.py:8; "
                "rank 1: s-3 waits for c, which rank 2 has, in work work.py:9; "
                "rank 2: s-4 waits for a, which rank 0 has, in work work.py:5"
            )
        ],
        [],
        [],
    )


def test_a_circle_that_may_end_is_said_to_be_one_that_may_end() -> None:
    timed = [use(0, taken("a"), wanted("b", timed=True)), use(1, taken("b"), wanted("a"))]
    [circle] = shared_waits(PLACES, timed).circles.values()
    assert circle.line.startswith("wait for each other, until a timeout: rank 0: s-2 waits for b")
    for loose in (taken("b", by_call=True), taken("b", single=False)):
        [circle] = shared_waits(PLACES, [use(0, taken("a"), wanted("b")), use(1, loose, wanted("a"))]).circles.values()
        assert circle.line.startswith("deadlock, unless something else releases a lock: rank 0")


def test_a_thread_within_a_process_can_be_a_part_of_the_circle() -> None:
    inner = LiveThread(7, "feeder", "waiting", None, "inner, held by thread 1 MainThread", "lock", holder=1)
    by_feeder = SharedLock("a", 1, True, (SharedTaker(7, ProbePlace("/job/work.py", 4, "feed")),))
    uses = [use(0, by_feeder, wanted("b"), threads=[inner]), use(1, taken("b"), wanted("a"))]
    [circle] = shared_waits(PLACES, uses).circles.values()
    assert "; rank 1: s-3 waits for a, which rank 0 has, in feed work.py:4; " in circle.line
    assert circle.line.endswith("rank 0: s-2 (thread 7 feeder) waits for inner, held by thread 1 MainThread")
    assert circle.sessions == {"s-2", "s-3"}


def test_of_a_lock_that_a_process_may_have_which_does_not_list_all_of_its_own_nothing_more_is_said() -> None:
    many = replace(use(1, taken("z")), omitted=20)
    assert lines(shared_waits(PLACES, [use(0, wanted("a")), many])) == (
        [],
        ["1 (rank 0: s-2) waits for a: who has it is not known, as 20 locks of rank 1: s-3 are not listed"],
        [],
    )
    [circle] = shared_waits(PLACES, [use(0, taken("a"), wanted("b")), use(2, taken("b"), wanted("a"))]).circles.values()
    assert circle.line.startswith("deadlock: ")
    found = shared_waits(PLACES, [use(0, taken("a"), wanted("b")), use(2, taken("b"), wanted("a")), many])
    assert not found.circles
    assert all(" may have" in each.line for each in found.held.values())
    elsewhere = replace(many, machine="there")
    assert shared_waits(PLACES, [use(0, wanted("a")), elsewhere]).orphans


def test_who_has_the_lock_that_others_wait_for_is_said() -> None:
    uses = [use(0, taken("a", line=12)), *(use(rank, wanted("a")) for rank in range(1, 8))]
    assert lines(shared_waits(PLACES, uses)) == (
        [],
        ["7 (rank 1-7) wait for a, which rank 0: s-2 has, in work work.py:12"],
        [],
    )


def test_those_that_wait_beside_a_deadlock_are_said_with_it() -> None:
    circle = [use(0, taken("a"), wanted("b")), use(1, taken("b"), wanted("a"))]
    found = shared_waits(PLACES, [*circle, use(2, wanted("a"))])
    assert len(found.circles) == 1
    assert [about.line for about in found.held.values()] == [
        "2 (rank 1-2: s-3, s-4) wait for a, which rank 0: s-2 has, in work work.py:3"
    ]


def test_a_lock_that_none_is_seen_to_have_is_said_to_be_that_unless_it_may_be_a_signal() -> None:
    [orphan] = shared_waits(PLACES, [use(1, wanted("a")), use(2, wanted("a"))]).orphans.values()
    assert orphan.line == (
        "2 (rank 1-2: s-3, s-4) wait for a: none of those that answer is seen to have the lock; "
        "one that has ended may have had it"
    )
    assert lines(shared_waits(PLACES, [use(1, wanted("a", single=False))])) == ([], [], [])
    assert lines(shared_waits(PLACES, [use(1, wanted("a")), use(2, taken("a", -1))])) == ([], [], [])


def test_idle_workers_that_take_turns_to_read_a_queue_are_said_only_where_none_has_the_turn() -> None:
    idle = LiveThread(1, "MainThread", "waiting", None, "work: it is idle", "worker")
    workers = [use(rank, wanted("a"), threads=[idle]) for rank in (1, 2)]
    assert lines(shared_waits(PLACES, [use(0, taken("a"), threads=[idle]), *workers])) == ([], [], [])
    [orphan] = shared_waits(PLACES, workers).orphans.values()
    assert orphan.line.startswith("2 (rank 1-2: s-3, s-4) wait for the lock of the queue of work: none of ")


def test_of_several_that_may_have_a_lock_none_is_named_as_the_one_that_has_it() -> None:
    uses = [use(0, taken("a"), wanted("b")), use(1, taken("b"), wanted("a")), use(2, taken("b"))]
    found = shared_waits(PLACES, uses)
    assert not found.circles
    assert "1 (rank 0: s-2) waits for b, which rank 1-2: s-3, s-4 may have" in lines(found)[1]


def test_locks_of_two_machines_are_not_the_same() -> None:
    uses = [use(0, taken("a"), machine="there"), use(1, wanted("a"))]
    assert [len(each) for each in lines(shared_waits(PLACES, uses))] == [0, 0, 1]


def test_what_a_second_look_does_not_find_was_never_so() -> None:
    first = shared_waits(
        PLACES, [use(0, taken("a"), wanted("b")), use(1, taken("b"), wanted("a")), use(2, wanted("c"))]
    )
    assert first.are_doubtful
    same = first.confirmed(first)
    assert [len(each) for each in lines(same)] == [1, 0, 1]
    moved = shared_waits(PLACES, [use(0, taken("a"), wanted("b")), use(1, taken("b")), use(2, taken("c"))])
    assert lines(moved.confirmed(first)) == (
        [],
        ["1 (rank 0: s-2) waits for b, which rank 1: s-3 has, in work work.py:3"],
        [],
    )
