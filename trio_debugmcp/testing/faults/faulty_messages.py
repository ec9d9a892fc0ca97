"""What can happen to the messages of a debug adapter on their way out. For `FakeConnection.twist`.

Each function gets a message and a way to send it, and sends it twice, late, out of its order, or not at all:

    adapter.connection.twist(late(answers("evaluate"), 3))
"""

from collections.abc import Callable
from typing import Any

import trio

from trio_debugmcp.testing.fake_connection import DapMessage, Send, Twist

LATE_SECONDS = 0.05
"""Delay of responses, below every time limit."""

_INFORMING = frozenset({"output", "module", "loadedSource", "thread", "process", "breakpoint"})
"""Events whose order among the others the protocol leaves open."""


def answers(command: str | None = None) -> Callable[[DapMessage], bool]:
    """Select the responses to one command, or all responses."""

    def is_answer(message: DapMessage) -> bool:
        return message["type"] == "response" and command in {None, message["command"]}

    return is_answer


def everything(message: DapMessage) -> bool:
    """Select every message: for twists of all."""
    return True


def events(message: DapMessage) -> bool:
    """Select the events, and no responses."""
    return bool(message["type"] == "event")


async def reordered(message: DapMessage, send: Send) -> None:
    """Send in the worst legal order: responses after events, informational events after `stopped` and `continued`."""
    if not events(message):
        await trio.sleep(LATE_SECONDS)
    elif message["event"] in _INFORMING:
        await trio.sleep(LATE_SECONDS / 2)
    await send(message)


def twice(which: Callable[[DapMessage], bool]) -> Twist:
    """Make a twist that sends the selected messages twice."""

    async def twist(message: DapMessage, send: Send) -> None:
        await send(message)
        if which(message):
            await send(message)

    return twist


def late(which: Callable[[DapMessage], bool], seconds: float = LATE_SECONDS) -> Twist:
    """Make a twist that delays the selected messages; others may overtake them."""

    async def twist(message: DapMessage, send: Send) -> None:
        if which(message):
            await trio.sleep(seconds)
        await send(message)

    return twist


def never(which: Callable[[DapMessage], bool]) -> Twist:
    """Make a twist that drops the selected messages, although what they report has happened."""

    async def twist(message: DapMessage, send: Send) -> None:
        if not which(message):
            await send(message)

    return twist


def changed(which: Callable[[DapMessage], bool], **members: Any) -> Twist:
    """Make a twist that replaces members of the selected messages."""

    async def twist(message: DapMessage, send: Send) -> None:
        await send({**message, **members} if which(message) else message)

    return twist
