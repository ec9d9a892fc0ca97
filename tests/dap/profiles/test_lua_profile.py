"""Programs of Lua: which interpreter runs them, and how conditions are joined."""

from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp.dap.profiles import Launch, profile_named, read_facts
from trio_debugmcp.dap.profiles.lua_profile import LuaProfile


@pytest.fixture
def lua() -> LuaProfile:
    profile = profile_named("lua")
    assert isinstance(profile, LuaProfile)
    return profile


@pytest.mark.parametrize(
    ("first", "options", "expected"),
    [
        ("", {}, "bin/lua"),
        ("#!/usr/bin/env lua5.9\n", {}, "bin/lua5.9"),
        ("#!/usr/bin/lua5.9 -W\n", {}, "bin/lua5.9"),
        ("#!/usr/bin/env lua7\n", {}, "bin/lua"),
        ("#!/bin/sh lua-like\n", {}, "bin/lua"),
        ("#!/usr/bin/env lua5.9\n", {"interpreter": "luajit"}, "luajit"),
    ],
)
def test_a_program_is_run_by_the_interpreter_that_is_asked_for_then_by_the_one_that_it_names(
    first: str, options: dict[str, Any], expected: str, lua: LuaProfile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lua", "lua5.9"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("LUA_INTERPRETER", raising=False)
    program = tmp_path / "program.lua"
    program.write_text(f"{first}print(1)\n")
    asked = list[list[str]]()

    def opened(interpreter: list[str], watchdog: object) -> AbstractAsyncContextManager[None]:
        asked.append([each.removeprefix(f"{tmp_path}/") for each in interpreter])
        return nullcontext()

    class Nothing:
        watchdog = None

    monkeypatch.setattr("trio_debugmcp.dap.profiles.lua_profile.open_lua", opened)
    lua.open(Launch(str(program), options=options), Nothing())  # type: ignore[arg-type]
    assert asked == [[expected]]


def test_other_options_are_refused(lua: LuaProfile) -> None:
    assert lua.programs.option_problem("interpreter", "luajit") is None
    assert "name or the path" in str(lua.programs.option_problem("interpreter", 5))
    assert "`interpreter`" in str(lua.programs.option_problem("interpreterr", "luajit"))
    assert "interpreter" in lua.code_options


def test_conditions_are_joined_in_lua(lua: LuaProfile) -> None:
    assert lua.expressions.either(["a", "b"]) == "(a) or (b)"
    assert lua.expressions.both("a", "b") == "(a) and (b)"
    assert lua.expressions.truth("0") == "not not (0)"


def test_a_script_without_a_suffix_is_known_by_its_first_line(lua: LuaProfile, tmp_path: Path) -> None:
    script = tmp_path / "tool"
    script.write_text("#!/usr/bin/env lua5.4\nprint(1)\n")
    assert lua.detect.interpreters == ("lua", "luajit")
    assert read_facts(str(script), ()).interpreter in ("lua", "lua5.4")
