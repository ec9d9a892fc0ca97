"""Debug the workers of real distributed programs: a breakpoint in a task stops in each process, with the right locals.

Each engine is installed at a pinned version into a virtual environment of its own, below a temporary directory that is
removed at the end. The server listens (`debug_listen`), the line of Python that it answers is pasted into the
task, and the program is started as its users start it. Then every stop is checked: its place, its locals, the process;
once all stand, `stacktrace_get("*")` must show them together; and the results must be right at the end. Of torchrun a
job that hangs is looked at, too: `fleet_state` must name the rank that is not in the collective.

With `--python` nothing is installed: that interpreter has the packages, as Debian's has with `python3-torch`.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct

from trio_debugmcp.app import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, open_server

INSTALL_SECONDS = 600
RUN_SECONDS = 180

WORKERS = 2

RANKS = 4

DASK = """
from dask.distributed import Client, LocalCluster

def square(number):
    LINE
    squared = number * number
    return squared

if __name__ == "__main__":
    from job import square  # a copy of one of `__main__` has no file

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        workers = sorted(client.scheduler_info()["workers"])
        print(sum(client.gather([client.submit(square, n, workers=[each]) for n, each in enumerate(workers)])))
"""

RAY = """
import os
import ray

@ray.remote
class Worker:
    def square(self, number):
        LINE
        squared = number * number
        return squared

if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80_000_000)
    workers = [Worker.remote() for _ in range(2)]
    print(sum(ray.get([worker.square.remote(number) for number, worker in enumerate(workers)])))
"""

TORCHRUN = """
import torch
import torch.distributed as dist

def square(number):
    LINE
    squared = number * number
    return squared

dist.init_process_group("gloo")
total = torch.tensor([square(dist.get_rank())])
dist.all_reduce(total)
if dist.get_rank() == 0:
    print(int(total))
dist.destroy_process_group()
"""

HANGS = """
LINE
import time
import torch
import torch.distributed as dist

def load_batch():
    time.sleep(1000)

def train():
    if dist.get_rank() == 2:
        load_batch()
    dist.all_reduce(torch.tensor([1.0]))

dist.init_process_group("gloo")
train()
"""


class Engine(Struct, frozen=True):
    """A distributed program: what it needs, its source with `LINE` in the task, and the command that starts it.

    `hangs`: the source of one of which rank 2 never comes to the collective.
    """

    requirements: Sequence[str]
    source: str
    command: Sequence[str]
    hangs: str = ""


ENGINES = {
    "dask": Engine(["distributed==2024.12.1", "debugpy==1.8.22"], DASK, ["{python}", "{file}"]),
    "ray": Engine(["ray==2.40.0", "debugpy==1.8.22"], RAY, ["{python}", "{file}"]),
    "torchrun": Engine(
        ["--extra-index-url=https://download.pytorch.org/whl/cpu", "torch==2.5.1+cpu", "numpy<3", "debugpy==1.8.22"],
        TORCHRUN,
        [
            *("{python}", "-m", "torch.distributed.run", "--standalone", "--nproc_per_node={number}"),
            *("--redirects=1", "--tee=1", "{file}"),  # without these torch 1.13 does not start on Python 3.11
        ],
        HANGS,
    ),
}


class NotInstallable(Exception):
    """The engine cannot be had here; the reason is that of pip."""


async def install(engine: Engine, folder: Path) -> Path:
    """Make a virtual environment with the engine in it, and return its interpreter."""
    await trio.to_thread.run_sync(lambda: venv.create(folder, with_pip=True))
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", *engine.requirements]
    with trio.move_on_after(INSTALL_SECONDS):
        done = await trio.run_process(command, check=False, capture_stdout=True, capture_stderr=True)
        if done.returncode == 0:
            return python
        raise NotInstallable(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    raise NotInstallable(f"not within {INSTALL_SECONDS} s")


@asynccontextmanager
async def started(engine: Engine, python: Path, file: Path, number: int = WORKERS) -> AsyncIterator[trio.Process]:
    """The program, ended with the block, in a process group of its own."""
    command = [word.format(python=python, file=file, number=number) for word in engine.command]
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, cwd=file.parent, start_new_session=True)
    try:
        yield process
    finally:
        with trio.CancelScope(shield=True):
            for number in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                with trio.move_on_after(10):
                    await process.wait()


def dialing(door: dict[str, Any], source: str) -> str:
    """Return the source with the line of Python in it, and before it where our debugpy is, for who needs that."""
    found = re.search(r"import sys; sys\.path\.append\('[^']+'\)", " ".join(door.get("notes", [])))
    return source.replace("LINE", f"{found[0]}; {door['python']}" if found else door["python"])


async def debug(engine: Engine, python: Path, folder: Path) -> None:
    """Run the program under the debugger, and check what is seen."""
    options = Options(settings=Settings(directory=str(folder)))
    async with open_server(options) as server, server.connect() as client:
        door = await client.call("debug_listen")
        file = folder / "job.py"
        file.write_text(dialing(door, engine.source))
        line = 1 + file.read_text().splitlines().index(
            next(each for each in file.read_text().splitlines() if "return squared" in each)
        )
        await client.call("breakpoint_set", file=str(file), line=line)
        before = trio.current_time()
        async with started(engine, python, file) as process:
            stop = await client.call("debug_wait", timeout=RUN_SECONDS)
            print(f"  first stop after {trio.current_time() - before:.1f} s")
            found = await all_stopped(client, file, line)
            threads = sum(each.get("count", 1) for each in found["stacks"])
            print(f"  {threads} threads in {WORKERS} processes: {len(found['stacks'])} different stacks")
            print(f"  {found['stacks_here']['count']} x {found['stacks_here']['frames'][0]}")
            numbers = []
            for _ in range(WORKERS):
                values = stop["locals"]
                print(f"  {stop['session']} {values}")
                check(stop["at"].startswith(f"{file.name}:{line} "), stop)
                check(int(values["squared"]) == int(values["number"]) ** 2, values)
                numbers.append(int(values["number"]))
                stop = await client.call("debug_continue", timeout=1 if len(numbers) == WORKERS else RUN_SECONDS)
            check(sorted(numbers) == list(range(WORKERS)), numbers)
            if process.stdout is None:
                raise AssertionError("started with a pipe")
            written = b"".join([data async for data in process.stdout]).decode().split()
            result = written[-1].rpartition(":")[2] if written else ""  # behind torchrun's name of the rank
            check(result == str(sum(number**2 for number in range(WORKERS))), written)
            print(f"  result {result}")
        await client.call("debug_disconnect")


async def triage(engine: Engine, python: Path, folder: Path) -> None:
    """Run the program that hangs, and look at it once."""
    async with open_server(Options(settings=Settings(directory=str(folder)))) as server, server.connect() as client:
        door = await client.call("debug_listen")
        file = folder / "hangs.py"
        file.write_text(dialing(door, engine.hangs))
        async with started(engine, python, file, RANKS):
            with trio.fail_after(RUN_SECONDS):
                while "missing" not in (state := await client.call("fleet_state")):  # noqa: ASYNC110 (nothing tells it)
                    await trio.sleep(0.5)
            [missing] = state["missing"]
            print(f"  hangs: {missing} ({len(json.dumps(state))} bytes)")
            check(
                "3 of 4 ranks are in all_reduce " in missing and "rank 2 is not in it: 2 in load_batch " in missing,
                state,
            )
        await client.call("debug_disconnect")


async def all_stopped(client: DebugClient, file: Path, line: int) -> dict[str, Any]:
    """Wait until every worker stands at the line, and return the view of all stacks, with that stack beside it."""
    with trio.fail_after(RUN_SECONDS):
        while True:
            found = await client.call("stacktrace_get", thread_id="*")
            for each in found["stacks"]:
                if each.get("count", 1) == WORKERS and each["frames"][0].endswith(f" {file.name}:{line}"):
                    return {**found, "stacks_here": each}
            await trio.sleep(0.2)


def check(holds: bool, seen: object) -> None:
    if not holds:
        raise SystemExit(f"not as expected: {seen}")


async def main() -> int:
    """Try the engines that the command line names, or all."""
    parser = argparse.ArgumentParser("scripts/distributed", None, __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("engines", nargs="*", metavar="ENGINE", help=f"of {', '.join(ENGINES)}; default: all")
    parser.add_argument("--python", type=Path, help="an interpreter that has what they need; default: from PyPI")
    options = parser.parse_args()
    wanted = options.engines or list(ENGINES)
    if unknown := set(wanted) - set(ENGINES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(ENGINES)}")
    tried = 0
    for name in wanted:
        engine = ENGINES[name]
        print(f"{name}: {options.python or ' '.join(engine.requirements)}", flush=True)
        with tempfile.TemporaryDirectory(prefix="distributed-", ignore_cleanup_errors=True) as folder:
            try:
                python = options.python or await install(engine, Path(folder, "venv"))
            except NotInstallable as reason:
                print(f"  not installable here: {reason}")
                continue
            with trio.fail_after(2 * RUN_SECONDS):
                await debug(engine, python, Path(folder))
                if engine.hangs:
                    await triage(engine, python, Path(folder))
            tried += 1
    print(f"{tried} of {len(wanted)} engines tried, as expected")
    return 0 if tried else 1


if __name__ == "__main__":
    sys.exit(trio.run(main))
