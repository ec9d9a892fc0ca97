"""The process of a program that its adapter has launched and does not report."""

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace
from trio.testing import MockClock

from tests.session.natives import PROGRAM, options_like
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host
from trio_debugmcp.testing import FakeAdapter, connect

T = TypeVar("T")


class Looking(Host):
    """A machine that finds this process, or nothing as a recording of before that question."""

    def __init__(self, answer: int | None) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def query(self, question: str, ask: Callable[[], T]) -> T:
        """Answer what is asked here, and the rest as it is."""
        if not question.startswith("process launched by"):
            return super().query(question, ask)
        self.asked.append(question)
        if self.answer is None:
            raise UsageError("FAILED", "The recording has no answer.")
        return self.answer  # type: ignore[return-value]


class Silent(FakeAdapter):
    """An adapter that does not report the process, as CodeLLDB, delve and that of Java."""

    async def event(self, name: str, body: Any = None) -> None:
        """Send all others."""
        if name != "process":
            await super().event(name, body)


async def pid_of_launch(adapter: FakeAdapter, host: Looking) -> object:
    """What the answer of a launch has as `pid`."""
    options = options_like("delve", adapter)
    options = replace(options, settings=replace(options.settings, host=host))
    async with connect(options=options) as client:
        given = {"program": PROGRAM, "adapter": "fake", "stop_at_entry": False, "wait": False}
        return (await client.call("debug_launch", **given)).get("pid")


async def test_a_launch_has_the_process_that_is_found(autojump_clock: MockClock) -> None:
    host = Looking(4711)
    assert await pid_of_launch(Silent(), host) == 4711
    assert host.asked == ["process launched by s-1"]


async def test_where_nothing_is_found_the_launch_works_without_it(autojump_clock: MockClock) -> None:
    assert await pid_of_launch(Silent(), Looking(None)) is None


async def test_what_the_adapter_reports_counts_and_nothing_is_looked_for(autojump_clock: MockClock) -> None:
    host = Looking(4711)
    assert await pid_of_launch(FakeAdapter(), host) == 4242
    assert host.asked == []
