"""A page as a response: compressed for those that accept it, and not sent again to those that have it."""

import gzip
from http import HTTPStatus

import pytest

from trio_debugmcp.transports.head import Head
from trio_debugmcp.transports.static import StaticFile, answer_page

PAGE = StaticFile("text/css; charset=utf-8", b"p { color: red; }\n" * 100)
SHORT = StaticFile("text/plain; charset=utf-8", b"hi")


def head(method: str = "GET", **headers: str) -> Head:
    return Head(method, "/", tuple((name.replace("_", "-"), value) for name, value in headers.items()))


@pytest.mark.parametrize(
    ("accepted", "compressed"),
    [
        ("gzip", True),
        ("gzip, deflate, br, zstd", True),
        ("br;q=1.0, GZIP;q=0.001", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("*, gzip;q=0", False),
        ("*;q=0", False),
        ("identity", False),
        ("br", False),
        ("", False),
    ],
)
def test_a_page_is_compressed_for_those_that_accept_gzip(accepted: str, compressed: bool) -> None:
    status, headers, body = answer_page(PAGE, head(accept_encoding=accepted))
    assert status == HTTPStatus.OK
    assert headers["Vary"] == "Accept-Encoding"
    assert headers["Content-Length"] == str(len(body))
    assert headers.get("Content-Encoding") == ("gzip" if compressed else None)
    assert (gzip.decompress(body) if compressed else body) == PAGE.body
    assert (len(body) < len(PAGE.body) / 10) == compressed
    plain = answer_page(PAGE, head("HEAD", accept_encoding=accepted))
    assert plain == (status, headers, b"")


def test_it_is_compressed_once_and_not_at_all_if_it_is_as_long_then() -> None:
    assert PAGE.compressed is PAGE.compressed
    assert SHORT.compressed is None
    _, headers, body = answer_page(SHORT, head(accept_encoding="gzip"))
    assert ("Content-Encoding" in headers, body) == (False, b"hi")


@pytest.mark.parametrize(
    ("known", "has"),
    [
        ("{}", True),
        ('"other", {}', True),
        ("*", True),
        ("{strong}", True),
        ('"other"', False),
        ('W/"other"', False),
        ("", False),
    ],
)
def test_who_has_a_page_is_not_sent_it_again(known: str, has: bool) -> None:
    for accepted in ("gzip", ""):
        known_tag = known.format(PAGE.etag, strong=PAGE.etag.removeprefix("W/"))
        status, headers, body = answer_page(PAGE, head(accept_encoding=accepted, if_none_match=known_tag))
        assert (status == HTTPStatus.NOT_MODIFIED) == has
        assert (body == b"") == has
        assert (headers["ETag"], headers["Cache-Control"]) == (PAGE.etag, "no-cache")
        assert ("Content-Type" in headers, "Content-Length" in headers) == (not has, not has)


def test_another_content_has_another_tag() -> None:
    assert PAGE.etag.startswith('W/"')
    assert PAGE.etag != SHORT.etag
    assert StaticFile("text/css", PAGE.body).etag == PAGE.etag
