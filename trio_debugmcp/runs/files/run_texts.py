"""The texts of a recorded process, and the lines of facts about it."""

import json
import zlib
from pathlib import Path
from typing import Any

from trio_debugmcp.runs.files.run_files import KEY_MARK, WORD, RunFileError


class TextFile:
    """The texts, by their numbers from 1."""

    def __init__(self, directory: Path) -> None:
        self._texts: list[str] = [""]
        self._keys: dict[str, int] = {}
        for path in sorted(directory.glob("texts-*.z")):
            try:
                self._read(zlib.decompress(path.read_bytes()))
            except zlib.error:  # torn: the block at hand has it still
                break
        self._read((directory / "texts").read_bytes())

    def _read(self, data: bytes) -> None:
        """Read a block, whose first word is the number of its first text."""
        if int.from_bytes(data[:WORD], "little") != len(self._texts):  # kept just before the process ended
            return
        place = WORD
        while place + 4 <= len(data) and (head := int.from_bytes(data[place : place + 4], "little")):
            size = (head & ~KEY_MARK) - 1
            text = data[place + 4 : place + 4 + size].decode("utf-8", "replace")
            if head & KEY_MARK:
                self._keys.setdefault(text, len(self._texts))
            self._texts.append(text)
            place += 4 + size

    def text(self, number: int) -> str:
        return self._texts[number] if number < len(self._texts) else "?"

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
