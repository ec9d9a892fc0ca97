"""Runners of tests that are programs of their own, or scripts of a language: how one test is built and run.

    run = test_run("ledger/src/lib.rs::tests::a_transfer", ["/home/ann"])
    # TestRun(program="/home/ann/ledger/src/lib.rs", args=("tests::a_transfer", "--exact", …), build=BuildPlan(…), …)

The file's suffix says the language; the nearest file of a project, which runner. Reads files, and starts nothing.
Tests of Python are found by `python/finding_tests.py`.
"""

from collections.abc import Callable, Mapping, Sequence

from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners.cargo import cargo_run, may_be_of_rust, rust_files_with
from trio_debugmcp.dap.profiles.test_runners.class_tests import tests_named
from trio_debugmcp.dap.profiles.test_runners.cpp_tests import cpp_run
from trio_debugmcp.dap.profiles.test_runners.go_test import go_files_with, go_run, may_be_of_go
from trio_debugmcp.dap.profiles.test_runners.junit import junit_run
from trio_debugmcp.dap.profiles.test_runners.kotlin_scala_tests import jvm_run
from trio_debugmcp.dap.profiles.test_runners.named_test import NamedTest, TestRun, located, parsed
from trio_debugmcp.dap.profiles.test_runners.node_runners import may_be_of_script, node_run, script_files_with
from trio_debugmcp.dap.profiles.test_runners.perl_runner import perl_run
from trio_debugmcp.dap.profiles.test_runners.phpunit import phpunit_run
from trio_debugmcp.dap.profiles.test_runners.ruby_runners import ruby_run
from trio_debugmcp.dap.profiles.test_runners.zig_test import zig_run

_MAX_NAMED = 8

__all__ = ["NoSuchTest", "TestRun", "is_own_program", "may_be_alone", "test_run", "with_file"]


_RUNNERS: Mapping[str, Callable[[NamedTest], TestRun]] = {
    ".rs": cargo_run,
    ".go": go_run,
    ".rb": ruby_run,
    ".t": perl_run,
    ".java": junit_run,
    ".php": phpunit_run,
    ".zig": zig_run,
    ".kt": jvm_run,
    ".scala": jvm_run,
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".c++"), cpp_run),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"), node_run),
}
"""By the suffix of the test's file."""


def is_own_program(test: str) -> bool:
    """Whether a test is named by a file, or a package of Go, that a runner here may be for."""
    name = parsed(test)
    return name is not None and name.suffix in _RUNNERS


def may_be_alone(test: str) -> bool:
    """Whether a test may be a name alone, of a language whose projects are looked through for it."""
    return may_be_of_go(test) or may_be_of_rust(test) or may_be_of_script(test)


def with_file(test: str, directory: str) -> str:
    """Return a test with its file if it is a name alone: `TestTotal` as `/src/price_test.go::TestTotal`.

    Raises:
        NoSuchTest: several have the name, or none of a language whose projects are looked through.
    """
    searches = () if is_own_program(test) else (go_files_with, rust_files_with, script_files_with)
    files = next((found for search in searches if (found := search(test, directory))), [])
    if len(files) > 1:
        raise NoSuchTest(
            f"Several {'packages' if files[0].endswith('.go') else 'files'} have '{test}'. "
            f"Pass one of: {', '.join(f'{file}::{test}' for file in files)}."
        )
    if files or is_own_program(test):
        return f"{files[0]}::{test}" if files else test
    found = tests_named(test, directory)
    if len(found) > 1:
        raise NoSuchTest(f"{len(found)} tests have the name '{test}'. {_one_of(found)}")
    return found[0] if found else test


def _one_of(tests: Sequence[str]) -> str:
    more = f", and {len(tests) - _MAX_NAMED} more" if len(tests) > _MAX_NAMED else ""
    return f"Pass one of: {', '.join(tests[:_MAX_NAMED])}{more}."


def test_run(test: str, places: Sequence[str]) -> TestRun:
    """Return what runs a test; only called for one that `is_own_program`.

    `places`: the directories in which its file may be; the first that has it counts.

    Raises:
        NoSuchTest: there is no such file or test, or nothing here runs it; the message says what to do.
    """
    name = parsed(test)
    if name is None:
        raise NoSuchTest(f"'{test}' names no test.")
    return _RUNNERS[name.suffix](located(name, places))
