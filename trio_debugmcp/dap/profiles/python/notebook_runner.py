"""What runs a notebook, cell by cell, in the debugged program: on CPython 3.12 and newer, with or without IPython.

The numbers of its lines are those of the `.ipynb` file, where each line of a cell is a line of JSON. So breakpoints,
stops, tracebacks and recordings name lines that a reader of the file finds there.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]')
_MAGIC = re.compile(r"\s*(?:[%!]|(?:[\w.,\s]+=\s*)[%!]\s*\w|\?|[\w.%]+\?{1,2}\s*$)")
_RUNNER_FILES = ("<string>", "<runner>")
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%debug")
"""Magics of a cell whose rest is Python, which is run as if they were not there."""


def code_cells(text: str) -> list[tuple[int, list[str]]]:
    """Return the cells of code of a notebook's JSON: for each the number of its first line, and its lines.

    Where two lines of a cell share a line of the file, or one of them has none, the cells are numbered as if they stood
    one after another, each below a line of its own.

    Raises:
        ValueError: the text is not that of a notebook.
    """
    notebook = json.loads(text)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("it has no list `cells`, as notebooks of format 4 have")
    places: dict[int, list[int]] = {}
    for cell, number in _source_places(text):
        places.setdefault(cell, []).append(number)
    cells: list[list[str]] = []
    ordered: list[list[int]] = []
    for index, cell in enumerate(notebook["cells"]):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", [])
            parts = [source] if isinstance(source, str) else source
            cells.append("".join(parts).split("\n"))
            ordered.append(places.get(index, []) if isinstance(source, list) else [])
            if cells[-1][-1] == "" and len(cells[-1]) > 1:
                cells[-1].pop()
    if all(_is_run(numbers, len(lines)) for numbers, lines in zip(ordered, cells, strict=True) if lines != [""]):
        return [(numbers[0] if numbers else 1, lines) for numbers, lines in zip(ordered, cells, strict=True)]
    numbered, number = [], 2
    for lines in cells:
        numbered.append((number, lines))
        number += len(lines) + 1
    return numbered


def _is_run(numbers: Sequence[int], length: int) -> bool:
    return len(numbers) == length and numbers == list(range(numbers[0], numbers[0] + length))


def _source_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield for each string in `cells[i].source[j]` i and the number of its line."""
    path: list[list[Any]] = []
    number, end = 1, 0
    for token in _TOKEN.finditer(text):
        number += text.count("\n", end, token.start())
        end, mark = token.start(), token.group()
        if mark in "[{":
            path.append([mark, 0 if mark == "[" else None])
        elif mark in "]}":
            path.pop()
        elif mark == ",":
            path[-1][1] = path[-1][1] + 1 if path[-1][0] == "[" else None
        elif path and path[-1] == ["{", None]:
            path[-1][1] = json.loads(mark)
        elif [key for kind, key in path if kind == "{"] == ["cells", "source"] and len(path) == 4:
            yield path[1][1], number


def as_python(lines: Sequence[str]) -> list[str]:
    """Return a cell's lines as Python of as many lines: what is for IPython only becomes a comment behind a `pass`."""
    if lines[0].lstrip().startswith("%%"):
        rest = lines[1:] if lines[0].split()[0] in _PYTHON_CELLS else ["# " + line for line in lines[1:]]
        return ["# " + lines[0], *rest]
    return [_commented(line) if _MAGIC.match(line) else line for line in lines]


def _commented(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + "pass  # " + line.strip()


def start() -> None:
    """Run the notebook that the first argument names, as a script is run: `sys.argv` and `sys.path` begin with it."""
    import os

    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    sys.excepthook = _without_runner(sys.excepthook)
    run(sys.argv[0])


def _without_runner(hook: Any) -> Any:
    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        innermost = traceback
        while traceback is not None and traceback.tb_frame.f_code.co_filename in _RUNNER_FILES:
            traceback = traceback.tb_next
        hook(kind, error.with_traceback(traceback or innermost), traceback or innermost)

    return show


def run(path: str) -> None:
    """Run the cells of a notebook in the main module, and show the value of an expression that ends one."""
    import linecache

    with open(path, encoding="utf-8") as file:
        cells = code_cells(file.read())
    script: list[str] = []
    for first, lines in cells:
        script += [""] * (first - 1 - len(script)) + as_python(lines)
    # Without a time of change the entry is kept, though the file differs from it.
    linecache.cache[path] = (len(script), None, [line + "\n" for line in script], path)
    shell = _shell() if any(_needs_ipython(line) for _, lines in cells for line in lines) else None
    tasks: list[Any] = []
    for first, lines in cells:
        _run_cell(path, first, _runnable(path, first, lines, shell), tasks)


def _needs_ipython(line: str) -> bool:
    return _MAGIC.match(line) is not None or "get_ipython" in line or "display(" in line


def _shell() -> Any:
    """Return the shell of IPython, whose magics the cells use; None if this Python has no IPython."""
    import builtins
    import importlib

    try:
        shells = importlib.import_module("IPython.core.interactiveshell")
        display = importlib.import_module("IPython.display").display
    except ImportError:
        return None
    hooks = sys.displayhook, sys.excepthook
    main = sys.modules["__main__"]
    shell = shells.InteractiveShell.instance(user_module=main, user_ns=main.__dict__)
    for name in list(shell.user_ns_hidden):  # its history and commands, of which each stop would show the values
        vars(main).pop(name, None)
    sys.displayhook, sys.excepthook = hooks
    vars(builtins).update(get_ipython=shell.get_ipython, display=display)
    return shell


def _run_cell(path: str, first: int, text: str, loops: list[Any]) -> None:
    tree = ast.parse("\n" * (first - 1) + text, path)
    parts: list[Any] = [tree]
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not text.rstrip().endswith(";"):
        parts.append(ast.Interactive([tree.body.pop()]))
    main = sys.modules["__main__"].__dict__
    for part in parts:
        mode = "single" if isinstance(part, ast.Interactive) else "exec"
        awaited = eval(compile(part, path, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True), main)
        if awaited is not None:
            _loop(loops).run_until_complete(awaited)


def _loop(loops: list[Any]) -> Any:
    """Return the event loop of all cells, which is made for the first that awaits something."""
    import asyncio

    if not loops:
        loops.append(asyncio.new_event_loop())
        asyncio.set_event_loop(loops[0])
    return loops[0]


def _runnable(path: str, first: int, lines: Sequence[str], shell: Any) -> str:
    """Return the text of a cell that is run: with calls of IPython's shell in place of magics."""
    if shell is None:
        for number, line in enumerate(lines, first):
            if _MAGIC.match(line):
                sys.stderr.write(f"{path}:{number}: passed over, as this Python has no IPython: {line.strip()}\n")
        return "\n".join(as_python(lines))
    transform = shell.input_transformer_manager.transform_cell
    if lines[0].lstrip().startswith("%%"):
        is_python = lines[0].split()[0] in _PYTHON_CELLS
        return "\n".join(as_python(lines)) if is_python else str(transform("\n".join(lines)))
    return "\n".join(_transformed(line, transform) if _MAGIC.match(line) else line for line in lines)


def _transformed(line: str, transform: Any) -> str:
    return line[: len(line) - len(line.lstrip())] + str(transform(line.strip())).rstrip("\n")
