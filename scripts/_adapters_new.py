"""Say which packages of debug adapters are newer than those that our tests debug with: a line each."""

import subprocess
import sys

from trio_debugmcp.dap.profiles import PROFILES, TableProfile
from trio_debugmcp.dap.profiles.finding import newer_than_tested
from trio_debugmcp.dap.profiles.installing import ways_of
from trio_debugmcp.dap.profiles.tables.table_format import Table, Version

_SECONDS = 60


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown: {error}"
    return done.stdout.strip() if done.returncode == 0 else ""


def _newest(package: str, by: str) -> str:
    """Return the newest version that the registry has; empty if that is not to be had."""
    if by == "npm":
        return _said("npm", "view", package, "version")
    first, *_ = _said(sys.executable, "-m", "pip", "index", "versions", package).splitlines() or [""]
    return first.partition("(")[2].rstrip(")")


def _lines(name: str, table: Table) -> list[str]:
    found = []
    for way in ways_of(table):
        if way.npm_pack is not None:
            package, _, taken = way.npm_pack.rpartition("@")
            found.append((package, taken, _newest(package, "npm")))
        elif way.pip is not None and table.version is not None and table.version.tested is not None:
            found.append((package := way.pip.split()[0], table.version.tested, _newest(package, "pip")))
    return [f"{name}: {package} {_compared(taken, newest)}" for package, taken, newest in found]


def _compared(taken: str, newest: str) -> str:
    known = Table(language="", find=("x",), command=("x",), launch={}, version=Version(file="x", tested=taken))
    if not newest:
        return f"{taken}; the newest is not known"
    return f"{taken}, NEWER: {newest}" if newer_than_tested(newest, known) else f"{taken}, the newest"


for profile in PROFILES:
    if isinstance(profile, TableProfile) and profile.table.tested:
        for line in _lines(profile.name, profile.table):
            print(line)
