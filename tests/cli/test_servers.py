"""Servers out of an mcp.json, and servers that want an authorisation."""

import json
import os
import stat
from pathlib import Path

import pytest
import trio

from tests.cli.shell import SERVER, Shell
from tests.client.guarded_server import Person, open_guarded_server
from trio_debugmcp.cli import _browser, _servers
from trio_debugmcp.client.oauth import default_store

pytestmark = [
    pytest.mark.real,
    pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning"),
]

READ = ("--method", "tools/call", "--tool-name", "echo", "--format", "json")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a project, which is the current one, with a file for two servers."""
    command, *args = SERVER[1:]
    servers = {
        "tiny": {"command": command, "args": args},
        "asks": {"command": command, "args": [*args, "${input:key}"]},
    }
    content = {"inputs": [{"id": "key", "type": "promptString", "description": "API key"}], "servers": servers}
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode/mcp.json").write_text("// servers\n" + json.dumps(content))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_server_is_named_by_its_entry_in_the_file_of_the_project(project: Path, shell: Shell) -> None:
    assert shell("inspect", "--server", "tiny", *READ).result["content"]
    assert shell("inspect", "--config", ".vscode/mcp.json", "--server", "asks", "--input", "key=1", *READ).result


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--server", "asks"], "needs 'API key': pass --input key=VALUE"),
        (["--server", "other"], "no server 'other'; it has tiny, asks"),
        (["--config", "gone.json"], "Cannot read gone.json"),
        (["--server", "tiny", "http://127.0.0.1:1/mcp"], "unexpected: http://127"),
    ],
)
def test_a_server_that_cannot_be_found_is_wrong_usage(
    options: list[str], message: str, project: Path, shell: Shell
) -> None:
    shell("inspect", *options)
    assert (shell.code, shell.error["code"]) == (2, "usage")
    assert message in shell.error["message"]


def test_watch_takes_uris_beside_a_server_of_a_file(project: Path, shell: Shell) -> None:
    shell("watch", "--server", "tiny", "--count", "1", "--timeout", "20", "demo://counter")
    assert [line["uri"] for line in shell.lines] == ["demo://counter"]


async def test_without_a_terminal_a_server_that_wants_an_authorisation_ends_with_3(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with open_guarded_server() as (url, _):
        await trio.to_thread.run_sync(shell, "inspect", url)
    assert (shell.code, shell.error["code"]) == (3, "unauthorized")
    assert "no person to ask" in shell.error["message"]


async def test_with_a_terminal_a_person_authorises_and_the_next_command_needs_none(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(_servers, "has_terminal", lambda: True)
    shown, person = _browser.show_page, Person()

    async def show_and_consent(page: str) -> None:
        await shown(page)
        await person(page)

    monkeypatch.setattr(_browser, "show_page", show_and_consent)
    call = ("inspect", "--method", "tools/call", "--tool-name", "whoami", "--format", "json")
    async with open_guarded_server() as (url, issuer):
        await trio.to_thread.run_sync(shell, *call, url)
        assert shell.code == 0, shell.err
        assert "Open this page in a browser" in shell.err
        assert "/authorize?response_type=code" in shell.err
        assert stat.S_IMODE(os.stat(default_store(url)).st_mode) == 0o600
        await trio.to_thread.run_sync(shell, *call, "--auth", "stored", url)
        assert shell.result["content"][0]["text"] == "somebody"
        await trio.to_thread.run_sync(shell, *call, "--auth", "new", url)
        assert (person.asked, len(issuer.clients)) == (2, 2)
        await trio.to_thread.run_sync(shell, *call, "--auth", "off", url)
        assert shell.code != 0
