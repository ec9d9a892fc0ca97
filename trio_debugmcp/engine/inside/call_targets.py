"""The calls of a statement that is about to run: which there are, in the order in which they are evaluated.

    targets = CallTargets(sources).ahead_of(frame)
    [each.described() for each in targets]      # [{"id": 1, "label": "scale(n)", "line": 16, ...}, ...]

Calls of a lambda or of a comprehension in the statement are among them, and those of other statements on its line. They
are found in the code, and named by the source; where there is none, by the names that the code has, and only those on
the very line are found.
"""

from typing import Any

from trio_debugmcp.engine.inside.catching import opcodes, operands
from trio_debugmcp.engine.inside.catching.disassembly import Disassembly, UnreadableCodeError
from trio_debugmcp.engine.inside.program_sources import ProgramSources

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.source_statements import NamedCall, SourceStatements

_CALLS = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX"})

_BACKWARD = "JUMP_BACKWARD"

_MOST = 50

_MOST_NESTED = 10
"""Lambdas and comprehensions in one another."""

_LATER = 0x20 | 0x80 | 0x200
"""Flags of the code of generators, coroutines and async generators: a call of one runs nothing of it yet."""

_CONTINUES = 3
"""The bits of the argument of `RESUME` that say after what a function continues; 0 if it begins."""

_Function: Any = type(lambda: None)
_Method: Any = type((lambda _: None).__get__(0))


class CallTarget:
    """A call that can be stepped into.

    Attributes:
        frame: in which the statement is.
        code: that of the frame, or of a lambda or a comprehension in the statement.
        places: first and last offset of the instruction, as often as the compiler has made it.
        lines: the first and the last of the statement.
    """

    __slots__ = (
        *("_ahead", "_later", "_reached", "_waiting"),
        *("call", "code", "frame", "id", "lines", "places"),
    )

    def __init__(self, number: int, frame: Any, code: Any, call: "NamedCall", lines: tuple[int, int]) -> None:
        self.id = number
        self.frame = frame
        self.code = code
        self.call = call
        self.lines = lines
        self.places: list[tuple[int, int]] = []
        self._later: Any = None
        self._reached = _before(frame)
        self._ahead = 0
        self._waiting: list[Any] = []

    def described(self) -> dict[str, Any]:
        """Return it as DAP's `stepInTargets` has it."""
        call = self.call
        found = {"id": self.id, "label": call.label, "line": call.line}
        return {**found, "column": call.column} if call.column else found

    def is_at(self, offset: int) -> bool:
        """Whether an instruction of the code is this call."""
        return any(first <= offset <= last for first, last in self.places)

    def called(self, frame: Any, offset: int, function: Any) -> None:
        """A frame calls something. If it makes a coroutine or a generator, that begins later: maybe somewhere else.

        Those that are made of one function are taken to begin in the order in which they were made.
        """
        if frame is self.frame:
            self._reached = max(self._reached, offset)
        elif frame.f_code is not self.code or self.code is self.frame.f_code:
            return
        if type(function) is _Method:
            function = function.__func__
        if type(function) is not _Function or not function.__code__.co_flags & _LATER or self._later is not None:
            return
        made = function.__code__
        if frame.f_code is self.code and self.is_at(offset):
            self._later = made
            self._ahead = len([each for each in self._waiting if each is made])
        elif len(self._waiting) < _MOST:
            self._waiting.append(made)

    def _begins(self, frame: Any) -> bool:
        """Whether a frame that has just been entered is the coroutine or the generator that the call has made."""
        entered = frame.f_code
        if not entered.co_flags & _LATER or entered.co_code[frame.f_lasti + 1] & _CONTINUES:
            return False
        if self._later is None:
            for place, each in enumerate(self._waiting):
                if each is entered:
                    del self._waiting[place]
                    break
        elif entered is self._later:
            self._ahead -= 1
            return self._ahead < 0
        return False

    def leads_to(self, frame: Any) -> bool:
        """Whether a frame that has just been entered is that of the call, or within it."""
        if self._begins(frame):
            return True
        within, back = False, frame.f_back
        while back is not None:
            within = within or (back.f_code is self.code and self.is_at(back.f_lasti))
            if back is self.frame:
                return within and (self.code is not back.f_code or self.is_at(back.f_lasti))
            back = back.f_back
        return False

    def is_ahead(self, frame: Any) -> bool:
        """Whether its frame, on a further line of the statement, is still on the way to the call.

        One that goes back is not: it could do so for ever.
        """
        first, last = self.lines
        offset = int(frame.f_lasti)
        is_on_way = (
            first <= (frame.f_lineno or 0) <= last
            and offset > self._reached
            and (self._later is not None or frame.f_code is not self.code or offset <= self.places[0][0])
        )
        self._reached = offset
        return is_on_way


class CallTargets:
    """Finds the calls of statements."""

    def __init__(self, sources: ProgramSources) -> None:
        self._sources = sources

    def ahead_of(self, frame: Any) -> list[CallTarget]:
        """Return the calls of the statement of a frame that are not over yet."""
        from trio_debugmcp.engine.inside.source_statements import statements_at  # its syntax trees take their time

        line = frame.f_lineno or 0
        name = frame.f_code.co_filename
        text = self._sources.of_name(name) if self._sources.is_of_file(frame) else None
        statements = None if text is None else statements_at(text, line)
        found: list[CallTarget] = []
        try:
            _add(found, frame, frame.f_code, _before(frame), statements, 0)
        except UnreadableCodeError:
            return []
        return found


def _before(frame: Any) -> int:
    """Return the offset behind which calls are still to come; -1 where a loop is about to begin again."""
    offset = int(frame.f_lasti)
    return -1 if opcodes.NAMES.get(frame.f_code.co_code[offset]) == _BACKWARD else offset


def _add(
    found: list[CallTarget], frame: Any, code: Any, after: int, statements: "SourceStatements | None", nested: int
) -> None:
    """Add the calls of a code object, and of what it makes of lambdas and comprehensions, in their order."""
    read = Disassembly(code)
    positions = list(code.co_positions())
    for index, name in enumerate(read.names):
        offset = read.offsets[index]
        if offset <= after or len(found) >= _MOST:
            continue
        if name == "LOAD_CONST" and nested < _MOST_NESTED:
            constant = code.co_consts[read.args[index]]
            if type(constant) is type(code) and constant.co_name[:1] == "<":
                _add(found, frame, constant, -1, statements, nested + 1)
        elif name in _CALLS:
            call = _named(read, index, positions[offset // 2], frame.f_lineno, statements)
            if call is not None:
                end = read.offsets[index + 1] - 1 if index + 1 < len(read.offsets) else offset
                _put(found, frame, code, call, statements).places.append((offset, end))


def _put(
    found: list[CallTarget], frame: Any, code: Any, call: "NamedCall", statements: "SourceStatements | None"
) -> CallTarget:
    """Return the target of a call, which the compiler may have made several times."""
    for each in found:
        if each.call is call:
            return each
    lines = (call.line, call.line) if statements is None else (statements.first, statements.last)
    made = CallTarget(len(found) + 1, frame, code, call, lines)
    found.append(made)
    return made


def _named(
    read: Disassembly, index: int, position: Any, current: int, statements: "SourceStatements | None"
) -> "NamedCall | None":
    """Return what is known of the call at an instruction; None if it is not written in the statement."""
    line, end_line, column, end_column = position
    if statements is not None and end_column is not None:
        return statements.call(line, column, end_line, end_column)
    if line != current:
        return None
    from trio_debugmcp.engine.inside.source_statements import NamedCall

    name = _dotted(operands.callee(read, index))
    return NamedCall(name, line, 0) if name else None


def _dotted(expression: Any) -> str:
    """Return the name by which something is called, or an empty text."""
    if expression is None:
        return ""
    if expression[0] == "attr":
        owner = _dotted(expression[1])
        return f"{owner}.{expression[2]}" if owner else str(expression[2])
    return str(expression[1]) if expression[0] in ("fast", "deref", "name", "global", "super") else ""
