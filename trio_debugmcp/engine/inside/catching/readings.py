"""What has been read from code objects, kept by identity and bounded.

Code objects of equal text are equal, and two of them may have different handlers' names in their globals, so that they
are distinguished by `id`; each is kept alive with what was read from it, so that its `id` is not used again. There are
two generations: when the young one is full it becomes the old one, and what is asked for again moves to the new one. A
program that makes code without end keeps `MOST` times two of them at most.
"""

from trio_debugmcp.engine.inside.catching.disassembly import Disassembly, UnreadableCodeError
from trio_debugmcp.engine.inside.catching.exception_table import TableEntry, covering, entries
from trio_debugmcp.engine.inside.catching.handlers import DOUBT, LEAVES, Handlers
from trio_debugmcp.engine.inside.catching.operands import expression

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import CodeType, Expression, Plan

MOST = 1_000
"""Code objects of one generation."""

UNREADABLE: "Plan" = (DOUBT, "the code cannot be read")


class CodeReading:
    """One code object: the plans of its instructions, and what else was asked about it."""

    __slots__ = ("_disassembly", "_handlers", "_table", "code", "links", "plans", "results")

    def __init__(self, code: "CodeType") -> None:
        self.code = code
        self.plans: dict[int, Plan] = {}
        self.links: dict[int, tuple[str, Expression | None]] = {}
        self.results: tuple[Expression | None, ...] | None = None
        self._disassembly: Disassembly | None = None
        self._handlers: Handlers | None = None
        self._table: list[TableEntry] | None = None

    def plan(self, offset: int) -> "Plan":
        """Make the plan of an instruction, and keep it."""
        try:
            if self._table is None:
                self._table = entries(self.code)
            if covering(self._table, offset) is None:
                plan: Plan = (LEAVES,)
            else:
                if self._handlers is None:
                    self._handlers = Handlers(self.disassembly())
                plan = self._handlers.plan(offset)
        except (UnreadableCodeError, IndexError, KeyError):
            plan = UNREADABLE
        self.plans[offset] = plan
        return plan

    def disassembly(self) -> Disassembly:
        if self._disassembly is None:
            self._disassembly = Disassembly(self.code)
        return self._disassembly

    def returned(self) -> "tuple[Expression | None, ...]":
        """Describe what the code returns, by an expression for each `return`; None for one that is not clear."""
        if self.results is None:
            results: list[Expression | None] = []
            try:
                code = self.disassembly()
                for index, name in enumerate(code.names):
                    if name == "RETURN_CONST":
                        results.append(("const", code.code.co_consts[code.args[index]]))
                    elif name == "RETURN_VALUE":
                        results.append(expression(code, index, 0))
            except (UnreadableCodeError, IndexError, KeyError):
                results = [None]
            self.results = tuple(results)
        return self.results

    def yields(self) -> list[int]:
        """Return the offsets at which a generator waits after a `yield`; `await` and `yield from` are left out."""
        code = self.disassembly()
        return [
            code.offsets[index - 1]
            for index, name in enumerate(code.names)
            if name == "RESUME" and code.args[index] & 3 == 1 and code.names[index - 1] == "YIELD_VALUE"
        ]


_young: dict[int, CodeReading] = {}
_old: dict[int, CodeReading] = {}


def of(code: "CodeType") -> CodeReading:
    """Return the reading of a code object, a new one if it has not been asked for lately."""
    global _young, _old
    key = id(code)
    reading = _young.get(key)
    if reading is None:
        reading = _old.get(key)
        if reading is None:
            reading = CodeReading(code)
        if len(_young) >= MOST:
            (_old, _young) = (_young, {})
        _young[key] = reading
    return reading
