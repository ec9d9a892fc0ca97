"""What users evaluate: in a frame, by its stopped thread; or in the main module while the program runs.

    here(7, 200, "total += 1; total")    # the debugger evaluates this call in the frame; its value is that of the code
    in_frame(7, 200, "total", frame)     # the same for a debugger that calls this itself
    start(8, 200, "len(queue)")          # in the main module, by a thread of the debugger's, which nothing waits for
    start(9, 200, "queue", frame)       # the same in a frame of a task
    outcome(8)                      # {"done": true, "value": "3", "type": "int"}

Code that wants to end the program does not: neither does SystemExit leave it, nor do `exit` and `quit` close the
program's standard input, as they do elsewhere before they raise it. Code that wants to stop it does not: it is stopped,
and `breakpoint()` would move it. What the code prints goes where it always goes, and into the outcome as well.
"""

import _thread
import builtins
import sys
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import bounds, evaluated_code, intercepts, visible_frames, waking
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.frame_names import FrameNames
from trio_debugmcp.probe.inside.values import facts, rendering
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_KEPT = 50
"""Evaluations whose outcome was not asked for, or that do not end: some C code cannot be interrupted."""

MOST_TRACE = 4000

_acquire: Any = _thread.LockType.acquire  # kept: a program may put another one into the class of locks

_COROUTINE = 0x80
"""Flag of code that awaits."""

_JOIN_SECONDS = 0.05
"""Between two looks for an interrupt, while an event loop runs what a stopped thread awaits."""


class RunningEvaluation:
    """One evaluation: its code, the threads that run it, and how it ended.

    `limit`: characters of its value, none if it is not wanted. `written_elsewhere`: the debugger runs a `repr` of the
    program for the value.
    """

    def __init__(
        self, source: str, withdrawn: bool = False, limit: int = rendering.LIMIT, written_elsewhere: bool = False
    ) -> None:
        self.done = False
        self.withdrawn = withdrawn
        self.report: Json = {}
        self._source = source
        self._limit, self._written_elsewhere = limit, written_elsewhere
        self._lock = _thread.allocate_lock()
        self._idents: List[int] = []
        self._cancel: Optional[Callable[[], Any]] = None
        self._loan: Any = None
        self._waker = waking.Waker()
        self._printed = intercepts.ThreadOutput(self._idents)

    def run(
        self,
        names: Dict[str, Any],
        own_thread: bool,
        use: Optional[Callable[[Any], None]] = None,
        settle: Callable[[], None] = lambda: None,
        keep: Callable[[BaseException], bool] = lambda _: False,
    ) -> Any:
        """Run the code with these names; `use` its value, or return it. Never raises: what is raised is reported.

        `settle` is called after the code, also after code that has failed on the way. `keep` gets what was raised, and
        returns whether a signal handler has done it: the program is to have it as well when it continues.
        """
        value = None
        if self.withdrawn:
            return None
        try:
            self._idents.append(_thread.get_ident())
            self._printed.open()
            intercepts.exits.open(self._idents)
            intercepts.halts.open(self._idents)
            if not own_thread:
                self._loan = attached.debugger().lend_threads()
                self._waker.open(self._loan is not None)
            try:
                value = self._run(names, own_thread)
            finally:
                settle()
            if use is not None:
                use(value)
                value = None
        except SystemExit as error:
            self.report = {"exit": str(error.code)[:200]}
        except BaseException as error:
            self._fail(error)
            if keep(error):
                self.report["raisedLater"] = True
        finally:
            self._close(keep)
        return value

    def _run(self, names: Dict[str, Any], own_thread: bool) -> Any:
        parts, self.report["hasValue"] = evaluated_code.compiled(self._source)
        if any(code.co_flags & _COROUTINE for code in parts):
            value = self._await(parts, names) if own_thread else self._await_elsewhere(parts, names)
        else:
            value = None
            for code in parts:
                value = evaluated_code.value(code, names, self._source)
        if self._limit and self.report["hasValue"] and not (self._written_elsewhere and rendering.has_own_repr(value)):
            self.report.update(shown(value, self._limit))
        return value

    def _fail(self, error: BaseException) -> None:
        while error.__traceback__ is not None and attached.is_own(error.__traceback__.tb_frame):
            error = error.with_traceback(error.__traceback__.tb_next)
        import traceback  # needed only where code fails

        lines = traceback.format_exception_only(type(error), error)
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self.report = {"error": lines[-1].strip()[:MOST_TRACE], "trace": _trace(text, lines[-1])}

    def _close(self, keep: Callable[[BaseException], bool]) -> None:
        """End the run. No interrupt is on its way afterwards: it must not hit what runs next."""
        while True:
            try:
                if self._loan is not None:
                    self._loan.end()
                    happened = {"othersRan": self._loan.has_begun, "othersPassed": self._loan.has_passed}
                    self.report.update({name: True for name, is_so in happened.items() if is_so})
                with self._lock:
                    self._waker.close()
                    self._printed.close()
                    intercepts.exits.close(self._idents)
                    intercepts.halts.close(self._idents)
                    self.done = True  # last: who sees that continues, and may patch the same
                return
            except BaseException as error:  # it came between the run and this method
                if not (keep(error) or isinstance(error, KeyboardInterrupt)):
                    raise

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the code; what waits in C takes it when that has ended."""
        with self._lock:
            if self.done or not self._idents:
                return
            if self._cancel is not None:
                self._cancel()
                return
            bounds.interrupt(self._idents[0], waking.EvaluationInterrupt)

    def wake(self) -> None:
        """Its time is over: have what it lent held again, and end what it waits for in C code, where that is possible.

        A debugger that evaluates it has interrupted its code in Python by itself.
        """
        if self._loan is not None:
            self._loan.end()
        with self._lock:
            if not self.done:
                self._waker.wake()

    def idents(self) -> List[int]:
        """Return the threads that run the code."""
        return [] if self.done else list(self._idents)

    def outcome(self) -> Json:
        answer: Json = dict(self.report) if self.done else {}
        answer["done"] = self.done
        answer["printed"] = self._printed.text()
        return answer

    # --- Code that awaits ---------------------------------------------------------------------------------------------

    def _await(self, parts: List[Any], names: Dict[str, Any]) -> Any:
        """Run the parts in a new event loop, as pydevd does. The program may not have imported asyncio."""
        asyncio = builtins.__import__("asyncio")

        async def run() -> Any:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            value = None
            for code in parts:
                value = eval(code, names)
                if code.co_flags & _COROUTINE:
                    value = await value
            return value

        try:
            return asyncio.run(run())
        finally:
            self._cancel = None

    def _await_elsewhere(self, parts: List[Any], names: Dict[str, Any]) -> Any:
        """A stopped thread may be inside an event loop already."""
        ended: List[Tuple[Any, Optional[BaseException]]] = []

        def evaluate_awaiting() -> None:
            self._idents.append(_thread.get_ident())
            try:
                ended.append((self._await(parts, names), None))
            except BaseException as error:
                ended.append((None, error))
            finally:
                running.release()

        running = _thread.allocate_lock()
        _acquire(running)
        attached.debugger().start_thread(evaluate_awaiting)
        try:
            while not _acquire(running, True, _JOIN_SECONDS):
                pass
        except KeyboardInterrupt:
            if self._cancel is not None:
                self._cancel()
            raise
        value, error = ended[0]
        if error is not None:
            raise error
        return value


def shown(value: Any, limit: int) -> Json:
    """Return a value as the answer to an evaluation has it, with its type and the number of its children."""
    length = facts.length(value) if facts.container(value) is not None else None
    leaf = value is None or issubclass(type(value), (str, bytes, int, float, complex))
    found: Json = {"value": text_of(value, limit), "type": type(value).__name__}
    if leaf or length is not None:
        found["childCount"] = length if not leaf else 0
    return found


def text_of(value: Any, limit: int, hexadecimal: bool = False) -> str:
    """Return a value as text. Code of the program runs: the user has asked for it, and can interrupt it."""
    return rendering.Renderer(bounds.UnboundedBudget(), limit, deepest=limit, hexadecimal=hexadecimal).render(value)


def _trace(text: str, error: str) -> str:
    """Return what a traceback shows beside the error: nothing, if that was raised by the code itself."""
    if text.endswith(error):
        text = text[: -len(error)]
    for known in ("Traceback (most recent call last):\n", '  File "<evaluate>", line 1, in <module>\n'):
        if text.startswith(known):
            text = text[len(known) :]
    return text[-MOST_TRACE:]


# --- The evaluations --------------------------------------------------------------------------------------------------

_evaluations: Dict[int, RunningEvaluation] = {}


def new(number: int, limit: int, source: str, written_elsewhere: bool = False) -> RunningEvaluation:
    """Make an evaluation whose outcome is asked for by its number; one that was withdrawn will do nothing."""
    old = _evaluations.get(number)
    if old is not None and not old.withdrawn:  # of a debugger that was attached before
        _evaluations.pop(number, None)
    # One step: either this or `withdraw`, which another thread runs, has the number first.
    made = _evaluations.setdefault(number, RunningEvaluation(source, limit=limit, written_elsewhere=written_elsewhere))
    if made.withdrawn:
        del _evaluations[number]
    kept = [each for each, found in list(_evaluations.items()) if not found.withdrawn]
    for each in sorted(kept)[:-MOST_KEPT]:
        _evaluations.pop(each, None)
    return made


def withdraw(number: int) -> bool:
    """Take back an evaluation that is still to begin; returns whether it was: then it will never run."""
    return _evaluations.setdefault(number, RunningEvaluation("", withdrawn=True)).withdrawn


def here(number: int, limit: int, source: str) -> Any:
    """Evaluate in the frame in which this very call is evaluated, or with its names if that is not known."""
    caller = sys._getframe(1)
    frame = attached.debugger().evaluated_frame(caller)
    made = new(number, limit, source, written_elsewhere=True)
    if frame is None:
        return made.run(caller.f_globals, own_thread=False)
    return _run_in(made, frame)


def in_frame(number: int, limit: int, source: str, frame: Any) -> RunningEvaluation:
    """Evaluate in a frame, in the thread that is stopped there."""
    made = new(number, limit, source)
    _run_in(made, frame)
    return made


def _run_in(made: RunningEvaluation, frame: Any) -> Any:
    names = FrameNames(frame)
    return made.run(names.together, own_thread=False, settle=names.write_back)


def start(number: int, limit: int, source: str, frame: Any = None) -> None:
    """Begin to evaluate in a frame of a suspended task, or without one in the main module.

    The thread ends with the code, and does not keep the program alive.
    """
    made = new(number, limit, source)

    def evaluate_apart() -> None:
        if frame is None:
            made.run(visible_frames.main_globals(), own_thread=True)
        else:
            names = FrameNames(frame)
            made.run(names.together, own_thread=True, settle=names.write_back)

    attached.debugger().start_thread(evaluate_apart)


def find(number: int) -> Optional[RunningEvaluation]:
    """Return an evaluation whose outcome was not taken yet."""
    return _evaluations.get(number)


def wake_all() -> None:
    """Wake what stopped threads evaluate."""
    for each in list(_evaluations.values()):
        each.wake()


def take_outcome(number: int) -> Optional[Json]:
    """Return how an evaluation ended, once, or that it has not; None if there is no such evaluation."""
    found = _evaluations.get(number)
    if found is None:
        return None
    answer = found.outcome()
    if found.done:
        _evaluations.pop(number, None)
    return answer


def wait_done(number: int, seconds: float) -> None:
    """Wait a moment for the end of an evaluation: most take less than asking again would."""
    found, end = _evaluations.get(number), time.monotonic() + seconds
    while found is not None and not found.done and time.monotonic() < end:
        time.sleep(0.001)
