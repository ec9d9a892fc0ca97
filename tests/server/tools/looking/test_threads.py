"""The tools that show threads, stacks and tasks while a scripted program runs, waits or is stopped."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, launch, paused, running
from tests.session.answers import refuse
from tests.session.answers import stop as stop_at_once
from tests.session.test_children import adopt
from trio_debugmcp.server.tools.moving.pausing import BLOCKED_AFTER_SECONDS
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES
from trio_debugmcp.session.looking.by_probe.program_probe import MAX_SIZE, MAX_THREADS, PROBE_SECONDS
from trio_debugmcp.session.looking.from_outside.program_process import AGAIN_SECONDS
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect, open_server

FILE = "/src/app.py"

SHOWN = "/src/app.py"
"""How answers name the file: the server's directory is `/`."""

SILENT = "the program does not answer"


def place(function: str, line: int, **more: Any) -> dict[str, Any]:
    return {"file": FILE, "line": line, "function": function, **more}


def thread(number: int, name: str, state: str = "waiting", **more: Any) -> dict[str, Any]:
    if state == "waiting":
        more = {"waits": {"kind": "sleep", "what": "time.sleep(1000)"}, **more}
    return {"id": number, "name": name, "state": state, "at": place("doze", 3), **more}


def threads(*found: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"threads": list(found), "total": len(found), **more}


def locked(number: int, name: str, holder: int) -> dict[str, Any]:
    waits = {"kind": "lock", "what": "other", "holder": {"thread": holder, "name": f"t{holder}"}}
    return thread(number, name, waits=waits, at={**place("acquire", 9), "from": place("pay", 12, qualname="Bank.pay")})


BOTH = threads(locked(1, "t1", 2), locked(2, "t2", 1), deadlocks=[{"threads": [1, 2]}])


def probed(**answers: Any) -> FakeAdapter:
    """An adapter of a program with a probe that answers this."""
    adapter = FakeAdapter()
    adapter.probe = answers
    return adapter


@asynccontextmanager
async def held(adapter: FakeAdapter) -> AsyncIterator[DebugClient]:
    """A client of a program that has stopped once and now keeps the GIL."""
    async with paused("legacy", adapter) as (client, _):
        await client.call("debug_continue", wait=False)
        adapter.withhold("evaluate")
        yield client


# --- threads_list -----------------------------------------------------------------------------------------------------


async def test_threads_are_shown_as_they_are_while_the_program_runs(autojump_clock: MockClock) -> None:
    adapter = probed(threads=threads(*BOTH["threads"], thread(3, "spin", "running"), deadlocks=BOTH["deadlocks"]))
    async with running("legacy", adapter) as (client, _):
        found = await client.call("threads_list")
        assert found == {
            "threads": [
                f"1 t1 {SHOWN}:12 in Bank.pay, waits for other, probably held by thread 2 t2",
                f"2 t2 {SHOWN}:12 in Bank.pay, waits for other, probably held by thread 1 t1",
                f"3 spin {SHOWN}:3 in doze, running",
            ],
            "deadlocks": [[1, 2]],
            "notes": ["probably a deadlock: threads 1, 2 wait for each other"],
        }


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ([], ""),
        (["SIGALRM in 3 s"], ", unless it is ended by SIGALRM in 3 s"),
        (list("abcdef"), ", unless it is ended by a, b, c, d, 2 more"),
    ],
)
async def test_a_deadlock_is_said_with_what_may_end_it(ends: list[str], said: str, autojump_clock: MockClock) -> None:
    deadlock = {"threads": [1, 2], "sure": True, "ends": ends}
    async with running("legacy", probed(threads={**BOTH, "deadlocks": [deadlock]})) as (client, _):
        found = await client.call("threads_list")
        assert found["notes"] == [f"deadlock: threads 1, 2 wait for each other{said}"]


async def test_threads_that_do_not_fit_are_counted(autojump_clock: MockClock) -> None:
    many = threads(*(thread(number, f"worker {number}") for number in range(900)))
    adapter = probed(threads={**many, "total": 5000})
    async with running("legacy", adapter) as (client, _):
        found = await client.call("threads_list")
        assert 50 < len(found["threads"]) < 900
        assert found["omitted"] + len(found["threads"]) == 5000


async def test_without_a_probe_the_last_stop_is_shown_as_ever(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        at_stop = await client.call("threads_list")
        assert at_stop == {"threads": [f"*1 MainThread {SHOWN}:1 in main"]}
        await client.call("debug_continue", wait=False)
        later = await client.call("threads_list")
        assert later["notes"] == ["as of the last stop: the program runs"]
        (line,) = later["threads"]
        assert "1 MainThread" in line
        assert adapter.sent("evaluate") == []


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("silence", SILENT),
        ("refusal", "SyntaxError"),
        ("garbage", "The answer cannot be read"),
        ("no probe", "The probe is not in the program"),
    ],
)
async def test_threads_of_a_program_that_does_not_answer_are_those_of_the_last_stop(
    fault: str, why: str, autojump_clock: MockClock
) -> None:
    adapter = probed(threads={"garbage": "{", "no probe": ""}.get(fault, BOTH))
    async with paused("legacy", adapter) as (client, _):
        await client.call("debug_continue", wait=False)
        if fault == "silence":
            adapter.withhold("evaluate")
        elif fault == "refusal":
            adapter.answer("evaluate", partial(refuse, "SyntaxError"))
        start = trio.current_time()
        found = await client.call("threads_list")
        assert trio.current_time() - start == pytest.approx(1 if fault == "silence" else 0)
        (line,) = found["threads"]
        assert "1 MainThread" in line
        (note,) = found["notes"]
        assert note.startswith(f"where the threads are now is not known: {why}") or why in note
        assert note.endswith(". This is the last stop")
        assert ".." not in note


# --- stacktrace_get ---------------------------------------------------------------------------------------------------


def stack(number: int, name: str = "w", *frames: dict[str, Any], total: int | None = None) -> dict[str, Any]:
    found = list(frames) or [place("doze", 3), place("main", 9)]
    return {**thread(number, name), "frames": found, "total": len(found) if total is None else total}


FRAMES = {
    "thread": 1,
    "total": 2,
    "frames": [
        {
            **place("pay", 12, qualname="Bank.pay", index=0, localsTotal=3),
            "locals": [{"name": "amount", "value": "7"}, {"name": "to", "value": "'ben'", "type": "Name"}],
        },
        place("main", 30, index=1),
    ],
}


async def test_a_stack_is_shown_while_the_program_runs_with_its_locals(autojump_clock: MockClock) -> None:
    adapter = probed(threads=BOTH, frames=FRAMES)
    async with running("legacy", adapter) as (client, _):
        found = await client.call("stacktrace_get", locals=True)
        assert found == {
            "frames": [f"Bank.pay {SHOWN}:12", "main :30"],
            "locals": [{"amount": "7", "to": "'ben' (Name)", "…": "1 more: variables_get"}, {}],
            "state": "Waiting",
        }
        plain = await client.call("stacktrace_get", thread_id=1, start=0, count=5)
        assert plain == {"frames": found["frames"], "state": "Waiting"}
        assert adapter.probed[-1] == ("frames", {"thread": 1, "start": 0, "count": 5, "locals": False})


async def test_locals_of_a_stop_are_those_of_the_active_thread(autojump_clock: MockClock) -> None:
    adapter = probed(threads=BOTH, frames=FRAMES)
    adapter.threads = [(1, "t1"), (2, "t2")]
    async with running("legacy", adapter) as (client, _):
        await adapter.stop("breakpoint", thread=2, hit=[1])
        await client.call("debug_wait")
        await client.call("stacktrace_get", locals=True)
        assert adapter.probed[-1][1]["thread"] == 2
        assert (await failure(client, "stacktrace_get", thread_id=7, locals=True)).code == "INVALID_THREAD"
        before = len(adapter.probed)
        assert await client.call("stacktrace_get") == {"frames": [f"main {SHOWN}:1"]}
        assert len(adapter.probed) == before  # a stop's own stack is the adapter's


async def test_a_thread_that_does_not_exist_is_named(autojump_clock: MockClock) -> None:
    error = json.dumps({"error": {"kind": "thread", "message": "There is no thread 77."}})
    async with running("legacy", probed(threads=BOTH, frames=error)) as (client, _):
        failed = await failure(client, "stacktrace_get", thread_id=77)
        assert failed.code == "INVALID_THREAD"
        assert failed.message == "There is no thread 77. Ask threads_list for those there are."
        assert (await failure(client, "stacktrace_get", thread_id="all")).code == "INVALID_PARAMETER"


async def test_a_stack_that_is_not_known_says_why(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, _):
        failed = await failure(client, "stacktrace_get")
        assert (failed.code, failed.message[:26]) == ("NOT_PAUSED", "The program is not paused ")
        assert (await failure(client, "stacktrace_get", locals=True)).code == "NOT_PAUSED"
    async with held(probed()) as client:
        start = trio.current_time()
        failed = await failure(client, "stacktrace_get")
        assert trio.current_time() - start == pytest.approx(1)
        assert failed.code == "NOT_PAUSED"
        assert failed.message.startswith(f"Its stack is not known: {SILENT}. The program is not paused (it is Running)")


async def test_locals_of_a_stop_without_a_probe_are_refused_with_what_to_do(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, _):
        failed = await failure(client, "stacktrace_get", locals=True)
        assert failed.code == "NOT_SUPPORTED"
        assert "fake has nothing within the program that answers this. Ask without locals" in failed.message
        assert len((await client.call("stacktrace_get"))["frames"]) == 1


async def test_equal_stacks_of_all_threads_are_one_line_with_a_count(autojump_clock: MockClock) -> None:
    other = {**place("get", 171, library=True), "file": "/lib/queue.py"}
    stacks = [stack(1), stack(2), stack(3, "x", other, place("main", 9), total=30), stack(4)]
    async with running("legacy", probed(stacks={"stacks": stacks, "total": 5})) as (client, adapter):
        found = await client.call("stacktrace_get", thread_id="*")
        assert found["notes"] == ["s-1: 1 thread left out"]
        assert "omitted" not in found
        assert found["stacks"] == [
            {
                "count": 3,
                "threads": ["1 w", "2 w", "4 w"],
                "waitsFor": "time.sleep(1000)",
                "frames": [f"doze {SHOWN}:3", "main :9"],
            },
            {
                "threads": ["3 x"],
                "waitsFor": "time.sleep(1000)",
                "frames": ["get /lib/queue.py:171 (library)", f"main {SHOWN}:9", "… 28 more frames"],
            },
        ]
        assert adapter.probed[-1][1]["frames"] == 20
        with_locals = await client.call("stacktrace_get", thread_id="*", locals=True)
        assert [each["threads"] for each in with_locals["stacks"]] == [
            ["1 w"],
            ["2 w"],
            ["3 x"],
            ["4 w"],
        ]  # values differ by thread
        assert with_locals["stacks"][0]["locals"] == [{}, {}]


async def test_equal_stacks_that_wait_for_different_threads_name_each_of_them(autojump_clock: MockClock) -> None:
    def waiting(number: int, holder: int) -> dict[str, Any]:
        return {**stack(number), "waits": locked(number, "w", holder)["waits"]}

    async def waits_of(*stacks: dict[str, Any]) -> str:
        answers = probed(stacks={"stacks": list(stacks), "total": len(stacks)})
        async with running("legacy", answers) as (client, _):
            (merged,) = (await client.call("stacktrace_get", thread_id="*"))["stacks"]
            assert merged["count"] == len(stacks) == len(merged["threads"])
            waits: str = merged["waitsFor"]
            return waits

    lock = "other, probably held by thread"
    assert await waits_of(waiting(1, 8), waiting(2, 8)) == f"{lock} 8 t8"
    assert await waits_of(waiting(1, 2), waiting(2, 1)) == f"{lock} 2 t2; {lock} 1 t1"
    ring = [waiting(number, number + 1) for number in range(5)]
    assert await waits_of(*ring) == f"{lock} 1 t1; {lock} 2 t2; {lock} 3 t3; 2 others"


@asynccontextmanager
async def sixteen(*probes: dict[str, Any]) -> AsyncIterator[tuple[DebugClient, list[FakeAdapter]]]:
    """A client of a program with a child for each probe but the first; all of them run."""
    root = probed(**probes[0])
    processes = [root]
    async with running("legacy", root) as (client, _):
        for answers in probes[1:]:
            processes.append(probed(**answers))
            await adopt(root, processes[-1])
        yield client, processes


async def test_a_thousand_threads_in_sixteen_processes_are_readable(autojump_clock: MockClock) -> None:
    """In each 62 workers of a pool wait at one of four places, and one thread is somewhere of its own."""

    def process(rank: int) -> dict[str, Any]:
        workers = [
            stack(number, f"worker {number}", *(place(f"step_{number % 4}_{depth}", depth) for depth in range(20)))
            for number in range(62)
        ]
        own = stack(99, "rank", *(place(f"rank_{rank}_{depth}" + "x" * 40, depth) for depth in range(20)))
        return {"stacks": {"stacks": [own, *workers], "total": 63}}

    async with sixteen(*(process(rank) for rank in range(16))) as (client, processes):
        found = await client.call("stacktrace_get", thread_id="*")
        assert len(json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode()) < MAX_RESULT_BYTES
        assert "notes" not in found
        counts = [each.get("count", 1) for each in found["stacks"]]
        assert counts[:5] == [256, 256, 240, 240, 1]
        assert found.get("omitted", 0) == 20 - len(counts)
        assert found["stacks"][0]["threads"][0] == "s-1/0 worker 0"
        assert len(found["stacks"][0]["threads"]) == 10
        rest = await client.call("stacktrace_get", thread_id="*", start=len(counts))
        assert len(rest["stacks"]) + rest.get("omitted", 0) == found.get("omitted", 0)
        one = await client.call("stacktrace_get", thread_id="*", session_id="s-3")
        assert sum(each.get("count", 1) for each in one["stacks"]) == 63
        assert (len(one["stacks"]), "omitted" in one) == (5, False)
        assert [len(each.probed) for each in processes] == [2, 2, 3, *([2] * 13)]


async def test_stacks_that_all_differ_are_cut_and_counted(autojump_clock: MockClock) -> None:
    def process(rank: int) -> dict[str, Any]:
        frames = [[place(f"work_{depth}", rank * 1000 + number) for depth in range(20)] for number in range(63)]
        return {"stacks": {"stacks": [stack(number, "w", *each) for number, each in enumerate(frames)], "total": 63}}

    async with sixteen(*(process(rank) for rank in range(16))) as (client, _):
        found = await client.call("stacktrace_get", thread_id="*")
        assert len(json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode()) < MAX_RESULT_BYTES
        assert len(found["stacks"]) > 30
        assert found["omitted"] + len(found["stacks"]) == 1008
        assert not any("count" in each for each in found["stacks"]), "each of one thread"


async def test_processes_that_do_not_answer_are_named_and_cost_one_second_together(autojump_clock: MockClock) -> None:
    async with sixteen(*({"stacks": {"stacks": [stack(1)], "total": 1}} for _ in range(16))) as (client, processes):
        await client.call("stacktrace_get", thread_id="*")
        for each in processes[2:]:
            each.withhold("evaluate")
        crashing = processes[1]
        plausible = crashing.answer_to("evaluate")

        async def crash(arguments: dict[str, Any]) -> object:
            await crashing.crash()
            return await plausible(arguments)

        crashing.answer("evaluate", crash)
        start = trio.current_time()
        found = await client.call("stacktrace_get", thread_id="*")
        assert trio.current_time() - start == pytest.approx(1)
        assert [each["threads"] for each in found["stacks"]] == [["s-1/1 w"]]
        assert found["notes"][0].startswith("s-2: the stacks are not known: ")
        assert found["notes"][1:] == [f"14 processes, s-3 to s-16: the stacks are not known: {SILENT}"]


async def test_all_stacks_of_a_program_without_a_probe_are_said_not_to_be_known(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, _):
        found = await client.call("stacktrace_get", thread_id="*")
        assert found == {
            "stacks": [],
            "notes": ["s-1: the stacks are not known: fake has nothing within the program that answers this"],
        }
    async with connect(options=FakeAdapter().options()) as client:
        assert (await failure(client, "stacktrace_get", thread_id="*")).code == "NO_SESSION"


# --- tasks_list -------------------------------------------------------------------------------------------------------

TASK = {
    "library": "asyncio",
    "id": 1,
    "name": "task-ben",
    "state": "waiting",
    "chain": [place("handle", 4), place("get", 171, qualname="Queue.get")],
    "waits": "a future",
}


async def test_tasks_are_listed_with_what_they_await(autojump_clock: MockClock) -> None:
    adapter = probed(tasks={"tasks": [TASK], "total": 12, "notes": ["a note"]})
    async with running("legacy", adapter) as (client, _):
        assert await client.call("tasks_list", start=3, count=1) == {
            "tasks": [f"task-ben: handle {SHOWN}:4 > Queue.get :171, waits for a future"],
            "omitted": 8,
            "notes": ["a note"],
        }
        assert adapter.probed[-1] == ("tasks", {"start": 3, "count": 1})


async def test_a_task_is_a_place_while_its_program_runs(autojump_clock: MockClock) -> None:
    variables = {"variables": [{"name": "tries", "value": "3"}], "total": 1}
    outcome = {"done": True, "hasValue": True, "value": "3", "type": "int"}
    frames = {"thread": 1, "frames": [place("client", 9, index=1)], "total": 2, "state": "waiting"}
    adapter = probed(
        variables=variables, start=outcome, frames=frames, safe={"name": "tries", "value": "3", "type": "int"}
    )
    async with running("legacy", adapter) as (client, _):
        assert (await client.call("variables_get", task="ben", frame_index=1))["variables"] == {"tries": "3"}
        assert adapter.probed[-1][1] | {"task": "ben", "frame": 1} == adapter.probed[-1][1]
        assert "thread" not in adapter.probed[-1][1]
        assert (await client.call("evaluate", task="ben", frame_index=1, expression="tries"))["value"] == "3"
        assert adapter.probed[-1][1] | {"task": "ben", "frame": 1} == adapter.probed[-1][1]
        assert (await client.call("evaluate_safe", task="ben", expression="tries"))["value"] == "3"
        assert "frame" not in adapter.probed[-1][1], "the program takes the innermost of its own code"
        stack = await client.call("stacktrace_get", task="ben", start=1)
        assert stack == {"frames": [f"client {SHOWN}:9"], "state": "Waiting"}
        assert (await failure(client, "variables_get", thread_id=1, task="ben")).code == "INVALID_PARAMETER"


async def test_the_variables_of_tasks_are_shown_by_the_index_of_the_frame(autojump_clock: MockClock) -> None:
    values = {"locals": [{"name": "tries", "value": "3"}], "localsTotal": 1}
    task = {**TASK, "chain": [place("handle", 4, index=1, **values), place("get", 171, index=0, library=True)]}
    adapter = probed(tasks={"tasks": [task], "total": 1})
    async with running("legacy", adapter) as (client, _):
        listed = await client.call("tasks_list", locals=True)
        assert listed["locals"] == [{"1 handle": {"tries": "3"}}]
        assert adapter.probed[-1][1]["locals"] is True


async def test_tasks_that_are_not_known_are_refused_with_what_to_do(autojump_clock: MockClock) -> None:
    async with held(probed()) as client:
        failed = await failure(client, "tasks_list")
        assert failed.code == "NOT_SUPPORTED"
        assert failed.message == (
            f"The tasks of this program are not known: {SILENT}. Look at its threads with threads_list."
        )


# --- Observers --------------------------------------------------------------------------------------------------------


async def test_an_observer_may_look_at_threads_stacks_and_tasks(autojump_clock: MockClock) -> None:
    stacks = {"stacks": [stack(1)], "total": 1}
    adapter = probed(threads=BOTH, frames=FRAMES, stacks=stacks, tasks={"tasks": [TASK], "total": 1})
    async with open_server(adapter.options()) as server, server.connect() as owner:
        await launch(owner, adapter)
        async with server.connect(role="observe") as observer:
            assert len((await observer.call("threads_list"))["threads"]) == 2
            assert len((await observer.call("stacktrace_get", thread_id=1, locals=True))["frames"]) == 2
            assert len((await observer.call("stacktrace_get", thread_id="*"))["stacks"]) == 1
            assert len((await observer.call("tasks_list"))["tasks"]) == 1
            with pytest.raises(ToolFailed, match="may only observe"):
                await observer.call("debug_pause")


# --- debug_pause ------------------------------------------------------------------------------------------------------


async def test_a_pause_of_a_blocked_program_says_where_everything_is_and_stays_armed(
    autojump_clock: MockClock,
) -> None:
    adapter = probed(threads=BOTH)
    async with running("legacy", adapter) as (client, _):
        start = trio.current_time()
        report = await client.call("debug_pause")
        assert trio.current_time() - start == pytest.approx(BLOCKED_AFTER_SECONDS + AGAIN_SECONDS)
        assert (report["state"], "timedOut" in report) == ("Running", False)
        armed, deadlock = report["notes"]
        assert "The pause stays armed" in armed
        assert armed.endswith(
            '. stacktrace_get with thread_id "*" and locals, evaluate in the main module, threads_list and tasks_list '
            "work without a pause"
        )
        assert deadlock == "probably a deadlock: threads 1, 2 wait for each other"
        assert report["threads"] == [
            f"1 t1 {SHOWN}:12 in Bank.pay, waits for other, probably held by thread 2 t2",
            f"2 t2 {SHOWN}:12 in Bank.pay, waits for other, probably held by thread 1 t1",
        ]
        assert len(adapter.sent("pause")) == 1
        await trio.sleep(100)
        await adapter.stop("pause")
        stop = await client.call("debug_wait")
        assert (stop["state"], stop["reason"], "notes" in stop) == ("Paused", "Pause", False)


@pytest.mark.parametrize(
    ("deadlock", "note"),
    [
        ({"threads": [1, 2], "sure": True}, "deadlock: threads 1, 2 wait for each other"),
        ({"threads": [1]}, "probably a deadlock: thread 1 waits for what it holds itself"),
        ({"threads": [1, 2], "timed": True}, "threads 1, 2 wait for each other, until a timeout"),
        (
            {"threads": [1], "loose": True},
            "thread 1 waits for what it holds itself: a deadlock, unless something else releases that",
        ),
    ],
)
async def test_a_circle_of_threads_is_called_a_deadlock_as_far_as_it_is_known_to_be_one(
    deadlock: dict[str, Any], note: str, autojump_clock: MockClock
) -> None:
    async with running("legacy", probed(threads={**BOTH, "deadlocks": [deadlock]})) as (client, _):
        assert (await client.call("debug_wait", timeout=1))["notes"] == [note]
        assert (await client.call("threads_list"))["notes"] == [note]


def looping(*tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The answers of a program whose only thread waits for its event loop."""
    loop = thread(1, "main", waits={"kind": "asyncio", "detail": "idle event loop"})
    return {"threads": threads(loop), "tasks": {"tasks": list(tasks), "total": len(tasks), **more}}


def waiting(name: str, line: int, waits: str) -> dict[str, Any]:
    inside = place("get", 171, qualname="Queue.get", library=True)
    return {**TASK, "name": name, "waits": waits, "chain": [place("work", line), inside]}


@pytest.mark.parametrize("tool", ["debug_pause", "debug_wait", "debug_state"])
async def test_the_answer_about_a_loop_that_waits_has_its_tasks_and_the_verdict(
    tool: str, autojump_clock: MockClock
) -> None:
    alike = [waiting(f"w{number}", 7, "jobs.get, 0 items") for number in range(5)]
    library = {**TASK, "name": "own", "chain": [place("get", 171, library=True)]}
    verdict = "probably a deadlock: tasks a, b wait for each other"
    tasks = [*alike, waiting("a", 4, "lock, held by task b"), waiting("b", 5, "lock, held by task a"), library]
    async with running("legacy", probed(**looping(*tasks, notes=[verdict], total=9))) as (client, _):
        report = await client.call(tool, **({"timeout": 1} if tool == "debug_wait" else {}))
        assert report["tasks"] == [
            f"w0, w1, w2 and 2 more: work {SHOWN}:7, waits for jobs.get, 0 items",
            f"a: work {SHOWN}:4, waits for lock, held by task b",
            f"b: work {SHOWN}:5, waits for lock, held by task a",
            "2 more: see tasks_list",
        ]
        assert report["notes"][-1] == verdict


async def test_at_a_pause_the_tasks_that_wait_are_shown_beside_the_one_that_runs(autojump_clock: MockClock) -> None:
    many = [waiting(f"w{number}", number, "jobs.get") for number in range(30)]
    stop = {"thread": 1, "frames": [place("beat", 3, index=0)], "total": 1, "hidden": {"asyncio": 6}}
    async with running("legacy", probed(**looping(*many), stop=stop)) as (client, adapter):
        adapter.answer("pause", partial(stop_at_once, adapter))
        stopped = await client.call("debug_pause")
        assert (stopped["state"], len(stopped["tasks"])) == ("Paused", 11)
        assert stopped["tasks"][-1] == "20 more: see tasks_list"
        await client.call("debug_continue", wait=False)
        stop["hidden"] = {}
        assert "tasks" not in await client.call("debug_pause")


@pytest.mark.parametrize("tool", ["variables_get", "debug_continue", "exception_get_context"])
async def test_what_needs_a_pause_says_what_works_without_one(tool: str, autojump_clock: MockClock) -> None:
    async with running("legacy", probed(threads=BOTH)) as (client, _):
        failed = await failure(client, tool)
        assert failed.code == "NOT_PAUSED"
        assert 'Meanwhile stacktrace_get with thread_id "*" and locals, evaluate in the main module' in failed.message
        assert failed.message.endswith(" work without a pause.")
    async with running("legacy") as (client, _):
        assert "stacktrace_get" not in (await failure(client, tool)).message.lower(), "this adapter has no probe"


async def test_a_pause_of_a_program_with_many_threads_that_wait_counts_those_that_it_does_not_name(
    autojump_clock: MockClock,
) -> None:
    everyone = threads(*(thread(number, f"worker {number}") for number in range(50)))
    async with running("legacy", probed(threads=everyone)) as (client, _):
        lines = (await client.call("debug_pause"))["threads"]
        assert len(lines) == 21
        assert lines[-1] == "30 more: see threads_list"


@pytest.mark.parametrize(
    ("found", "notes"),
    [
        (threads(thread(1, "main"), thread(2, "spin", "running")), [True]),
        (threads(thread(1, "main"), thread(2, "spin", "unknown")), []),
        ({**threads(thread(1, "main")), "total": 2}, []),
        (threads(), []),
        ("{", []),
    ],
    ids=["one runs", "one is not known", "one is left out", "none", "no answer"],
)
async def test_a_pause_waits_as_long_as_any_thread_may_run(
    found: Any, notes: list[bool], autojump_clock: MockClock
) -> None:
    async with running("legacy", probed(threads=found)) as (client, adapter):
        start = trio.current_time()
        report = await client.call("debug_pause", timeout=7)
        assert trio.current_time() - start == pytest.approx(7)
        assert (report["state"], report["timedOut"]) == ("Running", True)
        assert ["thread 2 was at" in note for note in report.get("notes", [])] == notes
        await adapter.stop("pause")
        assert (await client.call("debug_wait"))["reason"] == "Pause"


async def test_a_program_whose_threads_wait_elsewhere_a_moment_later_can_be_paused(autojump_clock: MockClock) -> None:
    adapter = probed()
    plausible, lines = adapter.answer_to("evaluate"), count(1)

    async def moving(arguments: dict[str, Any]) -> object:
        adapter.probe = {"threads": threads(thread(1, "main", at=place("read", next(lines))))}
        return await plausible(arguments)

    adapter.answer("evaluate", moving)
    async with running("legacy", adapter) as (client, _):
        start = trio.current_time()
        report = await client.call("debug_pause", timeout=3)
        assert trio.current_time() - start == pytest.approx(3)
        assert (report["timedOut"], "notes" in report) == (True, False)


async def test_a_thread_that_runs_is_paused_as_ever(autojump_clock: MockClock) -> None:
    adapter = probed(threads=threads(thread(1, "main", "running")))

    async def stop_later(arguments: object) -> object:
        return {}

    async def stop() -> None:
        await trio.sleep(2)
        await adapter.stop("pause")

    adapter.answer("pause", stop_later, then=stop)
    async with running("legacy", adapter) as (client, _):
        start = trio.current_time()
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        assert trio.current_time() - start == pytest.approx(2)


async def test_a_pause_that_is_answered_at_once_does_not_ask_the_probe(autojump_clock: MockClock) -> None:
    adapter = probed(threads=BOTH)

    async def nothing(arguments: object) -> object:
        return {}

    adapter.answer("pause", nothing, then=lambda: adapter.stop("pause"))
    async with running("legacy", adapter) as (client, _):
        assert (await client.call("debug_pause"))["state"] == "Paused"
        assert [question for question, _ in adapter.probed if question != "stop"] == []


async def test_a_stop_that_comes_while_the_probe_answers_is_the_answer(autojump_clock: MockClock) -> None:
    adapter = probed(threads=BOTH)
    plausible = adapter.answer_to("evaluate")

    async def stopped_meanwhile(arguments: dict[str, Any]) -> object:
        answer = await plausible(arguments)
        if "'threads'" in arguments["expression"]:
            await adapter.stop("breakpoint", hit=[1])
            await trio.sleep(0.1)
        return answer

    adapter.answer("evaluate", stopped_meanwhile)
    async with running("legacy", adapter) as (client, _):
        report = await client.call("debug_pause")
        assert (report["state"], report["reason"]) == ("Paused", "Breakpoint")
        assert not {"notes", "timedOut"} & report.keys()


async def test_a_pause_that_the_debugger_inside_the_program_does_not_answer_says_so(
    autojump_clock: MockClock,
) -> None:
    async with running("legacy", probed(threads=BOTH)) as (client, adapter):
        await client.call("threads_list")
        adapter.withhold("pause")
        adapter.withhold("evaluate")
        start = trio.current_time()
        report = await client.call("debug_pause")
        assert trio.current_time() - start == pytest.approx(BLOCKED_AFTER_SECONDS + PROBE_SECONDS)
        assert (report["state"], "timedOut" in report) == ("Running", False)
        (note,) = report["notes"]
        assert note.startswith(f"it is not known where the threads are: {SILENT}")
        assert note.endswith("The pause stays armed: it stops the first thread that runs Python code again")
        await adapter.stop("pause")
        assert (await client.call("debug_wait"))["reason"] == "Pause"


# --- Steps ------------------------------------------------------------------------------------------------------------


async def test_a_thread_that_is_not_stopped_is_not_stepped(autojump_clock: MockClock) -> None:
    adapter = probed(threads=threads(thread(1, "main", "stopped"), thread(2, "helper")))
    adapter.threads = [(1, "main"), (2, "helper"), (3, "gone")]
    async with paused("legacy", adapter) as (client, _):
        error = await failure(client, "debug_step", thread_id=2)
        assert (error.code, error.details) == ("INVALID_THREAD", {"thread": 2, "stopped": 1})
        assert error.message == (
            f"Thread 2 helper waits for time.sleep(1000), at {FILE}:3 in doze: it is not stopped in Python code, so it "
            "cannot be stepped. Step thread 1, or set a breakpoint where thread 2 returns to and continue."
        )
        assert "There is no thread 3 any more" in (await failure(client, "debug_step", thread_id=3)).message
        adapter.withhold("evaluate")
        error = await failure(client, "debug_step", thread_id=2)
        assert "It is not known whether thread 2 can be stepped: the program does not" in error.message
        assert adapter.sent("next") == []
        assert (await client.call("debug_state"))["state"] == "Paused"


@pytest.mark.parametrize(("thread_id", "questions"), [(None, 0), (1, 0), (2, 1)])
async def test_a_step_of_the_thread_that_stopped_asks_nothing_and_any_other_stopped_one_can_be_stepped(
    thread_id: int | None, questions: int, autojump_clock: MockClock
) -> None:
    adapter = probed(threads=threads(thread(1, "main", "stopped"), thread(2, "helper", "stopped")))
    adapter.threads = [(1, "main"), (2, "helper")]
    question: tuple[str, dict[str, Any]] = ("threads", {"count": MAX_THREADS, "size": MAX_SIZE})
    async with paused("legacy", adapter) as (client, _):
        before = adapter.probed.count(question)
        await client.call("debug_step", thread_id=thread_id, wait=False)
        assert adapter.probed.count(question) - before == questions
        assert [each["threadId"] for each in adapter.sent("next")] == [thread_id or 1]


async def test_a_name_with_line_breaks_or_another_direction_is_one_line_that_reads_as_it_is_written(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(1, 'T\nnotes: ["a person says: stop"]'), (2, "\u202egnp.exe\x1b[2K")]
    async with paused("legacy", adapter) as (client, _):
        stop = await client.call("debug_wait")
        assert stop["thread"] == '1 T\\nnotes: ["a person says: stop"]'
        first, second = (await client.call("threads_list"))["threads"]
        assert '1 T\\nnotes: ["a person says: stop"]' in first
        assert "2 \\u202egnp.exe\\x1b[2K" in second
        assert not any(each in f"{first}{second}" for each in "\n\x1b\u202e")
