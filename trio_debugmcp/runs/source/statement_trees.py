"""What a statement's tree says: the names and places that it writes, what it reads, and where its head ends."""

import ast

from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath, names_in, path_of, reads_of

MUTATORS = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "intersection_update"}
    | {"difference_update", "pop", "popitem", "popleft", "remove", "reverse", "rotate", "setdefault", "sort"}
    | {"symmetric_difference_update", "update"}
)
"""Methods of containers that change them."""


def first_line(node: ast.AST) -> int:
    """Return the first line of a node, with its decorators."""
    if isinstance(node, ast.match_case):
        return int(node.pattern.lineno)
    lines = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
    return int(min([getattr(node, "lineno", 1), *lines]))


def head_end(node: ast.AST) -> int:
    """Return the last line of what is evaluated of a node before its block."""
    ends = [int(getattr(head, "end_lineno", 0) or 0) for head in heads_of(node)]
    if not hasattr(node, "body") or isinstance(node, ast.Lambda | ast.IfExp):
        ends.append(int(getattr(node, "end_lineno", 1)))
    return max([int(getattr(node, "lineno", first_line(node))), *ends])


def heads_of(node: ast.AST) -> list[ast.AST]:
    """Return what is evaluated of a node before its block."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = node.args
        return [*node.decorator_list, *arguments.defaults, *(default for default in arguments.kw_defaults if default)]
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
    if isinstance(node, ast.If | ast.While | ast.Assert):
        return [node.test]
    if isinstance(node, ast.For | ast.AsyncFor):
        return [node.iter]
    if isinstance(node, ast.With | ast.AsyncWith):
        return [item.context_expr for item in node.items]
    if isinstance(node, ast.Try | ast.TryStar | ast.Module):
        return []
    if isinstance(node, ast.ExceptHandler):
        return [node.type] if node.type else []
    if isinstance(node, ast.Match):
        return [node.subject]
    if isinstance(node, ast.match_case):
        return [node.guard] if node.guard else []
    if isinstance(node, ast.stmt):
        return list(ast.iter_child_nodes(node))
    return [node]


def _generated(node: ast.GeneratorExp) -> list[PathRead]:
    """Return what a generator expression reads in its own frame: the first iterable was given to it."""
    tests = [test for generator in node.generators for test in generator.ifs]
    own = {name for generator in node.generators for name in names_in(generator.target)}
    reads = reads_of(*(generator.iter for generator in node.generators[1:]), *tests, node.elt)
    return [PathRead(ValuePath(".0")), *(read for read in reads if read.path.name not in own or read.path.steps)]


def reads_at(node: ast.AST) -> list[PathRead]:
    """Return what a node reads when it begins, in the order of evaluation."""
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.Return):
        keys = [read for target in targets_of(node) for read in _target_reads(target)]
        return [*reads_of(node.value, whole=False), *keys]
    if isinstance(node, ast.AugAssign):
        path = path_of(node.target)
        before = [PathRead(path, is_whole=True)] if path is not None else []
        return [*before, *_target_reads(node.target), *reads_of(node.value)]
    if isinstance(node, ast.Delete):
        return [read for target in node.targets for read in _target_reads(target)]
    if isinstance(node, ast.With | ast.AsyncWith):
        return _of_parts([(reads_of(item.context_expr), _bound(item.optional_vars)) for item in node.items])
    if isinstance(node, ast.match_case):
        return _of_parts([([], _bound(node.pattern)), (reads_of(node.guard), set())])
    if isinstance(node, ast.stmt | ast.ExceptHandler):
        return reads_of(*heads_of(node))
    return _generated(node) if isinstance(node, ast.GeneratorExp) else reads_of(node)


def reads_in_order(nodes: list[ast.AST]) -> list[PathRead]:
    """Return what statements that share a line read, in the order of evaluation."""
    return _of_parts([(reads_at(node), _places_written(node)) for node in nodes])


def _of_parts(parts: list[tuple[list[PathRead], set[ValuePath]]]) -> list[PathRead]:
    """Return what the parts of a line read; what one has given a value before is read as the line has left it.

    A record has what a line leaves: what was in a place that two parts give values to is not known between them.
    """
    reads, given = [], set[ValuePath]()
    for place, (read_here, _) in enumerate(parts):
        later = set().union(*(written for _, written in parts[place:]))
        for read in read_here:
            on_the_way = {ValuePath(read.path.name, read.path.steps[:end]) for end in range(len(read.path.steps) + 1)}
            if not on_the_way & given:
                reads.append(read)
            elif not on_the_way & later:
                reads.append(read._replace(is_rebound=True))
        given |= parts[place][1]
    return reads


def _bound(target: ast.AST | None) -> set[ValuePath]:
    return {ValuePath(name) for name in names_in(target)} if target is not None else set()


def _places_written(node: ast.AST) -> set[ValuePath]:
    paths = [path_of(target) for target in targets_of(node) if isinstance(target, ast.Attribute | ast.Subscript)]
    return {*map(ValuePath, names_written(node)), *(path for path in paths if path is not None)}


def _target_reads(target: ast.expr) -> list[PathRead]:
    """Return what is read to find the place that a target is."""
    if isinstance(target, ast.Subscript):
        return reads_of(target.slice, whole=False)
    if isinstance(target, ast.Tuple | ast.List):
        return [read for element in target.elts for read in _target_reads(element)]
    return []


def targets_of(node: ast.AST) -> list[ast.expr]:
    """Return the targets that a node assigns to or deletes."""
    if isinstance(node, ast.Assign):
        return [part for target in node.targets for part in _parts(target)]
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
        return _parts(node.target)
    if isinstance(node, ast.Delete):
        return node.targets
    if isinstance(node, ast.With | ast.AsyncWith):
        return [part for item in node.items if item.optional_vars for part in _parts(item.optional_vars)]
    return []


def _parts(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        return [part for element in target.elts for part in _parts(element)]
    return _parts(target.value) if isinstance(target, ast.Starred) else [target]


def names_written(node: ast.AST) -> list[str]:
    """Return the names that a node gives values to."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    names = [name for target in targets_of(node) for name in names_in(target)]
    if isinstance(node, ast.ExceptHandler) and node.name:
        names.append(node.name)
    if isinstance(node, ast.match_case):
        names += names_in(node.pattern)
    if isinstance(node, ast.GeneratorExp):
        names += [name for generator in node.generators for name in names_in(generator.target)]
    walruses = [inner for head in heads_of(node) for inner in ast.walk(head) if isinstance(inner, ast.NamedExpr)]
    return [*names, *(walrus.target.id for walrus in walruses)]


def parameters_of(node: ast.AST) -> tuple[str, ...]:
    """Return the names that the calls of a function fill."""
    arguments = getattr(node, "args", None)
    if not isinstance(arguments, ast.arguments):
        return (".0",) if isinstance(node, ast.GeneratorExp) else ()
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return tuple(argument.arg for argument in named if argument is not None)


def is_empty_container(node: ast.expr) -> bool:
    """Whether an expression is an empty list, tuple or dictionary."""
    return (
        isinstance(node, ast.List | ast.Dict | ast.Tuple)
        and not list(ast.iter_child_nodes(node))[:0]
        and not (getattr(node, "elts", None) or getattr(node, "keys", None))
    )


def entry_of(node: ast.AST, label: str) -> ast.expr | None:
    """Return what a dictionary that is written out as a statement's value gives the key of a label, as `'more']`."""
    value = getattr(node, "value", None)
    if not isinstance(value, ast.Dict):
        return None
    pairs = zip(value.keys, value.values, strict=True)
    return next((part for key, part in pairs if f"{key_text(key)}]" == label), None)


def key_text(key: ast.expr | None) -> str:
    """Return a key that is written out as labels have it, `('far', 1)` also; empty: it is not a constant."""
    parts = key.elts if isinstance(key, ast.Tuple) else [key]
    is_constant = all(isinstance(part, ast.Constant) for part in parts)
    return repr(ast.literal_eval(key)) if key is not None and is_constant else ""


def defaults_of(node: ast.AST) -> dict[str, ast.expr]:
    """Return the defaults of those parameters of a function that have one."""
    arguments = getattr(node, "args", None)
    if not isinstance(arguments, ast.arguments):
        return {}
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(positional[::-1], arguments.defaults[::-1], strict=False))
    pairs += [
        (one, default) for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default
    ]
    return {one.arg: default for one, default in pairs}


def computed_defaults(node: ast.AST) -> frozenset[str]:
    """Return the parameters whose defaults were computed when it was defined: all calls have what was made then."""
    defaults = defaults_of(node).items()
    return frozenset(name for name, default in defaults if not isinstance(default, ast.Constant | ast.Name))
