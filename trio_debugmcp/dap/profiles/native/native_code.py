"""Source files of programs of machine code, as debug information names them, and the functions of such programs."""

import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import ClassVar

from trio_debugmcp.dap.profiles.function_code import FunctionCode, FunctionPlace
from trio_debugmcp.dap.profiles.language import Code
from trio_debugmcp.dap.profiles.native import rust_functions
from trio_debugmcp.dap.profiles.native.executable_functions import (
    functions_alike,
    functions_of_executables,
    last_part,
    without_places,
)

_SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/src/", "/usr/local/include/", "/build/", "/rustc/", "/lib/", "/opt/rust")
"""Where the sources of libraries are, as their debug information has it."""

FORTRAN = (".f90", ".f95", ".f03", ".f08", ".f", ".for")
"""Suffixes of source files of Fortran, in small letters."""

_ADA_BINDER = re.compile(r".*/b~(?P<unit>[^/]+)\.adb")
"""The file that gnat makes for a program of Ada, with the `main` that calls it."""

_ZIG_LIBRARY = re.compile(r".*/lib/(?:zig/)?(?:std|compiler|c|compiler_rt)(?:/.*)?\.zig")
"""Files of Zig's own library, wherever the compiler is."""


class NativeCode(Code):
    """Source files as debug information names them."""

    tells_library: ClassVar[bool] = True

    def is_library(self, file: str) -> bool:
        """Whether it is the system's: what was built elsewhere, in a directory that is relative or of a package."""
        return not file.startswith("/") or file.startswith(_SYSTEM) or _ZIG_LIBRARY.fullmatch(file) is not None

    def calls_program(self, function: str, file: str | None, caller: str | None, program: str | None = None) -> bool:
        """Whether this is the `main` that the compiler of Fortran adds in front of the program, in its first line.

        Outside of it is the system's; a program that is called `main` itself has this one there, or nothing at all. The
        compiler of D adds one, too: the program's is `D main`. Ada's is in a file of its own, with the name of the unit
        that it calls; `program`: the executable, which may be called otherwise. Zig's library has one, for
        programs that use C's.
        """
        if function != "main" or caller in ("main", None) or file is None:
            return False
        binder = _ADA_BINDER.fullmatch(file)
        if binder is not None:
            return program is not None and binder["unit"] == PurePath(program).stem
        return file.lower().endswith((*FORTRAN, ".d")) or _ZIG_LIBRARY.fullmatch(file) is not None

    def function_place(
        self,
        name: str,
        files: Sequence[str],
        directories: Sequence[str],
        may_read: Callable[[str], bool] = lambda _: True,
    ) -> FunctionPlace | None:
        places = rust_functions.places(name, directories) if name != "main" else []
        found = {place[1:] for place in places if may_read(place[1])}
        return FunctionPlace(*found.pop()) if len(found) == 1 else None

    def find_functions(
        self, name: str, files: Sequence[str], directories: Sequence[str], *, alike: bool = False
    ) -> Sequence[tuple[str, FunctionCode]]:
        if not alike:
            found = rust_functions.places(name, directories)
        elif not files or any(map(rust_functions.is_of_rust, files)):
            found = rust_functions.places_alike(name, directories)
        else:
            return without_places(functions_alike(name, functions_of_executables(files)))
        return [(file, FunctionCode(last_part(path), path, line, line, line)) for path, file, line in found]

    def is_disassembly(self, file: str) -> bool:
        return file.startswith("@")  # CodeLLDB's, of a function without source
