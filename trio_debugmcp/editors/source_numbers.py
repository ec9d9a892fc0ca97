"""`SourceNumbers`: the numbers by which an editor asks for sources that are in no file.

They stay valid as long as it is connected.

    numbers = SourceNumbers()
    numbers.path(numbers.number("<string>"))    # "<string>"
"""

MAX_SOURCES = 10_000
"""Sources that are in no file: a program that makes code all the time must not fill the memory."""


class SourceNumbers:
    """The numbers of one editor."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._paths: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"<SourceNumbers: {len(self._numbers)}>"

    def number(self, path: str) -> int:
        """Return the number of a source; 0 when there are too many."""
        if path not in self._numbers:
            if len(self._numbers) >= MAX_SOURCES:
                return 0
            number = self._numbers[path] = len(self._numbers) + 1
            self._paths[number] = path
        return self._numbers[path]

    def path(self, number: int) -> str | None:
        """Return the source with that number; None if this editor was never given it."""
        return self._paths.get(number)
