"""`modules_list` and `sources_list`: what a program consists of, a line each, with true totals."""

import json
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, paused, running
from trio_debugmcp.dap.profiles.python.debugpy import Debugpy
from trio_debugmcp.testing import FakeAdapter, open_server
from trio_debugmcp.testing.debug_client import DebugClient

MODULES = [
    {"id": 1, "name": "shop", "path": "/src/shop.py", "version": "1.2"},
    {"id": 2, "name": "libc.so", "path": "/lib/libc.so", "symbolStatus": "no symbols", "isUserCode": False},
    {"id": 3, "name": "made"},
]

LINES = ["shop 1.2 /src/shop.py", "libc.so /lib/libc.so, no symbols (library)", "made"]


async def load(adapter: FakeAdapter, modules: list[dict[str, Any]] = MODULES) -> None:
    for each in modules:
        await adapter.event("module", {"reason": "new", "module": each})
    await trio.sleep(1)


async def every(client: DebugClient, tool: str, key: str, count: int) -> list[str]:
    """All lines, page by page."""
    lines: list[str] = []
    while True:
        found = await client.call(tool, start=len(lines), count=count)
        lines += found[key]
        if len(lines) >= found.get("total", 0):
            return lines


async def test_modules_are_a_line_each_and_pages_are_the_whole(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await load(adapter)
        assert await client.call("modules_list") == {"modules": LINES}
        assert await client.call("modules_list", filter="LIB") == {"modules": LINES[1:2]}
        assert await client.call("modules_list", filter="nope") == {"modules": []}
        assert await client.call("modules_list", start=1, count=1) == {"modules": LINES[1:2], "total": 3}
        assert await client.call("modules_list", start=9) == {"modules": [], "total": 3}
        assert await every(client, "modules_list", "modules", 2) == LINES


async def test_sources_are_those_that_can_be_read_and_libraries_are_marked(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        await load(adapter)
        await adapter.event("loadedSource", {"reason": "new", "source": {"path": "/src/other.py"}})
        await trio.sleep(1)
        found = (await client.call("sources_list"))["sources"]
        assert "/src/app.py" in found
        assert "/src/other.py" in found
        assert await client.call("sources_list", filter="OTHER") == {"sources": ["/src/other.py"]}
        assert await client.call("sources_list", filter=".so") == {"sources": ["/lib/libc.so (library)"]}
        assert "/src/other.py" in (await client.call("sources_list", absolute=True))["sources"]
        assert await client.call("sources_list", count=1) == {"sources": found[:1], "total": len(found)}
        assert await every(client, "sources_list", "sources", 2) == found


async def test_very_many_fit_into_an_answer_and_the_rest_is_counted(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        await load(adapter, [{"id": n, "name": f"m{n}", "path": f"/src/{'x' * 90}{n}.py"} for n in range(900)])
        for tool, key in (("modules_list", "modules"), ("sources_list", "sources")):
            found = await client.call(tool, count=10_000)
            assert len(json.dumps(found, separators=(",", ":"))) <= 32_768
            assert len(found[key]) < 900 <= found["total"]


async def test_a_program_with_a_probe_says_all_that_it_has_imported(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    library = {"name": "json", "file": "/lib/json.py", "version": "2.0", "library": True}
    adapter.probe = {"modules": {"modules": [{"name": "__main__", "file": "/src/a.py"}, library], "total": 9}}
    async with running("legacy", adapter) as (client, _):
        lines = ["__main__ /src/a.py", "json 2.0 /lib/json.py (library)"]
        assert await client.call("modules_list", count=2, start=1, filter="j") == {"modules": lines, "total": 9}
        assert adapter.probed[-1] == ("modules", {"start": 1, "count": 2, "filter": "j"})


async def test_without_an_answer_of_the_probe_they_are_those_of_the_stops_and_a_note(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.probe = {"modules": "nonsense"}
    async with running("legacy", adapter) as (client, _):
        await load(adapter)
        found = await client.call("modules_list")
        assert found["modules"] == LINES
        assert found["notes"][0].startswith("only those whose code has been seen at a stop")


async def test_they_need_a_session_and_no_more(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect(role="observe") as client:
        for tool in ("modules_list", "sources_list"):
            assert (await failure(client, tool)).code == "NO_SESSION"
        async with server.connect() as other:
            await other.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
            await load(adapter)
            assert (await client.call("modules_list"))["modules"] == LINES


@pytest.mark.parametrize(
    ("file", "library"),
    [
        ("<frozen importlib._bootstrap>", True),
        ("/venv/lib/python3.11/site-packages/trio/_core.py", True),
        ("/usr/lib/python3/dist-packages/apt.py", True),
        ("/usr/lib/python3.12/json/decoder.py", True),
        ("/home/ann/lib/shop.py", False),
    ],
)
def test_files_of_python_libraries_are_known_by_their_names(file: str, library: bool) -> None:
    assert Debugpy().code.is_library(file) is library
