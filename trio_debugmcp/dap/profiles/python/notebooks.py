"""Notebooks of Jupyter as programs: their text as Python, and the code that runs them.

    script = notebook_script(Path("job.ipynb").read_text())     # as many lines as the file has, each cell at its own

A breakpoint on line 37 of `job.ipynb` is on what line 37 of the file holds, which is a line of a cell as JSON.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trio_debugmcp.dap.profiles.python import notebook_runner
from trio_debugmcp.errors import CannotRun

SUFFIX = ".ipynb"

_ENGINE_ONLY = (
    "notebooks are debugged in CPython 3.12 and newer only, and not by pydevd. `jupyter nbconvert --to script` makes a "
    "script of one, or pass another interpreter as adapter_options.python"
)


def is_notebook(path: str) -> bool:
    """Return whether a path is that of a notebook, by its name."""
    return path.endswith(SUFFIX)


def home_of(program: str) -> str | None:
    """Return the directory in which a notebook runs if nothing else is said; None for other programs."""
    return str(Path(program).parent) if is_notebook(program) else None


def problem_of(path: Path) -> str | None:
    """Return why a file cannot be run as a notebook, as the end of a sentence; None for a file of another name."""
    if not is_notebook(str(path)):
        return None
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        notebook_runner.code_cells(text)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except ValueError as error:
        return f"is not a notebook of format 4 ({error}). `jupyter nbconvert --to notebook` makes one of older formats"
    kernel = json.loads(text)
    for key in ("metadata", "kernelspec"):
        kernel = kernel.get(key)
        if not isinstance(kernel, dict):
            return None
    language = str(kernel.get("language") or "python")
    return None if language.lower() == "python" else f"is a notebook of {language}; those of Python are run"


def rules(program: str) -> tuple[dict[str, Any], ...]:
    """Return the engine's rules for a program's files: what is behind `-c` only calls a notebook's runner."""
    return ({"path": "<string>", "include": False},) if is_notebook(program) else ()


def refuse_pydevd(program: str, command: Sequence[str]) -> None:
    """Refuse a notebook that pydevd is to debug, by this command of an interpreter.

    Pydevd moves breakpoints to the lines of the JSON that would be code if it were Python.

    Raises:
        CannotRun: the program is a notebook.
    """
    if is_notebook(program):
        raise CannotRun(" ".join(command), _ENGINE_ONLY)


def notebook_script(text: str) -> str:
    """Return a notebook's cells of code as Python, each line at its number in the file; other lines are empty.

    A text of another kind is returned as it is.
    """
    try:
        cells, _ = notebook_runner.code_cells(text)
    except ValueError:
        return text
    script: list[str] = []
    for number, (first, lines) in enumerate(cells, 1):
        script += [""] * (first - 1 - len(script))
        if script and not script[-1]:
            script[-1] = f"# cell {number}"
        script += notebook_runner.as_python(lines)
    return "\n".join(script) + "\n"


def cells_of(path: Path) -> list[tuple[int, int]]:
    """Return the cells of code of a notebook: for each the number of its first line in the file, and how many it has.

    There are none of a file that cannot be read, or has another form.
    """
    try:
        cells, _ = notebook_runner.code_cells(path.read_text(encoding="utf-8-sig", errors="replace"))
    except (OSError, ValueError):
        return []
    return [(first, len(lines)) for first, lines in cells]


def cell_text(path: Path, number: int) -> list[str]:
    """Return the lines of a cell of code, by its number, as a kernel gets them."""
    notebook = json.loads(path.read_text(encoding="utf-8-sig", errors="replace"))
    cells = [cell.get("source", []) for cell in notebook["cells"] if cell.get("cell_type") == "code"]
    return "".join(cells[number - 1]).split("\n")


def runner_code() -> str:
    """Return the code that runs a notebook, for `python -c`; its path and its arguments follow."""
    # Compiled under a name of its own, so that it counts as code of a library, and in names of its own: the main
    # module has the notebook's only.
    code = Path(notebook_runner.__file__).read_text(encoding="utf-8") + "\nstart()\n"
    return f"exec(compile({code!r}, '<runner>', 'exec'), {{'__name__': '<runner>'}})"
