"""What `trio-debugmcp call` costs beside the tool's own time, and what the first call does: see docs/performance.md.

Run by `scripts/bench call`. The tool's own time is that of the same call on a connection that stays.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from trio_debugmcp.kept.calling import connect
from trio_debugmcp.kept.place import Place
from trio_debugmcp.own_command import own_command

STARTS, CALLS = 3, 20


def milliseconds(*words: str) -> float:
    """Return how long a call takes as a whole process."""
    start = time.perf_counter()
    subprocess.run(own_command("call", *words), check=False, capture_output=True)
    return 1000 * (time.perf_counter() - start)


def started(code: str) -> float:
    """Return how long Python takes for this code as a whole process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return 1000 * (time.perf_counter() - start)


def own_time(project: str) -> float:
    """Return how long the same tool takes on a connection that stays."""
    conversation = connect(Place.of(project))
    if conversation is None:
        raise SystemExit("no server is kept")
    times = []
    with conversation:
        for _ in range(CALLS):
            start = time.perf_counter()
            conversation.request("tools/call", {"name": "breakpoint_list", "arguments": {}})
            times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    """Print the figures."""
    with TemporaryDirectory() as runtime, TemporaryDirectory() as project:
        os.environ["XDG_RUNTIME_DIR"] = runtime
        Path(project, "pyproject.toml").touch()
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
        os.chdir(project)
        milliseconds("breakpoint_list")
        milliseconds("--end")
        python, floor, first = [], [], []
        for _ in range(STARTS):
            python.append(started("pass"))
            floor.append(started("import trio, msgspec"))
            first.append(milliseconds("breakpoint_list"))
            milliseconds("--end")
        milliseconds("breakpoint_list")
        later = [milliseconds("breakpoint_list") for _ in range(CALLS)]
        print(f"python -c pass                       {statistics.median(python):8.0f} ms")
        print(f"python -c 'import trio, msgspec'     {statistics.median(floor):8.0f} ms")
        print(f"the first call, with the server      {statistics.median(first):8.0f} ms")
        print(f"a call                               {statistics.median(later):8.0f} ms")
        print(f"the tool's own time                  {own_time(project):8.1f} ms")
        milliseconds("--end")


if __name__ == "__main__":
    main()
