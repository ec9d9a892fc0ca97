"""Source and output as strings."""

import textwrap
from collections.abc import Iterable, Sequence

from trio_debugmcp.state.payloads import OutputEntry, shortened

MAX_LINE_LENGTH = 160
"""Characters of a source line in an excerpt; generated files have lines of many thousands."""

STREAMS = {"tracepoint": "log"}
"""Names of streams in answers, where they differ from those in the state."""


def numbered(lines: Sequence[str], first: int, current: int | None = None) -> str:
    """Return lines as one string, numbered from `first`, without the indentation that they share.

    A `>` stands behind the number of the current one. Empty lines at the ends are left out.
    """
    even = textwrap.dedent("\n".join(each.rstrip("\n") for each in lines)).split("\n")
    there = [number for number, text in enumerate(even, first) if text or number == current]
    return "\n".join(
        f"{number}{'>' if number == current else ' '} {shortened(text, MAX_LINE_LENGTH)}".rstrip()
        for number, text in enumerate(even, first)
        if there and there[0] <= number <= there[-1]
    )


def joined(entries: Iterable[OutputEntry]) -> dict[str, str]:
    """Return the output of each stream as one string."""
    streams: dict[str, list[str]] = {}
    for each in entries:
        streams.setdefault(STREAMS.get(each.stream, each.stream), []).append(each.text)
    return {stream: "".join(texts) for stream, texts in streams.items()}


def in_order(entries: Iterable[OutputEntry]) -> list[dict[str, str]]:
    """Return the output in its order, with the pieces of one stream that follow each other as one."""
    pieces: list[tuple[str, list[str]]] = []
    for each in entries:
        stream = STREAMS.get(each.stream, each.stream)
        if not pieces or pieces[-1][0] != stream:
            pieces.append((stream, []))
        pieces[-1][1].append(each.text)
    return [{stream: "".join(texts)} for stream, texts in pieces]
