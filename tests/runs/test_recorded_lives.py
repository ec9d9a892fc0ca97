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

NAMESPACES = """\
import collections.abc
class Loud(dict):
    def get(self, name, *rest):
        print("get", name)
        return super().get(name, *rest)
    def copy(self):
        print("copy")
    def __iter__(self):
        print("iter")
        return super().__iter__()
class Other(collections.abc.MutableMapping):
    def __init__(self): self.names = {}
    def __getitem__(self, name):
        if name[:2] != "__": print("read", name)
        return self.names[name]
    def __setitem__(self, name, value): self.names[name] = value
    def __delitem__(self, name): del self.names[name]
    def __iter__(self):
        print("iter")
        return iter(self.names)
    def __len__(self): return len(self.names)
def made(namespace):
    class Kind(type):
        @classmethod
        def __prepare__(cls, *rest): return namespace()
        def __new__(cls, name, bases, names):
            return type.__new__(cls, name, bases, dict(getattr(names, "names", names)))
        def __hash__(cls):
            print("hash")
            return 1
        def __eq__(cls, other):
            print("eq")
            return cls is other
    class Thing(metaclass=Kind):
        size = 3
        half = size // 2
        for turn in [1, 2]:
            size += turn
        def get(self): return self.size
    one = Thing()
    print(one.get(), one.half)
    kinds = [Thing, one]
    return kinds
made(Loud)
made(Other)
"""


@pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])
def test_a_namespace_of_the_programs_own_kind_is_not_asked(version: tuple[int, int], tmp_path: Path) -> None:
    interpreter = python(*version)
    recorded = run_recorded(NAMESPACES, interpreter, tmp_path)
    program = str(tmp_path / "project" / "program.py")
    alone = subprocess.run([interpreter, program], capture_output=True, text=True, check=True)
    assert (recorded.output, recorded.errors) == (alone.stdout, alone.stderr)
    assert recorded.run.processes[0].facts.faults == 0


@pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=["3.12", "3.13"])
def test_objects_die_and_signals_are_raised_when_they_were(version: tuple[int, int], tmp_path: Path) -> None:
    interpreter = python(*version)
    recorded = run_recorded(LIVES, interpreter, tmp_path)
    program = str(tmp_path / "project" / "program.py")
    alone = subprocess.run([interpreter, program], capture_output=True, text=True, check=True)
    assert (recorded.output, recorded.errors) == (alone.stdout, alone.stderr)
    assert "alarm" in recorded.output
    assert recorded.run.processes[0].facts.faults == 0
