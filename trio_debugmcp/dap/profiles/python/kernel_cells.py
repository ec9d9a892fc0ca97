"""Cells as a kernel of Jupyter names them: IPython compiles each under a file name made of its text.

    kernel_place(["total = 0"], 1, "/tmp/ipykernel_4711").file     # "/tmp/ipykernel_4711/3364677177.py"

ipykernel has had these names since 6.0; its module `compiler` makes them.
"""

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from msgspec import Struct

_SEED, _FACTOR, _WORD = 0xC70F6907, 0x5BD1E995, 0xFFFFFFFF

_MAGIC = re.compile(r"%%(?P<name>\w+)")

_FILE = re.compile(r"(?P<directory>.*/ipykernel_(?P<pid>\d+))/\d+\.py")


def is_kernel_file(path: str) -> bool:
    """Return whether a file name is one under which a kernel compiles a cell; no such file is on disk."""
    return _FILE.fullmatch(path) is not None


def kernel_directory(pid: int, proc: Path) -> str | None:
    """Return the directory in the names of a kernel's cells; None for another process."""
    try:
        command = (proc / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
        environment = (proc / str(pid) / "environ").read_bytes().decode(errors="surrogateescape").split("\0")
    except OSError:
        return None
    if not any(PurePath(word).stem in ("ipykernel_launcher", "ipykernel") for word in command):
        return None
    given = dict(each.partition("=")[::2] for each in environment)
    home = next((given[name] for name in ("TMPDIR", "TEMP", "TMP") if given.get(name)), "/tmp")
    return f"{home.rstrip('/')}/ipykernel_{pid}"


class KernelPlace(Struct, frozen=True):
    """The file and line that a kernel has for a line of a cell, and the text that it compiles under that name."""

    file: str
    line: int
    text: str


def kernel_place(lines: Sequence[str], line: int, directory: str) -> KernelPlace:
    """Return where a line of a cell is for a kernel. `directory`: that of its file names.

    Raises:
        ValueError: it runs what is there under another name; the message says which.
    """
    magic = _MAGIC.match(lines[0]) if lines else None
    if magic is not None and magic["name"] != "capture":
        raise ValueError(f"a kernel runs what is below %%{magic['name']} under no name of its own")
    if magic is not None and line < 2:
        raise ValueError("the line of %%capture is not Python")
    text = "\n".join(lines) if magic is None else "\n".join(lines[1:]) + "\n"
    return KernelPlace(f"{directory}/{murmur2(text.encode())}.py", line if magic is None else line - 1, text)


def keep_cell(place: KernelPlace) -> None:
    """Write a cell's text where its name says, as Jupyter's own debugger does: pydevd stops only in files that exist.

    Nothing is written into a directory that is another user's, or over what is there.
    """
    directory = Path(place.file).parent
    with suppress(OSError):
        directory.mkdir(mode=0o700, exist_ok=True)
        status = directory.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
            with open(place.file, "x", encoding="utf-8") as file:
                file.write(place.text)


def murmur2(data: bytes) -> int:
    """Return the hash of that name (MurmurHash2, public domain), as ipykernel computes it."""
    mixed = _SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        part = int.from_bytes(data[at : at + 4], "little") * _FACTOR & _WORD
        part ^= part >> 24
        mixed = (mixed * _FACTOR & _WORD) ^ (part * _FACTOR & _WORD)
    if rest := data[whole:]:
        mixed = (mixed ^ int.from_bytes(rest, "little")) * _FACTOR & _WORD
    mixed ^= mixed >> 13
    mixed = mixed * _FACTOR & _WORD
    return mixed ^ (mixed >> 15)
