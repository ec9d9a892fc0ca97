"""The phases of a debug session in which faults are injected: how each is reached, and what a client does in it."""

from collections.abc import Awaitable
from typing import Any

import trio
from msgspec import Struct

from trio_debugmcp.testing import DebugClient, FakeAdapter

ANSWERS = {"x": "1"}

Launch = dict[str, Any]


def healthy() -> FakeAdapter:
    """An adapter whose program stops on request, and steps."""
    adapter = FakeAdapter()
    adapter.values, adapter.locals = dict(ANSWERS), dict(ANSWERS)

    async def pause(arguments: object) -> object:
        await adapter.stop("pause")
        return {}

    async def step(arguments: object) -> object:
        await adapter.stop("step")
        return {}

    adapter.answer("pause", pause)
    adapter.answer("next", step)
    return adapter


class Phase(Struct, frozen=True):
    """`command` is what the adapter is asked while the client calls `tool`; `seconds` is by when that is answered."""

    name: str
    command: str
    tool: str
    arguments: dict[str, Any]
    seconds: float
    paused: bool | None = True
    """Whether the program is paused before; None: there is none yet."""

    def act(self, client: DebugClient) -> Awaitable[dict[str, Any]]:
        """What the client does while the fault strikes."""
        return client.call(self.tool, **self.arguments)

    async def reach(self, client: DebugClient) -> None:
        """From no session to this phase."""
        if self.paused is not None:
            await client.call("debug_launch", program=FakeAdapter.program, stop_at_entry=self.paused, wait=self.paused)
            await trio.sleep(1)


PHASES = (
    Phase(
        "starting",
        "launch",
        "debug_launch",
        {"program": FakeAdapter.program, "timeout": 10},
        seconds=10 + 1,
        paused=None,
    ),
    Phase(
        "greeting",
        "initialize",
        "debug_launch",
        {"program": FakeAdapter.program, "timeout": 10},
        seconds=10 + 1,
        paused=None,
    ),
    Phase("running", "pause", "debug_pause", {"timeout": 8}, seconds=8, paused=False),
    Phase("paused", "setBreakpoints", "breakpoint_set", {"file": FakeAdapter.program, "line": 5}, seconds=10),
    Phase("stepping", "next", "debug_step", {"timeout": 5}, seconds=5),
    Phase("reading", "variables", "variables_get", {}, seconds=10),
    Phase("evaluating", "evaluate", "evaluate", {"expression": "x"}, seconds=5),
    Phase("disconnecting", "disconnect", "debug_disconnect", {}, seconds=6 + 1),
)
