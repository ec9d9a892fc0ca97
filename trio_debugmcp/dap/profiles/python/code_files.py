"""`PythonCode`: where the code of Python programs is, from their source files."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from trio_debugmcp.dap.profiles.function_code import Branch, FunctionCode, FunctionPlace, Operand
from trio_debugmcp.dap.profiles.language import Code
from trio_debugmcp.dap.profiles.near_names import named_alike
from trio_debugmcp.dap.profiles.python import assertions, branches, code_lines
from trio_debugmcp.dap.profiles.python.expressions import OWN_NAMES, OWN_NAMES_END
from trio_debugmcp.dap.profiles.python.notebooks import SUFFIX, notebook_script

_MAX_SOURCE_BYTES = 4 * 1024 * 1024
"""Larger files of Python are data; parsing them would take seconds."""

_MAX_FILES = 300
"""Files in which a function is looked for; a larger directory is not one program's."""

_OUTSIDE = "'.0' not in locals() and ("
_INSIDE = "('.0' in locals() and ("
_IN_ROUND = "{%s} <= locals().keys() and {%s} & locals().get('.rounds', {%s})"
_OR_INLINED = (
    " or '.0' not in locals() and 'pydevd' in __import__('sys').modules and __import__('sys').version_info >= (3, 12)"
)
_THEN = ") and ("
_INLINED = "('.0' in locals() or __import__('sys').version_info >= (3, 12)) and ("
"""Before a condition: whether the frame is that of a comprehension, whose only argument is called `.0`. Its variables
have no values before its first item. Of a comprehension that is compiled into its function (3.12 on) our engine has
each round look so, with `.rounds`: the variables that the loop of the round binds. Pydevd judges that in the function,
as both do where the line is not one on which the loop begins.
"""

_GUARD = re.compile(f"{re.escape(_OUTSIDE)}|{re.escape(_INLINED)}|{re.escape(_INSIDE)}.*?{re.escape(_THEN)}")

_DEFINED = re.compile(rb"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
"""The name of a function; much faster than to parse each file."""

_LIBRARY = re.compile(r"^<frozen |[/\\](site-packages|dist-packages)[/\\]|[/\\]lib[/\\]python3\.\d+[/\\]")
"""In the names of files of installed packages and of the standard library."""


@lru_cache(maxsize=1000)
def module_at(file: str) -> str:
    """Return the module that is in a file. The same few are asked about at every stop, for each of its frames."""
    path = Path(file)
    return path.parent.name if path.stem == "__init__" else path.stem


class PythonCode(Code):
    """Python files, read and parsed by this server's own Python; what that cannot parse is left to pydevd."""

    reads_source: ClassVar[bool] = True
    finds_functions: ClassVar[bool] = True

    def is_generated(self, file: str) -> bool:
        return file.startswith("<") and file.endswith(">") and not file.startswith(("<frozen ", "<runner>"))

    def is_library(self, file: str) -> bool:
        return _LIBRARY.search(file) is not None

    def module_in(self, file: str) -> str | None:
        return module_at(file) if file else None

    def line_with_code(self, file: str, line: int, text: str | None = None) -> int | None:
        source = _read(file) if text is None else text.encode(errors="replace")
        return line if source is None else code_lines.line_with_code(source, line)

    def function_place(
        self,
        name: str,
        files: Sequence[str],
        directories: Sequence[str],
        may_read: Callable[[str], bool] = lambda _: True,
    ) -> FunctionPlace | None:
        """Look for `module.function` below the directories, then for `Class.method` in all files that are near."""
        names = name.split(".")
        modules = [
            (file, names[count:])
            for count in range(len(names) - 1, 0, -1)
            for directory in directories
            for file in (
                Path(directory, *names[:count]).with_suffix(".py"),
                Path(directory, *names[:count], "__init__.py"),
            )
        ]
        near = _near(files, directories)
        exists = False
        for file, inner in [*modules, *((near_file, names) for near_file in dict.fromkeys(near))][: 2 * _MAX_FILES]:
            source = _read(str(file)) if may_read(str(file)) else None
            if source is None or inner[-1].encode() not in source:  # much faster than to parse each
                continue
            line = code_lines.function_line(source, inner) if len(names) > 1 else None
            if line is not None:
                return FunctionPlace(str(file), line)
            exists = exists or code_lines.defines(source, inner)
        return FunctionPlace("", 0) if exists else None

    def functions(self, file: str, text: str | None = None) -> Sequence[FunctionCode]:
        source = _read(file) if text is None else text.encode(errors="replace")
        return () if source is None else branches.functions(source)

    def find_functions(
        self, name: str, files: Sequence[str], directories: Sequence[str], *, alike: bool = False
    ) -> Sequence[tuple[str, FunctionCode]]:
        """Look in all files that are near; of a method that is inherited, the class that has it is found."""
        if alike:
            return self._functions_alike(name, _near(files, directories))
        inner = name.rpartition(".")[2]
        found: list[tuple[str, FunctionCode]] = []
        for file in dict.fromkeys(_near(files, directories)):
            source = _read(str(file))
            if source is None or inner.encode() not in source:
                continue
            module = ".".join(file.with_suffix("").parts)
            defined = branches.functions(source)
            found += [
                (str(file), function) for function in defined if f".{module}.{function.qualname}".endswith(f".{name}")
            ]
        place = self.function_place(name, files, directories) if not found and "." in name else None
        if place is not None and place.line:
            found = [
                (place.file, function)
                for function in self.functions(place.file)
                if function.first <= place.line <= function.last
            ][-1:]
        return found

    def _functions_alike(self, name: str, files: Sequence[Path]) -> list[tuple[str, FunctionCode]]:
        """Compare the last parts of names."""
        own = [file for file in dict.fromkeys(files) if not self.is_library(str(file))]
        texts = {file: _read(str(file)) or b"" for file in own[:_MAX_FILES]}
        defined = {
            (file, bare.decode()): bare.decode() for file, text in texts.items() for bare in _DEFINED.findall(text)
        }
        return [
            (str(file), function)
            for file, bare in named_alike(name.rpartition(".")[2], defined)
            for function in branches.functions(texts[file])
            if function.qualname.rpartition(".")[2] == bare
        ]

    def branches(self, file: str, text: str | None = None) -> Mapping[int, Branch]:
        source = _read(file) if text is None else text.encode(errors="replace")
        return {} if source is None else branches.branches(source)

    def cleanups(self, text: str, line: int) -> Sequence[int]:
        return branches.cleanups(text, line)

    def operands(self, text: str, line: int) -> Sequence[Operand]:
        return assertions.operands(text, line)

    def condition_at(self, file: str, line: int, condition: str, log_message: str | None = None) -> str:
        """Guard a condition on a line with a comprehension, which up to Python 3.11 is executed in a frame of its own.

        One about the comprehension's own variables, or with a message about them, is meant for its frame, any other one
        for the frame around.
        """
        source = _read(file)
        found = None if source is None else code_lines.comprehension_at(source, line)
        if found is None:
            return condition
        names = code_lines.names_in(condition) | code_lines.names_in("f" + repr(log_message or ""))
        about = names & frozenset[str]().union(*(loop.own for loop in found))
        if not about:
            return f"{_OUTSIDE}{condition}\n)"
        loops = [loop for loop in found if loop.own & about]
        # Variables of comprehensions beside each other never have values together: it is judged in the rounds of both.
        loops = [loop for loop in loops if about <= loop.known] or loops
        if not all(loop.is_generator or line in loop.lines for loop in loops):
            return f"{_INLINED}{condition}\n)"
        rounds = dict.fromkeys(_in_round(loop, about) for loop in loops)
        inlined = "" if all(loop.is_generator for loop in loops) else _OR_INLINED
        return f"{_INSIDE}{' or '.join(rounds)}){inlined}{_THEN}{condition}\n)"

    def function_name_problem(self, name: str) -> str | None:
        if _is_dotted(name):
            return None
        return "is not the name of a function: pass `name`, `Class.method` or `module.name`"

    def exception_type_problem(self, name: str) -> str | None:
        if name == "*" or _is_dotted(name):
            return None
        return "is not the name of a type: pass `ValueError`, `module.Name`, or `*` for all"

    def function_breakpoint(self, name: str) -> tuple[str, str | None]:
        """Pydevd knows functions by their bare name; the condition looks whether the frame is that of the one meant."""
        outer, _, bare = name.rpartition(".")
        if not outer:
            return name, None
        # The nearest frame of that name is the one that pydevd asks about. Methods are looked up as Python does it.
        return bare, (
            "(lambda sys, wanted, outer, bare: (lambda walk: (lambda frame: frame is not None and ("
            "(frame.f_globals.get('__name__', '') + '.' + getattr(frame.f_code, 'co_qualname', bare)) == wanted "
            "or getattr(frame.f_code, 'co_qualname', '') == wanted "
            "or any(getattr(getattr(each, bare, None), '__code__', None) is frame.f_code "
            "and outer in (each.__qualname__, each.__module__ + '.' + each.__qualname__) "
            "for value in list(frame.f_locals.values())[:1] "
            "for each in (value if isinstance(value, type) else type(value)).__mro__)))"
            "(walk(walk, sys._getframe(1))))"
            "(lambda walk, frame: None if frame is None else frame if frame.f_code.co_name == bare "
            "else walk(walk, frame.f_back)))"
            f"(__import__('sys'), {name!r}, {outer!r}, {bare!r})"
        )


def without_guard(condition: str) -> str:
    """Return the user's condition from one that was guarded."""
    if condition.startswith(OWN_NAMES) and condition.endswith(OWN_NAMES_END):
        condition = ast.literal_eval(condition[len(OWN_NAMES) : -len(OWN_NAMES_END)])
    guard = _GUARD.match(condition)
    return condition if guard is None else condition[guard.end() :].removesuffix("\n)")


def _in_round(loop: code_lines.ComprehensionLoop, about: frozenset[str]) -> str:
    """Return what holds in a round of a loop, for a condition about some variables."""
    rounds = loop.rounds if loop.rounds.isdisjoint(about) else loop.rounds & about
    known, own = (", ".join(map(repr, sorted(part))) for part in (about & loop.known, rounds))
    return _IN_ROUND % (known, own, own)


def _near(files: Sequence[str], directories: Sequence[str]) -> list[Path]:
    """Return the Python files of a program that are known, and those beside them."""
    near = [Path(file) for file in files if file.endswith((".py", ".pyw"))]
    return near + [file for directory in directories for file in sorted(Path(directory).glob("*.py"))[:_MAX_FILES]]


def _read(file: str) -> bytes | None:
    """Return what is in a file; None if it cannot be read, is very large, or is not Python."""
    path = Path(file)
    try:
        if path.suffix not in {".py", ".pyw", SUFFIX} or not path.is_file() or path.stat().st_size > _MAX_SOURCE_BYTES:
            return None
        content = path.read_bytes()
        return notebook_script(content.decode(errors="replace")).encode() if path.suffix == SUFFIX else content
    except (OSError, ValueError):
        return None


_INNER = frozenset({"<locals>", "<lambda>"})
"""Parts of qualified names besides identifiers."""


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() or part in _INNER for part in name.split("."))
