"""What answers about a run are made of: lines, frames and moments. Imports nothing that reads runs."""

import msgspec


class BecauseLine(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One line of an answer about a run.

    Attributes:
        at: the number for the next question: `#36`.
        file, line, function: the place.
        source: the statement.
        values: what it wrote, read or decided.
        notes: why it is here, where that does not show.
    """

    at: str
    file: str
    line: int
    function: str
    source: str
    values: list[str] = []
    notes: list[str] = []

    def __str__(self) -> str:
        name = self.file.rpartition("/")[2]
        said = "; ".join(part for part in (" ".join(self.values), ": ".join(self.notes)) if part)
        return f"{self.at} {name}:{self.line} {self.function} | {self.source}" + (f" | {said}" if said else "")


class PastPlace(msgspec.Struct, frozen=True):
    """A frame of a stack then."""

    function: str
    file: str
    line: int
    row: int


class RunMoment(msgspec.Struct, frozen=True):
    """A moment of a run: before a line ran.

    Attributes:
        row: its LINE row.
        line: what the line then did.
        stack: the innermost frame first; `frames`: how many there are.
        variables: of that frame; `has_more`: not all were looked for.
        source: the text that ran, if it is known.
        thread: the number of the thread.
        first, last: the first and the last LINE row of the record.
    """

    row: int
    line: BecauseLine
    stack: list[PastPlace]
    frames: int
    variables: dict[str, str]
    has_more: bool
    source: str | None
    thread: int
    first: int
    last: int
