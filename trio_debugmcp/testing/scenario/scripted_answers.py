"""`ScriptedAnswers`: how a scenario's adapter answers a command, by the `answer` lines performed so far."""

from collections import deque
from collections.abc import Sequence

import trio

from trio_debugmcp.testing.fake_adapter import FakeAdapter
from trio_debugmcp.testing.fake_answers import Arguments, Refusal
from trio_debugmcp.testing.scenario.script_lines import AdapterEvent, SetAnswer


class ScriptedAnswers:
    """The answers to one command of one adapter: first those that hold once, in order, then the latest other one."""

    def __init__(self, adapter: FakeAdapter, command: str) -> None:
        self._adapter = adapter
        self._usual = adapter.answer_to(command)
        self._standing: SetAnswer | None = None
        self._once: deque[SetAnswer] = deque()
        self._afterwards: deque[Sequence[AdapterEvent]] = deque()
        adapter.answer(command, self._answer, self._send_afterwards)

    def set(self, line: SetAnswer) -> None:
        """Answer as the line has it from now on; a line that holds once waits for its turn."""
        if line.once:
            self._once.append(line)
        else:
            self._standing = line

    async def _answer(self, arguments: Arguments) -> object:
        line = self._once.popleft() if self._once else self._standing
        if line is None:
            self._afterwards.append(())
            return await self._usual(arguments)
        await self._send(line.first)
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

    async def _send_afterwards(self) -> None:
        if self._afterwards:  # else the request came before the first `answer` line
            await self._send(self._afterwards.popleft())

    async def _send(self, events: Sequence[AdapterEvent]) -> None:
        for event in events:
            await self._adapter.event(event.event, event.body)
