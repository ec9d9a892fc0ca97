"""Lines of notebooks that are named by their cell, in tools that take a file and a line."""

import json
from pathlib import Path

import pytest
from trio.testing import MockClock

from tests.server.scene import failure, paused
from tests.server.tools.looking.test_memory import native


@pytest.mark.parametrize("tool", ["debug_run_to", "debug_goto", "why"])
async def test_a_line_of_a_cell_is_looked_for_in_the_notebook(
    tool: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    cell = {"cell_type": "code", "source": ["a = 1\n", "b = 2"]}
    notebook = tmp_path / "job.ipynb"
    notebook.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    async with paused("legacy", native()) as (client, _):
        failed = await failure(client, tool, file=f"{notebook}#1", line=3)
        assert failed.message.endswith(f"Cell 1 of '{notebook}' has 2 lines, and no line 3.")
        failed = await failure(client, tool, file=f"{tmp_path}/other.ipynb#1", line=1)
        assert f"There is no file '{tmp_path}/other.ipynb'." in failed.message
