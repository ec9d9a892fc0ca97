"""`ProgramSources`: the sources of code; of that which is of no file, by numbers that DAP has for them."""

import posix
import sys
from typing import Any, Iterable

from trio_debugmcp.engine.inside.program_files import ProgramFiles, exists
from trio_debugmcp.probe.inside.debugger.named_files import NamedFiles, may_be_of

_MOST = 1000

_MOST_BYTES = 4_000_000

_NOTEBOOK = ".ipynb"
"""The end of the name of a file of JSON: what runs its cells gives their text to `linecache`."""

_MOST_FRAMES, _MOST_CALLERS = 20, 50
"""Frames of a text that are compared with it, and frames around one in which it is looked for."""

_open, _read, _close = posix.open, posix.read, posix.close

_modules = sys.modules


class ProgramSources:
    """Numbers of code that is of no file."""

    def __init__(self, files: ProgramFiles) -> None:
        self._files = files
        self._named = NamedFiles(files.real, _content)
        self._by_number: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._generated: Any = None

    def reference(self, code: Any, *, is_of_file: bool = True) -> int:
        """Return the number of the text of a code object; 0 if it is of a file.

        `is_of_file`: it is of the file that it names, if there is one.
        """
        name = code.co_filename
        key = name if is_of_file else f"<{name}>"
        known = self._numbers.get(key)
        if known is None:
            if len(self._numbers) >= _MOST:
                return 0
            known = 0 if is_of_file and exists(self._files.origin(name)) else len(self._by_number) + 1
            self._numbers[key] = known
            if known:
                self._by_number[known] = name
        return known

    def is_of_file(self, frame: Any) -> bool:
        """Whether the code of a frame may be of the file that it names: `compile` takes the name of any file."""
        return self._named.have(frame)

    def text(self, number: Any, modules: dict[str, Any], frames: Iterable[Any]) -> str | None:
        """Return the text with a number: that of `linecache`, or the one that held frames were made of."""
        name = self._by_number.get(number)
        found = self._cached(name, modules)
        of_name = [each for each in frames if each.f_code.co_filename == name]
        if found is not None and exists(self._files.origin(str(name))):
            # It may be of the file, which this code is not of: a printed traceback has that one put there.
            data = found.encode("utf-8", "replace")
            of_name = [each for each in of_name if not self.is_of_file(each)]
            found = found if all([may_be_of(each.f_code, data) for each in of_name]) else None
        return self._executed(of_name) if found is None else found

    def _executed(self, frames: list[Any]) -> str | None:
        """Return the text that a program has given to `exec` and still has, where all frames of that name are of it."""
        # Loaded with the first question.
        from trio_debugmcp.engine.inside.recorder.generated_texts import GeneratedTexts

        if self._generated is None:
            self._generated = GeneratedTexts(lambda _: 0)
        texts = {self._made_of(each) for each in frames[:_MOST_FRAMES]}
        found = texts.pop() if len(texts) == 1 else None
        return None if found is None else found.decode("utf-8", "replace")

    def _made_of(self, frame: Any) -> bytes | None:
        around = frame
        for _ in range(_MOST_CALLERS):
            if around is None:
                break
            found = self._generated.of(frame.f_code, around)
            if found is not None:
                text: bytes = found[0]
                return text
            around = around.f_back
        return None

    def of_name(self, name: str) -> bytes | None:
        """Return the source of that name, if there is one."""
        name = self._files.origin(name)
        found = None if name[:1] == "<" or name.endswith(_NOTEBOOK) else _content(name)
        if found is None:
            text = self._cached(name, _modules)
            found = None if text is None else text.encode("utf-8", "replace")
        return found

    @staticmethod
    def _cached(name: str | None, modules: dict[str, Any]) -> str | None:
        cache = getattr(modules.get("linecache"), "cache", None)
        entry = cache.get(name) if name is not None and type(cache) is dict else None
        if type(entry) is tuple and len(entry) == 4:
            return "".join(entry[2])
        return _given_code() if name == "<string>" else _archived(name, modules)


def _archived(name: str | None, modules: dict[str, Any]) -> str | None:
    """Return the source of a module that came out of an archive: of `app.pyz/__main__.py`."""
    made_by = getattr(modules.get("zipimport"), "zipimporter", None)
    if name is None or not isinstance(made_by, type):
        return None
    importers: list[Any] = [one for one in list(sys.path_importer_cache.values()) if type(one) is made_by]
    for importer in importers:
        if name.startswith(f"{importer.archive}/"):
            try:
                text: str = importer.get_data(name).decode("utf-8", "replace")  # none of the program's code runs
            except Exception:  # not in it, torn while the program runs, no zlib: errors of half a dozen types
                return None
            return text
    return None


def _content(path: str) -> bytes | None:
    """Return what is in a file, if it can be read, and is not too large."""
    try:
        file = _open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        parts, size = [], 0
        while part := _read(file, _MOST_BYTES):
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                return None
        return b"".join(parts)
    except OSError:
        return None
    finally:
        _close(file)


def _given_code() -> str | None:
    """Return the program that the command line has: `python -c CODE`."""
    words = sys.orig_argv
    for position, word in enumerate(words[1:-1], 1):
        if word == "-c":
            return words[position + 1]
        if not word.startswith("-") or word == "-m":
            return None
    return None
