"""Cells of a notebook that a kernel runs: a program that is called like one, and compiles them under its names."""

import json
from pathlib import Path

import pytest

from tests.real.conftest import Connect
from tests.server.scene import failure

LOOP = "for each in prices:\n    total += each\ntotal"

KERNEL = f"""
import linecache, os, tempfile
name = f"{{tempfile.gettempdir()}}/ipykernel_{{os.getpid()}}/2073617615.py"  # of this text
text = {LOOP!r}
linecache.cache[name] = (len(text), None, text.splitlines(True), name)
exec(compile(text, name, "exec"), {{"prices": [2, 3, 4], "total": 0}})
"""


@pytest.mark.real
async def test_a_line_of_a_cell_is_stopped_at_in_the_kernel_that_runs_it(debugging: Connect, tmp_path: Path) -> None:
    notebook, program = tmp_path / "job.ipynb", tmp_path / "ipykernel_launcher.py"
    program.write_text(KERNEL)
    cells = [{"cell_type": "code", "source": each.splitlines(keepends=True)} for each in (LOOP, "%%time\n1\n2")]
    text = {"cells": [{"cell_type": "markdown", "source": "x"}, *cells], "metadata": {}, "nbformat": 4}
    notebook.write_text(json.dumps(text, indent=1))
    async with debugging() as client:
        own = {"TMPDIR": str(tmp_path)}  # where the text of a cell is written
        await client.call("debug_launch", program=str(program), stop_at_entry=True, env=own)
        refused = await failure(client, "breakpoint_set", file=f"{notebook}#2", line=2)
        assert "what is below %%time under no name of its own" in refused.message
        await client.call("breakpoint_set", file=f"{notebook}#1", line=2, condition="each == 3")
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["breakpoints"]) == ("Breakpoint", ["bp-1"])
        assert stop["at"].endswith("/2073617615.py:2 in <module>")
        assert stop["locals"]["total"] == "2"
        assert "2>     total += each" in stop["source"]
        (kept,) = tmp_path.glob("ipykernel_*/*.py")
        assert kept.read_text() == LOOP
