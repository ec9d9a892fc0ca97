"""Tests with real processes: the server on stdio, the SDK's client, debugpy, on a real clock.

The server process is a warm one (`tests.warm`), except where its start or its end is tested. Every test is bounded.
How long something takes is asserted on a virtual clock, elsewhere; here the machine may be as busy as it likes.
"""

import os
import re
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio
from mcp import StdioServerParameters
from mcp.client import stdio
from mcp.client.stdio import stdio_client

from tests import warm
from tests.transports.conftest import serving  # noqa: F401 (a fixture)
from trio_debugmcp.testing import DebugClient, connect_streams
from trio_debugmcp.testing.connect import Era

PROGRAMS = Path(__file__).parent.parent / "programs"

BY_ENGINE = sys.version_info[:2] in ((3, 12), (3, 13))
"""Whether programs on the Python of the tests are debugged by the engine, and not by pydevd."""

TEST_SECONDS = 600
"""A test that takes longer hangs, on a machine that has no time for it, too."""

# The SDK's client kills a server two seconds after its goodbye, for which a starved one needs longer.
stdio.PROCESS_TERMINATION_TIMEOUT = TEST_SECONDS


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


GDB = bool(shutil.which("gdb") or os.environ.get("REQUIRE_ADAPTERS"))
"""Whether programs are attached to by pid. Where nothing may be absent they are: without gdb that fails."""

needs_gdb = pytest.mark.skipif(not GDB, reason="attaching by pid needs gdb")


class Place(NamedTuple):
    """Where an answer says that something is."""

    file: str
    line: int
    function: str


def where(answer: dict[str, Any] | str) -> Place:
    """The place of a stop, or in a line about a thread or a frame: `*2 worker-1 /tmp/app.py:25 in work, waits …`."""
    text = answer if isinstance(answer, str) else answer["at"]
    file, line, function = re.findall(r"(\S+):(\d+)(?: in ([\w.<>]+))?", text)[0]
    return Place(file, int(line), function)


def text_of(output: dict[str, Any], stream: str | None = None) -> str:
    """The text in an answer of process_read_output: of one stream, or all."""
    pieces = (piece for entry in output["entries"] for piece in entry.items())
    return "".join(text for name, text in pieces if stream in (None, name))


async def breakpoints(client: DebugClient) -> dict[str, str]:
    """What breakpoint_list says of each breakpoint, by id."""
    lines = (await client.call("breakpoint_list"))["breakpoints"]
    return dict(line.split(" ", 1) for line in lines)


async def hits(client: DebugClient) -> dict[str, int]:
    """The counts of all breakpoints, by id."""
    found = await client.call("breakpoint_list", full=True)
    return {each["id"]: each["hitCount"] for kind in KINDS for each in found[kind]}


KINDS = ("breakpoints", "functionBreakpoints", "dataBreakpoints", "exceptionBreakpoints")


Connect = Callable[..., AbstractAsyncContextManager[DebugClient]]


TWIN = pytest.mark.nightly("what the eras answer differently is tested in memory, and here by tests with `each_era`")


@pytest.fixture(params=[pytest.param("legacy", marks=TWIN), "modern"])
def era(request: pytest.FixtureRequest) -> Era:
    """The modern protocol era; in the nightly tier also that of the handshake, in which most other tests run anyway."""
    chosen: Era = request.param
    return chosen


@pytest.fixture(params=["legacy", "modern"])
def each_era(request: pytest.FixtureRequest) -> Era:
    """Both protocol eras, for what goes over the wire in different ways."""
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
                client.timeout = TEST_SECONDS
                yield client

    return connected
