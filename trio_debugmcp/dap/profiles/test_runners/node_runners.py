"""Tests of JavaScript and TypeScript: vitest, jest, mocha, and node's own runner."""

import json
import os
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from msgspec.structs import replace

from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_examples import SCRIPT, example_in
from trio_debugmcp.dap.profiles.test_runners.named_test import (
    NamedTest,
    TestRun,
    at_line,
    blocks_around,
    nearest,
    no_test,
    source_of,
)

_TITLED = re.compile(
    r"(?<![\w.$])(?:test|it|specify|describe|suite|context)(?:\.(?:only|skip|todo|concurrent|sequential|failing))*\s*\(\s*"
    r"(?P<quote>[\"'`])(?P<name>(?:\\.|(?!(?P=quote)).)*)(?P=quote)"
)

SUITE = re.compile(_TITLED.pattern.replace("test|it|specify|", ""))

_MADE = re.compile(
    r"(?<![\w.$])(?:test|it|describe)(?:\.\w+)*\s*(?:\.each\b|\.for\b|`|\(\s*(?![\"'`\s])|\(\s*`[^`]*\$\{)"
)
"""Titles that are made as the program runs: from a table, or an expression."""

_OWN_RUNNER = re.compile(r"[\"']node:test[\"']")

_TYPES = ("AssertionError", "JestAssertionError")

_RAN_NONE = {
    "node": r"(?m)^# pass 0\n# fail 0$",
    "vitest": r"(?m)^\s*Tests\s+\d+ skipped \(",
    "jest": r"(?m)^Tests:\s+\d+ skipped, \d+ total$",
    "mocha": r"(?m)^\s*0 passing \(.*\)\s*\Z",
}

RAISED_IN_NODE = {
    "node": r"(?m)^(?: +name: '|.*✖ .*\n\s+)(?P<kind>[A-Z]\w*)(?='|: )",
    "jest": r"(?m)^  ● .*\n\n    (?P<kind>[A-Z]\w*): ",
    "mocha": r"(?m)^  \d+\) .*(?:\n {7}.*)*:\n {5}(?P<kind>[A-Z]\w*): ",
    "vitest": r"(?m)^ FAIL  .*\n(?P<kind>[A-Z]\w*): .*\n(?:(?! FAIL | \u276f ).*\n)*?"
    r" \u276f (?:\S+ )?(?P<file>\S+?):(?P<line>\d+):\d+$",
}
"""Of node's own runner as TAP, and as it writes for people. Vitest raises too many itself for a stop at each, so there
the line is of use.
"""

_TITLE = re.compile(r"[^\x00-\x1f/\\]+(?<!\.py)")

_FILE = re.compile(r".*[._-](?:test|spec)\.[cm]?[jt]sx?")

_SCRIPT = re.compile(r".*\.[cm]?[jt]sx?")

_OF_PYTHON = re.compile(r"test.*\.py|.*_test\.py")

_FOLDERS = ("test", "tests", "__tests__")
"""Directories whose scripts are tests, whatever they are called."""

_OF_OTHERS = ("node_modules", "dist", "build", "coverage")

_MAX_FILES = 300
"""That are looked through for a title."""

_MAX_DIRECTORIES = 2000

_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/]")


def may_be_of_script(test: str) -> bool:
    """Whether a test is a title alone, maybe behind those of its suites: `adds up`, `a basket > is cheap`."""
    return _TITLE.fullmatch(test) is not None


def script_files_with(title: str, directory: str) -> list[str]:
    """Return the files of tests below a directory of a JavaScript project that have a test of this title.

    Raises:
        NoSuchTest: there is none; the message has those that are like it.
    """
    home = Path(directory)
    if not may_be_of_script(title) or example_in([directory]) != SCRIPT:
        return []
    looked = list(islice(_walk(home), _MAX_DIRECTORIES))
    files = [Path(folder, name) for folder, names in looked for name in names if _is_test(folder, name)]
    titles = {str(file): _titles(source_of(file)) for file in files[:_MAX_FILES]}
    own = title.rpartition(" > ")[2]
    found = [file for file, known in titles.items() if title in known or own in known]
    of_python = any(_OF_PYTHON.fullmatch(name) for _, names in looked for name in names)
    is_whole = len(looked) < _MAX_DIRECTORIES and len(files) <= _MAX_FILES
    if files and not found and is_whole and not of_python:
        raise no_test(title, chain(*titles.values()), directory)
    return found


def _walk(home: Path) -> Iterator[tuple[str, list[str]]]:
    for folder, folders, names in os.walk(home):
        folders[:] = sorted(each for each in folders if each not in _OF_OTHERS and not each.startswith("."))
        yield folder, sorted(names)


def _is_test(folder: str, name: str) -> bool:
    pattern = _SCRIPT if Path(folder).name in _FOLDERS else _FILE
    return pattern.fullmatch(name) is not None


def node_run(test: NamedTest) -> TestRun:
    """Return how tests of a file are run, by the runner that the file or its project names.

    Raises:
        NoSuchTest: the file has no such test, or there is no runner.
    """
    text = source_of(test.path)
    title = _title(test, text)
    manifest = nearest(test.path, ("package.json",))
    home = manifest.parent if manifest is not None else test.path.parent
    runner = None if _OWN_RUNNER.search(text) else _runner_of(home, text)
    if runner is None and not _OWN_RUNNER.search(text):
        raise NoSuchTest(
            f"No runner is known for '{test.file}': it does not import node:test, and there is no vitest, jest or "
            f"mocha in node_modules of {home} or above. Install one (npm install), or pass a runner's script as "
            "`program`."
        )
    return _own(test, title, home) if runner is None else _by_script(runner, test, title, home)


def _title(test: NamedTest, text: str) -> str:
    """Return the title of a test, with those of its suites before it where others have its own title, too.

    In a name the suites are parted by `>` or not named. Node's own runner compares a title alone before its version 22:
    all tests that have it run.
    """
    if test.line is not None:
        found = at_line(text, test.line, _TITLED)
        path = [*blocks_around(text, found.start("name"), SUITE), found["name"]]
    else:
        path = [test.name] if not test.name or test.name in _titles(text) else test.name.split(" > ")
    title = path[-1]
    if title and title not in _titles(text) and not _MADE.search(text):
        raise no_test(test.name, _titles(text), test.file)
    return " ".join(path) if _titles(text).count(title) > 1 and not _OWN_RUNNER.search(text) else title


def _titles(text: str) -> list[str]:
    return [found["name"] for found in _TITLED.finditer(text)]


def _runner_of(home: Path, text: str) -> Path | None:
    """Return the script of the runner that a project has: the one that the file imports, or the scripts name, first."""
    try:
        scripts = json.dumps(json.loads((home / "package.json").read_text()).get("scripts", {}))
    except (OSError, ValueError, AttributeError):
        scripts = ""
    places = {name: _script(home, name) for name in ("vitest", "jest", "mocha")}
    there = [name for name, place in places.items() if place is not None]
    there.sort(key=lambda name: (f"{name}" not in text, name not in scripts))
    return places[there[0]] if there else None


def _script(home: Path, name: str) -> Path | None:
    """Return a command that is installed in a project, or in one above it, as workspaces have it."""
    return next(
        (place for folder in (home, *home.parents) if (place := folder / "node_modules" / ".bin" / name).exists()), None
    )


def _own(test: NamedTest, title: str, home: Path) -> TestRun:
    options = {"runtimeArgs": [f"--test-name-pattern={_pattern(title)}"]} if title else {}
    run = TestRun(test.file, (), str(home), options=options, ran_none=_RAN_NONE["node"])
    return replace(run, fails_with=_TYPES, raised=RAISED_IN_NODE["node"])


def _by_script(runner: Path, test: NamedTest, title: str, home: Path) -> TestRun:
    pattern = _pattern(title)
    match runner.name:
        case "vitest":
            chosen = ("-t", pattern) if title else ()
            args: tuple[str, ...] = ("run", "--no-file-parallelism", "--test-timeout=0", *chosen, test.file)
        case "jest":
            chosen = ("-t", pattern) if title else ()
            args = ("--runInBand", "--testTimeout=2147483647", *chosen, "--runTestsByPath", test.file)
        case _:
            chosen = ("--grep", pattern) if title else ()
            args = ("--no-parallel", "--timeout", "0", *chosen, test.file)
    below = (
        runner.name == "vitest"
    )  # each exception that is caught takes js-debug up to 0.15 s, and vite catches some 300
    env = {"NO_COLOR": "1"} if below else {}  # it colours a pipe, too, where there is `CI`
    none = _RAN_NONE[runner.name]
    run = TestRun(str(runner), args, str(home), env, ran_none=none)
    return replace(run, fails_with=_TYPES, fails_below=below, raised=RAISED_IN_NODE.get(runner.name))


def _pattern(title: str) -> str:
    """Return a pattern of JavaScript for a test of this title; runners match it with those of its suites before it."""
    escaped = _SPECIAL.sub(r"\\\g<0>", title)
    return f"(?:^| ){escaped}$"
