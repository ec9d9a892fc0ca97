"""`ScenarioLog`: what has happened in a scenario, in virtual time, from which the report is made."""

import trio
from msgspec.structs import replace

from trio_debugmcp.testing.fake_answers import Arguments
from trio_debugmcp.testing.scenario.report import Entry
from trio_debugmcp.testing.scenario.script_lines import DIRECTORY


class ScenarioLog:
    """The entries, and the time on Trio's clock from which their times are counted.

    Args:
        directory: whose name, which changes, is not shown.
    """

    def __init__(self, directory: str) -> None:
        self.entries: list[Entry] = []
        self.zero = trio.current_time()
        self._directory = directory

    @property
    def now(self) -> float:
        """Virtual seconds since the beginning, to the microsecond."""
        return self.since_zero(trio.current_time())

    def since_zero(self, time: float) -> float:
        """Convert a time of Trio's clock to the time since the beginning."""
        return round(time - self.zero, 6)

    def begin_here(self) -> None:
        """Set the clock to 0 and forget all entries."""
        self.zero = trio.current_time()
        self.entries.clear()

    def add(self, who: str, text: str, line: int | None = None, *differences: str) -> int:
        """Add an entry and return its number."""
        entry = Entry(self.now, who, self._public(text), line, tuple(map(self._public, differences)))
        self.entries.append(entry)
        return len(self.entries) - 1

    def add_request(self, who: str, command: str, arguments: Arguments) -> None:
        """Add a request that an adapter received; those of one instant share an entry."""
        last = self.entries[-1] if self.entries else None
        if last is not None and (last.at, last.who, last.line) == (self.now, who, None):
            self.entries[-1] = replace(last, text=f"{last.text}, {command}")
        else:
            self.add(who, f"← {command}")

    def object_to(self, entry: int, sentence: str) -> None:
        """Add a difference to an entry."""
        old = self.entries[entry]
        self.entries[entry] = replace(old, differences=(*old.differences, self._public(sentence)))

    def _public(self, text: str) -> str:
        return text.replace(self._directory, DIRECTORY)
