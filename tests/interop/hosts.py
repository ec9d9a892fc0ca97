"""The formats of other programs' files, as far as we use them, in our own words: other fields are refused."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

Text = Annotated[str, Meta(min_length=1)]


class Strict(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a file without fields that the format does not know."""


# --- Configurations of hosts ------------------------------------------------------------------------------------------


class Server(Strict, frozen=True):
    """A server that the host starts: Claude Code, Cursor, Gemini CLI, Windsurf, Zed; Codex in TOML."""

    command: Text
    args: list[Text]


class TypedServer(Strict, frozen=True):
    """The same, with the transport: VS Code, and optionally Claude Code."""

    type: Literal["stdio"]
    command: Text
    args: list[Text]


class NamedServer(Strict, frozen=True):
    """The same, with the name that it gets: the install link of VS Code, and `code --add-mcp`."""

    name: Text
    command: Text
    args: list[Text]


class McpServers(Strict, frozen=True):
    """`.mcp.json`, `.cursor/mcp.json`, `~/.gemini/settings.json`, `mcp_config.json` of Windsurf."""

    mcp_servers: dict[str, Server] = field(name="mcpServers")


class VsCode(Strict, frozen=True):
    """`.vscode/mcp.json`."""

    servers: dict[str, TypedServer]


class Zed(Strict, frozen=True):
    """`settings.json` of Zed."""

    context_servers: dict[str, Server]


class Codex(Strict, frozen=True):
    """`~/.codex/config.toml`."""

    mcp_servers: dict[str, Server]
