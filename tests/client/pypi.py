"""Servers from PyPI for the interoperability tests: installed once, in bounded time; a test without them is skipped."""

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

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
    base = Path(os.environ.get("XDG_CACHE_HOME") or tempfile.gettempdir()) / "trio-debugmcp-tests"
    root = base / "-".join(server.replace("==", "") for server in SERVERS)
    done = root / ".installed"
    if done.exists():
        return root, ""
    root.mkdir(parents=True, exist_ok=True)
    # Their dependencies that we have are not installed again: the SDK above all, whose models are large.
    have = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(root)]
    try:
        subprocess.run(
            [*have, *SERVERS, "GitPython", "gitdb", "smmap", "tzdata", "tzlocal", "click"],
            check=True,
            capture_output=True,
            timeout=INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return root, f"pip did not finish within {INSTALL_SECONDS} s"
    except subprocess.CalledProcessError as error:
        return root, f"pip failed: {error.stderr.decode(errors='replace')[-300:]}"
    done.touch()
    return root, ""
