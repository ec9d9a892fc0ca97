"""Properties of the access to source files, on a directory with a secret beside it."""

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.looking.sources import Sources, read_source
from trio_debugmcp.state.resources import canonical, source_path, source_uri

SECRET = "the secret outside"


@cache
def _yard() -> Path:
    """Make a program's directory with a secret beside it, and links that lead to the secret."""
    keep = tempfile.TemporaryDirectory(prefix="fuzz-")
    _kept.append(keep)
    yard = Path(os.path.realpath(keep.name))
    (yard / "app").mkdir()
    (yard / "secret.txt").write_text(SECRET)
    (yard / "app" / "main.py").write_text("print('main')\n")
    (yard / "app" / "a b%20#?é.py").write_text("print('odd')\n")
    (yard / "app" / "link.py").symlink_to(yard / "app" / "main.py")
    (yard / "app" / "out").symlink_to(yard)
    return yard


_kept: list[tempfile.TemporaryDirectory[str]] = []


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """Collect the paths of files that are opened in the block."""
    opened: list[str] = []
    real = io.open

    def watched(file: Any, *args: Any, **more: Any) -> Any:
        opened.append(os.fspath(file) if isinstance(file, (str, os.PathLike)) else str(file))
        return real(file, *args, **more)

    with mock.patch("io.open", watched), mock.patch("builtins.open", watched):
        yield opened


def yard() -> str:
    """The directory that contains the program's directory and the secret."""
    return str(_yard())


def source_ways() -> list[str]:
    """Paths that lead to the files of the yard, allowed or not."""
    honest = ["app/main.py", "app/a b%20#?é.py", "app/link.py"]
    other = ["secret.txt", "app/../secret.txt", "app/out/secret.txt", "/secret.txt"]
    return [f"{yard()}/{each}" for each in honest + other]


def uri(data: bytes) -> None:
    """A source URI opens a file that the debugger has named, spelled as it was named, or no file at all."""
    known = source_ways()[:3]
    sources = Sources()
    for each in known:
        sources.learn(each, "s-1")
    text = "debugger://source/" + data.decode(errors="replace").replace("YARD", yard())
    path = source_path(text)
    assert path is not None
    assert canonical(canonical(text)) == canonical(text)
    assert source_path(source_uri(path)) == path
    with opened_files() as opened:
        try:
            shown = read_source(sources.find(path))
        except UsageError as error:
            _check_refusal(error)
            assert opened == []
            return
    assert path in known
    assert opened == [path]
    assert SECRET not in shown


def _check_refusal(error: UsageError) -> None:
    assert error.code in ("INVALID_PATH", "PERMISSION_DENIED")


def named(data: bytes) -> None:
    """A path that a debug adapter names, however odd, becomes known; reading it works, or is refused with a code."""
    text = data.decode(errors="replace").replace("YARD", yard())
    sources = Sources((str(_yard() / "app"),))
    sources.learn(text, "s-1")
    for path in (text, quote(text)):
        try:
            shown = read_source(sources.find(path))
        except UsageError as error:
            _check_refusal(error)
        else:
            assert SECRET not in shown
