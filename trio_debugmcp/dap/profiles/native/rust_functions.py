"""Functions in source files of Rust, by the paths that users give them: `take`, `Stock::take`, `stock::Stock::take`.

    functions_in(text)                          # {("Stock", "take"): 14}: the line of its `fn`
    places("Stock::take", ["/x/shop"])          # [("stock::Stock::take", "/x/shop/src/stock.rs", 14)]

Debuggers know a function by its whole name, with its crate: `shop::stock::Stock::take`, or one of many of a generic
function, `shop::stock::largest<f64>`. A breakpoint in the line of its `fn` stops in each of them.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from trio_debugmcp.dap.profiles.native.elf import read_elf
from trio_debugmcp.dap.profiles.near_names import named_alike
from trio_debugmcp.dap.profiles.searched_files import text_of

_MAX_FILES = 500
"""That are looked through for a function."""

_MAX_DIRECTORIES = 2000

_OF_OTHERS = ("target", "node_modules")
"""Directories of what is built, and of packages."""

_MAX_FILE_BYTES = 1024 * 1024
"""Of a file that is looked through."""

_MOST_NESTED = 50
"""Of a function: modules, types and functions around it. People write none deeper."""

_NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|b?r(?P<marks>#*+)\".*?(?:\"(?P=marks)|\Z)"
    r"|b?\"(?:\\.|[^\"\\])*+(?:\"|\\?\Z)|b?'(?:\\.[^'\n]*|[^\\'\n])'",
    re.DOTALL,
)
"""Comments, and what is quoted; a lifetime has no second quote."""

_PARTS = re.compile(r"\b(?P<kind>fn|mod|trait|impl)\b(?P<head>[^{};]*)|(?P<brace>[{}])")

_BOUNDS = re.compile(r"\[[^\[\]]*\]")
"""An array's, whose semicolon ends no declaration."""

_GENERIC = re.compile(r"::<|[<>]")


def functions_in(text: str) -> dict[tuple[str, ...], int]:
    """Return the lines of the functions of a file that have a body, by their paths in it."""
    code = _NO_CODE.sub(_blank, text)
    code = _BOUNDS.sub(_blank, code)
    found: dict[tuple[str, ...], int] = {}
    scopes: list[str | None] = []
    names: list[str] = []
    announced: tuple[str, str, int] | None = None
    line, counted = 1, 0
    for part in _PARTS.finditer(code):
        if part["kind"]:
            announced = part["kind"], part["head"], part.start()
            if part.end() < len(code) and code[part.end()] == ";":
                announced = None  # a declaration
        elif part["brace"] == "}":
            if scopes and scopes.pop() is not None:
                names.pop()
        else:
            named = announced is not None and len(names) < _MOST_NESTED
            name = _name(announced[0], announced[1]) if announced is not None and named else None
            if announced is not None and announced[0] == "fn" and name is not None:
                line += text.count("\n", counted, announced[2])
                counted = announced[2]
                found.setdefault((*names, name), line)
            scopes.append(name)
            names += [] if name is None else [name]
            announced = None
    return found


def is_of_rust(program: str | None) -> bool:
    """Whether a program is an executable that was made of Rust."""
    try:
        with open(program or "", "rb") as file:
            made = read_elf(file)
    except OSError:
        return False
    return made is not None and made.language == "rust"


def places(name: str, directories: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return path, file and line of each function that a name may mean, in the crates of these directories."""
    wanted = tuple(part for part in without_generics(name).split("::") if part and part != "crate")
    found = []
    for file in _files(directories):
        text = _text(file)
        if not wanted or wanted[-1] not in text:
            continue
        for path, line in functions_in(text).items():
            whole = (*_modules(file), *path)
            if whole[-len(wanted) :] == wanted:
                found.append(("::".join(whole), file, line))
    return found


def places_alike(name: str, directories: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return those that have the function's own name in any type or module; if there are none, names like it."""
    own = without_generics(name).rpartition("::")[2]
    exact = places(own, directories)
    if exact:
        return exact
    found = [
        ("::".join((*_modules(file), *path)), file, line)
        for file in _files(directories)
        for path, line in functions_in(_text(file)).items()
    ]
    return named_alike(own, {place: place[0].rpartition("::")[2] for place in found})


def without_generics(name: str) -> str:
    """Return a path without what stands between `<` and `>`: `largest::<f64>` is `largest`."""
    depth, kept, begin = 0, "", 0
    for bracket in _GENERIC.finditer(name):
        kept += "" if depth else name[begin : bracket.start()]
        depth += -1 if bracket[0] == ">" else 1
        begin = bracket.end()
    return kept + ("" if depth else name[begin:])


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _name(kind: str, head: str) -> str | None:
    if kind != "impl":
        own = re.match(r"\s*(?:r#)?(\w+)", head)
        return None if own is None else own[1]
    whom = without_generics(re.split(r"\bwhere\b", head)[0])
    target = re.findall(r"\w+|[^\w\s]", re.split(r"\bfor\b", whom)[-1])[-1:]
    return target[0] if target and re.match(r"\w", target[0]) else None


def _modules(file: str) -> tuple[str, ...]:
    """Return the modules that a file is, below its crate."""
    parts = Path(file).with_suffix("").parts
    if "src" not in parts:
        return ()
    inner = parts[len(parts) - parts[::-1].index("src") :]
    return inner[:-1] if inner[-1] in ("main", "lib", "mod") else inner


def _files(directories: Sequence[str]) -> Iterator[str]:
    """Yield the files of Rust in the crates of these directories; where there is no crate, those just there."""
    seen, looked_into = set[str](), 0
    for root, is_crate in dict.fromkeys(map(_crate, directories)):
        for folder, folders, names in os.walk(root):
            looked_into += 1
            inner = folders if is_crate else ()
            folders[:] = sorted(each for each in inner if not each.startswith(".") and each not in _OF_OTHERS)
            for file in (os.path.join(folder, name) for name in sorted(names) if name.endswith(".rs")):
                if file not in seen and len(seen) < _MAX_FILES:
                    seen.add(file)
                    yield file
            if len(seen) >= _MAX_FILES or looked_into >= _MAX_DIRECTORIES:
                return


def _crate(directory: str) -> tuple[str, bool]:
    """Return the directory of the crate, or of the crates, that a directory is in; else itself."""
    for each in (Path(directory), *Path(directory).parents):
        if (each / "Cargo.toml").exists():
            return str(each), True
    return directory, False


def _text(file: str) -> str:
    try:
        return text_of(file, _MAX_FILE_BYTES)
    except OSError:
        return ""
