"""The dashboard's files: read once at the start into a table from path to page, so no other file can be requested."""

import hashlib
from http import HTTPStatus
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.transports.head import Head, Refused

DASHBOARD = Path(__file__).parent.parent / "dashboard"

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
"""Suffix → content type. Files with another suffix are not served."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page may load its own scripts and styles, connect to its own server, and must not be framed."""

SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class StaticFile(Struct, frozen=True):
    """A file with its headers, ready to be sent."""

    content_type: str
    body: bytes
    etag: str


def read_pages(directory: Path = DASHBOARD) -> dict[str, StaticFile]:
    """Read all files of a directory, by path; `index.html` is also `/`."""
    pages = {
        "/" + file.relative_to(directory).as_posix(): StaticFile(
            CONTENT_TYPES[file.suffix],
            body := file.read_bytes(),
            f'"{hashlib.sha256(body).hexdigest()[:16]}"',
        )
        for file in sorted(directory.rglob("*"))
        if file.suffix in CONTENT_TYPES and file.is_file()
    }
    if "/index.html" in pages:
        pages["/"] = pages["/index.html"]
    return pages


def answer_page(pages: dict[str, StaticFile], head: Head) -> tuple[HTTPStatus, dict[str, str], bytes]:
    """Return status, headers and body for a request that is not an upgrade.

    Raises:
        Refused: 404, or 405 for a method that is not GET or HEAD.
    """
    page = pages.get(head.path)
    if page is None:
        raise Refused(HTTPStatus.NOT_FOUND, "no such page")
    if head.method not in ("GET", "HEAD"):
        raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "pages are read only", {"Allow": "GET, HEAD"})
    headers = {**SECURITY_HEADERS, "ETag": page.etag, "Cache-Control": "no-cache"}
    if page.etag in head.tokens("if-none-match"):
        return HTTPStatus.NOT_MODIFIED, headers, b""
    headers |= {"Content-Type": page.content_type, "Content-Length": str(len(page.body))}
    return HTTPStatus.OK, headers, page.body if head.method == "GET" else b""
