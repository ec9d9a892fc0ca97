"""`ExceptionStops`: exceptions at which a thread stops, decided at the raise: before any cleanup has run.

Where it is not known at the raise whether anything will catch the exception, it is decided when it comes to the frame
in question.
"""

from typing import Any

from trio_debugmcp.engine.inside.catching import propagation, runners, thrown_exception, waiting_tasks
from trio_debugmcp.engine.inside.catching.thrown_exception import holds
from trio_debugmcp.engine.inside.interruptions import OWN_FILES, is_own_code
from trio_debugmcp.engine.inside.pending_exceptions import PendingExceptions
from trio_debugmcp.engine.inside.program_files import ProgramFiles
from trio_debugmcp.engine.inside.thread_records import ThreadRecord

_mro_of: Any = type.__dict__["__mro__"].__get__
_name_of: Any = type.__dict__["__name__"].__get__
_qualname_of: Any = type.__dict__["__qualname__"].__get__

_BASE = "BaseException"
"""The name of all exceptions together."""

_IMPORTERS = ("<frozen zipimport", "<frozen importlib")
"""C code that looks for a main module catches what these raise."""


_LEAVING = frozenset({"userUnhandled", "failsTest"})
"""Modes in which a test's failure stops: an exception that leaves the user's code, and one that fails a test only."""

_NOT_CAUGHT = _LEAVING | {"unhandled"}

_MOST_TYPES = 500
"""Types of exceptions of which it is remembered whether they are wanted."""


class ExceptionOption:
    """Exceptions of some types, and when they stop: `always`, `unhandled`, `userUnhandled`, `failsTest`."""

    __slots__ = ("mode", "names")

    def __init__(self, wanted: dict[str, Any]) -> None:
        self.mode = str(wanted.get("breakMode"))
        self.names: list[str] = []
        for part in (wanted.get("path") or ())[1:]:
            self.names += [str(each) for each in part.get("names") or ()]

    def is_of(self, kind: type) -> bool:
        """Whether an exception of that type is meant. Without names all are."""
        if not self.names:
            return True
        return any(_is_named(base, name) for base in _mro_of(kind) for name in self.names)


def _is_named(kind: type, name: str) -> bool:
    own = _name_of(kind)
    if name == own:
        return True
    module = type.__dict__["__module__"].__get__(kind) if "__module__" in type.__dict__ else ""
    qualified = f"{module}.{_qualname_of(kind)}"
    return name in (qualified, f"{module}.{own}", qualified.removeprefix("__main__."))


class _TypeModes:
    """The modes in which exceptions of a type may stop: asked for at each raise, so each question has its answer.

    `ends_named`: also where one ends the program on purpose, as an option for uncaught ones names SystemExit.
    """

    __slots__ = ("always", "ends_named", "kind", "leaving", "modes", "uncaught")

    def __init__(self, kind: type, options: list[ExceptionOption]) -> None:
        self.kind = kind  # kept: its `id` is that of no other type meanwhile
        self.modes = modes = frozenset([option.mode for option in options])
        self.ends_named = any([option.mode == "unhandled" and option.names not in ([], [_BASE]) for option in options])
        self.always = "always" in modes
        self.uncaught = not modes.isdisjoint(_NOT_CAUGHT)
        self.leaving = "userUnhandled" in modes


class ExceptionStops:
    """What is wanted, and what is decided."""

    def __init__(self, files: ProgramFiles) -> None:
        self.is_wanted = False
        self._files = files
        self._options: list[ExceptionOption] = []
        self._modes: dict[int, _TypeModes] = {}
        self._ends_task: BaseException | None = None  # it has stopped already, and is raised again on its way

    def set(self, wanted: list[dict[str, Any]]) -> None:
        """Set these options in place of those there were."""
        self._options = [ExceptionOption(each) for each in wanted if each.get("breakMode") != "never"]
        self._modes = {}
        self.is_wanted = bool(self._options)

    def at_raise(
        self, record: ThreadRecord, frame: Any, offset: int, error: BaseException, arrived: bool
    ) -> str | None:
        """An exception is raised in a frame, or has arrived from its callee; return the mode in which it stops."""
        pending = record.pending
        if pending.is_quiet:  # nothing to be looked up, which is so at nearly all
            if arrived or frame.f_code.co_filename.startswith(OWN_FILES):
                return None
        elif not self._is_judged(pending, error, frame, arrived):
            return None
        known = self._modes.get(id(type(error)))
        wanted = self._modes_of(type(error)) if known is None else known
        if wanted.always and not arrived and self._files.steps_into(frame.f_code.co_filename):
            return "always"
        if not wanted.uncaught or (self._ends_task is not None and holds(error, self._ends_task)):
            return None
        leaves = wanted.leaving  # then it counts who catches it
        if not leaves and propagation.is_caught(error, frame, offset):
            return None
        verdict = propagation.judge(error, frame, offset)
        if verdict.outcome is thrown_exception.UNKNOWN:
            record.pending.add(error, verdict.frame)
            return None
        if verdict.outcome is thrown_exception.UNCAUGHT:
            return self._at_end(verdict, wanted, frame, error)
        return self._if_it_leaves(record, frame, offset, error) if leaves else None

    @staticmethod
    def _is_judged(pending: PendingExceptions, error: BaseException, frame: Any, arrived: bool) -> bool:
        """Whether an exception is judged in a frame: a new one, and one of which it could not be said further in."""
        if is_own_code(frame.f_code):
            return False
        was_pending = pending.take(error)
        if not arrived:
            pending.stopped(None)
            return True
        return was_pending or pending.may_be_forgotten(error)

    def _at_end(self, verdict: Any, wanted: _TypeModes, frame: Any, error: BaseException) -> str | None:
        """Return the mode in which an exception stops that no code in Python catches."""
        end, modes = verdict, wanted.modes
        if verdict.runner == runners.KEPT:
            waiting = waiting_tasks.end_of(error, verdict.frame, frame)
            if waiting is None or waiting.outcome is not thrown_exception.UNCAUGHT:
                return self._if_it_is_kept(verdict, modes, frame)
            end = waiting
            if end.runner is not None and end.runner != runners.FAILS_TEST:
                return self._if_it_is_kept(verdict, modes, frame)
            if end.runner == runners.FAILS_TEST and not self._is_through_user_code(frame, verdict.frame):
                return None  # it has left the user's code already: it stops where the one that waits raises it again
            self._ends_task = error
        if end.runner == runners.FAILS_TEST:
            fails = not modes.isdisjoint(_LEAVING) and self._is_through_user_code(frame, verdict.frame)
            return "userUnhandled" if fails else None
        if "unhandled" not in modes or (end.quiet and not wanted.ends_named) or not self._is_of_user(frame):
            return None
        if "failsTest" in modes and propagation.is_under_test(verdict.frame):
            return None  # an event loop prints it, as of a callback: no failure of the test
        return "unhandled"

    def _if_it_is_kept(self, verdict: Any, modes: frozenset[str], frame: Any) -> str | None:
        """Return the mode in which an exception stops that a library keeps, as of an executor's function, or a task.

        It is judged again when it is raised where the result is asked for.
        """
        if "userUnhandled" not in modes or propagation.is_under_test(frame):
            return None
        return "userUnhandled" if self._is_through_user_code(frame, verdict.frame) else None

    def _if_it_leaves(self, record: ThreadRecord, frame: Any, offset: int, error: BaseException) -> str | None:
        """Return the mode in which a caught exception stops, if a library catches it that has called the user's code.

        Under a test the question is whether it fails that: what a library catches there does not.
        """
        if propagation.is_under_test(frame):
            return None
        verdict = propagation.judge(error, frame, offset, exact=True)  # who is the first that catches it
        leaves = verdict.leaves_user_code(self._is_user)
        if leaves is None:
            record.pending.add(error, verdict.doubtful or verdict.frame)
        return "userUnhandled" if leaves and verdict.how != "test outcome" else None

    def caught_by(self, frame: Any, offset: int, error: BaseException) -> dict[str, Any] | None:
        """Return who will catch an exception, as `exceptionInfo` has it; None if nothing does, or it is not known."""
        verdict = propagation.judge(error, frame, offset, exact=True)
        if (
            verdict.outcome is not thrown_exception.CAUGHT
            or verdict.reason is not None
            or verdict.how == "test outcome"
        ):
            return None
        code = verdict.frame.f_code
        return {
            "function": code.co_name if self._files.is_user(code.co_filename) else code.co_qualname,
            "path": self._files.shown(code.co_filename),
            "line": verdict.line,
            "library": not self._files.is_user(code.co_filename),
            "inCCode": verdict.how == "C code",
        }

    def _modes_of(self, kind: type) -> _TypeModes:
        """Return the modes in which exceptions of a type may stop. Types count by identity, and are kept."""
        known = self._modes.get(id(kind))
        if known is None:
            if len(self._modes) >= _MOST_TYPES:
                self._modes = {}
            known = self._modes[id(kind)] = _TypeModes(kind, [option for option in self._options if option.is_of(kind)])
        return known

    def at_end(self, record: ThreadRecord, frame: Any, offset: int, error: BaseException) -> bool:
        """An exception leaves the outermost frame of a thread; return whether it stops there."""
        if not record.pending.take(error):
            if not record.pending.may_be_forgotten(error):
                return False
            verdict = propagation.judge(error, frame, offset)
            wanted = self._modes_of(type(error))
            is_end = verdict.outcome is thrown_exception.UNCAUGHT and bool(wanted.modes)
            return is_end and self._at_end(verdict, wanted, frame, error) == "unhandled"
        return "unhandled" in self._modes_of(type(error)).modes

    def _is_of_user(self, frame: Any) -> bool:
        """Whether an exception that is raised in a frame ends something of the user's."""
        while frame is not None:
            if not self._files.just_my_code or self._files.is_user(frame.f_code.co_filename):
                return not _outermost(frame).f_code.co_filename.startswith(_IMPORTERS)
            frame = frame.f_back
        return False

    def _is_through_user_code(self, frame: Any, end: Any) -> bool:
        """Return whether the user's code is between two frames, or one of them: a block may end in it, of a part."""
        while frame is not None:
            if self._is_user(frame):
                return True
            if frame is end:
                break
            frame = frame.f_back
        return False

    def _is_user(self, frame: Any) -> bool:
        return self._files.is_user(frame.f_code.co_filename)


def _outermost(frame: Any) -> Any:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame
