"""What runs a notebook, cell by cell, in the debugged program: on CPython 3.12 and newer, with or without IPython.

The numbers of its lines are those of the `.ipynb` file, where each line of a cell is a line of JSON. So breakpoints,
stops, tracebacks and recordings name lines that a reader of the file finds there.
"""

import ast
import json
import re
import sys
import tokenize
from collections.abc import Callable, Coroutine, Iterator, Sequence
from types import CodeType, TracebackType
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]')
_MAGIC = re.compile(r"\s*(?:[%!]|(?:[\w.,\s]+=\s*)[%!]\s*\w|\?|[\w.%]+\?{1,2}\s*$)")
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%debug")
"""Magics of a cell whose rest is Python, which is run as if they were not there."""

_FUTURE_ANNOTATIONS = 0x1000000
"""Of `co_flags`: what one cell imports from `__future__` holds for those behind it, too."""


def code_cells(text: str) -> tuple[list[tuple[int, list[str]]], bool]:
    """Return the cells of code of a notebook's JSON, and whether their lines are numbered as those of the file.

    A cell is the number of its first line, and its lines.

    Where two lines of a cell share a line of the file, or one of them has none, the cells are numbered as if they stood
    one after another, each below a line of its own.

    Raises:
        ValueError: the text is not that of a notebook.
    """
    try:
        notebook = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
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
            if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
                raise ValueError(f"the `source` of its cell {index + 1} is neither a text nor a list of texts")
            cells.append("".join(parts).split("\n"))
            ordered.append(places.get(index, []) if isinstance(source, list) else [])
            if cells[-1][-1] == "" and len(cells[-1]) > 1:
                cells[-1].pop()
    if all(_is_run(numbers, len(lines)) for numbers, lines in zip(ordered, cells, strict=True) if lines != [""]):
        return [(numbers[0] if numbers else 1, lines) for numbers, lines in zip(ordered, cells, strict=True)], True
    numbered, number = [], 2
    for lines in cells:
        numbered.append((number, lines))
        number += len(lines) + 1
    return numbered, False


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
    magic = _cell_magic(lines)
    if magic is not None:
        number, name = magic
        head = ["# " + line if line.strip() else line for line in lines[: number + 1]]
        rest = lines[number + 1 :]
        return [*head, *(rest if name in _PYTHON_CELLS else ["# " + line for line in rest])]
    return with_magics(lines, _commented)


def _cell_magic(lines: Sequence[str]) -> tuple[int, str] | None:
    """Return the line of the magic that the whole cell is for, from 0, and its name."""
    number = next((number for number, line in enumerate(lines) if line.strip()), 0)
    return (number, lines[number].split()[0]) if lines[number].startswith("%%") else None


def with_magics(lines: Sequence[str], instead: Callable[[str], str]) -> list[str]:
    """Return a cell's lines with another text for each statement that only IPython understands.

    Lines within texts and brackets stay, and so does a cell that is Python.
    """
    if _is_python(lines):
        return list(lines)
    made: list[str] = []
    for number, line in enumerate(lines):
        if number < len(made):
            continue  # a further line of the magic before
        if not _MAGIC.match(line) or _is_open(made):
            made.append(line)
            continue
        last = number
        while lines[last].endswith("\\") and last + 1 < len(lines):
            last += 1
        whole = " ".join(part.removesuffix("\\").strip() for part in lines[number : last + 1])
        made += [line[: len(line) - len(line.lstrip())] + instead(whole), *[""] * (last - number)]
    return made


def _is_python(lines: Sequence[str]) -> bool:
    try:
        compile("\n".join(lines), "", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_open(lines: Sequence[str]) -> bool:
    """Whether the next line is within a text or brackets, or continues the last one."""
    if lines and lines[-1].endswith("\\"):
        return True
    try:
        for _ in tokenize.generate_tokens(iter([line + "\n" for line in lines]).__next__):
            pass
    except tokenize.TokenError as error:
        return "multi-line" in str(error) or "triple-quoted" in str(error)
    except SyntaxError:
        return False
    return False


def _commented(magic: str) -> str:
    if magic.startswith("%time "):  # what it times is Python
        return magic.removeprefix("%time ").strip()
    return "pass  # " + magic


def start() -> None:
    """Run the notebook that the first argument names, as a script is run: `sys.argv` and `sys.path` begin with it."""
    import os

    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    sys.excepthook = _without_runner(sys.excepthook, sys.argv[0])
    run(sys.argv[0])


def _without_runner(hook: Any, path: str) -> Any:
    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        innermost = traceback
        while traceback is not None and traceback.tb_frame.f_code.co_filename != path:
            traceback = traceback.tb_next
        if traceback is None and isinstance(error.__cause__, StopIteration):  # of which a coroutine made another error
            show(StopIteration, error.__cause__, error.__cause__.__traceback__)
            return
        error = error.with_traceback(traceback or innermost)
        if hook is sys.__excepthook__:
            import traceback as printer

            printer.print_exception(error)  # the hook reads lines of JSON, and not of the cells, before CPython 3.13
        else:
            hook(kind, error, error.__traceback__)

    return show


def run(path: str) -> None:
    """Run the cells of a notebook in the main module, and show the value of an expression that ends one."""
    import linecache

    with open(path, encoding="utf-8-sig") as file:
        cells, are_of_file = code_cells(file.read())
    if not are_of_file:
        sys.stderr.write(f"{path}: its lines are numbered cell after cell, as some share a line of the file\n")
    script: list[str] = []
    for first, lines in cells:
        script += [""] * (first - 1 - len(script)) + as_python(lines)
    # Without a time of change the entry is kept, though the file differs from it.
    linecache.cache[path] = (len(script), None, [line + "\n" for line in script], path)
    shell = _shell() if any(_needs_ipython(line) for _, lines in cells for line in lines) else None
    texts = [(first, _runnable(path, first, lines, shell)) for first, lines in cells]
    codes, main = _codes(path, texts), sys.modules["__main__"].__dict__
    if any(_needs_loop(text) for _, text in texts):
        _run_in_loop(_run_in_turn(codes, main))
    else:
        for code in codes:  # in no coroutine, which would make a RuntimeError of a StopIteration
            eval(code, main)


def _run_in_loop(cells: Coroutine[Any, Any, None]) -> None:
    """Run all cells in one event loop, which runs while they do, as in a kernel."""
    import asyncio

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(cells)


async def _run_in_turn(codes: Iterator[CodeType], main: dict[str, Any]) -> None:
    for code in codes:
        awaited = eval(code, main)
        if awaited is not None:
            await awaited


def _needs_loop(text: str) -> bool:
    """Whether a cell may await, or looks for an event loop that runs."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        return False  # which is said when it is its turn
    waits = any(isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith) for node in nodes)
    return waits or any("asyncio" in (getattr(node, key, "") for key in ("id", "name", "module")) for node in nodes)


def _codes(path: str, texts: Sequence[tuple[int, str]]) -> Iterator[CodeType]:
    """Yield what of the cells is run in turn; a cell is compiled when those before it have run."""
    flags = 0
    for first, text in texts:
        for part in _parts(path, first, text):
            mode = "single" if isinstance(part, ast.Interactive) else "exec"
            code = compile(part, path, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | flags, True)
            flags |= code.co_flags & _FUTURE_ANNOTATIONS
            yield code


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
    for name in ("exit", "quit", "open", "get_ipython"):  # of which each stop would show the values
        vars(main).pop(name, None)
    sys.displayhook, sys.excepthook = hooks
    vars(builtins).update(get_ipython=shell.get_ipython, display=display)
    return shell


def _parts(path: str, first: int, text: str) -> list[Any]:
    """Return what of a cell is run in turn: its statements, and the expression that ends it, whose value is shown."""
    try:
        tree = ast.parse("\n" * (first - 1) + text, path)
    except SyntaxError as error:
        lines = text.split("\n")
        if error.filename == path and error.lineno is not None and first <= error.lineno < first + len(lines):
            error.text = lines[error.lineno - first]  # and not the line of JSON
        raise
    parts: list[Any] = [tree]
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not text.rstrip().endswith(";"):
        parts.append(ast.Interactive([tree.body.pop()]))
    return parts


def _runnable(path: str, first: int, lines: Sequence[str], shell: Any) -> str:
    """Return the text of a cell that is run: with calls of IPython's shell in place of magics."""
    if shell is None:
        python = as_python(lines)
        for number, (line, instead) in enumerate(zip(lines, python, strict=True), first):
            if line != instead and instead.lstrip().startswith(("pass  #", "# %%")):
                sys.stderr.write(f"{path}:{number}: passed over, as this Python has no IPython: {line.strip()}\n")
        return "\n".join(python)
    transform = shell.input_transformer_manager.transform_cell
    magic = _cell_magic(lines)
    if magic is not None and magic[1] not in _PYTHON_CELLS:
        return "\n" * magic[0] + str(transform("\n".join(lines[magic[0] :])))
    return "\n".join(as_python(lines) if magic is not None else with_magics(lines, lambda line: _call(transform, line)))


def _call(transform: Any, magic: str) -> str:
    return str(transform(magic)).rstrip("\n")
