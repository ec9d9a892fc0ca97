"""Debug adapters that misbehave: ways to spoil a `FakeAdapter` from a moment on, at its answer to a command."""

from collections.abc import Awaitable, Callable
from typing import Any

import trio

from trio_debugmcp.testing.fake_adapter import Arguments, FakeAdapter, Refusal, Say
from trio_debugmcp.testing.faults.garbage import framed
from trio_debugmcp.testing.faults.messages import LATE_SECONDS, Message

Spoil = Callable[[FakeAdapter, str], None]
"""Makes an adapter misbehave from now on, in all that it does or at a command."""


def before_answering(deed: Callable[[FakeAdapter], Awaitable[None]]) -> Spoil:
    """Does something before it answers the command, the first time."""

    def spoil(adapter: FakeAdapter, command: str) -> None:
        answer = adapter.answer_to(command)

        async def do_and_answer(arguments: Arguments) -> Any:
            adapter.answer(command, answer)
            await deed(adapter)
            return await answer(arguments)

        adapter.answer(command, do_and_answer)

    return spoil


def saying(data: bytes) -> Spoil:
    """Sends bytes, DAP or not, before it answers the command."""
    return before_answering(lambda adapter: adapter.send_raw(data))


def complaining(text: str) -> Spoil:
    """Writes to its standard error and exits instead of answering."""

    async def deed(adapter: FakeAdapter) -> None:
        adapter.complain(text)
        await adapter.crash()

    return before_answering(deed)


def refusing(reason: str) -> Spoil:
    """Refuses the command, with a reason or without one."""

    def spoil(adapter: FakeAdapter, command: str) -> None:
        async def refuse(arguments: Arguments) -> Any:
            await trio.lowlevel.checkpoint()
            raise Refusal(reason)

        adapter.answer(command, refuse)

    return spoil


def answering(body: Any) -> Spoil:
    """Answers the command with that body, and does nothing for it."""

    def spoil(adapter: FakeAdapter, command: str) -> None:
        async def answer(arguments: Arguments) -> Any:
            await trio.lowlevel.checkpoint()
            return body

        adapter.answer(command, answer)

    return spoil


def hesitating(seconds: float) -> Spoil:
    """Takes that long for the command."""

    async def deed(adapter: FakeAdapter) -> None:
        await trio.sleep(seconds)

    return before_answering(deed)


def crashing_at_message(number: int) -> Spoil:
    """Breaks the connection off instead of saying its n-th message from now on."""

    def spoil(adapter: FakeAdapter, command: str) -> None:
        said = 0

        async def twist(message: Message, say: Say) -> None:
            nonlocal said
            said += 1
            await (adapter.crash() if said == number else say(message))

        adapter.twist(twist)

    return spoil


def in_lumps(adapter: FakeAdapter, command: str) -> None:
    """What it says within some milliseconds comes in one piece."""
    lump = bytearray()

    async def twist(message: Message, say: Say) -> None:
        begins = not lump
        lump.extend(framed(message))
        if begins:
            await trio.sleep(LATE_SECONDS)
            data = bytes(lump)
            lump.clear()
            await adapter.send_raw(data)

    adapter.twist(twist)


def at_once(deed: Callable[[FakeAdapter], None]) -> Spoil:
    """Does something that does not wait, now."""

    def spoil(adapter: FakeAdapter, command: str) -> None:
        deed(adapter)

    return spoil
