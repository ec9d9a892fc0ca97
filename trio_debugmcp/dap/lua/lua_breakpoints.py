"""`LuaBreakpoints`: the breakpoints of one session with a program of Lua, as the session sets them and the hook asks.

    await breakpoints.set_lines({"source": {"path": "/x/a.lua"}, "breakpoints": [{"line": 3}]})
    breakpoints.wanted_lines()      # {"lines": {3: {"/x/a.lua": {"ids": [1]}}}}

They are kept here, so that a program that is blocked in C does not keep the session waiting. A breakpoint is moved to
the next line at which something is executed, as the interpreter compiles the file.
"""

import os
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from trio_debugmcp.dap.lua.lua_sources import LOOKED_THROUGH, LuaSources, searched


class LuaBreakpoints:
    """Those of one session.

    Attributes:
        filters: the kinds of errors at which the program is to stop.
    """

    def __init__(self, sources: LuaSources) -> None:
        self.filters: frozenset[str] = frozenset()
        self._sources = sources
        self._numbers = count(1)
        self._lines: dict[str, dict[int, list[int]]] = {}
        self._functions: list[tuple[int, str, int]] = []

    def __repr__(self) -> str:
        return f"<LuaBreakpoints in {len(self._lines)} files, on {len(self._functions)} functions>"

    async def set_lines(self, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Take the breakpoints of a file in place of those that it had; return what the response says of each."""
        path = str(arguments.get("source", {}).get("path", ""))
        places = arguments.get("breakpoints") or ()
        code = await self._sources.code(path)
        wanted: dict[int, list[int]] = {}
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
                wanted.setdefault(line, []).append(number)
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
            self._functions += [(answer["id"], *place) for place in places]
            answers.append(answer)
        return answers

    def wanted_lines(self) -> dict[str, Any]:
        """Return what the program is to know: by lines, as its hook does, then by files, however these are named."""
        lines: dict[int, dict[str, Any]] = {}
        places = [
            (path, line, number)
            for path, wanted in self._lines.items()
            for line, numbers in wanted.items()
            for number in numbers
        ]
        for path, line, number in places:
            for spelled in {path, os.path.realpath(path)}:
                lines.setdefault(line, {}).setdefault(spelled, {"ids": []})["ids"].append(number)
        for number, path, line in self._functions:
            for spelled in {path, os.path.realpath(path)}:
                lines.setdefault(line, {}).setdefault(spelled, {"ids": []}).setdefault("functions", []).append(number)
        return {"lines": lines}

    def wanted_errors(self) -> dict[str, bool]:
        """Return at which errors the program is to stop."""
        return {"raised": "raised" in self.filters, "uncaught": "uncaught" in self.filters}
