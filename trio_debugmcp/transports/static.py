"""A file of the dashboard as a response: compressed, not sent again to a browser that has it, under a strict policy."""

import gzip
import hashlib
import re
from functools import cached_property
from http import HTTPStatus

from msgspec import Struct

from trio_debugmcp.transports.admission import Refused
from trio_debugmcp.transports.head import Head

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

REVALIDATED = "no-cache"
"""Kept by browsers, which ask each time whether it is still the same."""

IMMUTABLE = "max-age=31536000, immutable"
"""For a year, and without asking: for what gets another name when it changes."""

_REFUSED = re.compile(r"\s*q\s*=\s*0(\.0*)?\s*", re.IGNORECASE)
"""The weight of a content coding that is not to be used."""


class StaticFile(Struct, frozen=True, dict=True):
    """A file, ready to be sent."""

    content_type: str
    body: bytes
    caching: str = REVALIDATED

    @cached_property
    def etag(self) -> str:
        """Identify the content. Weak, as it is the same for the compressed body and for the one that is not."""
        return f'W/"{hashlib.sha256(self.body).hexdigest()[:16]}"'

    @cached_property
    def compressed(self) -> bytes | None:
        """The body as gzip makes it, once; None if that is as long."""
        body = gzip.compress(self.body, mtime=0)
        return body if len(body) < len(self.body) else None


def answer_page(page: StaticFile | None, head: Head) -> tuple[HTTPStatus, dict[str, str], bytes]:
    """Return status, headers and body for a request that is not an upgrade.

    Raises:
        Refused: 404, or 405 for a method that is not GET or HEAD.
    """
    if page is None:
        raise Refused(HTTPStatus.NOT_FOUND, "no such page")
    if head.method not in ("GET", "HEAD"):
        raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "pages are read only", {"Allow": "GET, HEAD"})
    headers = {
        **SECURITY_HEADERS,
        "ETag": page.etag,
        "Cache-Control": page.caching,
        "Vary": "Accept-Encoding",
    }
    if _has(page, head):
        return HTTPStatus.NOT_MODIFIED, headers, b""
    body = page.body
    if _accepts_gzip(head) and page.compressed is not None:
        body = page.compressed
        headers["Content-Encoding"] = "gzip"
    headers |= {"Content-Type": page.content_type, "Content-Length": str(len(body))}
    return HTTPStatus.OK, headers, body if head.method == "GET" else b""


def _has(page: StaticFile, head: Head) -> bool:
    """Whether the peer has the page. HTTP compares weakly here."""
    tags = {tag.removeprefix("W/") for tag in head.tokens("if-none-match")}
    return "*" in tags or page.etag.removeprefix("W/") in tags


def _accepts_gzip(head: Head) -> bool:
    codings = [token.partition(";") for token in head.tokens("accept-encoding")]
    weights = {coding.strip().lower(): weight for coding, _, weight in codings}
    weight = weights.get("gzip", weights.get("*"))
    return weight is not None and not _REFUSED.fullmatch(weight)
