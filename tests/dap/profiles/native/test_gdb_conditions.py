"""What gdb runs so that breakpoints say whose conditions it does not understand."""

from types import SimpleNamespace
from typing import Any

import pytest

from trio_debugmcp.dap.profiles.native.gdb_conditions import ConditionCheck

REFUSAL = 'No symbol "wage" in current context.'


class FakeBreakpoint:
    """One of gdb's, whose condition it does not understand while `understood` is false."""

    def __init__(self, condition: str | None) -> None:
        self.number, self._condition, self.enabled, self.understood = 1, condition, "N", False

    def is_valid(self) -> bool:
        return True

    @property
    def condition(self) -> str | None:
        return self._condition

    @condition.setter
    def condition(self, condition: str | None) -> None:
        if not self.understood:
            raise ValueError(REFUSAL)
        self._condition = condition


class FakeGdb:
    """As much of gdb as is used."""

    error = ValueError

    def __init__(self, breakpoint_: FakeBreakpoint, places: list[dict[str, str]] | None = None) -> None:
        self.of_events: list[Any] = []
        self.posted: list[Any] = []
        self.sent: list[dict[str, Any]] = []
        self.post_event = self.posted.append
        self.place = places
        self.breakpoint = breakpoint_
        registry = SimpleNamespace(connect=self.of_events.append)
        self.events = SimpleNamespace(breakpoint_modified=registry, new_objfile=registry)
        self.reported = SimpleNamespace(_breakpoint_descriptor=lambda each: {"id": each.number, "verified": True})
        ConditionCheck(self, self.reported, lambda _, body: self.sent.append(body["breakpoint"]))

    def breakpoints(self) -> list[FakeBreakpoint]:
        return [self.breakpoint]

    def execute_mi(self, *_: str) -> dict[str, Any]:
        row = {"locations": [{"enabled": self.breakpoint.enabled}] if self.place is None else self.place}
        return {"BreakpointTable": [row]}

    def happen(self, event: Any) -> list[dict[str, Any]]:
        """Let gdb report an event, and return what it reports to its client then."""
        self.of_events[0](event)
        for each in self.posted:
            each()
        self.posted.clear()
        sent, self.sent[:] = list(self.sent), []
        return sent


def test_a_condition_that_gdb_does_not_understand_at_the_place_is_reported_once() -> None:
    wrong = FakeBreakpoint("wage < 400")
    gdb = FakeGdb(wrong)
    [said] = gdb.happen(wrong)
    assert (said["verified"], said["message"]) == (False, f"the condition `wage < 400` failed: {REFUSAL}")
    assert gdb.happen(wrong) == []
    assert vars(gdb.reported)["_breakpoint_descriptor"](wrong) == said


def test_one_that_is_understood_once_a_library_is_there_is_set_again() -> None:
    later = FakeBreakpoint("strlen(name) == 3")
    gdb = FakeGdb(later)
    gdb.happen(later)
    later.understood, later.enabled = True, "y"
    assert gdb.happen(SimpleNamespace(new_objfile="libc.so.6")) == [{"id": 1, "verified": True}]


@pytest.mark.parametrize("places", [[], [{"enabled": "N"}, {"enabled": "y"}]])
def test_one_that_has_no_place_or_is_understood_somewhere_is_not_reported(places: list[dict[str, str]]) -> None:
    assert FakeGdb(FakeBreakpoint("x"), places).happen(FakeBreakpoint("x")) == []


def test_a_hit_of_a_breakpoint_without_a_condition_has_nothing_looked_at() -> None:
    plain = FakeBreakpoint(None)
    gdb = FakeGdb(plain)
    gdb.of_events[0](plain)
    assert gdb.posted == []
