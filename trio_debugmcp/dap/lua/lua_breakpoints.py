"""`LuaBreakpoints`: the breakpoints of one session with a program of Lua, as the session sets them and the hook asks.

    breakpoints.set_lines({"source": {"path": "/x/a.lua"}, "breakpoints": [{"line": 3}]})
    breakpoints.wanted_lines()      # {"lines": {3: {"/x/a.lua": {"ids": [1]}}}}

They are kept here, so that a program that is blocked in C does not keep the session waiting.
"""

import os
from collections.abc import Mapping
from itertools import count
from typing import Any


class LuaBreakpoints:
    """Those of one session.

    Attributes:
        filters: the kinds of errors at which the program is to stop.
    """

    def __init__(self) -> None:
        self.filters: frozenset[str] = frozenset()
        self._numbers = count(1)
        self._lines: dict[str, dict[int, list[int]]] = {}

    def __repr__(self) -> str:
        return f"<LuaBreakpoints in {len(self._lines)} files>"

    def set_lines(self, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Take the breakpoints of a file in place of those that it had; return what the response says of each."""
        path = str(arguments.get("source", {}).get("path", ""))
        wanted: dict[int, list[int]] = {}
        answers = []
        for each in arguments.get("breakpoints") or ():
            number = next(self._numbers)
            wanted.setdefault(each["line"], []).append(number)
            answers.append({"id": number, "verified": True, "line": each["line"], "source": {"path": path}})
        self._lines[path] = wanted
        return answers

    def wanted_lines(self) -> dict[str, Any]:
        """Return what the program is to know: by lines, as its hook does, then by files, however these are named."""
        lines: dict[int, dict[str, Any]] = {}
        for path, wanted in self._lines.items():
            for spelled in {path, os.path.realpath(path)}:
                for number, ids in wanted.items():
                    lines.setdefault(number, {})[spelled] = {"ids": ids}
        return {"lines": lines}

    def wanted_errors(self) -> dict[str, bool]:
        """Return at which errors the program is to stop."""
        return {"raised": "raised" in self.filters, "uncaught": "uncaught" in self.filters}
