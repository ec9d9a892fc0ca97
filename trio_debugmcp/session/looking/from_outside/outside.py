"""What py-spy has written about a program, as stacks, and the thread that keeps the GIL. Pure.

    seen = stacks_of(await host.look_into(pid, patience), {"MainThread": 1})
    seen.stacks[0].frames

Frames of the debugger's own are left out.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from trio_debugmcp.session.looking.by_probe.live_threads import LiveStack, LiveState, LiveThread
from trio_debugmcp.session.looking.from_outside.process_sample import ProcessSample, is_starved
from trio_debugmcp.session.looking.from_outside.py_spy import CannotLook
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import Location, name_of

_DEBUGGERS_OWN = "pydevd_daemon_thread.py"
"""The file in which every thread of pydevd's own begins."""

_OF_ENGINE = "<trio_debugmcp"
"""How the names of the files of our engine begin, and of the probe in it. Every thread of theirs begins in one."""

_SUSPENDED = ("do_wait_suspend", "HeldThreads._serve")
"""The functions, as their names end, in which pydevd and our engine hold a thread that has stopped."""

_MAIN = "MainThread"
"""As `threading` calls it, which a program need not have imported; then py-spy knows no names."""

_MAY_WAIT = "the GIL or a call into C code"
"""What a thread waits for that uses no processor: py-spy does not tell these apart."""

KEPT_SECONDS = 0.05
"""Of processor time, in which a thread that runs Python code would have handed over the GIL ten times."""

_LIBRARY = re.compile(r"<frozen|.*/(site-packages|dist-packages|lib/python3\.\d+)/")


class _Frame(msgspec.Struct, frozen=True):
    name: str
    filename: str
    line: int = 0


class _OutsideThread(msgspec.Struct, frozen=True):
    pid: int = 0
    os_thread_id: int | None = None
    thread_id: int = 0
    thread_name: str | None = None
    active: bool = False
    owns_gil: bool = False
    frames: tuple[_Frame, ...] = ()


class Outside(msgspec.Struct, frozen=True):
    """The stacks of a program's threads, and that of the thread that has the GIL at this moment if one does.

    `sample`: of the process at that moment, if it could be looked at.
    """

    stacks: tuple[LiveStack, ...]
    holder: LiveStack | None
    sample: ProcessSample | None = None


def keeper_of(before: Outside, now: Outside) -> LiveStack | None:
    """Return the thread that keeps the GIL from one look to the next, and is where it was.

    None as well if the process has had hardly a turn in between, as on a busy machine.
    """
    if now.holder is None or now.holder != before.holder:
        return None
    if before.sample is None or now.sample is None or not is_starved(before.sample, now.sample):
        return now.holder
    return now.holder if now.sample.ran - before.sample.ran >= KEPT_SECONDS else None


def stacks_of(dumped: bytes, ids: Mapping[str, int]) -> Outside:
    """Read what py-spy wrote; `ids` are those of DAP, of the threads that are known by name.

    Raises:
        CannotLook: it is not what py-spy writes.
    """
    try:
        threads = msgspec.json.decode(dumped, type=tuple[_OutsideThread, ...])
    except (msgspec.DecodeError, RecursionError) as error:
        raise CannotLook(f"what py-spy wrote cannot be read: {error}") from None
    found = [(_stack(thread, frames, ids), thread.owns_gil) for thread in threads if (frames := _frames(thread))]
    return Outside(tuple(stack for stack, _ in found), next((stack for stack, keeps in found if keeps), None))


def _stack(thread: _OutsideThread, frames: tuple[StackFrame, ...], ids: Mapping[str, int]) -> LiveStack:
    name = thread.thread_name or (_MAIN if thread.pid == thread.os_thread_id else "")
    own = next((frame for frame in frames if frame.is_user_code), frames[0])
    state: LiveState = "running" if thread.owns_gil or thread.active else "waiting"
    if _held(thread.frames):
        state = "stopped"
    waits = _MAY_WAIT if state == "waiting" else None
    number = ids.get(name) or thread.os_thread_id or thread.thread_id
    live = LiveThread(number, name_of(name), state, own.location, waits)
    return LiveStack(live, frames, len(frames))


def _held(frames: tuple[_Frame, ...]) -> int:
    """Return how many frames on top are of the debugger's, which holds the thread at a stop; 0 if it does not."""
    held = next((i for i, frame in enumerate(frames) if frame.name.endswith(_SUSPENDED) and _is_debugger(frame)), -1)
    # An evaluation at a stop may run the program's code.
    if not all(_is_debugger(frame) or _is_library(frame.filename) for frame in frames[: held + 1]):
        return 0
    return held + 1


def _frames(thread: _OutsideThread) -> tuple[StackFrame, ...]:
    """Return the frames of the program, the innermost first; none of a thread of the debugger's own."""
    if any(frame.filename.endswith(_DEBUGGERS_OWN) for frame in thread.frames) or _is_of_engine(thread.frames[-1:]):
        return ()
    frames = list(thread.frames[_held(thread.frames) :])
    while frames and _is_debugger(frames[0]):  # at a line of the program the debugger's trace function is on top
        del frames[0]
    end = next((index for index, frame in enumerate(frames) if _is_debugger(frame)), len(frames))
    return tuple(
        StackFrame(
            0, frame.name, Location(frame.filename, frame.line, None, frame.name, None), not _is_library(frame.filename)
        )
        for frame in frames[:end]
    )


def _is_debugger(frame: _Frame) -> bool:
    return "debugpy" in Path(frame.filename).parts or frame.filename.startswith(("_pydev", _OF_ENGINE))


def _is_of_engine(frames: tuple[_Frame, ...]) -> bool:
    return any(frame.filename.startswith(_OF_ENGINE) for frame in frames)


def _is_library(file: str) -> bool:
    return _LIBRARY.match(file) is not None
