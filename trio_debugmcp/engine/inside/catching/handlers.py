"""What the handlers of a code object do with an exception at an instruction, as a plan that a frame settles.

A plan is read from the exception table and the handlers' instructions, once for each instruction. It is a tuple whose
first item is one of the kinds below; `settling` decides it for an exception and a frame.
"""

from trio_debugmcp.engine.inside.catching.disassembly import ENDS, JUMPS, Disassembly
from trio_debugmcp.engine.inside.catching.exception_table import covering
from trio_debugmcp.engine.inside.catching.operands import expression

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import Expression, Plan

LEAVES = 0
"""(LEAVES,): no handler stops it, it leaves the frame."""

CAUGHT = 1
"""(CAUGHT, line, how)."""

MATCH = 2
"""(MATCH, simple names or None, expression, plan if it matches, plan if not): a handler asks for types."""

GROUP = 3
"""(GROUP, ((expression, whether it may raise again), ...), plan if all match, plan if none does): `except*`."""

WITH = 4
"""(WITH, expression of the manager, the name after `as`, whether async, plan if it is suppressed, plan if not)."""

EITHER = 5
"""(EITHER, plan, plan): what the handler does depends on what it finds when it runs."""

CONVERTED = 6
"""(CONVERTED, plan): in a generator, StopIteration leaves as RuntimeError."""

AWAITED = 7
"""(AWAITED, name of an exception, plan if it is of this class, plan if not): the end of `async for`, or of an await."""

DOUBT = 8
"""(DOUBT, reason): it is not known."""

MOST_NESTED = 40
"""Branches within branches that are followed in a handler."""

_TOO_COMPLEX: "Plan" = (DOUBT, "the handler has too many branches to be read")

_YIELDED: "Plan" = (DOUBT, "the handler yields before it raises it again")

_KEPT: "Plan" = (DOUBT, "the handler keeps it, and it may be raised again")

_JOINED: "Plan" = (DOUBT, "a clause of `except*` raises it, and it may join a group")

_STORES = frozenset({"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"})


_VARIABLES = frozenset({"fast", "deref", "name", "global"})


class Handlers:
    """The plans of one code object, made when they are first asked for."""

    __slots__ = ("_explored", "_plans", "code")

    def __init__(self, code: Disassembly) -> None:
        self.code = code
        self._plans: dict[int, Plan | None] = {}
        self._explored: dict[tuple[int, str | None], Plan | None] = {}

    def plan(self, offset: int, nested: int = 0) -> "Plan":
        """Return what becomes of an exception at the instruction at an offset."""
        entry = covering(self.code.table, offset)
        if entry is None:
            return (LEAVES,)
        if entry.target in self._plans:
            return self._plans[entry.target] or _TOO_COMPLEX  # in a circle
        if nested > MOST_NESTED:
            return _TOO_COMPLEX
        self._plans[entry.target] = None
        start = self.code.index(entry.target)
        plan = _JOINED if self._joins(start) else self._explore(start, None, nested) or _TOO_COMPLEX
        if plan[0] == CAUGHT:
            plan = (CAUGHT, self.code.line(start + 1) or self.code.line(start), plan[2])
        self._plans[entry.target] = plan
        return plan

    def _joins(self, start: int) -> bool:
        """Return whether a handler adds what a clause of `except*` raised to what is to be raised together."""
        names = self.code.names[start : start + 4]
        return "LIST_APPEND" in names and names[0] != "PUSH_EXC_INFO"

    def _explore(self, index: int, bound: str | None, nested: int) -> "Plan | None":
        """Follow a handler from an instruction; None where it comes back to where it was."""
        key = (index, bound)
        if key in self._explored:
            return self._explored[key]
        if nested > MOST_NESTED:
            return _TOO_COMPLEX
        self._explored[key] = None
        plan = self._follow(index, bound, nested)
        self._explored[key] = plan
        return plan

    def _follow(self, index: int, bound: str | None, nested: int) -> "Plan | None":
        code = self.code
        seen = set()
        while index < len(code.names) and index not in seen:
            seen.add(index)
            name = code.names[index]
            if name in JUMPS:
                index = code.jumps[index]
                continue
            step = self._special(index, name, bound, nested)
            if step is not None:
                return step
            if bound is not None and self._stored(index) is not None:
                if self._keeps(index, bound):
                    return _KEPT
                if self._stored(index) == bound:
                    bound = None
            if name == "SEND":  # what is awaited in a handler ends at last
                index = code.jumps[index]
            elif index in code.jumps:
                return self._either(index + 1, code.jumps[index], bound, nested)
            else:
                index += 1
        return None

    def _special(self, index: int, name: str, bound: str | None, nested: int) -> "Plan | None":
        """Return the plan from an instruction that deals with the exception; None for any other one."""
        code = self.code
        if name in ENDS:
            return self._end(index, name, bound, nested)
        if name == "CHECK_EXC_MATCH":
            return self._match(index, nested)
        if name == "CHECK_EG_MATCH":
            return self._group(index, nested)
        if name == "WITH_EXCEPT_START":
            return self._with(index, nested)
        if name == "POP_EXCEPT":
            if code.names[index + 1] == "RERAISE":
                return self.plan(code.offsets[index + 1], nested + 1)
            return (CAUGHT, code.line(index), "except")
        if name == "YIELD_VALUE" and code.names[index + 1] == "RESUME" and code.args[index + 1] & 3 == 1:
            later = self._explore(index + 1, bound, nested + 1)
            return later if later is not None and later[0] == CAUGHT else _YIELDED
        if name == "END_ASYNC_FOR":
            passed = self.plan(code.offsets[index], nested + 1)
            return (AWAITED, "StopAsyncIteration", (CAUGHT, code.line(index), "async for"), passed)
        if name == "CLEANUP_THROW":
            passed = self.plan(code.offsets[index], nested + 1)
            return (AWAITED, "StopIteration", (CAUGHT, code.line(index), "await"), passed)
        if name == "CALL_INTRINSIC_1" and code.args[index] == 3:
            return (CONVERTED, self.plan(code.offsets[index + 1], nested + 1))
        return None

    def _end(self, index: int, name: str, bound: str | None, nested: int) -> "Plan":
        code = self.code
        if name == "RERAISE" or (name == "RAISE_VARARGS" and code.args[index] == 0):
            return self.plan(code.offsets[index], nested + 1)
        if name == "RAISE_VARARGS":
            if bound is not None and _variable(_raised(code, index)) == bound:
                return self.plan(code.offsets[index], nested + 1)
            return (CAUGHT, code.line(index), "raises another")
        return (CAUGHT, code.line(index), "return")

    def _either(self, first: int, second: int, bound: str | None, nested: int) -> "Plan | None":
        ways = [self._explore(first, bound, nested + 1), self._explore(second, bound, nested + 1)]
        plans = [way for way in ways if way is not None]
        if len(plans) < 2:
            return plans[0] if plans else None
        same = plans[0] is plans[1] or (plans[0][0] == plans[1][0] and plans[0][0] in (LEAVES, CAUGHT))
        return plans[0] if same else (EITHER, plans[0], plans[1])

    def _match(self, index: int, nested: int) -> "Plan":
        code = self.code
        branch = index + 1
        if code.names[branch] != "POP_JUMP_IF_FALSE":
            return (DOUBT, "the handler is not as the compiler makes them")
        types = expression(code, index, 0)
        first = self._after(branch)
        bound = self._stored(first)
        yes = self._explore(first if bound is None else first + 1, bound, nested + 1) or _TOO_COMPLEX
        no = self._explore(code.jumps[branch], None, nested + 1) or _TOO_COMPLEX
        if yes[0] == CAUGHT:
            yes = (CAUGHT, code.line(index), yes[2])
        return (MATCH, _simple(types), types, yes, no)

    def _after(self, branch: int) -> int:
        """Return the instruction that follows a branch that was not taken."""
        return branch + 2 if self.code.names[branch + 1] == "NOT_TAKEN" else branch + 1

    def _stored(self, index: int) -> str | None:
        """Return the name that an instruction stores the top of the stack in."""
        code = self.code
        (name, arg) = (code.names[index], code.args[index])
        if name in ("STORE_FAST", "STORE_DEREF"):
            return code.local(arg)
        if name in ("STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"):
            return code.local(arg >> 4)
        return code.code.co_names[arg] if name in _STORES else None

    def _keeps(self, index: int, bound: str) -> bool:
        """Return whether an instruction stores the exception under another name, which the code raises somewhere."""
        code = self.code
        name = self._stored(index)
        if name == bound or name not in code.code.co_varnames or _variable(expression(code, index, 0)) != bound:
            return False
        for at, instruction in enumerate(code.names):
            if instruction == "RAISE_VARARGS" and code.args[at] and _variable(_raised(code, at)) == name:
                return True
        return False

    def _group(self, index: int, nested: int) -> "Plan":
        """Read the clauses of `except*`, which follow each other, up to where what is left is raised again."""
        code = self.code
        line = code.line(index)
        clauses = []
        while True:
            branch = index + 2  # after COPY
            if code.names[branch] != "POP_JUMP_IF_NONE":
                return (DOUBT, "the handler is not as the compiler makes them")
            no = code.jumps[branch]
            body = code.names[branch:no] if no > branch else ["RAISE_VARARGS"]
            clauses.append((expression(code, index, 0), "RAISE_VARARGS" in body))
            index = no
            while code.names[index] not in ("CHECK_EG_MATCH", "CALL_INTRINSIC_2"):
                index = code.jumps[index] if code.names[index] in JUMPS else index + 1
            if code.names[index] == "CALL_INTRINSIC_2":
                break
        again = code.jumps[index + 2]
        while code.names[again] != "RERAISE":
            again += 1
        return (GROUP, tuple(clauses), (CAUGHT, line, "except*"), self.plan(code.offsets[again], nested + 1))

    def _with(self, index: int, nested: int) -> "Plan":
        """Read the end of a `with` block: its manager suppresses the exception or not."""
        code = self.code
        start = min([entry.start for entry in code.table if code.index(entry.target) == index - 1], default=0)
        branch = index + 1
        awaited = code.names[branch] == "GET_AWAITABLE"
        if awaited:
            while code.names[branch] != "END_SEND":
                branch = code.jumps[branch] if code.names[branch] == "SEND" else branch + 1
            branch += 1
        if code.names[branch] == "TO_BOOL":
            branch += 1
        if code.names[branch] != "POP_JUMP_IF_TRUE":
            return (DOUBT, "the end of the `with` block is not as the compiler makes them")
        no = self._explore(self._after(branch), None, nested + 1) or _TOO_COMPLEX
        line = code.line(index)
        first = code.index(start)
        entered = _entered(code, first - 1) if first > 0 else None
        manager = None if entered is None else expression(code, entered, 0)
        return (WITH, manager, self._stored(first), awaited, (CAUGHT, line, "with"), no)


def _raised(code: Disassembly, index: int) -> "Expression | None":
    """Describe what a `raise` raises."""
    raised = expression(code, index, code.args[index] - 1)
    if raised is not None and raised[0] == "call" and raised[1] is not None and raised[1][0] == "attr":
        return raised[1][1] if raised[1][2] == "with_traceback" else None
    return raised


def _variable(described: "Expression | None") -> str | None:
    """Return the name of the variable that an expression is."""
    return described[1] if described is not None and described[0] in _VARIABLES else None


def _entered(code: Disassembly, index: int) -> int | None:
    """Return the instruction before which the manager is on top, of the block that begins after `index`."""
    if code.names[index] == "END_SEND":
        while index > 0 and code.names[index] not in ("BEFORE_ASYNC_WITH", "LOAD_SPECIAL"):
            index -= 1
    elif code.names[index] == "CALL":
        index -= 1
    if code.names[index] == "LOAD_SPECIAL":  # from 3.14 on: COPY, the exit, SWAP, SWAP, the entrance
        return index - 4 if index >= 4 and code.names[index - 4] == "COPY" else None
    return index if code.names[index] in ("BEFORE_WITH", "BEFORE_ASYNC_WITH") else None


def _simple(types: "Expression | None") -> "Expression | None":
    """Return the names if they are all plain globals, which is the common case."""
    if types is None:
        return None
    parts = types[1] if types[0] == "tuple" else (types,)
    names = [part[1] for part in parts if part is not None and part[0] == "global"]
    return tuple(names) if len(names) == len(parts) else None
