"""Functions of the interpreter that only C has, called by the module behind `ctypes`, which need not be imported.

    raise_in(thread, KeyboardInterrupt)     # at that thread's next step of Python code
    locals_to_fast(frame, clear=False)      # up to Python 3.12

Loaded where one of them is needed: most programs do without.
"""

import _ctypes
from typing import Any, Optional

_CDECL, _PYTHONAPI = 1, 4
"""Flags of a function of C: how it is called, and that it needs the GIL."""


class _Int(_ctypes._SimpleCData):  # type: ignore[type-arg]
    _type_ = "i"


class _UnsignedLong(_ctypes._SimpleCData):  # type: ignore[type-arg]
    _type_ = "L"


class _Object(_ctypes._SimpleCData):  # type: ignore[type-arg]
    _type_ = "O"


def _function(name: str, *parameters: Any) -> Any:
    names = {"_flags_": _CDECL | _PYTHONAPI, "_restype_": _Int, "_argtypes_": parameters}
    own: Any = _ctypes
    return type(name, (_ctypes.CFuncPtr,), names)(own.dlsym(own.dlopen(None, 0), name))


_raise_in = _function("PyThreadState_SetAsyncExc", _UnsignedLong, _Object)


def raise_in(thread: int, kind: Optional[type]) -> None:
    """Have an exception raised in a thread at its next step of Python code; None takes that back."""
    _raise_in(thread, _Object() if kind is None else _Object(kind))


def locals_to_fast(frame: Any, clear: bool) -> None:
    """Write the dictionary of a frame's locals back into the frame; `clear`: what is missing there, too."""
    _function("PyFrame_LocalsToFast", _Object, _Int)(_Object(frame), int(clear))
