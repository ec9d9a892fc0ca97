"""Run the recipes for programs of many processes: a breakpoint in the work of each stops in a worker, with its values.

Each recipe gets a virtual environment of its own, below a temporary directory that is removed at the end. The server
listens (`debug_listen`), the line of Python that it answers is put into the program, and the program is started as its
users start it. One line is printed for each: what has dialed in, where it stopped, and what came of it once it was
continued and the debugger had left. CPython 3.12 and 3.13 need nothing more; other versions get debugpy.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct

from trio_debugmcp.app import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, ToolFailed, open_server

INSTALL_SECONDS = 600
RUN_SECONDS = 90

ROOT = Path(__file__).resolve().parent.parent

WORK = """
def square(number):
    squared = number * number
    return squared
"""

POOL = """
import multiprocessing

LINE
from work import square

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.apply(square, (7,)), flush=True)
"""

WSGI = """
LINE
from work import square

def app(environ, start_response):
    body = str(square(7)).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""

ASGI = """
LINE
from work import square

async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(square(7)).encode()})
"""

ASKS = """
import sys, time, urllib.request
while True:
    try:
        print(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/", timeout=60).read().decode(), flush=True)
        break
    except ConnectionError:
        pass
    except OSError as error:
        if not isinstance(getattr(error, "reason", None), ConnectionError):
            raise
    time.sleep(0.2)
"""

CELERY = """
import os
from celery import Celery
from work import square

app = Celery("tasks", broker="filesystem://", backend="file://" + os.getcwd() + "/results")
app.conf.broker_transport_options = dict.fromkeys(
    ("data_folder_in", "data_folder_out", "processed_folder", "control_folder"), os.getcwd() + "/queue"
)

@app.task
def work(number):
    LINE
    return square(number)
"""

SENDS = """
from tasks import work
print(work.delay(7).get(timeout=60), flush=True)
"""

DASK = """
import os, sys
sys.path.append(os.environ["OURS"])
from dask.distributed import Client, LocalCluster
from trio_debugmcp.fleet import dial_in_dask, leave_dask
import work

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        assert not any(dial_in_dask(client, os.environ["ADDRESS"], os.environ["TOKEN"]).values())
        print(client.submit(work.square, 7).result(), flush=True)
        leave_dask(client)
"""

RAY = """
import os, sys
sys.path.append(os.environ["OURS"])
from trio_debugmcp.fleet import ray_runtime_env
import ray
import work

environment = ray_runtime_env(os.environ["ADDRESS"], os.environ["TOKEN"])
ray.init(
    num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80_000_000, runtime_env=environment
)
print(ray.get(ray.remote(work.square).remote(7)), flush=True)
"""

MPI = """
LINE
from mpi4py import MPI
from work import square

total = MPI.COMM_WORLD.allreduce(square(7))
if MPI.COMM_WORLD.rank == 0:
    print(total, flush=True)
"""


class Recipe(Struct, frozen=True, kw_only=True):
    """A program of many processes.

    Attributes:
        package: what is installed beside `requirements`, and whose version is shown.
        files: by their names, with `LINE` where the line of Python belongs.
        command: how it is started, in `{bin}`, at `{port}`.
        asks: the file that has it work, where it does not so by itself.
        result: what comes out, of the file that asks, or else of the program.
        edited: the file whose edit has the workers started again, which then are asked once more.
    """

    package: str = ""
    requirements: Sequence[str] = ()
    files: Mapping[str, str]
    command: Sequence[str]
    asks: str = ""
    result: str = "49"
    edited: str = ""


RECIPES = {
    "pool": Recipe(files={"job.py": POOL}, command=["{bin}/python", "job.py"]),
    "gunicorn": Recipe(
        package="gunicorn",
        files={"app.py": WSGI, "ask.py": ASKS},
        command=["{bin}/gunicorn", "--workers=2", "--timeout=0", "--bind=127.0.0.1:{port}", "app:app"],
        asks="ask.py",
    ),
    "reload": Recipe(
        package="gunicorn",
        files={"app.py": WSGI, "ask.py": ASKS},
        command=["{bin}/gunicorn", "--reload", "--workers=2", "--timeout=0", "--bind=127.0.0.1:{port}", "app:app"],
        asks="ask.py",
        edited="app.py",
    ),
    "uvicorn": Recipe(
        package="uvicorn",
        files={"app.py": ASGI, "ask.py": ASKS},
        command=["{bin}/uvicorn", "--workers=2", "--timeout-worker-healthcheck=600", "--port={port}", "app:app"],
        asks="ask.py",
    ),
    "celery": Recipe(
        package="celery",
        files={"tasks.py": CELERY, "ask.py": SENDS},
        command=["{bin}/celery", "--app=tasks", "worker", "--concurrency=2"],
        asks="ask.py",
    ),
    "dask": Recipe(package="distributed", files={"job.py": DASK}, command=["{bin}/python", "job.py"]),
    "ray": Recipe(package="ray", files={"job.py": RAY}, command=["{bin}/python", "job.py"]),
    "mpi": Recipe(
        package="mpi4py",
        requirements=["openmpi"],
        files={"job.py": MPI},
        command=["{bin}/mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "2", "{bin}/python", "job.py"],
        result="98",
    ),
}


class NotInstallable(Exception):
    """The packages cannot be had here; the reason is that of pip."""


async def installed(recipe: Recipe, python: str, folder: Path) -> str:
    """Make a virtual environment with what the recipe needs, and return the name and version of its package."""
    await trio.run_process([python, "-m", "venv", str(folder)])
    own = str(folder / "bin" / "python")
    version = await output([own, "-c", "import sys; print(*sys.version_info[:2], sep='.')"])
    wanted = [each for each in (recipe.package, *recipe.requirements) if each]
    wanted += [] if version in ("3.12", "3.13") else ["debugpy==1.8.22"]
    with trio.move_on_after(INSTALL_SECONDS) as scope:
        if wanted:
            command = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
            done = await trio.run_process(command, check=False, capture_stdout=True, capture_stderr=True)
            if done.returncode:
                raise NotInstallable(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    if scope.cancelled_caught:
        raise NotInstallable(f"not within {INSTALL_SECONDS} s")
    if not recipe.package:
        return f"Python {version}"
    asked = f"import importlib.metadata as m; print(m.version({recipe.package!r}))"
    return f"{recipe.package} {await output([own, '-c', asked])}, Python {version}"


async def output(command: Sequence[str], **options: Any) -> str:
    done = await trio.run_process(command, capture_stdout=True, **options)
    return done.stdout.decode().strip()


@asynccontextmanager
async def running(command: Sequence[str], log: Path, **options: Any) -> AsyncIterator[trio.Process]:
    """The program, ended with the block together with what it has started."""
    with log.open("wb") as file:
        process = await trio.lowlevel.open_process(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, start_new_session=True, **options
        )
    try:
        yield process
    finally:
        with trio.CancelScope(shield=True):
            for signal in (15, 9):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal)
                with trio.move_on_after(5):
                    await process.wait()


async def stopped(client: DebugClient, file: Path) -> str:
    """Wait for the stop in a worker, and return where it is; the values must be right."""
    stop = await client.call("debug_wait", timeout=RUN_SECONDS)
    values = stop.get("locals", {})
    if not stop.get("at", "").startswith(f"{file.name}:") or values != {"number": "7", "squared": "49"}:
        raise AssertionError(f"not as expected: {json.dumps(stop)[:600]}")
    labels = f" ({stop['labels']})" if stop.get("labels") else ""
    return f"stopped at {stop['at']}{labels}, number=7 squared=49"


async def restarted(client: DebugClient, file: Path) -> None:
    """Edit a file, and wait until the workers that had read it have gone and others have dialed in."""
    before = await sessions_of(client)
    file.write_text(file.read_text() + "\n# edited\n")
    with trio.fail_after(RUN_SECONDS):
        while (now := await sessions_of(client)) & before or len(now) < len(before):  # noqa: ASYNC110 (nothing tells it)
            await trio.sleep(0.2)


async def sessions_of(client: DebugClient) -> set[str]:
    try:
        return {each["sessionId"] for each in (await client.call("fleet_state", full=True))["processes"]}
    except ToolFailed:  # none is there at the moment
        return set()


async def tried(recipe: Recipe, binaries: Path, folder: Path, port: int) -> str:
    """Run the program under the debugger; return what was seen."""
    async with open_server(Options(settings=Settings(directory=str(folder)))) as server, server.connect() as client:
        door = await client.call("debug_listen")
        for name, text in {"work.py": WORK, **recipe.files}.items():
            (folder / name).write_text(text.replace("LINE", door["python"]))
        (folder / "queue").mkdir()
        (folder / "results").mkdir()
        file, line = folder / "work.py", 1 + WORK.splitlines().index("    return squared")
        await client.call("breakpoint_set", file=str(file), line=line)
        env = {**os.environ, "OURS": str(ROOT), "ADDRESS": door["address"], "TOKEN": door["token"], "HOME": str(folder)}
        env.pop("PYTHONPATH", None)
        command = [word.format(bin=binaries, port=port) for word in recipe.command]
        log, answered = folder / "log", folder / "answered"
        async with running(command, log, cwd=folder, env=env) as process:
            asking = [str(binaries / "python"), recipe.asks, str(port)] if recipe.asks else ["true"]
            again = ""
            if recipe.edited:
                again = f" before and after an edit of {recipe.edited}"
                async with running(asking, answered, cwd=folder, env=env) as asker:
                    await stopped(client, file)
                    await client.call("debug_continue", timeout=1)
                    with trio.fail_after(RUN_SECONDS):
                        await asker.wait()
                await restarted(client, folder / recipe.edited)
            async with running(asking, answered, cwd=folder, env=env) as asker:
                where = await stopped(client, file)
                number = (await client.call("debug_state", session_id=door["session"], full=True))["listening"]
                for _ in range(number["connected"]):  # each rank of a job stops there
                    await client.call("debug_continue", group="stopped", timeout=2)
                    if "stopped" not in (await client.call("fleet_state"))["processes"]:
                        break
                await client.call("debug_disconnect")
                with trio.fail_after(RUN_SECONDS):
                    await (asker if recipe.asks else process).wait()
            result = (answered if recipe.asks else log).read_text().split()
            if recipe.result not in result:
                raise AssertionError(f"{recipe.result} did not come out: {result[-20:]} {log.read_text()[-800:]}")
    return f"{number['connected']} dialed in; {where}{again}; continued, left, result {recipe.result}"


async def one(name: str, python: str, port: int) -> bool:
    """Try a recipe, and print its line; False if it was not as expected."""
    recipe = RECIPES[name]
    with tempfile.TemporaryDirectory(prefix="fleet-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch, "job")
        folder.mkdir()
        try:
            version = await installed(recipe, python, Path(scratch, "venv"))
        except NotInstallable as reason:
            print(f"{name}: not installable here: {reason}", flush=True)
            return True
        seen, problem = "", ""
        try:
            with trio.fail_after(3 * RUN_SECONDS):
                seen = await tried(recipe, Path(scratch, "venv", "bin"), folder, port)
        except* (AssertionError, ToolFailed, trio.TooSlowError) as errors:
            log = folder / "log"
            said = log.read_text()[-800:] if log.exists() else ""
            problem = f"failed: {first_of(errors)!r} {said}"
    print(f"{name} ({version}): {problem or seen}", flush=True)
    return not problem


def first_of(errors: BaseException) -> BaseException:
    while isinstance(errors, BaseExceptionGroup):
        errors = errors.exceptions[0]
    return errors


async def main() -> int:
    """Try the recipes that the command line names, or all."""
    parser = argparse.ArgumentParser("scripts/fleet-recipes", None, __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", help=f"of {', '.join(RECIPES)}; default: all")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the programs; default: this one")
    parser.add_argument("--port", type=int, default=8765, help="where servers listen; default: 8765")
    options = parser.parse_args()
    wanted = options.recipes or list(RECIPES)
    if unknown := set(wanted) - set(RECIPES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(RECIPES)}")
    done = [await one(name, options.python, options.port) for name in wanted]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(trio.run(main))
