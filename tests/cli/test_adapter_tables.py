"""Tables of users on the command line: which files are read, and what a start says of a mistake in one."""

import json
from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp.cli import main

TABLE = """
[adapters.mdb]
language = "M"
find = ["{scripts}/nowhere", "sh"]
command = ["{adapter}"]
launch = {}
"""
BROKEN = TABLE.replace("find", "fnd")


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that every start reads; the directory is a project, with such a file of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    project = tmp_path / "project"
    for place in (project, project / ".vscode", project / "trio-debugmcp", project / ".config" / "trio-debugmcp"):
        place.mkdir(parents=True)
        (place / "adapters.toml").write_text(BROKEN)
    monkeypatch.chdir(project)
    file = tmp_path / "configuration" / "trio-debugmcp" / "adapters.toml"
    file.parent.mkdir(parents=True)
    return file


def names(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["adapters", "--json", *arguments]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return [each["name"] for each in found]


@pytest.mark.real
def test_the_users_own_file_is_always_read_and_files_that_are_named_after_it_but_never_those_of_a_project(
    configured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert names(capsys)[:2] == ["debugpy", "gdb"]
    configured.write_text(TABLE)
    assert names(capsys)[:3] == ["mdb", "debugpy", "gdb"]
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(TABLE.replace("mdb", name))
    files = [f"--adapters={tmp_path}/{name}.toml" for name in ("one", "two")]
    assert names(capsys, *files)[:4] == ["two", "one", "mdb", "debugpy"]


@pytest.mark.parametrize("command", ["serve", "adapters", "doctor"])
def test_a_mistake_ends_the_start_with_code_2_and_a_sentence(
    command: str, configured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text(BROKEN)
    sentence = (
        f"trio-debugmcp {command}: {broken}: [adapters.mdb] has no key `fnd`; did you mean `find`? Known there are: "
    )
    assert main([command, "--adapters", str(broken)]) == 2
    output = capsys.readouterr()
    assert (output.out, output.err[: len(sentence)]) == ("", sentence)
    assert main([command, "--adapters", str(tmp_path / "none.toml")]) == 2
    assert capsys.readouterr().err == (
        f"trio-debugmcp {command}: {tmp_path}/none.toml cannot be read: No such file or directory.\n"
    )
    configured.write_text("x = 1")
    assert main([command]) == 2
    expected = f"trio-debugmcp {command}: {configured}: `x` is not known; tables are called [adapters.NAME].\n"
    assert capsys.readouterr().err == expected
