"""What an answer says where something was not found, did not end, or was elsewhere."""

from pathlib import Path

from tests.real.conftest import Connect

DEADLOCK = """\
import threading
first, second, ready = threading.Lock(), threading.Lock(), threading.Barrier(2)

def pay(mine, other):
    with mine:
        ready.wait()
        with other:
            pass

threading.Thread(target=pay, args=(second, first), name="payer").start()
pay(first, second)
"""


async def test_a_launch_that_ran_out_in_a_deadlock_says_who_waits_for_whom(debugging: Connect, tmp_path: Path) -> None:
    file = tmp_path / "bank.py"
    file.write_text(DEADLOCK)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(file), timeout=0, stop_at_entry=False)
        while not any("deadlock: " in note for note in stop.get("notes", [])):
            stop = await client.call("debug_wait", timeout=0.5)
        first, second = (line.split()[0].lstrip("*") for line in stop["threads"])
        assert stop["notes"][-1] in [
            f"probably a deadlock: threads {a}, {b} wait for each other" for a, b in [(first, second), (second, first)]
        ]


async def test_an_id_of_a_parametrized_test_that_is_not_there_is_answered_with_those_there_are(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "test_n.py"
    file.write_text(
        "import pytest\n\n@pytest.mark.parametrize('n', [1, 2, 30])\ndef test_n(n): ...\n\ndef test_m(): ...\n"
    )
    async with debugging() as client:
        stop = await client.call("debug_launch", test=f"{file}::test_n[3]")
        assert stop["exitCode"] == 4
        assert "there are: test_n.py::test_n[1], test_n.py::test_n[2], test_n.py::test_n[30]\n" in stop["stderr"]
        assert "collected" not in stop["stdout"]


CALLS = """\
import multiprocessing
import threading

def work(number):
    return number * 2

def serve(begun, go):
    begun.set()
    go.wait()

def main():
    begun, go = threading.Event(), threading.Event()
    threading.Thread(target=serve, args=(begun, go), daemon=True).start()
    begun.wait()
    print("here")
    child = multiprocessing.Process(target=work, args=(3,))
    child.start()
    child.join()
    print("there")

if __name__ == "__main__":
    main()
"""


async def test_a_trace_says_where_the_calls_are_that_it_does_not_see(debugging: Connect, tmp_path: Path) -> None:
    file = tmp_path / "calls.py"
    file.write_text(CALLS)
    places = [{"file": str(file), "statement": f'print("{word}")'} for word in ("here", "there")]
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), breakpoints=places)
        traced = await client.call("trace_function", function="serve")
        assert "serve was not called" in traced["notes"]
        (running,) = (note for note in traced["notes"] if note.startswith("serve is running, in a call that had begun"))
        assert "calls.py:9" in running
        await client.call("debug_restart")
        traced = await client.call("trace_function", function="work")
        assert traced["calls"] == []
        assert any(
            note.startswith("calls in other processes of the program are not followed: s-") for note in traced["notes"]
        )


MOVED = """\
def add(number):

    total = number + 1
    return total

for each in range(5):
    add(each)
"""


async def test_a_place_that_was_moved_to_code_is_said_to_be(debugging: Connect, tmp_path: Path) -> None:
    file = tmp_path / "moved.py"
    file.write_text(MOVED)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=True)
        until = await client.call("debug_run_until", file=str(file), line=2, expression="number == 1")
        assert (until["holds"], until["notes"]) == (True, ["moved from line 2 to 3, where code is"])
        batch = await client.call("batch_evaluate", experiments=[{"file": str(file), "line": 2, "max_hits": 9}])
        assert "experiment 1: moved from line 2 to 3, where code is" in batch["notes"]
        assert batch["experiments"][0]["at"].endswith("moved.py:3")
        assert batch["experiments"][0]["hitCount"] == 3


async def test_a_run_until_in_a_function_ends_at_a_breakpoint_of_that_function(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "moved.py"
    file.write_text(MOVED)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=True)
        named = await client.call("breakpoint_set", function="add")
        until = await client.call("debug_run_until", function="add", expression="number == 3")
        assert (until["breakpoints"], until["looks"], until["locals"]) == ([named["id"]], 1, {"number": "0"})
        conditional = await client.call("breakpoint_set", function="add", condition="number == 2")
        until = await client.call("debug_run_until", function="add", expression="number == 3")
        assert (until["breakpoints"], until["locals"]) == ([conditional["id"]], {"number": "2"})
        until = await client.call("debug_run_until", function="add", expression="number == 3")
        assert (until["holds"], until["locals"]) == (True, {"number": "3"})
