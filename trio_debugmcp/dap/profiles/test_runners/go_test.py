"""Tests, benchmarks, examples and fuzz targets of Go: `cart_test.go::TestTotal/empty`, `./price::TestTotal`."""

import re

from trio_debugmcp.dap.profiles.test_runners.named_test import NamedTest, at_line, no_test, source_of
from trio_debugmcp.dap.profiles.test_runners.test_run import TestRun

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


def _is_benchmark(name: str) -> bool:
    return name.startswith("Benchmark")
