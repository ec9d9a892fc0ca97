"""What it costs to record a run: `scripts/bench record [PYTHON...]`; without one, on CPython 3.12 and 3.13.

Hot loops of the project's own code, the worst there is, and a program that works in libraries: each alone and recorded.
Processor time of the program itself, so a busy machine does not count as cost. See docs/recording-runs.md.
"""

import statistics
import subprocess
import sys
from pathlib import Path

from tests.runs.recorded_programs import python, run_recorded
from trio_debugmcp.runs.files.process_record import LINE, ProcessRecord

ROUNDS = 3

NUMBERS = """\
def work(n):
    total = 0
    for i in range(n):
        total += i
        total -= 1
        if total > 5:
            total ^= 3
    return total
"""

CALLS = """\
def add(a, b):
    return a + b
def work(n):
    total = 0
    for i in range(n):
        total = add(total, i)
    return total
"""

OBJECTS = """\
class Counter:
    def __init__(self):
        self.n = 0
        self.seen = []
    def step(self, by):
        self.n += by
        if by % 100 == 0:
            self.seen.append(by)
        return self.n
def work(n):
    counter = Counter()
    for i in range(n):
        counter.step(i)
    return counter.n
"""

CONTAINERS = """\
def work(n):
    items = []
    counts = {}
    for i in range(n):
        items.append(i)
        counts["k"] = i
        if len(items) > 30:
            items = []
    return len(items)
"""

LIBRARIES = """\
import json, random, re, statistics
def work(n):
    random.seed(1)
    values = [random.random() for _ in range(n * 40)]
    text = json.dumps(values)
    read = json.loads(text)
    words = re.findall(r"0\\.(\\d+)", text)
    mean = statistics.fmean(read)
    middle = statistics.median(sorted(read))
    return mean, middle, len(words)
"""

END = """
import time
start = time.process_time()
work({n})
took = time.process_time() - start
print(took, open("/proc/self/statm").read().split()[1])
"""

PROGRAMS = {
    "numbers": (NUMBERS, 20_000),
    "calls": (CALLS, 20_000),
    "objects": (OBJECTS, 20_000),
    "containers": (CONTAINERS, 20_000),
    "libraries": (LIBRARIES, 10_000),
}


def alone(interpreter: str, program: str) -> tuple[float, int]:
    """Return the seconds and the pages of memory of a program that is not recorded."""
    ran = subprocess.run([interpreter, "-c", program], capture_output=True, text=True, check=True)
    seconds, pages = ran.stdout.split()
    return float(seconds), int(pages)


def lines_in(process: ProcessRecord) -> int:
    return sum(process.row(number).kind == LINE for number in range(process.first, process.last + 1))


def row(interpreter: str, name: str) -> str:
    """Measure one program, and return its line of the table."""
    source, n = PROGRAMS[name]
    program = source + END.format(n=n)
    seconds, pages = min(alone(interpreter, program) for _ in range(ROUNDS))
    recorded = [run_recorded(program, interpreter) for _ in range(ROUNDS)]
    took = statistics.median(float(ran.output.split()[0]) for ran in recorded)
    more = (int(recorded[0].output.split()[1]) - pages) * 4096 / 1e6
    (process,) = recorded[0].run.processes
    lines = lines_in(process)
    size = sum(file.stat().st_size for file in Path(process.directory).glob("*.z"))
    kept = max(process.last // 65_536 * 65_536, 1)
    return (
        f"{name:<11} {seconds * 1000:8.1f} ms {took * 1000:9.1f} ms {took / seconds:7.1f} x "
        f"{took / lines * 1e6:7.2f} us/line {process.last / lines:5.2f} rows/line {size / kept:5.2f} bytes/row "
        f"{more:6.1f} MB more  {process.facts.faults or ''}"
    )


def main() -> None:
    for interpreter in sys.argv[1:] or [python(3, 12), python(3, 13)]:
        print(interpreter)
        for name in PROGRAMS:
            print(row(interpreter, name), flush=True)


if __name__ == "__main__":
    main()
