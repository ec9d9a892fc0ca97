"""A program seen from outside by py-spy, for when it does not let Python run: a call in C code keeps the GIL.

    seen = stacks_of(await dump(pid), {"MainThread": 1})
    seen.stacks[0].frames

py-spy is optional (`trio-debugmcp[hang]`). It reads the program's memory and does not stop it.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import trio

from trio_debugmcp.patience import Patience
from trio_debugmcp.probe.answers import ProbeFrame, ProbeStack, ProbeStacks, ProbeThreadPlace

DUMP_SECONDS = 3.0
"""For py-spy, which takes a tenth of a second; then it is killed."""

_MOST_REASON = 300

_DEBUGGERS_OWN = "pydevd_daemon_thread.py"
"""The file in which every thread of pydevd's own begins."""

_LIBRARY = re.compile(r"<frozen|.*/(site-packages|dist-packages|lib/python3\.\d+)/")


class CannotLook(Exception):
    """py-spy is not there, or was not allowed to look."""


class _Frame(msgspec.Struct, frozen=True):
    name: str
    filename: str
    line: int = 0


class _OutsideThread(msgspec.Struct, frozen=True):
    os_thread_id: int | None = None
    thread_id: int = 0
    thread_name: str | None = None
    active: bool = False
    owns_gil: bool = False
    frames: tuple[_Frame, ...] = ()


class Outside(msgspec.Struct, frozen=True):
    """The stacks of a program's threads, and the thread that keeps the GIL if one does."""

    stacks: ProbeStacks
    keeper: ProbeStack | None


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
        raise CannotLook("with `pip install 'trio-debugmcp[hang]'` (py-spy) its threads are shown all the same")
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


def stacks_of(dumped: bytes, ids: Mapping[str, int]) -> Outside:
    """Read what `dump` returned; `ids` are those of DAP, of the threads that are known by name.

    Raises:
        CannotLook: it is not what py-spy writes.
    """
    try:
        threads = msgspec.json.decode(dumped, type=tuple[_OutsideThread, ...])
    except (msgspec.DecodeError, RecursionError) as error:
        raise CannotLook(f"what py-spy wrote cannot be read: {error}") from None
    found = [
        (_stack(each, frames, ids), each.owns_gil) for each in threads if (frames := _frames(each.frames)) is not None
    ]
    return Outside(
        ProbeStacks(tuple(stack for stack, _ in found), len(found)),
        next((stack for stack, keeps in found if keeps), None),
    )


def _stack(thread: _OutsideThread, frames: tuple[ProbeFrame, ...], ids: Mapping[str, int]) -> ProbeStack:
    name = thread.thread_name or ""
    top = frames[0]
    own = next((each for each in frames if not each.library), None)
    at = ProbeThreadPlace(top.file, top.line, top.function, library=top.library, from_=own if top.library else None)
    return ProbeStack(
        id=ids.get(name) or thread.os_thread_id or thread.thread_id,
        name=name,
        state="running" if thread.owns_gil or thread.active else "waiting",
        at=at,
        frames=frames,
        total=len(frames),
    )


def _frames(found: tuple[_Frame, ...]) -> tuple[ProbeFrame, ...] | None:
    """Return the frames of the program, the innermost first; None for a thread of the debugger's own."""
    if any(each.filename.endswith(_DEBUGGERS_OWN) for each in found):
        return None
    own = list(found)
    while own and _is_debugger(own[0]):  # at a line of the program the debugger's trace function is on top
        del own[0]
    end = next((index for index, each in enumerate(own) if _is_debugger(each)), len(own))
    return (
        tuple(
            ProbeFrame(each.filename, each.line, each.name, library=_is_library(each.filename), index=index)
            for index, each in enumerate(own[:end])
        )
        or None
    )


def _is_debugger(frame: _Frame) -> bool:
    return "debugpy" in Path(frame.filename).parts or frame.filename.startswith("_pydev")


def _is_library(file: str) -> bool:
    return _LIBRARY.match(file) is not None
