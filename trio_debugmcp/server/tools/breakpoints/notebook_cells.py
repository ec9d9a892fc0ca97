"""Lines of a notebook that are named by their cell.

    place_in_cell(debugger, "job.ipynb#3", 2)   # {"file": "job.ipynb", "line": 44}

Cells of code are counted, as Jupyter counts them in a run from the top.
"""

import re
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from trio_debugmcp.dap.profiles.python.notebooks import cells_of
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.near_files import no_file
from trio_debugmcp.server.tools.paths import existing_file
from trio_debugmcp.server.tools.tool import Params
from trio_debugmcp.session.debugger import Debugger

P = TypeVar("P", bound=Params)

_CELL = re.compile(r"(?P<file>.+\.ipynb)#(?P<cell>[1-9]\d{0,5})")


def place_in_cell(
    debugger: Debugger, name: str | None, line: int | None, cwd: str | None = None, near: str | None = None
) -> dict[str, Any]:
    """Return the file and line that a name with a cell, and a line of that, stand for; nothing for other names.

    Without a line it is the one where the cell begins. Files are found as in `existing_file`.

    Raises:
        UsageError: `INVALID_PARAMETER`: the notebook has no such cell, or the cell no such line.
    """
    place = None if name is None else _CELL.fullmatch(name)
    if name is None or place is None or existing_file(debugger, name, cwd, near) is not None:
        return {}
    path = existing_file(debugger, place["file"], cwd, near)
    if path is None:
        return {"file": place["file"]}  # which is refused as any that is not there
    cells = debugger.host.query(f"cells of {path}", lambda: cells_of(Path(path)))
    number, wanted = int(place["cell"]), line or 1
    if number > len(cells):
        sentence = f"'{place['file']}' has {len(cells)} cells of code, and no cell {number}."
        raise UsageError("INVALID_PARAMETER", sentence)
    first, length = cells[number - 1]
    if wanted > length:
        sentence = f"Cell {number} of '{place['file']}' has {length} lines, and no line {wanted}."
        raise UsageError("INVALID_PARAMETER", sentence)
    return {"file": place["file"], "line": first + wanted - 1}


def in_notebook(debugger: Debugger, params: P, file: str | None, line: int | None) -> P:
    """Return the parameters of a tool with the line of the notebook for that of a cell.

    Raises:
        UsageError: `INVALID_PATH`: there is no such notebook; `INVALID_PARAMETER`: it has no such cell or line.
    """
    place = place_in_cell(debugger, file, line)
    if place and "line" not in place:
        raise no_file(debugger, place["file"])
    return replace(params, **place)
