"""`MonitoringTool`: the one owner of the engine's tool of `sys.monitoring`, and of the events that are set for it.

    monitoring.open({LINE: on_line})
    monitoring.want_in("breakpoints", code, LINE)       # events in one code object, as long as a user wants them
    monitoring.restart()                                # what has been disabled comes again

Everywhere, the entries of functions and what happens to exceptions are reported; both cost next to nothing, as an
entry is reported once for each function. Lines, jumps, returns, yields and calls are reported of single code objects.

Code objects are distinguished by identity: equal ones are different functions (of two files with the same text).
"""

import _thread
import sys
from typing import Any, Callable

_monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
_events: Any = _monitoring.events

PY_START: int = _events.PY_START
PY_RESUME: int = _events.PY_RESUME
PY_THROW: int = _events.PY_THROW
PY_UNWIND: int = _events.PY_UNWIND
PY_RETURN: int = _events.PY_RETURN
PY_YIELD: int = _events.PY_YIELD
RAISE: int = _events.RAISE
LINE: int = _events.LINE
JUMP: int = _events.JUMP
CALL: int = _events.CALL

_SOON = LINE | JUMP | CALL | PY_RETURN

DISABLE: Any = _monitoring.DISABLE

EVERYWHERE = PY_START | PY_RESUME | PY_THROW | PY_UNWIND | RAISE

_TOOLS = (3, 4)
"""Those that have no meaning: a program's own debugger, coverage or profiler takes another."""

_NAME = "trio_debugmcp"

_set_events = _monitoring.set_events
_set_local_events = _monitoring.set_local_events
_restart_events = _monitoring.restart_events
_get_tool = _monitoring.get_tool
_use_tool_id = _monitoring.use_tool_id
_free_tool_id = _monitoring.free_tool_id
_register_callback = _monitoring.register_callback


class NoToolError(Exception):
    """Other tools use all that there are."""


def take_tool(tools: tuple[int, ...], name: str, callbacks: dict[int, Callable[..., Any]]) -> int:
    """Take the first free one of some tools; return its number. It reports what its owner sets, who knows it then.

    Raises:
        NoToolError: other tools use all of them.
    """
    for tool in tools:
        if _get_tool(tool) is None:
            break
    else:
        raise NoToolError
    _use_tool_id(tool, name)
    for event, callback in callbacks.items():
        _register_callback(tool, event, callback)
    return tool


def free_tool(tool: int, name: str, callbacks: dict[int, Callable[..., Any]], codes: Any = ()) -> None:
    """Report nothing to a tool any more, in these code objects neither; give it back, if it still has that name."""
    if tool < 0 or _get_tool(tool) != name:
        return
    _set_events(tool, 0)
    for code in codes:
        _set_local_events(tool, code, 0)
    for event in callbacks:
        _register_callback(tool, event, None)
    _free_tool_id(tool)


class _Watched:
    """The events that are wanted in one code object, by user."""

    __slots__ = ("code", "events", "wanted")

    def __init__(self, code: Any) -> None:
        self.code = code
        self.wanted: dict[str, int] = {}
        self.events = 0


class MonitoringTool:
    """The tool, its callbacks, and its sets of events.

    Attributes:
        soon: what is to be called in the next event.
    """

    def __init__(self) -> None:
        self._tool = -1
        self._callbacks: dict[int, Callable[..., Any]] = {}
        self._watched: dict[int, _Watched] = {}
        self._lock = _thread.RLock()
        self.soon: Callable[[], None] | None = None

    def open(self, callbacks: dict[int, Callable[..., Any]]) -> None:
        """Begin to report events.

        Raises:
            NoToolError: other tools use all that there are.
        """
        self._callbacks = callbacks
        self._take()

    def taken(self) -> list[str]:
        """Return the names of the tools that use all that there are; nothing if there is one left."""
        names = [_get_tool(tool) for tool in _TOOLS]
        return [] if None in names or _NAME in names else names

    def _take(self) -> None:
        self._tool = take_tool(_TOOLS, _NAME, self._callbacks)
        _set_events(self._tool, EVERYWHERE)
        for watched in list(self._watched.values()):  # wanted before it was opened, or lost
            _set_local_events(self._tool, watched.code, watched.events)

    def close(self) -> None:
        """Report nothing any more, and leave nothing behind."""
        with self._lock:
            for watched in list(self._watched.values()):
                self._set(watched.code, 0)
            self._watched.clear()
            free_tool(self._tool, _NAME, self._callbacks)
            self._tool = -1

    def close_in_fork(self) -> None:
        """Report nothing any more in a fork, in which other threads may have been here."""
        self._lock = _thread.RLock()
        self.close()

    def want_in(self, user: str, code: Any, events: int) -> None:
        """Have these events reported of a code object, as far as this user is concerned; 0: none any more."""
        with self._lock:
            watched = self._watched.get(id(code))
            if watched is None:
                if not events:
                    return
                watched = self._watched[id(code)] = _Watched(code)
            if events:
                watched.wanted[user] = events
            else:
                watched.wanted.pop(user, None)
            every = 0
            for each in watched.wanted.values():
                every |= each
            if every != watched.events:
                watched.events = every
                self._set(code, every)
            if not every:
                self._watched.pop(id(code), None)

    def forget(self, user: str) -> None:
        """Report nothing for this user any more."""
        with self._lock:
            for watched in list(self._watched.values()):
                if user in watched.wanted:
                    self.want_in(user, watched.code, 0)

    def at_next_event(self, function: Callable[[], None]) -> bool:
        """Have a function called by `take_soon` in the next event of any thread; False if none will come."""
        with self._lock:
            self._secure()
            if self._tool < 0:
                return False
            earlier = self.soon
            self.soon = function if earlier in (None, function) else _both(earlier, function)
            _set_events(self._tool, EVERYWHERE | _SOON)
            _restart_events()
            return True

    def take_soon(self) -> None:
        """Call that function, if it has not been called by another thread."""
        with self._lock:
            function, self.soon = self.soon, None
            if self._tool >= 0:
                _set_events(self._tool, EVERYWHERE)
        if function is not None:
            function()

    def restart(self) -> None:
        """Have everything reported again that was disabled at its place."""
        with self._lock:
            self._secure()
            _restart_events()

    def _set(self, code: Any, events: int) -> None:
        if self._tool < 0:
            return
        try:
            _set_local_events(self._tool, code, events)
        except ValueError:  # the program has freed our tool
            self._secure()
            _set_local_events(self._tool, code, events)

    def _secure(self) -> None:
        """Take the tool again if the program has freed it."""
        if self._tool >= 0 and _get_tool(self._tool) != _NAME:
            self._take()


def _both(first: Callable[[], None], last: Callable[[], None]) -> Callable[[], None]:
    def call() -> None:
        try:
            first()
        finally:
            last()

    return call
