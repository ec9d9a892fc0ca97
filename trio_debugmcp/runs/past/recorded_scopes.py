"""`RecordedScopes`: the code of a recorded process, and the scopes of the sources that it was made of."""

import ast
from functools import lru_cache
from itertools import islice

from trio_debugmcp.runs.files.process_record import START, ProcessRecord
from trio_debugmcp.runs.files.recorded_code import RecordedCode
from trio_debugmcp.runs.files.row_search import each, each_back
from trio_debugmcp.runs.source.source_reader import ScopedSource, read_source
from trio_debugmcp.runs.source.source_scopes import SourceScope
from trio_debugmcp.runs.source.statement_code import has_code

MOST_FRAMES = 300
"""Of a function whose frames are looked through: the last ones."""

_MOST_NAMES = 1_000
"""For which it is remembered which classes and frames they have."""


class RecordedScopes:
    """The scopes of one process."""

    def __init__(self, record: ProcessRecord) -> None:
        self._record = record
        self._sources: dict[int, ScopedSource | None] = {}
        self._scopes: dict[int, SourceScope | None] = {}
        self._frames: dict[int, list[int]] = {}
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
        """Whether a class of that name in recorded code has a property of that name: reading it calls that.

        A cached one is called once: what it returned stands in the instance from then on, and is what is read.
        """
        return any(
            scope.name.rpartition(".")[2] == name and any(map(_computes, getattr(scope.node, "decorator_list", ())))
            for kind in self.classes(class_name)
            for scope in kind.inner
        )

    def _classes(self, name: str) -> list[SourceScope]:
        """Return the classes of that name whose bodies ran."""
        scopes = [self.of_code(code) for code in self.named(name)]
        return [scope for scope in scopes if scope is not None and isinstance(scope.node, ast.ClassDef)]

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


def _computes(decorator: ast.expr) -> bool:
    """Whether a decorator makes a function one that is called by each read."""
    return not ast.unparse(decorator).rpartition(".")[2].endswith("cached_property")
