"""How one test of a Python project is run: by the runner that its own environment has.

    code = runner_code("tests/test_till.py::test_total")      # for `python -c`

A test is named as pytest names it (`tests/test_a.py::Case::test_b`), or by dots (`tests.test_a.Case.test_b`) as
unittest and nose2 name it. In a project of Django without pytest-django `manage.py test` runs tests that are methods of
a test case, and makes the database for them.
"""

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from trio_debugmcp.dap.profiles.python.failed_tests import STOP_AT_FAILURES

_MAX_NEAR = 5
"""Names that are suggested for a test that does not exist."""

_RUNNER = """\
def name_ids(pytest, test):
    class Collected:
        def pytest_collection_modifyitems(self, items):
            self.ids = [item.nodeid for item in items]
    import contextlib, io, sys
    collected = Collected()
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["--collect-only", "-q", test], plugins=[collected])
    ids = getattr(collected, "ids", [])
    more = f", and {len(ids) - 20} more" if len(ids) > 20 else ""
    if ids:
        sys.stderr.write("there are: " + ", ".join(ids[:20]) + more + "\\n")
def kinds_of_tests(path):
    import ast, itertools, os
    file, _, name = path.partition("::")
    files = [file]
    if os.path.isdir(file):
        folders = itertools.islice(os.walk(file), 1000)
        files = (os.path.join(folder, each) for folder, _, found in folders for each in found)
        files = [each for each in files if os.path.basename(each).startswith("test") and each.endswith(".py")][:1000]
    wanted = name.partition("::")[0].partition("[")[0]
    cases = []
    for each in files:
        try:
            with open(each, "rb") as source:
                body = ast.parse(source.read()).body
        except (OSError, SyntaxError, ValueError):
            continue
        for node in body:
            is_case, test = bool(getattr(node, "bases", ())), getattr(node, "name", "")
            if (is_case or test.lower().startswith("test")) and wanted in ("", test):
                cases.append(is_case)
    return cases
def is_of_unittest(path):
    cases = kinds_of_tests(path)
    return bool(cases) and all(cases)
def run_django(path, name, arguments):
    import os, re, runpy, sys
    file, _, inner = path.partition("::")
    folder = os.path.dirname(file)
    while folder and not os.path.isfile(os.path.join(folder, "manage.py")):
        folder = os.path.dirname(folder) if folder != os.path.dirname(folder) else ""
    manage = os.path.join(folder, "manage.py")
    if not os.path.isfile(manage):
        return False
    if folder:
        sys.path.insert(0, os.path.abspath(folder))
    if path:
        module = os.path.relpath(file, folder or ".")
        parts = (module[:-3] if module.endswith(".py") else module).split(os.sep)
        name = ".".join(parts + inner.replace("::", ".").split()) if parts != ["."] else "."
    with open(manage, encoding="utf-8", errors="replace") as source:
        settings = re.search(r"DJANGO_SETTINGS_MODULE\\W+([\\w.]+)", source.read())
    command = [manage, "test", "--noinput", name] + arguments
    if settings is None:
        sys.argv = command
        runpy.run_path(manage, run_name="__main__")
    else:
        from django.core import management
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings[1])
        management.execute_from_command_line(command)
    return True
def run(wanted, arguments):
    import importlib.util, os, sys
    def there(name):
        return importlib.util.find_spec(name) is not None
    is_path = "::" in wanted or "/" in wanted or wanted.endswith(".py")
    def path():
        if is_path:
            return wanted
        parts = wanted.replace(":", ".").split(".")
        for number in range(len(parts), 0, -1):
            start = os.path.join(*parts[:number])
            if os.path.isfile(start + ".py"):
                return "::".join([start + ".py"] + parts[number:])
        return start if os.path.isdir(start) else None
    stop, running = stopping(), []
    if stop is not None:
        follow_unittest(stop, running)
    name = wanted.replace("/", ".").replace(".py", "").replace("::", ".") if is_path else wanted
    is_of_django = there("django") and not there("pytest_django")
    if is_of_django and there("pytest") and path():
        is_of_django = is_of_unittest(path())
    if is_of_django and run_django(wanted if is_path else "", name, arguments):
        return
    if there("pytest") and path():
        import pytest
        own_plugins = not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
        options = ["-q", "-s", "--no-header"] + (["-n0"] if there("xdist") and own_plugins else [])
        plugins = pytest_plugins(stop, running) if stop is not None else []
        code = int(pytest.main(options + [path()] + arguments, plugins=plugins))
        if code == 4 and "[" in path().rpartition("::")[2]:
            name_ids(pytest, path().partition("[")[0])
        sys.exit(code)
    if there("nose2"):
        import nose2
        nose2.main(module=None, argv=["nose2", name] + arguments)
    if path() and not all(kinds_of_tests(path())):
        where = "there is no pytest for " + sys.executable
        why = ", and only pytest runs tests that are not methods of a unittest.TestCase: "
        sys.stderr.write(where + why + sys.executable + " -m pip install pytest\\n")
        sys.exit(4)
    import unittest
    unittest.main(module=None, argv=["unittest", name] + arguments)
"""
"""Runs in the program, on Python 3.8 and newer. `-s`: the test's output is the program's; `-n0`: in this process."""

_RUNNERS = frozenset({"pytest", "py.test", "unittest", "nose2"})
"""Modules and commands that run tests, and catch what these raise; so does `manage.py test`."""

_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")

_NOT_FOUND_CODES = (4, 5)
"""Exit codes of pytest for a test that it cannot find. It also exits so if a `conftest.py` fails, for example."""

_NOT_LOADED = ("_FailedTest", "LoadTestsFailure")
"""What unittest and nose2 print of a test that they cannot find: for them it is one that has failed."""


def runner_code(test: str) -> str:
    """Return the code that runs a test, for `python -c`; more arguments of the runner are the program's."""
    # Compiled under a name of its own, so that it counts as code of a library; `__unittest`: in no traceback of a test.
    code = STOP_AT_FAILURES + _RUNNER
    run = f"names['run']({test!r}, sys.argv[1:])"
    return f"import sys\nnames = {{'__unittest': True}}\nexec(compile({code!r}, '<runner>', 'exec'), names)\n{run}\n"


def test_problem(test: str) -> str | None:
    """Why this cannot name a test: the rest of a sentence that begins with it."""
    if re.search(r"\w", test.partition("::")[0]) and "\0" not in test:
        return None
    return "names no test: pass `tests/test_a.py::test_b`, or `tests.test_a.Case.test_c`"


def tests_run_by(command: str, args: Sequence[str]) -> str | None:
    """Return the tests that a command runs, as far as its arguments name one, else empty; None if it runs none."""
    if command == "coverage" and list(args[:1]) == ["run"] and "-m" in args[:-1]:
        inner = args.index("-m") + 1
        command, args = args[inner], args[inner + 1 :]
    if command not in _RUNNERS and not (command == "manage.py" and list(args[:1]) == ["test"]):
        return None
    named = [word for word in args if "::" in word or word.endswith(".py") or _DOTTED.fullmatch(word)]
    return named[0] if named else ""


def is_missing(exit_code: int, errors: str) -> bool:
    """Return whether a runner may not have found the test: it has failed, but not as a test does that ran."""
    return exit_code in _NOT_FOUND_CODES or any(phrase in errors for phrase in _NOT_LOADED)


def near_tests(test: str, directory: str) -> list[str]:
    """Return tests whose names are like this one, if there is none of this name; those of other files only by path."""
    file, _, name = test.partition("::")
    if not file.endswith(".py"):
        return []
    path = Path(directory, file)
    if not path.is_file():
        files = {*path.parent.glob("test_*.py"), *path.parent.glob("*_test.py")}
        others = [str(Path(file).parent / test_file.name) for test_file in sorted(files)]
        return difflib.get_close_matches(file, others, _MAX_NEAR, cutoff=0)
    wanted = name.partition("[")[0]
    try:
        test_names = list(_tests_in(ast.parse(path.read_bytes()).body))
    except (OSError, SyntaxError, ValueError):
        return []
    if not wanted or any(test_name == wanted or test_name.startswith(f"{wanted}::") for test_name in test_names):
        return []
    return [f"{file}::{near}" for near in difflib.get_close_matches(wanted, test_names, _MAX_NEAR, cutoff=0)]


def _tests_in(body: list[ast.stmt], outer: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _tests_in(node.body, f"{outer}{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield outer + node.name
