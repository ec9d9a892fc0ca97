"""Which ranks are not in the collective in which most of their job are, and what they do instead."""

from collections.abc import Sequence

import pytest

from trio_debugmcp.server.answers.fleet.collectives import missing_lines, unconnected_lines
from trio_debugmcp.server.answers.fleet.fleet_answers import how_it_ended
from trio_debugmcp.server.answers.fleet.fleet_classes import Frames, ProcessNow
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.state.model import Departed, StackFrame
from trio_debugmcp.state.payloads import Location


def frame(name: str, line: int, file: str = "/job/train.py", *, is_user_code: bool = True) -> StackFrame:
    return StackFrame(0, name, Location(file, line, None, name, None), is_user_code)


def library(name: str) -> StackFrame:
    return frame(name, 2000, "/lib/torch/distributed/distributed_c10d.py", is_user_code=False)


MAIN = frame("main", 33)
REDUCES: Frames = (library("wait"), library("broadcast"), library("all_reduce"), MAIN)
GATHERS: Frames = (library("all_gather_into_tensor"), frame("main", 40))
LOADS: Frames = (frame("load_batch", 31, "/job/data.py"), MAIN)


def rank(number: int, stack: Frames = REDUCES, **more: object) -> ProcessNow:
    labels = {"rank": str(number), **({"job": str(more.pop("job"))} if "job" in more else {})}
    return ProcessNow(f"s-{number + 2}", labels, stack=stack, **more)  # type: ignore[arg-type]


def lines(processes: Sequence[ProcessNow], ended: Sequence[Departed] = ()) -> list[str]:
    return missing_lines(Places("/job"), processes, ended, how_it_ended)


def test_ranks_that_are_elsewhere_are_named_with_their_places_and_those_of_one_place_together() -> None:
    many = [rank(n) for n in range(8) if n not in (3, 5, 6)]
    late = [rank(3, LOADS, waits="jobs.get"), rank(5, GATHERS), rank(6, LOADS, waits="jobs.get")]
    assert lines([*many, *late]) == [
        (
            "5 of 8 ranks are in all_reduce from train.py:33; rank 3, 5-6 are not in it: "
            "3, 6 in load_batch data.py:31, waits for jobs.get; 5 in all_gather_into_tensor from train.py:40"
        )
    ]


def test_a_rank_that_has_ended_has_not_come_and_its_end_is_said() -> None:
    dead = Departed("s-9", "s-1", {"rank": "2"}, 4711, -9, "the program ended")
    assert lines([rank(0), rank(1)], [dead]) == [
        "2 of 3 ranks are in all_reduce from train.py:33; rank 2 is not in it: 2 killed by SIGKILL"
    ]


def test_a_rank_that_was_started_again_is_there() -> None:
    before = Departed("s-9", "s-1", {"rank": "1"}, 4711, 1, "the program ended")
    assert not lines([rank(0), rank(1)], [before])


def test_a_rank_has_come_if_one_of_its_processes_or_threads_has() -> None:
    loader = ProcessNow("s-20", {"rank": "1"}, stack=LOADS)
    in_thread = ProcessNow("s-21", {"rank": "2"}, stack=LOADS, others=(REDUCES,))
    assert not lines([rank(0), loader, rank(1), in_thread])


def test_jobs_are_apart_and_one_in_which_all_have_come_has_no_line() -> None:
    first = [rank(n, job="a") for n in range(3)]
    second = [rank(0, job="b"), rank(1, job="b"), rank(2, LOADS, job="b")]
    [line] = lines([*first, *second])
    assert line.startswith("2 of 3 ranks are in all_reduce ")


@pytest.mark.parametrize(
    "processes",
    [
        [rank(0), rank(1, LOADS)],
        [rank(0, LOADS), rank(1, LOADS), rank(2)],
        [ProcessNow("s-2", stack=REDUCES), ProcessNow("s-3", stack=REDUCES), ProcessNow("s-4", stack=LOADS)],
        [rank(0, (frame("gather", 3),)), rank(1, (frame("gather", 3),)), rank(2, LOADS)],
    ],
    ids=["half", "few", "without ranks", "a function of another kind"],
)
def test_no_rank_is_missing_where_it_is_not_clear_that_most_are_in_a_collective(processes: list[ProcessNow]) -> None:
    assert not lines(processes)


def test_what_is_not_known_or_stopped_or_without_python_is_said_so() -> None:
    late = [rank(4, (), unknown="it is stopped by SIGSTOP"), rank(5, LOADS, phase="Paused"), rank(6, ())]
    [line] = lines([*map(rank, range(4)), *late])
    assert line.endswith("rank 4-6 are not in it: 4 not known; 5 stopped in load_batch data.py:31; 6 in no Python code")


def test_many_places_are_counted() -> None:
    late = [rank(n, (frame(f"step_{n}", n),)) for n in range(40, 50)]
    [line] = lines([*map(rank, range(40)), *late])
    assert line.endswith("; 45 in step_45 train.py:45; and 4 more places")
    assert "rank 40-49 are not in it" in line


def of_job(number: int, size: int, **labels: str) -> ProcessNow:
    return ProcessNow(f"s-{number + 2}", {"rank": str(number), "world_size": str(size), **labels})


def test_ranks_that_never_connected_are_named_by_the_size_of_the_job() -> None:
    dead = Departed("s-9", "s-1", {"rank": "2", "world_size": "8"}, 4711, -9, "the program ended")
    assert unconnected_lines([of_job(n, 8) for n in (0, 1, 3, 4, 6)], [dead]) == [
        "2 of 8 ranks have never connected: rank 5, 7"
    ]
    assert unconnected_lines([of_job(n, 2) for n in (0, 1)], []) == []
    assert unconnected_lines([of_job(n, 10**9 - 1) for n in range(0, 2000, 2)], []) == [
        ("999998999 of 999999999 ranks have never connected: rank 1, 3, 5, 7, 9, 11, 13, 15 and 992 more ranges")
    ]


def test_each_job_has_its_own_ranks_and_of_jobs_without_a_name_whose_sizes_differ_nothing_is_said() -> None:
    two = [of_job(0, 2, job="a"), of_job(1, 3, job="b"), of_job(2, 3, job="b")]
    assert unconnected_lines(two, []) == [
        "1 of 2 ranks has never connected: rank 1",
        "1 of 3 ranks has never connected: rank 0",
    ]
    assert unconnected_lines([of_job(0, 2), of_job(1, 3)], []) == []
    assert unconnected_lines([rank(0)], []) == []
