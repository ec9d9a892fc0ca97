"""Servers from PyPI for the interoperability tests: installed once, in bounded time; a test without them is skipped."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests import shared

INSTALL_SECONDS = 180
"""For pip; a registry that is slower than this counts as absent."""

SERVERS = ("mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19")


def server(module: str, *arguments: str) -> list[str]:
    """The command of a server, by the name of its module."""
    root, problem = _install()
    if problem:
        pytest.skip(f"{', '.join(SERVERS)} not available: {problem}")
    start = f"import sys; sys.path.insert(0, {str(root)!r}); from {module} import main; sys.exit(main())"
    return [sys.executable, "-c", start, *arguments]


@cache
def _install() -> tuple[Path, str]:
    root = shared.installed("-".join(server.replace("==", "") for server in SERVERS))
    # Their dependencies that we have are not installed again: the SDK above all, whose models are large.
    packages = [*SERVERS, "GitPython", "gitdb", "smmap", "tzdata", "tzlocal", "click"]

    def install(directory: Path) -> None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(directory)]
        subprocess.run([*command, *packages], check=True, capture_output=True, timeout=INSTALL_SECONDS)

    try:
        return shared.made(root, install), ""
    except subprocess.TimeoutExpired:
        return root, f"pip did not finish within {INSTALL_SECONDS} s"
    except subprocess.CalledProcessError as error:
        return root, f"pip failed: {error.stderr.decode(errors='replace')[-300:]}"
