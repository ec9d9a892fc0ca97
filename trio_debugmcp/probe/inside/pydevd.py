"""What pydevd knows: which threads are its own, which are stopped, their ids for DAP, and their frames in its order.

Each name of pydevd is looked up with care. Where one is missing, and in a process without pydevd, the interpreter's own
view is given instead: thread ids are then those of the operating system, and no thread is stopped.
"""

import os
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from trio_debugmcp.probe.inside import bounds

_LIBRARIES = ("site-packages", "dist-packages")


class Visible:
    """A frame as `stackTrace` would show it.

    Attributes:
        original: the file as the program knows it, where paths are mapped.
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
        stopped: pydevd's list of its frames if it is stopped, else None.
    """

    __slots__ = ("daemon", "id", "ident", "name", "stopped", "top")

    def __init__(self, id_: int, ident: int, name: str, top: Any, stopped: Any, daemon: bool) -> None:
        self.id = id_
        self.ident = ident
        self.name = name
        self.top = top
        self.stopped = stopped
        self.daemon = daemon


def _schema() -> Any:
    module: Any = sys.modules.get("_pydevd_bundle._debug_adapter.pydevd_base_schema")
    return getattr(module, "BaseSchema", None)


def dap_id(of: Any) -> Optional[int]:
    """Return the id by which DAP knows a thread or a frame of pydevd's."""
    translate = getattr(_schema(), "_translate_id_to_dap", None)
    return translate(of) if translate is not None else None


def _thread_key(thread: Any) -> Any:
    """Return pydevd's id of a thread. As in pydevd's answer to `threads`, it gets one if it has none."""
    constants: Any = sys.modules.get("_pydevd_bundle.pydevd_constants")
    get = getattr(constants, "get_thread_id", None)
    return get(thread) if get is not None and bounds.debugger() is not None else None


def threads() -> List[ProgramThread]:
    """The threads of the program, oldest first; pydevd's own are left out."""
    # `threading.enumerate` takes a lock, which a thread that was stopped at a bad moment may hold.
    known = dict(threading._active)  # type: ignore[attr-defined]
    found = []
    manager = getattr(bounds.debugger(), "suspended_frames_manager", None)
    tops = _tops()
    for ident, thread in known.items():
        top = tops.pop(ident, None)
        if top is None or _internal(thread):
            continue
        key = _thread_key(thread)
        stopped = manager.get_frames_list(key) if manager is not None and key is not None else None
        found.append(
            ProgramThread(dap_id(key) or ident, ident, str(thread._name), top, stopped, bool(thread._daemonic))
        )
    found.extend(
        ProgramThread(ident, ident, f"thread {ident}", top, None, False)  # made by C code, or by `_thread`
        for ident, top in tops.items()
        if ident not in known and not _is_pydevd(_bottom(top))
    )
    return found


def _tops() -> Dict[int, Any]:
    """The innermost frame of each thread; of this one the innermost that is not of these modules.

    A frame that is kept in one of its own variables would live on, with all that it has, until the next collection.
    """
    tops = dict(sys._current_frames())
    mine = tops.pop(threading.get_ident(), None)
    while mine is not None and is_own(mine):
        mine = mine.f_back
    if mine is not None:
        tops[threading.get_ident()] = mine
    return tops


def _internal(thread: Any) -> bool:
    return bool(getattr(thread, "is_pydev_daemon_thread", False) or getattr(thread, "pydev_do_not_trace", False))


def _bottom(frame: Any) -> Any:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


def _is_pydevd(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(("_pydev", "pydevd", "debugpy"))


def find(thread_id: Optional[int]) -> Optional[ProgramThread]:
    """Return the thread with that id; without an id the one that is stopped, or the main thread."""
    found = threads()
    if thread_id is not None:
        return next((thread for thread in found if thread.id == thread_id), None)
    stopped = [thread for thread in found if thread.stopped is not None]
    main = [thread for thread in found if thread.ident == threading.main_thread().ident]
    return next(iter(stopped + main + found), None)


# --- Frames -----------------------------------------------------------------------------------------------------------


def visible_frames(thread: ProgramThread, top: Any = None) -> Iterator[Visible]:
    """Yield the frames of a thread as `stackTrace` numbers them: top first, without pydevd's and the probe's own."""
    debugger = bounds.debugger()
    walk = getattr(getattr(debugger, "cmd_factory", None), "_iter_visible_frames_info", None)
    frames = thread.stopped
    if walk is not None and frames is None:
        utils: Any = sys.modules.get("_pydevd_bundle.pydevd_frame_utils")
        make = getattr(utils, "create_frames_list_from_frame", None)
        frames = make(thread.top) if make is not None else None
    if walk is None or frames is None:
        yield from _plain_frames(thread.top)
        return
    filtered = debugger.is_files_filter_enabled
    for _, frame, name, original, file, line, mapped, current, _ in walk(debugger, frames, flatten_chained=True):
        if is_probe(frame):
            continue
        # As in make_get_thread_stack_message: frames of templates (plugins) are never filtered.
        plugin = getattr(frame, "IS_PLUGIN_FRAME", False)
        if not plugin and filtered and debugger.apply_files_filter(frame, original, False):
            continue
        library = not plugin and not debugger.in_project_scope(frame)
        shown = f"{name} (Current frame)" if current else name
        yield Visible(frame, file, line or 0, shown, library, original, bool(mapped))


def left_frames(thread: ProgramThread) -> List[Any]:
    """The frames above the one where a thread is stopped: a stop where a function has returned to is inside its return.

    Not those of an evaluation, which pydevd's are below.
    """
    if thread.stopped is None:
        return []
    stop = next(iter(thread.stopped), None)
    found: List[Any] = []
    frame = thread.top
    while frame is not None and frame is not stop:
        found = [] if is_own(frame) else [*found, frame]
        frame = frame.f_back
    return found if frame is not None else []


def _plain_frames(frame: Any) -> Iterator[Visible]:
    while frame is not None:
        code = frame.f_code
        if not is_own(frame):
            yield Visible(frame, code.co_filename, frame.f_lineno or 0, code.co_name, is_library(code.co_filename))
        frame = frame.f_back


def is_own(frame: Any) -> bool:
    """Whether a frame is pydevd's or the probe's."""
    return _is_pydevd(frame) or is_probe(frame)


def is_probe(frame: Any) -> bool:
    """Whether a frame is one of these modules' own."""
    return str(frame.f_globals.get("__name__", "")).startswith("trio_debugmcp.probe.inside")


_library_files: Dict[str, bool] = {}


def is_library(file: str) -> bool:
    """Whether a file is the standard library's or an installed package's."""
    known = _library_files.get(file)
    if known is None:
        threading_file = threading.__file__ or ""
        standard = threading_file[: -len("threading.py")]
        known = file.startswith(("<frozen", standard)) or any(each in file for each in _LIBRARIES)
        _library_files[file] = known
    return known


def frame_is_library(frame: Any) -> bool:
    """Whether a frame runs library code, in pydevd's opinion where there is one."""
    debugger = bounds.debugger()
    if debugger is None:
        return is_library(frame.f_code.co_filename)
    return not debugger.in_project_scope(frame)


def returned(frame: Any, first: bool, ident: int = 0) -> List[Tuple[str, Any, str]]:
    """What functions returned to a frame in the last step, with paths, if pydevd was asked to keep that.

    pydevd keeps the results of all steps in one dictionary. The `first` question at a stop moves those that are new to
    the key "", where they stay until the next stop. Of a call that has raised it keeps None, which is left out: the
    exception is handled by the thread with this `ident`.
    """
    found = frame.f_locals.get(RETURN_VALUES)
    if type(found) is not dict:
        return []
    if first:
        raised = _raised(ident, frame)
        fresh = {name: value for name, value in found.items() if name != "" and not (value is None and raised(name))}
        found.clear()
        found[""] = fresh
    kept = found.get("", {})
    return [(name, value, f"{RETURN_VALUES}[''][{name!r}]") for name, value in kept.items()]


def _raised(ident: int, frame: Any) -> Callable[[str], bool]:
    """Return what says whether a function of that name has raised what a thread is handling in a frame."""
    current = getattr(sys, "_current_exceptions", None)
    if current is None:  # before Python 3.10: it is not known which did not return None
        return lambda _: True
    error = current().get(ident)
    error = error[1] if type(error) is tuple else error  # before Python 3.12
    names: Set[str] = set()
    for _ in range(_MOST_HANDLED):
        if error is None:
            break
        step = _TRACEBACK(error)
        while step is not None and step.tb_frame is not frame:
            step = step.tb_next
        if step is not None and step.tb_next is not None:
            names.add(step.tb_next.tb_frame.f_code.co_name)
        error = _CONTEXT(error)
    return lambda name: name.rpartition(".")[2] in names


_TRACEBACK: Any = BaseException.__dict__["__traceback__"].__get__
_CONTEXT: Any = BaseException.__dict__["__context__"].__get__
"""Of the base class: a class of the program may have its own."""

_MOST_HANDLED = 10
"""Exceptions that are handled at a time, each in the handling of the one before."""

RETURN_VALUES = "__pydevd_ret_val_dict"
EXCEPTION = "__exception__"


# --- What `stackTrace` does besides -----------------------------------------------------------------------------------


def announce_module(seen: Visible) -> None:
    """Have pydevd send a `module` event for the module of a frame, once, as it does when the stack is asked for."""
    debugger = bounds.debugger()
    track = getattr(getattr(getattr(debugger, "cmd_factory", None), "modules_manager", None), "track_module", None)
    if track is not None:
        name = str(seen.frame.f_globals.get("__name__", ""))
        for event in track(seen.file, name, seen.frame):
            debugger.writer.add_command(event)


def source_reference(seen: Visible) -> int:
    """Return the number by which pydevd has the source of a frame whose file does not exist, else 0."""
    files: Any = sys.modules.get("pydevd_file_utils")
    if files is None or bounds.debugger() is None:
        return 0
    known = int(files.get_client_filename_source_reference(seen.file))
    if known or seen.mapped or os.path.exists(seen.original):
        return known
    code = seen.frame.f_code
    if getattr(code, "co_lines", None) or getattr(code, "co_lnotab", None):
        return int(files.create_source_reference_for_frame_id(id(seen.frame), seen.original))
    return 0


def keep_output() -> None:
    """Undo that pydevd redirects the program's output while it evaluates in the context `repl`."""
    streams: Any = sys.modules.get("_pydevd_bundle.pydevd_io")
    stop = getattr(streams, "stop_redirect_stream_to_pydb_io_messages", None)
    if stop is not None and not getattr(bounds.debugger(), "is_output_redirected", True):
        stop("stdout")
        stop("stderr")
