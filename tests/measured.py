"""Coverage of a test process and of the warm servers that it starts, when `scripts/test --coverage` asks for it.

Servers are measured from their fork on (`tests.warm.parent`). Programs being debugged are not: debugpy traces them.
Neither are servers that a test starts with `python -m trio_debugmcp`, or kills.
"""

import os
from pathlib import Path
from typing import Any

FOLDER = "TRIO_DEBUGMCP_COVERAGE"
"""The environment variable with the folder for the measured data."""

_running: list[Any] = []


def start() -> None:
    folder = os.environ.get(FOLDER)
    if folder:
        from coverage import Coverage

        config = Path(__file__).parent.parent / "pyproject.toml"
        measured = Coverage(data_file=f"{folder}/data", data_suffix=True, config_file=str(config))
        measured.start()
        _running.append(measured)


def stop() -> None:
    while _running:
        measured = _running.pop()
        measured.stop()
        measured.save()
