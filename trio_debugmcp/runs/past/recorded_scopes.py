"""`RecordedScopes`: the code of a recorded process, and the scopes of the sources that it was made of."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from trio_debugmcp.runs.files.process_record import START, ProcessRecord
from trio_debugmcp.runs.files.recorded_code import RecordedCode
from trio_debugmcp.runs.files.row_search import each, each_back
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of
from trio_debugmcp.runs.source.source_reader import ScopedSource, read_source
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement
from trio_debugmcp.runs.source.statement_code import has_code
from trio_debugmcp.runs.source.statement_trees import targets_of

MOST_FRAMES = 300
"""Of a function whose frames are looked through: the last ones."""

_UPDATES = (r"setattr(?<!\wsetattr)\b", r"__dict__(?<!\w__dict__)\b", r"vars(?<!\wvars)\b")
"""Each begins with plain characters, also those below: `re` is many times quicker then, as it leaps to these."""

_STORES = r"{}\s*(?:[-+*/%@&|^<>]*=(?!=)|[,:)\]#\\]|in\b|$)"
"""What is behind an attribute that is set: in most files there is no such place, and these need not be parsed."""

_MOST_NAMES = 1_000
"""For which the places in the sources are remembered."""


class RecordedScopes:
    """The scopes of one process: each method is one question to all of its code, hence so many."""

    def __init__(self, record: ProcessRecord) -> None:
        self._record = record
        self._sources: dict[int, ScopedSource | None] = {}
        self._scopes: dict[int, SourceScope | None] = {}
        self._frames: dict[int, list[int]] = {}
        self._mentioning = lru_cache(_MOST_NAMES)(self._scopes_mentioning)
        self.storing = lru_cache(_MOST_NAMES)(self._storing)
        self.attribute_updates = lru_cache(1)(self._attribute_updates)
        self.entering = lru_cache(_MOST_NAMES)(self._entering)
        self.classes = lru_cache(_MOST_NAMES)(self._classes)
        self.frames_of = lru_cache(_MOST_NAMES)(self._frames_of)

    def codes(self) -> list[int]:
        """Return the numbers of the code objects that ran."""
        return [code.number for code in self._record.codes]

    def of_code(self, code: int) -> SourceScope | None:
        """Return the scope that a code object was made of."""
        if code not in self._scopes:
            recorded = self._record.code(code)
            source = self._source(code, recorded)
            self._scopes[code] = None if source is None else source.scope(recorded.name, recorded.first)
        return self._scopes[code]

    def _source(self, code: int, recorded: RecordedCode) -> ScopedSource | None:
        number = recorded.source
        if number is None or recorded.is_of_library:  # nothing of what the program's author wrote
            return None
        if number not in self._sources:
            text = self._record.source(code)
            self._sources[number] = None if text is None else read_source(text)
        return self._sources[number]

    def at(self, file: str, line: int) -> SourceScope | None:
        """Return the innermost scope of a file whose source has a line, by the end of a path."""
        found, module = None, self.module_of(file)
        for scope in [module, *module.all_inner()] if module is not None else []:
            is_inside = scope.parent is None or any(s.first <= line <= s.last for s in scope.statements)
            if is_inside and (found is None or scope.parent is not None):
                found = scope
        return found

    def module_of(self, file: str) -> SourceScope | None:
        """Return the source of a file, by the end of its path."""
        scopes = (self.of_code(code) for code in self.codes() if self._record.code(code).file.endswith(file))
        return next((scope.module for scope in scopes if scope is not None), None)

    def without_code(self, file: str, line: int) -> str | None:
        """Return what is to be said of a line that never runs, as there is no code in it; None: there is, or may be."""
        module, name = self.module_of(file), file.rpartition("/")[2]
        if module is None:
            return None
        if line > len(module.lines):
            return f"{name} had {len(module.lines)} lines when it ran, and no line {line}"
        firsts = []
        for scope in (module, *module.all_inner()):
            statements = [statement for statement in scope.statements if has_code(statement)]
            if any(statement.first <= line <= statement.last for statement in statements):
                return None
            firsts += [statement.first for statement in statements if scope.is_named]
        following = min((first for first in firsts if first > line), default=max(firsts, default=0))
        nearest = f"; the nearest line with code is {following}" if following else ""
        return f"{name}:{line} has no code, so it never runs{nearest}"

    def first_frame(self, name: str, after: int) -> int:
        """Return the first frame of code of that qualified name that began after a row; 0: none."""
        codes = [code.number for code in self._record.codes if code.name == name]
        rows = [next(each(self._record, START, code, after), 0) for code in codes]
        first = min([row for row in rows if row], default=0)
        return self._record.row(first).subject if first else 0

    def named(self, name: str) -> list[int]:
        """Return the numbers of the code objects of functions and classes of that name, in whatever scope."""
        return [code.number for code in self._record.codes if code.name.rpartition(".")[2] == name]

    def has_property(self, class_name: str, name: str) -> bool:
        """Whether a class of that name in recorded code has a property of that name: reading it calls that."""
        return any(
            scope.name.rpartition(".")[2] == name and bool(getattr(scope.node, "decorator_list", ()))
            for kind in self.classes(class_name)
            for scope in kind.inner
        )

    def _classes(self, name: str) -> list[SourceScope]:
        """Return the classes of that name whose bodies ran."""
        scopes = [self.of_code(code) for code in self.named(name)]
        return [scope for scope in scopes if scope is not None and isinstance(scope.node, ast.ClassDef)]

    def _scopes_mentioning(self, *words: str) -> list[SourceScope]:
        """Return the scopes in which one of some regular expressions is found; files without are not parsed."""
        patterns = [re.compile(word, re.MULTILINE) for word in words]
        lines: dict[int | None, list[int]] = {None: []}
        scopes = []
        for code in self._record.codes:
            if code.source not in lines:
                lines[code.source] = _lines_with(self._record.source(code.number) or "", patterns)
            found = lines[code.source]
            scope = self.of_code(code.number) if found and any(map(code.may_have, found)) else None
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

    def frames(self, scopes: list[SourceScope]) -> list[int]:
        """Return the frames of scopes, at most some hundred of each: the last ones."""
        return [frame for scope in scopes for frame in self.frames_of(scope)]

    def codes_of(self, scope: SourceScope) -> list[int]:
        """Return the numbers of the code objects that were made of a scope: mostly one."""
        codes = [code.number for code in self._record.codes if code.name == scope.name]
        return [code for code in codes if self.of_code(code) is scope]

    def _frames_of(self, scope: SourceScope) -> list[int]:
        return [frame for code in self.codes_of(scope) for frame in self._last_frames(code)]

    def _last_frames(self, code: int) -> list[int]:
        """Return the last frames of a code object, in the order in which they began. Kept: it is asked often."""
        if code not in self._frames:
            starts = islice(each_back(self._record, START, code, self._record.last + 1), MOST_FRAMES)
            self._frames[code] = [self._record.row(start).subject for start in starts][::-1]
        return self._frames[code]


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
