"""What can happen to the messages of a debug adapter on their way out. For `FakeAdapter.twist`.

Each takes a message and a way to say it, and says it twice, late, out of its order, or not at all.
"""

from collections.abc import Callable
from typing import Any

import trio

from trio_debugmcp.testing.fake_adapter import Say, Twist

LATE_SECONDS = 0.05
"""By how much answers are overtaken; nobody is out of patience by then."""

Message = dict[str, Any]

_INFORMING = frozenset({"output", "module", "loadedSource", "thread", "process", "breakpoint"})
"""Events whose order among the others the protocol leaves open."""


def answers(command: str | None = None) -> Callable[[Message], bool]:
    """Tells the answers, or those to one command, from other messages."""

    def is_answer(message: Message) -> bool:
        return message["type"] == "response" and command in {None, message["command"]}

    return is_answer


def everything(message: Message) -> bool:
    """Tells nothing apart."""
    return True


def events(message: Message) -> bool:
    """Whether it is an event."""
    return bool(message["type"] == "event")


async def reordered(message: Message, say: Say) -> None:
    """A legal order, but the worst: every event overtakes the answers, and informing ones come after moving ones."""
    if not events(message):
        await trio.sleep(LATE_SECONDS)
    elif message["event"] in _INFORMING:
        await trio.sleep(LATE_SECONDS / 2)
    await say(message)


def twice(which: Callable[[Message], bool]) -> Twist:
    """Those messages are said twice."""

    async def twist(message: Message, say: Say) -> None:
        await say(message)
        if which(message):
            await say(message)

    return twist


def late(which: Callable[[Message], bool], seconds: float = LATE_SECONDS) -> Twist:
    """Those messages are said that much later; others may overtake them."""

    async def twist(message: Message, say: Say) -> None:
        if which(message):
            await trio.sleep(seconds)
        await say(message)

    return twist


def never(which: Callable[[Message], bool]) -> Twist:
    """Those messages are not said, although what they tell of has happened."""

    async def twist(message: Message, say: Say) -> None:
        if not which(message):
            await say(message)

    return twist


def changed(which: Callable[[Message], bool], **members: Any) -> Twist:
    """Those messages are said with other members."""

    async def twist(message: Message, say: Say) -> None:
        await say({**message, **members} if which(message) else message)

    return twist
