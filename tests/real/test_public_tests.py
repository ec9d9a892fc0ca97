"""Tests of tests: those that pass never stop, whatever catches what they raise; those that fail stop there."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.pythons import Interpreter, found
from tests.real.conftest import PROGRAMS, Connect, where

KNOWN = {"{}.{}".format(*each.version): each for each in found() if each.version >= (3, 8)}
"""The Pythons: pyenv has them on the machines where this runs."""

WITH_PYTEST = {name: each for name, each in KNOWN.items() if each.version >= (3, 11)}
"""Those on which the pytest of the tests runs, with nothing installed: pydevd's newest, and the engine's."""

AT_EVERY_CHANGE = ("3.8", "3.11", "3.13")
"""The oldest, and the newest of each engine."""

BETWEEN = pytest.mark.nightly("a Python that has the engine of another one, which runs at every change")


def parameters(pythons: dict[str, Interpreter]) -> list[Any]:
    """Each Python, of which some are for the night."""
    return [
        pytest.param(python, id=name, marks=() if name in AT_EVERY_CHANGE else BETWEEN)
        for name, python in pythons.items()
    ]


on_each = pytest.mark.parametrize("python", parameters(WITH_PYTEST))

PASSING = """\
import asyncio, doctest, gc, _thread, io, os, subprocess, sys, unittest
import pytest

class Methods(unittest.TestCase):
    def test_a_method_that_calls_what_raises(self):
        self.assertRaisesRegex(ValueError, "no", lambda: int("no"))

    @unittest.expectedFailure
    def test_an_expected_failure(self):
        with self.subTest("part"):
            self.assertEqual(1, 2)

@pytest.mark.xfail
def test_a_mark_without_a_type():
    raise ValueError

@pytest.mark.xfail(raises=(LookupError, ValueError), strict=True)
def test_a_mark_with_types():
    raise ValueError

@pytest.mark.xfail
def test_an_exit_that_is_expected():
    sys.exit(3)

def test_an_exit_that_is_caught():
    with pytest.raises(SystemExit):
        sys.exit(3)

def test_what_a_library_catches():
    from collections.abc import Mapping
    from concurrent.futures import ThreadPoolExecutor
    class Table(Mapping):
        def __init__(self, held): pass
        def __getitem__(self, key): raise KeyError(key)
        def __iter__(self): return iter(())
        def __len__(self): return 0
    assert "x" not in Table({})
    assert ThreadPoolExecutor(1).submit(int, "a").exception()

def test_an_inner_test():
    class Inner(unittest.TestCase):
        def runTest(self):
            raise ValueError
    unittest.TextTestRunner(stream=io.StringIO()).run(Inner())

def test_a_child_that_catches():
    text = "import unittest\\nunittest.TestCase().assertRaises(ValueError, int, 'a')"
    assert subprocess.run([sys.executable, "-c", text]).returncode == 0

def test_what_c_code_asks_of_a_proxy():
    class Proxy(io.TextIOBase):
        def __getattr__(self, name):
            raise AttributeError(name)
    assert not Proxy().closed

def test_tasks_that_begin_at_once():
    async def fails():
        raise ValueError
    async def main():
        if hasattr(asyncio, "eager_task_factory"):
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        with pytest.raises(ValueError):
            await asyncio.create_task(fails())
    asyncio.run(main())

def test_a_callback_of_a_loop():
    told = []
    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: told.append(context))
        loop.call_soon(lambda: int("a"))
        await asyncio.sleep(0)
    asyncio.run(main())
    assert told
"""

FAILING = """\
import asyncio, unittest
import pytest

class Later(unittest.IsolatedAsyncioTestCase):
    async def test_later(self):
        await asyncio.sleep(0)
        self.assertEqual(len([1]), 2)  # first

@pytest.mark.xfail(raises=LookupError)
def test_another_type():
    raise ValueError  # second

@pytest.fixture
def made():
    raise ValueError  # third

def test_fixture(made):
    pass

def test_exit():
    raise SystemExit(0)  # fourth

@pytest.fixture
def left():
    yield
    raise LookupError  # fifth

def test_end_of_a_fixture(left):
    pass
"""

PARTS = """\
import unittest

class Parts(unittest.TestCase):
    def test_parts(self):
        for number in (1, 2):
            with self.subTest(number=number):
                self.assertEqual(number, 1)  # first

    def test_a_part_that_is_skipped(self):
        with self.subTest():
            self.skipTest("later")

    def test_a_part_of_its_own(self):
        with self.subTest():
            assert not self.id()  # second
{fixture}"""

FIXTURE = """
def test_parts_of_pytest(subtests):
    with subtests.test(number=2):
        assert not subtests  # third
"""


OLD = """\
import sys, unittest

class Case(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise ValueError  # class

    def test_a_part(self):
        for number in (1, 2):
            with self.subTest(number=number):
                self.assertEqual(number, 1)  # part

    @unittest.expectedFailure
    def test_b_expected(self):
        with self.subTest():
            sys.exit(1)

    def test_c_skipped(self):
        self.skipTest("later")

    def test_d_caught(self):
        with self.assertRaises(SystemExit):
            sys.exit(1)

    def test_e_exit(self):
        sys.exit(0)  # exit
"""


def running(python: Interpreter) -> dict[str, Any]:
    """How tests are run by an interpreter that has no packages: pytest is pure Python, any one can have it."""
    libraries = str(Path(pytest.__file__).parent.parent)
    env = {"PYTHONPATH": libraries, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {"env": env, "adapter_options": {"python": [python.path]}, "args": ["-p", "no:cacheprovider"]}


@on_each
async def test_a_test_that_passes_does_not_stop_where_anything_catches_what_it_raises(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    (tmp_path / "test_passing.py").write_text(PASSING)
    async with debugging() as client:
        end = await client.call("debug_launch", test="test_passing.py", cwd=str(tmp_path), **running(python))
        assert (end["state"], end.get("exitCode")) == ("Disconnected", 0), end
        assert "8 passed, 4 xfailed" in end["stdout"]


@on_each
async def test_a_test_that_fails_stops_at_its_failure_and_only_there(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING)
    lines = [
        number
        for number, line in enumerate(FAILING.splitlines(), 1)
        if line.endswith(("first", "second", "third", "fourth", "fifth"))
    ]
    async with debugging() as client:
        stop = await client.call("debug_launch", test="test_failing.py", cwd=str(tmp_path), **running(python))
        for line in lines:
            assert (stop["state"], where(stop).line) == ("Paused", line), stop
            stop = await client.call("debug_continue")
        assert stop["exitCode"] == 1


@on_each
async def test_a_part_of_a_test_that_fails_stops_although_the_test_continues(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    has_parts = importlib.util.find_spec("_pytest.subtests") is not None  # pytest 9
    source = PARTS.format(fixture=FIXTURE if has_parts else "")
    (tmp_path / "test_parts.py").write_text(source)
    lines = {number for number, line in enumerate(source.splitlines(), 1) if "  # " in line}
    stops = set()
    async with debugging() as client:
        stop = await client.call("debug_launch", test="test_parts.py", cwd=str(tmp_path), **running(python))
        while stop["state"] == "Paused":
            stops.add(where(stop).line)
            stop = await client.call("debug_continue")
        assert (stops, stop["exitCode"]) == (lines, 1), stop


@on_each
async def test_a_test_file_that_cannot_be_imported_stops_at_its_line(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    (tmp_path / "test_broken.py").write_text("import json\n\ntotal = json.loads('nothing')\n")
    async with debugging() as client:
        stop = await client.call("debug_launch", test="test_broken.py", cwd=str(tmp_path), **running(python))
        assert stop["exception"].startswith("JSONDecodeError"), stop
        assert where(stop).line == 3


@on_each
@pytest.mark.parametrize("name", ["security.py", "runtime.py"])
async def test_the_tests_of_a_public_package_pass_without_a_stop(
    debugging: Connect, tmp_path: Path, python: Interpreter, name: str
) -> None:
    shutil.copytree(PROGRAMS / "jinja2", tmp_path / "jinja2")  # of Jinja 3.1.6, with its licence; Flask brings it
    async with debugging() as client:
        end = await client.call("debug_launch", test=name, cwd=str(tmp_path / "jinja2"), **running(python))
        assert (end["state"], end.get("exitCode")) == ("Disconnected", 0), end
        assert " passed" in end["stdout"]


@pytest.mark.parametrize("python", parameters(KNOWN))
async def test_a_test_of_unittest_that_fails_stops_there_and_what_is_expected_does_not(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    (tmp_path / "test_old.py").write_text(OLD)
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            test="test_old.Case",
            cwd=str(tmp_path),
            env={"PYTHONPATH": ""},
            adapter_options={"python": [python.path]},
        )
        for comment in ("part", "exit", "class"):
            line = next(number for number, text in enumerate(OLD.splitlines(), 1) if text.endswith(f"# {comment}"))
            assert (stop["state"], where(stop).line) == ("Paused", line), stop
            stop = await client.call("debug_continue")
        assert stop["exitCode"] == 1
        assert "<runner>" not in stop.get("stdout", "") + stop.get("stderr", "")


AROUND = """\
import unittest

class Case(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise ValueError("end")  # 1

    def test(self):
        pass

class Cleaned(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(cls.clean)

    @classmethod
    def clean(cls):
        raise ValueError("cleanup")  # 2

    def test(self):
        pass

class Unprepared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise ValueError("beginning")  # 3

    def test(self):
        pass
"""


@on_each
async def test_what_unittest_does_around_the_tests_of_a_class_stops_under_pytest_where_it_fails(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    (tmp_path / "test_around.py").write_text(AROUND)
    lines = [number for number, line in enumerate(AROUND.splitlines(), 1) if "  # " in line]
    stops = []
    async with debugging() as client:
        stop = await client.call("debug_launch", test="test_around.py", cwd=str(tmp_path), **running(python))
        while stop["state"] == "Paused":
            stops.append(where(stop).line)
            stop = await client.call("debug_continue")
        assert (stops, stop["exitCode"]) == (lines, 1), stop
