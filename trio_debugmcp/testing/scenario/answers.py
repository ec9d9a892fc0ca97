"""How a scenario's adapter answers a command: as the last line about it says, or as those say that hold only once."""

from collections import deque
from collections.abc import Sequence

import trio

from trio_debugmcp.testing.fake_adapter import FakeAdapter
from trio_debugmcp.testing.fake_answers import Arguments, Refusal
from trio_debugmcp.testing.scenario.lines import Event, SetAnswer


class ScriptedAnswers:
    """To one command of one adapter."""

    def __init__(self, adapter: FakeAdapter, command: str) -> None:
        self._adapter = adapter
        self._usual = adapter.answer_to(command)
        self._standing: SetAnswer | None = None
        self._once: deque[SetAnswer] = deque()
        self._afterwards: deque[Sequence[Event]] = deque()
        adapter.answer(command, self._answer, self._say_afterwards)

    def set(self, line: SetAnswer) -> None:
        """From now on; a line that holds once waits for its turn."""
        if line.once:
            self._once.append(line)
        else:
            self._standing = line

    async def _answer(self, arguments: Arguments) -> object:
        line = self._once.popleft() if self._once else self._standing
        if line is None:
            self._afterwards.append(())
            return await self._usual(arguments)
        await self._say(line.first)
        await trio.sleep(line.delay)
        if line.never:
            await trio.sleep_forever()
        self._afterwards.append(line.then)
        if line.crash:
            await self._adapter.crash()
            return None
        if line.refuse is not None:
            raise Refusal(line.refuse)
        return line.body if line.body is not None else await self._usual(arguments)

    async def _say_afterwards(self) -> None:
        if self._afterwards:  # else it was asked before there was anything to say
            await self._say(self._afterwards.popleft())

    async def _say(self, events: Sequence[Event]) -> None:
        for event in events:
            await self._adapter.event(event.event, event.body)
