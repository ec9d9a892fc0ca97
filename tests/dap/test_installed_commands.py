"""Commands that a project has installed, and scripts on PATH, by their name."""

from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.projects.installed_commands import find_command, instead_of


def script(file: Path, text: str, mode: int = 0o755) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
    return str(file)


@pytest.mark.parametrize("place", ["node_modules/.bin", "vendor/bin"])
def test_a_command_of_the_project_is_found_also_from_below(tmp_path: Path, place: str) -> None:
    command = script(tmp_path / place / "unit", "#!/usr/bin/env node\n")
    (tmp_path / "src").mkdir()
    assert find_command("unit", str(tmp_path / "src")) == command
    assert find_command("none", str(tmp_path)) is None


def test_of_a_script_of_the_shell_that_starts_node_the_file_is_found_that_node_runs(tmp_path: Path) -> None:
    target = script(tmp_path / "node_modules/unit/unit.mjs", "")
    shim = '#!/bin/sh\nexec node  "$basedir/../unit/unit.mjs" "$@"\n'
    command = script(tmp_path / "node_modules/.bin/unit", shim)
    assert find_command("unit", str(tmp_path)) == target
    Path(target).unlink()
    assert find_command("unit", str(tmp_path)) == command


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("#!/usr/bin/ruby\n", True),
        ("#!/usr/bin/env node\n", True),
        ("#!/bin/sh\n", False),
        ("#!/usr/bin/env bash\n", False),
        ("\x7fELF", False),
    ],
)
def test_on_path_only_scripts_are_commands_that_are_not_of_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_found: bool
) -> None:
    command = script(tmp_path / "bin" / "unit", text)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_command("unit", str(tmp_path)) == (command if is_found else None)
    assert f"The command {command} is not a script of a project" in instead_of("unit")


def test_what_is_launched_in_place_of_a_tool_that_builds_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert 'program="."' in instead_of("cargo")
    assert "pass the executable" in instead_of("make")
    assert "No command of that name is in node_modules/.bin or vendor/bin" in instead_of("vitest")
