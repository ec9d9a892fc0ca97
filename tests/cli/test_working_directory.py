"""Commands import nothing from the directory that they stand in: it is a project, and may be a stranger's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trio_debugmcp.own_command import own_command

pytestmark = pytest.mark.real

SHADOWS = ("json", "token", "tempfile", "socket", "trio", "msgspec", "mcp", "anyio", "trio_debugmcp")
"""Modules that each command needs, of the library, of others, and our own."""


def project(directory: Path) -> Path:
    """Make a directory in which each of these names is a module that leaves a trace."""
    for name in SHADOWS:
        (directory / f"{name}.py").write_text("import os\nos.mkdir(os.path.join(os.path.dirname(__file__), 'trace'))\n")
    return directory / "trace"


def run(argv: list[str], directory: Path) -> str:
    """Run a command in that directory, as this package without `PYTHONPATH` would."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(argv, cwd=directory, env=env, capture_output=True, text=True, timeout=300, check=False)
    return ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["doctor"], "which stopped at a breakpoint"),
        (["demo"], "Bob buys a cof"),
        (["adapters", "--check", "debugpy"], "debugpy"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_that_starts_a_server_runs_no_file_of_the_project(
    tmp_path: Path, arguments: list[str], expected: str
) -> None:
    trace = project(tmp_path)
    assert expected in run([*own_command(*arguments)], tmp_path)
    assert not trace.exists()


def test_what_a_host_starts_with_python_m_runs_no_module_of_the_project(tmp_path: Path) -> None:
    trace = project(tmp_path)
    (tmp_path / "trio_debugmcp.py").unlink()  # which is what `-m` was asked for
    assert "trio-debugmcp" in run([sys.executable, "-m", "trio_debugmcp", "--version"], tmp_path)
    assert "tools" in run([sys.executable, "-m", "trio_debugmcp", "serve", "--help"], tmp_path)
    assert not trace.exists()


def test_the_own_command_runs_this_package_whatever_is_installed(tmp_path: Path) -> None:
    other = tmp_path / "trio_debugmcp"
    other.mkdir()
    (other / "__init__.py").write_text("raise SystemExit('another')")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    argv = own_command("--version")
    ran = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert ran.stdout.startswith("trio-debugmcp ")
