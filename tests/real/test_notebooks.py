"""A notebook is a program: its cells are run in turn, and stopped, stepped and recorded by the lines of its file."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.pythons import Interpreter, found
from tests.real.conftest import Connect
from trio_debugmcp.testing import ToolFailed

pytestmark = pytest.mark.real

WITH_ENGINE = [python for python in found() if (3, 12) <= python.version[:2] <= (3, 13)]
NEWEST = WITH_ENGINE[-1:]
OLDER = [python for python in found() if python.version[:2] < (3, 12)][-1:]

CELLS = [
    "import asyncio, sys\npaid = {'ann': 7}",
    "def share(name):\n    total = sum(paid.values())\n    return paid[name] / total",
    'query = """\\n%s""" % (\n    7\n    % 4)',
    "%precision 3\nassert query == '\\n3'\ntask = asyncio.create_task(asyncio.sleep(0))",
    "await task\nshare('ann')",
    "sys.argv[1:], __name__, sorted(names for names in dir() if names[0] != '_');",
    "for name in ['ann', 'bob']:\n    print(name, share(name))",
]


def written(folder: Path, sources: Sequence[str] = CELLS) -> Path:
    folder.mkdir()
    cells = [{"cell_type": "code", "metadata": {}, "source": cell.splitlines(keepends=True)} for cell in sources]
    file = folder / "job.ipynb"
    file.write_text(json.dumps({"cells": cells, "nbformat": 4}, indent=1))
    return file


def line_of(file: Path, text: str) -> int:
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


@pytest.mark.parametrize("python", NEWEST, ids=lambda python: "{}.{}".format(*python.version))
async def test_a_notebook_stops_at_its_lines_and_why_names_the_cell_that_was_the_cause(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = written(tmp_path / "notes")
    launch = {"program": str(file), "args": ["a"], "adapter_options": {"python": [python.path]}, "record": True}
    async with debugging() as client:
        stop = await client.call("debug_launch", breakpoints=[f"{file}#2:3"], **launch)
        returned = line_of(file, "return paid[name]")
        assert stop["at"] == f"{file}:{returned} in share"
        assert (stop["locals"]["name"], stop["locals"]["total"]) == ("'ann'", "7")
        assert f"{returned}>     return paid[name] / total" in stop["source"]
        assert [frame.rpartition(":")[2] for frame in stop["stack"]] == [str(line_of(file, "share('ann')"))]
        # A notebook's program has its directory, its arguments, and nothing of ours in its main module.
        assert (await client.call("evaluate", expression="__import__('os').getcwd()"))["value"] == f"'{file.parent}'"
        own = "[name for name in vars(sys.modules['__main__']) if name[0] != '_']"
        names = (await client.call("evaluate", expression=own))["value"]
        assert names == "['asyncio', 'sys', 'paid', 'share', 'query', 'task']"
        started = f"sys.argv == ['{file}', 'a'] and sys.path[0] == '{file.parent}'"
        assert (await client.call("evaluate", expression=started))["value"] == "True"

        await client.call("breakpoint_remove", id="*")
        stop = await client.call("debug_continue")
        assert (stop["exception"], stop["at"]) == ("KeyError: 'bob'", f"{file}:{returned} in share")
        assert "1.0\nann 1.0\n" in stop["stdout"]  # the value of an expression that ends a cell is shown
        because = (await client.call("why"))["because"]
        assert any(f"job.ipynb:{line_of(file, 'paid = ')} <module> | paid = {{'ann': 7}}" in line for line in because)
        stop = await client.call("debug_continue")
        assert stop["exitCode"] == 1
        assert "runner" not in stop["stderr"]
        assert f'File "{file}", line {returned}, in share\n    return paid[name] / total\n' in stop["stderr"]


@pytest.mark.parametrize("python", NEWEST, ids=lambda python: "{}.{}".format(*python.version))
@pytest.mark.parametrize("rows", ["rows = []  # which are awaited", "import asyncio; rows = []"], ids=["plain", "loop"])
async def test_a_stop_iteration_that_ends_a_notebook_stops_at_its_line(
    rows: str, python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = written(tmp_path / "notes", [rows, "next(iter(rows))"])
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), adapter_options={"python": [python.path]})
        stop = await client.call("debug_continue")
        assert (stop["exception"], stop["at"].partition(" ")[0]) == (
            "StopIteration",
            f"{file}:{line_of(file, 'next(')}",
        )
        assert "coroutine" not in (await client.call("debug_continue"))["stderr"]


@pytest.mark.parametrize("python", OLDER, ids=lambda python: "{}.{}".format(*python.version))
async def test_a_place_that_a_notebook_does_not_have_is_refused_and_so_is_one_in_an_older_python(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = written(tmp_path / "notes")
    async with debugging() as client:
        for place, said in ((f"{file}#9:1", "has 7 cells of code, and no cell 9"), (f"{file}#1:7", "has 2 lines")):
            with pytest.raises(ToolFailed, match=said):
                await client.call("breakpoint_set", file=place.rpartition(":")[0], line=int(place[-1]))
        with pytest.raises(ToolFailed, match=r"notebooks are debugged in CPython 3\.12 and newer only"):
            await client.call("debug_launch", program=str(file), adapter_options={"python": [python.path]})
