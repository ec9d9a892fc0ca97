"""Tests of Rust, which cargo builds: unit tests, and those in `tests/`.

The program is made by `cargo test --no-run`; a file of a crate is a part of that of its library, or of its binary.
"""

import re
from pathlib import Path

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.test_runners.named_test import NamedTest, at_line, nearest, no_test, source_of
from trio_debugmcp.dap.profiles.test_runners.test_run import TestRun

_TEST = re.compile(r"#\[(?:\w+::)?test\b[^\n]*\]\s*(?:#\[[^\n]*\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(?P<name>\w+)")

_MODULE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(?P<name>\w+)\s*\{", re.MULTILINE)

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
    name = test.name or (at_line(text, test.line, _TEST) if test.line is not None else "")
    if name:
        inner = name.rpartition("::")[2]
        names = [found["name"] for found in _TEST.finditer(text)]
        if names and inner not in names:
            raise no_test(name, names, test.file)
        path = "::".join(filter(None, (module, name if "::" in name else _within(text, name))))
        args = (path if not name.startswith(f"{module}::") else name, "--exact", *args)
    elif module:
        args = (f"{module}::", *args)
    plan = BuildPlan((*_BUILD, *target), str(crate), str(source))
    return TestRun(str(source), args, str(crate), build=plan, ran_none=r"(?m)^running 0 tests$")


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


def _within(text: str, name: str) -> str:
    """Return a test's name with the inline modules that it is in, by their braces: `tests::a_transfer`."""
    place = next((found.start("name") for found in _TEST.finditer(text) if found["name"] == name), 0)
    modules = [found["name"] for found in _MODULE.finditer(text, 0, place) if _is_open(text[found.start() : place])]
    return "::".join([*modules, name])


def _is_open(text: str) -> bool:
    """Whether the first brace of a text is not closed in it."""
    depth = 0
    for brace in re.findall(r"[{}]", text):
        depth += 1 if brace == "{" else -1
        if not depth:
            return False
    return True
