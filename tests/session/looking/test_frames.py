"""Frames beyond those that a stop captures."""

from typing import Any

from trio.testing import MockClock

from tests.server.scene import paused
from trio_debugmcp.testing import FakeAdapter


async def test_an_adapter_that_ignores_paging_is_paged_all_the_same(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    whole = [{"id": number, "name": f"f{number}", "line": number + 1, "column": 1} for number in range(60)]

    async def all_of_them(arguments: dict[str, Any]) -> object:
        return {"stackFrames": whole, "totalFrames": len(whole)}

    adapter.answer("stackTrace", all_of_them)
    async with paused("legacy", adapter) as (client, _):
        page = await client.call("stacktrace_get", start=55, count=10)
        assert page == {"frames": [f"f{number} :{number + 1} (library)" for number in range(55, 60)]}
        data = await client.call("stacktrace_get", start=55, count=10, full=True)
        assert [each["index"] for each in data["frames"]] == [*range(55, 55 + len(data["frames"]))]
        page = await client.call("stacktrace_get", start=0, count=2)
        assert page == {"frames": ["f0 :1 (library)", "f1 :2 (library)"], "omitted": 58}
