"""Variables of a scope, or what is inside a value, for an answer: any slice of them, several levels deep.

    of_value([7, 8], "xs", ListingQuestion(start=1), budget, renderer)   # total 2, [1] with value 8 and path xs[1]

First come all of a level, then what is inside of each, so that a large one leaves room for the names of the others.
"""

import _ast
from typing import Any, Dict, List, Tuple

from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.syntax import parsed
from trio_debugmcp.probe.inside.values import children
from trio_debugmcp.probe.inside.values.children import Child, is_written
from trio_debugmcp.probe.inside.values.parts import OUT_OF_TIME
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_DEPTH = 5

_MOST_FILTERED = 100000
"""Items of a value among which names are searched."""

_MOST_NAME = 100
"""Characters of a dict's key, as the name of an item."""


# --- Evaluation -------------------------------------------------------------------------------------------------------


def evaluate(expression: str, frame: Any, budget: Budget) -> Any:
    """Evaluate an expression in a frame, or without one in the main module. Code of the program runs within bounds.

    Raises:
        BaseException: what the expression raised; TooSlowError where it took too long.
    """
    # One dictionary for all names: comprehensions do not see separate locals.
    names: Dict[str, Any] = dict(frame.f_globals if frame is not None else visible_frames.main_globals())
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


# --- Answers ----------------------------------------------------------------------------------------------------------


class ListingQuestion:
    """What of a scope or a value is asked for."""

    __slots__ = ("depth", "filter", "most", "names", "start")

    def __init__(
        self, start: int = 0, most: int = 100, depth: int = 1, filter_: str = "", names: Tuple[str, ...] = ()
    ) -> None:
        self.start = start
        self.most = most
        self.depth = depth
        self.filter = filter_
        self.names = names


def scope_pairs(frame: Any, scope: str) -> List[Tuple[str, Any, str]]:
    """The variables of a frame's scope: name, value and path. `scope`: locals, arguments, globals, or all."""
    locals_ = visible_frames.local_names(frame) if scope != "globals" else []
    if scope == "arguments":
        code = frame.f_code
        most = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        locals_ = [local for local in locals_ if local[0] in code.co_varnames[:most]]
    found = [(name, value, _path_of(name)) for name, value in locals_]
    if scope == "globals" or (scope == "all" and frame.f_locals is not frame.f_globals):
        hidden = frozenset(frame.f_locals if frame.f_locals is not frame.f_globals else ())
        named = visible_frames.global_names(frame)
        found += [(name, value, children.NO_PATH if name in hidden else _path_of(name)) for name, value in named]
    return found


def _path_of(name: str) -> str:
    return name if is_written(name) else children.NO_PATH


def of_scope(pairs: List[Tuple[str, Any, str]], asked: ListingQuestion, budget: Budget, renderer: Renderer) -> Json:
    """Return the variables of a scope for an answer."""
    found = [Child(*pair) for pair in pairs if _is_wanted(pair[0], asked)]
    page = found[asked.start : asked.start + asked.most]
    answer = _answer(page, len(found), "", asked, budget, renderer)
    known: Dict[int, str] = {}
    for child, entry in zip(page, answer["variables"]):
        if not child.note and entry.get("path", entry["name"]) == entry["name"]:
            visible_frames.note_same(entry, child.value, known)
    return answer


def of_value(value: Any, path: str, asked: ListingQuestion, budget: Budget, renderer: Renderer) -> Json:
    """Return the children of a value for an answer, with the value itself.

    Raises:
        ValueError: names are searched among too many, or among keys whose text takes too long.
    """
    if asked.filter or asked.names:
        everything, total = children.children(value, 0, _MOST_FILTERED)
        if total > _MOST_FILTERED:
            raise ValueError(f"names are searched among {_MOST_FILTERED} items at most; use start and count")
        wanted = _search(everything, path, asked, budget, renderer)
        found, total = wanted[asked.start : asked.start + asked.most], len(wanted)
    else:
        found, total = children.children(value, asked.start, asked.most)
    answer = visible_frames.variable_json(path, value, None, renderer)
    answer.update(_answer(found, total, path, asked, budget, renderer))
    return answer


def _is_wanted(name: str, asked: ListingQuestion, path: str = children.NO_PATH) -> bool:
    """Whether a child is asked for by its name, or by its path, which answers have for a name where it tells more."""
    return asked.filter.lower() in name.lower() and (not asked.names or name in asked.names or path in asked.names)


def _search(
    everything: List[Child], parent: str, asked: ListingQuestion, budget: Budget, renderer: Renderer
) -> List[Child]:
    """The children of these names, and those whose names cannot be said without code of the program."""
    wanted = []
    for child in everything:
        size = budget.size
        name, withheld = shown_name(child, renderer)
        budget.size = size  # most are not shown
        if child.keyed and OUT_OF_TIME in name:
            raise ValueError("to search the keys takes too long; use start and count")
        if withheld or _is_wanted(name, asked, path_in(child, parent)):
            wanted.append(child if withheld else Child(name, child.value, child.path, child.note, key=child.key))
    return wanted


def _answer(
    found: List[Child], total: int, parent: str, asked: ListingQuestion, budget: Budget, renderer: Renderer
) -> Json:
    """First all of a level, then what is inside of each: a large one leaves room for the others' names."""
    listed = []
    for child in found:
        if budget.spent():
            break
        listed.append(child_json(child, parent, budget, renderer))
    if asked.depth > 1:
        deeper = ListingQuestion(0, asked.most, min(asked.depth, MOST_DEPTH) - 1)
        for child, entry in zip(found, listed):
            if budget.spent():
                break
            _add_children(child, entry, deeper, budget, renderer)
    return {"variables": listed, "total": total}


def _add_children(child: Child, entry: Json, asked: ListingQuestion, budget: Budget, renderer: Renderer) -> None:
    path = entry.get("path", child.name)
    if not entry.get("size") or path == children.NO_PATH:
        return
    try:
        nested, total = children.children(child.value, 0, asked.most)
    except RuntimeError:
        return
    inside = _answer(nested, total, path, asked, budget, renderer)
    entry["children"], entry["size"] = inside["variables"], inside["total"]


def child_json(child: Child, parent: str, budget: Budget, renderer: Renderer) -> Json:
    """Return a child for an answer, with its value; `parent` is the path to what it is inside of."""
    entry = named_json(child, parent, budget, renderer)
    if not child.note:
        entry = {**entry, **visible_frames.variable_json(entry["name"], child.value, None, renderer)}
    if entry["path"] == entry["name"]:
        del entry["path"]
    return entry


def named_json(child: Child, parent: str, budget: Budget, renderer: Renderer) -> Json:
    """Return the name of a child and its path, without its value unless there is a note in the place of that."""
    path = path_in(child, parent)
    name, withheld = shown_name(child, renderer)
    entry: Json = {"name": name, "value": child.note, "path": path}
    if withheld:
        entry["nameWithheld"] = True
    budget.take(40 + len(name) + len(path))
    return entry


def path_in(child: Child, parent: str) -> str:
    """Return the path of a child of what a path leads to."""
    return child.path.format(_operand(parent)) if parent else child.path


def shown_name(child: Child, renderer: Renderer) -> Tuple[str, bool]:
    """The name of a child as it is shown, and whether that lacks what only code of the program knows."""
    if not child.keyed:
        return child.name, False
    text = renderer.render(child.key)
    return f"[{text[:_MOST_NAME]}]", renderer.withheld


def _operand(path: str) -> str:
    """Return a path as something that can be indexed and dotted."""
    simple = all(part.isidentifier() for part in path.replace("]", "").replace("[", ".").split("."))
    return path if simple or _is_chain(path) else f"({path})"


def _is_chain(path: str) -> bool:
    """Whether an expression is names, calls and indices only, so that brackets around it are not needed."""
    try:
        node = parsed(path)
    except (SyntaxError, ValueError):
        return False
    return isinstance(node, (_ast.Name, _ast.Attribute, _ast.Subscript, _ast.Call, _ast.List, _ast.Dict, _ast.Set))
