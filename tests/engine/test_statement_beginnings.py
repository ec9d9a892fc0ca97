"""Where statements begin: how often each of their lines counts, of all the times that the interpreter reports it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.engine.test_catching import INTERPRETERS, ROOT

pytestmark = pytest.mark.real

COUNTED = """\
import json
import sys
sys.path.insert(0, {root!r})
from trio_debugmcp.engine.inside.program_files import ProgramFiles
from trio_debugmcp.engine.inside.program_sources import ProgramSources
from trio_debugmcp.engine.inside.statement_beginnings import StatementBeginnings

beginnings = StatementBeginnings(ProgramSources(ProgramFiles()))
counts = {{}}

def at_line(code, line):
    if code.co_filename == {tried!r}:
        offsets = beginnings.of(code, line)
        if offsets is None or sys._getframe(1).f_lasti in offsets:
            counts[line] = counts.get(line, 0) + 1

def at_start(code, offset):  # as the engine does: of code as a whole 3.13 does not report the line of a `def`
    if code.co_filename == {tried!r}:
        monitoring.set_local_events(3, code, monitoring.events.LINE)

monitoring = sys.monitoring
monitoring.use_tool_id(3, "test")
monitoring.register_callback(3, monitoring.events.LINE, at_line)
monitoring.register_callback(3, monitoring.events.PY_START, at_start)

class manager:
    def __init__(self, *_): pass
    def __enter__(self): return self
    def __exit__(self, *_): return True
    async def __aenter__(self): return self
    async def __aexit__(self, *_): return True

def g(a, *_):
    return a

def dec(*_):
    return lambda decorated: decorated

async def later(a):
    return a

async def each(*values):
    for value in values:
        yield value

def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass

code = compile(open({tried!r}).read(), {tried!r}, "exec")
monitoring.set_events(3, monitoring.events.PY_START)
exec(code)
monitoring.set_events(3, 0)
print(json.dumps([counts.get(line + 1, 0) for line in range(max(counts))]))
"""

STATEMENTS = {
    "if g(1, 2) != g(\n    2, 1\n):\n    pass": [1, 1, 0, 1],
    "x = g(g(\n    1\n), g(\n    2\n))": [1, 1, 1, 1],
    "for x in g(\n    (1, 2), 3\n):\n    g(x)": [3, 1, 0, 2],
    "for x in (\n    g(1), 2\n): g(x)": [3, 1, 2],
    "x = 2\nwhile g(\n    x\n):\n    x -= 1": [1, 3, 3, 0, 2],
    "x = 2\nwhile g(\n    x): x -= 1": [1, 3, 3],
    "with manager(\n    1\n) as x:\n    g(1)": [1, 1, 1, 1],
    "with manager(1) as x:\n    g(1)": [1, 1],
    "x = g(0) or g(1)": [1],
    "x = g(1) if g(0) else g(2)\nx = g(0) or g(\n    g(1) and g(2))": [1, 1, 1],
    "def f(): return g(0) or g(1)\nf(), f()": [3, 1],
    "with manager(1) as x:\n    1 / 0": [1, 1],
    "for x in (1, 2):\n    with manager(\n        x\n    ):\n        if x: continue": [3, 2, 2, 0, 2],
    "x = [\n    g(y)\n    for y in (1, 2)\n]": [1, 2, 1],
    "x = [g(\n    y) for y in (1, 2)]": [1, 1],
    "x = (1\n     if g(0) else\n     2)": [1, 1, 1],
    "x = (g(0) or\n     g(0) or\n     g(3))": [1, 1, 1],
    "@dec(\n    1)\ndef h(a,\n      b=2):\n    pass": [1, 1, 1, 1],
    "@dec(1)\nclass C(object):\n    x = g(\n        1)": [1, 1, 1, 1],
    "class D:\n    x = 1\n    def f(self): self.y = 1": [1, 1, 1],
    "class E[T]:\n    x = 1": [1, 1],
    "assert g(\n    1) == 1, 'm'": [1, 1],
    "try:\n    assert (g(1) and\n            g(0)), \\\n        'm'\nexcept AssertionError as e:\n    g(e)": [
        1,
        1,
        1,
        1,
        1,
        1,
    ],
    "match g(\n    2\n):\n    case 1 | 3:\n        pass\n    case 2 if g(\n        1\n    ):\n        g(1)": (
        [1, 1, 0, 1, 0, 1, 1, 0, 1]
    ),
    "try:\n    g(1)\nfinally:\n    g(g(\n        2), 3)": [1, 1, 0, 1, 1],
    "while True:\n    if g(\n        1\n    ):\n        break": [1, 1, 1, 0, 1],
    "async def h():\n    async with manager(\n        1\n    ):\n        g(await later(\n        1), 2)\nrun(h())": (
        [1, 1, 1, 0, 1, 1, 1]
    ),
    "async def h():\n    async for x in each(\n        1, 2\n    ):\n        g(x)\nrun(h())": [1, 3, 1, 0, 2, 1],
    "def h():\n    return g(\n        1) + g(\n        2)\nh()\nh()": [1, 2, 2, 2, 1, 1],
    "g(lambda: g(\n    1))()": [2, 1],
    "def h():\n    x = yield from once()\ndef once():\n    yield\nit = h()\nnext(it)\nit.close()": [1] * 7,
    "try:\n    found = [g(1 / n)\n        for n in (1, 0)]\nexcept ArithmeticError:\n    g(1)": [1, 1, 1, 1, 1],
}
"""How often each of their lines is to count."""


@pytest.mark.parametrize("python", INTERPRETERS.values(), ids=INTERPRETERS)
def test_a_line_counts_once_for_each_time_that_its_statement_begins(tmp_path: Path, python: str) -> None:
    for number, (statement, counts) in enumerate(STATEMENTS.items()):
        program, tried = tmp_path / f"program_{number}.py", tmp_path / f"tried_{number}.py"
        program.write_text(COUNTED.format(root=str(ROOT), tried=str(tried)))
        tried.write_text(statement)
        done = subprocess.run([python, program], capture_output=True, text=True, check=True)
        assert (statement, json.loads(done.stdout)) == (statement, counts)
