"""Source and output as strings."""

import re
import textwrap
from collections.abc import Iterable, Sequence

from trio_debugmcp.server.answers.statement_lines import PYTHON, lines_of
from trio_debugmcp.state.payloads import OutputEntry, SourceLine, shortened

MAX_LINE_LENGTH = 160
"""Characters of a source line in an excerpt; generated files have lines of many thousands."""

STREAMS = {"tracepoint": "log"}
"""Names of streams in answers, where they differ from those in the state."""


def numbered(lines: Sequence[str], first: int, current: int | None = None) -> str:
    """Return lines as one string, numbered from `first`, without the indentation that they share.

    A `>` stands behind the number of the current one.
    """
    even = textwrap.dedent("\n".join(line.rstrip("\n") for line in lines)).split("\n")
    return "\n".join(
        f"{number}{'>' if number == current else ' '} {shortened(text, MAX_LINE_LENGTH)}".rstrip()
        for number, text in enumerate(even, first)
    )


_FRAME = r'(?:^(?:  \| )?  File "%s", line \d+, in %s\n(?:(?:  \| )?    .*\n)*)'

_DEBUGGER_FRAMES = re.compile(
    _FRAME % (r"(?:[^\"\n]*[/\\\\]runpy\.py|<frozen runpy>)", "_run_(?:module_as_main|code)")
    + "*"
    + _FRAME % (r'[^"\n]*[/\\\\]debugpy[/\\\\][^"\n]*', ".*")
    + "+",
    re.MULTILINE,
)
"""What Python writes in a traceback of the debugger's frames, which are around the program's; of a group with a `|`.

Those of `runpy` in front of them have started the debugger."""


_NOTES = {
    "Error determining module path": r"E\+\d+\.\d+: Error determining module path for sys\.argv\n(?: {13}.*\n|\n)*",
    "_get_related_thread": r"\d+\.\d+s - thread\._ident is None in _get_related_thread! .*\n?",
    "did not finish": (
        r"Evaluating: (?s:.*?) did not finish after [\d.]+ seconds\.\nThis may mean (?s:.*?) when this happens\.\n?"
    ),
    "in conditional breakpoint": (
        r"(?:pydevd: )?Error while evaluating expression in conditional breakpoint: (?s:.*?)\n"
        r"(?:Traceback|  File |\w+Error)(?s:.*?)\n(?:\n|\Z)"
    ),
}
"""By words in it, what pydevd writes where threads start at a stop, and about evaluations that take long and conditions
that fail, which answers report themselves."""

_DEBUGGER_NOTES = re.compile("|".join(f"^{pattern}" for pattern in _NOTES.values()), re.MULTILINE)


def without_debugger(text: str) -> str:
    """Return output without notes of the debugger, and with its frames in tracebacks counted instead of shown."""

    def counted(found: re.Match[str]) -> str:
        lines = found[0].splitlines()
        number = sum(line.startswith(("  File ", "  |   File ")) for line in lines)
        margin = "  | " if lines[0].startswith("  | ") else ""
        return f"{margin}  [{number} frame{'s' if number > 1 else ''} of the debugger]\n"

    text = _DEBUGGER_FRAMES.sub(counted, text) if "debugpy" in text else text
    return _DEBUGGER_NOTES.sub("", text) if any(words in text for words in _NOTES) else text


def excerpt(lines: Sequence[str], current: int, either_side: int, file: str | None = None) -> list[SourceLine]:
    """Return the lines around the current one; none if there is no such line. Empty ones at the ends are left out.

    `file`: the name of theirs. In Python all lines of the statement are there that the current one is part of.
    """
    if not 1 <= current <= len(lines):
        return []
    begin, end = lines_of(lines, current) if file and file.endswith(PYTHON) else (current, current)
    first, last = max(1, min(begin, current - either_side)), min(len(lines), max(end, current + either_side))
    while first < current and not lines[first - 1].strip():
        first += 1
    while last > current and not lines[last - 1].strip():
        last -= 1
    return [SourceLine(number, lines[number - 1].rstrip("\n"), number == current) for number in range(first, last + 1)]


def numbered_excerpt(lines: Sequence[SourceLine]) -> str:
    """Return an excerpt as one string."""
    current = next((line.line for line in lines if line.current), None)
    return numbered([line.text for line in lines], lines[0].line, current) if lines else ""


def joined(entries: Iterable[OutputEntry]) -> dict[str, str]:
    """Return the output of each stream as one string."""
    streams: dict[str, list[str]] = {}
    for entry in entries:
        streams.setdefault(STREAMS.get(entry.stream, entry.stream), []).append(entry.text)
    shown = {stream: without_debugger("".join(texts)) for stream, texts in streams.items()}
    return {stream: written for stream, written in shown.items() if written}


def in_order(entries: Iterable[OutputEntry]) -> list[dict[str, str]]:
    """Return the output in its order, with the pieces of one stream that follow each other as one."""
    pieces: list[tuple[str, list[str]]] = []
    for each in filter(lambda entry: entry.text, entries):
        stream = STREAMS.get(each.stream, each.stream)
        if not pieces or pieces[-1][0] != stream:
            pieces.append((stream, []))
        pieces[-1][1].append(each.text)
    shown = [(stream, without_debugger("".join(texts))) for stream, texts in pieces]
    return [{stream: written} for stream, written in shown if written]


def size_text(size: int) -> str:
    """Return a number of bytes as one reads it: `812 bytes`, `14 KB`, `1.2 MB`."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:.0f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
