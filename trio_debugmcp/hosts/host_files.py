"""`McpHost`: an MCP host, the file in which it keeps its servers, and the form of an entry there.

Each host's own documentation says where the file is; `docs/hosts.md` has them, with what people do by hand.
"""

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.hosts import jsonc_edits, toml_edits
from trio_debugmcp.hosts.edit_refused import EditRefusedError
from trio_debugmcp.launch_json import jsonc

SERVER = "debugger"
"""The name of our entry."""

_STARTS_US = re.compile(r"trio[-_]debugmcp")


class ServerEntry(Struct, frozen=True):
    """How a host starts the server."""

    command: str
    arguments: tuple[str, ...]


class McpHost(Struct, frozen=True):
    """A host. `file` and `directory` need not be there; it is in use if `directory`, or its `command`, is.

    `keys` are those of the object that has the servers, `more` what an entry has beside command and arguments.
    """

    name: str
    title: str
    command: str
    directory: Path
    file: Path
    keys: tuple[str, ...] = ("mcpServers",)
    more: tuple[tuple[str, Any], ...] = ()
    form: Literal["json", "toml"] = "json"

    @property
    def is_there(self) -> bool:
        """Whether this user has it."""
        try:
            return self.directory.is_dir() or shutil.which(self.command) is not None
        except OSError:  # a home directory that may not be searched
            return False

    def entry(self, entry: ServerEntry) -> dict[str, Any]:
        """Return what stands under our name in its file."""
        first, last = dict(self.more[:1]), dict(self.more[1:])
        return {**first, "command": entry.command, "args": list(entry.arguments), **last}

    def entry_in(self, text: str) -> Any:
        """Return what stands under our name; None if there is nothing.

        Raises:
            EditRefusedError: the file cannot be read.
        """
        servers = self._parsed(text)
        for key in self.keys:
            servers = servers.get(key, {}) if isinstance(servers, dict) else {}
        return servers.get(SERVER) if isinstance(servers, dict) else None

    def with_entry(self, text: str, entry: ServerEntry) -> str:
        """Return the file's text with our entry, and all else as it was.

        Raises:
            EditRefusedError: the file cannot be read, or is not as it should be. The text has what to do by hand.
        """
        before, member = self._parsed(text), self.entry(entry)
        there = self._ours(text)
        if there is not None:
            member = {**there, **member}  # a user's own keys, such as `env`, stay
        if there == member:
            return text
        path = (*self.keys, SERVER)
        edit = jsonc_edits.with_member if self.form == "json" else toml_edits.with_table
        after = edit(text, path, member)
        return self._proven(after, _set(before, path, member))

    def without_entry(self, text: str) -> str:
        """Return the file's text without our entry, and all else as it was.

        Raises:
            EditRefusedError: as for `with_entry`.
        """
        path = (*self.keys, SERVER)
        before = self._parsed(text)
        if self._ours(text) is None:
            return text
        edit = jsonc_edits.without_member if self.form == "json" else toml_edits.without_table
        after = edit(text, path)
        return self._proven(after, _set(before, path, None))

    def _ours(self, text: str) -> dict[str, Any] | None:
        """Return the entry that is there.

        Raises:
            EditRefusedError: it starts something else.
        """
        entry = self.entry_in(text)
        if entry is not None and not (isinstance(entry, dict) and _STARTS_US.search(json.dumps(entry))):
            raise EditRefusedError(f"{self.file} has another server under the name {SERVER}: rename it there first")
        return entry

    def by_hand(self, entry: ServerEntry) -> str:
        """Return what a person adds to the file."""
        path = (*self.keys, SERVER)
        if self.form == "toml":
            return toml_edits.with_table("", path, self.entry(entry))
        return jsonc_edits.with_member("", path, self.entry(entry))

    def _parsed(self, text: str) -> Any:
        try:
            return jsonc.parse(text, str(self.file)) if self.form == "json" else tomllib.loads(text)
        except (UsageError, tomllib.TOMLDecodeError) as error:
            place = "" if isinstance(error, UsageError) else f"{self.file}: "
            raise EditRefusedError(f"{place}{error}") from error

    def _proven(self, after: str, expected: Any) -> str:
        """Return the text, if what it says now is what was there before and the change, and nothing else."""
        try:
            holds = self._parsed(after) in (expected, _without_empty(expected, self.keys))
        except EditRefusedError:
            holds = False
        if not holds:
            raise EditRefusedError(f"{self.file} is written in a way that cannot be edited safely")
        return after


def _set(content: Any, path: tuple[str, ...], member: Any) -> Any:
    """Return a copy with the member at that path set, or removed if it is None."""
    key, rest = path[0], path[1:]
    if not isinstance(content, dict):
        raise EditRefusedError("what should hold the servers is not an object")
    if rest:
        return {**content, key: _set(content.get(key, {}), rest, member)}
    return {**content, key: member} if member is not None else {name: content[name] for name in content if name != key}


def _without_empty(content: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Return a copy without the object that holds servers, if it holds none: in TOML it is there by its tables only."""
    return {name: value for name, value in content.items() if name != keys[0] or value}


def hosts_of(environment: Mapping[str, str], home: Path) -> list[McpHost]:
    """Return the hosts that are known, each with its place for a user with that environment and home directory."""
    is_mac = sys.platform == "darwin"
    configuration = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    claude = environment.get("CLAUDE_CONFIG_DIR")
    codex = Path(environment.get("CODEX_HOME") or home / ".codex")
    code = (home / "Library/Application Support" if is_mac else configuration) / "Code"
    return [
        McpHost("claude", "Claude Code", "claude", Path(claude) if claude else home / ".claude",
             Path(claude or home) / ".claude.json", more=(("type", "stdio"),)),
        McpHost("codex", "Codex", "codex", codex, codex / "config.toml", ("mcp_servers",), form="toml"),
        McpHost("cursor", "Cursor", "cursor", home / ".cursor", home / ".cursor/mcp.json"),
        McpHost("vscode", "VS Code", "code", code, code / "User/mcp.json", ("servers",), (("type", "stdio"),)),
        McpHost("gemini", "Gemini CLI", "gemini", home / ".gemini", home / ".gemini/settings.json"),
        McpHost("windsurf", "Windsurf", "windsurf", home / ".codeium/windsurf",
             home / ".codeium/windsurf/mcp_config.json"),
        McpHost("zed", "Zed", "zed", configuration / "zed", configuration / "zed/settings.json", ("context_servers",)),
        McpHost("copilot", "Copilot CLI", "copilot", home / ".copilot", home / ".copilot/mcp-config.json",
             more=(("type", "local"), ("tools", ["*"]))),
    ]  # fmt: skip
