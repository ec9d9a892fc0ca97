r"""Colours and cursor moves in what tools write: they say nothing to who reads text, and hide it from patterns. Pure.

    plain("Local\x1b[22m: 5173")     # "Local: 5173"

Tools of JavaScript write them into a pipe, too, where the environment has `CI` or `FORCE_COLOR`. What a debugged
program writes is kept as it is: its colours may be what is debugged.
"""

import re

_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\))")
"""ECMA-48: control sequences, and commands of the operating system, as links are."""

_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b\n]*\x1b?)?\Z")

_MAX_HELD = 4096
"""Characters of a sequence that has not ended: longer ones are text."""


def plain(text: str) -> str:
    """Return a text without the sequences that terminals obey."""
    return _SEQUENCE.sub("", text)


class PlainText:
    """A text that comes in pieces, without the sequences that terminals obey, wherever these are divided."""

    def __init__(self) -> None:
        self._held = ""

    def __repr__(self) -> str:
        return f"<PlainText holding {self._held!r}>"

    def feed(self, piece: str) -> str:
        """Return what is known to be text by now; a sequence that never ends is left out."""
        text = plain(self._held + piece)
        begun = _BEGUN.search(text)
        length = 0 if begun is None else len(begun[0])
        cut = len(text) - length if length <= _MAX_HELD else len(text)
        self._held = text[cut:]
        return text[:cut]
