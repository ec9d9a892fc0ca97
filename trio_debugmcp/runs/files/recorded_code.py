"""`RecordedCode`: what a record says of a function, class body or module that ran."""

from bisect import bisect_right
from typing import Any, NamedTuple


class RecordedCode(NamedTuple):
    """A function, class body or module that ran.

    `compiled`: the LINE row that had its text compiled, or 0. `lines`: those of its statements as ranges, of each the
    first and the one behind its last; empty: not known.
    """

    number: int
    file: str
    name: str
    first: int
    kind: str
    source: int | None
    params: tuple[str, ...]
    cells: tuple[str, ...]
    free: tuple[str, ...]
    module: str
    globals: int
    compiled: int = 0
    lines: tuple[int, ...] = ()

    @property
    def is_of_library(self) -> bool:
        """Whether a library has written its text: methods of a dataclass."""
        return self.compiled < 0

    def may_have(self, line: int) -> bool:
        """Whether one of its statements may be on a line."""
        return not self.lines or bisect_right(self.lines, line) % 2 == 1


def recorded_code(fact: dict[str, Any]) -> RecordedCode:
    """Return the code that a fact of a record is about."""
    names = {name: tuple(fact.get(name) or ()) for name in ("params", "cells", "free", "lines")}
    return RecordedCode(
        number=fact["code"],
        file=fact["file"],
        name=fact["name"],
        first=fact["first"],
        kind=fact["kind"],
        source=fact.get("source"),
        module=fact.get("module") or "",
        globals=fact.get("globals") or 0,
        compiled=fact.get("compiled") or 0,
        **names,
    )
