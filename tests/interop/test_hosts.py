"""What hosts, registries and shops read of us: docs/hosts.md, server.json and the bundle, each in its format."""

import base64
import importlib.util
import json
import re
import shlex
import subprocess
import tomllib
import zipfile
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from tests.client import node
from tests.interop import hosts
from trio_debugmcp import __version__
from trio_debugmcp.cli import main
from trio_debugmcp.cli._engine import ENGINES
from trio_debugmcp.server.tools import open_toolbox

ROOT = Path(__file__).parent.parent.parent
README = ROOT / "README.md"
PAGE = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

SERVER = {"command": "trio-debugmcp", "args": ["serve"]}


def blocks(title: str, language: str) -> list[str]:
    """The code blocks of a language under a heading of the page."""
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)\n```", section, re.DOTALL)


def block(title: str, language: str) -> str:
    (text,) = blocks(title, language)
    return str(text)


# --- The page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", ["Claude Code", "Cursor", "Gemini CLI", "Windsurf"])
def test_the_files_of_most_hosts_start_the_server_by_one_command(title: str) -> None:
    configured = msgspec.json.decode(block(title, "json"), type=hosts.McpServers)
    assert {name: msgspec.to_builtins(each) for name, each in configured.mcp_servers.items()} == {"debugger": SERVER}


def test_the_files_of_vs_code_zed_and_codex_start_it_in_their_own_words() -> None:
    vs_code = msgspec.json.decode(block("VS Code", "json"), type=hosts.VsCode)
    assert msgspec.to_builtins(vs_code.servers["debugger"]) == {"type": "stdio", **SERVER}
    zed = msgspec.json.decode(block("Zed", "json"), type=hosts.Zed)
    assert msgspec.to_builtins(zed.context_servers["debugger"]) == SERVER
    codex = msgspec.convert(tomllib.loads(block("Codex", "toml")), hosts.Codex)
    assert msgspec.to_builtins(codex.mcp_servers["debugger"]) == SERVER


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Claude Code", ["claude", "mcp", "add", "debugger", "--", "trio-debugmcp", "serve"]),
        ("Codex", ["codex", "mcp", "add", "debugger", "--", "trio-debugmcp", "serve"]),
        ("Gemini CLI", ["gemini", "mcp", "add", "debugger", "trio-debugmcp", "serve"]),
    ],
)
def test_the_commands_of_hosts_add_the_same_server(title: str, words: list[str]) -> None:
    assert shlex.split(block(title, "bash")) == words


def test_the_links_and_the_command_of_vs_code_hold_the_same_server() -> None:
    named = {"name": "debugger", **SERVER}
    link = block("VS Code", "text")
    assert link.startswith("vscode:mcp/install?")
    assert re.fullmatch(r"[\w%.:/?~-]+", link)
    decoded = msgspec.json.decode(unquote(link.partition("?")[2]), type=hosts.NamedServer)
    assert msgspec.to_builtins(decoded) == named
    (redirect,) = re.findall(r"\[Install\]\((.*?)\)", PAGE)
    assert redirect.startswith("https://insiders.vscode.dev/redirect?url=")
    assert parse_qs(urlsplit(redirect).query) == {"url": [link]}
    *command, configuration = shlex.split(block("VS Code", "bash"))
    assert command == ["code", "--add-mcp"]
    assert json.loads(configuration) == named


def test_the_link_of_cursor_holds_the_same_server() -> None:
    link = urlsplit(block("Cursor", "text"))
    assert (link.scheme, link.netloc, link.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    query = parse_qs(link.query, strict_parsing=True)
    assert query["name"] == ["debugger"]
    configured = msgspec.json.decode(base64.b64decode(query["config"][0], validate=True), type=hosts.Server)
    assert msgspec.to_builtins(configured) == SERVER


def test_uvx_and_pipx_install_the_command_under_the_name_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    (command,) = [each for each in entry_points(group="console_scripts") if each.name == PROJECT["name"]]
    assert set(PROJECT["scripts"]) == {PROJECT["name"]} == {SERVER["command"]}
    assert command.load() is main
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "Without a command: serve" in capsys.readouterr().out


def test_with_the_dashboard_each_way_starts_the_same_server_by_options_that_exist(
    capsys: pytest.CaptureFixture[str],
) -> None:
    title = "With the dashboard"
    *_, command = block(title, "bash").splitlines()
    words = shlex.split(command)
    assert words[: words.index("--")] == ["claude", "mcp", "add", "debugger"]
    configured = msgspec.to_builtins(msgspec.json.decode(block(title, "json"), type=hosts.Server))
    assert tomllib.loads(block(title, "toml")) == {"args": configured["args"]}
    assert [each.replace("~", "/home/you") for each in words[words.index("--") + 1 :]] == [
        configured["command"],
        *configured["args"],
    ]
    serve, *options = configured["args"]
    assert (configured["command"], [serve]) == (SERVER["command"], SERVER["args"])
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    known = capsys.readouterr().out
    assert all(f"{option} " in known for option in options if option.startswith("--"))


# --- The registry -----------------------------------------------------------------------------------------------------


def named_in(schema: object) -> set[str]:
    """The names of all properties in a JSON schema."""
    if isinstance(schema, list):
        return set().union(*map(named_in, schema))
    if not isinstance(schema, dict):
        return set()
    properties = schema.get("properties", {})
    return set(properties).union(*map(named_in, schema.values()), *map(named_in, properties.values()))


def keys_of(document: object) -> set[str]:
    """All keys in a JSON document."""
    if isinstance(document, list):
        return set().union(*map(keys_of, document))
    return set(document).union(*map(keys_of, document.values())) if isinstance(document, dict) else set()


def test_the_entry_of_the_registry_is_in_its_format_and_of_this_version() -> None:
    schema = json.loads((ROOT / "tests" / "data" / "server.schema.json").read_text())
    entry = json.loads((ROOT / "server.json").read_text())
    assert entry["$schema"] == schema["$id"]
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(entry)
    assert keys_of(entry) <= named_in(schema), "a key that the format does not know"
    (package,) = entry["packages"]
    assert (package["identifier"], package["runtimeHint"]) == (PROJECT["name"], "uvx")
    assert entry["version"] == package["version"] == __version__
    assert entry["repository"]["url"] == PROJECT["urls"]["Repository"]


def test_what_the_entry_of_the_registry_asks_a_user_for_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    entry = json.loads((ROOT / "server.json").read_text())
    (package,) = entry["packages"]
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    known = capsys.readouterr().out
    serve, *options = package["packageArguments"]
    assert [serve["value"]] == SERVER["args"]
    assert all(f"{option['name']} " in known for option in options)
    engine, patience = package["environmentVariables"]
    assert tuple(engine["choices"]) == ENGINES
    assert f"{engine['name']}" in known
    assert f"{patience['name']}" in known
    (icon,) = entry["icons"]
    assert (ROOT / icon["src"].partition("/main/")[2]).read_text().startswith("<svg")


def test_the_registry_finds_the_name_of_the_entry_in_the_readme_of_the_package() -> None:
    name = json.loads((ROOT / "server.json").read_text())["name"]
    assert re.findall(r"mcp-name: (\S+)", README.read_text(encoding="utf-8")) == [name]
    assert name == f"io.github.{'/'.join(PROJECT['urls']['Repository'].split('/')[-2:])}"


# --- The bundle -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bundler() -> ModuleType:
    """`scripts/_bundle.py` as a module."""
    found = importlib.util.spec_from_file_location("bundler", ROOT / "scripts" / "_bundle.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_bundle_has_all_that_is_needed_to_build_the_package(bundler: ModuleType, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundler.build(tmp_path)) as bundle:
        names = set(bundle.namelist())
        manifest = json.loads(bundle.read("manifest.json"))
        assert bundle.read("trio_debugmcp/skill/SKILL.md") == (ROOT / "trio_debugmcp/skill/SKILL.md").read_bytes()
    needed = {"manifest.json", "pyproject.toml", README.name, "LICENSE"}
    package = {str(file.relative_to(ROOT)) for file in (ROOT / "trio_debugmcp").rglob("*.*") if file.suffix != ".pyc"}
    assert names == needed | {name for name in package if (ROOT / name).is_file()}
    assert manifest["server"]["entry_point"] in names
    assert manifest["version"] == __version__
    assert [each["name"] for each in manifest["tools"]] == [tool.name for tool in open_toolbox().listed()]
    assert all(re.fullmatch(r"\S[^\n]+\.", each["description"]) for each in manifest["tools"])


def test_the_same_source_makes_the_same_bundle(bundler: ModuleType, tmp_path: Path) -> None:
    assert bundler.build(tmp_path / "a").read_bytes() == bundler.build(tmp_path / "b").read_bytes()


@pytest.mark.real
def test_the_bundles_own_validator_accepts_its_manifest(bundler: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(bundler.manifest()))
    validator = [*node.mcpb(), "validate", str(tmp_path / "manifest.json")]
    done = subprocess.run(validator, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "manifest.json").write_text(json.dumps({**bundler.manifest(), "server": {"type": "uvx"}}))
    assert subprocess.run(validator, capture_output=True, timeout=600, check=False).returncode != 0
