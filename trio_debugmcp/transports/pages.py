"""The pages at a port, by path. No other file can be requested: they are read before anyone asks for one.

    pages = Pages()
    pages.find("/")

The dashboard's style sheets and modules are put into one file of each kind, whose name changes with its content. Once a
file is edited while the server runs, and with `sources` from the start, `index.html` is served as it is, and loads them
one by one; they are read anew when it is requested.
"""

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from math import inf
from pathlib import Path

import trio

from trio_debugmcp.transports.bundle import read_bundle
from trio_debugmcp.transports.static import IMMUTABLE, StaticFile

log = logging.getLogger(__name__)

PACKAGE = Path(__file__).parent.parent

DASHBOARD = PACKAGE / "dashboard"

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".map": "application/json",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
"""Suffix → content type. Files with another suffix are not served."""

INDEX, ICON = "index.html", "icon.svg"

LOOK_SECONDS = 0.25
"""Between two looks at the files: each costs half a millisecond, and strangers may cause it."""

Stamps = tuple[tuple[str, int, int], ...]
"""Which files there are, when each was changed, and its size."""


class Pages:
    """The pages of a directory. `index.html` is also `/`."""

    def __init__(self, directory: Path = DASHBOARD, *, sources: bool = False) -> None:
        self._directory = directory
        self._release = _release()
        self._stamps = _stamps(directory)
        self._pages = _read_sources(directory) if sources else _read_bundle(directory, self._stamps)
        self._looked = -inf

    def __repr__(self) -> str:
        return f"<Pages of {self._directory}: {len(self._pages)}>"

    def find(self, path: str) -> StaticFile | None:
        """Return the page at a path, and None if there is none."""
        if path in ("/", f"/{INDEX}") and trio.current_time() >= self._looked + LOOK_SECONDS:
            self._looked = trio.current_time()
            self._look()
        return self._pages.get(path)

    def _look(self) -> None:
        """Read the files anew if one of them was edited."""
        with suppress(OSError):  # a file is just being replaced: the next look finds it
            stamps = _stamps(self._directory)
            # The page of another release belongs to its server: this one keeps its own until it ends.
            if stamps != self._stamps and _release() == self._release:
                self._pages = _read_sources(self._directory)
                self._stamps = stamps


def _release() -> tuple[int, int]:
    """Return what is another once another release was installed."""
    status = (PACKAGE / "__init__.py").stat()
    return status.st_mtime_ns, status.st_ino


def _stamps(directory: Path) -> Stamps:
    return tuple(sorted(_stamps_below(str(directory))))


def _stamps_below(directory: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _stamps_below(entry.path)
            else:
                status = entry.stat()
                yield entry.path, status.st_mtime_ns, status.st_size


@lru_cache(maxsize=1)
def _read_bundle(directory: Path, stamps: Stamps) -> dict[str, StaticFile]:
    """Read the pages as they are while none is edited; as long as the stamps are the same, once in this process."""
    pages = _read_sources(directory)
    try:
        bundle, icon_body = read_bundle(directory / INDEX), (directory / ICON).read_bytes()
    except (ValueError, OSError) as error:
        log.warning("the page is served as the files that it is made of: %s", error)
        return pages

    def add(name: str, body: bytes) -> str:
        """Add a page under a name that no other content has, which a browser may keep, and return the name."""
        stem, suffix = os.path.splitext(name)
        name = f"{stem}-{hashlib.sha256(body).hexdigest()[:16]}{suffix}"
        pages[f"/{name}"] = StaticFile(CONTENT_TYPES[suffix], body, IMMUTABLE)
        return name

    icon = add(ICON, icon_body)
    style = add("page.css", bundle.style.encode())
    source_map = add("page.map", bundle.source_map.encode())
    script = add("page.js", f"{bundle.script}//# sourceMappingURL={source_map}\n".encode())
    html = bundle.html(
        f'    <link rel="stylesheet" href="{style}">\n', f'    <script type="module" src="{script}"></script>\n'
    ).replace(f'"{ICON}"', f'"{icon}"')
    pages["/"] = pages[f"/{INDEX}"] = StaticFile(CONTENT_TYPES[".html"], html.encode())
    return pages


def _read_sources(directory: Path) -> dict[str, StaticFile]:
    """Read all files, by path."""
    pages = {
        f"/{file.relative_to(directory).as_posix()}": StaticFile(CONTENT_TYPES[file.suffix], file.read_bytes())
        for file in sorted(directory.rglob("*"))
        if file.suffix in CONTENT_TYPES and file.is_file()
    }
    pages["/"] = pages[f"/{INDEX}"] = StaticFile(CONTENT_TYPES[".html"], (directory / INDEX).read_bytes())
    return pages
