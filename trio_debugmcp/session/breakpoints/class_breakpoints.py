"""`ClassBreakpoints`: breakpoints in files that an adapter only knows by the classes that are made of them.

    body = await breakpoints.set(arguments)

The adapter of Java looks for the class that has the name of the file. In Kotlin and Scala a file makes classes of other
names, so that it is given these in place of the file: each that has code in one of the lines. Before the program runs
the outer class is enough, by which the adapter knows what is within it once that is loaded; later it does not look at
what is loaded already. The file itself is sent without breakpoints, and the frames then have its path.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any

from trio_debugmcp.dap.messages import BreakpointsBody, DapBreakpoint
from trio_debugmcp.session.requests import Requests

MadeClasses = list[tuple[str, Sequence[int]]]
"""The classes that are made of a file, with the lines in which each has code; empty, if these are not known."""


class ClassBreakpoints:
    """Those of one session; `classes_of` says which classes are made of a file.

    `on_late`: is called with a file whose breakpoints the adapter has set when their sender had left.
    """

    def __init__(
        self,
        requests: Requests,
        classes_of: Callable[[str], Awaitable[MadeClasses]],
        on_late: Callable[[str], None],
    ) -> None:
        self._requests = requests
        self._on_late = on_late
        self._classes_of = classes_of
        self._sent: dict[str, list[str]] = {}

    def __repr__(self) -> str:
        return f"<ClassBreakpoints of {self._requests.session_id}: {self._sent}>"

    async def set(self, arguments: dict[str, Any]) -> BreakpointsBody:
        """Set the breakpoints of a file; raises what `Requests.request` raises."""
        file, wanted = arguments["source"]["path"], arguments["breakpoints"]
        classes = await self._classes_of(file)
        if not classes:
            return await self._request(arguments, file)
        await self._request({**arguments, "breakpoints": []}, file)
        before, names = self._sent.get(file, []), self._names(classes, [each["line"] for each in wanted])
        self._sent[file] = names
        answers: list[Sequence[DapBreakpoint]] = []
        for name in dict.fromkeys([*before, *names]):
            mine = wanted if name in names else []
            body = await self._request({**arguments, "source": {"path": name, "name": name}, "breakpoints": mine}, file)
            answers.append(body.breakpoints or ())
        return BreakpointsBody([_best(each["line"], nth, answers) for nth, each in enumerate(wanted)])

    def _names(self, classes: MadeClasses, lines: Sequence[int]) -> list[str]:
        if not lines:
            return []
        named = [name for name, code in classes if not code or not set(lines).isdisjoint(code)]
        outer = list(dict.fromkeys(map(_outer, named)))
        snapshot = self._requests.snapshot
        begun = snapshot is not None and snapshot.phase in ("Running", "Paused")
        return list(dict.fromkeys([*outer, *named])) if begun else outer

    async def _request(self, arguments: dict[str, Any], file: str) -> BreakpointsBody:
        late = partial(self._on_late, file)
        return await self._requests.request("setBreakpoints", arguments, BreakpointsBody, late=late)


def _outer(name: str) -> str:
    package, dot, own = name.rpartition(".")
    return f"{package}{dot}{own.partition('$')[0]}"


def _best(line: int, nth: int, answers: Iterable[Sequence[DapBreakpoint]]) -> DapBreakpoint:
    """Return what became of a breakpoint: it is set in a class, or waits for one, or there is no code."""
    mine = [answer[nth] for answer in answers if nth < len(answer)]
    waiting = (each for each in mine if "not yet loaded" in (each.message or ""))
    found = next((each for each in mine if each.verified), None) or next(waiting, None)
    return found or DapBreakpoint(line=line, message=f"no class that is made of this file has code in line {line}")
