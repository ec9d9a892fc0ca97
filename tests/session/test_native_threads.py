"""Threads of programs of machine code where the kernel says nothing of them: of core files, and on other machines."""

from typing import Any

from trio.testing import MockClock

from tests.session.natives import SOURCE, launched
from trio_debugmcp.testing import FakeAdapter


async def test_each_thread_at_a_stop_is_shown_at_the_innermost_line_of_the_users(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(1, "main (LWP 41)"), (2, "worker (LWP 42)")]
    adapter.frames = [("check", SOURCE, 47), ("main", SOURCE, 87)]
    plausible = adapter.answer_to("stackTrace")

    async def stack(arguments: dict[str, Any]) -> object:
        if arguments["threadId"] == 1:
            return await plausible(arguments)
        frames = [
            {"id": 21, "name": "read", "line": 9, "column": 1, "source": {"path": "/usr/include/unistd.h"}},
            {"id": 22, "name": "listen", "line": 12, "column": 1, "source": {"path": SOURCE}},
        ]
        return {"stackFrames": frames, "totalFrames": 2}

    adapter.answer("stackTrace", stack)
    async with launched("gdb", adapter) as client:
        await adapter.stop("pause")
        await client.call("debug_wait")
        found = await client.call("threads_list")
        assert found["threads"] == ["*1 main /work/orders.cpp:47 in check", "2 worker /work/orders.cpp:12 in listen"]
        assert "deadlocks" not in found
