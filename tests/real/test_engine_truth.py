"""The engine's truth: what counts as a hit, who catches an exception, what becomes of evaluations that wait."""

from pathlib import Path

import pytest

from tests.pythons import Interpreter
from tests.real.conftest import Connect, hits, where
from tests.real.test_engine import NEW, launched

pytestmark = pytest.mark.parametrize("python", NEW.values(), ids=NEW)

LINES = """\
from contextlib import contextmanager

def g(a, b):
    return a

@contextmanager
def manager(a):
    yield a

def work(n):
    if g(n, n) != g(
        n, n
    ):
        return 0
    with manager(
        n
    ) as m:
        g(m, 0)
    found = [g(
        m, k) for k in range(3)]
    return found

for n in range(4):
    work(n)
print("done")
"""


async def test_a_statement_over_several_lines_is_hit_once_each_time_by_whatever_counts(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "lines.py"
        await launched(client, python, file, LINES, stop_at_entry=True)
        for line in (11, 12, 15, 19):
            await client.call("breakpoint_set", file=str(file), line=line, log_message=f"{line} {{n}}")
        await client.call("breakpoint_set", file=str(file), line=20, hit_condition="== 3")
        stop = await client.call("debug_continue")
        assert (where(stop).line, stop["locals"]["n"]) == (20, "2")
        said = stop["log"]
        await client.call("breakpoint_set", file=str(file), statement='print("done")')
        said += (await client.call("debug_continue"))["log"]
        assert sorted(said.splitlines()) == [f"{line} {n}" for line in (11, 12, 15, 19) for n in range(4)]
        assert sorted((await hits(client)).values()) == [1, 4, 4, 4, 4, 4]
        experiments = [{"file": str(file), "line": line, "capture": ["n"], "max_hits": 9} for line in (11, 15, 19)]
        launch = {"program": str(file), "adapter_options": {"python": [python.path]}, "replace": True}
        found = await client.call("batch_evaluate", experiments=experiments, launch=launch)
        for experiment in found["experiments"]:
            assert experiment["hits"] == [{"n": str(n)} for n in range(4)]
