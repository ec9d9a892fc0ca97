"""Tasks are places: their frames are looked into and evaluated in, while the program runs, hangs or is stopped."""

from pathlib import Path

import pytest

from tests.pythons import Interpreter, found
from tests.real.conftest import Connect
from trio_debugmcp.testing import DebugClient, ToolFailed

PYTHONS = [python for python in found() if python.version >= (3, 8)]

pytestmark = pytest.mark.parametrize("python", PYTHONS, ids=lambda python: "{}.{}".format(*python.version))

HANG = """\
import asyncio

class Gate:
    def __init__(self):
        self.queue = []

    async def enter(self, name):
        future = asyncio.get_running_loop().create_future()
        self.queue.append((name, future))
        await future

async def client(gate, name):
    tries = len(name)
    await gate.enter(name)

async def worker(lock, number):
    async with lock:
        await asyncio.sleep(1000)

async def main():
    gate, lock = Gate(), asyncio.Lock()
    jobs = [client(gate, "ann"), client(gate, "bob"), worker(lock, 1), worker(lock, 2)]
    tasks = [asyncio.ensure_future(each) for each in jobs]
    for task, name in zip(tasks, ("ann", "bob", "worker", "worker")):
        task.set_name(name)
    await asyncio.sleep(0.01)
    print("waiting", flush=True)
    await asyncio.gather(*tasks)

asyncio.run(main())
"""


async def hanging(client: DebugClient, python: Interpreter, file: Path, text: str) -> None:
    file.write_text(text)
    options = {"python": [python.path]}
    places = [{"file": str(file), "statement": 'print("waiting", flush=True)'}]
    await client.call("debug_launch", program=str(file), adapter_options=options, breakpoints=places)


async def refusal(client: DebugClient, tool: str, **arguments: object) -> str:
    with pytest.raises(ToolFailed) as failed:
        await client.call(tool, **arguments)
    message: str = failed.value.message
    return f"{failed.value.code}: {message}"


async def test_a_task_is_looked_into_while_its_program_hangs_and_while_it_is_stopped(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        await hanging(client, python, tmp_path / "hang.py", HANG)
        for state in ("Paused", "Running"):
            assert (await client.read("debugger://session"))["state"] == state
            await look(client, 3 if state == "Paused" else 4)
            if state == "Paused":
                await client.call("debug_continue", wait=False)


async def look(client: DebugClient, tries: int) -> None:
    listed = await client.call("tasks_list", locals=True)
    lines = dict(line.split(": ", 1) for line in listed["tasks"])
    values = dict(zip([line.partition(":")[0] for line in listed["tasks"]], listed["locals"], strict=True))
    assert "waits for future, which is at `gate.queue[1][1]` in main (" in lines["bob"]
    assert values["bob"]["1 client"]["name"] == "'bob'"
    assert "queue=[" in values["bob"]["0 Gate.enter"]["self"]
    workers = [name for name in lines if name.startswith("worker#")]
    (holder,) = (name for name in workers if lines[name].endswith("waits for asyncio.sleep(1000)"))
    (blocked,) = set(workers) - {holder}
    assert lines[blocked].endswith(f", waits for lock, probably held by task {holder}")

    stack = await client.call("stacktrace_get", task="bob", locals=True)
    assert [frame.partition(" ")[0] for frame in stack["frames"]] == ["Gate.enter", "client"]
    assert (stack["state"], stack["locals"][1]["tries"]) == ("Waiting", str(tries))
    inside = await client.call("variables_get", task="bob", frame_index=1, path="gate.queue[0]")
    assert "'ann'" in inside["variables"].values()
    evaluated = await client.call("evaluate", task="bob", frame_index=1, expression="tries += 1; f'{name} {tries}'")
    assert evaluated["value"] == f"'bob {tries + 1}'"
    own = await client.call("evaluate", task=holder, expression="lock.locked(), number > 0")
    assert own["value"] == "(True, True)", "its innermost frame is asyncio's"
    assert {"lock", "number"} <= (await client.call("variables_get", task=holder))["variables"].keys()
    assert (await client.call("evaluate_safe", task=holder, expression="number > 0"))["value"] == "True"
    safely = await client.call("evaluate_safe", task="bob", frame_index=1, expression="tries")
    assert safely["value"] == str(tries + 1)
    assert "INVALID_PARAMETER: 2 tasks are named worker: pass one of " in await refusal(
        client, "variables_get", task="worker"
    )
    assert "INVALID_PARAMETER: No task carl was found among those that are not done: " in await refusal(
        client, "evaluate", task="carl", expression="1"
    )
    assert (await refusal(client, "variables_get", task="bob", frame_index=2)).endswith("frames go from 0 to 1.")
    assert "not both" in await refusal(client, "variables_get", task="bob", thread_id=1)
