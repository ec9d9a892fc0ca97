"""Tests of C and C++: GoogleTest, Catch2, and programs that are tests as a whole; built by CMake.

The program is one of those that the project's build directory names as tests: the one that the file is compiled into,
as the paths of source files are in what their assertions print. It is built again before it runs.
"""

import mmap
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners.cmake_builds import (
    BuiltTest,
    CMakeBuild,
    build_command,
    builds_of,
    configured_and_built,
    project_of,
)
from trio_debugmcp.dap.profiles.test_runners.named_test import NamedTest, TestRun, at_line, no_test, source_of

_OF_GTEST = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:gtest|gmock)/", re.MULTILINE)

_OF_DOCTEST = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"][^<>\"\n]*doctest", re.MULTILINE)

_GTEST = re.compile(
    r"^[ \t]*(?P<kind>TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*(?P<suite>\w+)\s*,\s*(?P<name>\w+)\s*\)",
    re.MULTILINE,
)

_CATCH = re.compile(
    r"^[ \t]*(?:(?:TEMPLATE_(?:\w+_)?)?TEST_CASE|(?P<scenario>SCENARIO))(?:_METHOD)?(?:_SIG)?\s*\("
    r"(?:\s*[\w:&]+\s*,)?\s*\"(?P<name>(?:\\.|[^\"\\])*)\"",
    re.MULTILINE,
)

_SECTION = re.compile(r"\b(?:SECTION|(?:AND_)?(?:GIVEN|WHEN|THEN))\s*\(\s*\"(?P<name>(?:\\.|[^\"\\])*)\"")

_GTEST_STOPS = ("--gtest_break_on_failure", "--gtest_catch_exceptions=0")

_FILTERS: Mapping[str, str] = {
    "TEST_P": "{0}:*/{0}/*",
    "TYPED_TEST": "{1}/*.{2}",
    "TYPED_TEST_P": "*{1}/*.{2}",
}
"""How a test is named that is made several times, for its values or types: by its name, its suite, its own."""


def cpp_run(test: NamedTest) -> TestRun:
    """Return how a test of a source file is run.

    Raises:
        NoSuchTest: the file has no such test, or is compiled into no program that is there.
    """
    text = source_of(test.path)
    if _OF_DOCTEST.search(text):
        raise NoSuchTest(
            f"No runner is known for doctest, as in '{test.file}'. Pass its program, and args=['-tc=NAME']."
        )
    args: tuple[str, ...]
    stops: tuple[str, ...]
    if _OF_GTEST.search(text) or _GTEST.search(text):
        args, stops, none = _gtest_arguments(test, text), _GTEST_STOPS, r"(?m)^\[==========\] 0 tests from 0 "
    elif _CATCH.search(text):
        args, stops, none = _catch_arguments(test, text), ("--break",), r"(?m)^No tests? (?:ran|cases matched)"
    else:
        return _whole_program(test)
    build, built = _program_of(test)
    return TestRun(built.program, args, built.directory, build=_plan(test, build, built), ran_none=none, breaks=stops)


def _gtest_arguments(test: NamedTest, text: str) -> tuple[str, ...]:
    tests = {f"{found['suite']}.{found['name']}": found for found in _GTEST.finditer(text)}
    name = test.name
    if test.line is not None:
        own = at_line(text, test.line, _GTEST)
        name = f"{own['suite']}.{own['name']}"
    if not name:
        chosen = list(tests)
    elif "/" in name:  # of one value or type, as the runner writes it
        return (f"--gtest_filter={name}",)
    else:
        chosen = [full for full, found in tests.items() if name in (full, found["name"], found["suite"])]
    if not chosen:
        raise no_test(name, tests, test.file)
    disabled = any("DISABLED_" in full for full in chosen) and bool(name)
    filters = ":".join(_filter(tests[full]) for full in chosen)
    return (f"--gtest_filter={filters}", *(("--gtest_also_run_disabled_tests",) if disabled else ()))


def _filter(found: re.Match[str]) -> str:
    whole = f"{found['suite']}.{found['name']}"
    return _FILTERS.get(found["kind"], "{0}").format(whole, found["suite"], found["name"])


def _catch_arguments(test: NamedTest, text: str) -> tuple[str, ...]:
    """Return what selects a test case, and a section in it: `a basket > is cheap`."""
    cases = [
        ("Scenario: " if found["scenario"] else "") + re.sub(r"\\(.)", r"\1", found["name"])
        for found in _CATCH.finditer(text)
    ]
    name = test.name
    if test.line is not None:
        own = at_line(text, test.line, _CATCH)
        name = cases[[found.start() for found in _CATCH.finditer(text)].index(own.start())]
    if not name:
        return (",".join(map(_escaped, cases)),)
    case, *sections = (name,) if name in cases else name.split(" > ")
    found = next((one for one in (case, f"Scenario: {case}", case.rpartition(" - ")[0]) if one in cases), None)
    if found is None:
        raise no_test(case, cases, test.file)
    known = [section["name"] for section in _SECTION.finditer(text)]
    missing = [section for section in sections if not {section, section.partition(": ")[2]} & set(known)]
    if missing and "DYNAMIC_SECTION" not in text:  # with one that is not there, the rest of the case passes
        raise no_test(missing[0], known, f"'{found}' of {test.file}")
    templated = found != case and not found.startswith("Scenario: ")
    wanted = _escaped(case if templated else found)
    is_template = re.search(rf"TEMPLATE_\w+\s*\([^\"]*\"{re.escape(found)}\"", text) is not None
    chosen = f"{wanted} - *" if is_template and not templated else wanted
    return (chosen, *(word for section in sections for word in ("-c", section)))


def _escaped(name: str) -> str:
    return re.sub(r"[\\,\[\]\"]", r"\\\g<0>", name)


def _whole_program(test: NamedTest) -> TestRun:
    """Return how a program is run that is a test itself: by the name that CTest has for it, or as the file's."""
    if test.line is not None:
        raise NoSuchTest(f"'{test.file}' has no tests of GoogleTest or Catch2: pass the file, and a breakpoint in it.")
    builds = builds_of(test.path)
    named = [(build, built) for build in builds for built in build.tests if built.name == test.name]
    if test.name and not named and builds:
        raise no_test(test.name, [built.name for build in builds for built in build.tests], builds[0].directory)
    build, built = named[0] if named else _program_of(test)
    return TestRun(built.program, built.command[1:], built.directory, build=_plan(test, build, built))


def _program_of(test: NamedTest) -> tuple[CMakeBuild, BuiltTest]:
    """Return the test of CTest's whose program a file is compiled into: of several builds the last made.

    Raises:
        NoSuchTest: there is none; the message has the command that builds it.
    """
    file, builds = test.path, builds_of(test.path)
    project = project_of(file)
    if project is None:
        raise NoSuchTest(
            f"There is no CMakeLists.txt above '{file}'. Build its tests with -g, and pass their program as `program`, "
            "with args such as ['--gtest_filter=Suite.Name', '--gtest_break_on_failure'] or ['name', '--break']."
        )
    there = [(build, built) for build in builds for built in build.tests if Path(built.program).is_file()]
    programs = {built.program: (build, built) for build, built in reversed(there)}
    fits = [found for program, found in programs.items() if _mentions(program, file)]
    if fits:
        return max(fits, key=lambda found: os.path.getmtime(found[1].program))
    if programs:
        known = ", ".join(sorted(os.path.basename(program) for program in programs))
        raise NoSuchTest(f"'{file}' is compiled into none of the programs that CTest knows: {known}.{_TO_KNOW}")
    command = build_command(builds[0].directory) if builds else configured_and_built(project)
    known = "" if not builds or builds[0].tests else _TO_KNOW
    raise NoSuchTest(f"The tests of {project} are not built. Build them with: {command}.{known}")


_TO_KNOW = " CMake names tests by enable_testing() and add_test, gtest_discover_tests or catch_discover_tests."


def _mentions(program: str, file: Path) -> bool:
    """Whether the path of a source file is in a program, as what assertions print, or as debug information."""
    try:
        with open(program, "rb") as binary, mmap.mmap(binary.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(ending) >= 0 for ending in _endings(file))
    except (OSError, ValueError):
        return False


def _endings(file: Path) -> Iterable[bytes]:
    """Return how the path of a file ends in a program, whatever it is relative to."""
    return (f"{file.parent.name}/{file.name}\0".encode(), b"\0" + f"{file.name}\0".encode())


def _plan(test: NamedTest, build: CMakeBuild, built: BuiltTest) -> BuildPlan:
    return BuildPlan(("cmake", "--build", build.directory), build.directory, test.file, program=built.program)
