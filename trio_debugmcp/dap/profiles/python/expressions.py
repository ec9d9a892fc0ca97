"""`PythonExpressions`: what is known of Python without running it, and questions in Python to a program."""

import ast
import builtins
import sys
import warnings
from collections.abc import Sequence
from typing import ClassVar

from trio_debugmcp.dap.profiles.language import Expressions, Place
from trio_debugmcp.dap.profiles.python.interpreters import interpreter_for
from trio_debugmcp.probe.inside.message_templates import Template, TemplateError, needs_own_names

_MAX_PLACES = 200
"""Entries of a traceback in which the frame of the last report is looked for: with library code between, a few."""

OWN_NAMES, OWN_NAMES_END = "eval(", ", {**globals(), **locals()})"
"""Around the text of a condition that is to see all of its frame."""

_ARCHIVE_END = b"PK\5\6"
"""Before the end of a zip file, which Python runs as it runs a text."""

_LEAVING = (
    "(lambda f: (f.exc_type, f.exc_desc, f.trace_obj))("
    "(lambda c, t: c.get_global_debugger().suspended_frames_manager.get_frames_list(c.get_current_thread_id(t)))"
    "(__import__('_pydevd_bundle.pydevd_constants', fromlist=['_']), __import__('threading').current_thread()))"
)
"""`(type, value, traceback)` where an exception leaves the user's code: pydevd keeps it with the frames of the stop."""

RETURNS = (
    "(lambda t, opcode: t.tb_frame.f_lasti != t.tb_lasti and "
    "opcode.opname[t.tb_frame.f_code.co_code[t.tb_frame.f_lasti]].startswith(('RETURN_', 'YIELD_')))"
    f"({_LEAVING}[2], __import__('opcode'))"
)
"""Whether the frame is at an instruction that returns or yields, and not the one that has raised.

Before Python 3.12 pydevd takes a frame that returns None for one that an exception leaves, also after a `with
pytest.raises` has caught it.
"""


def where_it_leaves(expression: str) -> str:
    """Return an expression with `__exception__` for a stop where there is none: the exception leaves user code."""
    return expression.replace("__exception__", _LEAVING)


class PythonExpressions(Expressions):
    """Python, with `__exception__`: the `(type, value, traceback)` that pydevd leaves in a frame's locals."""

    tells_lineage: ClassVar[bool] = True

    def syntax_error(self, expression: str) -> str | None:
        return _syntax_error(expression.strip(), "eval")

    def is_path(self, expression: str) -> bool:
        """Accept a name followed by attributes and items with literal keys, and the length of what that leads to.

        Items of sets, and of dicts whose keys are not literal, go by position: `[*st][0]`, `[*dd.values()][0]`, and so
        do those of classes that read their items in a way of their own: `[*list.__iter__(xs)][0]`.
        """
        try:
            node = ast.parse(expression, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[inner], keywords=[]):
                node = inner
        while not isinstance(node, ast.Name):
            match node:
                case ast.Attribute(value=inner):
                    node = inner
                case ast.Subscript(value=ast.List(elts=[ast.Starred(value=inner)]), slice=ast.Constant(value=int())):
                    node = _without_values(inner)
                case ast.Subscript(value=inner, slice=key) if _is_literal(key):
                    node = inner
                case _:
                    return False
        return True

    def log_message_problem(self, message: str) -> str | None:
        """Check it as an f-string without the quotes."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return Template(message).problem()
        except TemplateError as error:
            return str(error)

    def program_problem(self, program: str, source: bytes) -> str | None:
        """Compile the program without running it, unless another version of Python is going to run it."""
        if _ARCHIVE_END in source or interpreter_for(program) != sys.executable:
            return None
        return _syntax_error(source, "exec")

    def exception_types(self) -> Sequence[str]:
        return [
            name
            for name, builtin in vars(builtins).items()
            if isinstance(builtin, type) and issubclass(builtin, BaseException)
        ]

    def either(self, conditions: Sequence[str], *, alone: bool = False) -> str:
        # The line breaks end comments in the conditions.
        several = len(conditions) > 1
        either = " or ".join(f"({condition}\n)" for condition in conditions) if several else conditions[0]
        return _with_own_names(either) if alone else either

    def both(self, one: str, other: str) -> str:
        return f"({one}\n) and ({other}\n)"

    def truth(self, condition: str) -> str:
        return f"bool(({condition}{chr(10) if '#' in condition else ''}))"  # the line break ends a comment

    def lineage(self, kind: str) -> str | None:
        return "' '.join(c.__module__ + '.' + c.__qualname__ for c in __exception__[0].__mro__)"

    def types_in(self, names: Sequence[str]) -> str | None:
        return (
            "(lambda below: (lambda found: ' '.join(each for each in "
            f"{list(names)!r} if each in found))("
            "{name for each in below(below, BaseException) for name in "
            "(each.__name__, each.__qualname__, each.__module__ + '.' + each.__qualname__)}))"
            "(lambda below, each: [each, *(found for sub in each.__subclasses__() for found in below(below, sub))])"
        )

    def raise_identity(self) -> str | None:
        # pydevd reports one exception again in every frame that it passes.
        return "id(__exception__[1])"

    def places_passed(self) -> str | None:
        """Ask for the traceback below its first entry, which is the frame at hand."""
        return (
            "(lambda t, traceback: '\\n'.join('%d %s' % (line, f.f_code.co_name) for f, line in "
            f"[*traceback.walk_tb(t)][1:{_MAX_PLACES + 1}]))(__exception__[2], __import__('traceback'))"
        )

    def parse_places(self, result: str) -> Sequence[Place]:
        try:
            lines = str(ast.literal_eval(result)).splitlines()
        except (SyntaxError, ValueError):
            return ()
        return [(name, int(number)) for number, _, name in (line.partition(" ") for line in lines)]


def _without_values(node: ast.expr) -> ast.expr:
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="values"), args=[], keywords=[]):
            return inner
        case ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr=method), args=[inner], keywords=[]):
            return inner if (base, method) in _READERS else node
    return node


_READERS = {("dict", "values"), *((base, "__iter__") for base in ("list", "tuple", "set", "frozenset"))}
"""Methods that read a collection without code of its class."""


def _is_literal(key: ast.expr) -> bool:
    match key:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.BinOp(left=left, right=right):  # a complex number
            return _is_literal(left) and _is_literal(right)
        case ast.Tuple(elts=elements):
            return all(_is_literal(element) for element in elements)
        case ast.Call(func=ast.Name(id="frozenset"), args=[ast.Set(elts=elements)], keywords=[]):
            return all(_is_literal(element) for element in elements)
    return False


def _syntax_error(source: str | bytes, mode: str) -> str | None:
    try:
        # PYTHONWARNINGS=error must not turn an invalid escape in the program into a syntax error.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "source", mode, dont_inherit=True, flags=ast.PyCF_ONLY_AST)
    except SyntaxError as error:
        # Of a file that cannot be decoded Python says neither, or zeros: counting begins with 1.
        places = {"line": error.lineno or 0, "column": error.offset or 0}
        where = ", ".join(f"{name} {number}" for name, number in places.items() if number > 0)
        return f"SyntaxError{f' in {where}' if where else ''}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error)
    return None


def _with_own_names(condition: str) -> str:
    """Return a condition for pydevd, where comprehensions see no locals of the frame, and names of `:=` stay."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(condition, "<condition>", "eval", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return condition
    return f"{OWN_NAMES}{condition!r}{OWN_NAMES_END}" if needs_own_names(condition, code) else condition
