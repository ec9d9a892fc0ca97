"""Plans of statements: what each one can write, read from the source's tree once for each code object.

    plans = source_plans(text)                  # None: it cannot be read
    plans.of(code).get(line)                    # the `StatementPlan` of the statement on that line, or None

Several statements on one line are one; so are several lines of one statement. What belongs to another code object (the
body of a function or class in it) is that one's. Without a source, a plan has the names that the code stores.
"""

import _ast
from typing import Any, Iterator

from trio_debugmcp.engine.inside.quiet_warnings import without_warnings

ALWAYS, ENTERED, CHANGED = 0, 1, 2
"""When a statement has stored a name: if it completed, if its block was entered, if the name has another value."""

ATTRIBUTE, CONSTANT, NAME = 0, 1, 2
"""A step of a path: `.x`, `[3]`, `[name]`."""

_MOST_BYTES = 4_000_000

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

_SCOPES: Any = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef, _ast.Lambda)

_GENERATORS: Any = (_ast.GeneratorExp,)

_INLINED: Any = (_ast.ListComp, _ast.SetComp, _ast.DictComp)

_LOOPS: Any = (_ast.For, _ast.AsyncFor)

_WITHS: Any = (_ast.With, _ast.AsyncWith)

_CODE_NAMES = {"Lambda": "<lambda>", "GeneratorExp": "<genexpr>", "ListComp": "<listcomp>", "SetComp": "<setcomp>"}


class StatementPlan:
    """What one statement, or those on one line, can write.

    Attributes:
        first, last: its lines, without a block on lines of its own.
        block: first and last line of the block that it enters, or None.
        names: name to when it has been stored.
        stores: (path to the object, last step) of attributes and items that are stored or deleted.
        is_with: its first line comes again when its block ends.
        is_compound: there is more than one statement in it.
    """

    __slots__ = ("block", "first", "is_compound", "is_with", "last", "names", "number", "stores")

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self.block: Any = None
        self.names: dict[str, int] = {}
        self.stores: list[Any] = []
        self.is_with = False
        self.is_compound = False
        self.number = 0


class SourcePlans:
    """The plans of one source, by the place and name of code."""

    def __init__(self, tree: Any) -> None:
        self._nodes: dict[tuple[int, str], list[Any]] = {}
        self._known: dict[tuple[int, str], dict[int, StatementPlan]] = {}
        self._nodes[0, "<module>"] = [tree]
        self._find(tree)

    def _find(self, node: Any) -> None:
        for inner in _children(node):
            if isinstance(inner, (*_SCOPES, *_GENERATORS, *_INLINED)):
                name = _CODE_NAMES.get(type(inner).__name__) or str(getattr(inner, "name", "<dictcomp>"))
                self._nodes.setdefault((_first(inner), name), []).append(inner)
            self._find(inner)

    def of(self, code: Any) -> dict[int, StatementPlan] | None:
        """Return the plans of a code object by line, or None if the source has no such code."""
        is_module = code.co_name == "<module>"
        key = (0 if is_module else code.co_firstlineno, code.co_name)
        known = self._known.get(key)
        if known is None:
            nodes = self._nodes.get(key)
            if nodes is None:
                return None
            known = self._known[key] = _by_line(nodes)
        return {line: _copy(plan) for line, plan in known.items()} if known else known


def source_plans(text: bytes | str) -> SourcePlans | None:
    """Return the plans of a source, or None if it cannot be read."""
    if len(text) > _MOST_BYTES:
        return None
    try:
        tree = without_warnings(
            Warning, lambda: compile(text, "<unknown>", "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        )
        return SourcePlans(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def bare_plans(code: Any) -> dict[int, StatementPlan]:
    """Return plans of code without a source: one for each line, whose names are all that the code stores."""
    plans = {}
    for _, _, line in code.co_lines():
        if line and line not in plans:
            plan = plans[line] = StatementPlan(line, line)
            plan.names = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars), CHANGED)
            plan.is_compound = True
    return plans


# --- Statements -------------------------------------------------------------------------------------------------------


def _by_line(nodes: list[Any]) -> dict[int, StatementPlan]:
    plans: list[StatementPlan] = []
    for node in nodes:
        if isinstance(node, (_ast.Module, _ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            plans += _of_block(node.body)
        else:
            plan = StatementPlan(_first(node), int(node.end_lineno))
            part: Any = node.body if isinstance(node, _ast.Lambda) else node
            _Reader(plan).read(part, CHANGED, is_own=True)
            plans.append(plan)
    by_line: dict[int, StatementPlan] = {}
    for plan in sorted(plans, key=lambda each: each.first):
        _place(by_line, plan)
    return by_line


def _place(by_line: dict[int, StatementPlan], plan: StatementPlan) -> None:
    """Put a plan on its lines; where there is another one they become one."""
    others = {id(by_line[line]): by_line[line] for line in range(plan.first, plan.last + 1) if line in by_line}
    for other in others.values():
        plan.first, plan.last = min(plan.first, other.first), max(plan.last, other.last)
        plan.names = dict.fromkeys((*other.names, *plan.names), CHANGED)
        plan.stores = [*other.stores, *plan.stores]
        plan.is_with = plan.is_with or other.is_with
        plan.is_compound, plan.block = True, None
    for line in range(plan.first, plan.last + 1):
        by_line[line] = plan


def _of_block(statements: list[Any]) -> Iterator[StatementPlan]:
    for node in statements:
        yield _of_statement(node)
        if isinstance(node, _SCOPES):
            continue
        for name in _BLOCKS:
            for inner in getattr(node, name, None) or ():
                if isinstance(inner, (_ast.ExceptHandler, _ast.match_case)):
                    yield _of_branch(inner)
                    yield from _of_block(inner.body)
                else:
                    yield from _of_block([inner])


def _of_statement(node: Any) -> StatementPlan:
    plan = StatementPlan(_first(node), _head_end(node))
    body = getattr(node, "body", None)
    if body and type(body) is list and not isinstance(node, _SCOPES):
        plan.block = (_first(body[0]), int(body[-1].end_lineno))
    plan.is_with = isinstance(node, _WITHS)
    reader = _Reader(plan)
    if isinstance(node, _LOOPS):
        reader.read(node.target, ENTERED)
        reader.read(node.iter, ALWAYS)
    else:
        for field, value in _fields(node):
            if not isinstance(node, _SCOPES) or field in ("decorator_list", "args", "bases", "keywords", "returns"):
                reader.read(value, ALWAYS)
    if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
        plan.names[node.name] = ALWAYS
    return plan


def _of_branch(node: Any) -> StatementPlan:
    """Of a handler or a case: its names are stored if its block is entered."""
    head: Any = node.type if isinstance(node, _ast.ExceptHandler) else node.pattern
    first = int(getattr(node, "lineno", 0) or head.lineno)
    last = max(first, min(_first(node.body[0]) - 1, _last(head, first)))
    plan = StatementPlan(first, last)
    plan.block = (_first(node.body[0]), int(node.body[-1].end_lineno))
    reader = _Reader(plan)
    for _, value in _fields(node):
        reader.read(value, ENTERED)
    if getattr(node, "name", None):
        plan.names[node.name] = ENTERED
    return plan


class _Reader:
    """Reads what an expression or a target stores into a plan."""

    def __init__(self, plan: StatementPlan) -> None:
        self._plan = plan

    def read(self, node: Any, when: int, is_own: bool = False) -> None:
        if type(node) is list:
            for each in node:
                self.read(each, when)
        elif isinstance(node, _ast.AST):
            self._read(node, when, is_own)

    def _read(self, node: Any, when: int, is_own: bool) -> None:
        names = self._plan.names
        if isinstance(node, _ast.Name):
            if not isinstance(node.ctx, _ast.Load):
                names[node.id] = when
        elif isinstance(node, (_ast.Attribute, _ast.Subscript)):
            if not isinstance(node.ctx, _ast.Load):
                self._store(node)
            self._inner(node, when)
        elif isinstance(node, _ast.NamedExpr):
            names[node.target.id] = when if when == ALWAYS else CHANGED
            self.read(node.value, when)
        elif isinstance(node, (_ast.Import, _ast.ImportFrom)):
            for alias in node.names:
                if alias.name != "*":
                    names[alias.asname or alias.name.partition(".")[0]] = when
        elif isinstance(node, (_ast.MatchAs, _ast.MatchStar, _ast.MatchMapping)):
            name = node.rest if isinstance(node, _ast.MatchMapping) else node.name
            if name:
                names[name] = when
            self._inner(node, when)
        elif isinstance(node, (*_SCOPES, *_GENERATORS)) and not is_own:
            for name in ("args", "decorator_list"):
                self.read(getattr(node, name, None), CHANGED)
            if isinstance(node, _ast.GeneratorExp):
                self.read(node.generators[0].iter, when)
        elif isinstance(node, (*_INLINED, *_GENERATORS)):
            self._comprehension(node, is_own)
        else:
            lazy = isinstance(node, (_ast.BoolOp, _ast.IfExp, _ast.Compare))
            self._inner(node, CHANGED if lazy else when)

    def _comprehension(self, node: Any, is_own: bool) -> None:
        """Targets are its own names: only walruses store one of the function's."""
        kept = dict(self._plan.names)
        self._inner(node, CHANGED)
        walruses = {each.target.id for each in _all(node) if isinstance(each, _ast.NamedExpr)}
        own = {each.id for gen in node.generators for each in _all(gen.target) if isinstance(each, _ast.Name)}
        for name in own - walruses:
            self._plan.names.pop(name, None)
            if is_own:
                self._plan.names[name] = CHANGED
            elif name in kept:
                self._plan.names[name] = kept[name]

    def _inner(self, node: Any, when: int) -> None:
        for _, value in _fields(node):
            self.read(value, when)

    def _store(self, node: Any) -> None:
        base, step = path_of(node.value), step_of(node)
        if base is not None:
            self._plan.stores.append((base, step))


# --- Paths ------------------------------------------------------------------------------------------------------------


def path_of(node: Any) -> tuple[str, tuple[Any, ...]] | None:
    """Return a path as (name, steps), or None where something must be called to go it."""
    steps: list[Any] = []
    while isinstance(node, (_ast.Attribute, _ast.Subscript)):
        step = step_of(node)
        if step is None:
            return None
        steps.append(step)
        node = node.value
    return (node.id, tuple(reversed(steps))) if isinstance(node, _ast.Name) else None


def step_of(node: Any) -> tuple[int, Any] | None:
    """Return the last step of a path, or None where it is neither a constant nor a name."""
    if isinstance(node, _ast.Attribute):
        return ATTRIBUTE, node.attr
    if isinstance(node.slice, _ast.Constant):
        return CONSTANT, node.slice.value
    negative = isinstance(node.slice, _ast.UnaryOp) and isinstance(node.slice.op, _ast.USub)
    if negative and isinstance(node.slice.operand, _ast.Constant) and type(node.slice.operand.value) is int:
        return CONSTANT, -node.slice.operand.value
    return (NAME, node.slice.id) if isinstance(node.slice, _ast.Name) else None


# --- Nodes ------------------------------------------------------------------------------------------------------------


def _children(node: Any) -> Iterator[Any]:
    for name in node._fields:
        value = getattr(node, name, None)
        for each in value if type(value) is list else [value]:
            if isinstance(each, _ast.AST):
                yield each


def _all(node: Any) -> Iterator[Any]:
    yield node
    for inner in _children(node):
        yield from _all(inner)


def _fields(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a node that are executed with it, without its blocks."""
    is_block = isinstance(node, (_ast.stmt, _ast.ExceptHandler, _ast.match_case))
    for name in node._fields:
        if not is_block or name not in _BLOCKS:
            yield name, getattr(node, name, None)


def _first(node: Any) -> int:
    lines = [each.lineno for each in getattr(node, "decorator_list", ())]
    return int(min([node.lineno, *lines]))


def _last(node: Any, least: int) -> int:
    return least if node is None else int(node.end_lineno)


def _head_end(node: Any) -> int:
    """Return the last line of a statement before its block; its last line if the block has none of its own."""
    blocks = [each for name in _BLOCKS for each in getattr(node, name, None) or () if hasattr(each, "lineno")]
    if not blocks or isinstance(node, _ast.Match):
        whole: Any = node.subject if isinstance(node, _ast.Match) else node
        return int(whole.end_lineno)
    first = min([_first(each) for each in blocks])
    return max(int(node.lineno), first - 1) if first > int(node.lineno) else int(node.lineno)


def _copy(plan: StatementPlan) -> StatementPlan:
    return plan
