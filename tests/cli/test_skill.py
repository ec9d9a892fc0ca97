"""`trio-debugmcp skill`: what it prints, and where it installs the skill."""

from pathlib import Path

import pytest

from trio_debugmcp.cli import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path


def test_it_prints_where_the_skill_is_and_what_and_installs_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["skill"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("trio-debugmcp: Finds the root cause")
    assert "skill/references/python.md" in printed
    assert f"{home}/.agents/skills/trio-debugmcp  missing  (Codex, " in printed
    assert list(home.iterdir()) == []


def test_it_is_installed_for_the_hosts_of_the_user(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".claude").mkdir()
    assert main(["skill", "--install"]) == 0
    installed = [home / ".agents/skills/trio-debugmcp", home / ".claude/skills/trio-debugmcp"]
    assert capsys.readouterr().out.splitlines() == [str(each) for each in installed]
    assert all((each / "SKILL.md").is_file() for each in installed)
    main(["skill"])
    assert capsys.readouterr().out.count("  installed  ") == 2


def test_it_is_installed_in_a_given_directory_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skill", "--install", str(home / "project/.claude/skills")]) == 0
    assert (home / "project/.claude/skills/trio-debugmcp/SKILL.md").is_file()
    assert not (home / ".agents").exists()


def test_a_directory_that_cannot_be_used_is_an_error_and_the_others_are_served(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".claude").mkdir()
    (home / ".agents").write_text("a file")
    assert main(["skill", "--install"]) == 1
    captured = capsys.readouterr()
    assert captured.out == f"{home}/.claude/skills/trio-debugmcp\n"
    assert f"{home}/.agents/skills" in captured.err


def test_a_host_that_is_not_on_this_machine_gets_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skill", "--install"]) == 0
    assert [each.name for each in home.iterdir()] == [".agents"]


@pytest.mark.parametrize("option", ["--install", "--agent"])
def test_a_directory_that_cannot_be_written_is_named_with_what_failed(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["skill", option, "/proc/skills"]) == 1
    assert capsys.readouterr().err.startswith("trio-debugmcp skill: cannot write /proc/skills")
