"""A fake program that comes by lines, one after the other, and stops where the adapter has breakpoints."""

from itertools import count
from typing import TYPE_CHECKING, Any

from trio_debugmcp.testing import FakeAdapter

if TYPE_CHECKING:
    from collections.abc import Callable


class Passes:
    """Scripts an adapter whose program passes these lines, where expressions have these values.

    At the end the program ends, unless it is `endless`: then it runs on, and passes nothing more.

    Attributes:
        lines: the breakpoints that the adapter has now, by line, with their ids.
        here: the line of the pass that it is at, from 1 on.
    """

    def __init__(self, adapter: FakeAdapter, *passes: tuple[int, dict[str, str]], endless: bool = False) -> None:
        self.adapter = adapter
        self.lines: dict[int, int] = {}
        self.here = 0
        self.endless = endless
        self.before_stop: Callable[[int], None] | None = None
        self._passes = passes
        self._ids = count(1)
        adapter.answer("setBreakpoints", self.set_lines)
        adapter.answer("continue", self._resumed, then=self._advance)

    async def set_lines(self, arguments: dict[str, Any]) -> object:
        """Answer `setBreakpoints`: all are set where they are wanted."""
        known = self.lines
        self.lines = {each["line"]: known.get(each["line"]) or next(self._ids) for each in arguments["breakpoints"]}
        found = [
            {"id": self.lines[each["line"]], "verified": True, "line": each["line"]}
            for each in arguments["breakpoints"]
        ]
        return {"breakpoints": found}

    async def _resumed(self, arguments: object) -> object:
        return {}

    async def _advance(self) -> None:
        for line, values in self._passes[self.here :]:
            self.here += 1
            if line in self.lines:
                if self.before_stop is not None:
                    self.before_stop(line)
                self.adapter.values = values
                self.adapter.frames = [("work", self.adapter.program, line), ("main", self.adapter.program, 30)]
                await self.adapter.stop("breakpoint", hit=[self.lines[line]])
                return
        if not self.endless:
            await self.adapter.exit()
