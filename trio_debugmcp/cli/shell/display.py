"""How the shell shows results: text for people, or one line of JSON for each."""

import shutil
import sys
from collections.abc import Sequence
from typing import Any

from trio_debugmcp.cli._output import compact, plain, visible, write_line, write_pretty

NARROWEST_CELLS = 20
"""Of a description: less says nothing."""


class Display:
    """Writes to standard output.

    Args:
        as_json: one line of JSON for each result, and nothing else.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def value(self, value: Any) -> None:
        """Show a value as JSON."""
        if self._as_json:
            write_line(compact(value))
        else:
            write_pretty(value)

    def line(self, value: Any) -> None:
        """Show a value as one line of JSON."""
        write_line(visible(compact(value)))

    def note(self, text: str) -> None:
        """Show a sentence; not part of what JSON is asked for."""
        if not self._as_json:
            write_line(visible(text))

    def items(self, items: Sequence[tuple[str, str | None]], words: Sequence[str]) -> None:
        """Show names with the first line of their descriptions, those that contain all of `words`."""
        matches = [
            (name, (text or "").strip())
            for name, text in items
            if all(word.lower() in f"{name} {text}".lower() for word in words)
        ]
        if self._as_json:
            write_line(compact([{"name": name, "description": text} for name, text in matches]))
            return
        widest = max((len(name) for name, _ in matches), default=0)
        room = max(shutil.get_terminal_size().columns - widest - 2, NARROWEST_CELLS)
        for name, text in matches:
            first = text.partition("\n")[0]
            short = first if len(first) <= room or not sys.stdout.isatty() else f"{first[: room - 1]}…"
            write_line(visible(f"{name:<{widest}}  {short}".rstrip()))
        left = len(items) - len(matches)
        self.note(f"{len(matches)} listed" + (f", {left} left out by {' '.join(words)!r}" if left else ""))

    def content(self, result: Any, parts: Sequence[Any]) -> None:
        """Show the parts of a result: texts as they are, and others as JSON."""
        if self._as_json:
            write_line(compact(result))
            return
        for part in parts:
            text = getattr(part, "text", None)
            if isinstance(text, str):
                write_line(visible(text) if sys.stdout.isatty() else text)
            else:
                write_pretty(part)
        structured = getattr(result, "structured_content", None)
        if structured is not None and not parts:
            write_pretty(plain(structured))
        elif not parts:
            self.note("(empty)")
