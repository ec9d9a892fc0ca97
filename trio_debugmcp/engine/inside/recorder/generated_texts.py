"""`GeneratedTexts`: the texts of code that is of no file, by code object: several are called `<string>`.

    texts.give("x = 1", 25)             # a recorded line has given it to exec, eval or compile
    texts.of(code, frame)               # (its text, 25), or None

A library that generates code (dataclasses, attrs) has the text in a variable when it executes it. A text is taken for
that of a code object only if it compiles to an equal one.
"""

from builtins import compile as _compile
from builtins import eval as _eval
from builtins import exec as _exec
from types import CodeType
from typing import Any, Callable, Iterator

from trio_debugmcp.engine.inside import monitoring
from trio_debugmcp.engine.inside.quiet_warnings import without_warnings
from trio_debugmcp.engine.inside.recorder.object_paths import names_of

DISABLE = monitoring.DISABLE

COMPILING = frozenset(("exec", "eval", "compile"))
"""Names by which code gives texts to the compiler."""

BY_LIBRARY = -1
"""In the place of a row: no recorded line has had the text compiled."""

_COMPILERS = (_exec, _eval, _compile)

_MOST_GIVEN, _MOST_KNOWN, _MOST_TRIED = 30, 5000, 8

_MOST_CHARACTERS = 1_000_000

_FUTURE_ANNOTATIONS = 0x1000000

_OPTIMIZED = 0x1


class GeneratedTexts:
    """The texts, as far as they are known.

    Args:
        line_of: Returns the row of the line under way in the nearest recorded frame above one.
    """

    def __init__(self, line_of: Callable[[Any], int]) -> None:
        self._line_of = line_of
        self._given: list[tuple[Any, int, bool]] = []
        self._known: dict[int, Any] = {}

    def called(self, function: Any, first: Any, line: int) -> Any:
        """A function is called by a recorded line: keep the text that the compiler gets."""
        if not any([function is compiler for compiler in _COMPILERS]):
            return DISABLE
        if type(first) in (str, bytes) and len(first) <= _MOST_CHARACTERS:
            self._given.insert(0, (first, line, function is not _compile))
            del self._given[_MOST_GIVEN:]
        return None

    def of(self, code: Any, frame: Any) -> tuple[bytes, int] | None:
        """Return the text of a code object, and the row of the line that had it compiled or executed, or None.

        The row is 0 where it is not known which one that was: two lines have had the same text compiled; `BY_LIBRARY`
        where the text is a variable of code that is not recorded.
        """
        known = self._known.get(id(code))
        if known is None or known[0] is not code:
            for text, line in self._texts(code, frame):
                if _is_of(text, code):
                    data = text if type(text) is bytes else text.encode("utf-8", "replace")
                    self._keep(code, data, line)
                    return data, line
            return None
        return known[1], known[2]

    def _texts(self, code: Any, frame: Any) -> Iterator[tuple[Any, int]]:
        """Yield texts that may be that of a code object: those given last, those that the calling frame has."""
        tried = 0
        back = frame.f_back
        now = 0 if back is None else self._line_of(back)
        for text, line in (*self._of_given(now), *self._of_caller(back)):
            if type(text) is str and not all([name in text for name in code.co_names]):
                continue
            yield text, line
            tried += 1
            if tried == _MOST_TRIED:
                return

    def _of_given(self, now: int) -> Iterator[tuple[Any, int]]:
        compiled = [text for text, _, is_executed in self._given if not is_executed]
        for text, line, is_executed in self._given:
            if not is_executed:
                yield text, line if compiled.count(text) == 1 else 0
            elif line == now:
                yield text, line

    @staticmethod
    def _of_caller(back: Any) -> Iterator[tuple[Any, int]]:
        if back is None:
            return
        names = names_of(back, bool(back.f_code.co_flags & _OPTIMIZED))
        values = [*[names.get(name) for name in back.f_code.co_varnames], *back.f_code.co_consts]
        for value in values:
            if type(value) is str and 0 < len(value) <= _MOST_CHARACTERS:
                yield value, BY_LIBRARY

    def _keep(self, code: Any, text: bytes, line: int) -> None:
        """Remember the text, for the code in that code too."""
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[id(code)] = code, text, line  # held, so that its id stays its own
        for inner in code.co_consts:
            if type(inner) is CodeType:
                self._keep(inner, text, line)


def _is_of(text: Any, code: Any) -> bool:
    """Whether a code object was made of a text."""
    flags = code.co_flags & _FUTURE_ANNOTATIONS

    def made(mode: str) -> Any:
        return without_warnings(Warning, lambda: _compile(text, code.co_filename, mode, flags, dont_inherit=True))

    for mode in ("exec", "eval"):
        try:
            if _has(made(mode), code):
                return True
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return False


def _has(made: Any, code: Any) -> bool:
    if made.co_name == code.co_name and made == code:
        return True
    return any([_has(inner, code) for inner in made.co_consts if type(inner) is CodeType])
