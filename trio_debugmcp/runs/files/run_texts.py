"""The texts of a recorded process, and the lines of facts about it."""

import json
import zlib
from bisect import bisect_right
from pathlib import Path
from typing import Any

from trio_debugmcp.runs.files.block_files import WORD, RunFileError

_KEY_MARK = 1 << 31

_KEY_ENDS = tuple(bytes((high, _KEY_MARK >> 24)) for high in range(17))
"""The last two bytes of the length of a key, in blocks of a megabyte: no text has them side by side, in UTF-8."""


class TextFile:
    """The texts, by their numbers from 1. A block without keys is taken apart when one of its texts is wanted."""

    def __init__(self, directory: Path) -> None:
        self._firsts: list[int] = []
        self._blocks: list[bytes | list[str]] = []
        self._keys: dict[str, int] = {}
        for path in sorted(directory.glob("texts-*.z")):
            try:
                self._add(zlib.decompress(path.read_bytes()))
            except zlib.error:  # torn: the block at hand has it still
                break
        self._add((directory / "texts").read_bytes())

    def _add(self, data: bytes) -> None:
        """Add a block, whose first word is the number of its first text."""
        first = int.from_bytes(data[:WORD], "little")
        if self._firsts and first <= self._firsts[-1]:  # kept just before the process ended
            return
        self._firsts.append(first)
        self._blocks.append(data)
        if _KEY_ENDS[0][1:] in data and any(end in data for end in _KEY_ENDS):
            self._texts(len(self._blocks) - 1)

    def _texts(self, block: int) -> list[str]:
        data = self._blocks[block]
        if isinstance(data, list):
            return data
        texts: list[str] = []
        place, number = WORD, self._firsts[block]
        while place + 4 <= len(data) and (head := int.from_bytes(data[place : place + 4], "little")):
            size = (head & ~_KEY_MARK) - 1
            text = data[place + 4 : place + 4 + size].decode("utf-8", "replace")
            if head & _KEY_MARK:
                self._keys.setdefault(text, number + len(texts))
            texts.append(text)
            place += 4 + size
        self._blocks[block] = texts
        return texts

    def text(self, number: int) -> str:
        block = bisect_right(self._firsts, number) - 1
        texts = self._texts(block) if block >= 0 else []
        place = number - self._firsts[block] if texts else 0
        return texts[place] if place < len(texts) else "" if number == 0 else "?"

    def key(self, text: str) -> int:
        return self._keys.get(text, 0)


def facts_of(directory: Path) -> list[dict[str, Any]]:
    """Return the facts; a last line that was not written whole is left out."""
    try:
        lines = (directory / "facts").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise RunFileError(f"the recorded run has no file facts: {error.strerror}") from error
    found = []
    for line in lines[:-1]:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return [fact for fact in found if isinstance(fact, dict)]
