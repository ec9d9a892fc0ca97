"""The seam between the probe and the debugger in the program: `ProgramDebugger` is all that the probe asks of it.

A debugger is a subclass that knows more and can do more; what stands here is true without one. `attached.attach` makes
it the one that is asked:

    class Engine(ProgramDebugger):
        own_modules = (PROBE, "trio_debugmcp.engine")

        def threads(self) -> List[ProgramThread]: ...

    attached.attach(Engine())

Long because each question of the probe stands here, with what is true without a debugger.

The methods are called in any thread, at any time: while the program runs, is stopped, or waits. None of them waits for
the program, runs code of it, or raises, unless its docstring says so. Frames are those of the interpreter
(`types.FrameType`), threads are known by their identifiers (`threading.get_ident`).

| the probe asks | who asks |
| --- | --- |
| `threads`, `frames`, `frame_id`, `stop_frame` | every question |
| `visible` | the frames of tasks |
| `exception`, `returned` | what is shown of a stop |
| `is_library` | what counts as the user's code |
| `begin_answer`, `announce`, `source_reference` | what a client would otherwise have asked the debugger for |
| `evaluated_frame`, `judged_frame` | expressions of ours that the debugger evaluates in a frame of the program |
| `lend_threads` | evaluations at a stop |
| `start_thread`, `call_after` | evaluations while the program runs; the bounds of an answer |
| `answer_without` | the bounds of an answer, when code of the program waits in C |
| `stop_in`, `take_back_pause`, `set_trace` | the trace of a function's calls |
| `record_peer`, `send_whole`, `tell_at_stops` | the connection over which hits are recorded |
"""

import _thread
import sys
from typing import Any, Callable, Dict, FrozenSet, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside import imported, whole_sends
from trio_debugmcp.probe.inside.debugger import frame_lines, named_files, template_frames, timed_calls

PROBE = "trio_debugmcp.probe.inside"

RECORD_BYTES = "hitRecordBytes"
"""The key in the body of a `stopped` event; the same as in dap/records.py. Two connections may arrive in any order."""

_LIBRARIES = ("site-packages", "dist-packages")


class VisibleFrame:
    """A frame as `stackTrace` would show it.

    Attributes:
        frame: of the interpreter.
        file: the path as the client knows it.
        line: the current one; 0 if there is none.
        name: of the function, with what the debugger adds to it.
        library: it is not of the user's code.
        original: the path as the program knows it, where paths are mapped.
        mapped: they are, for this file.
    """

    __slots__ = ("file", "frame", "library", "line", "mapped", "name", "original")

    def __init__(
        self, frame: Any, file: str, line: int, name: str, library: bool, original: str = "", mapped: bool = False
    ) -> None:
        self.frame = frame
        self.file = file
        self.line = line
        self.name = name
        self.library = library
        self.original = original
        self.mapped = mapped


class ProgramThread:
    """A thread of the program.

    Attributes:
        id: by which DAP knows it.
        ident: by which the interpreter knows it.
        name: for readers.
        top: its innermost frame; of the thread that asks, the innermost that is not the probe's or the debugger's.
        stopped: what the debugger has of its stop, of any type, or None if it runs. The debugger alone looks into it.
        daemon: the program does not wait for its end.
    """

    __slots__ = ("daemon", "id", "ident", "name", "stopped", "top")

    def __init__(self, id_: int, ident: int, name: str, top: Any, stopped: Any, daemon: bool) -> None:
        self.id = id_
        self.ident = ident
        self.name = name
        self.top = top
        self.stopped = stopped
        self.daemon = daemon


class RecordPeer:
    """Where hits are recorded to: the debugger's address and token, and the pin of its certificate if it has one."""

    __slots__ = ("address", "family", "pin", "token")

    def __init__(self, family: int, address: Any, token: str, pin: str = "") -> None:
        self.pin = pin
        self.family = family
        self.address = address
        self.token = token


class RefusedError(Exception):
    """There is no connection for records, and why."""


class ProgramView:
    """What the debugger knows of the program. As it stands: what the interpreter knows, to whom nothing is stopped.

    Attributes:
        own_modules: how the names of the modules begin that are not the program's.
        hidden_names: what the debugger puts among the local variables of frames.
    """

    own_modules: Tuple[str, ...] = (PROBE,)
    hidden_names: FrozenSet[str] = frozenset()

    # --- Threads and frames -------------------------------------------------------------------------------------------

    def threads(self) -> List[ProgramThread]:
        """Return the threads of the program, oldest first, without the debugger's own and the probe's."""
        known, tops = known_threads(), self._tops()
        found = []
        for ident, thread in known.items():
            top = tops.pop(ident, None)
            if top is not None and not self.owns_thread(thread):
                found.append(self.program_thread(ident, thread, top))
        found += [
            ProgramThread(ident, ident, f"thread {ident}", top, None, False)  # made by C code, or by `_thread`
            for ident, top in tops.items()
            if ident not in known and not self.owns(_bottom(top))
        ]
        return found

    def program_thread(self, ident: int, thread: Any, top: Any) -> ProgramThread:
        """Return what is known of a thread of `threading`."""
        return ProgramThread(ident, ident, str(thread._name), top, None, bool(thread._daemonic))

    def owns_thread(self, thread: Any) -> bool:
        """Whether a thread of `threading` is the debugger's own."""
        return False

    def owns(self, frame: Any) -> bool:
        """Whether a frame is the debugger's or the probe's."""
        return module_of(frame).startswith(self.own_modules)

    def _tops(self) -> Dict[int, Any]:
        """Return the innermost frame of each thread; of this one the innermost that is not of these modules.

        A frame that is kept in one of its own variables would live on, with all that it has, until the next collection.
        """
        tops = dict(sys._current_frames())
        mine = tops.pop(_thread.get_ident(), None)
        while mine is not None and self.owns(mine):
            mine = mine.f_back
        if mine is not None:
            tops[_thread.get_ident()] = mine
        return tops

    def frames(self, thread: ProgramThread) -> Iterator[VisibleFrame]:
        """Yield the frames of a thread as `stackTrace` numbers them: top first, without `own_modules`."""
        frame = thread.top
        while frame is not None:
            code = frame.f_code
            if not self.owns(frame):
                file, line = named_files.place_of(frame, code.co_filename, frame_lines.line_of(frame))
                yield VisibleFrame(frame, file, line, code.co_name, is_library(file))
            frame = frame.f_back

    def visible(self, frame: Any) -> VisibleFrame:
        """Return a frame that need not be on a thread's stack, as that of a suspended task, as answers show it."""
        code = frame.f_code
        file, line = named_files.place_of(frame, code.co_filename, frame_lines.line_of(frame))
        return VisibleFrame(frame, file, line or code.co_firstlineno, code.co_name, self.is_library(frame))

    def frame_id(self, frame: Any) -> Optional[int]:
        """Return the id by which DAP knows a frame of a stopped thread, as long as it is stopped; else None."""
        return None

    def is_library(self, frame: Any) -> bool:
        """Whether a frame runs code that is not the user's."""
        return is_library(frame.f_code.co_filename)

    # --- Stops --------------------------------------------------------------------------------------------------------

    def stop_frame(self, thread: ProgramThread) -> Any:
        """Return the frame in which a thread is stopped, or None if it runs.

        It need not be the innermost one: a stop where a function has returned to is inside of its return.
        """
        return None

    def exception(self, thread: ProgramThread) -> Tuple[Any, Any]:
        """Return the exception at which a thread is stopped and its traceback, or None twice."""
        return None, None

    def handled(self, thread: ProgramThread) -> Any:
        """Return the exception that a stopped thread is handling, in any of its frames, or None if it is not known."""
        return None

    def returned(self, frame: Any, ident: int, first: bool) -> List[Tuple[str, Any, str]]:
        """Return what functions returned to a frame of this thread in the last step, if that is kept.

        Each is the name of the function, the value, and an expression that leads to it in the frame, or an empty text.
        The `first` question at a stop is the one after which nothing older is returned any more.
        """
        return []

    # --- Expressions of ours that the debugger evaluates --------------------------------------------------------------

    def evaluated_frame(self, caller: Any) -> Any:
        """Return the frame of the program in which the debugger evaluates code, or None if it is not known.

        Args:
            caller: the frame of the code, whose globals are names that the debugger has made of those of the frame.
        """
        return None

    def judged_frame(self, caller: Any) -> Any:
        """Return the frame of the program for which the debugger judges a condition; `caller` is that of its code."""
        return caller


class DebuggerServices:
    """What the debugger does for the probe. As it stands: what can be done without one."""

    def begin_answer(self) -> None:
        """Undo what the debugger does around an evaluation that is a question of ours."""

    def announce(self, frame: VisibleFrame) -> None:
        """Have the debugger say which module a frame is of, as it does when it is asked for the stack."""

    def source_reference(self, frame: VisibleFrame) -> int:
        """Return the number by which the debugger has the source of a frame whose file does not exist, else 0."""
        return 0

    def start_thread(self, function: Callable[[], None]) -> None:
        """Run a function in a thread that is not traced, not listed, and does not keep the program alive."""
        _thread.start_new_thread(function, ())

    def call_after(self, seconds: float, function: Callable[[], None]) -> Callable[[], None]:
        """Call a function in another thread after that time; return what takes that back."""
        return timed_calls.call_after(seconds, function, self.start_thread)

    def lend_threads(self) -> Any:
        """Have the threads that are held run as long as this one evaluates, if it takes long, or return None.

        What is returned has `end()`, for any thread to call, which has them held again; `has_begun` says whether they
        have run. Our engine does so around all that it evaluates, and needs no word from here.
        """
        return None

    def stop_in(self, frame: Any, value: Any, returning: Any) -> None:
        """Stop this thread in one of its frames, as after a step out, and wait; a frame is `returning` a value."""

    def answer_without(self, ident: int) -> None:
        """Have another thread answer questions, if it was this one: it does not come back from code of the program."""

    def take_back_pause(self) -> bool:
        """Have threads run on that were to stop at their next line; return whether none has stopped already."""
        return False

    def set_trace(self, function: Any) -> None:
        """Call `sys.settrace`, which the debugger may have put a warning in front of."""
        sys.settrace(function)

    def record_peer(self) -> RecordPeer:
        """Return where to connect to for records.

        Raises:
            RefusedError: the debugger is not connected.
        """
        raise RefusedError("there is no debugger")

    def send_whole(self, made: Any, cipher: Any, data: bytes, flags: int, raised: List[BaseException]) -> None:
        """Send data over a socket, sealed by its cipher if it has one, each byte once: whatever signal handlers raise.

        What they raise is added to a list.

        Raises:
            OSError: the connection is broken.
        """
        whole_sends.send_whole(made, data if cipher is None else cipher.sealed(data), flags, raised)

    def tell_at_stops(self, written: Callable[[], int]) -> None:
        """Say in each `stopped` event, as `RECORD_BYTES`, how many bytes of records were written before it, if any."""


class ProgramDebugger(ProgramView, DebuggerServices):
    """All that the probe asks of the debugger."""

    def turned_away(self) -> List[int]:
        """Return the threads that came to a breakpoint while an evaluation lasts, at whose end they may stop there."""
        return []


# --- What the interpreter knows ---------------------------------------------------------------------------------------


def known_threads() -> Dict[int, Any]:
    """Return the threads of `threading` by their identifiers, oldest first."""
    threading = imported.now("threading")
    # `threading.enumerate` takes a lock, which a thread that was stopped at a bad moment may hold.
    return {} if threading is None else dict(threading._active)


def module_of(frame: Any) -> str:
    """Return the name of a frame's module."""
    return str(frame.f_globals.get("__name__", ""))


def is_probe(frame: Any) -> bool:
    """Whether a frame is one of these modules' own."""
    return module_of(frame).startswith(PROBE)


def _bottom(frame: Any) -> Any:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


_library_files: Dict[str, bool] = {}


def is_library(file: str) -> bool:
    """Whether a file is the standard library's or an installed package's."""
    known = _library_files.get(file)
    if known is None:
        import os  # not before: of a program that never stops it is not needed

        standard = (os.__file__ or "")[: -len("os.py")]
        known = file.startswith(("<frozen", standard)) or any(each in file for each in _LIBRARIES)
        _library_files[file] = known
    return known


def is_generated(frame: Any) -> bool:
    """Whether a frame runs code without a file that is the program's: of `exec`, of a template, of a class decorator.

    What a library has executed in a module of its own is that library's.
    """
    name = frame.f_code.co_filename
    if name[:1] != "<" or name[-1:] != ">" or name[:7] == "<frozen" or name == "<runner>":
        return False
    names = frame.f_globals
    file = names.get("__file__") if type(names) is dict else None
    return type(file) is not str or file[:1] == "<" or not is_library(file)


def shown_place(frame: Any, file: str) -> Tuple[str, int]:
    """Return the file and the line of a frame: of a template its own, not those of the code that was made of it."""
    line = frame_lines.line_of(frame)
    return template_frames.place_of(frame, line) or (file, line)
