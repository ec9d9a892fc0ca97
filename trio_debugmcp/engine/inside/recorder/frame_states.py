"""`FrameStates`: the frames of recorded code that have begun: those that run, and generators that wait.

    state = states.living.get(frame)
    states.enter(state, frame)          # it runs in this thread now
    states.leave(frame)                 # it does not any more

A frame that runs is known by itself, so it is never taken for a later one at the same address.
"""

import _thread
from itertools import count
from typing import Any

from trio_debugmcp.engine.inside.recorder.object_paths import names_of

_get_ident = _thread.get_ident

_NO_STEPS: dict[int, Any] = {}

UNRECORDED: Any = object()
"""In place of the state of a frame that the debugger itself has the program's code run in, in a thread of its own."""


class FrameState:
    """A frame of recorded code.

    Attributes:
        line: the row of the line under way; `pending`: its statement, until what it wrote is written.
        steps: the `steps` of that statement.
        names: its locals, where they stay the same object and show what they are now (from 3.13 on); else None.
        known: by name the token of what it is known to be.
        watch: containers that the line under way can change, as (known, value, kind, whether it does so itself).
        given: objects that it gives to calls, as (known, value).
        targets: objects whose fields it stores, as they were before, where it stores the way to them, too.
        holds: it knows names of objects that are held; `objects`: names of its locals that are not atoms, or nothing.
        globals: what is known of the namespace of its module.
        raised, called, suspended: what has happened in the line under way: an exception came here; recorded code was
            called; the frame was left for a while.
        lines: that it has begun, or 2 if these are more; `is_begun`: the first one is written already, should the
            interpreter report it.
    """

    __slots__ = (
        *(
            "called",
            "code",
            "frame",
            "given",
            "is_module",
            "known",
            "line",
            "lines",
            "number",
            "parent",
            "objects",
            "pending",
            "sites",
        ),
        *("globals", "holds", "is_begun", "is_function", "names", "raised", "start", "steps", "suspended"),
        *("targets", "watch"),
    )

    globals: Any
    parent: Any
    start: int

    def __init__(self, code: Any, frame: Any, number: int) -> None:
        self.code = code
        self.frame = frame
        self.number = number
        self.line = self.lines = self.called = 0
        self.pending: Any = None
        self.steps: dict[int, Any] = _NO_STEPS
        self.names: Any = None
        self.known: dict[str, Any] = {}
        self.objects: Any = ()
        self.watch: Any = ()
        self.given: Any = ()
        self.targets: Any = ()
        self.sites: dict[int, Any] = code.sites
        self.is_function: bool = code.is_function
        self.raised = self.suspended = self.is_module = self.is_begun = self.holds = False

    def names_now(self, frame: Any) -> Any:
        """Return the names of its frame, which is this one."""
        return names_of(frame, self.is_function) if self.names is None else self.names


class FrameStates:
    """The states, by frame.

    Attributes:
        living: of frames that run, by frame; `waiting`: of those that were left for a while, by the frame's id.
        stacks: by thread, the outermost first.
    """

    def __init__(self) -> None:
        self.living: dict[Any, FrameState] = {}
        self.waiting: dict[int, FrameState] = {}
        self.stacks: dict[int, list[FrameState]] = {}
        self._numbers: dict[int, int] = {}
        self._count = count(1)

    def enter(self, state: FrameState, frame: Any, thrown: bool = False) -> int:
        """A frame begins, or continues, in this thread; return the thread's number.

        An exception is thrown into the innermost of those that wait for each other: that one continues first.
        """
        living = self.living
        parent = self._thrown_through(frame) if thrown else living.get(frame.f_back) or self.above(frame)
        state.parent = parent
        if parent is not None:
            parent.called += 1
        state.frame = frame
        living[frame] = state
        ident = _get_ident()
        stack = self.stacks.get(ident)
        if stack is None:
            self.stacks[ident] = [state]
            if ident not in self._numbers:
                self._numbers[ident] = next(self._count)
        else:
            stack.append(state)
        return self._numbers[ident]

    def above(self, frame: Any) -> FrameState | None:
        """Return the nearest recorded frame that has called this one."""
        back = frame.f_back
        living = self.living
        while back is not None:
            found = living.get(back)
            if found is not None:
                return found
            back = back.f_back
        return None

    def _thrown_through(self, frame: Any) -> FrameState | None:
        """Return the nearest recorded frame that has called this one, or waits for it."""
        back = frame.f_back
        while back is not None:
            found = self.living.get(back)
            if found is not None:
                return found
            waiting = self.waiting.get(id(back))
            if waiting is not None and waiting.code.code is back.f_code:
                return waiting
            back = back.f_back
        return None

    def line_of(self, frame: Any) -> int:
        """Return the row of the line under way in a frame, or in the nearest recorded one that has called it."""
        state = self.living.get(frame) or self.above(frame)
        return 0 if state is None else state.line

    def leave(self, frame: Any) -> FrameState | None:
        """A frame runs no more; return its state, if it is known."""
        state = self.living.pop(frame, None)
        if state is None:
            return None
        ident = _get_ident()
        stack = self.stacks.get(ident)
        if stack:
            if stack[-1] is state:
                stack.pop()
            elif state in stack:
                stack.remove(state)
            if not stack:  # the thread may end, and another one have its number then
                self.stacks.pop(ident, None)
        return state

    def wait(self, state: FrameState, frame: Any) -> None:
        """A frame that was left will perhaps be continued."""
        self.waiting[id(frame)] = state
        state.frame = state.names = None

    def others_watch(self, known: Any) -> bool:
        """Whether the line under way in another thread can change an object."""
        if len(self.stacks) < 2:
            return False
        own = _get_ident()
        for ident, stack in list(self.stacks.items()):
            if ident != own and stack and any([each[0] is known for each in stack[-1].watch]):
                return True
        return False
