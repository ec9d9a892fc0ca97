"""Functions in the files of a program of JavaScript or TypeScript, by the names that people have for them.

    functions_named("Cart.add", ["/x/src/app.ts"], ["/x"])      # [("/x/src/cart.ts", FunctionCode)]

A name is that of a function, with its class, the object that it is in, or its file in front of it: `cart.add`. A class
stands for its constructor. Files of packages are left out, and files that others were built to, where those are there.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

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

_SOURCE_MAP = "sourceMappingURL="

_MAX_MAP_LENGTH = 2000
"""At the end of a file that was built: the line that names its source map. One with the map in it is taken as it is."""

Found = tuple[str, FunctionCode]


def functions_named(name: str, files: Sequence[str], directories: Sequence[str]) -> list[Found]:
    """Return the functions that a name may mean: in these files first, then in others near them."""
    bare = name.rpartition(".")[2]
    texts = ((file, text) for file, text in _texts(files, directories) if bare in text)
    found = _defined(texts, name)
    return sorted(found, key=lambda each: each[1].qualname.count("."))  # in each file those outside of others


def functions_alike(name: str, files: Sequence[str], directories: Sequence[str]) -> list[Found]:
    """Return functions whose names are like one that there is not."""
    defined = _defined(_texts(files, directories))
    names = {number: each.name for number, (_, each) in enumerate(defined)}
    return [defined[number] for number in named_alike(name.rpartition(".")[2], names)]


def _defined(texts: Iterable[tuple[str, str]], name: str | None = None) -> list[Found]:
    """Return functions, those that a name may mean; of files that were built only where there are no others."""
    found: list[Found] = []
    built: list[Found] = []
    for file, text in texts:
        meant = ((file, each) for each in functions_in(text) if name is None or is_called(name, file, each))
        (built if _SOURCE_MAP in text[-_MAX_MAP_LENGTH:] else found).extend(meant)
    return found or built


def is_called(name: str, file: str, function: FunctionCode) -> bool:
    """Whether a name may mean a function of a file."""
    called = f".{Path(file).name.partition('.')[0]}.{function.qualname}"
    return called.endswith((f".{name}", f".{name}.constructor"))


def _texts(files: Sequence[str], directories: Sequence[str]) -> Iterator[tuple[str, str]]:
    places = [*directories, *(package for file in files if (package := _package_of(file)) is not None)]
    for file in dict.fromkeys([*(each for each in files if _is_own(each)), *_files(places)]):
        try:
            yield file, text_of(file, _MAX_FILE_BYTES).replace("\r\n", "\n")
        except OSError:
            continue


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
    seen, looked_into = set[str](), 0
    for directory in directories:
        for folder, folders, names in os.walk(directory):
            looked_into += 1
            inner = () if _is_wide(directory) else folders
            folders[:] = sorted(each for each in inner if not each.startswith(".") and each != "node_modules")
            for path in (os.path.join(folder, name) for name in sorted(names)):
                if path not in seen and _is_own(path):
                    seen.add(path)
                    yield path
            if len(seen) > _MAX_FILES or looked_into > _MAX_DIRECTORIES:
                return


def _is_wide(directory: str) -> bool:
    """Whether too much is below a directory, which is not of one program."""
    return directory in ("/", os.path.expanduser("~"))
