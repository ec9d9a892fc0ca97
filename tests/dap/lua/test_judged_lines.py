"""Conditions, hit conditions and messages of breakpoints in Lua, which the program judges itself."""

from typing import Any

import pytest

from tests.dap.lua.conftest import LuaSession, OpenLua
from trio_debugmcp.dap.lua.lua_breakpoints import condition_failed, failed_condition

COUNTING = """\
local total, named = 0, { fig = { price = 3 } }
for i = 1, 12 do
  total = total + i
end
print(total)
"""


async def placed(session: LuaSession, *places: dict[str, Any]) -> None:
    await session.ask("setBreakpoints", source={"path": str(session.program)}, breakpoints=places)


async def stopped_at_entry(session: LuaSession, *places: dict[str, Any]) -> None:
    await session.launch(entry=True)
    await placed(session, *places)


async def rounds(session: LuaSession) -> list[str]:
    """Continue to the end; return `i` at each stop."""
    found = []
    while await session.go() is not None:
        found.append(await session.evaluate("i"))
    return found


@pytest.mark.real
@pytest.mark.parametrize(
    ("conditions", "stops"),
    [
        ({"condition": "i == 4 or i == 9"}, ["4", "9"]),
        ({"condition": "named.fig.price == i -- at the fig"}, ["3"]),
        ({"condition": "i % 2 == 0", "hitCondition": "% 2"}, ["4", "8", "12"]),
        ({"hitCondition": "5"}, ["5"]),
        ({"hitCondition": ">= 11"}, ["11", "12"]),
        ({"hitCondition": "< 3"}, ["1", "2"]),
        ({"condition": "nil"}, []),
        ({"condition": "0"}, [str(number) for number in range(1, 13)]),
    ],
)
async def test_a_breakpoint_stops_where_its_condition_and_its_hits_say(
    lua: OpenLua, conditions: dict[str, str], stops: list[str]
) -> None:
    async with lua(COUNTING) as session:
        await stopped_at_entry(session, {"line": 3, **conditions})
        assert await rounds(session) == stops
        assert session.said == []
    assert session.output == b"78\n"


@pytest.mark.real
async def test_a_condition_that_cannot_be_judged_stops_and_says_why(lua: OpenLua) -> None:
    async with lua(COUNTING) as session:
        await stopped_at_entry(session, {"line": 3, "condition": "nosuch.price > 2"})
        assert await session.go() is not None
        condition, error = failed_condition(session.said.pop()) or ("", "")
        assert condition == "nosuch.price > 2"
        assert error.startswith("attempt to index")
        await placed(session, {"line": 3, "condition": "i = 5"})
        assert await session.go() is not None
        assert failed_condition(session.said.pop()) is not None
        assert await session.evaluate("i") == "2"


@pytest.mark.real
async def test_a_condition_that_cannot_be_judged_stops_whatever_hits_and_message_it_has(lua: OpenLua) -> None:
    more: dict[str, str]
    async with lua(COUNTING) as session:
        await stopped_at_entry(session)
        for more in ({"hitCondition": ">= 4"}, {"logMessage": "{i}"}, {"hitCondition": "% 4", "logMessage": "{i}"}):
            await placed(session, {"line": 3, "condition": "i.x > 1", "key": str(more), **more})
            assert await session.go() is not None
            assert failed_condition(session.said.pop()) is not None
        assert await session.evaluate("i") == "3"


@pytest.mark.real
async def test_a_message_is_written_with_values_and_the_program_continues(lua: OpenLua) -> None:
    message = "\x02tp-1\x03{i}: {total}, {named.fig} {nosuch.price} {{}}"
    async with lua(COUNTING) as session:
        await stopped_at_entry(
            session, {"line": 3, "hitCondition": "> 10", "logMessage": message}, {"line": 3, "condition": "i == 12"}
        )
        assert await rounds(session) == ["12"]
        (first, second) = session.said
        assert first.startswith("\x02tp-1\x0311: 55, {price = 3} <error: attempt to index")
        assert first.endswith("> {}")
        assert second.startswith("\x02tp-1\x0312: 66, ")


@pytest.mark.real
async def test_hits_continue_where_a_breakpoint_is_set_again_with_its_key_and_begin_anew_with_another(
    lua: OpenLua,
) -> None:
    async with lua(COUNTING) as session:
        await stopped_at_entry(session, {"line": 3, "hitCondition": "% 3", "key": "bp-1@1"})
        await session.go()
        await session.go()
        await placed(session)
        await placed(session, {"line": 3, "hitCondition": "% 3", "key": "bp-1@1"})
        await session.go()
        assert await session.evaluate("i") == "9"
        await placed(session, {"line": 3, "hitCondition": "2", "key": "bp-1@2"})
        assert await rounds(session) == ["11"]


@pytest.mark.real
async def test_a_step_that_ends_where_a_condition_does_not_hold_is_a_step(lua: OpenLua) -> None:
    async with lua(COUNTING) as session:
        await session.launch(2)
        await placed(session, {"line": 3, "condition": "false"})
        stop = await session.go("next")
        assert stop is not None
        assert (stop.reason, await session.line()) == ("step", 3)


@pytest.mark.real
async def test_a_breakpoint_on_a_function_has_a_condition_and_hits(lua: OpenLua) -> None:
    text = "local n = 0\nlocal function add(a)\n  n = n + a\nend\nfor i = 1, 9 do add(i) end\n"
    async with lua(text) as session:
        await session.launch(entry=True)
        places = [{"name": "add", "condition": "a > 2", "hitCondition": "% 3"}]
        await session.ask("setFunctionBreakpoints", breakpoints=places)
        found = []
        while (stop := await session.go()) is not None:
            found.append((stop.reason, await session.evaluate("a")))
        assert found == [("function breakpoint", "5"), ("function breakpoint", "8")]


@pytest.mark.real
async def test_a_closure_that_a_condition_has_made_does_not_see_frames_of_later_passes(lua: OpenLua) -> None:
    async with lua(COUNTING) as session:
        condition = "(function() kept = kept or function() return i end; return false end)()"
        await stopped_at_entry(session, {"line": 3, "condition": condition}, {"line": 5})
        await session.go()
        assert await session.evaluate("kept()") == "nil"


def test_what_is_said_of_a_condition_is_read_again() -> None:
    said = condition_failed("a.b == '` failed: x'", "attempt to index\na nil value")
    assert failed_condition(said) == ("a.b == '` failed: x'", "attempt to index\na nil value")
    assert failed_condition("something else\n") is None


@pytest.mark.real
async def test_no_pass_is_counted_twice_however_long_the_program_runs(lua: OpenLua) -> None:
    text = "local n = 0\nwhile n < 30000 do\n  n = n + (n % 3 == 0 and 1 or 1)\nend\nprint(n)\n"
    async with lua(text) as session:
        await stopped_at_entry(session, {"line": 3, "hitCondition": ">= 30001"}, {"line": 3, "hitCondition": "30000"})
        stop = await session.go()
        assert stop is not None
        assert await session.evaluate("n") == "29999"
        assert await session.go() is None
