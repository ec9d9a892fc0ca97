"""What a statement may write without saying where: through a namespace, by `setattr`, into what a call has returned.

    hidden = hidden_plan(nodes, plan)           # None: nothing of that kind, as in most statements
    hidden.attributes                           # {"x"}: `get(cart).x = 1` stores .x of an object that no path leads to

A namespace that is only read on the spot (`vars(cart).items()`, `globals()[name]`) can change in this statement alone;
one that is kept, passed on or returned is exposed from then on.
"""

import _ast
from typing import Any, Iterator

from trio_debugmcp.engine.inside.recorder.statement_reader import (
    GIVEN,
    HARMLESS,
    MUTATORS,
    SCOPES,
    StatementPlan,
    fields,
    path_of,
)

ANY = "*"
"""Instead of an attribute's name: it is not known which one."""

_NAMESPACES = frozenset(("globals", "locals", "vars"))

_TEXTS = frozenset(("exec", "eval"))

_SETTERS = frozenset(("setattr", "delattr"))

_OF_OBJECTS = frozenset(("__setattr__", "__delattr__"))

_OF_MODULES = frozenset(("__globals__", "f_globals"))

_OF_FRAMES = frozenset(("f_locals", "cell_contents"))

_COPIERS = HARMLESS | {"dict", "list", "set", "frozenset", "iter"}
"""Functions that keep nothing of a namespace but what is in it."""

_READERS: Any = (_ast.Subscript, _ast.Compare, _ast.comprehension, _ast.For, _ast.BinOp, _ast.FormattedValue, _ast.Expr)
"""What reads a namespace on the spot."""


class HiddenPlan:
    """What one statement may write without saying where.

    Attributes:
        has_globals: names of its own module; `has_modules`: of any module; `has_names`: of frames.
        attributes: of objects that no path leads to, or `ANY`.
        exposed: paths to objects whose namespace is kept by others from now on; `exposes_globals`: that of the module.
        inner: names of comprehensions, by which no path leads from the frame.
        resized: paths to what may be an array that is made larger or smaller in place.
    """

    __slots__ = (
        "attributes",
        "exposed",
        "exposes_globals",
        "has_globals",
        "has_modules",
        "has_names",
        "inner",
        "resized",
    )

    def __init__(self) -> None:
        self.has_globals = self.has_modules = self.has_names = self.exposes_globals = False
        self.attributes: set[str] = set()
        self.exposed: list[Any] = []
        self.resized: list[Any] = []
        self.inner: set[str] = set()

    def path_of(self, node: Any) -> Any:
        """Return the path of an expression from a name of the frame, or None."""
        path = path_of(node)
        return None if path is None or path[0] in self.inner else path

    def is_empty(self) -> bool:
        """Whether there is nothing of that kind."""
        has_names = self.has_globals or self.has_modules or self.has_names
        return not (has_names or self.attributes or self.exposed or self.resized)

    def add(self, other: "HiddenPlan") -> None:
        """Another statement stands on the same line."""
        for name in ("has_globals", "has_modules", "has_names", "exposes_globals"):
            setattr(self, name, getattr(self, name) or getattr(other, name))
        self.attributes |= other.attributes
        self.exposed += other.exposed
        self.resized += other.resized


def hidden_plan(nodes: list[Any], plan: StatementPlan) -> HiddenPlan | None:
    """Return what a statement, of these nodes, may write without saying where; None: nothing."""
    hidden = HiddenPlan()
    every = list(_with_parents(nodes, None, None))
    hidden.inner = {name for node, *_ in every if isinstance(node, _ast.comprehension) for name in _names(node.target)}
    for node, *around in every:
        if isinstance(node, _ast.Name):
            if node.id in _SETTERS and not _is_called(node, around[0]):  # `partial(setattr, cart, "x")`
                hidden.exposed += [path for path, flags in plan.paths.items() if flags & GIVEN]
        elif isinstance(node, _ast.Attribute):
            _of_attribute(hidden, node, around)
        elif isinstance(node, _ast.Call):
            _of_call(hidden, node, around)
    return None if hidden.is_empty() else hidden


def _with_parents(node: Any, parent: Any, above: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield each expression of a statement's own code, what it is directly in, and what that is in."""
    if type(node) is list:
        for each in node:
            yield from _with_parents(each, parent, above)
    elif isinstance(node, _ast.AST):
        yield node, parent, above
        if not isinstance(node, SCOPES):
            for _, value in fields(node):
                yield from _with_parents(value, node, parent)


def _names(target: Any) -> set[str]:
    return {node.id for node, *_ in _with_parents(target, None, None) if isinstance(node, _ast.Name)}


def _is_called(node: Any, parent: Any) -> bool:
    return isinstance(parent, _ast.Call) and parent.func is node


def _of_attribute(hidden: HiddenPlan, node: Any, around: list[Any]) -> None:
    name, path = node.attr, hidden.path_of(node.value)
    if name in _OF_MODULES:
        hidden.has_modules = True
    elif name in _OF_FRAMES:
        hidden.has_names = True
    elif name == "__dict__":
        _of_namespace(hidden, node, around, path)
    elif name in _OF_OBJECTS and path is not None and not _is_called(node, around[0]):
        hidden.exposed.append(path)
    elif path is None and not isinstance(node.ctx, _ast.Load):
        hidden.attributes.add(name)
    if name == "resize" and path is not None and _is_called(node, around[0]):
        hidden.resized.append(path)


def _of_call(hidden: HiddenPlan, node: Any, around: list[Any]) -> None:
    name = node.func.id if isinstance(node.func, _ast.Name) else ""
    if name in _TEXTS:
        hidden.has_globals = True
    elif name in _NAMESPACES and not node.args:
        hidden.has_globals = True
        hidden.has_names = hidden.has_names or name != "globals"
        hidden.exposes_globals = hidden.exposes_globals or not _is_read(node, *around)
    elif name == "vars":
        _of_namespace(hidden, node, around, hidden.path_of(node.args[0]))
    elif name in _SETTERS and node.args and hidden.path_of(node.args[0]) is None:
        constant = node.args[1] if len(node.args) > 1 else None
        is_known = isinstance(constant, _ast.Constant) and type(constant.value) is str
        hidden.attributes.add(constant.value if constant is not None and is_known else ANY)


def _of_namespace(hidden: HiddenPlan, node: Any, around: list[Any], path: Any) -> None:
    """The attributes of an object, as a dictionary."""
    parent, above = around
    is_read = _is_read(node, parent, above)
    if path is not None:
        if not is_read:
            hidden.exposed.append(path)
        return
    is_stored = isinstance(parent, _ast.Subscript) and not isinstance(parent.ctx, _ast.Load)
    if not is_read or is_stored or (isinstance(parent, _ast.Attribute) and parent.attr in MUTATORS):
        hidden.attributes.add(ANY)


def _is_read(node: Any, parent: Any, above: Any) -> bool:
    """Whether a namespace is used on the spot, and not kept."""
    if isinstance(parent, _ast.Attribute):
        return _is_called(parent, above)
    if isinstance(parent, _ast.Call):
        return isinstance(parent.func, _ast.Name) and parent.func.id in _COPIERS
    if isinstance(parent, _ast.keyword):
        return parent.arg is None
    if isinstance(parent, _ast.Dict):
        return any(key is None and value is node for key, value in zip(parent.keys, parent.values))
    return isinstance(parent, _READERS)
