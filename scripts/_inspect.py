"""Measures a cold `trio-debugmcp inspect` beside the Inspector's `--cli`: processor time, from start to exit.

Of a server command both ask the same one, which is in nothing but the standard library; its own time is part of both.
At a URL both ask a server that runs already; its time is part of neither. The Inspector has no WebSockets, so those of
ours are set beside its time for HTTP.
"""

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(ROOT := Path(__file__).resolve().parent.parent))

from tests.client import node

STARTS = 5
SERVER = [sys.executable, str(ROOT / "tests" / "cli" / "tiny_server.py")]
OURS = [sys.executable, "-m", "trio_debugmcp", "inspect"]
TOKEN = "bench-" + "0" * 24
HEADER = ["--header", f"Authorization: Bearer {TOKEN}"]
CALLS = {
    "tools/list": ["--method", "tools/list"],
    "tools/call": ["--method", "tools/call", "--tool-name", "echo"],
}


def processor_time(argv: list[str], env: Mapping[str, str] | None = None) -> float:
    times = []
    for _ in range(STARTS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, timeout=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times) * 1000


def inspector(*words: str) -> float | str:
    """The Inspector's time, or why there is none."""
    try:
        command = node.inspector()
    except pytest.skip.Exception as reason:
        return f"not run: {reason}"
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "HOME": home, "MCP_AUTO_OPEN_ENABLED": "false"}
        env["PATH"] = f"{Path(command[0]).parent}{os.pathsep}{env['PATH']}"
        return processor_time([*command, "--cli", *words], env)


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """A server of ours on both ports; yields its URLs."""
    options = ["--http", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--no-stdio", "--token", TOKEN]
    command = [sys.executable, "-m", "trio_debugmcp", "serve", *options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        urls: dict[str, str] = {}
        while len(urls) < 2:
            line = server.stderr.readline()
            if not line:
                raise SystemExit("the server has not started")
            if found := re.match(r"(http|dashboard): http://([^/]+)", line):  # the dashboard is on the WebSocket port
                scheme = "http" if found[1] == "http" else "ws"
                urls[scheme] = f"{scheme}://{found[2]}/mcp"
        try:
            yield urls
        finally:
            server.terminate()


def show(what: str, ours: float, theirs: float | str) -> None:
    ratio = theirs if isinstance(theirs, str) else f"{ours / theirs:5.2f} x the Inspector's {theirs:6.1f} ms"
    print(f"inspect {what:<24}{ours:8.1f} ms   {ratio}", flush=True)


def main() -> None:
    for method, words in CALLS.items():
        theirs = inspector(*SERVER, *words)
        show(f"{method}, a command", processor_time([*OURS, *words, "--", *SERVER]), theirs)
    with serving() as urls:
        for method, words in {**CALLS, "tools/call": ["--method", "tools/call", "--tool-name", "debug_state"]}.items():
            theirs = inspector(urls["http"], "--transport", "http", *HEADER, *words)
            for scheme, url in urls.items():
                show(f"{method}, {scheme}", processor_time([*OURS, url, *HEADER, *words]), theirs)


if __name__ == "__main__":
    main()
