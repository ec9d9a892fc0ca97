"""`FrameRenewal`: frames that a call of the program has ended for the adapter, asked for again before they are used.

JDI ends the frames of a thread when a method is called in it. An adapter that has kept them answers about them with an
error, or with nothing, until it is asked for the stack again; the ids of the frames stay as they are.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trio_debugmcp.dap.messages import StackTraceBody
from trio_debugmcp.dap.profiles.habits import Habits

_ABOUT_FRAMES = frozenset({"evaluate", "scopes", "variables", "setVariable", "setExpression"})


class FrameRenewal:
    """Which threads of one session have frames that are over."""

    def __init__(self, habits: Habits) -> None:
        self._is_needed = habits.calls_end_frames
        self._threads: dict[int, int] = {}
        self._ended: set[int] = set()

    def __repr__(self) -> str:
        return f"<FrameRenewal: {len(self._ended)} threads>"

    def before(self, command: str, arguments: object) -> Iterator[dict[str, int]]:
        """Yield the arguments of each `stackTrace` that this request needs first, and note what the request ends."""
        if not self._is_needed or command not in _ABOUT_FRAMES or not isinstance(arguments, Mapping):
            return
        while self._ended:
            yield {"threadId": self._ended.pop()}
        thread = self._threads.get(arguments.get("frameId", 0))
        if command == "evaluate" and thread is not None and "(" in arguments.get("expression", ""):
            self._ended.add(thread)

    def learn(self, command: str, arguments: object, body: Any) -> None:
        """Keep of which thread the frames are that an adapter has answered with."""
        if not self._is_needed or not isinstance(body, StackTraceBody) or not isinstance(arguments, Mapping):
            return
        self._threads |= {frame.id: arguments.get("threadId", 0) for frame in body.stack_frames or ()}
