"""Public programs under the engine: of each a breakpoint is hit and an exception stops, in whichever process its code
runs, and after the end no process is left.

What they need is installed at pinned versions into a virtual environment that is kept (`--cache`).
"""

import os
import socket
import sys
import tempfile
import urllib.error
import urllib.request
import uuid
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import trio
from _real_environments import installed, parser, pythons, version
from _real_texts import CELERY_SENDER, TEXTS

from trio_debugmcp.testing import DebugClient, ToolFailed, connect_stdio

RUN_SECONDS = 120
GONE_SECONDS = 20

REQUIREMENTS = ["pytest==8.3.5", "pytest-xdist==3.6.1", "pytest-asyncio==0.26.0", "coverage==7.8.0", "flask==3.1.0"]
REQUIREMENTS += ["uvicorn==0.34.0", "django==5.2", "gunicorn==23.0.0", "celery==5.5.0", "distributed==2024.12.1"]
REQUIREMENTS += ["ipykernel==6.29.5", "gevent==24.11.1", "eventlet==0.39.1"]

MARK = "REAL_PROGRAM"
"""A variable of the environment, by which the processes of a program are found."""


class Program(NamedTuple):
    """A program: the name of its text, what is launched, and what makes its code run, if it does not do so itself."""

    text: str
    target: dict[str, Any]
    urls: bool = False
    sender: str | None = None


def module(name: str, *words: str) -> dict[str, Any]:
    return {"module": name, "args": list(words)}


PROGRAMS = {
    "pytest": Program("tests", {"test": "test_job.py"}),
    "pytest, xdist": Program("tests", module("pytest", "-q", "-n2", "-p", "no:cacheprovider", "test_job.py")),
    "pytest, asyncio": Program("asynchronous tests", {"test": "test_job.py"}),
    "pytest, coverage": Program("tests", module("coverage", "run", "-m", "pytest", "-q", "test_job.py")),
    "unittest": Program("unittest", module("unittest", "test_job")),
    "flask": Program("flask", module("flask", "--app", "job", "run", "--debug", "--port", "PORT"), urls=True),
    "uvicorn": Program("asgi", module("uvicorn", "job:app", "--reload", "--port", "PORT"), urls=True),
    "django": Program("django", {"program": "job.py", "args": ["runserver", "127.0.0.1:PORT"]}, urls=True),
    "gunicorn": Program("flask", module("gunicorn", "job:app", "-w", "2", "-b", "127.0.0.1:PORT"), urls=True),
    "celery": Program("celery", module("celery", "-A", "job", "worker", "-c", "1"), sender=CELERY_SENDER),
    "dask": Program("dask", {"program": "job.py"}),
    "multiprocessing, fork": Program("processes", {"program": "job.py", "args": ["fork"]}),
    "multiprocessing, spawn": Program("processes", {"program": "job.py", "args": ["spawn"]}),
    "multiprocessing, forkserver": Program("processes", {"program": "job.py", "args": ["forkserver"]}),
    "jupyter": Program("jupyter", {"program": "job.py"}),
    "gevent": Program("gevent", {"program": "job.py"}),
    "eventlet": Program("eventlet", {"program": "job.py"}),
}


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def fetched(url: str) -> None:
    """Ask until a server answers; a page that says 500 is an answer."""
    while True:
        try:
            with urllib.request.urlopen(url, timeout=RUN_SECONDS):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            trio.from_thread.run(trio.sleep, 0.2)


def left_over(mark: str) -> list[int]:
    """Return the processes that have the mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


async def seen(client: DebugClient, program: Program, launch: dict[str, Any], lines: dict[int, str]) -> list[str]:
    """Launch, and continue until both lines were seen, or the program ends; return what is missing."""
    answer = await client.call("debug_launch", **launch)
    missing = dict(lines)
    others = []
    while missing and answer["state"] == "Paused":
        number = next((line for line in missing if f"job.py:{line} " in f"{answer['at']} "), None)
        if number is not None and answer["reason"] == missing[number]:
            del missing[number]
        elif number is None:
            others.append(f"{answer['reason']} at {answer['at']} {answer.get('exception', '')}")
        if not missing and (program.urls or program.sender):
            break
        answer = await client.call("debug_continue")
    while not missing and answer["state"] == "Paused" and not (program.urls or program.sender):
        answer = await client.call("debug_continue")
    wrong = [f"no stop by {reason} at line {line}: {answer}" for line, reason in missing.items()]
    return wrong + [f"stopped elsewhere: {other}" for other in others]


def marked(text: str) -> dict[int, str]:
    """Return the lines at which a program is to stop, each with the reason."""
    reasons = (("# here", "Breakpoint"), ("# there", "Exception"))
    lines = enumerate(text.splitlines(), 1)
    return {number: reason for number, line in lines for mark, reason in reasons if line.endswith(mark)}


async def tried(program: Program, python: str, folder: Path) -> list[str]:
    """Return what is not as it should be."""
    text = TEXTS[program.text]
    name = "test_job.py" if "test" in program.text else "job.py"
    (folder / name).write_text(text)
    lines = marked(text)
    here = next(line for line, reason in lines.items() if reason == "Breakpoint")
    port, mark = free_port(), uuid.uuid4().hex
    words = [word.replace("PORT", str(port)) for word in program.target.get("args", ())]
    launch = {
        **program.target,
        **({"args": words} if words else {}),
        "cwd": str(folder),
        "env": {MARK: mark, "PYTHONPATH": str(folder)},
        "breakpoints": [{"file": str(folder / name), "line": here}],
        "adapter_options": {"python": [python]},
        "stop_at_entry": False,
    }
    if "program" in launch:
        launch["program"] = str(folder / name)
    async with connect_stdio() as client, trio.open_nursery() as nursery:
        client.timeout = RUN_SECONDS
        await client.call(
            "breakpoint_set_exception",
            exception_type="ZeroDivisionError",
            break_on_first_chance=False,
            break_on_second_chance=True,
            break_on_user_unhandled=True,
        )
        for path in ("work", "fail") if program.urls else ():
            url = f"http://127.0.0.1:{port}/{path}"
            nursery.start_soon(partial(trio.to_thread.run_sync, fetched, url, abandon_on_cancel=True))
        if program.sender is not None:
            send = partial(trio.run_process, [python, "-c", program.sender], cwd=folder, check=False)
            nursery.start_soon(send)
        wrong = await seen(client, program, launch, lines)
        await client.call("debug_disconnect", terminate=True)
        nursery.cancel_scope.cancel()
    left = await ended(mark)
    return [*wrong, *([f"{left} processes are left over"] if left else [])]


async def ended(mark: str) -> int:
    """Wait for the end of a program's processes; kill those that are left, and return how many."""
    with trio.move_on_after(GONE_SECONDS):
        while left_over(mark):  # noqa: ASYNC110 (nothing reports them)
            await trio.sleep(0.1)
    left = left_over(mark)
    for pid in left:
        os.kill(pid, 9)
    return len(left)


async def judged(name: str, python: str) -> Sequence[str]:
    with tempfile.TemporaryDirectory(prefix="program-", ignore_cleanup_errors=True) as place:
        wrong: Sequence[str] = []
        try:
            with trio.fail_after(3 * RUN_SECONDS):
                wrong = await tried(PROGRAMS[name], python, Path(place))
        except* (ToolFailed, trio.TooSlowError, OSError, RuntimeError) as errors:
            wrong = [f"{error!r}" for error in errors.exceptions]
        return wrong


async def main() -> int:
    words = parser("real-programs", __doc__)
    words.add_argument("programs", metavar="PROGRAM", nargs="*", help="; ".join(PROGRAMS))
    options = words.parse_args()
    unknown = {*options.programs} - {*PROGRAMS}
    if unknown:
        words.error(f"no such program: {', '.join(sorted(unknown))}. There are: {'; '.join(PROGRAMS)}")
    failed = 0
    for python in pythons(options):
        own = installed(python, options.cache / f"programs-{version(python)}", REQUIREMENTS)
        print(version(python))
        for name in options.programs or PROGRAMS:
            wrong = await judged(name, own)
            print(f"  {name}: {'; '.join(wrong) or 'a breakpoint, an exception, a clean end'}"[:1500], flush=True)
            failed += bool(wrong)
    print("all as they should be" if not failed else f"{failed} WRONG")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(trio.run(main))
