"""`retime`: gives a scenario that was made from a recording the exact times of the virtual clock.

In a recording every step took some milliseconds; in virtual time the server's work takes none.
"""

from collections import deque
from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.testing.debug_client import LIST_CHANGED
from trio_debugmcp.testing.scenario.player import play_in
from trio_debugmcp.testing.scenario.report import Entry, answered_prefix, notice_text
from trio_debugmcp.testing.scenario.script_lines import (
    Call,
    ExpectAnswer,
    ExpectError,
    ExpectListChanged,
    ExpectUpdated,
    LaunchProgram,
    Read,
    Scenario,
    ScriptLine,
    Step,
)
from trio_debugmcp.testing.scenario.script_text import full_uri

NEAR_SECONDS = 0.25
"""By how much a real machine may have been late; less than a quiet window: no two notifications are confused."""


def retime(scenario: Scenario) -> Scenario:
    """Play a scenario and give its notifications and answers the times at which they arrived; not within a Trio run.

    Only what arrives near its time is changed. What does not arrive keeps its time, and is a difference when the
    scenario is played.
    """
    entries = play_in(scenario, scenario.setting.eras[0]).entries
    exact = _Exact(entries, scenario.steps)
    lines = sorted((exact.timed(step.line) for step in scenario.steps), key=lambda line: line.at or 0.0)
    return replace(scenario, steps=tuple(Step(number, line) for number, line in enumerate(lines, 2)))


class _Exact:
    """The times of what happened, from which each expectation takes its own; each is taken only once."""

    def __init__(self, entries: Sequence[Entry], steps: Sequence[Step]) -> None:
        self._happened: dict[tuple[str, str], deque[float]] = {}
        for entry in entries:
            text = entry.text.partition(")")[0] if entry.line is None else ""
            self._happened.setdefault((entry.who, text), deque()).append(entry.at)
        self._calls: dict[tuple[str, str | None], str] = {}
        self._numbers = {id(step.line): step.number for step in steps}

    def timed(self, line: ScriptLine) -> ScriptLine:
        match line:
            case Call(who=who, name=name) | LaunchProgram(who=who, name=name) | Read(who=who, name=name):
                what = line.tool if isinstance(line, Call) else "debug_launch"
                what = f"reading {line.uri}" if isinstance(line, Read) else what
                self._calls[who, name] = answered_prefix(what, self._numbers[id(line)])
                return line
            case ExpectAnswer(who=who, of=of) | ExpectError(who=who, of=of):
                return self._at(line, who, self._calls.get((who, of), ""))
            case ExpectListChanged(who=who):
                return self._at(line, who, notice_text(LIST_CHANGED))
            case ExpectUpdated(who=who, uris=[uri]):
                return self._at(line, who, notice_text(full_uri(uri)))
            case _:
                return line

    def _at(self, line: ScriptLine, who: str, text: str) -> ScriptLine:
        times = self._happened.get((who, text.partition(")")[0]), deque())
        while times and line.at is not None and times[0] < line.at - NEAR_SECONDS:
            times.popleft()
        if line.at is None or not times or times[0] > line.at + NEAR_SECONDS:
            return line
        return replace(line, at=times.popleft())
