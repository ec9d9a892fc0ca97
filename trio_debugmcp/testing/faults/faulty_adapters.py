"""Debug adapters that misbehave: ways to inject a fault into a `FakeAdapter`, from now on or at a command.

    inject = refusing("no such interpreter")
    inject(adapter, "launch")

The fault happens when the adapter is about to answer that command.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import trio

from trio_debugmcp.testing.fake_adapter import FakeAdapter
from trio_debugmcp.testing.fake_answers import Arguments, Refusal
from trio_debugmcp.testing.fake_connection import DapMessage, Send
from trio_debugmcp.testing.faults.faulty_messages import LATE_SECONDS
from trio_debugmcp.testing.faults.garbage import framed

Inject = Callable[[FakeAdapter, str], None]
"""Makes an adapter misbehave from now on: in everything it does, or at its answer to a command."""


def before_answering(act: Callable[[FakeAdapter], Awaitable[None]]) -> Inject:
    """Do something before the command is answered, the first time."""

    def inject(adapter: FakeAdapter, command: str) -> None:
        answer = adapter.answer_to(command)

        async def act_and_answer(arguments: Arguments) -> Any:
            adapter.answer(command, answer)
            await act(adapter)
            return await answer(arguments)

        adapter.answer(command, act_and_answer)

    return inject


def sending(data: bytes) -> Inject:
    """Send bytes, DAP or not, before the command is answered."""
    return before_answering(lambda adapter: adapter.send_raw(data))


def complaining(text: str) -> Inject:
    """Write to standard error and exit instead of answering the command."""

    async def complain_and_crash(adapter: FakeAdapter) -> None:
        adapter.connection.complain(text)
        await adapter.crash()

    return before_answering(complain_and_crash)


def refusing(reason: str) -> Inject:
    """Refuse the command, with a reason or without one."""

    def inject(adapter: FakeAdapter, command: str) -> None:
        async def refuse(arguments: Arguments) -> Any:
            await trio.lowlevel.checkpoint()
            raise Refusal(reason)

        adapter.answer(command, refuse)

    return inject


def answering(body: Any) -> Inject:
    """Answer the command with that body, and do nothing for it."""

    def inject(adapter: FakeAdapter, command: str) -> None:
        async def answer(arguments: Arguments) -> Any:
            await trio.lowlevel.checkpoint()
            return body

        adapter.answer(command, answer)

    return inject


def hesitating(seconds: float) -> Inject:
    """Wait before the command is answered."""

    async def wait(adapter: FakeAdapter) -> None:
        await trio.sleep(seconds)

    return before_answering(wait)


def crashing_at_message(number: int) -> Inject:
    """Break the connection off instead of sending the n-th message from now on."""

    def inject(adapter: FakeAdapter, command: str) -> None:
        sent = 0

        async def twist(message: DapMessage, send: Send) -> None:
            nonlocal sent
            sent += 1
            await (adapter.crash() if sent == number else send(message))

        adapter.connection.twist(twist)

    return inject


def in_lumps(adapter: FakeAdapter, command: str) -> None:
    """Send in one piece all messages of some milliseconds."""
    lump = bytearray()

    async def twist(message: DapMessage, send: Send) -> None:
        begins = not lump
        lump.extend(framed(message))
        if begins:
            await trio.sleep(LATE_SECONDS)
            data = bytes(lump)
            lump.clear()
            await adapter.send_raw(data)

    adapter.connection.twist(twist)


def at_once(act: Callable[[FakeAdapter], None]) -> Inject:
    """Do something that does not wait, now."""

    def inject(adapter: FakeAdapter, command: str) -> None:
        act(adapter)

    return inject
