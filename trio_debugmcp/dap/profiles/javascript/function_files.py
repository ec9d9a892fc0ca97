"""Functions in the files of a program of JavaScript or TypeScript, by the names that people have for them.

    functions_named("Cart.add", ["/x/src/app.ts"], ["/x"])      # [("/x/src/cart.ts", FunctionCode)]

A name is that of a function, with its class, the object that it is in, or its file in front of it: `cart.add`. A class
stands for its constructor. Files of packages are left out, and files that others were built to, where those are there.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.dap.profiles.function_code import FunctionCode
from trio_debugmcp.dap.profiles.javascript.function_texts import functions_in
from trio_debugmcp.dap.profiles.near_names import named_alike
from trio_debugmcp.dap.profiles.searched_files import text_of

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")

_MAX_FILES = 500
"""That are looked through; more are not of one program."""

_MAX_DIRECTORIES = 2000

_MAX_FILE_BYTES = 1024 * 1024
"""Of a file; a larger one is a bundle."""

_MAX_BYTES = 8 * 1024 * 1024
"""Of all files: to look through more takes many seconds."""

_SOURCE_MAP = "sourceMappingURL="

_MAX_MAP_LENGTH = 2000
"""At the end of a file that was built: the line that names its source map. One with the map in it is taken as it is."""

Found = tuple[str, FunctionCode]


class _Source(Struct, frozen=True):
    """A file as it is on disk: its size, and when it was changed in nanoseconds."""

    path: str
    size: int
    changed: int


def functions_named(name: str, files: Sequence[str], directories: Sequence[str]) -> list[Found]:
    """Return the functions that a name may mean: in these files first, then in others near them.

    Those of one file, and those of all others, are in the order of what is around them: nothing at all first.
    """
    found = _defined(_sources(files, directories), name)
    known = {file: number for number, file in reversed([*enumerate(files)])}
    return sorted(found, key=lambda each: (known.get(each[0], len(files)), each[1].qualname.count(".")))


def functions_alike(name: str, files: Sequence[str], directories: Sequence[str]) -> list[Found]:
    """Return functions whose names are like one that there is not."""
    defined = _defined(_sources(files, directories))
    names = {number: each.name for number, (_, each) in enumerate(defined)}
    return [defined[number] for number in named_alike(name.rpartition(".")[2], names)]


def left_out(files: Sequence[str], directories: Sequence[str]) -> str:
    """Return a sentence if there are more files than a search looks through; else an empty one."""
    looked = sum(1 for _ in _sources(files, directories))
    is_whole = looked == sum(1 for _ in islice(_paths(files, directories), looked + 1))
    return "" if is_whole else f"only {looked} files of the program were looked through, which has more"


def _defined(sources: Iterable[_Source], name: str | None = None) -> list[Found]:
    """Return functions, those that a name may mean; of files that were built only where there are no others."""
    found: list[Found] = []
    built: list[Found] = []
    for source in sources:
        text = _text(source.path)
        if name is None or name.rpartition(".")[2] in text:
            defined = ((source.path, each) for each in _functions(source))
            meant = [each for each in defined if name is None or is_called(name, *each)]
            (built if _SOURCE_MAP in text[-_MAX_MAP_LENGTH:] else found).extend(meant)
    return found or built


def is_called(name: str, file: str, function: FunctionCode) -> bool:
    """Whether a name may mean a function of a file."""
    called = f".{Path(file).name.partition('.')[0]}.{function.qualname}"
    return called.endswith((f".{name}", f".{name}.constructor"))


@lru_cache(maxsize=2 * _MAX_FILES)
def _functions(source: _Source) -> tuple[FunctionCode, ...]:
    return functions_in(_text(source.path))


def _text(file: str) -> str:
    try:
        return text_of(file, _MAX_FILE_BYTES).replace("\r\n", "\n")
    except OSError:
        return ""


def _sources(files: Sequence[str], directories: Sequence[str]) -> Iterator[_Source]:
    """Yield what is looked through."""
    left = _MAX_BYTES
    for path in islice(_paths(files, directories), _MAX_FILES):
        try:
            status = os.stat(path)
        except OSError:
            status = None
        size = 0 if status is None else min(status.st_size, _MAX_FILE_BYTES)
        if size > left:
            return
        left -= size
        yield _Source(path, size, 0 if status is None else status.st_mtime_ns)


def _paths(files: Sequence[str], directories: Sequence[str]) -> Iterator[str]:
    """Yield the files of a program, and those in these directories and in its packages, each once."""
    places = [*directories, *(package for file in files if (package := _package_of(file)) is not None)]
    seen = set[str]()
    for path in chain((each for each in files if _is_own(each)), _files(places)):
        if path not in seen:
            seen.add(path)
            yield path


def _package_of(file: str) -> str | None:
    """Return the directory of the package that a file is of."""
    above = Path(file).parents
    return next((str(each) for each in above if (each / "package.json").is_file()), None) if _is_own(file) else None


def _is_own(file: str) -> bool:
    return (
        file.endswith(SUFFIXES) and not file.endswith((".d.ts", ".min.js")) and "node_modules" not in Path(file).parts
    )


def _files(directories: Sequence[str]) -> Iterator[str]:
    """Yield the files in these directories and below them, those of the first first."""
    looked_into = 0
    for directory in dict.fromkeys(directories):
        for folder, folders, names in os.walk(directory):
            looked_into += 1
            inner = () if _is_wide(directory) else folders
            folders[:] = sorted(each for each in inner if not each.startswith(".") and each != "node_modules")
            yield from filter(_is_own, (os.path.join(folder, name) for name in sorted(names)))
            if looked_into > _MAX_DIRECTORIES:
                return


def _is_wide(directory: str) -> bool:
    """Whether too much is below a directory, which is not of one program."""
    return directory in ("/", os.path.expanduser("~"))
