"""`PythonThrown`: the classes in the files of a program, of which exceptions may be."""

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from trio_debugmcp.dap.profiles.thrown import Thrown

_MAX_FILES = 200

_MAX_BYTES = 1_000_000
"""Of a file that is looked at."""

_CLASS = re.compile(rb"^[ \t]*class[ \t]+(\w+)", re.MULTILINE)


class PythonThrown(Thrown):
    """The types of exceptions of Python."""

    def types_beside(self, name: str, files: Sequence[str], directories: Sequence[str]) -> list[str] | None:
        known: set[str] = set()
        word = re.compile(rb"\b%s\b" % re.escape(name.encode()))
        for file in islice(dict.fromkeys(_near(files, directories)), _MAX_FILES):
            text = _text(file)
            if word.search(text):
                return None
            known.update(each.decode() for each in _CLASS.findall(text))
        return sorted(known)


def _near(files: Sequence[str], directories: Sequence[str]) -> list[Path]:
    beside = [file for directory in directories for file in sorted(Path(directory).glob("*.py"))[:_MAX_FILES]]
    return [*(Path(file) for file in files if file.endswith(".py")), *beside]


def _text(file: Path) -> bytes:
    try:
        return file.read_bytes() if file.stat().st_size <= _MAX_BYTES else b""
    except OSError:
        return b""
