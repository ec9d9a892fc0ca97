"""Tests with real processes: the server on stdio, the SDK's client, debugpy, on a real clock.

The server process is a warm one (`tests.warm`), except where its start or its end is tested. Every test is bounded.
Times are only ever upper bounds that are promised to users, far above what is measured.
"""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import trio
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from tests import warm
from trio_debugmcp.testing import DebugClient, connect_streams
from trio_debugmcp.testing.connect import Era

PROGRAMS = Path(__file__).parent.parent / "programs"

TEST_SECONDS = 60
"""A test that takes longer hangs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.real)


def promised(seconds: float) -> float:
    """A time that is promised to users, stretched by the load when there are more running processes than processors."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def program(name: str) -> str:
    """The path of a program to debug."""
    return str(PROGRAMS / name)


def line_of(name: str, text: str) -> int:
    """The number of the only line of a program that contains the text."""
    lines = (PROGRAMS / name).read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return number


def at(name: str, text: str) -> dict[str, object]:
    """That line as arguments of the breakpoint tools."""
    return {"file": program(name), "line": line_of(name, text)}


Connect = Callable[..., AbstractAsyncContextManager[DebugClient]]


@pytest.fixture(params=["legacy", "modern"])
def era(request: pytest.FixtureRequest) -> Era:
    """Both protocol eras."""
    chosen: Era = request.param
    return chosen


@pytest.fixture
def debugging() -> Connect:
    """`async with debugging(era) as client:` a server process and a client, in a bound of time."""

    @asynccontextmanager
    async def connected(era: Era = "legacy", *arguments: str) -> AsyncIterator[DebugClient]:
        with trio.fail_after(TEST_SECONDS):
            program, *words = warm.server("serve", *arguments)
            parameters = StdioServerParameters(command=program, args=words, env=dict(os.environ))
            async with connect_streams(stdio_client(parameters), era) as client:
                yield client

    return connected
