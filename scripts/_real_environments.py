"""Virtual environments with public packages at pinned versions, which scripts/real-suites and real-programs keep."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.engine.test_catching import INTERPRETERS  # noqa: E402

CACHE = Path("~/.cache/trio_debugmcp-real").expanduser()
"""Not below this repository: pytest would take its configuration."""

INSTALL_SECONDS = 900


def installed(python: str, folder: Path, requirements: Sequence[str]) -> str:
    """Return the interpreter of a virtual environment of a Python that has the packages, made if there is none yet."""
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text() != "\n".join(requirements):
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *requirements], check=True, timeout=INSTALL_SECONDS, stdout=sys.stderr)
        stamp.write_text("\n".join(requirements))
    return str(folder / "bin/python")


def version(python: str) -> str:
    """Return the version of an interpreter of pyenv."""
    return Path(python).parents[1].name


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser of what both scripts take."""
    made = argparse.ArgumentParser(prog=f"scripts/{name}", description=description)
    made.add_argument("--python", action="append", help="an interpreter; default: the newest of pyenv")
    made.add_argument("--cache", type=Path, default=CACHE, help="where what is installed is kept")
    return made


def pythons(options: argparse.Namespace) -> list[str]:
    """Return the interpreters that are to be tried."""
    return list(options.python or [*INTERPRETERS.values()][-1:])
