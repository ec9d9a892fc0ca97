"""The command lines of hosts take the server, what `setup` writes, and the plugins, each in a home of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "tests" / "javascript" / "hosts" / "node_modules" / ".bin"

pytestmark = [
    pytest.mark.real,
    pytest.mark.nightly("downloads three quarters of a gigabyte: scripts/hosts"),
]

SECONDS = 300


class Host:
    """One host's command, in a home where nothing is, with a `trio-debugmcp` in PATH."""

    def __init__(self, command: str, home: Path) -> None:
        self.home = home
        self._command = BIN / command
        if not self._command.exists():
            reason = f"{command} is not installed: run scripts/hosts --install"
            if os.environ.get("REQUIRE_HOSTS"):
                pytest.fail(reason)
            pytest.skip(reason)
        programs, project = home / "bin", home / "project"
        programs.mkdir()
        project.mkdir()
        program = programs / "trio-debugmcp"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trio_debugmcp "$@"\n')
        program.chmod(0o755)
        kept = ("LANG", "PYTHONPATH", "TMPDIR", "VIRTUAL_ENV", "TRIO_DEBUGMCP_PATIENCE")
        self.environment = {
            **{name: value for name, value in os.environ.items() if name in kept},
            "HOME": str(home),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        }

    def __call__(self, *words: str) -> str:
        """Run the host; return what it says, and fail if it fails."""
        return self.run(str(self._command), *words)

    def run(self, *command: str) -> str:
        """Run a command in the project, at home."""
        done = subprocess.run(
            command,
            cwd=self.home / "project",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        said = f"{done.stdout}\n{done.stderr}"
        assert done.returncode == 0, said
        return said


def test_claude_code_connects_to_the_server_that_was_added(tmp_path: Path) -> None:
    claude = Host("claude", tmp_path)
    claude("mcp", "add", "debugger", "--", "trio-debugmcp", "serve")
    assert "Connected" in claude("mcp", "list")


def test_claude_code_takes_the_plugin_with_all_its_parts(tmp_path: Path) -> None:
    claude = Host("claude", tmp_path)
    for manifest in (ROOT, ROOT / "plugin"):
        assert "Validation passed" in claude("plugin", "validate", "--strict", str(manifest))
    claude("plugin", "marketplace", "add", str(ROOT))
    claude("plugin", "install", "trio-debugmcp@trio-debugmcp")
    details = claude("plugin", "details", "trio-debugmcp")
    for part in ("Skills (1)  trio-debugmcp", "Agents (1)  debugger", "UserPromptSubmit", "MCP servers (1)  debugger"):
        assert part in details
    assert "Connected" in claude("mcp", "list")


def test_codex_lists_the_server_of_the_plugin_and_the_one_that_setup_wrote(tmp_path: Path) -> None:
    codex = Host("codex", tmp_path)
    codex("plugin", "marketplace", "add", str(ROOT))
    codex("plugin", "add", "trio-debugmcp@trio-debugmcp")
    assert "debugger" in codex("mcp", "list")
    codex("plugin", "remove", "trio-debugmcp@trio-debugmcp")
    assert "debugger" not in codex("mcp", "list")
    codex("mcp", "add", "debugger", "--", "trio-debugmcp", "serve")
    (entry,) = json.loads(codex("mcp", "list", "--json").partition("\n]")[0] + "\n]")
    assert entry["transport"]["command"] == "trio-debugmcp"


def test_gemini_takes_the_repository_and_the_plugin_as_an_extension(tmp_path: Path) -> None:
    gemini = Host("gemini", tmp_path)
    for extension in (ROOT, ROOT / "plugin"):
        assert "successfully validated" in gemini("extensions", "validate", str(extension))


@pytest.mark.parametrize("command", ["claude", "codex", "gemini"])
def test_what_setup_writes_is_what_the_host_lists(command: str, tmp_path: Path) -> None:
    host = Host(command, tmp_path)
    host.run("trio-debugmcp", "setup", command, "--yes")
    assert "trio-debugmcp serve" in " ".join(host("mcp", "list").split())
