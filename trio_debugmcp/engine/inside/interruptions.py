"""What the program's signal handlers raise while its main thread is in the engine, and what is sent to any thread.

A handler runs between any two steps of our code, and what it raises (KeyboardInterrupt, mostly) belongs to the program:
it is raised there when the thread leaves the engine. So does what another thread has sent, with the C function
`PyThreadState_SetAsyncExc`.
Meanwhile nothing that has begun is left half done: `firm` calls a function in C, and `completed` one of ours, and both
put such exceptions aside, however many come.

The interpreter looks for signals where a function begins, where a loop goes back, and after a call of a function in C.
What puts exceptions aside does none of this where it could not catch them: it is compiled `without_checks`.
"""

from typing import Any, Callable

from trio_debugmcp.engine.inside.catching import opcodes
from trio_debugmcp.probe.inside import signal_handlers
from trio_debugmcp.probe.inside.waking import EvaluationInterrupt

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
    """Whether an exception was raised by code of the program that ran in a signal handler, or sent, and not by ours."""
    if id(error) in _passed_on:
        return True
    if isinstance(error, EvaluationInterrupt):
        return False
    if isinstance(error, KeyboardInterrupt):  # of the default handler, which is in C
        return True
    step = _traceback(error)
    if step is None:
        return False
    if step.tb_next is None:  # raised where it is caught: by us, by what we have called in C, or sent
        return _was_sent(error, step)
    while step.tb_next is not None:
        step = step.tb_next
    return not is_own_code(step.tb_frame.f_code) or _was_sent(error, step)


def is_of_signal(error: BaseException) -> bool:
    """Whether a signal handler has raised an exception in code that was evaluated, and not that code itself."""
    if isinstance(error, EvaluationInterrupt):
        return False
    step = _traceback(error)
    if signal_handlers.handler_step(step) is not None:
        return True
    if step is None or type(error) is not KeyboardInterrupt:
        return False
    while step.tb_next is not None:
        step = step.tb_next
    return not _instruction(step).startswith("RAISE")  # the default handler is in C


def _instruction(step: Any) -> str:
    """Return the name of the instruction at which an exception has arrived in a frame."""
    return opcodes.NAMES.get(step.tb_frame.f_code.co_code[step.tb_lasti], "")


def _was_sent(error: BaseException, step: Any) -> bool:
    """Whether an exception that has arrived at an instruction of ours was sent to this thread by another one.

    That happens where the interpreter looks for signals. Where a call ends, an error of what we have called has the
    same place, but says something; what is sent is a class.
    """
    if isinstance(error, _WORDLESS):
        return False
    name = _instruction(step)
    return name in ("RESUME", "JUMP_BACKWARD") or (name[:4] == "CALL" and not _arguments(error))


_arguments: Any = BaseException.__dict__["args"].__get__

_WORDLESS = (StopIteration, MemoryError, RecursionError)
"""What the interpreter and functions in C raise without a word."""


QUIET_RESUME = 2
"""The argument of `RESUME`, from which on no signals are looked for: a generator continues that awaits another one."""

_NUMBERS = {name: number for number, name in opcodes.NAMES.items()}


def without_checks(function: Any) -> Any:
    """Have the interpreter look for no signals where a function begins, and where its loops go back."""
    code = function.__code__
    text = bytearray(code.co_code)
    for place in range(0, len(text), 2):
        name = opcodes.NAMES.get(text[place])
        if name == "RESUME":
            text[place + 1] = QUIET_RESUME
        elif name == "JUMP_BACKWARD":
            jump = bytes((_NUMBERS["JUMP_BACKWARD_NO_INTERRUPT"], text[place + 1]))
            if _HAS_CACHE:  # the other one has none: so it takes its place, to go back as far
                text[place : place + 4] = bytes((_NUMBERS["NOP"], 0)) + jump
            else:
                text[place : place + 2] = jump
    function.__code__ = code.replace(co_code=bytes(text))
    return function


_HAS_CACHE = opcodes.VERSION >= (3, 13)
"""Whether a backward jump is followed by a cache."""


@without_checks
def firm(raised: list[BaseException], function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in C until it has been called; return its result. What signal handlers raise is added to a list.

    The result is stored in the same step of the interpreter as the call, so it is never lost.

    Raises:
        Exception: what the function itself has raised.
    """
    results: list[Any] = []
    packed = [(each,) for each in arguments]
    caught: list[BaseException] = []
    own: list[BaseException] = []
    while not own:
        try:
            _sort(caught, raised, own)
            if not (results or own):
                results.extend(map(function, *packed))
            if results:
                return results[0]
        except BaseException as error:
            caught += [error]
    raise own[0]


@without_checks
def completed(raised: list[BaseException], function: Callable[..., None], *arguments: Any) -> None:
    """Call a function of ours until it has returned: again after each exception of a signal handler, which is kept.

    Raises:
        Exception: what the function itself has raised.
    """
    caught: list[BaseException] = []
    own: list[BaseException] = []
    while not own:
        try:
            _sort(caught, raised, own)
            if not own:
                function(*arguments)
                return
        except BaseException as error:
            caught += [error]
    raise own[0]


@without_checks
def done_once(raised: list[BaseException], function: Callable[[], None]) -> list[BaseException]:
    """Call a function of ours once, whatever comes of it; return the errors that are ours, and keep the others."""
    caught: list[BaseException] = []
    own: list[BaseException] = []
    is_begun = False
    while True:
        try:
            if not is_begun:
                is_begun = True
                function()
            _sort(caught, raised, own)
            return own
        except BaseException as error:
            caught += [error]


def _sort(caught: list[BaseException], raised: list[BaseException], own: list[BaseException]) -> None:
    """Move exceptions to those of signal handlers, or to our own. One that comes meanwhile is the caller's to catch."""
    while caught:
        if not isinstance(caught[0], EvaluationInterrupt):  # one that came too late
            kind = raised if is_foreign(caught[0]) else own
            kind += caught[:1]
        del caught[0]
