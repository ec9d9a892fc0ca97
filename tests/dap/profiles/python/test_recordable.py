"""What is recorded: the project of a program or test."""

from pathlib import Path

from trio_debugmcp.dap.profiles.python.recordable import PythonRecordings


def test_tests_with_settings_of_their_own_are_recorded_with_the_project_above_them(tmp_path: Path) -> None:
    tests = tmp_path / "tests" / "unit"
    tests.mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "tests" / "pytest.ini").touch()
    (tests / "test_cart.py").touch()
    place = str(tmp_path / "tests")
    assert PythonRecordings().project_root(str(tests / "test_cart.py"), place) == str(tmp_path)
