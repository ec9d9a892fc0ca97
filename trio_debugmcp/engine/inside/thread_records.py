"""The threads of the program: their numbers in DAP, their names, and what is known of each."""

import _thread
import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside.interruptions import firm, is_own_code
from trio_debugmcp.engine.inside.pending_exceptions import PendingExceptions

_get_ident = _thread.get_ident
_acquire: Any = _thread.LockType.acquire  # kept: a program may put another one into the class of locks
_start = _thread.start_new_thread
_current_frames = sys._current_frames
_modules = sys.modules
_plain: Any = object.__getattribute__


class Inbox:
    """What a held thread is to do, in order. Put there by other threads, taken by that one."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._gate = _thread.allocate_lock()
        _acquire(self._gate)

    def put(self, item: Any) -> None:
        self._items.append(item)
        try:
            self._gate.release()
        except RuntimeError:  # it is open
            pass

    def take(self, raised: list[BaseException]) -> Any:
        """Wait for the next item; return it. What signal handlers raise meanwhile is added to a list."""
        while not self._items:
            firm(raised, _acquire, self._gate)
        return firm(raised, self._items.pop, 0)


def arrival(error: BaseException, frame: Any) -> tuple[int, int, int]:
    """Return by what an exception is known that comes to a frame from its callee: what, to which frame, and where.

    The same one may be raised there once more, as C code has caught it (`hasattr`), of which we hear nothing. Then the
    frame has come further, so it is at another instruction.
    """
    return id(error), id(frame), frame.f_lasti


class ThreadRecord:
    """What is known of one thread.

    Attributes:
        id: its number in DAP.
        stop: where it is stopped, or None.
        parked: the frame in which it waits for the end of another thread's stop, or None.
        inbox: what it is to do while it is held.
        raised: what signal handlers have raised while it was held, the first one first.
        is_evaluating: code of ours runs the program's in it: nothing stops there.
        entering: the frame that it has just entered, in which a breakpoint of its function is to stop.
        halting: the frame that has called `breakpoint()`, in which it is to stop, or None.
        passing: the frame and the line that it has gone to, which is not looked at if it is the next; or None. The
            interpreter reports that line on some occasions only.
        unwound: the exception that has just left a frame, as an `arrival` in the one further out, to which it comes
            unless something in C keeps it; or None. No exception lives longer because of us.
        pending: exceptions of which it will be decided later whether anything catches them.
    """

    __slots__ = (
        *("entering", "halting", "id", "ident", "inbox", "is_claimed", "is_evaluating", "parked", "passing"),
        *("pending", "raised", "stop", "thread", "unwound"),
    )

    def __init__(self, number: int, ident: int) -> None:
        self.id = number
        self.ident = ident
        self.stop: Any = None
        self.inbox = Inbox()
        self.raised: list[BaseException] = []
        self.is_evaluating = False
        self.parked: Any = None
        self.entering: Any = None
        self.halting: Any = None
        self.passing: Any = None
        self.unwound: tuple[int, int, int] | None = None
        self.pending = PendingExceptions()
        self.thread: Any = None
        self.is_claimed = False

    @property
    def is_held(self) -> bool:
        """Whether it is stopped, or waits for another one's stop to end."""
        return self.stop is not None or self.parked is not None

    @property
    def held_frame(self) -> Any:
        """The frame in which it is held, or None."""
        return self.stop.frame if self.stop is not None else self.parked


class ThreadRecords:
    """All threads that were ever seen, by their identifiers, `main` among them; ours are left out."""

    def __init__(self, main: int) -> None:
        self.main = main
        self.own: set[int] = set()
        self._local: Any = _thread._local()
        self._records: dict[int, ThreadRecord] = {}
        self._last = 0
        # Around the look for a record and the making of one: a thread gets its first while another one looks at all.
        self._lock = _thread.RLock()
        self.of(main)

    def current(self) -> ThreadRecord:
        """Return the record of the calling thread."""
        try:
            found: ThreadRecord = self._local.record
        except AttributeError:
            ident = _get_ident()
            with self._lock:
                known = self._records.get(ident)  # of an earlier thread, if it is claimed: identifiers are given again
                found = self._local.record = self._made(ident) if known is None or known.is_claimed else known
                found.is_claimed = True
        return found

    def _made(self, ident: int) -> ThreadRecord:
        if ident in self.own:
            return ThreadRecord(0, ident)
        self._last += 1
        made = self._records[ident] = ThreadRecord(self._last, ident)
        made.thread = self.object_of(ident)
        return made

    def of(self, ident: int) -> ThreadRecord:
        """Return the record of a thread; a new one if the identifier has been given to another thread since."""
        with self._lock:
            known = self._records.get(ident)
            thread = self.object_of(ident)  # None as well at its very end, where destructors run in it
            is_of_another = known is not None and None not in (known.thread, thread) and known.thread is not thread
            return self._made(ident) if known is None or is_of_another else known

    def by_id(self, number: Any) -> ThreadRecord | None:
        """Return the record with that number in DAP."""
        for each in list(self._records.values()):
            if each.id == number:
                return each
        return None

    def tops(self) -> dict[int, Any]:
        """Return the innermost frame of each thread of the program, by identifier, in the order of their starts.

        Of the calling thread the innermost that is not ours: a frame that is kept in one of its own variables would
        live on, with all from which it was called, until the next collection.
        """
        found: dict[int, Any] = _current_frames()
        mine = program_frame(found.pop(_get_ident()))
        if mine is not None:
            found[_get_ident()] = mine
        for ident in self.own:
            found.pop(ident, None)
        ordered = {ident: found.pop(ident) for ident in self._started() if ident in found}
        ordered.update(found)
        return ordered

    @staticmethod
    def _started() -> list[int]:
        """Return the identifiers of the threads that `threading` has started, the oldest first."""
        module = _modules.get("threading")
        active = vars(module).get("_active") if module is not None else None
        return list(active) if type(active) is dict else []

    def start(self, function: Callable[[], None]) -> None:
        """Run a function in a thread of ours, which is not the program's for anybody."""

        def run() -> None:
            self.own.add(_get_ident())
            try:
                function()
            finally:
                self.own.discard(_get_ident())

        _start(run, ())

    def are_several(self) -> bool:
        """Whether the program has more than one thread."""
        return len(self.tops()) > 1

    def are_all_held(self) -> bool:
        """Whether no thread of the program can move; one that waits in C could, for all we know."""
        return all([self.of(ident).is_held for ident in self.tops()])

    @staticmethod
    def object_of(ident: int) -> Any:
        """Return the program's `Thread` object of a thread, or None."""
        module = _modules.get("threading")
        active = vars(module).get("_active") if module is not None else None
        return active.get(ident) if type(active) is dict else None

    def name_of(self, ident: int) -> str:
        """Return the name of a thread."""
        thread = self.object_of(ident)
        name = _plain(thread, "__dict__").get("_name") if thread is not None else None
        if type(name) is str:
            return name
        return "MainThread" if ident == self.main else f"thread {ident}"

    def is_daemon(self, ident: int) -> bool:
        """Whether the program does not wait for a thread at its end."""
        thread = self.object_of(ident)
        return thread is not None and bool(_plain(thread, "__dict__").get("_daemonic"))


def program_frame(frame: Any) -> Any:
    """Return the innermost frame that is not ours, from a frame on outward."""
    while frame is not None and is_own_code(frame.f_code):
        frame = frame.f_back
    return frame


def frame_of(code: Any, frame: Any) -> Any:
    """Return the innermost frame that runs a code object, from a frame on outward."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame
