"""`PythonRepl`: what users evaluate in a Python program."""

import ast
import textwrap
from collections.abc import Sequence
from typing import ClassVar

from trio_debugmcp.dap.profiles.language import Rejection, Repl
from trio_debugmcp.dap.profiles.python import safe_syntax
from trio_debugmcp.probe import bootstrap

_COLLECTIONS = frozenset({"list", "tuple", "dict", "set", "frozenset"})
"""Types whose children are their items; `len` of any other type runs code of the program."""

_INTERRUPT = """
import ctypes, sys, threading, time, traceback
class Mine(BaseException): pass
def throw(ident, exception):
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), exception)
def interrupt():
    own = threading.get_ident()
    found = [ident for ident, frame in sys._current_frames().items() if ident != own and any(
        each.f_code.co_name == 'evaluate_expression' for each, _ in traceback.walk_stack(frame))]
    for ident in found:
        throw(ident, ctypes.py_object(KeyboardInterrupt))
    if found:
        time.sleep(0.03)
        for ident in found:
            throw(ident, ctypes.py_object())
        try:
            throw(own, ctypes.py_object(Mine))
            while True: pass
        except Mine: pass
    return len(found)
"""
"""The same as `interrupt` in probe/inside/bounds.py, which says why: no exception stays on its way."""


class PythonRepl(Repl):
    """Python as pydevd evaluates it in its context `repl`, which has no value for None nor for statements."""

    by_probe: ClassVar[bool] = True

    def parts(self, text: str) -> tuple[str, str]:
        text = textwrap.dedent(text).strip("\n")
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return "", text
        if len(body) < 2 or not isinstance(body[-1], ast.Expr):
            return "", text
        lines, last = text.encode().split(b"\n"), body[-1]
        row = last.lineno - 1
        before = b"\n".join([*lines[:row], lines[row][: last.col_offset]])
        after = b"\n".join([lines[row][last.col_offset :], *lines[row + 1 :]])
        return before.decode().rstrip().removesuffix(";"), after.decode()

    def nothing(self, text: str) -> tuple[str, str] | None:
        try:
            ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return "None", "NoneType"

    def safe_rejection(self, expression: str) -> Rejection | None:
        return safe_syntax.rejection(expression)

    def lengths(self, values: Sequence[tuple[str, str]]) -> str | None:
        asked = [f"len({path})" if kind in _COLLECTIONS else "-1" for path, kind in values]
        return f"' '.join(map(str, [{', '.join(asked)}]))" if set(asked) != {"-1"} and asked else None

    def judged(self, condition: str) -> str:
        return f"(lambda value: True if value else value)(({condition}{chr(10) if '#' in condition else ''}))"

    def interrupt(self) -> str | None:
        """Raise `KeyboardInterrupt` in every thread in which pydevd evaluates something for us; not in its own."""
        interrupt = f"(exec({_INTERRUPT!r}, names), names['interrupt']())[1]"
        return f"(lambda names: ({interrupt}, {bootstrap.wake_expression()})[0])({{}})"
