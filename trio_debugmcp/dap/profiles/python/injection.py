"""Why debugpy cannot be put into a running process: what that runs, and what this machine lacks."""

import re
import shutil
import sys
from pathlib import Path

from trio_debugmcp.dap.profiles.processes import SERVER, Attacher

_OLDEST_PYTHON = (3, 8)
"""The oldest that debugpy 1.8 can be put into: an older one fails without a word."""

_PACKAGE = Path(__file__).resolve().parent


def injection_problem(pid: int, proc: Path, by: Attacher = SERVER) -> str | None:
    """Return why attaching to a process by its id cannot work; None if nothing is known to be in the way."""
    executable = _executable(proc / str(pid))
    if executable is not None:
        version = re.match(r"python(\d+)\.(\d+)", executable.name)
        if version is not None and (int(version[1]), int(version[2])) < _OLDEST_PYTHON:
            return "process {} runs Python {}.{}; debugpy debugs {}.{} and newer".format(
                pid, *version.groups(), *_OLDEST_PYTHON
            )
        if not re.match(r"python|pypy", executable.name) and not _embeds_python(proc / str(pid)):
            return f"process {pid} runs {executable}, which is not Python: {by.others}"
    if not _has_our_files(proc / str(pid)):
        return (
            f"process {pid} sees other files than this {by.name}, as in another container: it cannot read the "
            f"debugger. Run the {by.name} where the process is, or have the program dial in (debug_listen)"
        )
    # debugpy injects itself with a native debugger; without one it never answers.
    native = "lldb" if sys.platform == "darwin" else "gdb"
    if shutil.which(native):
        return None
    return f"attaching to a Python process by pid needs `{native}` on PATH. Install it, or {by.without_tracing}"


def _has_our_files(process: Path) -> bool:
    """Whether this package's path means the same directory there as here; if that cannot be seen, it may."""
    try:
        return _PACKAGE.samefile(process / "root" / _PACKAGE.relative_to("/"))
    except FileNotFoundError:
        return not (process / "root").is_dir()
    except OSError:
        return True


def _executable(process: Path) -> Path | None:
    try:
        return (process / "exe").readlink()
    except OSError:  # not Linux, or not ours to see
        return None


def _embeds_python(process: Path) -> bool:
    """Whether another program has Python's library in it; if that cannot be seen, it may."""
    try:
        return re.search(r"/libpython[^/\n]*\.so", (process / "maps").read_text(errors="replace")) is not None
    except OSError:
        return True
