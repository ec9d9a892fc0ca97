"""Values of Lua as they are shown: bounded, in order, and without running anything of the program's."""

import pytest

from tests.dap.lua.conftest import OpenLua
from trio_debugmcp.errors import AdapterRefused

pytestmark = pytest.mark.real

HOSTILE = """\
local touched = 0
local function touch()
  touched = touched + 1
  error("looked at")
end
local meta = {}
for name in ("__index __newindex __tostring __len __eq __lt __call __pairs __concat"):gmatch("%S+") do
  meta[name] = touch
end
meta.__name = touch
meta.__metatable = "locked"
local hostile = setmetatable({ inside = 1 }, meta)
local keyed = { [hostile] = hostile, plain = hostile }
local cyclic = {}
cyclic.cyclic = cyclic
string.format, string.gsub, table.sort, next, type = touch, touch, touch, touch, touch
io.write("here\\n")
io.write(touched, "\\n")
"""


async def test_looking_runs_no_metamethods_and_no_functions_that_the_program_has_replaced(lua: OpenLua) -> None:
    async with lua(HOSTILE) as session:
        await session.launch(18)
        scope = await session.scope()
        values = {name: each["value"] for name, each in scope.items()}
        assert values["hostile"] == "{inside = 1}"
        assert values["keyed"] == "{plain = {…}, [{…}] = {…}}"
        assert values["cyclic"] == "{cyclic = {…}}"
        inside = await session.inside(scope["hostile"]["variablesReference"])
        assert list(inside) == ["inside", "(metatable)"]
        again = await session.inside(scope["cyclic"]["variablesReference"])
        assert (await session.inside(again["cyclic"]["variablesReference"])).keys() == {"cyclic"}
        place = scope["hostile"]["variablesReference"]
        await session.ask("setVariable", variablesReference=place, name="inside", value="2")
        assert await session.evaluate("rawget(hostile, 'inside')") == "2"
        with pytest.raises(AdapterRefused, match="looked at"):
            await session.evaluate("hostile.nosuch")
        assert await session.evaluate("touched") == "1"
        await session.evaluate("touched = 0")
        assert await session.go() is None
    assert session.output == b"here\n0\n"


SAFE = """\
local calls = 0
local function call() calls = calls + 1 return calls end
local base = { kept = { "a", "b" } }
local item = setmetatable({ price = 2, ["a b"] = 3 }, { __index = base })
local made = setmetatable({ there = 1 }, { __index = call, __eq = call, __lt = call })
local other = setmetatable({}, getmetatable(made))
local text = "fig"
done = false
print(calls)
"""


SAFE_VALUES = {
    "item.price": "2",
    "item['a b']": "3",
    "item.kept[2]": '"b"',
    "item.nosuch": "nil",
    "item.price >= 2": "true",
    "text == 'fig'": "true",
    "text < 'fih'": "true",
    "done == false": "true",
    "nosuch": "nil",
    "made.there": "1",
    "made == made": "true",
    "-1.5": "-1.5",
}


async def test_expressions_without_calls_are_evaluated_as_lua_would(lua: OpenLua) -> None:
    async with lua(SAFE) as session:
        await session.launch(9)
        values = {expression: await session.evaluate(f"--[[safe]] {expression}") for expression in SAFE_VALUES}
        assert values == SAFE_VALUES


async def test_what_would_call_the_program_is_refused_where_it_is_to_be_safe(lua: OpenLua) -> None:
    async with lua(SAFE) as session:
        await session.launch(9)
        for expression in ("made.price", "made == other", "made < other", "call()", "item.price.x", "item:price"):
            with pytest.raises(AdapterRefused, match=r"call|attempt to index"):
                await session.evaluate(f"--[[safe]] {expression}")
        assert await session.go() is None
    assert session.output == b"0\n"


LARGE = """\
local items, names, deep = {}, {}, {}
for i = 1, 100000 do
  items[i] = i
  names["name" .. i] = i
end
local text = string.rep("é", 5000)
local bytes = "\\255\\0\\n\\"quoted\\""
local mixed = { 1, 2, nil, 4, zeta = 1, alpha = 2, ["a b"] = 3, [true] = 4, [1.5] = 5, ["end"] = 6 }
print("here")
"""


async def test_what_is_large_is_shown_in_part_with_what_is_left_out(lua: OpenLua) -> None:
    async with lua(LARGE) as session:
        await session.launch(9)
        scope = await session.scope()
        assert scope["items"]["value"] == "{1, 2, 3, 4, 5, 6, 7, 8, … 99992 more or others}"
        assert "… 192 more or others" in scope["names"]["value"]
        listed = await session.inside(scope["items"]["variablesReference"])
        assert len(listed) == 1001
        assert listed["(not listed)"]["value"] == "99000 more: evaluate them by their keys"
        listed = await session.inside(scope["names"]["variablesReference"])
        assert listed["(not listed)"]["value"] == "9000 more at least: evaluate them by their keys"
        assert scope["text"]["value"].endswith('é"… (10000 bytes)')
        assert len(scope["text"]["value"]) < 1100
        assert scope["bytes"]["value"].endswith('\\000\\n\\"quoted\\""')
        mixed = await session.inside(scope["mixed"]["variablesReference"])
        assert list(mixed)[-6:] == ['["a b"]', "alpha", '["end"]', "zeta", "[1.5]", "[true]"]
        assert mixed['["a b"]']["evaluateName"] == 'mixed["a b"]'
        assert await session.evaluate('mixed["a b"]') == "3"
        assert await session.evaluate("#items") == "100000"


async def test_a_stack_without_end_is_an_error_and_a_deep_one_is_listed_in_part(lua: OpenLua) -> None:
    async with lua(
        "local function down(n)\n  return 1 + down(n + 1)\nend\nprint(pcall(down, 1))\ndown(1)\n"
    ) as session:
        stop = await session.launch()
        if stop is not None:  # else there was no room for the handler
            assert "stack overflow" in (stop.description or "")
            assert len(await session.stack()) <= 1000
            assert await session.go() is None
    assert session.exit_code == 1
    assert b"stack overflow" in session.output
