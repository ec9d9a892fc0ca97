"""Answers of a fake adapter that several tests of sessions use."""

import trio

from trio_debugmcp.testing import FakeAdapter, Refusal


async def stop(adapter: FakeAdapter, arguments: object, *, reason: str = "pause") -> object:
    await adapter.stop(reason)
    return {}


async def refuse(text: str, arguments: object) -> object:
    raise Refusal(text)


async def refuse_at_the_end(text: str, adapter: FakeAdapter, nursery: trio.Nursery, arguments: object) -> object:
    """Refuse, as the program has just ended, and report that end a little later."""
    nursery.start_soon(exit_soon, adapter)
    raise Refusal(text)


async def exit_soon(adapter: FakeAdapter) -> None:
    await trio.sleep(0.5)
    await adapter.exit(7)
