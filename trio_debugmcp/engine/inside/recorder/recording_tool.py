"""`RecordingTool`: the recorder's own tool of `sys.monitoring`, beside the debugger's.

    tool.open({LINE: on_line})
    tool.watch(code)            # lines, calls and results of this code object from now on

A tool of its own: what the debugger's has disabled at a place would be lost to the recorder, too.
"""

import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside.monitoring import (
    LINE,
    PY_RESUME,
    PY_RETURN,
    PY_START,
    PY_THROW,
    PY_UNWIND,
    RAISE,
    NoToolError,
)

_monitoring: Any = sys.monitoring  # type: ignore[attr-defined]

PY_YIELD: int = _monitoring.events.PY_YIELD

EVERYWHERE = PY_START | PY_RESUME | PY_THROW | PY_UNWIND | RAISE

WATCHED = LINE | PY_START | PY_RESUME | PY_RETURN | PY_YIELD

_TOOLS = (4, 5)
"""Above the debugger's: the interpreter calls the highest one first, so what a thread stops at is recorded before."""

_NAME = "trio_debugmcp recorder"

_get_tool = _monitoring.get_tool
_set_local_events = _monitoring.set_local_events


class RecordingTool:
    """The tool, while it is open."""

    def __init__(self) -> None:
        self._tool = -1
        self._watched: list[Any] = []
        self._callbacks: dict[int, Callable[..., Any]] = {}

    def open(self, callbacks: dict[int, Callable[..., Any]]) -> None:
        """Begin to report events.

        Raises:
            NoToolError: other tools use all that there are.
        """
        for tool in _TOOLS:
            if _get_tool(tool) is None:
                break
        else:
            raise NoToolError
        self._tool = tool
        self._callbacks = callbacks
        _monitoring.use_tool_id(tool, _NAME)
        for event, callback in callbacks.items():
            _monitoring.register_callback(tool, event, callback)
        _monitoring.set_events(tool, EVERYWHERE)

    def watch(self, code: Any) -> None:
        """Have lines and results of a code object reported."""
        if self._tool >= 0:
            _set_local_events(self._tool, code, WATCHED)
            self._watched.append(code)

    def close(self) -> None:
        """Report nothing any more."""
        tool, self._tool = self._tool, -1
        if tool < 0 or _get_tool(tool) != _NAME:
            return
        _monitoring.set_events(tool, 0)
        for code in self._watched:
            _set_local_events(tool, code, 0)
        for event in self._callbacks:
            _monitoring.register_callback(tool, event, None)
        _monitoring.free_tool_id(tool)
        self._watched.clear()
