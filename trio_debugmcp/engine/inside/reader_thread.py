"""`ReaderThread`: the thread of ours that reads what the debugger sends. It can rest: then there is none."""

import _thread
import posix
from typing import Any, Callable

_REST_SECONDS = 0.5
"""For it to end: it may be answering a question."""

_GONE_TRIES = 5000
"""Looks whether the system has ended the thread, which takes it some microseconds, or more on a busy machine."""

_acquire: Any = _thread.LockType.acquire  # kept: a program may put another one into the class of locks
_start = _thread.start_new_thread
_stat = posix.stat
_yield = posix.sched_yield


class ReaderThread:
    """Serves messages of a connection."""

    def __init__(self, connection: Any, serve: Callable[[Any], bool], leave: Callable[[], None], own: set[int]) -> None:
        self._connection = connection
        self._serve = serve
        self._leave = leave
        self._own = own
        self._is_resting = False
        self._is_over = False
        self._runs = _thread.allocate_lock()
        self._native = 0
        self._ident = 0
        self._errands: list[Callable[[], None]] = []

    def start(self) -> None:
        """Begin to serve."""
        _acquire(self._runs)
        _start(self._run, ())

    def replace(self, ident: int) -> None:
        """Serve in a new thread, if it was that one: it waits in C, in code of the program, which may be for ever."""
        if ident == self._ident and not self._is_resting:
            self._ident = 0
            _start(self._run, ())  # in its turn: the lock stays taken

    def _run(self) -> None:
        own = self._ident = _thread.get_ident()
        self._own.add(own)
        self._native = _thread.get_native_id()
        try:
            while True:
                message = self._connection.receive(self._is_called)
                if message is None and self._errands:
                    goes_on = self._run_errands()
                elif message is None and self._is_resting:
                    return
                else:
                    goes_on = message is not None and self._serve(message)
                if self._ident != own:
                    return
                if not goes_on:
                    break
            self._is_over = True
            self._leave()
        finally:
            self._own.discard(own)
            if self._ident == own:
                self._runs.release()

    def _is_called(self) -> bool:
        return self._is_resting or bool(self._errands)

    @property
    def is_free(self) -> bool:
        """Whether the thread is there, and waits for what it is to do."""
        return self._connection.is_waiting and not self._is_resting

    def run(self, errand: Callable[[], None]) -> None:
        """Have the thread do something that raises no error."""
        self._errands.append(errand)
        self._connection.wake()

    def _run_errands(self) -> bool:
        self._connection.rouse()
        while self._errands:
            self._errands.pop(0)()
        return True

    def rest(self) -> None:
        """End the thread for a while. Does nothing in the thread itself."""
        if self._is_over or _thread.get_ident() in self._own:
            return
        self._is_resting = True
        self._connection.wake()
        if not _acquire(self._runs, True, _REST_SECONDS):
            return
        self._runs.release()
        for _ in range(_GONE_TRIES):
            try:
                _stat(f"/proc/self/task/{self._native}")
            except OSError:
                return
            _yield()

    def resume(self) -> None:
        """Begin to serve again."""
        if not self._is_resting:
            return
        self._is_resting = False
        self._connection.rouse()
        if not self._is_over and not self._runs.locked():
            self.start()
