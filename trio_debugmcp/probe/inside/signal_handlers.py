"""What the program's signal handlers raise, which belongs to the program wherever it arrives.

    except BaseException as error:
        if signal_handlers.has_raised(error):
            raise

A handler runs between any two steps of the main thread, also while that judges a condition of a breakpoint. pydevd
passes nothing on: what is raised in a condition stops there. So with it a handler's exception is an error like others.
"""

import _signal  # type: ignore[import-not-found, unused-ignore]
from typing import Any, List

_MOST_WRAPPERS = 8
"""Around a function: methods, partials, objects with a method `__call__`."""


class _Method:
    def method(self) -> None: ...


_Function: Any = type(_Method.method)
_Bound: Any = type(_Method().method)

_traceback: Any = BaseException.__dict__["__traceback__"].__get__
_mro: Any = type.__dict__["__mro__"].__get__
_names: Any = type.__dict__["__dict__"].__get__


_passed_on: List[bool] = []


def pass_on() -> None:
    """Distinguish what handlers raise from now on: the debugger passes it on to the program."""
    _passed_on.append(True)


def has_raised(error: BaseException) -> bool:
    """Whether an exception is of a signal handler. `KeyboardInterrupt` always is: the handler of SIGINT is in C."""
    if isinstance(error, KeyboardInterrupt):
        return True
    return bool(_passed_on) and is_of_handler(error)


def is_of_handler(error: BaseException) -> bool:
    """Whether a function that handles a signal has raised an exception."""
    return handler_step(_traceback(error)) is not None


def handler_step(step: Any) -> Any:
    """Return the entry of a traceback that is the frame of a signal handler, None if there is none."""
    codes = None
    while step is not None:
        if codes is None:
            handlers = [_signal.getsignal(number) for number in range(1, _signal.NSIG)]
            codes = [code for code in map(_code_of, handlers) if code is not None]
        code = step.tb_frame.f_code
        for each in codes:
            if each is code:
                return step
        step = step.tb_next
    return None


def _code_of(handler: Any) -> Any:
    """Return the code that runs when something is called; of anything but functions nothing is asked that would run."""
    for _ in range(_MOST_WRAPPERS):
        cls = type(handler)
        if cls is _Function:
            return handler.__code__
        if cls is _Bound:
            handler = handler.__func__
        elif cls.__name__ == "partial" and cls.__module__ == "functools" and "func" in _names(cls):
            handler = _names(cls)["func"].__get__(handler)
        else:
            handler = next((_names(owner)["__call__"] for owner in _mro(cls) if "__call__" in _names(owner)), None)
            if type(handler) is not _Function:
                return None
    return None
