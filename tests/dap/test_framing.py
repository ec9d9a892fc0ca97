"""Framing: bytes to bodies, however they are cut, and what happens when they are not DAP at all."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.dap.codec import MAX_HEAD_BYTES, FrameDecoder, encode_frame
from trio_debugmcp.errors import ProtocolViolation

TRACEBACK = b'Traceback (most recent call last):\n  File "adapter.py", line 1\nImportError: no such thing\n'


def decode(*chunks: bytes) -> list[bytes]:
    decoder = FrameDecoder()
    bodies = [body for chunk in chunks for body in decoder.feed(chunk)]
    decoder.finish()
    return bodies


def test_a_frame_is_a_length_a_blank_line_and_the_body() -> None:
    assert encode_frame(b'{"a":1}') == b'Content-Length: 7\r\n\r\n{"a":1}'


def test_the_length_counts_bytes_and_not_characters() -> None:
    body = '{"a":"\N{SNOWMAN}"}'.encode()
    assert decode(encode_frame(body)) == [body]


@given(bodies=st.lists(st.binary(max_size=300), max_size=6), data=st.data())
def test_the_same_bodies_come_out_however_the_stream_is_cut(bodies: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(map(encode_frame, bodies))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    edges = [0, *cuts, len(stream)]
    assert decode(stream) == bodies
    assert decode(*(stream[start:end] for start, end in pairwise(edges))) == bodies
    assert decode(*(stream[index : index + 1] for index in range(len(stream)))) == bodies


def test_a_body_comes_out_with_its_last_byte() -> None:
    decoder = FrameDecoder()
    frame = encode_frame(b"{}")
    assert decoder.feed(frame[:-1]) == []
    assert decoder.feed(frame[-1:]) == [b"{}"]


def test_several_messages_in_one_chunk_come_out_in_order_and_the_rest_is_kept() -> None:
    decoder = FrameDecoder()
    stream = b"".join(map(encode_frame, [b"1", b"22", b"333"]))
    assert decoder.feed(stream[:-1]) == [b"1", b"22"]
    assert decoder.feed(stream[-1:]) == [b"333"]


def test_an_empty_body_is_a_body() -> None:
    assert decode(b"Content-Length: 0\r\n\r\n" + encode_frame(b"{}")) == [b"", b"{}"]


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 2",
        b"content-length:2",
        b"CONTENT-LENGTH:   2  ",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2",
        b"Content-Length: 2\r\nX-Note: a:b:c",
    ],
)
def test_header_names_are_case_insensitive_and_other_headers_are_ignored(head: bytes) -> None:
    assert decode(head + b"\r\n\r\n{}") == [b"{}"]


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"Content-Type: text/plain", "header without Content-Length"),
        (b"Content-Length: many", "Content-Length is not a number"),
        (b"Content-Length: -1", "Content-Length is not a number"),
        (b"Content-Length:", "Content-Length is not a number"),
        (b"Content-Length: 67108865", "a message of 67108865 bytes is over the bound of 67108864"),
        (b"Content-Length: " + b"9" * 3000, "is over the bound"),
    ],
)
def test_a_head_without_a_usable_length_is_refused_and_quoted(head: bytes, reason: str) -> None:
    with pytest.raises(ProtocolViolation, match=reason) as caught:
        FrameDecoder().feed(head + b"\r\n\r\n")
    assert caught.value.head == (head + b"\r\n\r\n")[:200]
    assert len(caught.value.reason) < 100


def test_a_body_of_exactly_the_bound_is_accepted() -> None:
    decoder = FrameDecoder(max_body_bytes=4)
    assert decoder.feed(encode_frame(b"1234")) == [b"1234"]
    with pytest.raises(ProtocolViolation, match="a message of 5 bytes is over the bound of 4"):
        decoder.feed(encode_frame(b"12345"))


def test_a_head_without_an_end_is_refused_at_its_bound() -> None:
    decoder = FrameDecoder()
    assert decoder.feed(b"X-Long: ".ljust(MAX_HEAD_BYTES - 1, b"x")) == []
    with pytest.raises(ProtocolViolation, match="no end of header found"):
        decoder.feed(b"x")


def test_a_blank_line_is_not_a_head() -> None:
    with pytest.raises(ProtocolViolation, match="header without Content-Length"):
        FrameDecoder().feed(b"\r\n\r\n")


@pytest.mark.parametrize("size", [1, 1000, 10_000])
def test_garbage_that_is_longer_than_a_head_is_refused_for_the_same_reason_however_it_is_cut(size: int) -> None:
    stream = b"Oops\n" + b"x" * 2 * MAX_HEAD_BYTES
    decoder = FrameDecoder()
    with pytest.raises(ProtocolViolation, match="expected a DAP header"):
        for start in range(0, len(stream), size):
            decoder.feed(stream[start : start + size])


def test_a_long_head_is_refused_the_same_in_one_chunk_as_in_many() -> None:
    head = b"X-Long: ".ljust(MAX_HEAD_BYTES, b"x") + b"\r\nContent-Length: 2\r\n\r\n{}"
    with pytest.raises(ProtocolViolation, match="no end of header found"):
        FrameDecoder().feed(head)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_line_without_a_name_and_colon_before_a_good_header_is_refused_however_it_is_cut(size: int) -> None:
    stream = b"Adapter starting\r\nContent-Length: 2\r\n\r\n{}"
    decoder = FrameDecoder()
    with pytest.raises(ProtocolViolation, match="expected a DAP header"):
        for start in range(0, len(stream), size):
            decoder.feed(stream[start : start + size])


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_error_about_a_traceback_quotes_it(size: int) -> None:
    decoder = FrameDecoder()
    with pytest.raises(ProtocolViolation) as caught:
        for start in range(0, len(TRACEBACK), size):
            decoder.feed(TRACEBACK[start : start + size])
    assert caught.value.head.startswith(b"Traceback (most recent call last):\n"[: max(size, 34)])


def test_an_error_message_with_a_colon_is_refused_at_its_first_line_without_a_name_and_colon() -> None:
    decoder = FrameDecoder()
    assert decoder.feed(b"Error: could not find the program\n") == []
    with pytest.raises(ProtocolViolation, match="expected a DAP header"):
        decoder.feed(b"    at Object.<anonymous> (/opt/app.js:3:1)\n")


def test_an_error_message_of_the_shell_is_refused_at_its_first_line() -> None:
    with pytest.raises(ProtocolViolation, match="expected a DAP header") as caught:
        FrameDecoder().feed(b"Segmentation fault\n")
    assert caught.value.head == b"Segmentation fault\n"


def test_an_error_quotes_the_beginning_of_the_garbage() -> None:
    with pytest.raises(ProtocolViolation) as caught:
        FrameDecoder().feed(b"\x00\n".rjust(3000, b"\xff"))
    assert caught.value.head == b"\xff" * 200


def test_a_violation_is_raised_again_by_every_later_feed() -> None:
    decoder = FrameDecoder()
    with pytest.raises(ProtocolViolation) as first:
        decoder.feed(b"Oops\n")
    with pytest.raises(ProtocolViolation) as second:
        decoder.feed(encode_frame(b"{}"))
    assert second.value is first.value


def test_a_complete_message_before_the_garbage_is_still_delivered() -> None:
    decoder = FrameDecoder()
    assert decoder.feed(encode_frame(b"{}") + b"Oops\n") == [b"{}"]
    with pytest.raises(ProtocolViolation) as caught:
        decoder.feed(b"")
    assert caught.value.head == b"Oops\n"


def test_garbage_after_a_message_is_the_reason_why_the_stream_could_not_end() -> None:
    decoder = FrameDecoder()
    decoder.feed(encode_frame(b"{}") + b"Oops\n")
    with pytest.raises(ProtocolViolation, match="expected a DAP header") as caught:
        decoder.finish()
    assert caught.value.head == b"Oops\n"


@pytest.mark.parametrize("cut", [1, 14, 17, 20, 21, 22])
def test_a_stream_that_ends_inside_a_message_is_a_violation(cut: int) -> None:
    decoder = FrameDecoder()
    assert decoder.feed(encode_frame(b"{   }")[:cut]) == []
    with pytest.raises(ProtocolViolation, match="in the middle of a message"):
        decoder.finish()


def test_a_stream_may_end_between_messages() -> None:
    decoder = FrameDecoder()
    decoder.feed(encode_frame(b"{}"))
    decoder.finish()
    FrameDecoder().finish()
