"""Tests of Rust, which cargo builds: unit tests, and those in `tests/`.

The program is made by `cargo test --no-run`; a file of a crate is a part of that of its library, or of its binary.
"""

import os
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_examples import RUST, example_in
from trio_debugmcp.dap.profiles.test_runners.named_test import (
    NamedTest,
    TestRun,
    at_line,
    blocks_around,
    found_tests,
    nearest,
    no_test,
    source_of,
)

_ATTRIBUTE = r"""
    \#\[ (?:
        [^\[\]"'\n]
      | "(?:[^"\\\n]|\\.)*+"?
      | '(?:\\.'|[^'\\\n]')?
      | \[ (?: (?: [^\[\]\n] | \[[^\[\]\n]*+\] )*+ \] )?
    )*+ (?:\]|$) \s*+"""
"""In one line. It is matched whatever is in it: else many that are not closed would be read to the end of each."""

TEST = re.compile(
    rf"(?=\#\[(?:\w+::)?test\b)(?:{_ATTRIBUTE})++(?:(?:pub\s+)?(?:async\s+)?fn\s+(?P<name>\w+))?",
    re.VERBOSE | re.MULTILINE,
)

MODULE = re.compile(r"^[^\S\n]*+(?:pub(?:\([^)\n]*+\))?\s+)?mod\s+(?P<name>\w+)\s*\{", re.MULTILINE)

_NAME = re.compile(r"[A-Za-z_]\w*(?:::\w+)*")

_MAX_FILES = 500
"""Of a crate, or of several, that are looked through for a name."""

_MAX_DIRECTORIES = 3000
"""That are looked through: of a project whose data lies beside its sources there are more."""

_OF_OTHERS = frozenset({"target", "node_modules"})

_OF_PYTHON = re.compile(r"test.*\.py|.*_test\.py")
"""Files in which pytest or unittest looks for tests."""

_BUILD = ("cargo", "test", "--no-run", "--message-format=json")


def cargo_run(test: NamedTest) -> TestRun:
    """Return how a test of a crate is built and run: alone, and with what it prints.

    Raises:
        NoSuchTest: the file is of no crate, or has no such test.
    """
    manifest = nearest(test.path, ("Cargo.toml",))
    if manifest is None:
        raise NoSuchTest(
            f"There is no Cargo.toml above '{test.file}'. Build it with `rustc --test -g`, and launch that."
        )
    crate, text = manifest.parent, source_of(test.path)
    target, source, module = _target_of(test.path, crate)
    args: tuple[str, ...] = ("--nocapture", "--test-threads=1")
    paths = _chosen(test, text, module)
    if paths:
        args = (*paths, "--exact", *args)
    elif module:
        args = (f"{module}::", *args)
    plan = BuildPlan((*_BUILD, *target), str(crate), str(source))
    return TestRun(str(source), args, str(crate), build=plan, ran_none=r"(?m)^running 0 tests$")


def may_be_of_rust(test: str) -> bool:
    """Whether a test is a name alone, or with its modules, as `cargo test` takes it; Python has such names, too."""
    return _NAME.fullmatch(test) is not None


def rust_files_with(name: str, directory: str) -> list[str]:
    """Return the files of a crate, or of those below a directory, that have a test of this name: `tests::adds`.

    Raises:
        NoSuchTest: there is none, and the project is of Rust alone.
    """
    home = Path(directory)
    if not may_be_of_rust(name) or not any((folder / "Cargo.toml").is_file() for folder in (home, *home.parents)):
        return []
    looked = list(islice(_walk(home), _MAX_DIRECTORIES))
    below = [Path(folder, file) for folder, names in looked for file in names]
    sources = [file for file in below if file.suffix == ".rs"][:_MAX_FILES]
    tests = {str(file): _paths_in(file) for file in sources}
    files = [file for file, paths in tests.items() if any(f"::{path}".endswith(f"::{name}") for path in paths)]
    is_whole = len(looked) < _MAX_DIRECTORIES and len(sources) < _MAX_FILES
    of_python = any(_OF_PYTHON.fullmatch(file.name) for file in below)
    if not files and is_whole and not of_python and example_in([directory]) == RUST:
        raise no_test(name, chain(*tests.values()), directory)
    return files


def _walk(home: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the directories of a project that people write in, with their files of Rust and of Python."""
    for folder, folders, names in os.walk(home):
        folders[:] = sorted(each for each in folders if each not in _OF_OTHERS and not each.startswith("."))
        yield folder, sorted(name for name in names if name.endswith((".rs", ".py")))


def _paths_in(file: Path) -> list[str]:
    """Return the tests of a file, with all modules that they are in."""
    manifest, text = nearest(file, ("Cargo.toml",)), source_of(file)
    module = "" if manifest is None else _target_of(file, manifest.parent)[2]
    return [_path(text, found, module) for found in found_tests(text, TEST)]


def _path(text: str, test: re.Match[str], module: str) -> str:
    return "::".join([*filter(None, [module]), *blocks_around(text, test.start("name"), MODULE), test["name"]])


def _target_of(file: Path, crate: Path) -> tuple[tuple[str, ...], Path, str]:
    """Return the options that select what cargo builds, the file that this begins in, and the module of this file."""
    parts = file.relative_to(crate).parts
    if len(parts) > 1 and parts[0] in ("tests", "examples", "benches"):
        option = {"tests": "--test", "examples": "--example", "benches": "--bench"}[parts[0]]
        if len(parts) == 2:
            return (option, file.stem), file, ""
        return (option, parts[1]), crate / parts[0] / parts[1] / "main.rs", _module(parts[2:])
    if parts[:2] == ("src", "bin"):
        if len(parts) == 3:
            return ("--bin", file.stem), file, ""
        return ("--bin", parts[2]), crate / "src" / "bin" / parts[2] / "main.rs", _module(parts[3:])
    library, binary = crate / "src" / "lib.rs", crate / "src" / "main.rs"
    if file != binary and library.exists():
        return ("--lib",), library, _module(parts[1:])
    return ("--bins",), binary, _module(parts[1:])


def _module(parts: tuple[str, ...]) -> str:
    """Return the module that a file is, by its path within its target: `price/fees.rs`, `price/mod.rs`."""
    names = [part.removesuffix(".rs") for part in parts]
    if names and names[-1] in ("mod", "lib", "main"):
        names.pop()
    return "::".join(names)


def _chosen(test: NamedTest, text: str, module: str) -> list[str]:
    """Return the tests of a file that are meant, with the modules that they are in: `fees::tests::a_transfer`.

    A name without its module is that of each test that has it.
    """
    below = f"{module}::" if module else ""
    if test.line is not None:
        return [_path(text, at_line(text, test.line, TEST), module)]
    if not test.name:
        return []
    tests = found_tests(text, TEST)
    names = [found["name"] for found in tests]
    if names and test.name.rpartition("::")[2] not in names:
        raise no_test(test.name, names, test.file)
    if "::" in test.name:
        return [test.name if test.name.startswith(below) else below + test.name]
    return [_path(text, found, module) for found in tests if found["name"] == test.name] or [below + test.name]
