"""Launches and ends a real program many times, and prints what the server's process uses. Run by scripts/cycles."""

import argparse
import sys
import time
from pathlib import Path

import trio

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.faults.real_cycles import Held, cycle_for_real

CYCLES = 100

WARM_AFTER = 10
"""Cycles until Python has taken the memory that it keeps for reuse from the system."""

MAX_GROWTH_KILOBYTES = 3000
"""Growth of resident memory over the other cycles: noise of the allocator, and less than one leaked launch."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/cycles", description=__doc__)
    parser.add_argument("cycles", metavar="COUNT", nargs="?", type=int, default=CYCLES, help="default: %(default)s")
    cycles = max(2, parser.parse_args().cycles)  # the first one is not counted
    start = time.monotonic()
    figures = trio.run(cycle_for_real, cycles)
    warm = min(WARM_AFTER, cycles - 1)
    for number in sorted({0, warm, len(figures) // 2, cycles}):
        print(f"after {number:4} cycles: {described(figures[number])}")
    print(f"{cycles} cycles in {time.monotonic() - start:.0f} s")
    first, last = figures[warm], figures[-1]
    flat = (first.tasks, first.descriptors, first.processes) == (last.tasks, last.descriptors, last.processes)
    grown = last.kilobytes - first.kilobytes
    print("flat" if flat and grown < MAX_GROWTH_KILOBYTES else f"NOT flat: {grown} KB more")
    return 0 if flat and grown < MAX_GROWTH_KILOBYTES else 1


def described(held: Held) -> str:
    return (
        f"{held.tasks} tasks, {held.descriptors} descriptors, {held.processes} processes, "
        f"{held.kilobytes} KB resident memory"
    )


if __name__ == "__main__":
    sys.exit(main())
