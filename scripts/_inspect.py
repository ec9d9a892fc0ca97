"""Measures a cold `trio-debugmcp inspect` beside the Inspector's `--cli`: processor time, from start to exit.

Both ask the same server, which is in nothing but the standard library; its own time is part of both.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(ROOT := Path(__file__).resolve().parent.parent))

from tests.client import node

STARTS = 5
SERVER = [sys.executable, str(ROOT / "tests" / "cli" / "tiny_server.py")]
OURS = [sys.executable, "-m", "trio_debugmcp", "inspect"]


def processor_time(argv: list[str], env: Mapping[str, str] | None = None) -> float:
    times = []
    for _ in range(STARTS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, timeout=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times) * 1000


def inspector() -> float | str:
    """The Inspector's time, or why there is none."""
    try:
        command = node.inspector()
    except pytest.skip.Exception as reason:
        return f"not run: {reason}"
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "HOME": home, "MCP_AUTO_OPEN_ENABLED": "false"}
        env["PATH"] = f"{Path(command[0]).parent}{os.pathsep}{env['PATH']}"
        return processor_time([*command, "--cli", *SERVER, "--method", "tools/list"], env)


def main() -> None:
    theirs = inspector()
    listed = processor_time([*OURS, "--method", "tools/list", "--", *SERVER])
    called = processor_time([*OURS, "--method", "tools/call", "--tool-name", "echo", "--", *SERVER])
    if isinstance(theirs, str):
        print(f"the Inspector's --cli                          {theirs}")
    else:
        print(f"the Inspector's --cli, tools/list, cold       {theirs:8.1f} ms of processor time")
    for what, ours in (("tools/list", listed), ("tools/call", called)):
        ratio = "" if isinstance(theirs, str) else f"   {ours / theirs:5.2f} x the Inspector's"
        print(f"inspect --method {what}, cold             {ours:8.1f} ms{ratio}")


if __name__ == "__main__":
    main()
