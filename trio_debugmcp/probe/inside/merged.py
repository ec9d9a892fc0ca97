"""The names of a frame as pydevd puts them together for an evaluation: globals and locals in one dict.

Afterwards pydevd makes locals of all that has changed. In a function that loses an assignment to a global: the program
never reads the local that it becomes, and later evaluations do.
"""

import sys
from typing import Any, Dict, Optional, Tuple

_OPTIMIZED = 1
"""Flag of the code of functions, whose locals are known when it is compiled."""

_MOST_CALLS = 12
"""Between the evaluated code and the function of pydevd that has put the names together; there are five."""


def give_globals_back(evaluated: Any) -> None:
    """Set the globals of the module that have changed in an evaluation; `evaluated` is its outermost frame."""
    found = _pydevd_names(evaluated)
    if found is None:
        return
    frame, before = found
    code, names = frame.f_code, evaluated.f_globals
    if not code.co_flags & _OPTIMIZED:
        return
    own = code.co_varnames + code.co_cellvars + code.co_freevars
    for name in [each for each in before if each in frame.f_globals and each not in own]:
        if name not in names:
            del frame.f_globals[name], before[name]
        elif names[name] is not before[name]:
            # Also in what pydevd compares with: it makes a local of what differs there.
            frame.f_globals[name] = before[name] = names[name]


def _pydevd_names(evaluated: Any) -> Optional[Tuple[Any, Dict[str, Any]]]:
    """The frame in which pydevd evaluates, and a copy of the names from before; None if it is another debugger."""
    caller = evaluated.f_back
    for _ in range(_MOST_CALLS):
        if caller is None:
            return None
        if caller.f_code.co_name == "evaluate_expression" and "initial_globals" in caller.f_code.co_varnames:
            known = caller.f_locals
            frame, before = known.get("frame"), known.get("initial_globals")
            return (frame, before) if type(before) is dict and type(frame) is type(sys._getframe()) else None
        caller = caller.f_back
    return None
