"""C, C++ and Rust: languages that are compiled to machine code, whichever debugger runs the program."""

from pathlib import Path

from trio_debugmcp.dap.profiles.language import Expressions
from trio_debugmcp.dap.profiles.words import ProgramStream, Words

_BUILDERS = {
    ".c": "gcc -g -O0 -o app {file}",
    ".rs": "rustc -g -o app {file}",
}
"""Command lines that build a source file with debug information."""

_BUILDER = "g++ -g -O0 -o app {file}"


class NativeExpressions(Expressions):
    """Expressions as gdb and lldb evaluate them."""

    def program_problem(self, program: str, source: bytes) -> str | None:
        path = Path(program)
        if source.startswith(b"\x7fELF"):
            return None
        if path.suffix:
            build = _BUILDERS.get(path.suffix.lower(), _BUILDER).format(file=path.name)
            return f"it is not an executable. Build it first, with debug information, and launch that: {build}"
        return "it is not an executable that holds machine code. Pass the program that was built with -g"


class NativeWords(Words):
    """What gdb's and lldb's texts have in common.

    Args:
        own_streams: the program's streams are ours, so that whatever the adapter reports as output is its own.
    """

    def __init__(self, *, own_streams: bool) -> None:
        self._own_streams = own_streams

    def stream(self, category: str) -> ProgramStream:
        return "console" if self._own_streams else super().stream(category)

    def telling_line(self, error: str) -> int:
        """The first error of a compiler: those below it often follow from it."""
        lines = error.splitlines()
        return next((number for number, line in enumerate(lines) if line.startswith("error:")), len(lines) - 1)
