"""Our entry in the configuration of each host, as it is on machines of people."""

import os
from functools import partial
from pathlib import Path

import pytest

from trio_debugmcp.hosts.edit_refused import EditRefusedError
from trio_debugmcp.hosts.host_files import McpHost, ServerEntry, hosts_of

FILES = Path(__file__).parent / "files"

ENTRY = ServerEntry("/home/ada/.local/bin/trio-debugmcp", ("serve",))

HOSTS = {host.name: host for host in hosts_of({}, Path("/home/ada"))}


def text_of(host: McpHost) -> str:
    suffix = "toml" if host.form == "toml" else "json"
    return (FILES / f"{host.name}.{suffix}").read_bytes().decode()


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_each_hosts_file_gets_the_entry_and_loses_nothing(host: McpHost) -> None:
    before = text_of(host)
    after = host.with_entry(before, ENTRY)
    assert host.entry_in(after) == host.entry(ENTRY)
    assert host.with_entry(after, ENTRY) == after
    removed = [line for line in before.splitlines() if line not in after.splitlines()]
    assert all(f"{line.rstrip('}')}" in after for line in removed), removed
    assert host.entry_in(host.without_entry(after)) is None


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_another_way_to_start_it_takes_the_place_of_the_old_one(host: McpHost) -> None:
    older = host.with_entry(text_of(host), ServerEntry("uvx", ("trio-debugmcp", "serve")))
    assert "uvx" not in host.with_entry(older, ENTRY)


@pytest.mark.parametrize("name", ["claude", "codex", "vscode", "zed", "copilot"])
def test_a_file_that_was_set_up_and_cleared_is_as_before_but_for_a_comma(name: str) -> None:
    host = HOSTS[name]
    before = text_of(host)
    cleared = host.without_entry(host.with_entry(before, ENTRY))
    assert cleared.replace(",", "").split() == before.replace(",", "").split()


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize("broken", ["{", "[a\n", '{"mcpServers": {"a": }}', '"\x00'])
def test_a_broken_file_is_refused_with_its_place(host: McpHost, broken: str) -> None:
    for edit in (partial(host.with_entry, entry=ENTRY), host.without_entry):
        with pytest.raises(EditRefusedError, match=r"line 1|line 2|end of document|column") as caught:
            edit(broken)
        assert str(host.file) in str(caught.value)


def test_servers_that_are_not_an_object_are_refused_and_so_is_what_cannot_be_edited_safely() -> None:
    for name, text in (
        ("cursor", '{"mcpServers": []}'),
        ("codex", "mcp_servers = {a = {}}"),
        ("codex", "mcp_servers = 1"),
    ):
        with pytest.raises(EditRefusedError):
            HOSTS[name].with_entry(text, ENTRY)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cursor", '{"mcpServers": {"debugger": {"command": "another-debugger"}}}'),
        ("codex", '[mcp_servers.debugger]\ncommand = "another-debugger"\n'),
    ],
)
def test_a_server_of_that_name_that_is_not_ours_is_neither_replaced_nor_removed(name: str, text: str) -> None:
    for edit in (partial(HOSTS[name].with_entry, entry=ENTRY), HOSTS[name].without_entry):
        with pytest.raises(EditRefusedError, match="another server under the name debugger"):
            edit(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_a_user_has_added_to_our_entry_stays(newline: str) -> None:
    lines = ["[mcp_servers.debugger]", 'command = "trio-debugmcp"', 'args = ["serve"]', "startup_timeout_sec = 60", ""]
    older = newline.join([*lines, "[mcp_servers.debugger.env]", 'A = "1"', ""])
    newer = HOSTS["codex"].with_entry(older, ENTRY)
    assert HOSTS["codex"].entry_in(newer) == {
        **HOSTS["codex"].entry(ENTRY),
        "startup_timeout_sec": 60,
        "env": {"A": "1"},
    }
    assert HOSTS["codex"].without_entry(newer).strip() == ""


def test_the_forms_that_hosts_want() -> None:
    assert HOSTS["copilot"].entry(ENTRY) == {
        "type": "local", "command": ENTRY.command, "args": ["serve"], "tools": ["*"],
    }  # fmt: skip
    assert HOSTS["codex"].by_hand(ENTRY).startswith("[mcp_servers.debugger]\ncommand = ")
    assert '"servers"' in HOSTS["vscode"].by_hand(ENTRY)
    assert '"context_servers"' in HOSTS["zed"].by_hand(ENTRY)


def test_the_places_follow_the_environment() -> None:
    environment = {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "XDG_CONFIG_HOME": "/g"}
    moved = {host.name: str(host.file) for host in hosts_of(environment, Path("/home/ada"))}
    assert (moved["claude"], moved["codex"], moved["zed"]) == (
        "/c/.claude.json",
        "/x/config.toml",
        "/g/zed/settings.json",
    )
    assert str(HOSTS["claude"].file) == "/home/ada/.claude.json"


def test_a_host_is_there_by_its_directory_or_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / ".cursor").mkdir()
    command = tmp_path / "gemini"
    command.touch()
    command.chmod(0o755)
    assert [host.name for host in hosts_of({}, tmp_path) if host.is_there] == ["cursor", "gemini"]
    assert os.listdir(tmp_path / ".cursor") == []
