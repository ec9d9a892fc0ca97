"""What an expression reads: `PathRead`, each with the `ValuePath` that is read, in the order of evaluation.

    reads = reads_of(ast.parse("total(self.items) + n", mode="eval").body)
    [str(read.path) for read in reads]          # ["total", "self.items", "n"]
    reads[1].is_whole, reads[1].argument_of     # True, the call: what is in it counts; it is an argument

A path is what can be looked up in a record without running code: a name, and attributes and items from there.
"""

import ast
from typing import NamedTuple

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_PAIRS = ("items", "enumerate")
"""Calls whose items are pairs, the second of which is an item of the container."""

_PASSING = ("values", "items", "sorted", "reversed", "list", "tuple", "enumerate", "iter")
"""Calls that pass the items of a container on."""

PUTTING = ("append", "appendleft", "add", "insert", "setdefault")
"""Methods of a container that put their last argument into it."""

_COPYING = ("list", "dict", "set", "copy", "deepcopy", "sorted")
"""Calls that make another container with the same items."""


TYPE = ".<type>"
"""The step from an object to its class where that is `type(x)`."""


class ValuePath(NamedTuple):
    """A name, and the way from its value: texts as records have them (`.name`, `['k']`, `[3]`), or a path for a key."""

    name: str
    steps: tuple["str | ValuePath", ...] = ()

    def __str__(self) -> str:
        text = self.name
        for step in self.steps:
            text = f"type({text})" if step == TYPE else text + (step if isinstance(step, str) else f"[{step}]")
        return text

    @property
    def holder(self) -> "ValuePath":
        """The path without its last step."""
        return ValuePath(self.name, self.steps[:-1])


class PathRead(NamedTuple):
    """One path that is read.

    Attributes:
        path: what is read.
        is_whole: what is in the value counts, not only which object it is.
        argument_of: the innermost call of which it is in the arguments.
        target_of: the call of one of its methods.
        after: how many calls of the expression have ended before.
        is_callee: it is what is called.
        of_items: the path leads on from each item of it: `item.price` of a comprehension over `items`.
        is_rebound: the expression itself has given the name its value before: `(item := items.pop()) and item.price`.
        asked_for: what is looked for in it: the arguments of that call, or of `key in seen` the key.
    """

    path: ValuePath
    is_whole: bool = False
    argument_of: ast.Call | None = None
    target_of: ast.Call | None = None
    after: int = 0
    is_callee: bool = False
    of_items: str = ""
    is_rebound: bool = False
    asked_for: tuple[ast.expr, ...] = ()


def path_of(node: ast.expr) -> ValuePath | None:
    """Return the path that an expression is; None if a call or an operator is a part of it."""
    steps: list[str | ValuePath] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            steps.append(f".{node.attr}")
        elif isinstance(node, ast.Subscript) and (step := _key(node.slice)) is not None:
            steps.append(step)
        elif isinstance(node, ast.Call) and _called(node) == "type" and len(node.args) == 1 and not node.keywords:
            steps.append(TYPE)
            node = node.args[0]
            continue
        else:
            return None
        node = node.value
    return ValuePath(node.id, tuple(reversed(steps)))


def _key(node: ast.expr) -> "str | ValuePath | None":
    if isinstance(node, ast.Constant) and isinstance(node.value, int | str | bytes | float):
        return f"[{node.value!r}]"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return f"[-{node.operand.value!r}]"
    if isinstance(node, ast.Tuple) and all(isinstance(item, ast.Constant) for item in node.elts):
        return f"[{ast.literal_eval(node)!r}]"
    return None if isinstance(node, ast.Slice | ast.Tuple) else path_of(node)


def iterated_path(node: ast.expr) -> ValuePath | None:
    """Return the path of the container whose items an iteration goes through."""
    return path_of(_passed(node)[-1])


def _gives_pairs(node: ast.expr) -> bool:
    return any(_called(passed) in _PAIRS for passed in _passed(node))


def _passed(node: ast.expr) -> list[ast.expr]:
    """Return an iterable, and what it passes the items of: calls, and at the end what they were called for."""
    found = [node]
    while isinstance(node, ast.Call) and _called(node) in _PASSING:
        if not isinstance(node.func, ast.Attribute) and not node.args:
            break
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
        found.append(node)
    return found


def _zipped(generator: ast.comprehension) -> dict[str, ValuePath | None]:
    """Return the paths of the containers that names get their items from, by `zip`."""
    call, target = generator.iter, generator.target
    if _called(call) != "zip" or not isinstance(call, ast.Call) or not isinstance(target, ast.Tuple):
        return {}
    pairs = zip(target.elts, call.args, strict=False)
    return {name.id: path_of(container) for name, container in pairs if isinstance(name, ast.Name)}


def _called(node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def reads_of(*nodes: ast.AST | None, whole: bool = True) -> list[PathRead]:
    """Return what expressions read, in the order of evaluation.

    Args:
        nodes: the expressions; None is nothing.
        whole: what is in a value counts where an expression is nothing but a path.
    """
    reader = _PathReader()
    for node in nodes:
        if node is not None:
            reader.read(node, whole=whole)
    return reader.reads


def calls_in(*nodes: ast.AST | None) -> list[ast.Call]:
    """Return the calls that are written in expressions, in the order in which they are made."""
    reader = _PathReader()
    for node in nodes:
        if node is not None:
            reader.read(node, whole=True)
    return reader.calls


def filters_of(*nodes: ast.AST) -> list[ast.Call]:
    """Return the calls that are the conditions of comprehensions in expressions."""
    comprehensions = [inner for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.comprehension)]
    return [test for comprehension in comprehensions for test in comprehension.ifs if isinstance(test, ast.Call)]


class _PathReader:
    """Goes through expressions as the interpreter evaluates them."""

    def __init__(self) -> None:
        self.reads: list[PathRead] = []
        self.calls: list[ast.Call] = []
        self._call: ast.Call | None = None
        self._items: list[dict[str, ValuePath | None]] = []
        self._rebound: set[str] = set()

    def read(self, node: ast.AST, *, whole: bool) -> None:
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            self._read_path(node, whole)
        elif isinstance(node, ast.Call):
            self._read_call(node)
        elif isinstance(node, _COMPREHENSIONS):
            self._read_comprehension(node)
        elif isinstance(node, ast.Lambda):
            pass  # what is in it is read when it is called
        elif isinstance(node, ast.IfExp):
            self.read(node.test, whole=True)
            self.read(node.body, whole=whole)
            self.read(node.orelse, whole=whole)
        elif isinstance(node, ast.NamedExpr | ast.Await | ast.Starred | ast.FormattedValue | ast.YieldFrom):
            self.read(node.value, whole=whole or not isinstance(node, ast.NamedExpr | ast.Await))
            if isinstance(node, ast.NamedExpr):
                self._rebound.add(node.target.id)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            for child in ast.iter_child_nodes(node):
                self.read(child, whole=whole)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            self._read_membership(node)
        else:
            for child in ast.iter_child_nodes(node):
                self.read(child, whole=True)

    def _read_path(self, node: "ast.Name | ast.Attribute | ast.Subscript", whole: bool) -> None:
        path = path_of(node)
        if path is not None:
            for step in path.steps:
                if isinstance(step, ValuePath):
                    self._add(step, whole=False)
            self._add(path, whole)
        elif isinstance(node, ast.Attribute):
            self.read(node.value, whole=False)
        elif isinstance(node, ast.Subscript):
            self.read(node.value, whole=True)
            self._ask_for(node.value, node.slice)
            self.read(node.slice, whole=False)

    def _read_membership(self, node: ast.Compare) -> None:
        for operand in (node.left, *node.comparators):
            self.read(operand, whole=True)
            if operand is node.comparators[0]:
                self._ask_for(operand, node.left)

    def _ask_for(self, container: ast.expr, key: ast.expr) -> None:
        """Note what is looked for in a container that was read just now."""
        if self.reads and self.reads[-1].path == path_of(container):
            self.reads[-1] = self.reads[-1]._replace(asked_for=(key,))

    def _read_call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            target = path_of(node.func.value)
            if target is not None:
                self._add(target, whole=True, target_of=node)
            else:
                self.read(node.func.value, whole=True)
        else:
            path = path_of(node.func)
            if path is None:
                self.read(node.func, whole=False)
            else:
                self._add(path, whole=False, is_callee=True)
        outer, self._call = self._call, node
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.read(argument, whole=True)
        self._call = outer
        self.calls.append(node)

    def _read_comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        names: dict[str, ValuePath | None] = {}
        for generator in node.generators:
            self.read(generator.iter, whole=True)
            self._items.append(names)
            items = [] if isinstance(generator.target, ast.Name) else names_in(generator.target)
            for name in names_in(generator.target):
                is_item = not items or (name == items[-1] and _gives_pairs(generator.iter))
                names[name] = iterated_path(generator.iter) if is_item else None
            names.update(_zipped(generator))
            for test in generator.ifs:
                self.read(test, whole=True)
            self._items.pop()
        self._items.append(names)
        if isinstance(node, ast.DictComp):
            self.read(node.key, whole=True)
            self.read(node.value, whole=True)
        else:
            self.read(node.elt, whole=True)
        self._items.pop()

    def _add(self, path: ValuePath, whole: bool, is_callee: bool = False, target_of: ast.Call | None = None) -> None:
        of_items = ""
        for names in reversed(self._items):
            if path.name in names:
                iterated = names[path.name]
                step = path.steps[0] if path.steps else ""
                if iterated is None or not isinstance(step, str) or not step:
                    return
                path, of_items, whole = iterated, step, False
                break
        is_rebound = path.name in self._rebound
        asked_for = tuple(target_of.args) if target_of is not None else ()
        self.reads.append(
            PathRead(path, whole, self._call, target_of, len(self.calls), is_callee, of_items, is_rebound, asked_for)
        )


def names_in(target: ast.AST) -> list[str]:
    """Return the names that a target binds, or that a pattern captures."""
    names = []
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.append(node.id)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            names.append(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.append(node.rest)
    return names


def copied_in(node: ast.AST) -> list[ValuePath]:
    """Return the containers of which a call whose result is dropped is given copies: `fill(list(names))`.

    What is put into a container is not changed there.
    """
    call = node.value if isinstance(node, ast.Expr) else None
    is_put = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in PUTTING
    if not isinstance(call, ast.Call) or is_put:
        return []
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    copies = [_copied(argument) for argument in arguments]
    paths = [path_of(copied) for copied in copies if copied is not None]
    return [path for path in paths if path is not None]


def _copied(node: ast.expr) -> ast.expr | None:
    """Return what an expression copies: by `list`, `copy`, `[:]` and the like."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return node.value
    if not isinstance(node, ast.Call) or _called(node) not in _COPYING:
        return None
    return node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
