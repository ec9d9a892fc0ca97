"""Tests with real debug adapters other than debugpy, through MCP: gdb and lldb-dap on programs of machine code.

An adapter that is not installed is skipped by name; with REQUIRE_ADAPTERS=1, as .ci/run sets it, that is a failure.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from tests import shared, warm
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.testing import DebugClient, connect_streams

SOURCES = Path(__file__).parent.parent / "programs" / "native"

TEST_SECONDS = 600
"""A test that takes longer hangs, on a machine that has no time for it, too."""


def need(what: str, place: str | None, how: str) -> str:
    """Skip the test, or fail where nothing may be absent, if a program is not installed."""
    if place is None:
        reason = f"{what} is not installed: {how}"
        if os.environ.get("REQUIRE_ADAPTERS"):
            pytest.fail(reason)
        pytest.skip(reason)
    return place


def installed(name: str) -> str:
    """Return the name of a debug adapter, which must be installed."""
    profile = profile_named(name)
    assert profile is not None
    need(name, profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    return name


THE_SAME_LLDB = pytest.mark.nightly("lldb-dap shows what LLDB does; test_acceptance.py has CodeLLDB at every change")


@pytest.fixture(params=["gdb", "lldb-dap", pytest.param("codelldb", marks=THE_SAME_LLDB)])
def machine_debugger(request: pytest.FixtureRequest) -> str:
    """The name of each debugger of machine code that is installed."""
    return installed(str(request.param))


@pytest.fixture(params=["gdb", "lldb-dap"])
def native_adapter(request: pytest.FixtureRequest) -> str:
    """The name of each whose command line is known besides, for types, symbols and safe evaluation."""
    return installed(str(request.param))


@pytest.fixture(scope="session")
def native_program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the program of orders.cpp, built with debug information."""
    compiler = need("g++", shutil.which("g++"), "apt-get install g++")

    def build(directory: Path) -> None:
        command = [compiler, "-g", "-O0", "-pthread", "-o", str(directory / "orders"), str(SOURCES / "orders.cpp")]
        subprocess.run(command, check=True, timeout=TEST_SECONDS)

    return str(shared.made(shared.of_this_run(tmp_path_factory, "native"), build) / "orders")


def core_of(directory: Path, *command: str, at_once: bool = True) -> Path:
    """Return what the system keeps of a program that crashes, or that is ended when its main thread waits for one."""
    if (pattern := Path("/proc/sys/kernel/core_pattern").read_text()).startswith(("|", "/")):
        pytest.skip(f"this machine keeps core files elsewhere: {pattern}")

    words = ["sh", "-c", 'ulimit -c unlimited && exec "$@"', "sh", *command]
    with subprocess.Popen(words, cwd=directory, stdout=subprocess.PIPE) as process:
        if not at_once:
            assert process.stdout is not None
            assert process.stdout.readline()  # before it the main thread may wait for one that ends
            while not Path(f"/proc/{process.pid}/syscall").read_text().startswith("202 "):
                pass
            process.send_signal(signal.SIGABRT)
        assert process.wait(TEST_SECONDS) < 0
    (core,) = [each for each in directory.iterdir() if each.name.startswith("core")]
    return core


def at(text: str) -> dict[str, object]:
    """The only line of orders.cpp that ends with this text, as arguments of the breakpoint tools."""
    lines = (SOURCES / "orders.cpp").read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {text}")]
    return {"file": str(SOURCES / "orders.cpp"), "line": number}


def place(text: str) -> str:
    """That line, as answers name it."""
    return f"{SOURCES.relative_to(Path(__file__).parents[2])}/orders.cpp:{at(text)['line']}"


@asynccontextmanager
async def connected_to(command: list[str]) -> AsyncIterator[DebugClient]:
    """Run a server, with a client of it, in a bound of time."""
    with trio.fail_after(TEST_SECONDS):
        program, *words = command
        parameters = StdioServerParameters(command=program, args=words, env=dict(os.environ))
        async with connect_streams(stdio_client(parameters), "legacy") as client:
            client.timeout = TEST_SECONDS
            yield client


@pytest.fixture
def debugging() -> Connect:
    """`async with debugging() as client:` a server process and a client, in a bound of time."""
    return lambda *arguments: connected_to(warm.server("serve", *arguments))
