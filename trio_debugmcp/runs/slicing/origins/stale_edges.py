"""What was made before, and is out of date: copies, what was computed once and kept, answers from a cache."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord, Row
from trio_debugmcp.runs.files.row_search import each, each_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, argument, called
from trio_debugmcp.runs.past.recorded_values import CONTENT, FIELDS, RecordedValue, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath, path_of
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement

_MOST_LINES = 200
"""Of a computation whose reads are looked at."""

_MOST_STALE = 3

_MOST_INNER = 20
"""Of a container that was read, the items whose changes are looked for, too."""

_MOST_SAME = 20
"""Writes of the value that an attribute has already, behind which another one is looked for."""

_ASKING = ("get", "setdefault", "__getitem__")

_KEEPING = ("cache", "memo")


class StaleEdges:
    """The edges to later changes of what values were made of, in one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_statement(self, execution: StatementExecution, asked: int) -> Iterator[SliceEdge]:
        """Yield what has changed, before row `asked`, since what a statement copied or took from a cache was made."""
        yield from self._of_copy(execution, asked)
        for read in execution.statement.reads:
            yield from self._of_import(execution, read)
            target = self._past.values.read(execution, read) if read.target_of is not None else None
            if target is not None:
                yield from self._of_cached(execution, read, target)
            if read.is_callee:
                yield from self._of_cached(execution, read)
            elif (asked_for := asked_for_by(read)) is not None:
                value = self._past.values.value(execution, asked_for)
                if value is not None and value.kind == rows.FIELD:
                    yield from self._of_kept(execution, value)
            elif read.path.steps:
                value = self._past.values.read(execution, read)
                if value is not None and value.kind == rows.FIELD:
                    yield from self._of_kept(execution, value)
                for path in _attributes_on_the_way(read.path):  # of properties that keep their values, perhaps
                    yield from self._of_cached(execution, read._replace(path=path))

    def _of_copy(self, execution: StatementExecution, asked: int) -> Iterator[SliceEdge]:
        """Yield the later write of what a statement has copied."""
        path = execution.statement.copied
        if path is None or not path.steps or not isinstance(execution.statement.node, ast.Assign | ast.AnnAssign):
            return
        value = self._past.values.value(execution, path)
        holder = self._past.values.value(execution, path.holder)
        if value is None or holder is None or not holder.object:
            return
        later = self._record.forth(rows.FIELD, self._record.row(value.row).key, holder.object, execution.row)
        if later and later < asked and (owner := self._record.row(later).owner):
            yield SliceEdge(cost.ABSENCE, SliceNode(owner), f"changed since #{execution.row}")

    def _of_import(self, execution: StatementExecution, read: PathRead) -> Iterator[SliceEdge]:
        """Yield the later write of what a module has imported by its name, which so has the value of then."""
        if execution.scope.home(read.path.name) is not None:
            return
        value = self._past.values.name(execution, read.path.name, execution.row)
        made = self._past.executions.at(value.owner) if value is not None and value.owner else None
        node = made.statement.node if made is not None else None
        if value is None or made is None or not isinstance(node, ast.ImportFrom) or not node.module:
            return
        names = [alias.name for alias in node.names if (alias.asname or alias.name) == read.path.name]
        key = self._record.key_of(f".{names[0]}") if len(names) == 1 else 0
        ended = self._past.executions.ended(made.row)  # what a module wrote as its import ran it is older
        for module in self._modules(node) if key else ():
            later = _other_since(self._record, ended, key, module, value)
            owner = self._record.row(later).owner if 0 < later < execution.row else 0
            if owner:
                note = f"{names[0]} is that of then: #{owner} changes it there"
                yield SliceEdge(cost.STALE, SliceNode(made.row), note)
                yield SliceEdge(cost.STALE, SliceNode(owner), f"changed since #{made.row} imported it")

    def _modules(self, node: ast.ImportFrom) -> list[int]:
        """Return the recorded modules that an import names; of a relative one all that end so, if it is one."""
        name = node.module or ""
        named = {
            code.globals
            for code in self._record.codes
            if code.kind == "module" and (code.module == name or (node.level and code.module.endswith(f".{name}")))
        }
        return [*named] if len(named) == 1 else []

    # --- Computed once ------------------------------------------------------------------------------------------------

    def _of_kept(self, execution: StatementExecution, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield later changes of what a kept value was computed from: by calls, or once for all, in an earlier call."""
        made = self._past.executions.at(value.owner) if value.owner else None
        if made is None or made.frame == execution.frame:
            return
        if not self._past.executions.calls(made.row) and not _is_computed_once(made.statement):
            return
        ended = self._past.executions.ended(made.row)
        if ended < execution.row:
            own = self._record.row(value.row).subject
            yield from self._changes_since(made.row, ended, execution.row, made.row, (value.object, own))

    def _changes_since(
        self, begin: int, end: int, before: int, line: int, kept: tuple[int, int] = (0, 0)
    ) -> Iterator[SliceEdge]:
        """Yield what has changed, between a computation and a row, of what it has read.

        `line` is the one to name; `kept`: the objects that it came to, and in which that is kept. What it has changed
        itself, a balance that continues, is not what it was computed from.
        """
        found: list[int] = []
        objects, places = self._read(begin, end)
        if kept[0] and kept[0] in objects:  # it has passed on what it read, and made nothing of that
            return
        inputs = [target for target in objects if target not in kept and not self._has_changed(target, begin, end)]
        changes = [self._record.forth_of(CONTENT, target, end) for target in inputs]
        for key, subject in places:
            is_input = subject not in kept and self._record.back(rows.FIELD, key, subject, end) < begin
            kinds = (rows.FIELD, rows.GAP) if is_input else ()
            changes += [self._record.forth(kind, key, subject, end) for kind in kinds]
        for changed in changes:
            owner = self._record.row(changed).owner if changed and changed < before else 0
            execution = self._past.executions.at(owner) if owner else None
            if execution is None or owner in found or len(found) >= _MOST_STALE:
                continue
            found.append(owner)
            note = f"changed since #{line} was computed from it"
            yield SliceEdge(cost.STALE, SliceNode(owner), note)
            caller = self._past.executions.caller(execution.frame)
            if caller is not None and caller.scope.is_function:
                yield SliceEdge(cost.STALE + cost.RESULT, SliceNode(caller.row, aim="run"), note)

    def _has_changed(self, target: int, begin: int, end: int) -> bool:
        """Whether the content of an object was changed between two rows, after its making."""
        return self._record.back_of(CONTENT, target, end) >= begin

    def _read(self, begin: int, end: int) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the objects that a computation has read, and the attributes and items: key and object.

        Of an object whose attributes it has read these are its input, not the object with all that it has.
        """
        targets: dict[int, None] = {}
        holders: set[int] = set()
        places: dict[tuple[int, int], None] = {}
        lines = 0
        for number in range(begin, end):
            execution = self._past.executions.at(number)
            if execution is None:
                continue
            lines += 1
            if lines > _MOST_LINES:
                break
            for read in execution.statement.reads:
                value = self._past.values.read(execution, read) if not read.is_callee else None
                if value is not None and value.object:
                    targets.setdefault(value.object)
                if value is not None and value.kind in FIELDS and read.path.steps:
                    row = self._record.row(value.row)
                    places.setdefault((row.key, row.subject))
                for path in _attributes_on_the_way(read.path) if not read.is_callee else ():
                    holder = self._past.values.value(execution, path.holder)
                    if holder is not None and holder.object:
                        holders.add(holder.object)
                        key = self._record.key_of(
                            str(path.steps[-1])
                        )  # also of the class, and written in the object later
                        places.update({(key, holder.object): None} if key else {})
        targets = {target: None for target in targets if target not in holders}
        inner = [item for target in targets for item in self._past.values.items(target, end)[:_MOST_INNER]]
        return list(dict.fromkeys([*targets, *inner])), list(places)

    # --- From a cache -------------------------------------------------------------------------------------------------

    def _of_cached(
        self, execution: StatementExecution, read: PathRead, target: RecordedValue | None = None
    ) -> Iterator[SliceEdge]:
        """Yield the run of a function that made a value, where a call of it made no frame.

        `target`: the object of which it is a method, or the module that has it.
        """
        call = read.target_of if target is not None else None
        name = called(call) if call is not None else str(read.path).rpartition(".")[2]
        own = self._past.values.value(execution, read.path.holder) if call is None and not read.is_callee else None
        written = self._answers_written(execution, read, call)
        ended = self._past.executions.over(execution)
        for code in self._past.scopes.named(name):
            scope = self._past.scopes.of_code(code)
            if scope is None or not _is_cached(scope.node) or (target is not None and not self._has(target, scope)):
                continue
            if (
                next(each(self._record, rows.START, code, execution.row), ended) < ended
            ):  # what keeps its results called it
                return
            for start in each_back(self._record, rows.START, code, execution.row):
                ending = self._past.executions.outcome(start)
                is_same = ending is not None and (not written or self._same(ending, written[0]))
                is_of_own = call is not None or read.is_callee or self._is_of(start, own)
                is_answer = is_same and is_of_own and self._may_answer(start, execution)
                if ending is not None and ending.kind == rows.RETURN and is_answer:
                    yield SliceEdge(
                        cost.RESULT, SliceNode(ending.owner), f"{name} is cached and did not run for #{execution.row}"
                    )
                    yield from self._changes_since(start, ending.number, execution.row, ending.owner)
                    return

    def _answers_written(self, execution: StatementExecution, read: PathRead, call: ast.Call | None) -> list[Row]:
        """Return what a statement wrote, if it is the answer itself: `x = rate(land)`, not `x = 2 * rate(land)`."""
        value = getattr(execution.statement.node, "value", None)
        made = value.func if read.is_callee and isinstance(value, ast.Call) else value
        is_answer = value is call if call is not None else isinstance(made, ast.expr) and path_of(made) == read.path
        if not is_answer:
            return []
        return [effect for effect in self._past.executions.effects(execution.row) if effect.kind == rows.WRITE]

    def _has(self, target: RecordedValue, scope: SourceScope) -> bool:
        """Whether a function is a method of an object's class, as that or a base of it has it, or of a module."""
        if scope.parent is None or not isinstance(scope.parent.node, ast.ClassDef):
            return target.text.startswith("<module ")
        names, known = [type_name(target.text)], set[str]()
        while names:
            name = names.pop()
            if name == scope.parent.name.rpartition(".")[2]:
                return True
            if name not in known:
                known.add(name)
                names += [base.rpartition(".")[2] for each in self._past.scopes.classes(name) for base in each.bases]
        return False

    def _is_of(self, start: int, own: RecordedValue | None) -> bool:
        """Whether a call was that of the property of an object."""
        row = self._record.row(start)
        names = self._record.code(row.key).params
        had = self._past.values.parameter(row, names[0]) if names else None
        return own is not None and had is not None and bool(own.object) and own.object == had.object

    def _may_answer(self, start: int, execution: StatementExecution) -> bool:
        """Whether an earlier call has got what a call in a statement gives, as far as that is known."""
        row = self._record.row(start)
        for name in self._record.code(row.key).params:
            given, had = argument(self._past, execution, row, name), self._past.values.parameter(row, name)
            if given is None or len(given) != 1 or had is None:
                continue
            path = path_of(given[0])
            value = self._past.values.value(execution, path) if path is not None else None
            text = repr(given[0].value) if isinstance(given[0], ast.Constant) else value.text if value else had.text
            is_another = value is not None and text[:1] == "<" and value.object != had.object
            if text != had.text or is_another:
                return False
        return True

    def _same(self, one: Row, other: Row) -> bool:
        return one.object == other.object and self._record.text(one) == self._record.text(other)


def _attributes_on_the_way(path: ValuePath) -> list[ValuePath]:
    """Return the attributes that are read on the way to a value: of `cart.sums["tea"]` `cart.sums`."""
    places = [place for place, step in enumerate(path.steps, 1) if isinstance(step, str) and step[:1] == "."]
    return [ValuePath(path.name, path.steps[:place]) for place in places]


def is_asking(call: ast.Call) -> bool:
    """Whether a call asks a container for the item of a key."""
    return called(call) in _ASKING and bool(call.args)


def asked_for_by(read: PathRead) -> ValuePath | None:
    """Return the item that a method asks a container for: of `known.get(name)` this is `known[name]`."""
    call = read.target_of
    if call is None or not is_asking(call):
        return None
    path = path_of(ast.Subscript(value=ast.Name(id="container"), slice=call.args[0]))
    return None if path is None else ValuePath(read.path.name, (*read.path.steps, *path.steps))


def _is_computed_once(statement: Statement) -> bool:
    """Whether a statement runs only where something is not there yet, or has no value."""
    return any(
        (isinstance(outer.node, ast.If) and any(map(_asks_for_absence, ast.walk(outer.node.test))))
        or (isinstance(outer.node, ast.ExceptHandler) and _names_absence(outer.node))
        for outer in statement.outer()
    ) or any(
        isinstance(before.node, ast.If)
        and any(inner.leaves for inner in (before, *before.all_inner()))
        and any(_asks_for_presence(test) for test in ast.walk(before.node.test))
        for before in statement.before
    )


def _asks_for_absence(node: ast.AST) -> bool:
    return (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)) or (
        isinstance(node, ast.Compare)
        and (isinstance(node.ops[0], ast.NotIn) or (isinstance(node.ops[0], ast.Is | ast.Eq) and _is_with_none(node)))
    )


def _asks_for_presence(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and (
        isinstance(node.ops[0], ast.In) or (isinstance(node.ops[0], ast.IsNot | ast.NotEq) and _is_with_none(node))
    )


def _is_with_none(node: ast.Compare) -> bool:
    return isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value is None


def _names_absence(node: ast.ExceptHandler) -> bool:
    return node.type is not None and any(name in ast.unparse(node.type) for name in ("KeyError", "AttributeError"))


def _other_since(record: ProcessRecord, end: int, key: int, module: int, value: RecordedValue) -> int:
    """Return the row, after another, at which an attribute of a module became another value; 0 if it did not.

    A package writes a module again that a module of it has imported by then: that is the same one.
    """
    later = end
    for _ in range(_MOST_SAME):
        later = record.forth(rows.FIELD, key, module, later)
        row = record.row(later) if later else None
        is_same = row is not None and (row.object == value.object if row.object else record.text(row) == value.text)
        if not is_same:
            break
    return later


def _is_cached(node: ast.AST) -> bool:
    """Whether a function has a decorator that keeps results, by its name: `lru_cache`, `cached_property`, `memoize`."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return any(word in ast.unparse(decorator).lower() for decorator in node.decorator_list for word in _KEEPING)
