"""Functions in a source file, and what its lines decide: what a language knows of its code. Pure."""

from collections.abc import Sequence

from msgspec import Struct

Operand = tuple[str, Sequence["Operand"]]
"""An operand of an assertion, as an expression, with the parts of it that are expressions, too."""


class FunctionCode(Struct, frozen=True):
    """A function in a source file: its own name, the one with its classes, and the lines of its code."""

    name: str
    qualname: str
    line: int
    """Where it begins, with its decorators."""
    first: int
    """The line that a call of it runs first."""
    last: int
    column: int | None = None
    """Where in that line, if what stands before it runs at other times."""


class FunctionPlace(Struct, frozen=True):
    """Where a call of a function begins; with line 0 if only the adapter can stop there.

    `others`: places of other functions that the name may mean as well, in words.
    """

    file: str
    line: int
    column: int | None = None
    others: tuple[str, ...] = ()


class Branch(Struct, frozen=True):
    """A line that decides whether a body runs."""

    head: range
    body: range
    taken: str
    passed: str

    def outcome(self, following: int) -> str:
        """Return what the line that ran next says of it; empty if it says nothing."""
        if following in self.body:
            return self.taken
        return "" if following in self.head else self.passed
