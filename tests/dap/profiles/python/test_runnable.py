"""Which Python runs a program, which files are scripts of Python, and how a test is run."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.python import test_runner
from trio_debugmcp.dap.profiles.python.expressions import PythonExpressions
from trio_debugmcp.dap.profiles.python.interpreters import interpreter_for, is_script
from trio_debugmcp.dap.profiles.python.runnable import PythonPrograms, interpreter_command
from trio_debugmcp.dap.profiles.python.test_runner import is_missing, near_tests, runner_code


def written(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return str(path)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (f"#!{sys.executable}\n", True),
        ("#!/usr/bin/env python3\n", True),
        ("#!/usr/bin/env -S python3.12 -u\n", True),
        (f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''\n", True),
        ("#!/bin/sh\necho python\n", False),
        ("#!/usr/bin/perl\n", False),
        ("#!/usr/bin/env ipython3\n", False),
        ("#!/opt/bin/bpython\n", False),
        ("#!/usr/bin/env python-config\n", False),
        ("print('no first line')\n", False),
        ("", False),
    ],
)
def test_a_script_is_python_if_its_first_line_says_so(tmp_path: Path, head: str, expected: bool) -> None:
    assert is_script(written(tmp_path / "tool", head)) is expected
    assert not is_script(str(tmp_path / "nothing"))


def test_a_script_runs_on_the_interpreter_that_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    other = written(tmp_path / "env" / "bin" / "python3.9", "")
    assert interpreter_for(written(tmp_path / "tool", f"#!{other}\n")) == other
    long = written(tmp_path / "long", f'#!/bin/sh\n\'\'\'exec\' "{other}" "$0" "$@"\n')
    assert interpreter_for(long) == other
    gone = written(tmp_path / "gone", "#!/nowhere/python3\n")
    assert interpreter_for(gone) == sys.executable
    assert interpreter_for(written(tmp_path / "env_script", "#!/usr/bin/env python3\n")) == sys.executable
    versioned = written(tmp_path / "bin" / "python3.9", "")
    Path(versioned).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert interpreter_for(written(tmp_path / "versioned", "#!/usr/bin/env python3.9\n")) == versioned
    assert interpreter_for(written(tmp_path / "missing", "#!/usr/bin/env python3.4\n")) == sys.executable


def test_the_interpreter_is_the_one_that_was_chosen_or_is_found_for_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    program = written(tmp_path / "app.py", "")
    programs = PythonPrograms()
    assert programs.interpreter(program, str(tmp_path), {}) == sys.executable
    assert programs.is_own(sys.executable)
    home = tmp_path / ".venv"
    written(home / "pyvenv.cfg", "")
    own = written(home / "bin" / "python", "")
    assert programs.interpreter(program, str(tmp_path), {}) == own
    assert programs.interpreter("<code>", str(tmp_path), {"code": "1"}) == own
    assert not programs.is_own(own)
    assert interpreter_command(own, {})[0] == own
    assert interpreter_command(None, {})[0] == sys.executable
    assert interpreter_command(own, {"python": ["/p", "-I"], "pythonArgs": ["-u"]}) == [
        *("/p", "-I"), "-u",
    ]  # fmt: skip
    script = written(home / "bin" / "lint", f"#!{own}\n")
    assert programs.find_command("lint", str(tmp_path)) == script
    assert programs.find_command("none", str(tmp_path)) is None


def test_names_like_that_of_a_missing_test_are_found(tmp_path: Path) -> None:
    written(
        tmp_path / "tests" / "test_till.py",
        """
        def test_total(): ...
        async def test_later(): ...
        def helper(): ...
        class Case:
            def test_pay(self): ...
        """,
    )
    near = near_tests("tests/test_till.py::test_totl", str(tmp_path))
    assert near[0] == "tests/test_till.py::test_total"
    assert sorted(near) == [f"tests/test_till.py::{each}" for each in ("Case::test_pay", "test_later", "test_total")]
    assert near_tests("tests/test_till.py::Case::test_pa", str(tmp_path))[0] == "tests/test_till.py::Case::test_pay"
    assert near_tests("tests/test_till.py::test_total[3]", str(tmp_path)) == []
    written(tmp_path / "tests" / "till_helpers.py", "")
    assert near_tests("tests/test_tll.py::test_x", str(tmp_path)) == ["tests/test_till.py"], "no file without tests"
    assert near_tests("tests.test_till.Case", str(tmp_path)) == []
    assert (
        near_tests("tests/test_till.py", str(tmp_path)) == near_tests("tests/test_till.py::Case", str(tmp_path)) == []
    )
    whole = str(tmp_path / "tests" / "test_t.py")
    assert near_tests(f"{whole}::test_x", str(tmp_path / "other")) == [str(tmp_path / "tests" / "test_till.py")]


def test_only_a_run_that_may_not_have_found_its_test_counts_as_such() -> None:
    assert is_missing(4, "ERROR: not found: test_a.py::test_b")
    assert is_missing(1, "ERROR: test_b (unittest.loader._FailedTest.test_b)")
    assert not is_missing(1, "1 failed")  # it may be inherited, or made by a function


@pytest.mark.real
@pytest.mark.parametrize("test", ["t_case.py::Case::test_it", "t_case.Case.test_it"])
@pytest.mark.parametrize("has_pytest", [True, False])
def test_a_test_is_run_by_the_runner_that_there_is(tmp_path: Path, test: str, has_pytest: bool) -> None:
    written(
        tmp_path / "t_case.py",
        """
        import sys, unittest
        class Case(unittest.TestCase):
            def test_it(self):
                print("by", "pytest" if sys.modules.get("pytest") else "unittest")
            def test_other(self):
                print("the other one")
        """,
    )
    hide = "import importlib.util as u\nf = u.find_spec\nu.find_spec = lambda n: None if n == 'pytest' else f(n)\n"
    code = ("" if has_pytest else hide) + runner_code(test)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"by {'pytest' if has_pytest else 'unittest'}" in done.stdout
    assert "the other one" not in done.stdout

    written(tmp_path / "t_plain.py", "def test_it():\n    print('by pytest')\n")
    code = ("" if has_pytest else hide) + runner_code("t_plain.py")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    if has_pytest:
        assert (done.returncode, "by pytest" in done.stdout) == (0, True), done.stderr
    else:
        assert done.returncode == 4, "unittest would run none, and end well"
        assert f"there is no pytest for {sys.executable}" in done.stderr
        assert f": {sys.executable} -m pip install pytest\n" in done.stderr


@pytest.mark.real
@pytest.mark.parametrize(
    ("where", "test", "label"),
    [
        ("", "shop/tests.py::CartTest::test_total", "shop.tests.CartTest.test_total"),
        ("", "shop.tests.CartTest", "shop.tests.CartTest"),
        ("my.pyproj", "my.pyproj/shop/tests.py", "shop.tests"),
    ],
)
def test_in_a_project_of_django_its_own_command_runs_the_test(
    tmp_path: Path, where: str, test: str, label: str
) -> None:
    written(tmp_path / "django" / "__init__.py", "")
    written(
        tmp_path / "django" / "core" / "management.py",
        """\
        import os, sys
        def execute_from_command_line(command):
            print(os.environ["DJANGO_SETTINGS_MODULE"], *command, os.path.relpath(sys.path[0] or '.'))
        """,
    )
    settings = """os.environ.setdefault("DJANGO_SETTINGS_MODULE", 'site.settings')\n"""
    written(tmp_path / where / "manage.py", settings)
    written(tmp_path / where / "shop" / "tests.py", "class CartTest(TestCase):\n    def test_total(self): ...\n")
    written(tmp_path / where / "shop" / "test_plain.py", "def test_total(): print('by pytest')\n")
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    environment["PYTHONPATH"] = str(tmp_path)
    command = [sys.executable, "-c", runner_code(test), "--failfast"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
    manage = f"{where}/manage.py" if where else "manage.py"
    assert done.stdout.split()[:-1] == ["site.settings", manage, "test", "--noinput", label, "--failfast"], done.stderr
    assert done.stdout.split()[-1] == (where or ".")
    for of_pytest in ("shop/test_plain.py::test_total", "shop"):  # in the folder there is one of each kind
        command[2] = runner_code(str(Path(where, of_pytest)))
        done = subprocess.run(command[:-1], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
        assert "by pytest" in done.stdout, done.stderr


def test_tests_of_django_are_known_by_their_command() -> None:
    assert test_runner.tests_run_by("manage.py", ["test", "shop.tests.CartTest"]) == "shop.tests.CartTest"
    assert test_runner.tests_run_by("manage.py", ["test"]) == ""
    assert test_runner.tests_run_by("manage.py", ["runserver"]) is None


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"if x\n    pass\n", "SyntaxError in line 1, column 5: expected ':'"),
        (b"# coding: martian\n", "SyntaxError: unknown encoding: martian"),  # Python says line 0, column -1
    ],
)
def test_what_is_wrong_with_a_program_is_said_with_its_place_if_there_is_one(
    source: bytes, problem: str, tmp_path: Path
) -> None:
    program = written(tmp_path / "app.py", f"#!{sys.executable}\n")
    assert PythonExpressions().program_problem(program, source) == problem
