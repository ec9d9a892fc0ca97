"""Where the client works: asked for once, and used for relative paths where the server stands elsewhere."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from mcp import Client
from mcp_types import ListRootsResult, Root

from trio_debugmcp.app import Options
from trio_debugmcp.server.client_roots import path_of
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter
from trio_debugmcp.testing.connect import open_server
from trio_debugmcp.testing.debug_client import over
from trio_debugmcp.testing.fake_adapter import FakeProfile
from trio_debugmcp.transports.in_memory import memory_pair


class Starting(FakeProfile):
    """Its launch requests say where the program starts."""

    def launch_arguments(self, launch: Any) -> dict[str, Any]:
        return {"program": launch.program, "cwd": launch.cwd}


class Project:
    """A server that stands in another directory than the project that its client has as its root."""

    def __init__(self, directory: Path) -> None:
        self.home, self.elsewhere = directory / "shop", directory / "elsewhere"
        for folder in (self.home, self.elsewhere):
            folder.mkdir()
        (self.home / "till.py").write_text("due = 3\nprint(due)\n")
        self.adapter = FakeAdapter()
        self.options = Options(settings=Settings(directory=str(self.elsewhere), profiles=(Starting(self.adapter),)))
        self.asked = 0

    @asynccontextmanager
    async def connected(self, uris: Sequence[str]) -> AsyncIterator[DebugClient]:
        async def roots(context: Any) -> ListRootsResult:
            self.asked += 1
            return ListRootsResult(roots=[Root(uri=uri) for uri in uris])  # type: ignore[arg-type]

        async with open_server(self.options) as server, trio.open_nursery() as nursery:
            with memory_pair() as (left, right):
                nursery.start_soon(server.app.serve_connection, *left, "control")
                async with Client(over(right), mode="legacy", list_roots_callback=roots, cache=None) as sdk:  # type: ignore[arg-type]
                    yield DebugClient(sdk)
            nursery.cancel_scope.cancel(reason="the client has disconnected")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


async def test_relative_paths_are_tried_in_the_roots_of_the_client_which_is_asked_once(project: Project) -> None:
    async with project.connected([project.home.as_uri()]) as client:
        await client.call("debug_launch", program="till.py", breakpoints=["till.py:2"], wait=False)
        launched = project.adapter.sent("launch")[-1]
        assert (launched["program"], launched["cwd"]) == (f"{project.home}/till.py", str(project.home))
        found = await client.call("breakpoint_set", file="till.py", line=2)
        assert found["at"] == f"{project.home}/till.py:2"
        assert project.asked == 1


async def test_a_server_that_stands_in_a_root_starts_programs_where_it_stands(project: Project) -> None:
    async with project.connected([project.elsewhere.parent.as_uri()]) as client:
        await client.call("debug_launch", program="shop/till.py", wait=False)
        launched = project.adapter.sent("launch")[-1]
        assert (launched["program"], launched["cwd"]) == (f"{project.home}/till.py", str(project.elsewhere))


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/ann/a%20shop", "/home/ann/a shop"),
        ("file://localhost/shop/", "/shop"),
        ("file://server/shop", None),
        ("https://example.com/shop", None),
        ("file:///a%00b", None),
        ("file://[bad", None),
    ],
)
def test_a_root_is_a_directory_of_this_machine(uri: str, path: str | None) -> None:
    assert path_of(uri) == path
