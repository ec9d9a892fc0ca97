"""What is in an adapter's output beside the program's own. Pure.

Messages of tracepoints are found where `Dialect.log_message` has marked them, and others by how they begin.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from trio_debugmcp.dap.own_lines import OwnLines


class Piece(Struct, frozen=True):
    """A part of output: what a tracepoint of that id wrote, or other text."""

    text: str
    written_by: str | None = None


def pieces(text: str, marks: Mapping[str, str], prefix: str | None = None) -> list[Piece]:
    """Divide output at marks, each of which stands for an id; a message ends with its event, or at the next mark.

    `prefix`: a pattern for what the adapter writes before a message, which is left out.
    """
    if not any(mark in text for mark in marks):
        return [Piece(text)]
    parts = re.split(f"(?:{prefix or ''})?({'|'.join(map(re.escape, marks))})", text)
    found = [Piece(parts[0])] if parts[0] else []
    return found + [Piece(what, marks[mark]) for mark, what in zip(parts[1::2], parts[2::2], strict=True)]


def parted(text: str, beginnings: Sequence[str]) -> tuple[str, str]:
    """Return what of a program's output is its own, and the lines with these beginnings, which its debugger wrote."""
    if not beginnings:
        return text, ""
    own = OwnLines(beginnings)
    passed = own.feed(text.encode(errors="surrogatepass")) + own.feed(b"")
    return passed.decode(errors="surrogatepass"), own.taken.decode(errors="surrogatepass")
