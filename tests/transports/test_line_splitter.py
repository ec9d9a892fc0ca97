"""Bytes to lines: any chunking, and lines over the bound."""

from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.transports.line_splitter import LineSplitter


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b".")), max_size=8), st.data())
def test_lines_come_out_the_same_however_they_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    wire = b"".join(line + b"\n" for line in lines)
    splitter = LineSplitter()
    found: list[bytes | None] = []
    while wire:
        cut = data.draw(st.integers(1, len(wire)))
        found += splitter.feed(wire[:cut])
        wire = wire[cut:]
    assert found == [line for line in lines if line.strip()]


def test_a_line_over_the_bound_is_reported_once_and_skipped_to_its_end() -> None:
    splitter = LineSplitter(max_line_bytes=4)
    assert splitter.feed(b"123") == []
    assert splitter.feed(b"45") == [None]
    assert splitter.feed(b"6" * 1000) == []
    assert splitter.feed(b"7\nok\n") == [b"ok"]
    assert splitter.feed(b"12345\nok\n") == [None, b"ok"]
