"""py-spy, run on a process of this machine. It is optional (`trio-debugmcp[hang]`).

    written = await dump(pid, patience)     # JSON, which `outside.py` reads

It reads the program's memory, and does not stop it.
"""

import shutil
import subprocess
import sys

import trio

from trio_debugmcp.installation import with_package
from trio_debugmcp.patience import Patience

DUMP_SECONDS = 3.0
"""For py-spy, which takes a tenth of a second; then it is killed."""

_MOST_REASON = 300


class CannotLook(Exception):
    """py-spy is not there, or was not allowed to look."""


def find_py_spy() -> str | None:
    """Return the path of py-spy: the one beside this Python, else that on `PATH`."""
    import sysconfig  # not before it is needed: it takes time

    return shutil.which("py-spy", path=sysconfig.get_path("scripts")) or shutil.which("py-spy")


async def dump(pid: int, patience: Patience) -> bytes:
    """Return what `py-spy dump --json` writes about a process of this machine.

    Raises:
        CannotLook: it is not installed, or not allowed; the message says what to do.
    """
    program = find_py_spy()
    if program is None:
        raise CannotLook(f"with py-spy (`{with_package('py-spy')}`) its threads are shown all the same")
    command = [program, "dump", "--json", "--nonblocking", "--pid", str(pid)]
    try:
        with trio.fail_after(patience.seconds(DUMP_SECONDS)):
            done = await trio.run_process(
                command, stdin=subprocess.DEVNULL, capture_stdout=True, capture_stderr=True, check=False
            )
    except trio.TooSlowError:
        raise CannotLook(f"py-spy did not end within {patience.seconds(DUMP_SECONDS):g} s") from None
    except OSError as error:
        raise CannotLook(f"py-spy does not start: {error}") from None
    if done.returncode == 0:
        return done.stdout
    reason = done.stderr.decode(errors="replace").partition("Stack backtrace")[0]
    if "ermission" in reason or "not permitted" in reason:
        raise CannotLook(
            "py-spy is not allowed to look into it: set /proc/sys/kernel/yama/ptrace_scope to 0, or run the server "
            "with CAP_SYS_PTRACE" + (" (macOS: as root)" if sys.platform == "darwin" else "")
        )
    raise CannotLook(f"py-spy failed: {' '.join(reason.split())[:_MOST_REASON]}")
