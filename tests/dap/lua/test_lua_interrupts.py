"""Evaluations in Lua that do not end by themselves, in versions whose hooks reach them: 5.2 to 5.4."""

import os
from contextlib import aclosing
from pathlib import Path

import pytest
import trio

from tests.dap.lua.conftest import LuaSession, OpenLua
from trio_debugmcp.dap.lua.lua_adapter import INTERRUPT
from trio_debugmcp.dap.lua.lua_program import LuaProgram
from trio_debugmcp.errors import AdapterRefused

pytestmark = pytest.mark.real

ENDLESS = "(function() while true do end end)()"

YIELDING = """\
local total = 0
local feed = coroutine.wrap(function(price)
  local fee = price + 1
  total = total + fee
end)
feed(4)
print(total)
"""


async def can_interrupt(session: LuaSession) -> bool:
    return await session.evaluate("_VERSION ~= 'Lua 5.1'") == "true"  # which LuaJIT says, too


async def interrupted(session: LuaSession, expression: str) -> str:
    """Evaluate what does not end, and interrupt it; return the error."""
    errors = []

    async def evaluate() -> None:
        with pytest.raises(AdapterRefused) as refused:
            await session.evaluate(expression)
        errors.append(refused.value.reason)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(evaluate)
        while not errors:
            await session.ask("evaluate", expression=INTERRUPT)
    return errors[0]


async def test_an_evaluation_that_does_not_end_is_interrupted_and_the_stop_stays(lua: OpenLua) -> None:
    async with lua(YIELDING) as session:
        await session.launch(4)
        assert (await session.ask("evaluate", expression=INTERRUPT))["result"] == "0"
        if await can_interrupt(session):
            assert await interrupted(session, ENDLESS) == "it was interrupted"
            assert await interrupted(session, f"coroutine.wrap(function() return {ENDLESS} end)()") == (
                "it was interrupted"
            )
        assert await session.values() == {"price": "4", "fee": "5", "total": "0"}
        await session.evaluate("fee = 7")
        await session.set()
        assert await session.go() is None
    assert session.output == b"7\n"


async def test_a_pause_ends_a_condition_that_does_not_and_the_stop_says_so(lua: OpenLua) -> None:
    async with lua(YIELDING) as session:
        await session.launch(entry=True)
        if not await can_interrupt(session):
            return
        await session.set(4, condition=ENDLESS)
        await session.ask("continue", threadId=1)
        await session.ask("pause", threadId=1)
        stop = await session.stop()
        assert stop is not None
        if await session.line() == 4:  # it may have been paused before
            assert session.said == [f"The condition `{ENDLESS}` failed: it was interrupted\n"]
        await session.set()
        assert await session.go() is None
    assert session.output == b"5\n"


async def test_a_pause_that_comes_as_the_program_stops_ends_nothing_that_is_judged_later(tmp_path: Path) -> None:
    program, wanted = LuaProgram(str(tmp_path)), tmp_path / "interrupt"
    requests = trio.lowlevel.FdStream(os.open(tmp_path / "requests", os.O_RDONLY | os.O_NONBLOCK))
    events = trio.lowlevel.FdStream(os.open(tmp_path / "events", os.O_WRONLY))
    stopped = trio.Event()

    async def follow() -> None:
        async for _ in program.events():
            stopped.set()

    async with aclosing(program), requests, events, trio.open_nursery() as nursery:
        nursery.start_soon(program.request, "continue")
        await requests.receive_some()
        await events.send_all(b'{"id": 1, "body": {}}\n{"event": "stopped"}\n')
        assert program.interrupt()  # the stop has not been read yet
        nursery.start_soon(follow)
        await stopped.wait()
        assert wanted.exists()
        nursery.start_soon(program.request, "continue")
        await requests.receive_some()
        assert not wanted.exists()
        nursery.cancel_scope.cancel(reason="the test is over")


async def test_an_expression_sees_itself_as_a_part_of_the_stopped_coroutine(lua: OpenLua) -> None:
    async with lua(YIELDING) as session:
        await session.launch(4)
        with pytest.raises(AdapterRefused, match="yield"):
            await session.evaluate("coroutine.yield(1)")
        within = "coroutine.wrap(function() return fee + total end)()"
        if await can_interrupt(session):
            assert await session.evaluate(within) == "5"
            assert await session.evaluate("coroutine.running()") == "coroutine (running), false"
            assert await session.evaluate("coroutine.wrap(coroutine.running)() == coroutine.running()") == "false"
        else:
            with pytest.raises(AdapterRefused, match="does not see the variables of the frame"):
                await session.evaluate(within)
        await session.set(7)
        await session.go()
        assert await session.evaluate("total") == "5"
