"""Tests of PHP: a file, or methods of a class in it, as PHPUnit runs them: the project's own, or the installed one."""

import re
import shutil

from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners.named_test import (
    NamedTest,
    TestRun,
    at_line,
    found_tests,
    nearest,
    no_test,
    source_of,
)

_PROJECT = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml", "composer.json")

METHOD = re.compile(
    r"\\.|'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|//[^\n]*+|\#(?!\[)[^\n]*+|"
    r"(?=/\*|\#\[|\b(?:final|abstract|public|private|protected|static|function)\b)"
    r"(?P<marks>(?:(?:/\*.*?(?:\*/|\Z)|\#\[(?:[^\[\]]|\[[^\[\]]*+\])*+\])\s*+)*+)"
    r"(?P<how>(?:(?:final|abstract|public|private|protected|static)\s++)*+)(?:function\s++(?P<name>\w++)\s*+\()?",
    re.DOTALL,
)
"""A method, or marks that are of none, or a string or a comment, without a name."""

_IS_TEST = re.compile(r"@test\b|#\[\\?(?:\w+\\)*Test\b")
"""In the comment or the attributes of a method that is a test, though it is not called `test…`."""

_FAILURES = ("PHPUnit\\Framework\\AssertionFailedError", "PHPUnit\\Framework\\Error\\Error")
"""With what is derived from them: the second is raised where PHP warns of a key that is not there, for example."""

RAISED_IN_PHP = r"(?m)^\d+\) .*\n(?P<kind>[A-Z]\w*(?:\\\w+)*): (?!.*(?:\n.+)*?\nFailed asserting)"
"""What an assertion says of itself, in words of the user, stands there, too."""

_RAN_NONE = "No tests executed!"


def phpunit_run(test: NamedTest) -> TestRun:
    """Return how tests of a file are run: from the directory of `phpunit.xml` or `composer.json`.

    Raises:
        NoSuchTest: the file has no such test, or PHPUnit is not installed.
    """
    project = nearest(test.path, _PROJECT)
    home = test.path.parent if project is None else project.parent
    own = home / "vendor" / "bin" / "phpunit"
    program = str(own.resolve()) if own.is_file() else shutil.which("phpunit")
    if program is None:
        raise NoSuchTest(
            f"'{test.file}' is a test of PHPUnit, which is not installed: composer require --dev phpunit/phpunit."
        )
    args = (*_selected(test), test.file)
    return TestRun(program, args, str(home), ran_none=_RAN_NONE, fails_with=_FAILURES, raised=RAISED_IN_PHP)


def _selected(test: NamedTest) -> tuple[str, ...]:
    """Return the options that select a test: `testSums`, `ShelfTest::testSums`, or `testSums with data set #1`."""
    text = source_of(test.path)
    names = [found["name"] for found in found_tests(text, METHOD) if is_test(found)]
    name = test.name
    if test.line is not None:
        name = at_line(text, test.line, METHOD)["name"]
    if not name:
        return ()
    method, _, data = name.rpartition("::")[2].partition(" ")
    if method not in names:
        raise no_test(method, names, test.file)
    rows = " " + re.escape(data).replace("/", r"\/") if data else "( .*)?"
    return ("--filter", f"/::{method}{rows}$/")


def is_test(found: re.Match[str]) -> bool:
    """Whether PHPUnit takes a method for a test."""
    is_run = not {"private", "protected", "abstract"} & set(found["how"].split())
    return is_run and (found["name"].startswith("test") or _IS_TEST.search(found["marks"]) is not None)
