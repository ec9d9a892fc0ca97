"""The probe as it is put into programs: its sources without types, and where blobs of its compiled code are kept.

    sources()["trio_debugmcp.probe.inside.bounds"]      # without annotations: no `typing` is needed to run it
    blob_directory()                                    # ~/.cache/trio_debugmcp/probe, or None

A program compiles what it is sent, and keeps the result for the next one with the same version of Python (see
`loader.read_blob`). The directory is ours alone, and so are the files in it: they are code.
"""

import ast
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path

PACKAGE = "trio_debugmcp.probe.inside"

KEPT = (".blob", ".sources")
"""Compiled code of one version of Python, and what it is compiled from."""

MAX_KEPT = 28
"""Files that are kept, of 300 to 700 KB each: six versions of Python in four versions of this package."""

PART_SECONDS = 3600.0
"""For a program to write a blob. One left unfinished keeps programs of the same process id from writing it."""

_FOLDER = Path(__file__).parent / "inside"


LOADER = Path(__file__).parent / "loader.py"
"""The module that loads the probe inside the program."""


def modules(folder: Path, package: str) -> dict[str, str]:
    """Return the text of each module of a folder that is put into programs, by its full name there."""
    return {
        ".".join((package, *file.relative_to(folder).with_suffix("").parts)): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*.py"))
        if file.stem[0] != "_"
    }


def version(*texts: str) -> str:
    """Return what is another one for every version of these texts, and of how they are packed."""
    return sha256("\0".join([Path(__file__).read_text(encoding="utf-8"), *texts]).encode()).hexdigest()[:16]


@cache
def loader() -> str:
    """Return the source of what loads the probe inside the program."""
    return stripped(LOADER.read_text(encoding="utf-8"))


@cache
def sources() -> dict[str, str]:
    """Return the source of each module that is put into the program, by its full name. Takes a third of a second."""
    return {name: stripped(text) for name, text in modules(_FOLDER, PACKAGE).items()}


@cache
def digest() -> str:
    """Return what is another one for every version of the probe. Asked at each start, so it strips nothing."""
    return version(LOADER.read_text(encoding="utf-8"), *chain(*modules(_FOLDER, PACKAGE).items()))


# --- Without types ----------------------------------------------------------------------------------------------------


def stripped(source: str) -> str:
    """Return a source without annotations, aliases of types and what it imports from `typing`. Its lines stay."""
    data = source.encode()
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for row, column, end_row, end_column, text in sorted(_changes(ast.parse(source), data, starts), reverse=True):
        start, end = starts[row - 1] + column, starts[end_row - 1] + end_column
        data = data[:start] + text + b"\n" * data.count(b"\n", start, end) + data[end:]
    return data.decode()


_Change = tuple[int, int, int, int, bytes]
"""From where to where, in rows and columns of bytes, and what takes its place."""


def _changes(tree: ast.Module, data: bytes, starts: list[int]) -> Iterator[_Change]:
    typed = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "typing"
        for alias in node.names
    }
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr()):
                yield *_span(node), node.arg.encode()
            case ast.FunctionDef(returns=ast.expr() as returns) | ast.AsyncFunctionDef(returns=ast.expr() as returns):
                arrow = data.rindex(b"->", 0, starts[returns.lineno - 1] + returns.col_offset)
                row = next(row for row in range(len(starts)) if starts[row + 1] > arrow) + 1
                yield row, arrow - starts[row - 1], *_span(returns)[2:], b""
            case ast.AnnAssign(value=None):
                yield *_span(node), b"pass"
            case ast.AnnAssign(target=target, annotation=annotation):
                yield *_span(target)[2:], *_span(annotation)[2:], b""
            case ast.ImportFrom(module="typing"):
                yield *_span(node), b"pass"
            case ast.Assign(value=value) if _is_alias(value, typed):
                yield *_span(value), b"None"


def _span(node: ast.stmt | ast.expr | ast.arg) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _is_alias(value: ast.expr, typed: set[str]) -> bool:
    """Whether a value is a type that only annotations need: `Dict[str, Any]`, `TypeVar("T")`."""
    head = value.value if isinstance(value, ast.Subscript) else value.func if isinstance(value, ast.Call) else None
    return isinstance(head, ast.Name) and head.id in typed


# --- Blobs ------------------------------------------------------------------------------------------------------------


@cache
def blob_directory() -> str | None:
    """Return the directory in which programs keep compiled code, or None where there cannot be one."""
    try:
        home = os.environ.get("XDG_CACHE_HOME", "")
        folder = (Path(home) if os.path.isabs(home) else Path.home() / ".cache") / "trio_debugmcp" / "probe"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
            return None
    except (OSError, RuntimeError):  # the latter: there is no home
        return None
    with suppress(OSError):  # another server may do the same
        _tidy(folder)
    return str(folder)


def _tidy(folder: Path) -> None:
    """Delete the oldest blobs and sources, and parts of those whose writer was killed meanwhile."""
    written = {file: file.lstat().st_mtime for pattern in ("*.blob*", "*.sources*") for file in folder.glob(pattern)}
    whole = sorted((file for file in written if file.suffix in KEPT), key=written.__getitem__)
    parts = [file for file, at in written.items() if file.suffix not in KEPT and at < time.time() - PART_SECONDS]
    for old in (*whole[:-MAX_KEPT], *parts):
        old.unlink(missing_ok=True)
