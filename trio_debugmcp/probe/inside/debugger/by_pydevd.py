"""pydevd behind the seam: what it knows of threads, stops and frames, and what it does for the probe.

Each name of pydevd is looked up with care. Where one is missing, and in a process that pydevd has left, the
interpreter's own view is given instead.
"""

import os
import sys
from typing import Any, Callable, Iterator, List, Optional, Set, Tuple

from trio_debugmcp.probe.inside import imported
from trio_debugmcp.probe.inside.debugger import frame_places, green_threads, pydevd_parts
from trio_debugmcp.probe.inside.debugger.pydevd_loans import PydevdLoan
from trio_debugmcp.probe.inside.debugger.pydevd_parts import part
from trio_debugmcp.probe.inside.debugger.seam import (
    PROBE,
    RECORD_BYTES,
    DebuggerServices,
    ProgramDebugger,
    ProgramThread,
    ProgramView,
    RecordPeer,
    RefusedError,
    VisibleFrame,
    is_generated,
    is_probe,
)

RETURN_VALUES = "__pydevd_ret_val_dict"
EXCEPTION = "__exception__"

YIELDED = "(yield) "
"""Before the name of a generator, where the value is one that it has yielded; as our engine has it."""

_YIELD_VALUE = 86
"""The instruction, on CPython 3.8 to 3.11."""

_STEP_RETURN = 109
"""pydevd's number of a step out of a function."""

_MOST_CALLS = 12
"""Between the evaluated code and the function of pydevd that has put the names together; there are five."""

_MOST_HANDLED = 10
"""Exceptions that are handled at a time, each in the handling of the one before."""


def _is_excluded(pydevd: Any, file: str) -> bool:
    """Whether a rule of the launch says that a file is not the program's: that of the runner of tests."""
    judge = getattr(getattr(pydevd, "_files_filtering", None), "exclude_by_filter", None)
    return judge is not None and judge(file, "") is True


def _dap_id(of: Any) -> Optional[int]:
    """Return the id by which DAP knows a thread or a frame of pydevd's."""
    schema = part("_pydevd_bundle._debug_adapter.pydevd_base_schema", "BaseSchema")
    translate = getattr(schema, "_translate_id_to_dap", None)
    return translate(of) if translate is not None else None


class PydevdView(ProgramView):
    """What pydevd knows. What it has of a stop is its list of frames."""

    own_modules = (PROBE, "_pydev", "pydevd", "pydev_", "pydevconsole", "debugpy")
    hidden_names = frozenset((RETURN_VALUES, EXCEPTION))

    # --- Threads and frames -------------------------------------------------------------------------------------------

    def threads(self) -> List[ProgramThread]:
        found = super().threads()
        return found if "gevent" not in sys.modules else green_threads.named(self, found)

    def program_thread(self, ident: int, thread: Any, top: Any) -> ProgramThread:
        found = super().program_thread(ident, thread, top)
        pydevd, get_id = pydevd_parts.pydevd(), part("_pydevd_bundle.pydevd_constants", "get_thread_id")
        if pydevd is None or get_id is None:
            return found
        key = get_id(thread)  # as in pydevd's answer to `threads`, it gets one if it has none
        found.id = _dap_id(key) or ident
        manager = getattr(pydevd, "suspended_frames_manager", None)
        found.stopped = manager.get_frames_list(key) if manager is not None else None
        return found

    def owns_thread(self, thread: Any) -> bool:
        return bool(getattr(thread, "is_pydev_daemon_thread", False) or getattr(thread, "pydev_do_not_trace", False))

    def frames(self, thread: ProgramThread) -> Iterator[VisibleFrame]:
        pydevd = pydevd_parts.pydevd()
        walk = getattr(getattr(pydevd, "cmd_factory", None), "_iter_visible_frames_info", None)
        frames = thread.stopped
        if walk is not None and frames is None:
            make = part("_pydevd_bundle.pydevd_frame_utils", "create_frames_list_from_frame")
            frames = make(thread.top) if make is not None else None
        if walk is None or frames is None:
            yield from super().frames(thread)
            return
        filtered = pydevd.is_files_filter_enabled
        for _, frame, name, original, file, line, mapped, current, _ in walk(pydevd, frames, flatten_chained=True):
            if is_probe(frame):
                continue
            # As in make_get_thread_stack_message: frames of templates (plugins) are never filtered.
            plugin = getattr(frame, "IS_PLUGIN_FRAME", False)
            generated = not plugin and is_generated(frame) and not _is_excluded(pydevd, original)
            if not plugin and not generated and filtered and pydevd.apply_files_filter(frame, original, False):
                continue
            library = not plugin and not generated and not pydevd.in_project_scope(frame)
            shown = f"{name} (Current frame)" if current else name
            yield VisibleFrame(frame, file, line or 0, shown, library, original, bool(mapped))

    def frame_id(self, frame: Any) -> Optional[int]:
        return _dap_id(id(frame))

    def is_library(self, frame: Any) -> bool:
        pydevd = pydevd_parts.pydevd()
        if pydevd is None or (is_generated(frame) and not _is_excluded(pydevd, frame.f_code.co_filename)):
            return super().is_library(frame)
        return not pydevd.in_project_scope(frame)

    # --- Stops --------------------------------------------------------------------------------------------------------

    def stop_frame(self, thread: ProgramThread) -> Any:
        return None if thread.stopped is None else next(iter(thread.stopped), None)

    def exception(self, thread: ProgramThread) -> Tuple[Any, Any]:
        value, trace = getattr(thread.stopped, "exc_desc", None), getattr(thread.stopped, "trace_obj", None)
        if not issubclass(type(value), BaseException):
            top = next(self.frames(thread), None)
            known = top.frame.f_locals.get(EXCEPTION) if top is not None else None
            value, trace = known[1:] if type(known) is tuple and len(known) == 3 else (None, None)
        return (value, trace) if issubclass(type(value), BaseException) else (None, None)

    def returned(self, frame: Any, ident: int, first: bool) -> List[Tuple[str, Any, str]]:
        """Return what is in the dictionary in which pydevd keeps the results of all steps.

        The `first` question at a stop moves those that are new to the key "", where they stay until the next stop. Of
        a call that has raised pydevd keeps None, which is left out: the exception is handled by this thread.
        """
        found = frame.f_locals.get(RETURN_VALUES)
        if type(found) is not dict:
            return []
        if first:
            raised = _raised(ident, frame)
            fresh = {name: each for name, each in found.items() if name != "" and not (each is None and raised(name))}
            found.clear()
            found[""] = fresh
        kept = found.get("", {})
        yields = _yielding(ident, frame)
        return [
            (f"{YIELDED}{name}" if name in yields else name, value, f"{RETURN_VALUES}[''][{name!r}]")
            for name, value in kept.items()
        ]

    # --- Expressions of ours that pydevd evaluates --------------------------------------------------------------------

    def evaluated_frame(self, caller: Any) -> Any:
        above = caller.f_back
        for _ in range(_MOST_CALLS):
            if above is None:
                return None
            if above.f_code.co_name == "evaluate_expression" and "initial_globals" in above.f_code.co_varnames:
                frame = above.f_locals.get("frame")
                return frame if type(frame) is type(sys._getframe()) else None  # another one is of a template
            above = above.f_back
        return None

    def judged_frame(self, caller: Any) -> Any:
        """Return the first frame below pydevd's own."""
        frame = caller
        while frame is not None and not (self.owns(frame) and not is_probe(frame)):
            frame = frame.f_back
        while frame is not None and self.owns(frame):
            frame = frame.f_back
        return frame


class PydevdServices(DebuggerServices):
    """What pydevd does for the probe."""

    def begin_answer(self) -> None:
        """Undo that pydevd redirects the program's output while it evaluates in the context `repl`."""
        stop = part("_pydevd_bundle.pydevd_io", "stop_redirect_stream_to_pydb_io_messages")
        if stop is not None and not getattr(pydevd_parts.pydevd(), "is_output_redirected", True):
            stop("stdout")
            stop("stderr")

    def announce(self, frame: VisibleFrame) -> None:
        """Have pydevd send a `module` event for the module of a frame, once, as it does when the stack is asked for."""
        pydevd = pydevd_parts.pydevd()
        track = getattr(getattr(getattr(pydevd, "cmd_factory", None), "modules_manager", None), "track_module", None)
        if track is not None:
            name = str(frame.frame.f_globals.get("__name__", ""))
            for event in track(frame.file, name, frame.frame):
                pydevd.writer.add_command(event)

    def source_reference(self, frame: VisibleFrame) -> int:
        files: Any = sys.modules.get("pydevd_file_utils")
        if files is None or pydevd_parts.pydevd() is None:
            return 0
        known = int(files.get_client_filename_source_reference(frame.file))
        if known or frame.mapped or _exists(frame.original):
            return known
        code = frame.frame.f_code
        if getattr(code, "co_lines", None) or getattr(code, "co_lnotab", None):
            return int(files.create_source_reference_for_frame_id(id(frame.frame), frame.original))
        return 0

    def start_thread(self, function: Callable[[], None]) -> None:
        run, pydevd = part("_pydevd_bundle.pydevd_daemon_thread", "run_as_pydevd_daemon_thread"), pydevd_parts.pydevd()
        if run is None or pydevd is None:
            super().start_thread(function)
        else:
            run(pydevd, function)

    def call_after(self, seconds: float, function: Callable[[], None]) -> Callable[[], None]:
        """Have pydevd's timer call: any other thread that is made here it would take for one of the program's."""
        tracker = getattr(pydevd_parts.pydevd(), "timeout_tracker", None)
        if tracker is None:
            return super().call_after(seconds, function)
        handle = tracker.call_on_timeout(seconds, function)

        def cancel() -> None:
            handle.disposed = True

        return cancel

    def lend_threads(self) -> Optional[PydevdLoan]:
        pydevd = pydevd_parts.pydevd()
        return None if pydevd is None else PydevdLoan(pydevd, self.call_after)

    def stop_in(self, frame: Any, value: Any, returning: Any) -> None:
        pydevd = pydevd_parts.pydevd()
        if pydevd is not None:
            thread = imported.now("threading").current_thread()
            pydevd.set_suspend(thread, _STEP_RETURN)
            pydevd.do_wait_suspend(thread, frame, "return", value)

    def take_back_pause(self) -> bool:
        """Take away the marks that pydevd looks at, at each line.

        Its `continue` takes them away too, but is answered only once a thread has resumed, which none does here.
        """
        resume = part("_pydevd_bundle.pydevd_thread_lifecycle", "resume_threads")
        notifications = getattr(pydevd_parts.pydevd(), "threads_suspended_single_notification", None)
        if (
            resume is None
            or notifications is None
            or any(thread.stopped is not None for thread in PydevdView().threads())
        ):
            return False
        notifications._pause_requested = False  # else the next stop of a thread beside another would be reported twice
        resume("*")
        return True

    def set_trace(self, function: Any) -> None:
        original = getattr(part("pydevd_tracing", "TracingFunctionHolder"), "_original_tracing", None)
        (original or sys.settrace)(function)

    def record_peer(self) -> RecordPeer:
        pydevd = pydevd_parts.pydevd()
        try:
            own: Any = pydevd.writer.sock
            return RecordPeer(own.family, own.getpeername(), pydevd.authentication.client_access_token)
        except (AttributeError, OSError) as error:
            raise RefusedError(f"pydevd is not connected: {error}") from None

    def tell_at_stops(self, written: Callable[[], int]) -> None:
        factory: Any = getattr(pydevd_parts.pydevd(), "cmd_factory", None)
        make = getattr(type(factory), "make_thread_suspend_single_notification", None)
        if make is None:
            return

        def notification(*arguments: Any) -> Any:
            command = make(factory, *arguments)
            size, message = written(), command.as_dict
            if not size or type(message) is not dict:
                return command
            body = {**message["body"], RECORD_BYTES: size}
            return type(command)(command.id, command.seq, {**message, "body": body}, is_json=True)

        factory.make_thread_suspend_single_notification = notification


class ByPydevd(PydevdView, PydevdServices, ProgramDebugger):
    """The debugger of debugpy."""

    def __init__(self) -> None:
        frame_places.put_into(part("_pydevd_bundle.pydevd_net_command_factory_xml", "NetCommandFactory"))


def _exists(file: str) -> bool:
    try:
        os.stat(file)
    except (OSError, ValueError):
        return False
    return True


def _yielding(ident: int, frame: Any) -> Set[str]:
    """Return the names of the generators that a thread is about to leave for a frame with a value."""
    above, found = sys._current_frames().get(ident), set()
    while above is not None and above is not frame:
        code = above.f_code
        if above.f_back is frame and code.co_flags & 0x20 and code.co_code[above.f_lasti] == _YIELD_VALUE:
            found.add(code.co_name)
        above = above.f_back
    return found


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
