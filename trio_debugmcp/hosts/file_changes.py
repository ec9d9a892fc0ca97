"""`FileChange`: a configuration file before and after, shown as a diff, and written with a copy of what was there.

    change = read_change(host.file, lambda text: host.with_entry(text, entry))
    print(change.diff)
    change.write()

A file is replaced as a whole: a host that reads it meanwhile sees one or the other.
"""

import difflib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.hosts.edit_refused import EditRefusedError

COPY_SUFFIX = ".before-trio-debugmcp"

MOST_COPIES = 9

MAX_BYTES = 16_000_000
"""Of a file. Claude Code's has the history of all projects, and may have some megabytes."""

MAX_LINE = 400
"""Characters of a line of a diff."""


class FileChange(Struct, frozen=True):
    """What becomes of a file. `before` is None if there is none."""

    file: Path
    before: str | None
    after: str

    @property
    def is_empty(self) -> bool:
        """Whether everything is as it should be."""
        return self.after == (self.before or "")

    @property
    def diff(self) -> str:
        """The lines that change, with one around them, as `diff -u` shows them."""
        before, after = (self.before or "").splitlines(keepends=True), self.after.splitlines(keepends=True)
        shown = difflib.unified_diff(before, after, str(self.file), str(self.file), n=1)
        return "".join(_cut(line.rstrip("\r\n")) + "\n" for line in shown)

    def write(self) -> Path | None:
        """Write the file, all at once, and return the copy of what was there before; None if there was none.

        A symbolic link stays one: the file that it leads to is written.

        Raises:
            EditRefusedError: the file was changed meanwhile.
            OSError: it cannot be written; then it is as it was.
        """
        file = self.file.resolve()
        if _read(file) != self.before:
            raise EditRefusedError(f"{self.file} was changed meanwhile; try again")
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600
        copy = None
        if self.before is not None:
            mode = stat.S_IMODE(file.stat().st_mode)
            copy = _free_name(file)
            _put(copy, self.before, mode)
        _put(file, self.after, mode)
        return copy


def _free_name(file: Path) -> Path:
    """Return a name for a copy of a file; earlier ones stay, and of more than a few the last is replaced."""
    numbers = range(2, MOST_COPIES + 1)
    names = [file.name + COPY_SUFFIX, *(f"{file.name}{COPY_SUFFIX}-{number}" for number in numbers)]
    copies = [file.with_name(name) for name in names]
    return next((copy for copy in copies if not copy.exists()), copies[-1])


def _cut(line: str) -> str:
    """A file may be one line of all that a host knows."""
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE // 2]} … {line[-MAX_LINE // 2 :]}"


def read_change(file: Path, edit: Callable[[str], str]) -> FileChange:
    """Read a file and edit its text; nothing is written yet.

    Raises:
        EditRefusedError: the file is not text, is too large, or `edit` refuses it.
        OSError: it cannot be read.
    """
    before = _read(file.resolve())
    return FileChange(file, before, edit(before or ""))


def _read(file: Path) -> str | None:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > MAX_BYTES:
        raise EditRefusedError(f"{file} has more than {MAX_BYTES // 1_000_000} MB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefusedError(f"{file} is not UTF-8") from error


def _put(file: Path, text: str, mode: int) -> None:
    descriptor, part = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(descriptor, mode)
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(descriptor)
        Path(part).replace(file)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
