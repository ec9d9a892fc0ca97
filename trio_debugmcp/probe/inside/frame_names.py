"""The names of a frame for an evaluation, and what becomes of them afterwards.

    names = FrameNames(frame)
    eval("total", names.together)           # globals and locals in one dictionary
    names.write_back()                      # what has changed, where the program sees it

One dictionary, because the parts of a comprehension do not see the locals that `eval` is given. What was a global of a
function's module is one afterwards; what is new is a local of the frame, for later evaluations.
"""

import sys
from typing import Any, Dict

_OPTIMIZED = 1
"""Flag of the code of functions, whose locals are known when it is compiled."""

_WRITES_THROUGH = sys.version_info >= (3, 13)
"""Whether `f_locals` of a function is the frame's own (PEP 667). Before it is a copy, made anew at every look."""

_WARNED = "__warningregistry__"
"""What the interpreter puts among the globals of code that it has warned of: our dictionary."""

_TRIES = 1000
"""How often a variable is set that others undo: each look of theirs has to come between two of our lines."""

_NOTHING = object()

_CLEARS = sys.version_info < (3, 12)
"""Whether a variable of a function can be left without a value. Python 3.12 would set it to None instead."""


class FrameNames:
    """The names of a frame while something is evaluated there."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.together: Dict[str, Any] = {**frame.f_globals, **frame.f_locals}
        self.together.setdefault("globals", lambda: frame.f_globals)  # in place of this dictionary
        self._before = dict(self.together)

    def add(self, name: str, value: Any) -> None:
        """Add a name that is none of the frame's; it is left there only if it is set to something else."""
        self.together[name] = self._before[name] = value

    def write_back(self) -> None:
        """Set in the program what has changed."""
        now, before, frame = self.together, self._before, self._frame
        for name in [each for each in before if each not in now]:
            if is_global(name, frame):
                del frame.f_globals[name]
            else:
                _delete_local(frame, name)
        for name, value in now.items():
            if (name in before and value is before[name]) or (name == _WARNED and name not in before):
                continue
            if is_global(name, frame):
                frame.f_globals[name] = value
            else:
                set_local(frame, name, value)


def is_global(name: str, frame: Any) -> bool:
    """Whether a name of a function's frame stands for a global of its module."""
    return bool(frame.f_code.co_flags & _OPTIMIZED) and name in frame.f_globals and not is_local(name, frame)


def is_local(name: str, frame: Any) -> bool:
    """Whether a frame has a local variable of that name, be it without a value yet."""
    code = frame.f_code
    if not code.co_flags & _OPTIMIZED:
        return name in frame.f_locals
    return name in code.co_varnames + code.co_cellvars + code.co_freevars


def set_local(frame: Any, name: str, value: Any) -> None:
    """Set a local variable of a frame. Each by itself: up to 3.12 a look at `f_locals` undoes what is not written.

    Another thread that looks in between undoes it, too: it is set until it is found to be.
    """
    if not _is_copied(frame):
        frame.f_locals[name] = value
        return
    for _ in range(_TRIES):
        frame.f_locals[name] = value
        _write(frame, clear=False)
        if frame.f_locals.get(name, _NOTHING) is value:
            return
    raise RuntimeError(f"'{name}' is as before: another thread may be looking at its frame. Set it again")


def _delete_local(frame: Any, name: str) -> None:
    if not _CLEARS and frame.f_code.co_flags & _OPTIMIZED and is_local(name, frame):
        raise NameError(f"'{name}' is a variable of the function: it can be set, but not deleted, since Python 3.12")
    if not _is_copied(frame):
        del frame.f_locals[name]
        return
    for _ in range(_TRIES):  # as it is set
        frame.f_locals.pop(name, None)
        _write(frame, clear=True)
        if name not in frame.f_locals:
            return
    raise RuntimeError(f"'{name}' is as before: another thread may be looking at its frame. Try again")


def _is_copied(frame: Any) -> bool:
    """Whether `f_locals` of a frame is a copy of its variables."""
    return not _WRITES_THROUGH and bool(frame.f_code.co_flags & _OPTIMIZED)


def _write(frame: Any, clear: bool) -> None:
    from trio_debugmcp.probe.inside import c_api

    c_api.locals_to_fast(frame, clear and _CLEARS)
