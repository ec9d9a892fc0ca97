"""Children of values: items and fields, any slice of them, each with a path that leads back to it.

    of_value([7, 8], "xs", Question(start=1), budget, renderer)   # total 2, [1] with value 8 and path xs[1]

A path is an expression. Where a key cannot be written as one (an object as the key of a dict, an element of a set) the
path is an index expression: `[*dd.values()][2]`, `[*st][0]`.
"""

import types
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from trio_debugmcp.probe.inside import atoms, facts, frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.frames import Json
from trio_debugmcp.probe.inside.values import Renderer, error_text

_KEYWORDS = frozenset(
    (
        "False None True and as assert async await break class continue def del elif else except finally for "
        "from global if import in is lambda nonlocal not or pass raise return try while with yield "
    ).split()
)
"""Of every version: a field of such a name (made by `setattr`) cannot be written behind a dot."""


_MOST_KEY = 100
"""Characters of a dict's key that a path spells out. Longer keys are reached by their position."""

_MOST_SCANNED = 1000000
"""Positions of a dict or set that are passed to reach a slice of it."""

MOST_DEPTH = 5


class Child(NamedTuple):
    """An item or a field: its name, its value and its path, of which the parent's is still to be put in front."""

    name: str
    value: Any
    path: str
    """With `{}` for the parent's path."""
    note: str = ""
    """In place of the value, where reading it would run code of the program."""


# --- Evaluation -------------------------------------------------------------------------------------------------------


def evaluate(expression: str, frame: Any, budget: Budget) -> Any:
    """Evaluate an expression in a frame, or without one in the main module. Code of the program runs within bounds.

    Raises:
        BaseException: what the expression raised; TooSlowError where it took too long.
    """
    # One dictionary for all names: comprehensions do not see separate locals.
    names: Dict[str, Any] = dict(frame.f_globals if frame is not None else frames.main_globals())
    if frame is not None:
        names.update(frame.f_locals)
    for name in ("exit", "quit"):  # site's own would close the program's standard input
        names.setdefault(name, _exit)
    simple = expression.strip()
    if simple.isidentifier() and simple in names:
        return names[simple]
    code = compile(simple, "<probe>", "eval")
    return budget.run(None, lambda: eval(code, names))


def _exit(code: Any = None) -> None:
    raise SystemExit(code)


# --- Children ---------------------------------------------------------------------------------------------------------


def children(value: Any, start: int, count: int) -> Tuple[List[Child], int]:
    """A slice of a value's items or fields, and how many there are.

    Raises:
        RuntimeError: the program changes the collection while it is read.
    """
    if issubclass(type(value), (str, bytes, bytearray, int, float, complex)):
        return [], 0
    if facts.container(value) is not None:
        total = facts.length(value) or 0
        found = _items(value, start, count) if start <= _MOST_SCANNED or type(value) in (list, tuple) else []
        return found, total
    shape = facts.array_shape(value)
    if shape and facts.class_attribute(type(value), "columns") is facts.MISSING:
        return [_row(value, index) for index in range(start, min(start + count, shape[0]))], shape[0]
    named = list(_named(value))
    return named[start : start + count], len(named)


def _items(value: Any, start: int, count: int) -> List[Child]:
    for attempt in range(3):
        try:
            found = list(facts.items(value, start, count))
            break
        except RuntimeError:  # it was changed by another thread; most likely not thrice
            if attempt == 2:
                raise
    base = facts.container(value) or facts.CONTAINERS[0]
    if base[1] is dict:
        return [_entry(number, key, item) for number, (key, item) in enumerate(found, start)]
    form = "{{}}[{}]" if base[0] is not set and base[0] is not frozenset else "[*{{}}][{}]"
    return [Child(f"[{index}]", item, form.format(index)) for index, item in found]


def _entry(number: int, key: Any, item: Any) -> Child:
    text = literal(key)
    if text is not None and len(text) <= _MOST_KEY:
        return Child(f"[{text}]", item, "{}[" + text.replace("{", "{{").replace("}", "}}") + "]")
    return Child(f"[{number}]", item, f"[*{{}}.values()][{number}]", _KEY if text is None else "")


_KEY = "key"


def _row(value: Any, index: int) -> Child:
    try:
        return Child(f"[{index}]", value[index], f"{{}}[{index}]")
    except Exception as error:
        return Child(f"[{index}]", None, f"{{}}[{index}]", f"<{error_text(error)}>")


def literal(key: Any) -> Optional[str]:
    """Return a key as an expression that makes an equal one, or None."""
    cls = type(key)
    if cls in (str, bytes, bool, type(None)) or (cls is int and key.bit_length() < atoms.MOST_BITS):
        return repr(key) if cls not in (str, bytes) or len(key) <= _MOST_KEY else None
    if cls is float and key == key and abs(key) != float("inf"):
        return repr(key)
    if cls is tuple and len(key) <= 20:
        parts = [literal(each) for each in key]
        if all(part is not None for part in parts):
            return f"({', '.join(part for part in parts if part is not None)}{',' if len(key) == 1 else ''})"
    return None


def _named(value: Any) -> Iterator[Child]:
    """Yield the fields of an object, and what else has a name: of functions, classes, modules, exceptions."""
    cls = type(value)
    if issubclass(cls, types.FunctionType):
        for number, (name, cell) in enumerate(zip(value.__code__.co_freevars, value.__closure__ or ())):
            try:
                yield Child(name, cell.cell_contents, f"{{}}.__closure__[{number}].cell_contents")
            except ValueError:  # still empty
                continue
    elif issubclass(cls, types.MethodType):
        yield Child("__self__", value.__self__, "{}.__self__")
    elif issubclass(cls, (type, types.ModuleType)):
        own = type.__dict__["__dict__"].__get__(value) if issubclass(cls, type) else facts.instance_dict(value) or {}
        yield from (_field(each, item) for each, item in frames.namespace_order(_public(own.items())))
        return
    elif issubclass(cls, BaseException):
        yield Child("args", atoms.arguments(value), "{}.args")
        for name in ("__cause__", "__context__"):
            linked = BaseException.__dict__[name].__get__(value)
            if linked is not None:
                yield Child(name, linked, f"{{}}.{name}")
    yield from (_field(name, item) for name, item in facts.fields(value))
    if facts.instance_dict(value) is not None or facts.is_heap_type(cls):
        yield from (Child(name, None, f"{{}}.{name}", "<property, not run>") for name in facts.properties(cls))


def _public(pairs: Iterable[Tuple[Any, Any]]) -> List[Tuple[str, Any]]:
    return [(name, item) for name, item in list(pairs) if type(name) is str and name[:2] != "__"]


def _field(name: str, value: Any) -> Child:
    if name.isidentifier() and name not in _KEYWORDS:
        return Child(name, value, f"{{}}.{name}")
    return Child(name, value, "{}.__dict__[" + repr(name).replace("{", "{{").replace("}", "}}") + "]")


# --- Answers ----------------------------------------------------------------------------------------------------------


class Question(NamedTuple):
    """What of a scope or a value is asked for."""

    start: int = 0
    most: int = 100
    depth: int = 1
    filter: str = ""
    names: Tuple[str, ...] = ()


def of_scope(pairs: List[Tuple[str, Any]], asked: Question, budget: Budget, renderer: Renderer) -> Json:
    """Return the variables of a scope for an answer."""
    chosen = [
        each
        for each in pairs
        if asked.filter.lower() in each[0].lower() and (not asked.names or each[0] in asked.names)
    ]
    found = [Child(name, value, name) for name, value in chosen[asked.start : asked.start + asked.most]]
    return _answer(found, len(chosen), "", asked, budget, renderer)


def of_value(value: Any, path: str, asked: Question, budget: Budget, renderer: Renderer) -> Json:
    """Return the children of a value for an answer, with the value itself."""
    if asked.filter or asked.names:
        everything, _ = children(value, 0, _MOST_SCANNED)
        wanted = [
            child
            for child in everything
            if asked.filter.lower() in child.name.lower() and (not asked.names or child.name in asked.names)
        ]
        found, total = wanted[asked.start : asked.start + asked.most], len(wanted)
    else:
        found, total = children(value, asked.start, asked.most)
    answer = frames.variable_json(path, value, None, renderer)
    answer.update(_answer(found, total, path, asked, budget, renderer))
    return answer


def _answer(found: List[Child], total: int, parent: str, asked: Question, budget: Budget, renderer: Renderer) -> Json:
    listed = []
    for child in found:
        if budget.spent():
            break
        listed.append(_child_json(child, parent, asked, budget, renderer))
    return {"variables": listed, "total": total}


def _child_json(child: Child, parent: str, asked: Question, budget: Budget, renderer: Renderer) -> Json:
    path = child.path.format(_operand(parent)) if parent else child.path
    if child.note and child.note != _KEY:
        entry: Json = {"name": child.name, "value": child.note, "path": path}
    else:
        entry = frames.variable_json(child.name, child.value, path, renderer)
    budget.take(40 + len(child.name) + len(path))
    if asked.depth > 1 and entry.get("size"):
        deeper = Question(0, asked.most, min(asked.depth, MOST_DEPTH) - 1)
        try:
            nested, total = children(child.value, 0, asked.most)
        except RuntimeError:
            return entry
        inside = _answer(nested, total, path, deeper, budget, renderer)
        entry["children"], entry["size"] = inside["variables"], inside["total"]
    return entry


def _operand(path: str) -> str:
    """Return a path as something that can be indexed and dotted."""
    simple = all(part.isidentifier() for part in path.replace("]", "").replace("[", ".").split("."))
    return path if simple or _is_chain(path) else f"({path})"


def _is_chain(path: str) -> bool:
    """Whether an expression is names, calls and indices only, so that brackets around it are not needed."""
    import ast

    try:
        node = ast.parse(path, mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.Set))
