"""Whether a command runs Python, so that it is to be debugged: by its name, by its first line, or in a shell.

    runs_python([b"/usr/bin/python3"], [b"python3", b"-m", b"job"])
    names_python(b"cd /app && python3 -m job")

Nothing is run for it. What is not clear is not taken for Python: other programs are to find nothing of ours.
"""

import posix
import sys
from typing import Any, Iterable

_SHELLS = frozenset({b"ash", b"bash", b"dash", b"fish", b"ksh", b"sh", b"zsh"})

_VERSION = b"0123456789.-tdmwbgu"
"""What may follow in the name of an interpreter: `python3.13t`, `python3-dbg`."""

_APART = b"0123456789_-./abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What belongs to a word in a shell, but for the directories before the name."""

_FLAGS = b"IESbBdhiOqsuvxP?"
"""Options of the interpreter without a value; with one of the first three it does not look for our directory."""

_TRACKER = b"from multiprocessing.resource_tracker import"
"""How the command begins of the process that cleans up for `multiprocessing`: none of the program's own code."""

_MOST_TEXT = 65536
"""Of a script that is looked at."""

_MOST_LINKS = 10
_MOST_STEPS = 3
"""From a shell to a script to its interpreter."""

_executable: bytes = (sys.executable or "").encode("utf-8", "surrogateescape")
_readlink: Any = posix.readlink
_open, _read, _close, _stat = posix.open, posix.read, posix.close, posix.stat
_READING = posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK


def runs_python(files: Iterable[bytes], words: list[bytes], steps: int = _MOST_STEPS) -> bool:
    """Return whether a command runs a Python that looks for our directory.

    Args:
        files: where its executable may be; the first one that is there is executed.
        words: of the command, its name first.
        steps: how far it is followed.
    """
    file = next((each for each in files if _exists(each)), None)
    if file is None or not steps:
        return False
    if _is_interpreter(file):
        return not _keeps_out(words[1:])
    if _last(file) in _SHELLS:
        return _is_in_shell(words[1:], steps)
    if any(is_python(_last(word)) for word in words[1:]):  # env, nohup, timeout …
        return True
    return _begins_with_python(_text(file))


def is_python(name: bytes) -> bool:
    """Return whether that is the name of an interpreter."""
    return name[:6] == b"python" and not name[6:].strip(_VERSION)


def names_python(text: bytes) -> bool:
    """Return whether a command in a shell's language has the name of an interpreter in it."""
    start = text.find(b"python")
    while start >= 0:
        end = start + 6
        while text[end : end + 1] and text[end : end + 1] in _VERSION:
            end += 1
        before, after = text[:start][-1:], text[end : end + 1]
        if (not before or before == b"/" or before not in _APART) and (not after or after not in _APART):
            return True
        start = text.find(b"python", end)
    return False


def on_path(name: bytes, path: bytes | None) -> list[bytes]:
    """Return where the executable of that name may be, as the system looks for it."""
    if b"/" in name:
        return [name]
    return [folder + b"/" + name for folder in (path or b"/bin:/usr/bin").split(b":") if folder]


def _is_interpreter(file: bytes) -> bool:
    """Return whether a file is an interpreter, which a link may lead to."""
    for _ in range(_MOST_LINKS):
        if is_python(_last(file)) or file == _executable:
            return True
        try:
            target: bytes = _readlink(file)
        except (OSError, ValueError):
            return False
        file = target if target[:1] == b"/" else file[: file.rfind(b"/") + 1] + target
    return False


def _begins_with_python(text: bytes) -> bool:
    """Return whether the first line of a script names Python, or a shell that it is then named for."""
    if text[:2] != b"#!":
        return False
    line = [word for word in text[2:].partition(b"\n")[0].split() if _last(word) != b"env" and word != b"-S"]
    if not line:
        return False
    if is_python(_last(line[0])) or _is_interpreter(line[0]):
        return not _keeps_out(line[1:])
    return _last(line[0]) in _SHELLS and names_python(text)


def _is_in_shell(words: list[bytes], steps: int) -> bool:
    if any(names_python(word) for word in words):
        return True
    given = [word for word in words if word[:1] not in (b"-", b"+")]
    if not given:
        return False
    if any(word[:1] == b"-" and word[:2] != b"--" and b"c" in word for word in words):
        command = given[0].split()
        return bool(command) and runs_python(on_path(command[0], posix.environ.get(b"PATH")), command, steps - 1)
    return names_python(_text(given[0]))


def _keeps_out(words: list[bytes]) -> bool:
    """Return whether an interpreter does not look for our directory, or is not to be debugged, with these words."""
    is_value = False
    for position, word in enumerate(words):
        if is_value:
            is_value = False
            continue
        if word[:1] != b"-" or word[1:2] in (b"", b"-"):
            return False
        letters = word[1:]
        options = letters.lstrip(_FLAGS)
        if any(letter in b"IES" for letter in letters[: len(letters) - len(options)]):
            return True
        if options[:1] == b"c":
            return (options[1:] or b"".join(words[position + 1 : position + 2])).startswith(_TRACKER)
        if options[:1] == b"m":
            return False
        is_value = options in (b"X", b"W")
    return False


def _last(path: bytes) -> bytes:
    return path[path.rfind(b"/") + 1 :]


def _exists(file: bytes) -> bool:
    try:
        _stat(file)
    except (OSError, ValueError):
        return False
    return True


def _text(file: bytes) -> bytes:
    try:
        descriptor = _open(file, _READING)
    except (OSError, ValueError):
        return b""
    try:
        return _read(descriptor, _MOST_TEXT)
    except OSError:
        return b""
    finally:
        _close(descriptor)
