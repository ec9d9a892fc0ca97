"""How the debugger in a Python program is asked: in expressions that pydevd evaluates, or as our engine takes it.

    form = BY_ENGINE if capabilities.engine_requests else BY_PYDEVD
    await request("evaluate", {**form.evaluation(number, 200, "total + 1"), "frameId": 7})

Which it is, the debugger says of itself in the answer to `initialize`.
"""

from collections.abc import Mapping
from typing import Protocol

from trio_debugmcp.probe import bootstrap

Arguments = Mapping[str, object]
"""Of a request `evaluate`, but for its frame and its context."""


class Form(Protocol):
    """How one kind of debugger takes what the probe has to do in a stopped thread, or where one passes a place."""

    def hit(self, specification: str) -> str:
        """Return the condition of a breakpoint that the program judges itself; see `inside.hits`."""

    def reached(self, number: int) -> str:
        """Return the condition by which the calls of a traced function are found; see `inside.tracing.call_tracer`."""

    def evaluation(self, number: int, limit: int, source: str, numbered: bool = False) -> Arguments:
        """Return what evaluates code of the user; how it ended is the answer to the question `outcome`.

        `limit`: characters of the value. `numbered`: it is to be kept while the stop lasts, with a number by which its
        children can be asked for; pydevd does that with all.
        """

    def assignment(self, number: int, place: tuple[int, int], target: str, source: str) -> Arguments:
        """Return what sets a target in a frame, with an outcome as above. `place`: the thread and the frame's index."""


class _ByPydevd:
    """Each is an expression in the program's own language, which calls the probe there."""

    hit = staticmethod(bootstrap.hit_expression)
    reached = staticmethod(bootstrap.reached_expression)

    def evaluation(self, number: int, limit: int, source: str, _numbered: bool = False) -> Arguments:
        return {"expression": bootstrap.evaluate_expression(number, limit, source)}

    def assignment(self, number: int, place: tuple[int, int], target: str, source: str) -> Arguments:
        return {"expression": bootstrap.assign_expression(number, *place, target, source)}


class _ByEngine:
    """Conditions are marks, which no program's text begins with; an evaluation carries its number beside its text."""

    def hit(self, specification: str) -> str:
        return f"{bootstrap.HIT_MARK}{specification}"

    def reached(self, number: int) -> str:
        return f"{bootstrap.REACHED_MARK}{number}"

    def evaluation(self, number: int, limit: int, source: str, numbered: bool = False) -> Arguments:
        kept = {"numbered": True} if numbered else {}
        return {"expression": bootstrap.source_text(source), "number": number, "limit": limit, **kept}

    def assignment(self, number: int, _place: tuple[int, int], target: str, source: str) -> Arguments:
        return {"expression": bootstrap.source_text(source), "number": number, "target": target}


BY_PYDEVD: Form = _ByPydevd()

BY_ENGINE: Form = _ByEngine()
