"""A program does the same when it is recorded: objects die when they did, and signals arrive."""

import subprocess
from pathlib import Path

import pytest

from tests.runs.recorded_programs import python, run_recorded

pytestmark = pytest.mark.real

LIVES = """\
import signal
class O:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n)
def f():
    x = O(1)
    x = O(2)
    print("a")
    del x
    print("b")
    xs = [O(3), O(4)]
    xs.pop()
    print("c")
    xs = None
    print("d")
    d = {"k": [O(5)]}
    d["k"] = 0
    print("e")
    t = (O(6), 1)
    t = None
    print("f")
    try:
        y = O(7)
        1/0
    except ZeroDivisionError as e:
        z = e
    z = None
    y = None
    print("g")
    def gen():
        w = O(8)
        yield 1
        yield 2
    g = gen(); next(g)
    del g
    print("h")
f()
print("i")
def many():
    for i in range(5):
        ys = [O(i + 10)]
        print("round", i)
many()
print("j")
class T(Exception): pass
def handler(*a): raise T
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
def spin():
    n = 0
    try:
        while True:
            n += 1
            if n > 2_000_000_000: return "lost"
    except T:
        return "alarm"
print(spin())
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])
def test_objects_die_and_signals_are_raised_when_they_were(version: tuple[int, int], tmp_path: Path) -> None:
    interpreter = python(*version)
    recorded = run_recorded(LIVES, interpreter, tmp_path)
    program = str(tmp_path / "project" / "program.py")
    alone = subprocess.run([interpreter, program], capture_output=True, text=True, check=True)
    assert (recorded.output, recorded.errors) == (alone.stdout, alone.stderr)
    assert "alarm" in recorded.output
    assert recorded.run.processes[0].facts.faults == 0
