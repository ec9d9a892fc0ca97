"""`SourceMentions`: where the sources of a recorded process call, store, enter and pass on what has some name.

    for statement, path, call in past.mentions.method_calls({"cart"}):     # `cart.add(3)`, `self.cart.clear()`

A file in whose text a name does not stand is not parsed for it.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.recorded_scopes import RecordedScopes
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement
from trio_debugmcp.runs.source.statement_trees import targets_of

_UPDATES = (r"setattr(?<!\wsetattr)\b", r"__dict__(?<!\w__dict__)\b", r"vars(?<!\wvars)\b")
"""Each begins with plain characters, also those below: `re` is many times quicker then, as it leaps to these."""

_STORES = r"{}\s*(?:[-+*/%@&|^<>]*=(?!=)|[,:)\]#\\]|in\b|$)"
"""What is behind an attribute that is set: in most files there is no such place, and these need not be parsed."""

_MOST_NAMES = 1_000
"""For which the places in the sources are remembered."""


class SourceMentions:
    """The places in the code that ran in one process."""

    def __init__(self, record: ProcessRecord, scopes: RecordedScopes) -> None:
        self._record, self._scopes = record, scopes
        self._mentioning = lru_cache(_MOST_NAMES)(self._scopes_mentioning)
        self.storing = lru_cache(_MOST_NAMES)(self._storing)
        self.attribute_updates = lru_cache(1)(self._attribute_updates)
        self.entering = lru_cache(_MOST_NAMES)(self._entering)

    def _scopes_mentioning(self, *words: str) -> list[SourceScope]:
        """Return the scopes in which one of some regular expressions is found; files without are not parsed."""
        patterns = [re.compile(word, re.MULTILINE) for word in words]
        lines: dict[int | None, list[int]] = {None: []}
        scopes = []
        for code in self._record.codes:
            if code.source not in lines:
                lines[code.source] = _lines_with(self._record.source(code.number) or "", patterns)
            found = lines[code.source]
            scope = self._scopes.of_code(code.number) if found and any(map(code.may_have, found)) else None
            if scope is not None:
                scopes.append(scope)
        return scopes

    def binding(self, name: str) -> list[SourceScope]:
        """Return the functions, classes and generator expressions that have a variable of a name of their own."""
        scopes = dict.fromkeys(self._mentioning(rf"{re.escape(name)}(?<!\w{re.escape(name)})\b"))
        return [scope for scope in scopes if scope.parent is not None and name in scope.bound]

    def method_calls(self, names: set[str]) -> Iterator[tuple[Statement, ValuePath, ast.Call]]:
        """Yield the statements that call a method of what is a path that ends with such a name, with path and call."""
        for scope in self._mentioning(*_any_of(names)):
            for statement in scope.statements:
                for call in statement.calls:
                    path = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
                    last = path.steps[-1] if path is not None and path.steps else ""
                    is_item = not isinstance(last, str) or last[:1] == "["
                    if path is None or not (is_item or (last[1:] or path.name) in names):
                        continue
                    if isinstance(call.func, ast.Attribute):
                        yield statement, path, call

    def calls_with(self, names: set[str]) -> Iterator[tuple[Statement, ValuePath, ast.Call]]:
        """Yield the statements that pass to a call what is a path that ends with such a name, with path and call."""
        for scope in self._mentioning(*(rf"{re.escape(name)}\b" for name in sorted(names) if name[0] != "[")):
            for statement in scope.statements:
                for call in statement.calls:
                    paths = [path_of(argument) for argument in (*call.args, *(word.value for word in call.keywords))]
                    for path in paths:
                        if path is not None and (str(path.steps[-1])[1:] if path.steps else path.name) in names:
                            yield statement, path, call

    def _entering(self, names: frozenset[str]) -> list[tuple[Statement, ValuePath]]:
        """Return the `with` statements that enter what is a path that ends with such a name, with that."""
        statements = (each for scope in self._mentioning(r"\bwith\b") for each in scope.statements)
        entered = [
            (each, path_of(item.context_expr))
            for each in statements
            if isinstance(each.node, ast.With | ast.AsyncWith)
            for item in each.node.items
        ]
        return [
            (each, path)
            for each, path in entered
            if path is not None and (str(path.steps[-1])[1:] if path.steps else path.name) in names
        ]

    def calling(self, name: str) -> Iterator[tuple[Statement, ast.Call]]:
        """Yield the statements that call a function or method of that name, of whatever object, with the call."""
        for scope in self._mentioning(rf"\b{re.escape(name)}\s*\("):
            for statement in scope.statements:
                for call in statement.calls:
                    if name in (getattr(call.func, "id", ""), getattr(call.func, "attr", "")):
                        yield statement, call

    def item_stores(self, names: set[str]) -> Iterator[tuple[Statement, ValuePath]]:
        """Yield the statements that set or delete items or slices of what is a path that ends with such a name."""
        for scope in self._mentioning(*_any_of(names)):
            for statement in scope.statements:
                for target in targets_of(statement.node):
                    path = path_of(target.value) if isinstance(target, ast.Subscript) else None
                    last = path.steps[-1] if path is not None and path.steps else ""
                    if path is not None and (str(last)[1:] or path.name) in names:
                        yield statement, path

    def _storing(self, label: str) -> list[Statement]:
        """Return the statements of all recorded code that set an attribute of that name."""
        statements = [
            statement for scope in self._mentioning(_STORES.format(re.escape(label))) for statement in scope.statements
        ]
        return [each for each in statements if any(path.steps[-1] == label for path in each.stores)]

    def _attribute_updates(self) -> list[tuple[Statement, ValuePath | None, ast.expr]]:
        """Return the statements that set attributes whose names are not written there, with object and names."""
        return list(self._updates())

    def _updates(self) -> Iterator[tuple[Statement, ValuePath | None, ast.expr]]:
        for scope in self._mentioning(*_UPDATES):
            for statement in scope.statements:
                for call in statement.calls:
                    is_setattr = getattr(call.func, "id", "") == "setattr" and len(call.args) == 3
                    if is_setattr and not isinstance(call.args[1], ast.Constant):
                        yield statement, path_of(call.args[0]), call.args[1]
                    elif len(call.args) == 1 and (target := _updated(call)) is not None:
                        yield statement, path_of(target), call.args[0]


def _lines_with(text: str, patterns: list[re.Pattern[str]]) -> list[int]:
    """Return the lines in which one of some patterns begins."""
    places = sorted({match.start() for pattern in patterns for match in pattern.finditer(text)})
    lines, line, last = list[int](), 1, 0
    for place in places:
        line, last = line + text.count("\n", last, place), place
        lines.append(line)
    return lines


def _any_of(names: set[str]) -> list[str]:
    """Return what is in files that call methods of an object with these names; of an item: behind a bracket."""
    words = [re.escape(name) for name in sorted(names) if name[0] != "["]
    ways = [rf"{word}(?<!\w{word})\s*[.\[]" for word in words]
    return [*ways, r"\]\s*\."] if any(name[0] == "[" for name in names) else ways


def _updated(call: ast.Call) -> ast.expr | None:
    """Return the object whose attributes `vars(OBJECT).update(…)` or `OBJECT.__dict__.update(…)` sets."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "update":
        return None
    target = call.func.value
    if isinstance(target, ast.Call) and getattr(target.func, "id", "") == "vars" and target.args:
        return target.args[0]
    return target.value if isinstance(target, ast.Attribute) and target.attr == "__dict__" else None
