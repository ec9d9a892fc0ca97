"""What people and agents type first works as they type it, or the answer says what to type instead."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import BY_ENGINE, Connect, where
from trio_debugmcp.testing import DebugClient, ToolFailed
from trio_debugmcp.testing.connect import Era

TESTS = """\
import sys
import unittest


def test_total():
    prices = [1, 2]
    total = sum(prices)
    assert total == 4


def test_skipped():
    import pytest
    pytest.skip("not today")


class TillCase(unittest.TestCase):
    def test_empty(self):
        drawer = {}
        self.assertIn("coins", drawer)
"""

TILL = """\
import sys


def price(name, discount):
    prices = {"tea": 3}
    nothing = None
    return prices[name] - discount


if __name__ == "__main__":
    price("tea", 1)
    if sys.argv[1:] == ["leave"]:
        sys.exit(1)
    price("jam", 2)
"""


FEW_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Those of this environment take most of the time of a test."""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project away from the server's directory: a program, tests, and a script of an environment."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_till.py").write_text(TESTS)
    (tmp_path / "till.py").write_text(TILL)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "shop").write_text(f"#!{sys.executable}\nimport sys\nprint('shop', *sys.argv[1:])\n")
    return tmp_path


def place(answer: dict[str, Any]) -> str:
    """Where an answer is, without the folder."""
    return str(answer.get("at", answer["state"])).rpartition("/")[2]


async def refused(client: DebugClient, tool: str, **arguments: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        await client.call(tool, **arguments)
    return caught.value


# --- What is run ------------------------------------------------------------------------------------------------------


async def test_a_program_is_named_as_on_a_command_line(debugging: Connect, shop: Path) -> None:
    async with debugging() as client:

        async def output(program: str, *args: str) -> str:
            answer = await client.call(
                "debug_launch", program=program, args=list(args), cwd=str(shop), env=FEW_PLUGINS, stop_at_entry=False
            )
            assert answer["exitCode"] == 0
            return str(answer["stdout"])

        assert (await output("-m pytest", "--version")).startswith("pytest ")
        assert (await output("pytest", "--version")).startswith("pytest ")
        assert await output("bin/shop", "open") == "shop open\n"
        assert await output(f"{shop}/bin/shop", "open") == "shop open\n"
        failed = await refused(client, "debug_launch", program="shopkeeper", cwd=str(shop))
        assert (failed.code, "pass `module`" in failed.message) == ("INVALID_PATH", True)


async def test_a_module_code_and_standard_input_are_run(debugging: Connect, shop: Path) -> None:
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            module="till",
            cwd=str(shop),
            breakpoints=[{"file": "till.py", "statement": "return prices[name] - discount"}],
            show=["name"],
        )
        assert (place(stop), stop["show"]) == ("till.py:7 in price", {"name": "'tea'"})
        names = await client.call("evaluate", expression="sorted(each for each in globals() if each[0] != '_')")
        assert names["value"] == "['price', 'sys']", "its own only"
        await client.call("breakpoint_remove", id="*")
        stop = await client.call(
            "debug_launch", code="import sys\ntext = sys.stdin.read()\nint(text)", stdin="four", replace=True,
            stop_at_entry=False,
        )  # fmt: skip
        assert stop["exception"] == "ValueError: invalid literal for int() with base 10: 'four'"
        assert stop["locals"]["text"] == "'four'"
        assert stop["source"] == "1  import sys\n2  text = sys.stdin.read()\n3> int(text)"


async def test_code_has_breakpoints_and_source_by_the_name_that_its_frames_have(debugging: Connect) -> None:
    async with debugging() as client:
        places = [{"file": "<string>", "line": 2}, {"file": "<string>", "line": 9}]
        stop = await client.call("debug_launch", code="total = 1\n\ntotal += 1\nprint(total)", breakpoints=places)
        assert (stop["at"], stop["locals"]) == ("<string>:3 in <module>", {"total": "1"})
        assert stop["source"] == "1  total = 1\n2\n3> total += 1\n4  print(total)"
        assert "bp-2 is pending: no code follows line 9 of the file, which has 4 lines" in stop["notes"]
        found = await client.call("breakpoint_set", file="<string>", statement="print(total)")
        assert found == {"id": "bp-3", "at": "<string>:4", "line": "print(total)"}
        stop = await client.call("debug_continue", show=["total"])
        assert (stop["breakpoints"], stop["show"]) == (["bp-3"], {"total": "2"})
        assert (await client.call("source_get", file="<string>", start_line=3))["lines"] == [
            "3 total += 1",
            "4 print(total)",
        ]


async def test_a_module_that_is_not_there_is_named(debugging: Connect, shop: Path) -> None:
    async with debugging() as client:
        end = await client.call("debug_launch", module="shop.till", cwd=str(shop))
        assert "determining module path" not in end["stderr"]
        assert end["notes"][0].startswith(f"there is no module 'shop.till' for the program in {shop}: ")
        assert end["notes"][0].endswith(f"Do you mean {shop}/till.py?")


async def test_a_test_stops_where_it_fails(debugging: Connect, shop: Path) -> None:
    async with debugging() as client:
        stop = await client.call("debug_launch", test="tests/test_till.py::test_total", cwd=str(shop), env=FEW_PLUGINS)
        assert (stop["reason"], stop["mode"]) == ("Exception", "userUnhandled")
        assert stop["exception"].startswith("AssertionError")
        assert place(stop) == "test_till.py:8 in test_total"
        assert "stack" not in stop, "what calls the test is the runner's"
        assert stop["locals"] == {"prices": "[1, 2]", "total": "3"}  # without those that pytest makes


async def test_a_test_in_a_class_stops_where_it_fails(debugging: Connect, shop: Path) -> None:
    (shop / "tests" / "test_coins.py").write_text("class TestCoins:\n    def test_none(self):\n        assert 1 == 2\n")
    names = ("tests/test_coins.py::TestCoins::test_none", "tests/test_coins.py::TestCoins", "TestCoins::test_none")
    async with debugging() as client:
        for name in names:
            stop = await client.call("debug_launch", test=name, cwd=str(shop), env=FEW_PLUGINS, replace=True)
            assert place(stop) == "test_coins.py:3 in test_none"


ASSERTED = """\
import unittest

LIMITS = {"total": 10}


class Cart:
    def __init__(self):
        self.lines = [3, 4]

    @property
    def total(self):
        return sum(self.lines)


class Case(unittest.TestCase):
    def test_total(self):
        cart = Cart()
        self.assertEqual(
            len(cart.lines), cart.total - LIMITS["total"], "lines"
        )


def check(cart):
    assert cart.lines[1] == LIMITS["total"]


def test_check():
    check(Cart())
"""


@pytest.mark.parametrize(
    ("test", "operands"),
    [
        (
            "Case::test_total",
            {
                "len(cart.lines)": "2",
                "cart.total": "<not read: that would run code of the program>",
                "LIMITS['total']": "10",
            },
        ),
        ("test_check", {"cart.lines[1]": "4", "LIMITS['total']": "10"}),
    ],
)
async def test_an_assertion_that_fails_is_shown_with_the_values_of_its_operands(
    debugging: Connect, shop: Path, test: str, operands: dict[str, str]
) -> None:
    (shop / "tests" / "test_asserted.py").write_text(ASSERTED)
    async with debugging() as client:
        stop = await client.call("debug_launch", test=f"tests/test_asserted.py::{test}", cwd=str(shop), env=FEW_PLUGINS)
        assert stop["operands"] == operands
        data = await client.call("debug_state", full=True)
        assert [operand["name"] for operand in data["operands"]] == list(operands)


async def test_a_test_that_is_skipped_does_not_stop_and_one_that_is_not_there_names_others(
    debugging: Connect, shop: Path
) -> None:
    async with debugging() as client:
        skipped = await client.call(
            "debug_launch", test="tests/test_till.py::test_skipped", cwd=str(shop), env=FEW_PLUGINS
        )
        assert (skipped["state"], skipped["exitCode"]) == ("Disconnected", 0)
        missing = await client.call(
            "debug_launch", test="tests/test_till.py::test_totals", cwd=str(shop), env=FEW_PLUGINS
        )
        assert missing["state"] == "Disconnected"
        (note,) = [each for each in missing["notes"] if "there is no test" in each]
        assert "tests/test_till.py::test_total," in note


async def test_a_test_runs_in_the_environment_of_its_project_with_the_runner_that_it_has(
    debugging: Connect, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("PYTHONPATH", raising=False)  # where there is a package `tests`, that one would be taken
    python = shop / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    base = Path(sys.base_prefix, "bin")
    python.symlink_to(base / "python3")
    settings = f"home = {base}\ninclude-system-site-packages = false\n"
    (shop / ".venv" / "pyvenv.cfg").write_text(settings)  # it has no pytest: unittest runs the test
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            test="tests.test_till.TillCase.test_empty",
            cwd=str(shop),
            show=["sys.prefix", "'pytest' in sys.modules"],
        )
        assert stop["exception"].startswith("AssertionError: 'coins' not found")
        assert list(stop["show"].values()) == [repr(str(shop / ".venv")), "False"]
        assert f"runs on {python}" in stop["notes"]


# --- Files, breakpoints and messages ----------------------------------------------------------------------------------


async def test_a_relative_path_starts_from_the_directory_of_the_program(debugging: Connect, shop: Path) -> None:
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            program="till.py",
            cwd=str(shop),
            breakpoints=[{"file": "till.py", "line": 7, "log_message": "{name!r:>6} {discount}"}],
        )
        assert (stop["log"], stop["exception"]) == (" 'tea' 1\n 'jam' 2\n", "KeyError: 'jam'")
        made = await client.call("breakpoint_set", file="tests/test_till.py", line=7)
        assert (made["at"], made["line"]) == (f"{shop}/tests/test_till.py:7", "total = sum(prices)")
        again = await client.call("breakpoint_set", file=made["at"].rpartition(":")[0], line=7)
        assert again["id"] == made["id"]
        source = await client.call("source_get", file="till.py", start_line=5, end_line=5)
        assert source["lines"] == ['5     prices = {"tea": 3}']
        for stream in ("tracepoint", "log"):
            written = await client.call("process_read_output", stream=stream)
            assert written["entries"] == [{"log": " 'tea' 1\n 'jam' 2\n"}]


async def test_a_type_of_exception_with_a_slip_in_it_is_noted(debugging: Connect, shop: Path) -> None:
    async with debugging() as client:
        answer = await client.call(
            "debug_launch", program="till.py", cwd=str(shop), args=["leave"], breakpoints=[{"exception": "KeyErorr"}]
        )
        assert answer["exitCode"] == 1
        (note,) = [each for each in answer["notes"] if "KeyErorr" in each]
        assert "KeyError" in note.replace("KeyErorr", "")


# --- Sessions ---------------------------------------------------------------------------------------------------------


async def test_a_second_launch_says_how_to_replace_the_first(debugging: Connect, shop: Path, era: Era) -> None:
    async with debugging(era) as client:
        first = await client.call("debug_launch", code="import time; time.sleep(600)", timeout=0.5, stop_at_entry=False)
        assert (first["state"], first["timedOut"]) == ("Running", True)  # the wait is over, not the session
        assert (await client.call("debug_state"))["state"] == "Running"
        failed = await refused(client, "debug_launch", program="till.py", cwd=str(shop))
        assert (failed.code, "replace=true" in failed.message) == ("SESSION_ACTIVE", True)
        second = await client.call("debug_launch", program="till.py", cwd=str(shop), replace=True)
        assert (second["reason"], place(second)) == ("Entry", "till.py:1 in <module>")


async def test_a_crash_stops_with_everything_alive_and_an_exit_does_not(debugging: Connect, shop: Path) -> None:
    async with debugging() as client:
        stop = await client.call("debug_launch", program="till.py", cwd=str(shop), stop_at_entry=False)
        assert (stop["exception"], place(stop)) == ("KeyError: 'jam'", "till.py:7 in price")
        assert await client.call("evaluate", expression="prices['tea'] * 2") == {"value": "6"}
        assert await client.call("evaluate", expression="nothing") == {"value": "None"}
        assert await client.call("evaluate", expression="prices.get('jam')") == {"value": "None"}
        arguments = await client.call("variables_get", scope="arguments")
        assert arguments == {"variables": {"name": "'jam'", "discount": "2"}}
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 1)
        state = await client.call("debug_state")  # as after a launch with stop_on_uncaught=false
        assert (state["exitCode"], state["exception"], place(state)) == (1, "KeyError: 'jam'", "till.py:7 in price")
        assert state["stack"] == ["<module> :14"]
        left = await client.call("debug_launch", program="till.py", cwd=str(shop), args=["leave"], stop_at_entry=False)
        assert (left["state"], left["exitCode"]) == ("Disconnected", 1)


CAUGHT = """\
import contextlib
import pytest


def test_raises():
    with pytest.raises(ValueError):
        int("four")
    after = 1


@pytest.fixture
def drawer():
    with contextlib.suppress(KeyError):
        {}["coins"]
    yield None


def test_fixture(drawer):
    with contextlib.suppress(KeyError):
        {}["coins"]


class Exit(Exception):
    pass


def test_own():
    with contextlib.suppress(ValueError):
        raise Exit("an error of the program") from KeyError("coins")
"""


async def test_a_test_does_not_stop_at_what_it_expects_but_at_an_error_that_is_called_exit(
    debugging: Connect, shop: Path
) -> None:
    (shop / "tests" / "test_caught.py").write_text(CAUGHT)
    async with debugging() as client:
        stop = await client.call("debug_launch", test="tests/test_caught.py", cwd=str(shop))
        assert (stop["exception"], stop["mode"]) == ("Exit: an error of the program", "userUnhandled")
        assert stop["at"].endswith("test_caught.py:29 in test_own")
        (cause,) = (await client.call("exception_get_context"))["causes"]
        assert (cause["way"], cause["exception"]) == ("cause", "KeyError: 'coins'")


async def test_a_program_of_a_library_stops_and_a_restart_that_cannot_be_keeps_the_session(
    debugging: Connect, tmp_path: Path
) -> None:
    home = tmp_path / "site-packages"
    home.mkdir()
    app = home / "app.py"
    app.write_text("x = 1\nprint(x)\nraise SystemExit(3)\n")
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(app), breakpoints=[{"file": str(app), "line": 2}])
        assert place(stop) == "app.py:2 in <module>"
        assert any("just_my_code=false" in note for note in stop["notes"])
        app.write_text("x = = 1\n")
        failure = await refused(client, "debug_restart")
        assert (failure.code, "SyntaxError" in failure.message) == ("LAUNCH_FAILED", True)
        assert place(await client.call("debug_state")) == "app.py:2 in <module>"
        assert (await client.call("debug_continue"))["exitCode"] == 3


# --- A project, and a server that stands elsewhere --------------------------------------------------------------------


async def test_a_test_runs_from_its_project_with_its_environment_wherever_the_server_stands(
    debugging: Connect, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    environment = shop / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(Path(sys.base_prefix, "bin", "python3"))
    settings = f"home = {Path(sys.base_prefix, 'bin')}\ninclude-system-site-packages = false\n"
    (environment / "pyvenv.cfg").write_text(settings)  # it has no pytest: unittest runs the test
    (shop / "pyproject.toml").touch()
    async with debugging() as client:
        stop = await client.call(
            "debug_launch", test=f"{shop}/tests/test_till.py:19", show=["sys.prefix", "__import__('os').getcwd()"]
        )
        assert stop["exception"].startswith("AssertionError: 'coins' not found")
        assert list(stop["show"].values()) == [repr(str(environment)), repr(str(shop))]
        assert f"runs on {environment}/bin/python" in stop["notes"]


async def test_a_test_may_be_named_alone_or_in_place_of_a_program(debugging: Connect, shop: Path) -> None:
    async with debugging() as client:
        stop = await client.call("debug_launch", test="test_total", cwd=str(shop), env=FEW_PLUGINS)
        assert place(stop) == "test_till.py:8 in test_total"
        spaced = (shop / "tests").rename(shop / "all tests") / "test_till.py"
        stop = await client.call("debug_launch", program=f"{spaced}::test_empty", env=FEW_PLUGINS, replace=True)
        assert place(stop) == "test_till.py:19 in test_empty"
        failed = await refused(client, "debug_launch", test="orders", cwd=str(shop), replace=True)
        assert "There are: " in failed.message
        assert "test_total" in failed.message


async def test_a_runner_that_is_started_as_a_program_has_a_note_on_how_tests_stop(
    debugging: Connect, shop: Path
) -> None:
    async with debugging() as client:
        for arguments in (
            {"module": "pytest", "args": "-q tests/test_till.py::test_skipped"},
            {"program": "coverage run -m pytest -q tests/test_till.py::test_skipped"},
        ):
            end = await client.call(
                "debug_launch", **arguments, cwd=str(shop), env=FEW_PLUGINS, replace=True, stop_at_entry=False
            )
            assert end["exitCode"] == 0
            assert any(
                note.startswith("started so, a test that fails does not stop") and "tests/test_till.py" in note
                for note in end["notes"]
            )


async def test_a_start_that_lacks_a_module_says_which_python_it_was(debugging: Connect, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import no_such_module\n")
    async with debugging() as client:
        stop = await client.call("debug_launch", program=f"{tmp_path}/app.py", stop_at_entry=False)
        assert stop["exception"].startswith("ModuleNotFoundError")
        (note,) = [note for note in stop["notes"] if note.startswith("runs on ")]
        assert "on which this server runs" in note
        assert "adapter_options" in note


async def test_a_failing_test_stops_also_in_code_of_libraries_or_a_note_says_that_it_does_not(
    debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "test_shop.py").write_text("def test_price():\n    assert 6 == 7\n")
    async with debugging() as client:
        stop = await client.call("debug_launch", test=f"{tmp_path}/test_shop.py", just_my_code=False)
        if BY_ENGINE:
            assert (stop["reason"], where(stop).line) == ("Exception", 2)
        else:
            assert "with just_my_code=false none does on Python 3.8 to 3.11" in stop["notes"][-1]
