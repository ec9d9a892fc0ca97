"""`trio-debugmcp setup`: shown first, written when a person agrees, and taken out again."""

import io
import json
from pathlib import Path

import pytest

from trio_debugmcp.cli import main

OLD = {"mcpServers": {"other": {"command": "x"}}}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for directory in (".cursor", ".codex"):
        (tmp_path / directory).mkdir()
    (tmp_path / ".cursor/mcp.json").write_text(json.dumps(OLD))
    return tmp_path


def servers(home: Path) -> list[str]:
    return list(json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"])


def test_the_hosts_that_are_there_get_the_entry_and_lose_it_again(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["setup", "--yes"]) == 0
    shown = capsys.readouterr().out
    assert servers(home) == ["other", "debugger"]
    assert "[mcp_servers.debugger]" in (home / ".codex/config.toml").read_text()
    assert "Cursor sees it when it starts again" in shown
    assert not (home / ".config").exists()
    assert main(["setup", "--yes"]) == 0
    assert f"Cursor: {home / '.cursor/mcp.json'} has it." in capsys.readouterr().out
    assert main(["setup", "--remove", "--yes"]) == 0
    assert servers(home) == ["other"]
    assert (home / ".codex/config.toml").read_text() == ""


@pytest.mark.parametrize("options", [["--dry-run"], []])
def test_nothing_is_written_without_a_persons_word(
    options: list[str], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["setup", *options]) == 0
    shown = capsys.readouterr().out
    assert servers(home) == ["other"]
    assert '"debugger": {"command": ' in shown
    assert ("--yes" in shown) == (not options)


@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_person_is_asked(answer: str, written: bool, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert main(["setup", "cursor"]) == 0
    assert ("debugger" in servers(home)) == written


def test_a_broken_file_stays_and_the_others_are_written(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".codex/config.toml").write_text("[broken")
    assert main(["setup", "--yes"]) == 1
    said = capsys.readouterr().err
    assert "config.toml" in said
    assert "Nothing was written. By hand, it is:\n[mcp_servers.debugger]" in said
    assert (home / ".codex/config.toml").read_text() == "[broken"
    assert servers(home) == ["other", "debugger"]


def test_an_unknown_host_is_wrong_usage_and_no_host_at_all_is_a_failure(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["setup", "emacs"]) == 2
    assert "there is no host 'emacs'; there are claude, codex" in capsys.readouterr().err
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    assert main(["setup"]) == 1
    assert "no host is there" in capsys.readouterr().err


def test_a_named_host_that_is_not_there_gets_its_file(home: Path) -> None:
    assert main(["setup", "zed", "--yes"]) == 0
    assert "context_servers" in json.loads((home / ".config/zed/settings.json").read_text())
