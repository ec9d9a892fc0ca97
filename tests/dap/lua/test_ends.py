"""How programs of Lua end, and their debugger: killed, left, blocked; nothing stays behind."""

import os
import signal
import tempfile
from pathlib import Path

import pytest
import trio

from tests.dap.lua.conftest import OpenLua
from trio_debugmcp.dap.watchdog_process import session_members
from trio_debugmcp.errors import AdapterGone, AdapterRefused

pytestmark = pytest.mark.real


def directories() -> set[str]:
    """The directories of adapters, of any test that runs now."""
    return {each for each in os.listdir(tempfile.gettempdir()) if each.startswith("trio-debugmcp-lua-")}


async def test_a_program_that_is_killed_while_it_is_stopped_ends_its_session(lua: OpenLua) -> None:
    async with lua("print(1)\nprint(2)\n") as session:
        await session.launch(2)
        os.kill(session.pid, signal.SIGKILL)
        assert await session.stop() is None
        with pytest.raises((AdapterRefused, AdapterGone)):
            await session.evaluate("1")
    assert session.exit_code == -signal.SIGKILL


async def test_a_disconnect_ends_a_stopped_program_at_once(lua: OpenLua) -> None:
    async with lua("print(1)\nprint(2)\n") as session:
        await session.launch(2)
        await session.ask("disconnect", terminateDebuggee=True)
        assert await session.stop() is None
    assert session.exit_code == -signal.SIGKILL
    assert session.output == b"1\n"


async def test_a_program_that_is_left_runs_to_its_end(lua: OpenLua) -> None:
    async with lua("for i = 1, 3 do\n  print(i)\nend\nos.exit(3)\n") as session:
        await session.launch(2)
        await session.ask("disconnect", terminateDebuggee=False)
        assert await session.stop() is None
    assert session.exit_code == 3
    assert session.output == b"1\n2\n3\n"


async def test_an_evaluation_without_end_does_not_keep_the_session_from_its_end(lua: OpenLua) -> None:
    async with lua("print(1)\n") as session:
        await session.launch(1)
        with trio.move_on_after(0.2):
            await session.evaluate("(function() while true do end end)()")
        await session.ask("disconnect", terminateDebuggee=True)
        assert await session.stop() is None
    assert session.exit_code == -signal.SIGKILL


async def test_a_child_that_outlives_the_program_does_not_hold_the_session(lua: OpenLua) -> None:
    async with lua("os.execute('sleep 60 >/dev/null 2>&1 &')\nprint('over')\n") as session:
        assert await session.launch() is None
    assert session.output == b"over\n"


async def test_what_a_program_has_started_ends_with_it_when_it_is_left(lua: OpenLua) -> None:
    async with lua("print(1)\nos.execute('sleep 300')\n") as session:
        await session.launch(1)
        await session.ask("continue", threadId=1)
        while len(session_members(session.pid)) < 2:  # noqa: ASYNC110 (the system has no event for it)
            await trio.sleep(0.01)
        await session.ask("disconnect", terminateDebuggee=True)
        assert await session.stop() is None
        while session_members(session.pid):  # noqa: ASYNC110
            await trio.sleep(0.01)
    assert session.output == b"1\n"


async def test_the_directory_of_the_fifos_is_gone_at_the_end(lua: OpenLua) -> None:
    async with lua("print(1)\nprint(2)\n") as session:
        await session.launch(2)
        command = Path(f"/proc/{session.pid}/cmdline").read_bytes().split(b"\0")
        (place,) = [word.decode() for word in command if b"trio-debugmcp-lua-" in word]
        assert Path(place).name in directories()
    assert Path(place).name not in directories()
