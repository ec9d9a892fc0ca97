"""Many processes as one answer: classes, those that differ first, within a bound of bytes."""

import msgspec

from trio_debugmcp.server.answers.answer import encoded
from trio_debugmcp.server.answers.fleet.fleet_answers import FleetAnswer, FleetLook, Used, fleet_answer
from trio_debugmcp.server.answers.fleet.fleet_classes import Frames, ProcessNow, place_of
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.ending import LEFT
from trio_debugmcp.state.model import Departed, StackFrame
from trio_debugmcp.state.payloads import Location

PLACES = Places("/job")


def frame(name: str, line: int, file: str = "/job/train.py", *, is_user_code: bool = True) -> StackFrame:
    return StackFrame(0, name, Location(file, line, None, name, None), is_user_code)


MAIN: Frames = (frame("main", 33), frame("<module>", 40))
WAITS: Frames = (
    frame("wait", 359, "/lib/threading.py", is_user_code=False),
    frame("all_reduce", 88, "/job/dist.py"),
    *MAIN,
)
LOADS: Frames = (frame("load_batch", 31, "/job/data.py"), *MAIN)


def ranks(count: int, stack: Frames = WAITS, first: int = 0) -> list[ProcessNow]:
    return [
        ProcessNow(f"s-{rank + 2}", {"rank": str(rank)}, stack=stack, waits="an event")
        for rank in range(first, first + count)
    ]


def answered(look: FleetLook) -> tuple[FleetAnswer, int]:
    answer = fleet_answer(PLACES, look)
    return answer, len(encoded(answer)[0])


def fleet_of(count: int) -> list[ProcessNow]:
    """All wait but rank 3."""
    return [*ranks(3), ProcessNow("s-5", {"rank": "3"}, stack=LOADS), *ranks(count - 4, first=4)]


def test_one_rank_of_thirty_two_that_is_elsewhere_comes_first_with_its_session() -> None:
    dead = Departed("s-40", "s-1", {"rank": "32"}, 4711, -9, "the program ended")
    answer, size = answered(FleetLook(processes=fleet_of(32), ended=[dead]))
    assert answer.classes == [
        "1 in load_batch data.py:31 (rank 3: s-5)",
        "31 in all_reduce dist.py:88 (rank 0-2, 4-31), waits for an event",
    ]
    assert answer.ended == ["1 killed by SIGKILL (rank 32: s-40)"]
    assert answer.tree == [
        "32 <module> train.py:40 > main :33",
        " 1 load_batch data.py:31",
        " 31 all_reduce dist.py:88",
    ]
    assert answer.processes == "32 running; 1 ended"
    assert answer.missing == [
        (
            "31 of 33 ranks are in all_reduce dist.py:88; rank 3, 32 are not in it: "
            "3 in load_batch data.py:31; 32 killed by SIGKILL"
        )
    ]
    assert size <= 2048


def test_processes_that_are_silent_for_the_same_reason_are_one_line_whatever_their_numbers() -> None:
    silent = [ProcessNow(f"s-{n}", {"rank": str(n)}, stack=LOADS, silent=f"process {n} is stopped") for n in range(9)]
    answer, _ = answered(FleetLook(processes=silent, before={"s-1": 7}))
    assert answer.notes == ["9 (rank 0-8): seen from outside, as process 0 is stopped (other numbers elsewhere)"]
    assert "moved" not in (answer.since or "")


def test_a_thousand_that_are_in_a_thousand_places_have_four_kilobytes() -> None:
    many = [
        ProcessNow(f"s-{n}", {"rank": str(2 * n), "host": f"node-{n % 7}"}, stack=(frame("f" * 60 + str(n), n), *MAIN))
        for n in range(1000)
    ]
    silent = [ProcessNow(f"s-{n}", unknown=f"reason {chr(n)}") for n in range(1000, 1100)]
    ended = [Departed(f"s-{n}", "s-1", {}, n, n % 200, "the program ended") for n in range(2000, 3000)]
    answer, size = answered(FleetLook(processes=[*many, *silent], ended=ended))
    assert size <= 4096
    assert answer.processes == "1100 running; 1000 ended"
    assert answer.omitted == {
        "classes": 1000 - len(answer.classes),
        "ended": 200 - len(answer.ended),
        "notes": 100 - len(answer.notes),
        "tree": 1001 - len(answer.tree),
    }


def test_processes_that_compute_are_one_class_by_function_with_a_range_of_lines() -> None:
    computing = [ProcessNow(f"s-{n}", stack=(frame("step", 10 + n), *MAIN)) for n in range(20)]
    answer, _ = answered(FleetLook(processes=[*computing, *ranks(1, LOADS)]))
    assert answer.classes == [
        "1 in load_batch data.py:31 (rank 0: s-2), waits for an event",
        "20 in step train.py:10-29 (s-0, s-1, s-2, s-3, s-4, s-5, s-6, s-7 and 12 more)",
    ]


def test_those_that_are_stopped_are_a_class_of_their_own_with_the_reason() -> None:
    stopped = ProcessNow("s-9", {"rank": "7"}, "Paused", WAITS, stopped="Breakpoint")
    answer, _ = answered(FleetLook(processes=[*ranks(3), stopped]))
    assert answer.classes[0] == "1 stopped in all_reduce dist.py:88 (rank 7: s-9): Breakpoint"
    assert answer.processes == "4: 3 running, 1 stopped"


def test_what_is_not_known_is_said_with_its_reason_once_for_all_of_which_it_is_true() -> None:
    silent = [ProcessNow(f"s-{n + 2}", {"rank": str(n)}, unknown="process is stopped by SIGSTOP") for n in (4, 5, 6)]
    answer, _ = answered(FleetLook(processes=[*ranks(3), *silent]))
    assert answer.notes == ["3 (rank 4-6): stacks not known: process is stopped by SIGSTOP"]
    assert answer.classes == ["3 in all_reduce dist.py:88 (rank 0-2), waits for an event"]


def test_hosts_are_named_where_there_are_several() -> None:
    here, there = ({"rank": rank, "host": host} for rank, host in (("0", "a1"), ("1", "a2")))
    processes = [ProcessNow("s-2", here, stack=WAITS), ProcessNow("s-3", there, stack=LOADS)]
    answer, _ = answered(FleetLook(processes=processes))
    assert {"1 in load_batch data.py:31 (rank 1 on a2: s-3)"} < set(answer.classes)
    alone, _ = answered(FleetLook(processes=processes[:1]))
    assert alone.classes == ["1 in all_reduce dist.py:88 (rank 0: s-2)"]


def test_what_changed_since_the_last_look_names_who_moved_and_who_computes_without_moving() -> None:
    look = FleetLook(
        processes=fleet_of(8),
        used={"s-2": Used(0.9, 0.9), "s-3": Used(0.0, 0.0)},
        before={
            **{process.id: place_of(process.stack) for process in fleet_of(8)},
            "s-5": place_of(WAITS),
            "s-99": place_of(WAITS),
        },
        ago=12.0,
    )
    answer, _ = answered(look)
    assert answer.since == (
        "12 s ago: 6 in the same place, without processor time; 1 in the same place, computing (rank 0: s-2); "
        "1 moved (rank 3: s-5); 1 ended"
    )
    assert answer.processor == ["1 busy (rank 0: s-2)", "1 without processor time"]


def test_one_whose_stack_was_or_is_not_known_is_neither_new_nor_gone() -> None:
    silent = ProcessNow("s-2", unknown="the program does not answer")
    there = ranks(8)
    then = {**{each.id: place_of(each.stack) for each in there[:7]}, "s-2": None, "s-3": None}
    again = FleetLook(processes=[silent, *there[1:]], before=then, ago=1.0)
    assert answered(again)[0].since == (
        "1 s ago: 5 in the same place, without processor time; 1 not known then (rank 1: s-3); 1 new (rank 7: s-9)"
    )
    gone = {"s-2": None, "s-3": None}
    assert answered(FleetLook(processes=[silent], before=gone, ago=1.0))[0].since == "1 s ago: 1 ended"
    assert answered(FleetLook(processes=[silent], before={"s-2": None}, ago=1.0))[0].since is None


def test_processes_that_ended_alike_are_one_line_and_the_failed_ones_come_first() -> None:
    def gone(number: int, code: int | None, *, killed: bool = False) -> Departed:
        return Departed(f"s-{number}", "s-1", {}, number, code, "the program ended", killed)

    ended = [gone(1, 0), gone(2, 3), gone(3, None), gone(4, 0), gone(5, None, killed=True), gone(6, -11)]
    assert answered(FleetLook(processes=ranks(1), ended=ended))[0].ended == [
        "1 exited with 3 (s-2)",
        "1 ended (the program ended), the exit code is not known (s-3)",
        "1 ended by the debugger (s-5)",
        "1 killed by SIGSEGV (s-6)",
        "2 exited with 0 (s-1, s-4)",
    ]


def test_what_the_machine_says_of_an_end_stands_beside_it() -> None:
    def gone(number: int, code: int | None, reason: str) -> Departed:
        return Departed(f"s-{number}", "s-1", {}, number, code, reason)

    kernel = "out of memory, by the kernel's log"
    ended = [gone(1, -9, kernel), gone(2, 137, "the program ended"), gone(3, 200, ""), gone(4, None, LEFT)]
    answer = answered(FleetLook(processes=[ProcessNow("s-9", phase="Paused", stack=WAITS)], ended=ended))[0]
    assert answer.ended == [
        f"1 killed by SIGKILL: {kernel} (s-1)",
        "1 exited with 137, a shell's code for SIGKILL (s-2)",
        "1 exited with 200 (s-3)",
        "1 left the debugger, still running (s-4)",
    ]
    assert answer.processes == "1 stopped; 3 ended; 1 left the debugger, still running"
    assert answered(FleetLook(processes=[]))[0].processes == "none there"


def test_a_program_gets_each_process_with_its_class() -> None:
    data = fleet_answer(PLACES, FleetLook(processes=fleet_of(4), used={"s-5": Used(1.0)}))
    shown = msgspec.to_builtins(data.full)
    assert [each["classIndex"] for each in shown["processes"]] == [1, 1, 1, 0]
    assert shown["processes"][3]["processor"] == 1.0
    assert shown["total"] == 4


def test_programs_get_the_merged_stacks_with_who_has_each_branch_and_how_many_there_are() -> None:
    full = answered(FleetLook(processes=fleet_of(32)))[0].full
    assert full is not None
    told = [(each.depth, each.count, each.who, [frame.name for frame in each.frames]) for each in full.tree]
    assert told == [
        (0, 32, "rank 0-31", ["<module>", "main"]),
        (1, 1, "rank 3: s-5", ["load_batch"]),
        (1, 31, "rank 0-2, 4-31", ["all_reduce"]),
    ]
    assert full.tree[1].session_ids == ["s-5"]
    assert full.total_branches == 3

    many = [ProcessNow(f"s-{n}", stack=(frame("f", n), *MAIN)) for n in range(1000)]
    full = answered(FleetLook(processes=many))[0].full
    assert full is not None
    assert (len(full.tree), full.total_branches) == (500, 1001)
    assert full.tree[0].session_ids == [f"s-{n}" for n in range(8)]


def test_ranks_that_never_connected_are_missing_unless_others_may_be_these() -> None:
    there = [ProcessNow(f"s-{n}", {"rank": str(n), "world_size": "4"}, stack=LOADS) for n in (0, 1, 3)]
    assert answered(FleetLook(processes=there))[0].missing == ["1 of 4 ranks has never connected: rank 2"]
    assert answered(FleetLook(processes=there, is_whole=False))[0].missing == []
    silent = ProcessNow("s-9", unknown="it does not answer")
    assert answered(FleetLook(processes=[*there, silent]))[0].missing == []
