"""Files of VS Code, Cursor and Claude, read as they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp.client import InspectorOptions, OAuth
from trio_debugmcp.client.config import ConfiguredServer, Input, ServerConfig, find_config, without_comments
from trio_debugmcp.errors import UsageError

VS_CODE = """\
{
  // servers of this project; see https://example.com/*not a comment*/
  "inputs": [
    {"type": "promptString", "id": "key", "description": "API key", "password": true,},
    {"type": "pickString", "id": "zone", "description": "Zone",
     "options": ["eu", {"label": "US", "value": "us"}], "default": "eu"},
    {"type": "command", "id": "run", "command": "extension.token"},
  ],
  "servers": {
    "local": {
      "type": "stdio",
      "command": "${workspaceFolder}/bin/server", /* built
      by make */
      "args": ["--zone", "${input:zone}", "--key=${input:key}${input:key}", "// no comment", ",]"],
      "env": {"HOME_DIR": "${userHome}", "LEVEL": 3, "TOKEN": "${env:TOKEN}", "UNSET": null},
      "envFile": "${workspaceFolder}/.env",
    },
    "remote": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${input:key}"}},
    "old": {"type": "sse", "url": "https://example.com/events"},
    "secret": {"command": "x", "env": {"T": "${input:run}"}},
    "lost": {"command": "x", "env": {"T": "${input:nowhere}"}},
    "editor": {"command": "${config:python.path}"},
  },
}
"""


def refuse(wanted: Input) -> str:
    raise AssertionError(f"asked for {wanted}")


def written(tmp_path: Path, name: str, content: Any) -> ServerConfig:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return ServerConfig.read(path)


def test_a_file_of_vs_code_with_comments_commas_inputs_and_variables(tmp_path: Path) -> None:
    config = written(tmp_path, ".vscode/mcp.json", VS_CODE)
    (tmp_path / ".env").write_text("# comment\nexport FROM_FILE='a b'\nLEVEL=1\n\nnothing\n")
    asked: list[Input] = []

    def ask(wanted: Input) -> str:
        asked.append(wanted)
        return wanted.options[1] if wanted.options else "k"

    local = config.server("local", ask, {"TOKEN": "t"})
    assert config.names == ("local", "remote", "old", "secret", "lost", "editor")
    assert local.target() == [f"{tmp_path}/bin/server", "--zone", "us", "--key=kk", "// no comment", ",]"]
    assert local.env == {"FROM_FILE": "a b", "LEVEL": "3", "HOME_DIR": str(Path.home()), "TOKEN": "t"}
    assert local.cwd == str(tmp_path)
    assert asked == [
        Input(id="zone", description="Zone", default="eu", options=("eu", "us")),
        Input(id="key", description="API key", password=True),
    ]
    remote = config.server("remote", ask)
    assert (remote.target(), remote.headers) == ("https://example.com/mcp", {"Authorization": "Bearer k"})
    assert remote.options().transport == "auto"
    assert config.server("old", ask).options().transport == "sse"
    assert "Bearer" not in repr(remote)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("secret", "input 'run' is a 'command', which only its editor can run"),
        ("lost", r"\$\{input:nowhere\}, which is not among the inputs"),
        ("editor", r"\$\{config:python.path\}: only its editor knows"),
        ("local", r"\$\{env:TOKEN\}: the environment variable is not set"),
        ("unknown", "no server 'unknown'; it has local, remote"),
        (None, "has 6 servers; choose one with --server: it has local"),
    ],
)
def test_what_cannot_be_resolved_is_refused_with_its_name(name: str | None, reason: str, tmp_path: Path) -> None:
    config = written(tmp_path, ".vscode/mcp.json", VS_CODE)
    with pytest.raises(UsageError, match=reason):
        config.server(name, lambda wanted: wanted.id, {})


def test_a_file_of_claude_with_its_own_variables(tmp_path: Path) -> None:
    entry = {
        "command": "npx",
        "args": ["-y", "pkg@${VERSION:-1.2}", "${KEY}", "${EMPTY:-x}"],
        "env": {"DIR": "${CLAUDE_PROJECT_DIR}"},
    }
    server = written(tmp_path, ".mcp.json", {"mcpServers": {"only": entry}}).server(
        None, refuse, {"KEY": "k", "EMPTY": ""}
    )
    assert server.command == ("npx", "-y", "pkg@1.2", "k", "")
    assert (server.env, server.cwd) == ({"DIR": str(tmp_path)}, None)
    assert (server.name, server.transport) == ("only", "auto")


def test_a_file_of_cursor_and_of_claude_code_with_a_registered_client(tmp_path: Path) -> None:
    content = {
        "mcpServers": {
            "cursor": {
                "url": "https://a.example/mcp",
                "auth": {"CLIENT_ID": "c", "CLIENT_SECRET": "${env:S}", "scopes": ["read", "write"]},
            },
            "claude": {
                "type": "http",
                "url": "https://b.example/mcp",
                "oauth": {"clientId": "d", "callbackPort": 8080},
            },
            "socket": {"type": "ws", "url": "ws://127.0.0.1:1/mcp"},
        }
    }
    config = written(tmp_path, ".cursor/mcp.json", content)
    base = InspectorOptions(oauth=OAuth())
    cursor = config.server("cursor", refuse, {"S": "s"}).options(base).oauth
    assert cursor is not None
    assert (cursor.client_id, cursor.client_secret, cursor.scope, cursor.port) == ("c", "s", "read write", 0)
    claude = config.server("claude", refuse).options(base).oauth
    assert claude is not None
    assert (claude.client_id, claude.client_secret, claude.scope, claude.port) == ("d", None, None, 8080)
    assert config.server("socket", refuse).target() == "ws://127.0.0.1:1/mcp"
    assert config.server("claude", refuse).options().oauth is None, "not used unless the caller wants OAuth"
    own = InspectorOptions(oauth=OAuth(client_id="mine"))
    assert config.server("cursor", refuse, {"S": "s"}).options(own).oauth == own.oauth


def test_what_the_caller_says_takes_precedence_over_the_file() -> None:
    server = ConfiguredServer(name="x", command=("x",), env={"A": "1", "B": "1"}, headers={"H": "1"}, cwd="/file")
    merged = server.options(InspectorOptions(env={"B": "2"}, headers={"I": "2"}, cwd="/own"))
    assert (merged.env, merged.headers, merged.cwd) == ({"A": "1", "B": "2"}, {"H": "1", "I": "2"}, "/own")
    assert server.options().cwd == "/file"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is not JSON: .* line 1"),
        ('{\n// one\n"servers": {"a": }}', "is not JSON: .* line 3"),
        ("[]", "not a JSON object"),
        ("{}", 'neither "servers" nor "mcpServers"'),
        ('{"servers": {}}', "has 0 servers; .*: it has no servers"),
        ('{"servers": {"a": {}}}', 'either a "command" or a "url"'),
        ('{"servers": {"a": {"command": "x", "url": "y"}}}', 'either a "command" or a "url"'),
        ('{"servers": {"a": {"type": "pigeon", "command": "x"}}}', "unknown type 'pigeon'"),
        ('{"servers": {"a": {"url": "x", "headersHelper": "y"}}}', "pass --header instead"),
        ('{"servers": {"a": {"command": "x", "envFile": "gone"}}}', "envFile that cannot be read"),
        ('{"servers": {"a": {"command": "x", "envFile": 5}}}', "'envFile' that is not text: 5"),
        ('{"servers": {"a": {"command": "x", "args": "yz"}}}', "'args' that is not a list: 'yz'"),
        ('{"servers": {"a": {"command": "x", "env": [1]}}}', "'env' that is not an object"),
        ('{"servers": {"a": {"url": "x", "oauth": 5}}}', "'oauth' that is not an object: 5"),
        ('{"servers": {"a": {"url": "x", "oauth": {"callbackPort": "x"}}}}', "callbackPort that is not a number: 'x'"),
        ('{"inputs": 5, "servers": {"a": {"command": "x"}}}', '"inputs" that are not a list'),
        (
            '{"inputs": [{"id": "q", "type": "pickString", "options": 5}],"servers": {"a": {"command": "${input:q}"}}}',
            "options that are not a list",
        ),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place(content: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=reason):
        written(tmp_path, "mcp.json", content).server(None, refuse)


def test_servers_in_the_settings_of_vs_code(tmp_path: Path) -> None:
    config = written(tmp_path, "settings.json", {"editor.tabSize": 2, "mcp": {"servers": {"a": {"command": "x"}}}})
    assert config.names == ("a",)
    assert config.server(None, refuse).command == ("x",)


def test_comments_and_commas_inside_strings_stay() -> None:
    text = '{"a": "// \\" /* ,]", "b": [1, /* , */ 2 , // x\n ], }'
    assert json.loads(without_comments(text)) == {"a": '// " /* ,]', "b": [1, 2]}
    assert without_comments("1 /* a\nb */ 2").count("\n") == 1


def test_the_file_of_a_project_is_found_in_the_usual_places(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none of \.mcp\.json, \.vscode/mcp\.json"):
        find_config(tmp_path)
    (tmp_path / ".cursor").mkdir()
    cursor = tmp_path / ".cursor/mcp.json"
    cursor.write_text("{}")
    assert find_config(tmp_path) == cursor
    (tmp_path / ".mcp.json").write_text("{}")
    assert find_config(tmp_path) == tmp_path / ".mcp.json"


def test_a_file_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Cannot read .*mcp\.json"):
        ServerConfig.read(tmp_path / "mcp.json")
