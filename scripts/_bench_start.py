"""The start, from the process to the answer to `initialize`, beside another commit's: `scripts/bench start [COMMIT]`.

Both are started in turns, as hosts start them. Compared is the processor time, as machines are busy, and printed are
the time by the clock and the memory as well; then the same when the list of tools has come. Fails above LIMIT.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

COMMIT = "f9add3b"
"""The last one that imported everything before it answered."""

LIMIT = 0.35

TURNS = 5

PARAMS = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}


class Moment(NamedTuple):
    """What the start has cost until a moment: seconds of processor time and by the clock, and megabytes."""

    processor: float
    clock: float
    memory: float


def moment(process: subprocess.Popen[bytes], begun: float) -> Moment:
    clock = time.perf_counter() - begun
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    ticks = int(fields[11]) + int(fields[12])
    return Moment(ticks / os.sysconf("SC_CLK_TCK"), clock, pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


def started(tree: Path) -> tuple[Moment, Moment]:
    """Start the server of a tree; return the moments of the answers to `initialize` and `tools/list`."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "trio_debugmcp", "serve"]
    env = {**os.environ, "PYTHONPATH": str(tree)}
    with subprocess.Popen(command, cwd=tree, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def ask(*messages: dict[str, object]) -> Moment:
            assert process.stdin is not None
            assert process.stdout is not None
            lines = (json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)
            process.stdin.write(b"".join(lines))
            process.stdin.flush()
            process.stdout.readline()
            return moment(process, begun)

        first = ask({"id": 1, "method": "initialize", "params": PARAMS})
        second = ask({"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"})
        process.communicate()
    return first, second


def middle(moments: list[Moment]) -> Moment:
    return Moment(*map(median, zip(*moments, strict=True)))


def main() -> None:
    commit = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] else COMMIT
    with tempfile.TemporaryDirectory() as directory:
        packed = subprocess.run(["git", "archive", commit, "trio_debugmcp"], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "x", "-C", directory], input=packed.stdout, check=True)
        trees = {commit: Path(directory), "this": ROOT}
        for tree in trees.values():
            started(tree)  # which compiles it
        turns = [{name: started(tree) for name, tree in trees.items()} for _ in range(TURNS)]
    found: dict[str, list[Moment]] = {}
    for number, answer in enumerate(("initialize", "tools/list")):
        for name in trees:
            found.setdefault(name, []).append(middle([turn[name][number] for turn in turns]))
            processor, clock, memory = found[name][-1]
            print(
                f"{answer:10}  {name:8}  processor {processor:5.2f} s   clock {clock:5.2f} s   memory {memory:5.1f} MB"
            )
    ratio = found["this"][0].processor / found[commit][0].processor
    print(f"initialize: {ratio:.2f} x the processor time of {commit}")
    if ratio > LIMIT:
        sys.exit(f"more than {LIMIT}")


if __name__ == "__main__":
    main()
