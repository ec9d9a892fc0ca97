"""Advice that can be followed where it is printed: in an environment of pipx, of uv, of uvx, with pip and without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trio_debugmcp.installation import starting_command, with_package

UV = "home = /usr/bin\nuv = 0.9.1\nversion_info = 3.13.0\n"


def environment(directory: Path, **files: str) -> str:
    """Make an environment with these files at its root."""
    directory.mkdir(parents=True)
    for name, text in files.items():
        (directory / name.replace("_dot_", ".")).write_text(text)
    return str(directory)


def test_pipx_adds_a_package_to_its_environment(tmp_path: Path) -> None:
    prefix = environment(tmp_path / "venvs" / "trio-debugmcp", pipx_metadata_dot_json="{}")
    assert with_package("py-spy", prefix=prefix, has_pip=False) == "pipx inject trio-debugmcp py-spy"


def test_a_tool_of_uv_is_installed_with_the_package(tmp_path: Path) -> None:
    environment(tmp_path / "tools" / "trio-debugmcp", pyvenv_dot_cfg=UV)
    (tmp_path / "tools" / "trio-debugmcp" / "uv-receipt.toml").touch()
    prefix = str(tmp_path / "tools" / "trio-debugmcp")
    assert with_package("py-spy", prefix=prefix, has_pip=False) == "uv tool install --with py-spy trio-debugmcp"


def test_what_uvx_has_made_for_one_run_is_started_with_the_package(tmp_path: Path) -> None:
    prefix = environment(tmp_path / "uv" / "archive-v0" / "x1y2", pyvenv_dot_cfg=UV)
    assert with_package("py-spy", prefix=prefix, has_pip=False) == "uvx --with py-spy trio-debugmcp"


def test_an_environment_of_uv_has_no_pip(tmp_path: Path) -> None:
    prefix = environment(tmp_path / ".venv", pyvenv_dot_cfg=UV)
    assert with_package("py-spy", prefix=prefix, has_pip=False) == f"uv pip install --python {prefix}/bin/python py-spy"


def test_where_pip_is_there_it_is_used(tmp_path: Path) -> None:
    prefix = environment(tmp_path / ".venv", pyvenv_dot_cfg="home = /usr/bin\n")
    assert with_package("py-spy", prefix=prefix, has_pip=True) == f"{prefix}/bin/python -m pip install py-spy"


def test_a_link_that_stays_is_how_a_host_starts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, links = tmp_path / "pipx" / "trio-debugmcp", tmp_path / "local"
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "trio-debugmcp"
    script.touch(0o755)
    links.mkdir()
    monkeypatch.setattr("sys.prefix", str(home))
    monkeypatch.setenv("PATH", str(links))
    assert starting_command() == [str(script)]
    (links / "trio-debugmcp").symlink_to(script)
    assert starting_command() == [str(links / "trio-debugmcp")]
    (links / "trio-debugmcp").unlink()
    (links / "trio-debugmcp").touch(0o755)  # of another installation
    assert starting_command() == [str(script)]
    script.unlink()
    assert starting_command() == [sys.executable, "-m", "trio_debugmcp"]


def test_what_uvx_has_made_is_started_by_uvx_from_where_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.prefix", environment(tmp_path / "uv" / "archive-v0" / "x1y2", pyvenv_dot_cfg=UV))
    monkeypatch.setenv("PATH", str(tmp_path))

    class Installed:
        @staticmethod
        def read_text(name: str) -> str | None:
            return {"direct_url.json": '{"url": "file:///src/trio"}'}.get(name)

    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed())
    assert starting_command() == ["uvx", "--from", "file:///src/trio", "trio-debugmcp"]


@pytest.mark.real
def test_the_advice_of_an_environment_without_pip_can_be_followed(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True, timeout=300)
    root = str(Path(__file__).parents[1])
    question = "from trio_debugmcp.installation import with_package; print(with_package('py-spy'))"
    asked = subprocess.run(
        [str(tmp_path / "venv" / "bin" / "python"), "-c", question],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    advice, python = asked.stdout.split(), str(tmp_path / "venv" / "bin" / "python")
    assert advice == ["python3", "-m", "pip", "--python", python, "install", "py-spy"]
    # With a pip of another environment, and nothing to fetch: what it would install is found out without the network.
    ran = subprocess.run(
        [sys.executable, *advice[1:-1], "--no-index", "--dry-run", "--help"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
