"""`LuaBreakpoints`: the breakpoints of one session with a program of Lua, as the session sets them and the hook asks.

    await breakpoints.set_lines({"source": {"path": "/x/a.lua"}, "breakpoints": [{"line": 3}]})
    breakpoints.wanted_lines()      # {"lines": {3: {"/x/a.lua": [{"id": 1, "key": "bp-1@1"}]}}}

They are kept here, so that a program that is blocked in C does not keep the session waiting. A breakpoint is moved to
the next line at which something is executed, as the interpreter compiles the file. Whether one stops is judged in the
program, which counts by the key of each, so that one that is set again continues its count.
"""

import os
import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.log_template import Expression, template_parts
from trio_debugmcp.dap.lua.lua_sources import LOOKED_THROUGH, LuaSources, searched

_FAILED = re.compile(r"The condition `(?P<condition>.*)` failed: (?P<error>.*)\n", re.DOTALL)


def condition_failed(condition: str, error: str) -> str:
    """Say that a condition could not be judged."""
    return f"The condition `{condition}` failed: {error}\n"


def failed_condition(text: str) -> tuple[str, str] | None:
    """Return the condition and the error of what `condition_failed` says."""
    found = _FAILED.fullmatch(text)
    return None if found is None else (found["condition"], found["error"])


class _LuaPlace(Struct, frozen=True):
    """A breakpoint in a line of a file, and what the program is to know of it."""

    path: str
    line: int
    known: dict[str, Any]


class LuaBreakpoints:
    """Those of one session.

    Attributes:
        filters: the kinds of errors at which the program is to stop.
    """

    def __init__(self, sources: LuaSources) -> None:
        self.filters: frozenset[str] = frozenset()
        self._sources = sources
        self._numbers = count(1)
        self._lines: dict[str, list[_LuaPlace]] = {}
        self._functions: list[_LuaPlace] = []

    def __repr__(self) -> str:
        return f"<LuaBreakpoints in {len(self._lines)} files, on {len(self._functions)} functions>"

    async def set_lines(self, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Take the breakpoints of a file in place of those that it had; return what the response says of each."""
        path = str(arguments.get("source", {}).get("path", ""))
        places = arguments.get("breakpoints") or ()
        code = await self._sources.code(path)
        wanted: list[_LuaPlace] = []
        answers: list[dict[str, Any]] = []
        for each in places:
            line = code.line_at(each["line"]) if code.functions else each["line"]
            number = next(self._numbers)
            answer: dict[str, Any] = {"id": number, "verified": True, "line": line, "source": {"path": path}}
            if code.mistake is not None:
                answer |= {"verified": False, "line": each["line"], "message": code.mistake}
            elif line is None:
                answer |= {"verified": False, "line": each["line"], "message": "nothing is executed from here on"}
            else:
                wanted.append(_LuaPlace(path, line, _for_program(number, each)))
            answers.append(answer)
        self._lines[path] = wanted
        return answers

    async def set_functions(self, arguments: Mapping[str, Any], directories: Sequence[str]) -> list[dict[str, Any]]:
        """Take the breakpoints on functions, in place of those before; the files of these directories are searched."""
        self._functions = []
        answers: list[dict[str, Any]] = []
        for each in arguments.get("breakpoints") or ():
            answer: dict[str, Any] = {"id": next(self._numbers), "verified": False}
            places = await self._sources.find(str(each["name"]), directories)
            if places:
                path, line = places[0]
                answer |= {"verified": True, "line": line, "source": {"path": path}}
            else:
                answer["message"] = (
                    f"no function of that name begins in a file {searched(directories)}; {LOOKED_THROUGH}"
                )
            known = {**_for_program(answer["id"], each), "is_function": True}
            self._functions += [_LuaPlace(*place, known) for place in places]
            answers.append(answer)
        return answers

    def wanted_lines(self) -> dict[str, Any]:
        """Return what the program is to know: by lines, as its hook does, then by files, however these are named."""
        lines: dict[int, dict[str, list[dict[str, Any]]]] = {}
        for place in [*(place for wanted in self._lines.values() for place in wanted), *self._functions]:
            for spelled in {place.path, os.path.realpath(place.path)}:
                lines.setdefault(place.line, {}).setdefault(spelled, []).append(place.known)
        return {"lines": lines}

    def wanted_errors(self) -> dict[str, bool]:
        """Return at which errors the program is to stop."""
        return {"raised": "raised" in self.filters, "uncaught": "uncaught" in self.filters}


def _for_program(number: int, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the program is to know of a breakpoint: its number, what to judge, and the key to count by."""
    message = wanted.get("logMessage")
    parts = [{"code": part.text} if isinstance(part, Expression) else part for part in template_parts(message or "")]
    known = {"condition": wanted.get("condition"), "hits": wanted.get("hitCondition")}
    return {"id": number, "key": wanted.get("key") or str(number), **known, "parts": None if message is None else parts}
