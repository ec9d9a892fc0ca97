"""The lines of an answer: what ran, and the values that it found and left.

    #36 shop.py:20 serve | amount = total(cart) | amount=13

A line has what it wrote; else what it read; a condition its outcome and the results of the calls in it: that names the
next question.
"""

import ast

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.owned_rows import owned_of_kinds
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called, computed
from trio_debugmcp.runs.past.recorded_values import RecordedValue, says_nothing
from trio_debugmcp.runs.shown_moments import BecauseLine
from trio_debugmcp.runs.slicing.recorded_contents import UnknownContent, content_of
from trio_debugmcp.runs.slicing.shown.shortened_values import MOST_TEXT, NO_PARTS, AskedParts, ShortenedValues
from trio_debugmcp.runs.source.read_paths import ValuePath

BYTES_A_LINE = 160
"""On the average, at most: of an answer of 12 lines 2 KB."""

_MOST_VALUES = 3

_ROUNDS_ON_A_LINE = "all its rounds, with the values of the last"

_RAISES = frozenset((rows.RAISE,))

_DELETED = "deleted"

_MOVED = " in another order"

_SIZES, _WRITTEN = frozenset((rows.SIZE,)), (1,)


def because_line(
    past: PastProcess,
    row: int,
    notes: tuple[str, ...] = (),
    focus: tuple[ast.expr, ...] = (),
    parts: AskedParts = NO_PARTS,
) -> BecauseLine:
    """Return the line for a LINE row, or for the START row of a call; `parts`: what of its values is asked about."""
    record, shortened = past.record, ShortenedValues(past, parts)
    execution = past.executions.at(row)
    if execution is None:
        start = record.row(row)
        code = record.code(
            start.key if start.kind in (rows.START, rows.RESUME) else past.executions.code_of(start.subject)
        )
        values = [f"{record.label(effect.key)}={shortened.of(effect)}" for effect in past.executions.effects(row)]
        return BecauseLine(f"#{row}", code.file, code.first, code.name, "entered", values[:_MOST_VALUES], list(notes))
    code, statement = record.code(execution.code), execution.statement
    line, source = statement.first, statement.text
    if focus and statement.first < statement.last:  # of several lines that which matters
        line = focus[0].lineno
        source = statement.scope.lines[line - 1].strip()
    elif isinstance(statement.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):  # not its decorators
        line = statement.node.lineno
        source = statement.scope.lines[line - 1].strip()
    function = code.name.replace(".<locals>", "")
    said = [*notes, *([_ROUNDS_ON_A_LINE] if _has_rounds_on_its_line(statement.node) else [])]
    return BecauseLine(f"#{row}", code.file, line, function, source, _values(past, execution, shortened), said)


def fitting(lines: list[tuple[float, BecauseLine]], most: int, root: str = "") -> list[BecauseLine]:
    """Return the lines of an answer, each given with how little it tells, but those for which there is no room.

    Args:
        lines: in the order in which they are shown.
        most: bytes of all of them; the first of those that tell most is there anyway.
        root: the directory from which on files are shown.
    """
    size, kept = 0, set[int]()
    for place in sorted(range(len(lines)), key=lambda place: lines[place][0]):
        size += len(str(lines[place][1]).encode()) + len(_folder(lines[place][1].file, root)) + 1
        if kept and size > most:
            break
        kept.add(place)
    return [line for place, (_, line) in enumerate(lines) if place in kept]


def _folder(file: str, root: str) -> str:
    return file.removeprefix(f"{root.rstrip('/')}/").rpartition("/")[0]


def _has_rounds_on_its_line(node: ast.AST) -> bool:
    """Whether a loop has its body on its own line: all rounds are one run of that, but those that a `yield` ends."""
    if not isinstance(node, ast.For | ast.While | ast.AsyncFor) or node.body[0].lineno != node.lineno:
        return False
    return not any(isinstance(inner, ast.Yield | ast.YieldFrom | ast.Await) for inner in ast.walk(node))


def _values(past: PastProcess, execution: StatementExecution, shortened: ShortenedValues) -> list[str]:
    """Return what a statement wrote, returned, raised or decided, with what it read."""
    ending, end = past.executions.ending(execution.row), past.record.last + 1
    left = ending.number if ending is not None and ending.kind == rows.YIELD else end
    later = _effects(past, execution, left, end, shortened)  # what a `yield` has got, when it was continued
    said = [*_effects(past, execution, 0, left, shortened), *_ends(past, execution, shortened)]
    said += [f"then {text}" for text in later[:1]] + later[1:]
    if isinstance(execution.statement.node, ast.If | ast.While):
        said = [*_decided(past, execution), *said]
    if isinstance(execution.statement.node, ast.ExceptHandler):
        said = [*_caught(past, execution, shortened), *said]
    if _is_last_round(past, execution, has_said=bool(said)):
        said.append("ends")
    has_failed = any(text.startswith("raises ") for text in said) and not isinstance(
        execution.statement.node, ast.Raise
    )
    moved = [text.removesuffix(_MOVED) for text in said if text.endswith(_MOVED)]
    has_no_more = len(moved) == len(said)
    if has_no_more or execution.statement.is_condition or has_failed or _decides(execution.statement.node):
        read = [text for text in _reads(past, execution, shortened) if text.partition("=")[0] not in moved]
        said += [*_results(past, execution, shortened), *read][:_MOST_VALUES]
    return said


def _decides(node: ast.AST) -> bool:
    """Whether a statement returns an outcome, `a > b` or `not a`, which says nothing without what it compared."""
    value = getattr(node, "value", None)
    if isinstance(value, ast.BoolOp):
        return isinstance(node, ast.Return) and any(isinstance(part, ast.Compare) for part in value.values)
    is_outcome = isinstance(value, ast.Compare) or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not))
    return isinstance(node, ast.Return) and is_outcome


def _decided(past: PastProcess, execution: StatementExecution) -> list[str]:
    """Return the outcome of a condition; one that raised was neither true nor false, and of some it is not known."""
    entered = None if past.executions.raised(execution.row) is not None else past.blocks.entered(execution)
    return [] if entered is None else ["true" if entered else "false"]


def _caught(past: PastProcess, execution: StatementExecution, shortened: ShortenedValues) -> list[str]:
    """Return what a handler caught, where its name does not show it, or did not catch."""
    is_entered = past.blocks.entered(execution)
    if is_entered is not False and getattr(execution.statement.node, "name", None):
        return []
    number = past.record.back_of(_RAISES, execution.frame, execution.row)
    text = shortened.of(past.record.row(number)) if number else ""
    parent = execution.statement.parent
    is_part = parent is not None and isinstance(parent.node, ast.TryStar)
    catches = "catches a part of" if is_part else "catches"
    word = "gets" if is_entered is None else catches if is_entered else "does not catch"
    return [f"{word} {text}"] if text else []


def _is_last_round(past: PastProcess, execution: StatementExecution, *, has_said: bool) -> bool:
    """Whether a loop ends here, or a generator expression, of which each yielded value is a run of its line."""
    if isinstance(execution.statement.node, ast.GeneratorExp):
        ending = past.executions.ending(execution.row)
        return ending is not None and ending.kind == rows.RETURN
    return execution.statement.is_loop and not has_said and past.blocks.entered(execution) is False


def _ends(past: PastProcess, execution: StatementExecution, shortened: ShortenedValues) -> list[str]:
    """Return what a statement returned, yielded or raised, as far as that is not in its source."""
    said = []
    ending = past.executions.ending(execution.row)
    text = past.record.text(ending) if ending is not None else ""
    if ending is not None and ending.kind == rows.RETURN:
        is_silent = text == "None" and not isinstance(execution.statement.node, ast.Return)
        said += [] if is_silent else [f"-> {shortened.of(ending)}"]
    elif ending is not None and ending.kind == rows.YIELD:
        said.append(f"yields {shortened.of(ending)}")
    raised = past.executions.raised(execution.row)
    if raised is not None:  # what an assertion reads may raise others
        is_failed = past.record.text(raised).startswith("AssertionError")
        is_assertion = is_failed and isinstance(execution.statement.node, ast.Assert)
        said.append("fails" if is_assertion else f"raises {shortened.of(raised)}")
    return said


def _effects(
    past: PastProcess, execution: StatementExecution, after: int, before: int, shortened: ShortenedValues
) -> list[str]:
    said: list[str] = []
    record = past.record
    effects = past.executions.effects(execution.row)
    holders = {effect.subject for effect in effects if record.label(effect.key)[:1] == "["}
    names = _names(past, execution, holders) if len(holders) > 1 else {}
    for effect in effects:
        if not after < effect.number < before:
            continue
        text = shortened.of(effect, is_of_round=execution.statement.is_loop)
        label = record.label(effect.key)
        if effect.kind == rows.FIELD and label[:1] == "." and effect.subject == record.code(execution.code).globals:
            label = label[1:]
        elif label[:1] == "[":
            label = f"{names.get(effect.subject) or (_type(past, effect) if names else '')}{label}"
        value = f"{label} deleted" if text == _DELETED else f"{label}={text or '?'}"
        if label and value not in said:  # without one it is not known which of them has changed
            said.append(value)
    said += _reordered(past, execution, {effect.subject for effect in effects}, range(after + 1, before))
    left = len(said) - _MOST_VALUES - 1
    return said if left <= 0 else [*said[: _MOST_VALUES + 1], f"… {left} more"]


def _reordered(past: PastProcess, execution: StatementExecution, changed: set[int], during: range) -> list[str]:
    """Return the containers of which a statement has only changed the order: `recent.move_to_end(name)`."""
    sizes = owned_of_kinds(past.record, execution.row, _SIZES, _WRITTEN)
    moved = {row.subject for row in sizes if row.text == row.object and row.number in during} - changed
    names = _names(past, execution, moved) if moved else {}
    return [f"{names[number]}{_MOVED}" for number in moved if number in names]


def _type(past: PastProcess, effect: rows.Row) -> str:
    """Return the type of the container that has changed beside those that the line names: it shows what is in one."""
    name = past.classes.of(effect.subject, effect.number)
    return f"<{name}>" if name else ""


def _names(past: PastProcess, execution: StatementExecution, objects: set[int]) -> dict[int, str]:
    """Return by which paths of its source a statement knows objects."""
    statement = execution.statement
    is_simple = isinstance(statement.node, ast.Assign | ast.AugAssign | ast.Delete | ast.Expr)
    variables = [node.id for node in ast.walk(statement.node) if is_simple and isinstance(node, ast.Name)]
    paths = [ValuePath(name, ()) for name in variables]
    paths += [read.path for read in statement.reads] + [path.holder for path in statement.stores]
    names: dict[int, str] = {}
    for path in dict.fromkeys(paths):
        value = past.values.value(execution, path)
        if value is not None and value.object in objects:
            names.setdefault(value.object, str(path))
    return names


def _results(past: PastProcess, execution: StatementExecution, shortened: ShortenedValues) -> list[str]:
    """Return the results of the calls in a condition, and of properties."""
    said = [
        f"{path}={shortened.of(ending)}" for path, ending in computed(past, execution) if ending.kind == rows.RETURN
    ]
    written = {called(call) for call in execution.statement.calls}
    for start in past.executions.calls(execution.row):
        ending = past.executions.outcome(start.number)
        if ending is not None and ending.kind == rows.RETURN and past.record.text(ending) != "None":
            name = past.record.code(start.key).name.rpartition(".")[2]
            if name not in written:  # the interpreter has called it, or it was for a message
                continue
            said.append(f"{name} -> {shortened.of(ending)}")
    return list(dict.fromkeys(said))


def _reads(past: PastProcess, execution: StatementExecution, shortened: ShortenedValues) -> list[str]:
    said = []
    for read in execution.statement.reads:
        is_before = execution.statement.is_condition and read.path in execution.statement.carried  # `(n := n + 1) < 5`
        value = None if read.is_callee or is_before else past.values.read(execution, read)
        if value is not None and value.text and not says_nothing(value.text):
            before = past.values.bound(execution, read)
            said.append(f"{read.path}={shortened.of_text(_text_at(past, value, before), value.object, before)}")
    return list(dict.fromkeys(said))


def _text_at(past: PastProcess, value: RecordedValue, before: int) -> str:
    """Return a value as text; of a container that has changed since its text was kept: what is in it, if short."""
    text = past.values.text_at(value, before)
    if text == value.text:
        return text
    content = content_of(past, value, before)
    known = repr(content)
    return text if isinstance(content, UnknownContent) or len(known) > MOST_TEXT else known
