"""What the program's signal handlers raise while its main thread is in the engine.

A handler runs between any two steps of our code, and what it raises (KeyboardInterrupt, mostly) belongs to the program:
it is raised there when the thread leaves the engine. Meanwhile nothing that has begun is left half done: `firm` calls a
function in C, and takes its result and such an exception apart.
"""

from typing import Any, Callable

from trio_debugmcp.probe.inside import signal_handlers

OWN_FILES = "<trio_debugmcp"
"""How the file names of our code begin."""

EVALUATED = ("<breakpoint>", "<expression>", "<evaluate>")
"""File names of expressions that are the debugger's."""

signal_handlers.pass_on()

_traceback: Any = BaseException.__dict__["__traceback__"].__get__


def is_own_code(code: Any) -> bool:
    """Whether a code object is the engine's or the probe's."""
    return bool(code.co_filename.startswith(OWN_FILES))


_passed_on: set[int] = set()


def as_the_programs(error: BaseException) -> BaseException:
    """Prepare an exception that is kept to be raised by us, as if the program had raised it."""
    _passed_on.add(id(error))
    return error.with_traceback(_without_ours(_traceback(error)))


def clean(error: BaseException) -> bool:
    """Take our frames out of the traceback of an exception that has just arrived in a frame of the program.

    Return whether it has come there from another frame.
    """
    step = _traceback(error)
    inner = None if step is None else step.tb_next
    if _passed_on:
        _passed_on.discard(id(error))
    if inner is None:
        return False
    if inner.tb_frame.f_code.co_filename.startswith(OWN_FILES):
        step.tb_next = inner = _without_ours(inner)
    return inner is not None


def _without_ours(step: Any) -> Any:
    """Return what is left of a traceback: it begins at a signal handler, or behind the frames that are ours."""
    begin = signal_handlers.handler_step(step)
    if begin is not None:
        return begin
    while step is not None and (is_own_code(step.tb_frame.f_code) or step.tb_frame.f_code.co_filename in EVALUATED):
        step = step.tb_next
    return step


def is_foreign(error: BaseException) -> bool:
    """Whether an exception was raised by code of the program that ran in a signal handler, and not by ours."""
    if id(error) in _passed_on:
        return True
    if isinstance(error, KeyboardInterrupt):  # of the default handler, which is in C
        return True
    step = _traceback(error)
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return step is not None and not is_own_code(step.tb_frame.f_code)


def firm(function: Callable[..., Any], *arguments: Any) -> tuple[Any, BaseException | None]:
    """Call a function in C until it has been called; return its result, and what a signal handler has raised.

    The result is stored in the same step of the interpreter as the call, so it is never lost.

    Raises:
        Exception: what the function itself has raised.
    """
    results: list[Any] = []
    kept: BaseException | None = None
    packed = [(each,) for each in arguments]
    while True:
        try:
            if not results:
                results.extend(map(function, *packed))
            return results[0], kept
        except BaseException as error:
            if not is_foreign(error):
                raise
            kept = error
