"""`RecordedScopes`: the code of a recorded process, and the scopes of the sources that it was made of."""

import ast
from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.runs.process_record import START, ProcessRecord, RecordedCode
from trio_debugmcp.runs.read_paths import ValuePath, path_of
from trio_debugmcp.runs.row_search import each, each_back
from trio_debugmcp.runs.source_reader import ScopedSource, read_source
from trio_debugmcp.runs.source_scopes import SourceScope, Statement

MOST_FRAMES = 300
"""Of a function whose frames are looked through: the last ones."""


class RecordedScopes:
    """The scopes of one process."""

    def __init__(self, record: ProcessRecord) -> None:
        self._record = record
        self._sources: dict[int, ScopedSource | None] = {}
        self._scopes: dict[int, SourceScope | None] = {}
        self._frames: dict[int, list[int]] = {}

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
        if number is None:
            return None
        if number not in self._sources:
            text = self._record.source(code)
            self._sources[number] = None if text is None else read_source(text)
        return self._sources[number]

    def at(self, file: str, line: int) -> SourceScope | None:
        """Return the innermost scope of a file whose source has a line, by the end of a path."""
        found: SourceScope | None = None
        for code in self.codes():
            if not self._record.code(code).file.endswith(file) or (first := self.of_code(code)) is None:
                continue
            for scope in [first.module, *first.module.all_inner()]:
                is_inside = scope.parent is None or any(s.first <= line <= s.last for s in scope.statements)
                if is_inside and (found is None or scope.parent is not None):
                    found = scope
            break
        return found

    def first_frame(self, name: str, after: int) -> int:
        """Return the first frame of code of that qualified name that began after a row; 0: none."""
        codes = [code.number for code in self._record.codes if code.name == name]
        rows = [next(each(self._record, START, code, after), 0) for code in codes]
        first = min([row for row in rows if row], default=0)
        return self._record.row(first).subject if first else 0

    def classes(self, name: str) -> list[SourceScope]:
        """Return the classes of that name whose bodies ran."""
        scopes = [self.of_code(code) for code in self.codes()]
        named = [scope for scope in scopes if scope is not None and scope.name.rpartition(".")[2] == name]
        return [scope for scope in named if isinstance(scope.node, ast.ClassDef)]

    def method_calls(self) -> Iterator[tuple[Statement, ValuePath, ast.Call]]:
        """Yield the statements that call a method of what is a path, with path and call."""
        for code in self.codes():
            scope = self.of_code(code)
            for statement in scope.statements if scope is not None else ():
                for call in statement.calls:
                    path = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
                    if path is not None and isinstance(call.func, ast.Attribute):
                        yield statement, path, call

    def storing(self, label: str) -> Iterator[Statement]:
        """Yield the statements of all recorded code that set an attribute of that name."""
        for code in self.codes():
            scope = self.of_code(code)
            for statement in scope.statements if scope is not None else ():
                if any(path.steps[-1] == label for path in statement.stores):
                    yield statement

    def attribute_updates(self) -> Iterator[tuple[Statement, ValuePath | None, ast.expr]]:
        """Yield the statements that set attributes whose names are not written there, with object and names."""
        for code in self.codes():
            scope = self.of_code(code)
            for statement in scope.statements if scope is not None else ():
                for call in statement.calls:
                    is_setattr = getattr(call.func, "id", "") == "setattr" and len(call.args) == 3
                    if is_setattr and not isinstance(call.args[1], ast.Constant):
                        yield statement, path_of(call.args[0]), call.args[1]
                    elif len(call.args) == 1 and (target := _updated(call)) is not None:
                        yield statement, path_of(target), call.args[0]

    def frames(self, scopes: list[SourceScope]) -> list[int]:
        """Return the frames of scopes, at most some hundred of each: the last ones."""
        codes = [code for code in self.codes() if self.of_code(code) in scopes]
        return [frame for code in codes for frame in self._last_frames(code)]

    def _last_frames(self, code: int) -> list[int]:
        """Return the last frames of a code object, in the order in which they began. Kept: it is asked often."""
        if code not in self._frames:
            starts = islice(each_back(self._record, START, code, self._record.last + 1), MOST_FRAMES)
            self._frames[code] = [self._record.row(start).subject for start in starts][::-1]
        return self._frames[code]


def _updated(call: ast.Call) -> ast.expr | None:
    """Return the object whose attributes `vars(OBJECT).update(…)` or `OBJECT.__dict__.update(…)` sets."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "update":
        return None
    target = call.func.value
    if isinstance(target, ast.Call) and getattr(target.func, "id", "") == "vars" and target.args:
        return target.args[0]
    return target.value if isinstance(target, ast.Attribute) and target.attr == "__dict__" else None
