"""Which test a name means, and the directory in which it runs, wherever the server was started."""

from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.language import FoundTest, NoSuchTest
from trio_debugmcp.dap.profiles.python import finding_tests
from trio_debugmcp.dap.profiles.python.finding_tests import find_test

TESTS = """\
import unittest

@mark
def test_total():
    assert True

class TestTill:
    def test_empty(self):
        def inner():
            pass
        inner()

    async def test_twice(self): pass
"""

OTHERS = "class CaseOfOther(Base):\n    def test_twice(self): pass\n\n\ndef test_alone(n): pass\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two files of tests, one of them in a package; the server stands elsewhere."""
    home = tmp_path / "shop"
    for folder in ("tests/unit", "src/shop", ".venv/lib", "node_modules"):
        (home / folder).mkdir(parents=True)
    (home / "pyproject.toml").write_text("")
    (home / "tests" / "test_till.py").write_text(TESTS)
    (home / "tests" / "unit" / "test_others.py").write_text(OTHERS)
    (home / "src" / "shop" / "till.py").write_text("def test_total(): pass\n")
    for folder in (".venv/lib", "node_modules"):
        (home / folder / "test_hidden.py").write_text("def test_alone(): pass\n")
    return home


@pytest.fixture
def elsewhere(tmp_path: Path) -> str:
    (tmp_path / "elsewhere").mkdir()
    return str(tmp_path / "elsewhere")


def problem(test: str, places: list[str]) -> str:
    with pytest.raises(NoSuchTest) as caught:
        find_test(test, places)
    return str(caught.value)


def test_a_test_runs_from_the_root_of_its_project_wherever_the_server_stands(project: Path, elsewhere: str) -> None:
    file = project / "tests" / "test_till.py"
    expected = FoundTest("tests/test_till.py::test_total", str(project), str(file))
    assert find_test(f"{file}::test_total", [elsewhere]) == expected
    assert find_test(f"{file}::test_total", ["/"]) == expected
    assert find_test("tests/test_till.py::test_total", [elsewhere, str(project)]) == expected
    assert find_test("../tests/test_till.py::test_total", [str(project / "src")]) == expected
    assert find_test(f"{file}", [elsewhere]).test == "tests/test_till.py"
    assert find_test(f"{project}/tests", [elsewhere]) == FoundTest("tests", str(project))


def test_a_directory_that_the_call_names_is_where_it_runs(project: Path, elsewhere: str) -> None:
    file = project / "tests" / "test_till.py"
    found = find_test("test_till.py::test_total", [str(project / "tests"), elsewhere], str(project / "tests"))
    assert found == FoundTest("test_till.py::test_total", str(project / "tests"), str(file))
    assert find_test(f"{file}::test_total", [elsewhere], elsewhere) == FoundTest(
        f"{file}::test_total", elsewhere, str(file)
    )


def test_without_settings_a_test_runs_from_the_server_or_from_above_its_packages(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "pkg" / "tests"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    (folder / "test_a.py").write_text("def test_b(): pass\n")
    assert find_test(f"{folder}/test_a.py", [str(tmp_path / "a")]).directory == str(tmp_path / "a")
    assert find_test(f"{folder}/test_a.py", ["/"]).test == "pkg/tests/test_a.py"
    (folder / "__init__.py").unlink()
    assert find_test(f"{folder}/test_a.py", ["/"]).directory == str(folder.parent)


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("test_total", "tests/test_till.py::test_total"),
        ("test_empty", "tests/test_till.py::TestTill::test_empty"),
        ("TestTill", "tests/test_till.py::TestTill"),
        ("TestTill.test_empty", "tests/test_till.py::TestTill::test_empty"),
        ("TestTill::test_empty", "tests/test_till.py::TestTill::test_empty"),
        ("CaseOfOther", "tests/unit/test_others.py::CaseOfOther"),
        ("test_alone[3-a b]", "tests/unit/test_others.py::test_alone[3-a b]"),
        ("test_others", "tests/unit/test_others.py"),
        ("test_others.py", "tests/unit/test_others.py"),
        ("test_others.py::test_alone", "tests/unit/test_others.py::test_alone"),
    ],
)
def test_a_name_alone_is_the_only_test_that_has_it(name: str, test: str, project: Path) -> None:
    assert find_test(name, [str(project)]).test == test
    assert find_test(name, ["/", str(project)]).directory == str(project)


def test_of_several_tests_of_a_name_all_are_named_and_of_none_those_that_are_like_it(project: Path) -> None:
    assert problem("test_twice", [str(project)]) == (
        f"2 tests in {project} are called 'test_twice': tests/test_till.py::TestTill::test_twice, "
        "tests/unit/test_others.py::CaseOfOther::test_twice. Pass one of them."
    )
    words = problem("orders", [str(project)])
    assert words.startswith(f"There is no test, class of tests or test file 'orders' in {project}. There are: ")
    assert all(name in words for name in ("test_others", "test_total", "`cwd`"))
    assert problem("orders", ["/"]).startswith("'orders' was looked for nowhere: the server stands in /. ")


def test_what_was_not_read_of_a_large_project_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding_tests, "MAX_DIRECTORIES", 2)
    assert " (in 2 directories, 0 Python files; the others were not read). " in problem("test_none", [str(project)])
    assert " (in 2 directories, 0 Python files; the others were not read). " in problem("test_none.py", [str(project)])


@pytest.mark.parametrize(
    ("line", "name"), [(3, "test_total"), (5, "test_total"), (10, "TestTill::test_empty"), (13, "TestTill::test_twice")]
)
def test_a_line_stands_for_the_test_that_it_is_in(line: int, name: str, project: Path) -> None:
    assert find_test(f"tests/test_till.py:{line}", [str(project)]).test == f"tests/test_till.py::{name}"
    assert find_test(f"tests/test_till.py:{line} in any", [str(project)]).test == f"tests/test_till.py::{name}"


def test_a_line_outside_of_tests_is_answered_with_the_lines_of_tests(project: Path) -> None:
    assert problem("tests/test_till.py:1", [str(project)]).endswith(
        "is in no test. There are: test_total (line 3), TestTill::test_empty (line 8), TestTill::test_twice (line 13)."
    )


def test_a_method_may_be_named_without_its_class(project: Path) -> None:
    path = "tests/test_till.py"
    assert find_test(f"{path}::test_empty", [str(project)]).test == f"{path}::TestTill::test_empty"
    assert find_test(f"{path}::TestTill.test_empty", [str(project)]).test == f"{path}::TestTill::test_empty"
    assert find_test(f"{path}::test_nowhere", [str(project)]).test == f"{path}::test_nowhere"


def test_a_name_by_dots_is_one_for_the_runner(project: Path, elsewhere: str) -> None:
    file = str(project / "tests" / "test_till.py")
    assert find_test("tests.test_till.test_total", [str(project)]) == FoundTest(
        "tests.test_till.test_total", str(project), file
    )
    found = find_test("tests.test_till.test_total", [elsewhere, str(project)], elsewhere)
    assert found == FoundTest(f"{file}::test_total", elsewhere, file)
    assert find_test("json.tests.Case", [str(project)]) == FoundTest("json.tests.Case", str(project))


def test_a_file_that_is_not_there_is_answered_with_those_beside_it(project: Path) -> None:
    assert problem("tests/test_tll.py::test_x", [str(project)]) == (
        f"There is no file 'tests/test_tll.py' in {project}. There are: tests/test_till.py."
    )


@pytest.mark.parametrize("wrong", ["test_tll.py", "spec/test_till.py", "spec/test_tll.py::test_x"])
def test_a_file_that_is_not_there_is_answered_with_those_like_it_in_the_project(wrong: str, project: Path) -> None:
    file = wrong.partition("::")[0]
    assert problem(wrong, [str(project)]) == f"There is no file '{file}' in {project}. Do you mean tests/test_till.py?"
