"""Reads the files in which editors and agents keep their MCP servers: VS Code's, Cursor's, Claude's and their like.

    config = ServerConfig.read(Path(".vscode/mcp.json"))
    server = config.server("github", ask=lambda wanted: getpass(wanted.description))
    async with InspectorClient(server.target(), server.options()) as client: ...

The files are read as they are: `servers` or `mcpServers`, comments and trailing commas, variables. Only the variables
of the chosen server are resolved; one that cannot be is an error with its name, because an empty string in its place
would start the wrong command or send an empty token.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.client.options import InspectorOptions
from trio_debugmcp.errors import UsageError
from trio_debugmcp.home import home_directory

PLACES = (".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json")
"""Where a project keeps its servers, relative to its directory; the first file that exists is read."""

_TRANSPORTS: dict[str, Literal["auto", "http", "sse", "ws", "stdio"]] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "sse": "sse",
    "ws": "ws",
    "websocket": "ws",
}

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL)
"""A string, a comment, or a comma before a closing bracket."""

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")


class Input(Struct, frozen=True, kw_only=True):
    """A value that a file leaves to the person, from VS Code's `inputs`.

    Attributes:
        options: the values to choose from, empty for any.
    """

    id: str
    description: str
    password: bool = False
    default: str | None = None
    options: tuple[str, ...] = ()


class ConfiguredServer(Struct, frozen=True, kw_only=True):
    """A server as its file describes it, with its variables resolved."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    transport: Literal["auto", "http", "sse", "ws", "stdio"] = "auto"
    env: dict[str, str] = {}
    cwd: str | None = None
    headers: dict[str, str] = {}
    client_id: str | None = None
    client_secret: str | None = None
    scope: str | None = None
    redirect_port: int = 0

    def __repr__(self) -> str:  # without its secrets
        return f"<ConfiguredServer {self.name}: {self.url or ' '.join(self.command[:1])}>"

    def target(self) -> list[str] | str:
        """The target for an `InspectorClient`."""
        return self.url or list(self.command)

    def options(self, base: InspectorOptions = InspectorOptions()) -> InspectorOptions:  # noqa: B008 (frozen)
        """`base` with what the file says; where both have a header or a variable, that of `base`."""
        oauth = base.oauth
        if oauth is not None and oauth.client_id is None and self.client_id is not None:
            oauth = replace(
                oauth,
                client_id=self.client_id,
                client_secret=self.client_secret,
                scope=oauth.scope or self.scope,
                port=oauth.port or self.redirect_port,
            )
        return replace(
            base,
            env={**self.env, **(base.env or {})} or None,
            cwd=base.cwd or self.cwd,
            headers={**self.headers, **(base.headers or {})} or None,
            transport="sse" if self.transport == "sse" else base.transport,
            oauth=oauth,
        )


_FIELDS: dict[str, tuple[Any, str]] = {
    "args": (list, "a list"),
    "env": (dict, "an object"),
    "headers": (dict, "an object"),
    "oauth": (dict, "an object"),
    "auth": (dict, "an object"),
    "cwd": (str, "text"),
    "envFile": (str, "text"),
}
"""What the fields of a server must be, if they are there."""

Ask = Callable[[Input], str]
"""Asks a person for the value of an input; raises `UsageError` if there is no person."""


class ServerConfig:
    """The servers of one file, not yet resolved.

    Args:
        path: of the file, for messages and for `${workspaceFolder}`.
        content: its parsed content.
    """

    def __init__(self, path: Path, content: Mapping[str, Any]) -> None:
        self.path = path
        nested = content.get("mcp")
        if "servers" not in content and isinstance(nested, Mapping):  # VS Code's settings.json
            content = nested
        self._by_editor = "servers" in content
        servers = content.get("servers", content.get("mcpServers"))
        if not isinstance(servers, Mapping):
            raise self._wrong('has neither "servers" nor "mcpServers"')
        self._servers: Mapping[str, Any] = servers
        inputs = content.get("inputs") or []
        if not isinstance(inputs, list):
            raise self._wrong('has "inputs" that are not a list')
        self._inputs = {
            str(declaration.get("id")): declaration for declaration in inputs if isinstance(declaration, Mapping)
        }

    def __repr__(self) -> str:
        return f"<ServerConfig {self.path}: {', '.join(self.names)}>"

    @classmethod
    def read(cls, path: Path) -> "ServerConfig":
        """Read and parse a file.

        Raises:
            UsageError: there is no such file, or it is not a list of servers.
        """
        try:
            text = path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError("INVALID_PARAMETER", f"Cannot read {path}: {error}") from error
        try:
            content = json.loads(without_comments(text))
        except (ValueError, RecursionError) as error:
            raise UsageError("INVALID_PARAMETER", f"{path} is not JSON: {error}") from error
        if not isinstance(content, dict):
            raise UsageError("INVALID_PARAMETER", f"{path} is not a JSON object")
        return cls(path, content)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the servers, in the order of the file."""
        return tuple(self._servers)

    def server(self, name: str | None, ask: Ask, environ: Mapping[str, str] | None = None) -> ConfiguredServer:
        """Resolve one server; without a name, the only one.

        Args:
            name: of the server, or None.
            ask: called for each `${input:…}` of this server, once.
            environ: for `${env:…}`, by default that of this process.

        Raises:
            UsageError: there is no such server, or it cannot be resolved; with the reason.
        """
        servers = f"it has {', '.join(self.names) or 'no servers'}"
        if name is None:
            if len(self.names) != 1:
                raise self._wrong(f"has {len(self.names)} servers; choose one with --server: {servers}")
            (name,) = self.names
        entry = self._servers.get(name)
        if not isinstance(entry, Mapping):
            raise self._wrong(f"has no server {name!r}; {servers}")
        return self._resolve(name, _Resolver(self, name, ask, os.environ if environ is None else environ).all(entry))

    @property
    def workspace(self) -> Path:
        """The directory of the project that the file belongs to."""
        folder = self.path.absolute().parent
        return folder.parent if folder.name in (".vscode", ".cursor") else folder

    def input(self, key: str, server: str) -> Input:
        """The declaration of `${input:key}`."""
        declared = self._inputs.get(key)
        if declared is None:
            raise self._wrong(f"server {server!r} uses ${{input:{key}}}, which is not among the inputs")
        if declared.get("type") not in ("promptString", "pickString"):
            raise self._wrong(f"input {key!r} is a {declared.get('type')!r}, which only its editor can run")
        if not isinstance(declared.get("options") or [], list):
            raise self._wrong(f"input {key!r} has options that are not a list")
        options = [
            option.get("value") if isinstance(option, Mapping) else option for option in declared.get("options") or ()
        ]
        return Input(
            id=key,
            description=str(declared.get("description") or key),
            password=declared.get("password") is True,
            default=declared.get("default"),
            options=tuple(map(str, options)),
        )

    def _resolve(self, name: str, entry: dict[str, Any]) -> ConfiguredServer:
        url = entry.get("url") or entry.get("serverUrl") or entry.get("httpUrl") or ""
        command = entry.get("command") or ""
        if bool(url) == bool(command) or not isinstance(url, str) or not isinstance(command, str):
            raise self._wrong(f'server {name!r} wants either a "command" or a "url"')
        transport = entry.get("type", entry.get("transport"))
        if transport is not None and transport not in _TRANSPORTS:
            raise self._wrong(f"server {name!r} has an unknown type {transport!r}")
        if "headersHelper" in entry:
            raise self._wrong(f"server {name!r} has a headersHelper, which is not run here; pass --header instead")
        for field, (kind, words) in _FIELDS.items():
            if not isinstance(entry.get(field) or kind(), kind):
                raise self._wrong(f"server {name!r} has {field!r} that is not {words}: {entry[field]!r}")
        registered = entry.get("oauth") or entry.get("auth") or {}
        port = registered.get("callbackPort") or 0
        if not str(port).isdecimal():
            raise self._wrong(f"server {name!r} has a callbackPort that is not a number: {port!r}")
        secret = registered.get("clientSecret", registered.get("CLIENT_SECRET"))
        scopes = registered.get("scopes") or ()
        return ConfiguredServer(
            name=name,
            command=(command, *map(str, entry.get("args") or ())) if command else (),
            url=url,
            transport=_TRANSPORTS[transport] if transport is not None else "auto",
            env={**self._env_file(entry), **_strings(entry.get("env"))},
            cwd=entry.get("cwd") or (str(self.workspace) if self._by_editor and command else None),
            headers=_strings(entry.get("headers")),
            client_id=registered.get("clientId", registered.get("CLIENT_ID")),
            client_secret=secret,
            scope=scopes if isinstance(scopes, str) else " ".join(scopes) or None,
            redirect_port=int(port),
        )

    def _env_file(self, entry: Mapping[str, Any]) -> dict[str, str]:
        if not entry.get("envFile"):
            return {}
        path = self.workspace / entry["envFile"]
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise self._wrong(f"names an envFile that cannot be read: {error}") from error
        pairs = [line.strip().removeprefix("export ").partition("=") for line in lines if not line.startswith("#")]
        return {name.strip(): value.strip().strip("'\"") for name, equals, value in pairs if equals}

    def _wrong(self, what: str) -> UsageError:
        return UsageError("INVALID_PARAMETER", f"{self.path} {what}")

    def unresolved(self, server: str, variable: str, why: str) -> UsageError:
        """The error for a variable without a value."""
        return self._wrong(f"server {server!r} uses ${{{variable}}}: {why}")


class _Resolver:
    """Replaces the variables in the entry of one server."""

    def __init__(self, config: ServerConfig, server: str, ask: Ask, environ: Mapping[str, str]) -> None:
        self._config = config
        self._server = server
        self._ask = ask
        self._environ = environ
        self._answers: dict[str, str] = {}
        workspace = config.workspace
        self._named = {
            "workspaceFolder": str(workspace),
            "workspaceFolderBasename": workspace.name,
            "workspaceRoot": str(workspace),
            "userHome": str(home_directory()),
            "pathSeparator": os.sep,
            "/": os.sep,
            "CLAUDE_PROJECT_DIR": environ.get("CLAUDE_PROJECT_DIR", str(workspace)),
        }

    def all(self, value: Any) -> Any:
        if isinstance(value, str):
            return _VARIABLE.sub(lambda match: self._value(match[1]), value)
        if isinstance(value, Mapping):
            return {key: self.all(member) for key, member in value.items()}
        return [self.all(item) for item in value] if isinstance(value, list) else value

    def _value(self, variable: str) -> str:
        if variable in self._named:
            return self._named[variable]
        kind, colon, name = variable.partition(":")
        if colon and kind == "input":
            if name not in self._answers:
                self._answers[name] = self._ask(self._config.input(name, self._server))
            return self._answers[name]
        if colon and not name.startswith("-") and kind != "env":
            raise self._config.unresolved(self._server, variable, "only its editor knows the value")
        environment_name, _, default = (name if kind == "env" else variable).partition(":-")
        if environment_name in self._environ:
            return self._environ[environment_name]
        if ":-" in variable:
            return default
        raise self._config.unresolved(self._server, variable, "the environment variable is not set")


def find_config(directory: Path) -> Path:
    """The file of the project in `directory`.

    Raises:
        UsageError: it has none.
    """
    file = next((directory / place for place in PLACES if os.path.isfile(directory / place)), None)
    if file is None:
        raise UsageError(
            "INVALID_PARAMETER", f"There is none of {', '.join(PLACES)} in {directory}; name a file with --config"
        )
    return file


def without_comments(text: str) -> str:
    """JSON with comments and trailing commas as JSON, each line where it was."""

    def blank(token: re.Match[str]) -> str:
        return token[0] if token[0].startswith('"') else re.sub(r"[^\n]", " ", token[0])

    return _TOKEN.sub(blank, text)


def _strings(values: Mapping[str, Any] | None) -> dict[str, str]:
    """Environment or headers; VS Code permits numbers, and null for "not set"."""
    return {name: str(value) for name, value in (values or {}).items() if value is not None}
