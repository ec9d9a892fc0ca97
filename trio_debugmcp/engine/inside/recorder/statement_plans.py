"""Plans of statements: what each one can write, read from the source's tree once for each code object.

    plans = source_plans(text)                  # None: it cannot be read
    plans.of(code).get(line)                    # the `StatementPlan` of the statement on that line, or None

Several statements on one line are one; so are several lines of one statement. What belongs to another code object (the
body of a function or class in it) is that one's. Without a source, a plan has the names that the code stores.
"""

import _ast
from typing import Any, Iterator

from trio_debugmcp.engine.inside.recorder.hidden_plans import HiddenPlan, hidden_plan
from trio_debugmcp.engine.inside.recorder.statement_reader import (
    ALWAYS,
    ATTRIBUTE,
    CHANGED,
    ENTERED,
    GENERATORS,
    INLINED,
    SCOPES,
    SORTED,
    StatementPlan,
    StatementReader,
    children,
    fields,
    sorted_path,
)
from trio_debugmcp.engine.inside.source_trees import BLOCKS, first_line, source_tree

_MOST_STORED = 30
"""Attributes that a method without a source is taken to store, perhaps."""

_LOOPS: Any = (_ast.For, _ast.AsyncFor)

_WITHS: Any = (_ast.With, _ast.AsyncWith)

_CODE_NAMES = {"Lambda": "<lambda>", "GeneratorExp": "<genexpr>", "ListComp": "<listcomp>", "SetComp": "<setcomp>"}


class SourcePlans:
    """The plans of one source, by the place and name of code."""

    def __init__(self, tree: Any) -> None:
        self._nodes: dict[tuple[int, str], list[Any]] = {}
        self._known: dict[tuple[int, str], dict[int, StatementPlan]] = {}
        self._nodes[0, "<module>"] = [tree]
        self._find(tree)

    def _find(self, node: Any) -> None:
        for inner in children(node):
            if isinstance(inner, (*SCOPES, *GENERATORS, *INLINED)):
                name = _CODE_NAMES.get(type(inner).__name__) or str(getattr(inner, "name", "<dictcomp>"))
                self._nodes.setdefault((first_line(inner), name), []).append(inner)
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
        return known


def source_plans(text: bytes | str) -> SourcePlans | None:
    """Return the plans of a source, or None if it cannot be read."""
    tree = source_tree(text)
    try:
        return None if tree is None else SourcePlans(tree)
    except (RecursionError, MemoryError):
        return None


def bare_plans(code: Any) -> dict[int, StatementPlan]:
    """Return plans of code without a source: one for each line, whose names are all that the code has.

    Of a method, as dataclasses generate them, it may store each attribute that it names.
    """
    plans = {}
    own = code.co_varnames[0] if code.co_argcount else ""
    stores = [((own, ()), (ATTRIBUTE, name)) for name in code.co_names[:_MOST_STORED]] if own else []
    for _, _, line in code.co_lines():
        if line and line not in plans:
            plan = plans[line] = StatementPlan(line, line)
            plan.names = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars), CHANGED)
            plan.stores = stores
            plan.is_compound = True
    return plans


# --- Statements -------------------------------------------------------------------------------------------------------


def _by_line(nodes: list[Any]) -> dict[int, StatementPlan]:
    plans: list[StatementPlan] = []
    for node in nodes:
        if isinstance(node, (_ast.Module, _ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            plans += _of_block(node.body)
        else:
            plan = StatementPlan(first_line(node), int(node.end_lineno))
            part: Any = node.body if isinstance(node, _ast.Lambda) else node
            StatementReader(plan).read(part, CHANGED, is_own=True)
            plan.hidden = hidden_plan([part], plan)
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
        plan.anew |= other.anew | {store for store in plan.stores if store[0][0] in other.names}
        plan.names = dict.fromkeys((*other.names, *plan.names), CHANGED)
        plan.stores = [*other.stores, *plan.stores]
        plan.is_with = plan.is_with or other.is_with
        plan.is_loop = plan.is_loop or other.is_loop
        plan.has_rounds = plan.has_rounds or other.has_rounds
        plan.mutates = plan.mutates or other.mutates
        for path, flags in other.paths.items():
            plan.paths[path] = plan.paths.get(path, 0) | flags
        if other.hidden is not None and plan.hidden is not None:
            plan.hidden.add(other.hidden)
        plan.hidden = plan.hidden or other.hidden
        if plan.is_loop:
            _place_stores(plan)
        plan.paths = {path: flags & ~SORTED for path, flags in plan.paths.items()}
        plan.is_compound, plan.block = True, None
    for line in range(plan.first, plan.last + 1):
        by_line[line] = plan


def _place_stores(plan: StatementPlan) -> None:
    """A loop on one line stores attributes of the object of each round, of which only the last can be looked at."""
    stored = {step[1] for base, step in plan.stores if step and step[0] == ATTRIBUTE and base[0] in plan.names}
    if stored:
        plan.hidden = plan.hidden or HiddenPlan()
        plan.hidden.attributes |= stored


def _of_block(statements: list[Any]) -> Iterator[StatementPlan]:
    for node in statements:
        yield _of_statement(node)
        if isinstance(node, SCOPES):
            continue
        for name in BLOCKS:
            for inner in getattr(node, name, None) or ():
                if isinstance(inner, (_ast.ExceptHandler, _ast.match_case)):
                    yield _of_branch(inner)
                    yield from _of_block(inner.body)
                else:
                    yield from _of_block([inner])


def _of_statement(node: Any) -> StatementPlan:
    plan = StatementPlan(first_line(node), _head_end(node))
    body = getattr(node, "body", None)
    if body and type(body) is list and not isinstance(node, SCOPES):
        plan.block = (first_line(body[0]), int(body[-1].end_lineno))
    plan.is_with = isinstance(node, _WITHS)
    plan.mutates = plan.is_with
    plan.is_loop = isinstance(node, (*_LOOPS, _ast.While))
    reader = StatementReader(plan)
    if isinstance(node, _LOOPS):
        reader.read(node.target, ENTERED)
        reader.read(node.iter, ALWAYS)
    elif isinstance(node, (_ast.Import, _ast.ImportFrom, _ast.AugAssign)):
        reader.read(node, ALWAYS)
    else:
        for field, value in fields(node):
            if not isinstance(node, SCOPES) or field in ("decorator_list", "args", "bases", "keywords", "returns"):
                reader.read(value, ALWAYS)
    path = sorted_path(node)
    if path is not None:
        plan.go(path, SORTED)
    plan.hidden = hidden_plan([node], plan)
    if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
        plan.names[node.name] = ALWAYS
    return plan


def _of_branch(node: Any) -> StatementPlan:
    """Of a handler or a case: its names are stored if its block is entered."""
    head: Any = node.type if isinstance(node, _ast.ExceptHandler) else node.pattern
    first = int(getattr(node, "lineno", 0) or head.lineno)
    last = max(first, min(first_line(node.body[0]) - 1, _last(head, first)))
    plan = StatementPlan(first, last)
    plan.block = (first_line(node.body[0]), int(node.body[-1].end_lineno))
    reader = StatementReader(plan)
    for _, value in fields(node):
        reader.read(value, ENTERED)
    if getattr(node, "name", None):
        plan.names[node.name] = ENTERED
    return plan


# --- Nodes ------------------------------------------------------------------------------------------------------------


def _last(node: Any, least: int) -> int:
    return least if node is None else int(node.end_lineno)


def _head_end(node: Any) -> int:
    """Return the last line of a statement before its block; its last line if the block has none of its own."""
    blocks = [each for name in BLOCKS for each in getattr(node, name, None) or () if hasattr(each, "lineno")]
    if not blocks or isinstance(node, _ast.Match):
        whole: Any = node.subject if isinstance(node, _ast.Match) else node
        return int(whole.end_lineno)
    first = min([first_line(each) for each in blocks])
    return max(int(node.lineno), first - 1) if first > int(node.lineno) else int(node.lineno)
