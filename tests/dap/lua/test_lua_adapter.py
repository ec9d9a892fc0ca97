"""Programs of Lua under our adapter: breakpoints, steps, errors, ends."""

import shutil
from pathlib import Path

import pytest

from tests.dap.lua.conftest import OpenLua
from trio_debugmcp.dap.lua import lua_adapter
from trio_debugmcp.errors import AdapterRefused

pytestmark = pytest.mark.real

ADDING = """\
local function add(total, price)
  local sum = total + price
  return sum
end
local total = 0
for i = 1, 3 do
  total = add(total, i)
  print(i, total)
end
"""


async def test_a_breakpoint_stops_at_its_line_with_the_stack_and_the_locals(lua: OpenLua) -> None:
    async with lua(ADDING) as session:
        (breakpoint,) = await session.set(3)
        stop = await session.launch(3)
        assert stop is not None
        assert (stop.reason, stop.hit_breakpoint_ids) == ("breakpoint", [breakpoint["id"] + 1])
        assert await session.stack() == [("add", 3), ("main chunk", 7)]
        assert await session.values() == {"total": "0", "price": "1", "sum": "1"}
        assert (await session.values(frame=2))["total"] == "0"
        await session.set()
        assert await session.go() is None
    assert session.output == b"1\t1\n2\t3\n3\t6\n"
    assert session.exit_code == 0


async def test_steps_go_into_over_and_out_of_calls(lua: OpenLua) -> None:
    async with lua(ADDING) as session:
        stop = await session.launch(entry=True)
        assert stop is not None
        assert (stop.reason, await session.line()) in [("entry", 1), ("entry", 4)]  # where the function is made
        await session.set(7)
        await session.go()
        await session.set()
        stop = await session.go("stepIn")
        assert stop is not None
        assert (stop.reason, await session.stack()) == ("step", [("add", 2), ("main chunk", 7)])
        await session.go("next")
        assert await session.line() == 3
        await session.go("stepOut")
        assert await session.stack() == [("main chunk", 7)]
        await session.go("next")
        assert await session.line() == 8
        await session.go("next")
        await session.go("next")
        assert await session.stack() == [("main chunk", 7)]
        await session.go("next")
        assert await session.stack() == [("main chunk", 8)]


async def test_what_is_asked_of_a_running_program_is_refused_and_a_pause_stops_it(lua: OpenLua) -> None:
    async with lua("n = 0\nwhile not done do\n  n = n + 1\nend\nprint('over')\n") as session:
        stop = await session.launch(2)
        assert stop is not None
        await session.set()
        await session.ask("continue", threadId=1)
        with pytest.raises(AdapterRefused, match="the program runs"):
            await session.evaluate("n")
        await session.ask("pause", threadId=1)
        stop = await session.stop()
        assert stop is not None
        assert stop.reason == "pause"
        assert await session.line() in (2, 3)
        await session.ask("continue", threadId=1)
        await session.set(3)
        stop = await session.stop()
        assert stop is not None
        assert (stop.reason, await session.line()) == ("breakpoint", 3)
        await session.set()
        await session.evaluate("done = true")
        assert await session.go() is None
    assert session.output == b"over\n"


FAILING = """\
local function take(stock, name)
  return stock[name].count
end
local ok, problem = pcall(take, {}, "caught")
local stock = { fig = { count = 2 } }
take(stock, "plum")
"""


async def test_an_error_that_nothing_catches_stops_where_it_is_raised_with_the_values_of_then(lua: OpenLua) -> None:
    async with lua(FAILING) as session:
        stop = await session.launch()
        assert stop is not None
        assert (stop.reason, stop.text) == ("exception", "error")
        assert (stop.description or "").startswith("attempt to index")
        assert [line for _, line in await session.stack()] == [2, 6]
        assert await session.values() == {"stock": "{fig = {…}}", "name": '"plum"'}
        assert (await session.ask("exceptionInfo", threadId=1))["breakMode"] == "unhandled"
        assert await session.go() is None
    assert session.exit_code == 1
    assert b"program.lua:2: attempt to index" in session.errors
    trace = session.errors.decode().partition("stack traceback:\n")[2].splitlines()
    assert ["program.lua:2: " in line for line in trace[:2]].count(True) == 1
    assert ["program.lua:6: in main chunk" in line for line in trace].count(True) == 1
    assert "tail call" not in session.errors.decode()
    assert b"main.lua" not in session.errors
    assert b"xpcall" not in session.errors


async def test_a_traceback_has_no_frame_of_the_debugger_however_long_its_own_path_is(
    lua: OpenLua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for length in (0, 20, 60):
        home = shutil.copytree(Path(lua_adapter.__file__).parent / "inside", tmp_path / f"{length}{'x' * length}")
        monkeypatch.setattr(lua_adapter, "_MAIN", home / "main.lua")
        async with lua(FAILING) as session:
            assert await session.launch(filters=()) is None
        trace = session.errors.decode().partition("stack traceback:\n")[2].splitlines()
        assert [line for line in trace if "program.lua" not in line and "[C]" not in line] == []
        assert len(trace) >= 2


async def test_errors_that_something_catches_stop_if_that_is_wanted(lua: OpenLua) -> None:
    async with lua(FAILING) as session:
        stop = await session.launch(filters=("raised", "uncaught"))
        assert stop is not None
        assert [line for _, line in await session.stack()] == [2, 4]
        assert (await session.ask("exceptionInfo", threadId=1))["breakMode"] == "always"
        assert await session.go() is not None
        assert [line for _, line in await session.stack()] == [2, 6]
        assert await session.go() is None


COROUTINES = """\
local function numbers()
  local n = 1
  coroutine.yield(n)
  n = n + 1
  error("spoiled")
end
local each = coroutine.wrap(numbers)
local first = each()
local second = each()
"""


async def test_steps_go_through_coroutines_and_an_error_in_one_is_shown_with_its_own_frames(lua: OpenLua) -> None:
    async with lua(COROUTINES) as session:
        await session.launch(8)
        await session.set()
        await session.go("stepIn")
        assert (await session.stack())[0][1] == 2
        await session.go("next")
        assert (await session.stack())[0][1] == 3
        await session.go("next")
        assert await session.stack() == [("main chunk", 9)]
        stop = await session.go()
        assert stop is not None
        assert (stop.text, stop.description) == ("error", "spoiled")
        assert [line for _, line in await session.stack()] == [5, 9]
        assert await session.values() == {"n": "2"}
        assert await session.go() is None
    assert session.exit_code == 1


async def test_an_expression_reads_and_writes_locals_upvalues_and_globals(lua: OpenLua) -> None:
    text = "local up = 1\nlocal function f(a, b)\n  b = up\n  print(a, b, up, g)\nend\nf(1)\n"
    async with lua(text) as session:
        await session.launch(4)
        assert await session.evaluate("a + up") == "2"
        assert await session.evaluate("a, b") == "1, 1"
        assert await session.evaluate("a = 5") == ""
        await session.evaluate("up, g = 6, 'new'")
        assert await session.evaluate("nosuch") == "nil"
        with pytest.raises(AdapterRefused, match="attempt to index"):
            await session.evaluate("nosuch.price")
        with pytest.raises(AdapterRefused, match=r"expected|unexpected|near"):
            await session.evaluate("1 +")
        scopes = (await session.ask("scopes", frameId=1))["scopes"]
        await session.ask("setVariable", variablesReference=scopes[0]["variablesReference"], name="b", value="a * 2")
        assert await session.values() == {"a": "5", "b": "10", "up": "6"}
        assert await session.go() is None
    assert session.output.split() == [b"5", b"10", b"6", b"new"]


async def test_a_hook_of_the_program_does_not_take_the_place_of_the_debuggers(lua: OpenLua) -> None:
    async with lua("debug.sethook(function() error('hooked') end, 'l')\nprint(1)\nprint(2)\n") as session:
        stop = await session.launch(3)
        assert stop is not None
        assert stop.reason == "breakpoint"
        assert await session.go() is None
        assert session.said == ["debug.sethook of the program has no effect while it is debugged\n"]
    assert session.output == b"1\n2\n"


async def test_breakpoints_move_to_the_next_code_and_are_refused_where_there_is_none(lua: OpenLua) -> None:
    async with lua("-- nothing\n\nprint(1)\n-- the end\n") as session:
        answers = await session.set(1, 4)
        assert [(each["verified"], each["line"]) for each in answers] == [(True, 3), (False, 4)]
        assert answers[1]["message"] == "nothing is executed from here on"
        session.program.write_text("print(\n")
        (answer,) = await session.set(1)
        assert answer["verified"] is False
        assert "program.lua:" in answer["message"]


async def test_a_breakpoint_on_a_function_stops_in_its_first_statement(lua: OpenLua) -> None:
    text = "local Stock = {}\nfunction Stock:total(a)\n  -- adds\n  return a\nend\nStock:total(2)\n"
    async with lua(text) as session:
        session.functions = ["Stock.total", "nosuch"]
        stop = await session.launch()
        assert stop is not None
        assert (stop.reason, await session.line()) == ("function breakpoint", 4)
        assert [each["verified"] for each in session.function_answers] == [True, False]
        assert (await session.values())["a"] == "2"


async def test_a_program_that_cannot_be_compiled_ends_as_it_would_without_a_debugger(lua: OpenLua) -> None:
    async with lua("local = 3\n") as session:
        assert await session.launch() is None
    assert session.exit_code == 1
    assert b"program.lua:1: " in session.errors


async def test_arguments_and_the_exit_code_are_the_programs(lua: OpenLua) -> None:
    async with lua("print(arg[0], #arg, arg[2], ...)\nos.exit(7)\n") as session:
        assert await session.launch(args=("a", "b c")) is None
    assert session.output.decode() == f"{session.program}\t2\tb c\ta\tb c\n"
    assert session.exit_code == 7
