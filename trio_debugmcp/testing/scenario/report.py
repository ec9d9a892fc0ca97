"""What happened when a scenario was played: a timeline, with the differences at their lines. Pure."""

from typing import Any

import msgspec
from msgspec import Struct

from trio_debugmcp.testing.scenario.lines import Era, Line, Scenario

MAX_TEXT = 140
"""Characters of an entry that are shown."""


class Entry(Struct, frozen=True):
    """Something that happened, `at` so many virtual seconds from the beginning.

    `line`: the number of the scenario's line that did or expected it. `differences`: what is not as the line says.
    """

    at: float
    who: str
    text: str
    line: int | None = None
    differences: tuple[str, ...] = ()


class Report(Struct, frozen=True):
    """How a scenario went in one protocol era. As text it is the timeline."""

    scenario: Scenario
    era: Era
    entries: tuple[Entry, ...]

    @property
    def ok(self) -> bool:
        """Whether everything was as the scenario says."""
        return not self.differences

    @property
    def differences(self) -> list[tuple[int | None, str]]:
        """All differences, with the number of their line; None for what no line expects."""
        return [(entry.line, each) for entry in self.entries for each in entry.differences]

    def __str__(self) -> str:
        """The timeline."""
        name, setting = self.scenario.name, self.scenario.setting
        count = len(self.differences)
        verdict = "as expected" if not count else f"{count} difference{'s' if count > 1 else ''}"
        head = [f"{setting.scenario}", f"{name}, {self.era} era: {verdict}"]
        return "\n".join([*head, *(line for entry in self.entries for line in _lines(entry))])


def notice_text(what: str) -> str:
    """How the timeline shows that a client was told of a resource, or of the list."""
    return f"← {'updated ' if '://' in what else ''}{what}"


def answered_prefix(what: str, line: int) -> str:
    """How the timeline begins to show the answer of the call that this line began."""
    return f"← {what} (line {line})"


def seconds(time: float) -> str:
    """To the microsecond, without needless zeros."""
    return f"{f'{time:.6f}'.rstrip('0').rstrip('.')} s"


def described(line: Line) -> str:
    """A line of a scenario in words: what it says, and the keys that are not as usual."""
    raw: dict[str, Any] = msgspec.to_builtins(line)
    tag = type(line).__struct_config__.tag_field or ""
    elsewhere = (tag, "at", "after", "note", *([] if tag == "expect" else ["who"]))
    rest = {key: value for key, value in raw.items() if key not in elsewhere}
    return " ".join([str(raw[tag]), *(f"{key}={_plain(value)}" for key, value in rest.items())])


def _lines(entry: Entry) -> list[str]:
    mark = "✗" if entry.differences else " "
    number = "" if entry.line is None else str(entry.line)
    text = entry.text if len(entry.text) <= MAX_TEXT else f"{entry.text[:MAX_TEXT]}…"
    first = f"{mark} {entry.at:10.3f} s {number:>4}  {entry.who:<10} {text}"
    return [first, *(f"✗{' ' * 21}{each}" for each in entry.differences)]


def _plain(value: Any) -> str:
    plain = isinstance(value, str) and value.isprintable() and " " not in value
    return value if plain else msgspec.json.encode(value).decode()
