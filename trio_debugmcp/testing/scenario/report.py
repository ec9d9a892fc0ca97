"""`Report`: what happened when a scenario was played, as a timeline with the differences at their lines. Pure."""

from typing import Any

import msgspec
from msgspec import Struct

from trio_debugmcp.testing.scenario.script_lines import Era, Scenario, ScriptLine

MAX_TEXT = 140
"""Characters of an entry that are shown."""


class Entry(Struct, frozen=True):
    """An entry of the timeline, `at` so many virtual seconds from the beginning.

    `line`: the number of the scenario's line that did or expected it. `differences`: where the line is wrong about it.
    """

    at: float
    who: str
    text: str
    line: int | None = None
    differences: tuple[str, ...] = ()


class Report(Struct, frozen=True):
    """The result of a scenario in one protocol era. As text it is the timeline."""

    scenario: Scenario
    era: Era
    entries: tuple[Entry, ...]

    @property
    def ok(self) -> bool:
        """Whether everything happened as the scenario expects."""
        return not self.differences

    @property
    def differences(self) -> list[tuple[int | None, str]]:
        """All differences, with the number of their line, or None for what no line expects."""
        return [(entry.line, difference) for entry in self.entries for difference in entry.differences]

    def __str__(self) -> str:
        """Format the timeline, with `✗` at what differs."""
        name, setting = self.scenario.name, self.scenario.setting
        count = len(self.differences)
        verdict = "as expected" if not count else f"{count} difference{'s' if count > 1 else ''}"
        head = [f"{setting.scenario}", f"{name}, {self.era} era: {verdict}"]
        return "\n".join([*head, *(line for entry in self.entries for line in _lines(entry))])


def notice_text(what: str) -> str:
    """Format a notification, of a resource or of the list, for the timeline."""
    return f"← {'updated ' if '://' in what else ''}{what}"


def answered_prefix(what: str, line: int) -> str:
    """Format the beginning of an answer to the call of that line, for the timeline."""
    return f"← {what} (line {line})"


def seconds(time: float) -> str:
    """Format seconds to the microsecond, without needless zeros."""
    return f"{f'{time:.6f}'.rstrip('0').rstrip('.')} s"


def described(line: ScriptLine) -> str:
    """Format a line of a scenario: its word, and the keys that differ from their defaults."""
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
    return [first, *(f"✗{' ' * 21}{difference}" for difference in entry.differences)]


def _plain(value: Any) -> str:
    plain = isinstance(value, str) and value.isprintable() and " " not in value
    return value if plain else msgspec.json.encode(value).decode()
