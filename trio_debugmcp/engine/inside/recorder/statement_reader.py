"""What an expression or a target does, read into the plan of its statement: names, paths, stores, calls.

    plan = StatementPlan(24, 24)
    StatementReader(plan).read(node, ALWAYS)
    plan.names, plan.paths, plan.stores

What belongs to another code object (a lambda, a generator expression) is that one's.
"""

import _ast
from typing import Any, Iterator

from trio_debugmcp.engine.inside.source_trees import BLOCKS

ALWAYS, ENTERED, CHANGED = 0, 1, 2
"""When a statement has stored a name: if it completed, if its block was entered, if the name has another value."""

ATTRIBUTE, CONSTANT, NAME = 0, 1, 2
"""A step of a path: `.x`, `[3]`, `[name]`."""

GIVEN, CHANGED_BY_IT, INSIDE, SORTED = 1, 2, 4, 8
"""What may happen to the value at a path: a call gets it; the statement itself changes it, by a method of containers;
or it changes what is inside, `d.setdefault(k, []).append(1)`; or all that the statement does is to sort it."""

MUTATORS = frozenset(
    (
        "append extend insert remove pop clear sort reverse update setdefault popitem add discard appendleft popleft "
        "extendleft rotate difference_update intersection_update symmetric_difference_update move_to_end subtract "
        "__setitem__ __delitem__ __iadd__ __ior__"
    ).split()
)
"""Methods that change a container."""

_OF_FIELDS = (ATTRIBUTE, "__dict__")
"""A step to the fields of an object, as a dictionary."""

TYPE = "<type>"
"""The name of the attribute that `type(x)` is taken to be in a path: no code of the program says what it is."""

HARMLESS = frozenset(
    (
        "len isinstance issubclass id range type bool int float abs min max sum any all enumerate zip round ord chr "
        "repr str print sorted reversed tuple"
    ).split()
)
"""Functions by whose names a call is taken to change nothing. One that does all the same makes a gap."""

_RUNS_OTHERS: Any = (_ast.Await, _ast.Yield, _ast.YieldFrom, _ast.With, _ast.AsyncWith, _ast.AsyncFor)


SCOPES: Any = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef, _ast.Lambda)

GENERATORS: Any = (_ast.GeneratorExp,)

INLINED: Any = (_ast.ListComp, _ast.SetComp, _ast.DictComp)


class StatementPlan:
    """What one statement, or those on one line, can write.

    Attributes:
        first, last: its lines, without a block on lines of its own.
        block: first and last line of the block that it enters, or None.
        names: name to when it has been stored.
        stores: (path to the object, last step) of attributes and items that are stored or deleted.
        anew: those whose object an earlier statement of the line may have named anew.
        is_with: its first line comes again when its block ends.
        is_compound: there is more than one statement in it; `is_loop`: one of them runs others in rounds.
        has_rounds: a comprehension in it stores a name of the function, in each of its rounds.
        paths: paths that it goes, to what may happen to the value: `GIVEN` to a call, or `CHANGED_BY_IT`.
        mutates: it can change what it reads.
        hidden: what it may write without saying where (`HiddenPlan`), or None.
    """

    __slots__ = (
        *(
            "anew",
            "block",
            "first",
            "has_rounds",
            "hidden",
            "is_compound",
            "is_loop",
            "is_with",
            "last",
            "mutates",
            "names",
            "paths",
        ),
        "stores",
    )

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self.block: Any = None
        self.names: dict[str, int] = {}
        self.stores: list[Any] = []
        self.anew: set[Any] = set()
        self.is_with = False
        self.is_compound = False
        self.is_loop = self.has_rounds = False
        self.paths: dict[Any, int] = {}
        self.mutates = False
        self.hidden: Any = None

    def go(self, path: Any, flags: int = 0) -> None:
        """Add a path, and those to the names by which it goes."""
        if path[1] and path[1][-1] == _OF_FIELDS:
            path, flags = (path[0], path[1][:-1]), GIVEN
        self.paths[path] = self.paths.get(path, 0) | flags
        for how, what in path[1]:
            if how == NAME:
                self.paths.setdefault((what, ()), 0)


class StatementReader:
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
        if isinstance(node, _RUNS_OTHERS):
            self._plan.mutates = True
        if isinstance(node, _ast.Name):
            if isinstance(node.ctx, _ast.Load):
                self._plan.go((node.id, ()))
            else:
                names[node.id] = when
        elif isinstance(node, (_ast.Attribute, _ast.Subscript)):
            self._place(node, when)
        elif isinstance(node, _ast.Call):
            self._call(node, when)
        elif isinstance(node, _ast.AugAssign):
            self._changed(node.target)
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
        elif isinstance(node, (*SCOPES, *GENERATORS)) and not is_own:
            for name in ("args", "decorator_list"):
                self.read(getattr(node, name, None), CHANGED)
            if isinstance(node, _ast.GeneratorExp):
                self.read(node.generators[0].iter, when)
        elif isinstance(node, (*INLINED, *GENERATORS)):
            self._comprehension(node, is_own)
        else:
            lazy = isinstance(node, (_ast.BoolOp, _ast.IfExp, _ast.Compare))
            self._inner(node, CHANGED if lazy else when)

    def _comprehension(self, node: Any, is_own: bool) -> None:
        """Targets are its own names: only walruses store one of the function's."""
        kept = dict(self._plan.names)
        self._inner(node, CHANGED)
        walruses = {each.target.id for each in _all(node) if isinstance(each, _ast.NamedExpr)}
        self._plan.has_rounds = self._plan.has_rounds or bool(walruses)
        own = [each.id for gen in node.generators for each in _all(gen.target) if isinstance(each, _ast.Name)]
        for name in dict.fromkeys(own):  # in the order of the text: that of a set is another one in each run
            if name in walruses:
                continue
            self._plan.names.pop(name, None)
            if is_own:
                self._plan.names[name] = CHANGED
            elif name in kept:
                self._plan.names[name] = kept[name]

    def _inner(self, node: Any, when: int) -> None:
        for _, value in fields(node):
            self.read(value, when)

    def _place(self, node: Any, when: int) -> None:
        """An attribute or an item that is read, stored or deleted."""
        base, step = path_of(node.value), step_of(node)
        if base is None:
            if not isinstance(node.ctx, _ast.Load):
                self._plan.mutates = True
                self._change_inside(node.value)
            self._inner(node, when)
            return
        if step is not None and step[0] == CONSTANT and base[1] and base[1][-1] == _OF_FIELDS:
            base, step = (base[0], base[1][:-1]), (ATTRIBUTE, step[1])
        if isinstance(node.ctx, _ast.Load):
            self._plan.go(base if step is None else (base[0], (*base[1], step)))
        else:
            self._plan.mutates = True
            self._plan.go(base, CHANGED_BY_IT if isinstance(node, _ast.Subscript) else 0)
            self._plan.stores.append((base, step))
        if isinstance(node, _ast.Subscript):
            self.read(node.slice, when)

    def _call(self, node: Any, when: int) -> None:
        func = node.func
        if not (isinstance(func, _ast.Name) and func.id in HARMLESS):
            self._plan.mutates = True
        receiver = path_of(func.value) if isinstance(func, _ast.Attribute) else None
        if receiver is None:
            if isinstance(func, _ast.Attribute):
                self._change_inside(func.value)
            self.read(func, when)
        else:
            self._plan.go(receiver, GIVEN | (CHANGED_BY_IT if func.attr in MUTATORS else 0))
        for argument in (*node.args, *[each.value for each in node.keywords]):
            inner = argument.value if isinstance(argument, _ast.Starred) else argument
            path = path_of(inner)
            if path is None:
                self.read(inner, when)
            else:
                self._plan.go(path, GIVEN)

    def _changed(self, target: Any) -> None:
        """The target of `+=` and the like: an object that may change itself."""
        self._plan.mutates = True
        path = path_of(target)
        if path is not None:
            self._plan.go(path, CHANGED_BY_IT)
        else:
            self._change_inside(target)

    def _change_inside(self, node: Any) -> None:
        """What is changed comes from a call, or from under a computed key: it may be inside of what that was asked."""
        while isinstance(node, (_ast.Attribute, _ast.Subscript, _ast.Call)):
            called = node.func if isinstance(node, _ast.Call) else node
            node = called.value if isinstance(called, (_ast.Attribute, _ast.Subscript)) else called
            path = path_of(node)
            if path is not None:
                self._plan.go(path, INSIDE)
                return


# --- Paths ------------------------------------------------------------------------------------------------------------


def path_of(node: Any) -> tuple[str, tuple[Any, ...]] | None:
    """Return a path as (name, steps), or None where something must be called to go it."""
    steps: list[Any] = []
    while isinstance(node, (_ast.Attribute, _ast.Subscript)) or is_type_call(node):
        step = (ATTRIBUTE, TYPE) if isinstance(node, _ast.Call) else step_of(node)
        if step is None:
            return None
        steps.append(step)
        node = node.args[0] if isinstance(node, _ast.Call) else node.value
    return (node.id, tuple(reversed(steps))) if isinstance(node, _ast.Name) else None


def is_type_call(node: Any) -> bool:
    """Whether an expression is `type(x)`."""
    is_call = isinstance(node, _ast.Call) and isinstance(node.func, _ast.Name) and node.func.id == "type"
    return is_call and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], _ast.Starred)


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


def sorted_path(node: Any) -> tuple[str, tuple[Any, ...]] | None:
    """Return the path of which `PATH.sort(key=…)` is all of a statement: what runs meanwhile finds that list empty."""
    call = node.value if isinstance(node, _ast.Expr) else None
    if not isinstance(call, _ast.Call) or not isinstance(call.func, _ast.Attribute) or call.func.attr != "sort":
        return None
    plain = (_ast.Lambda, _ast.Name, _ast.Constant)
    is_plain = not call.args and all([isinstance(keyword.value, plain) for keyword in call.keywords])
    return path_of(call.func.value) if is_plain else None


# --- Nodes ------------------------------------------------------------------------------------------------------------


def children(node: Any) -> Iterator[Any]:
    """Yield the nodes directly in a node."""
    for name in node._fields:
        value = getattr(node, name, None)
        for each in value if type(value) is list else [value]:
            if isinstance(each, _ast.AST):
                yield each


def _all(node: Any) -> Iterator[Any]:
    yield node
    for inner in children(node):
        yield from _all(inner)


def fields(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a node that are executed with it, without its blocks."""
    is_block = isinstance(node, (_ast.stmt, _ast.ExceptHandler, _ast.match_case))
    for name in node._fields:
        if not is_block or name not in BLOCKS:
            yield name, getattr(node, name, None)
