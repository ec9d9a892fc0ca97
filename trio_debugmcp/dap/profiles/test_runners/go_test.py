"""Tests, benchmarks, examples and fuzz targets of Go: `cart_test.go::TestTotal/empty`, `./price::TestTotal`."""

import itertools
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from trio_debugmcp.dap.profiles.test_examples import GO, example_in
from trio_debugmcp.dap.profiles.test_runners.named_test import NamedTest, TestRun, at_line, no_test, source_of

_NAME = re.compile(r"(?:Test|Benchmark|Example|Fuzz)(?![a-z])\w*(?:/[^\x00-\x1f]*)?")

_MAX_FILES = 500
"""Of tests below a directory that are looked through for a name."""

_TEST = re.compile(r"^func\s+(?P<name>(?:Test|Benchmark|Example|Fuzz)(?![a-z])\w*)\s*\(", re.MULTILINE)


def go_run(test: NamedTest) -> TestRun:
    """Return how a test is run, of the program that `go test -c` makes of its package.

    Raises:
        NoSuchTest: the package has no such test.
    """
    file = test.path
    package = file if file.is_dir() else file.parent
    sources = sorted(package.glob("*_test.go"))
    if file.is_dir() and not sources:
        raise no_test(test.name, (), str(file))
    texts = {source: source_of(source) for source in sources}
    name = test.name if test.line is None else at_line(source_of(file), test.line, _TEST)["name"]
    function = name.partition("/")[0]
    places = {found["name"]: source for source, text in texts.items() for found in _TEST.finditer(text)}
    if function and function not in places:
        raise no_test(function, places, str(package))
    args: tuple[str, ...] = ("-test.v",)
    if name:
        pattern = "/".join(f"^{re.escape(part.replace(' ', '_'))}$" for part in name.split("/"))
        args = (
            ("-test.run", "^$", "-test.bench", pattern, *args) if _is_benchmark(name) else ("-test.run", pattern, *args)
        )
    source = places.get(function, file if file.is_file() else sources[0])
    return TestRun(str(source), args, str(package), ran_none="no tests to run", fails_with=("test failure",))


def may_be_of_go(test: str) -> bool:
    """Whether a test is a name alone, as tests of Go have it; classes of tests in Python have such names, too."""
    return _NAME.fullmatch(test) is not None


def go_files_with(name: str, directory: str) -> list[str]:
    """Return the files below a directory of a Go module that have a test of this name: `TestTotal/empty`.

    Raises:
        NoSuchTest: there is none, and the project is of Go alone.
    """
    home = Path(directory)
    if not may_be_of_go(name) or not any((folder / "go.mod").is_file() for folder in (home, *home.parents)):
        return []
    function = name.partition("/")[0]
    sources = list(islice(_test_files(home), _MAX_FILES))
    names = {str(file): [found["name"] for found in _TEST.finditer(source_of(file))] for file in sources}
    files = [file for file, known in names.items() if function in known]
    is_all = len(sources) < _MAX_FILES and example_in([directory]) == GO and not any(home.rglob("test*.py"))
    if not files and is_all:
        raise no_test(function, itertools.chain(*names.values()), directory)
    return files


def _test_files(home: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(home):
        folders[:] = sorted(each for each in folders if each not in ("vendor", "testdata") and each[0] not in "._")
        yield from (Path(folder, name) for name in sorted(names) if name.endswith("_test.go"))


def _is_benchmark(name: str) -> bool:
    return name.startswith("Benchmark")
