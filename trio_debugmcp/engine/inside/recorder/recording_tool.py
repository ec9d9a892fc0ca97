"""`RecordingTool`: the recorder's own tool of `sys.monitoring`, beside the debugger's.

    tool.open({LINE: on_line})
    tool.watch(code)            # lines, calls and results of this code object from now on

A tool of its own: what the debugger's has disabled at a place would be lost to the recorder, too.
"""

import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside.monitoring import (
    CALL,
    EVERYWHERE,
    LINE,
    PY_RESUME,
    PY_RETURN,
    PY_START,
    PY_YIELD,
    free_tool,
    take_tool,
)
from trio_debugmcp.engine.inside.recorder.generated_texts import COMPILING

WATCHED = LINE | PY_START | PY_RESUME | PY_RETURN | PY_YIELD

_TOOLS = (4, 5)
"""Above the debugger's: the interpreter calls the highest one first, so what a thread stops at is recorded before."""

_NAME = "trio_debugmcp recorder"

_set_events: Any = sys.monitoring.set_events  # type: ignore[attr-defined]
_set_local_events: Any = sys.monitoring.set_local_events  # type: ignore[attr-defined]


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
        self._callbacks = callbacks
        self._tool = take_tool(_TOOLS, _NAME, callbacks)
        _set_events(self._tool, EVERYWHERE)  # last: a function that begins is watched by the number of the tool

    def watch(self, code: Any) -> None:
        """Have lines and results of a code object reported, and the calls of one that may have texts compiled."""
        if self._tool >= 0:
            _set_local_events(self._tool, code, WATCHED if COMPILING.isdisjoint(code.co_names) else WATCHED | CALL)
            self._watched.append(code)

    def close(self) -> None:
        """Report nothing any more."""
        tool, self._tool = self._tool, -1
        free_tool(tool, _NAME, self._callbacks, self._watched)
        self._watched.clear()
