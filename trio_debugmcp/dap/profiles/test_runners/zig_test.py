"""Tests of Zig, which `zig test` builds as a program: those of a file, and of the files that it imports in a test.

A test is selected by what its whole name has: others whose names begin with that of the one that is meant run, too.
"""

import re
from pathlib import Path

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners.named_test import NamedTest, TestRun, at_line, nearest, no_test, source_of

_TEST = re.compile(
    r"^[ \t]*test\b[ \t]*(?P<name>\"(?:[^\"\\\n]|\\.)*\"|@\"(?:[^\"\\\n]|\\.)*\"|[A-Za-z_]\w*|)[ \t]*\{", re.MULTILINE
)

_BUILD = ("zig", "test", "-O", "Debug", "-fllvm", "--test-no-exec", "-femit-bin={output}")


def zig_run(test: NamedTest) -> TestRun:
    """Return how a test of a file is built and run.

    Raises:
        NoSuchTest: the file has no such test.
    """
    text = source_of(test.path)
    tests = list(_TEST.finditer(text))
    described = nearest(test.path, ("build.zig",))
    directory = str(described.parent if described is not None else Path(test.file).parent)
    command = (*_BUILD, *_filter(test, text, tests), test.file)
    plan = BuildPlan(command, directory, test.file, otherwise=("python-zig",))
    return TestRun(test.file, directory=directory, build=plan, ran_none=r"(?m)^All 0 tests passed\.")


def _filter(test: NamedTest, text: str, tests: list[re.Match[str]]) -> tuple[str, ...]:
    """Return the options that select the tests; those without a name are run in any case."""
    if test.line is not None:
        meant = at_line(text, test.line, _TEST)
        return ("--test-filter", _selected(meant, tests))
    if not test.name:
        if not tests:
            raise NoSuchTest(f"There is no test in '{test.file}'.")
        return ()
    wanted = test.name.removeprefix(f"{test.path.stem}.").removeprefix("test.").removeprefix("decltest.")
    names = {_name(each): each for each in tests if each["name"]}
    if wanted in names:
        return ("--test-filter", _selected(names[wanted], tests))
    if re.fullmatch(r"test_\d+", wanted) and int(wanted[5:]) < sum(not each["name"] for each in tests):
        return ("--test-filter", f".{wanted}")
    raise no_test(wanted, names, test.file)


def _selected(meant: re.Match[str], tests: list[re.Match[str]]) -> str:
    """Return what only the whole name of a test has, and of those whose names begin with its own."""
    if meant["name"]:
        kind = "test" if meant["name"].startswith('"') else "decltest"
        return f".{kind}.{_name(meant)}"
    unnamed = [each.start() for each in tests if not each["name"]]
    return f".test_{unnamed.index(meant.start())}"


def _name(test: re.Match[str]) -> str:
    """Return the name of a test as its program has it."""
    written = test["name"].removeprefix("@")
    return re.sub(r"\\(.)", r"\1", written[1:-1]) if written.startswith('"') else written
