"""Whether code is of the file that it names: `compile` takes the name of any, and that file may have other lines.

    place_of(frame, "/app/shop.py")     # ("/app/shop.py", 3); ("</app/shop.py>", 3) where it cannot be of that file

The code of a module is of its `__file__`. Of other code each name must stand in its lines of the file.
"""

from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside.debugger import template_frames
from trio_debugmcp.probe.inside.debugger.template_frames import Place

_NOTEBOOK = ".ipynb"
"""The end of the name of a file of JSON: what runs its cells gives their text to `linecache`."""

_MOST = 1000

_MOST_BYTES = 4_000_000
"""Of a file that is read."""


class NamedFiles:
    """The files that code names.

    Args:
        real: Returns the path of a file without links.
        content: Returns what is in a file; None if it cannot be read.
    """

    def __init__(self, real: Callable[[str], str], content: Callable[[str], Optional[bytes]]) -> None:
        self._real = real
        self._content = content
        self._known: Dict[int, Tuple[Any, bool]] = {}

    def have(self, frame: Any) -> bool:
        """Whether the code of a frame may be of the file that it names."""
        code, names = frame.f_code, frame.f_globals
        name = code.co_filename
        own = dict.get(names, "__file__")
        if name[:1] == "<" or name.endswith(_NOTEBOOK) or (type(own) is str and own == name):
            return True
        known = self._known.get(id(code))
        if known is None or known[0] is not code:
            known = code, self._may_have(code, own)
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[id(code)] = known  # held, so that its id stays its own
        return known[1]

    def _may_have(self, code: Any, own: Any) -> bool:
        if type(own) is str and self._real(own) == self._real(code.co_filename):
            return True
        text = self._content(code.co_filename)
        return text is None or may_be_of(code, text)


def may_be_of(code: Any, text: bytes) -> bool:
    """Whether a text may be what a code object was compiled from: it has its lines, and its names in them.

    What a compiler adds by itself, and a name that it has changed (`__x` in a class), is not looked for.
    """
    first = code.co_firstlineno
    last = max(_lines(code), default=first)
    lines = text.split(b"\n")[max(first, 1) - 1 : last]
    if first + len(lines) <= last:
        return False
    there = b"\n".join(lines)
    for name in (code.co_name, *code.co_names, *code.co_varnames, *code.co_freevars):
        for part in name.split("."):
            if part.isascii() and part.isidentifier() and "__" not in part and part.encode() not in there:
                return False
    return True


def _lines(code: Any) -> Iterator[int]:
    lines = getattr(code, "co_lines", None)
    if lines is not None:
        for _, _, line in lines():
            if line is not None:
                yield line
        return
    line = code.co_firstlineno  # before Python 3.10
    for step in code.co_lnotab[1::2]:
        line += step - 256 if step > 127 else step
        yield line


def place_of(frame: Any, file: str, line: int) -> Place:
    """Return the file and the line of a frame: those of a template; in brackets the file that its code is not of."""
    template = template_frames.place_of(frame, line)
    if template is not None:
        return template
    return (file if _of_program.have(frame) else f"<{file}>"), line


def _real_path(name: str) -> str:
    import os  # not before: of a program that never stops it is not needed

    return str(os.path.realpath(name))


def _read(name: str) -> Optional[bytes]:
    import os

    try:
        file = os.open(name, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    try:
        parts: List[bytes] = []
        size = 0
        while size <= _MOST_BYTES:
            part = os.read(file, _MOST_BYTES)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
        return None
    except OSError:
        return None
    finally:
        os.close(file)


_of_program = NamedFiles(_real_path, _read)
