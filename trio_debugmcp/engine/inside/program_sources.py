"""`ProgramSources`: texts of code that is of no file, by numbers that DAP has for them."""

import sys
from typing import Any

from trio_debugmcp.engine.inside.program_files import ProgramFiles, exists

_MOST = 1000


class ProgramSources:
    """Numbers of code that is of no file."""

    def __init__(self, files: ProgramFiles) -> None:
        self._files = files
        self._by_number: dict[int, str] = {}
        self._numbers: dict[str, int] = {}

    def reference(self, code: Any) -> int:
        """Return the number of the text of a code object; 0 if it is of a file."""
        name = code.co_filename
        known = self._numbers.get(name)
        if known is None:
            if exists(self._files.origin(name)) or len(self._numbers) >= _MOST:
                return 0
            known = self._numbers[name] = len(self._numbers) + 1
            self._by_number[known] = name
        return known

    def text(self, number: Any, modules: dict[str, Any]) -> str | None:
        """Return the text with a number, as far as the program's `linecache` has it."""
        name = self._by_number.get(number)
        cache = getattr(modules.get("linecache"), "cache", None)
        entry = cache.get(name) if name is not None and type(cache) is dict else None
        if type(entry) is tuple and len(entry) == 4:
            return "".join(entry[2])
        return _given_code() if name == "<string>" else None


def _given_code() -> str | None:
    """Return the program that the command line has: `python -c CODE`."""
    words = sys.orig_argv
    for position, word in enumerate(words[1:-1], 1):
        if word == "-c":
            return words[position + 1]
        if not word.startswith("-") or word == "-m":
            return None
    return None
