"""Counts the tracepoint hits of programs that end at once, many times. Run by scripts/tracepoints."""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import trio

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.real.test_tracepoints import AT_THE_END, CHILDREN, HITS, count, output, trace, write
from trio_debugmcp.testing import connect_stdio

RUNS = 20
SECONDS = 180
ENDS = ("pass", "os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/tracepoints", description=__doc__)
    parser.add_argument("runs", metavar="RUNS", nargs="?", type=int, default=RUNS, help="default: %(default)s")
    runs = parser.parse_args().runs
    wrong = 0
    for number in range(runs):
        end = ENDS[number % len(ENDS)]
        wrong += report(f"run {number + 1}, which ends by {end}", trio.run(at_the_end, end))
    wrong += report("four children at once", trio.run(in_children))
    print(f"{wrong} of {runs + 1} wrong" if wrong else "all hits in order")
    return 1 if wrong else 0


def report(what: str, problem: str) -> bool:
    print(f"{what}: {problem or 'right'}", flush=True)
    return bool(problem)


async def at_the_end(end: str) -> str:
    """Debug the program once; returns what was wrong."""
    with tempfile.TemporaryDirectory() as folder, trio.fail_after(SECONDS):
        app = write(Path(folder), AT_THE_END.replace("END", end))
        alone = await trio.run_process([sys.executable, app], capture_stdout=True, check=False)
        async with connect_stdio() as client:
            made = await trace(client, app, "# here", "{number}")
            await client.call("debug_launch", program=app, stop_at_entry=False, timeout=SECONDS)
            lines, hits = (await output(client)).splitlines(), await count(client, made["id"])
            printed = await output(client, "stdout")
    if lines != [str(number) for number in range(HITS)] or hits != HITS:
        return f"{len(lines)} messages and {hits} hits of {HITS}"
    return "" if printed == alone.stdout.decode() else f"it printed {printed!r}, alone {alone.stdout!r}"


async def in_children() -> str:
    with tempfile.TemporaryDirectory() as folder, trio.fail_after(SECONDS):
        app = write(Path(folder), CHILDREN.replace("range(500)", f"range({HITS})"))
        async with connect_stdio() as client:
            made = await trace(client, app, "# here", "{number} {each}")
            began = time.monotonic()
            await client.call("debug_launch", program=app, stop_at_entry=False, timeout=SECONDS)
            read: dict[str, list[int]] = defaultdict(list)
            for line in (await output(client)).splitlines():
                who, each = line.split()
                read[who].append(int(each))
            hits = await count(client, made["id"])
            print(f"{hits} hits in {time.monotonic() - began:.1f} s")
    expected = {"-1": [*range(HITS)], "0": sorted([*range(HITS)] * 2), "1": sorted([*range(HITS)] * 2)}
    if hits != 5 * HITS or {who: sorted(each) for who, each in read.items()} != expected:
        return f"{hits} hits of {5 * HITS}, and {sum(map(len, read.values()))} messages"
    return "" if read["-1"] == expected["-1"] else "the program's own are not in order"


if __name__ == "__main__":
    sys.exit(main())
