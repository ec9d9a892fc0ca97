"""What a stop shows of its frame: its locals, the globals that the statement at hand reads, and the exceptions.

    put(answer, frame, 100, budget, renderer)   # at `return price * RATE`: {"locals": [...], "globals": [RATE], ...}

Which globals: the instructions of the line name them, and those of further lines of its statement. Modules, classes
and functions are left out, as loggers are: they hardly change, and nearly each line names some.
"""

import types
from typing import Any, Dict, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside import frame_names, visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import bytecode
from trio_debugmcp.probe.inside.values import behind, facts
from trio_debugmcp.probe.inside.values.rendering import Renderer

MOST_GLOBALS = 8
"""A statement that reads more values of its module is rare."""

_DEFINITIONS = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)

_READS = ("LOAD_GLOBAL", "LOAD_NAME")

_ENDS = ("RETURN", "RAISE", "RERAISE", "JUMP", "POP_", "FOR_ITER", "STORE_", "DELETE_", "NOP", "SETUP_", "END_")
"""Beginnings of the names of instructions behind which another line is another statement."""


def put(answer: Dict[str, Any], frame: Any, most: int, budget: Budget, renderer: Renderer) -> None:
    """Put the first locals of a frame into an answer, their number, and the globals that are read where it is."""
    pairs = visible_frames.local_names(frame)
    known = pairs[:most]
    both = known + read_globals(frame)
    shown = visible_frames.variables(both, 0, len(both), budget, renderer)
    behind.add_digests(both, shown)
    answer["locals"], answer["localsTotal"] = shown[: len(known)], len(pairs)
    if len(shown) > len(known):
        answer["globals"] = shown[len(known) :]


def put_exceptions(
    answer: Dict[str, Any], thread: ProgramThread, frame: Any, budget: Budget, renderer: Renderer
) -> None:
    """Put into an answer what a frame is handling, and where the exception was raised at which the thread is stopped.

    The latter if the exception has left that frame and was raised again, as templates do.
    """
    handled = attached.debugger().handled(thread)
    raised, _ = attached.debugger().exception(thread)
    if handled is None and raised is None:
        return
    from trio_debugmcp.probe.inside import exception_chain  # most stops need none of it

    if handled is not None and exception_chain.is_handled_in(frame, handled):
        answer["handling"] = exception_chain.line(handled, renderer)
    left = None if raised is None else exception_chain.left_place(thread, budget, renderer)
    if left is not None:
        answer["raised"] = left


def read_globals(frame: Any) -> List[Tuple[str, Any]]:
    """Return the first globals that a frame reads on its line, with their values; none of a module, which shows all."""
    code, line = frame.f_code, frame.f_lineno
    if type(code) is not types.CodeType or code.co_name == "<module>":
        return []
    if not any(_is_value(frame, name) for name in _names(code)):
        return []  # of most functions: their instructions need not be read
    try:
        found = bytecode.instructions(code)
    except ValueError:  # it is too long
        return []
    names: Dict[str, None] = {}
    for instruction in _of_statement(code, found, line):
        if instruction.opname in _READS:
            names[instruction.argval] = None
        elif instruction.opname == "LOAD_CONST" and _is_inner(instruction.argval):
            names.update(dict.fromkeys(_names(instruction.argval)))
    return [(name, frame.f_globals[name]) for name in names if _is_value(frame, name)][:MOST_GLOBALS]


def _is_value(frame: Any, name: str) -> bool:
    if not visible_frames.is_shown(name) or name[:2] == "__" or frame_names.is_local(name, frame):
        return False
    value = frame.f_globals.get(name, facts.MISSING)
    kind = type(value)
    return value is not facts.MISSING and not issubclass(kind, _DEFINITIONS) and facts.module_name(kind) != "logging"


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names that code may look up, and those of the comprehensions and lambdas in it."""
    yield from code.co_names
    for each in code.co_consts:
        if _is_inner(each):
            yield from _names(each)


def _is_inner(value: Any) -> bool:
    """Whether a constant is the code of a comprehension, a generator expression or a lambda: a part of a statement."""
    return type(value) is types.CodeType and value.co_name[:1] == "<"


def _of_statement(code: types.CodeType, found: List[Any], line: Optional[int]) -> Iterator[Any]:
    """Yield the instructions on a line, and those that follow on others while no statement ends."""
    import dis

    lines = dict(dis.findlinestarts(code))
    here: Optional[int] = None
    goes_on = False
    for instruction in found:
        here = lines.get(instruction.offset, here)
        if here == line or goes_on:
            yield instruction
            goes_on = not instruction.opname.startswith(_ENDS)
