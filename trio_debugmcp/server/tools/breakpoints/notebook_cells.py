"""Lines of a notebook that are named by their cell.

    place_in_cell(debugger, "job.ipynb#3", 2)   # {"file": "job.ipynb", "line": 44}

Cells of code are counted, as Jupyter counts them in a run from the top.
"""

import re
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from trio_debugmcp.dap.profiles.python.kernel_cells import keep_cell, kernel_directory, kernel_place
from trio_debugmcp.dap.profiles.python.notebooks import cell_text, cells_of
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.paths import existing_file, no_file
from trio_debugmcp.server.tools.tool import Params
from trio_debugmcp.session.debugger import Debugger

P = TypeVar("P", bound=Params)

_CELL = re.compile(r"(?P<file>.+\.ipynb)#(?P<cell>[1-9]\d{0,5})")


def place_in_cell(
    debugger: Debugger,
    name: str | None,
    line: int | None,
    cwd: str | None = None,
    near: str | None = None,
    *,
    stops: bool = False,
) -> dict[str, Any]:
    """Return the file and line that a name with a cell, and a line of that, stand for; nothing for other names.

    Without a line it is the one where the cell begins. Files are found as in `existing_file`. For breakpoints
    (`stops`), while a kernel is debugged and no program is launched, they are the kernel's, as far as the file has what
    the kernel runs.

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
    kernels = [] if near is not None or not stops else _kernels(debugger)
    if kernels:
        return _in_kernel(debugger, path, number, wanted, kernels[0])
    return {"file": place["file"], "line": first + wanted - 1}


def _kernels(debugger: Debugger) -> list[str]:
    """Return the directories of the names of cells in the kernels that are debugged, that of the one at hand first."""
    at_hand = debugger.programs.at_hand.root()
    pids = [each.origin.process_id for each in (at_hand, *debugger.state.snapshots) if each is not None]
    known = dict.fromkeys(pid for pid in pids if pid is not None)
    return [found for pid in known if (found := _kernel(debugger, pid)) is not None]


def _kernel(debugger: Debugger, pid: int) -> str | None:
    try:
        found = debugger.host.query(f"kernel {pid}", lambda: kernel_directory(pid, Path("/proc")))
    except UsageError:  # a recording from before this was asked
        return None
    return None if found is None else str(found)


def _in_kernel(debugger: Debugger, path: str, number: int, line: int, directory: str) -> dict[str, Any]:
    lines = debugger.host.query(f"cell {number} of {path}", lambda: cell_text(Path(path), number))
    try:
        found = kernel_place(lines, line, directory)
    except ValueError as error:
        sentence = f"Cell {number} of '{path}' cannot be stopped in: {error}. Set a breakpoint in what it calls."
        raise UsageError("INVALID_PARAMETER", sentence) from None
    debugger.host.query(f"text of {found.file} is kept", lambda: keep_cell(found))
    return {"file": found.file, "line": found.line}


def in_notebook(debugger: Debugger, params: P, file: str | None, line: int | None) -> P:
    """Return the parameters of a tool with the line of the notebook for that of a cell.

    Raises:
        UsageError: `INVALID_PATH`: there is no such notebook; `INVALID_PARAMETER`: it has no such cell or line.
    """
    place = place_in_cell(debugger, file, line)
    if place and "line" not in place:
        raise no_file(debugger, place["file"])
    return replace(params, **place)
