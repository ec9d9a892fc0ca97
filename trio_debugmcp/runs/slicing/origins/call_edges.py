"""Where values come from through calls: arguments, results, and which function was called."""

import ast
from collections.abc import Iterator, Sequence
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution, was_closed
from trio_debugmcp.runs.past.past_process import (
    MAKERS,
    PastProcess,
    argument,
    attribute_of,
    call_of,
    called,
    calls_of,
    depends_on_value,
)
from trio_debugmcp.runs.past.read_ahead import DrawnItems, drawn_by
from trio_debugmcp.runs.past.recorded_values import type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.origins.drawn_item_edges import DrawnItemEdges, is_expression, read_ahead
from trio_debugmcp.runs.slicing.origins.object_edges import PLAIN, ObjectEdges
from trio_debugmcp.runs.slicing.origins.uncertain_rounds import UncertainRounds
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import NOTHING_WANTED, WantedPieces, is_in
from trio_debugmcp.runs.source.read_paths import calls_in, filters_of

_LATER = 0.01
"""More for each further call of a line: they stand in the order in which they count."""

_NO_PATHS: dict[int, tuple[str, ...]] = {}

_FALSY = ("False", "None", "0", "''", "[]", "{}", "()", "set()")

_MOST_ROUNDS = 1_000
"""Of a loop whose beginning is looked for: the last ones."""


class CallEdges:
    """The edges through calls of one process; `draws`: those to items of generators."""

    def __init__(self, past: PastProcess, objects: ObjectEdges) -> None:
        self._past = past
        self._objects = objects
        self._record = past.record
        self.draws = DrawnItemEdges(past)
        self._uncertain = UncertainRounds(past)

    def of_parameters(
        self, start: int, names: tuple[str, ...], wanted: WantedPieces = NOTHING_WANTED
    ) -> Iterator[SliceEdge]:
        """Yield the arguments that parameters of a call were given; an item of them, if that is wanted."""
        row = self._record.row(start)
        caller = self._past.executions.at(row.owner) if row.owner else None
        if caller is None:
            return
        for name in names:
            arguments = argument(self._past, caller, row, name)
            if arguments:
                aim = "argument" if name != ".0" else "value"  # a generator expression goes through all that is in it
                yield SliceEdge(cost.COPY, SliceNode(caller.row, focus=tuple(arguments), aim=aim, wanted=wanted))
            elif arguments is None:
                yield SliceEdge(cost.READ, SliceNode(caller.row, aim="argument"))
            value = self._past.values.parameter(row, name)
            own = self._past.values.parameter(row, "self")
            if value is not None and own is not None and arguments == []:
                yield from self._objects.of_class(own, f".{name}", value)
            if value is not None and value.object and arguments == []:
                yield from self._objects.of_content(caller, name, value, start)

    def recorded_calls(self, execution: StatementExecution, *, makers: bool = False) -> set[ast.Call]:
        """Return the calls of a statement by whose results one comes to what they were given; or those of `makers`."""
        calls: set[ast.Call] = set()
        for start in self._calls_of(execution.row):
            call, ending = call_of(self._past, execution, start), self._past.executions.outcome(start.number)
            is_maker = ending is not None and _makes(self._record.code(start.key).name, ending)
            if call is not None and is_maker == makers:
                calls.add(call)
        return calls

    def results(
        self,
        execution: StatementExecution,
        node: SliceNode,
        part: int,
        paths: dict[int, tuple[str, ...]] = _NO_PATHS,
        place: int = -1,
        draws: Sequence[Row] = (),
    ) -> Iterator[tuple[Row, list[SliceEdge]]]:
        """Yield how each call that a statement made has ended, and the line that ended it.

        Args:
            execution: the statement.
            node: what is wanted of it: calls whose result is a part of its value come first.
            part: the place in the result that is wanted, of a statement that takes it apart; -1: all of it.
            paths: the ways to what is wanted in the results of calls, by their ids.
            place: of a comprehension, the round that is wanted; -1: each.
            draws: the calls by which it has drawn the wanted item of what it goes through; empty: not known.
        """
        shown: dict[int, int] = {}
        order = 0
        drawn = drawn_by(self._past, execution)
        if drawn is not None:
            yield from self.draws.before(node, drawn)
        place = place if _is_each_round(self._past, execution, node) else -1
        found = list(self._ended(execution, node, place, drawn, draws))
        is_uncertain = place < 0 and (bool(node.wanted.path) or _is_of_any_round(execution, node))
        if is_uncertain:
            found = self._fitting(execution, node, found)
        starts = [start for start, _, _ in found] if is_uncertain else []
        for start, call, ending in found:
            line = self._record.row(ending.owner)
            times = shown[line.key] = shown.get(line.key, 0) + 1
            if times <= 2:
                order += 1
                far = (0.0 if ending.kind != rows.UNWIND else 0.2) + _LATER * order
                text = self._record.text(ending)
                wanted = node.wanted._replace(path=paths.get(id(call), ()))
                taken = self._part(ending.owner, part)
                note = read_ahead(drawn, execution) if ending.kind == rows.YIELD and drawn is not None else ""
                origin = SliceNode(ending.owner, taken, hint=node.hint or text, wanted=wanted)
                edge = SliceEdge(cost.RESULT + far, origin, note)
                edge = self._uncertain.of_call(edge, start, starts)
                yield ending, [edge, *self._of_dispatch(start), *self._of_replaced(execution, start)]

    def _fitting(
        self, execution: StatementExecution, node: SliceNode, found: list[tuple[Row, ast.Call | None, Row]]
    ) -> list[tuple[Row, ast.Call | None, Row]]:
        """Return those calls of a line that may have made the wanted item, the likeliest first."""
        chosen = self._uncertain.chosen(execution, node.wanted.path, [start for start, _, _ in found])
        return sorted((end for end in found if end[0] in chosen), key=lambda end: chosen.index(end[0]))

    def _ended(
        self,
        execution: StatementExecution,
        node: SliceNode,
        place: int,
        drawn: DrawnItems | None,
        draws: Sequence[Row],
    ) -> Iterator[tuple[Row, ast.Call | None, Row]]:
        """Yield the calls of a statement whose results are in what is wanted, as they are written, and their ends."""
        item = draws or self.draws.of_item(execution, node)
        focus = node.focus if not item else ()
        inside = {id(call) for call in calls_in(*focus)}
        for start in item or self._of_round(execution, self._in_order(execution.row, node), place):
            calls = calls_of(self._past, execution, start)
            call = calls[0] if len(calls) == 1 else None
            if call is None and _is_of_message(execution.statement.node, self._record.code(start.key).name):
                continue
            is_inside = any(id(call) in inside for call in calls) if calls else inside or _reads_attributes(focus)
            if focus and not is_inside:
                continue
            ending = self._past.executions.outcome(start.number)
            if ending is None or _makes(self._record.code(start.key).name, ending):
                continue
            if not ending.owner or self._past.executions.at(ending.owner) is None:  # generated: it has no lines
                continue
            if was_closed(self._record, ending) or _is_continued(self._past, execution, ending):
                continue
            if start.kind == rows.RESUME and ending.kind == rows.RETURN and is_expression(self._record, start.key):
                continue  # it had nothing more to give
            if drawn is None or self.draws.is_given(execution, start, ending, drawn):
                yield start, call, ending

    def _of_round(self, execution: StatementExecution, starts: list[Row], place: int) -> list[Row]:
        """Return those calls of a line that were made in one round of its comprehension, each call once in a round."""
        if place < 0:
            return starts
        if self._past.executions.has_more_calls(execution.row):
            return []
        chosen: list[Row] = []
        made: dict[int, int] = {}
        for start in sorted(starts):
            read = call_of(self._past, execution, start) or attribute_of(self._past, execution, start)
            made[id(read)] = made.get(id(read), -1) + 1
            if read is not None and made[id(read)] == place:
                chosen.append(start)
        return [start for start in starts if start in chosen]

    def _of_replaced(self, execution: StatementExecution, start: Row) -> Iterator[SliceEdge]:
        """Yield what has put a function in the place of a method."""
        scope = self._past.scopes.of_code(start.key)
        targets = [read.target_of for read in execution.statement.reads if read.target_of is not None]
        is_method = scope is not None and scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef)
        if scope is None or is_method or not targets:
            return
        text = f"<function {scope.name}>"
        writers = [writer for target in targets for writer in self._past.mentions.storing(f".{called(target)}")]
        for writer in dict.fromkeys(writers):
            runs = (
                self._past.executions.last_run(writer, frame, start.number)
                for frame in reversed(self._past.scopes.frames([writer.scope]))
            )
            for run in runs:  # the last that has stored this very function
                if run is not None and any(self._record.text(effect) == text for effect in self._stored(run)):
                    note = f"the {called(targets[0])} that is called is {scope.name}"
                    yield SliceEdge(cost.REPLACED, SliceNode(run.row), note)
                    break

    def _stored(self, run: StatementExecution) -> list[Row]:
        return [effect for effect in self._past.executions.effects(run.row) if effect.kind == rows.FIELD]

    def _of_dispatch(self, start: Row) -> Iterator[SliceEdge]:
        """Yield the class that has chosen a method of one of its bases, by their order."""
        scope = self._past.scopes.of_code(start.key)
        if scope is None or scope.parent is None or not isinstance(scope.parent.node, ast.ClassDef):
            return
        own = self._past.values.parameter(start, scope.parameters[0]) if scope.parameters else None
        name = type_name(own.text) if own is not None else ""
        if not name or name == scope.parent.name.rpartition(".")[2]:
            return
        key, module = self._record.key_of(f".{name}"), self._record.code(start.key).globals
        made = self._record.back(rows.FIELD, key, module, start.number) if key else 0
        chosen = self._past.scopes.classes(name)
        if made and chosen and len(chosen[0].bases) > 1:
            method = scope.name.rpartition(".")[2]
            owner = self._record.row(made).owner
            yield SliceEdge(cost.CLASS, SliceNode(owner), f"the order of its bases decides which {method}")

    def _in_order(self, line: int, node: SliceNode) -> list[Row]:
        """Return the calls of a line, last first, but before them those whose result is in what is wanted.

        Those by which a comprehension has left an item out come behind those that let one in.
        """
        calls = self._calls_of(line)[::-1]
        execution = self._past.executions.at(line)
        filters = filters_of(*execution.statement.heads) if execution is not None else []
        if execution is not None and filters:
            calls.sort(key=lambda start: _has_left_out(self._past, execution, filters, start))
        if node.hint:
            calls = sorted(calls, key=lambda start: not self._is_in(start, node.hint))
        if node.wanted.pieces or node.wanted.missing:
            calls = sorted(calls, key=lambda start: self._place(start, node.wanted))
        if not (calls and node.hint and self._is_in(calls[0], node.hint)):
            return calls
        first = calls[0].number  # what it was given was made just before it
        return sorted(calls, key=lambda start: (start.number > first, abs(start.number - first)))

    def _place(self, start: Row, wanted: WantedPieces) -> int:
        """Return how well a call fits: by its result, or by being given what is missing."""
        ending = self._past.executions.outcome(start.number)
        place = wanted.place(self._record.text(ending) if ending is not None else "")
        given = [effect for effect in self._past.executions.effects(start.number) if effect.kind == rows.WRITE]
        is_given = any(is_in(piece, self._record.text(effect)) for piece in wanted.missing for effect in given)
        return place - is_given

    def _calls_of(self, line: int) -> list[Row]:
        """Return the calls of a line; of the header of a loop, if it made none in this round, those when it began."""
        calls = self._past.executions.calls(line)
        execution = self._past.executions.at(line)
        if calls or execution is None or not isinstance(execution.statement.node, ast.For | ast.AsyncFor):
            return calls
        if not any(self._past.scopes.named(called(call)) for call in execution.statement.calls):
            return calls
        rounds = self._past.executions.runs(execution.statement, execution.frame, line)
        return next(
            (made for run in islice(rounds, _MOST_ROUNDS) if (made := self._past.executions.calls(run.row))), []
        )

    def _is_in(self, start: Row, hint: str) -> bool:
        ending = self._past.executions.outcome(start.number)
        text = self._record.text(ending) if ending is not None else ""
        return len(text) > 1 and text not in PLAIN and text in hint

    def _part(self, line: int, part: int) -> tuple[ast.expr, ...]:
        """Return the expression of a `return` whose value is wanted, if it makes a tuple that is taken apart."""
        execution = self._past.executions.at(line)
        value = getattr(execution.statement.node, "value", None) if execution is not None and part >= 0 else None
        return (value.elts[part],) if isinstance(value, ast.Tuple) and part < len(value.elts) else ()


def _has_left_out(past: PastProcess, execution: StatementExecution, filters: list[ast.Call], start: Row) -> bool:
    """Whether a call was that of a comprehension's condition, and has left an item out."""
    ending = past.executions.outcome(start.number) if call_of(past, execution, start) in filters else None
    return ending is not None and past.record.text(ending) in _FALSY


def _is_each_round(past: PastProcess, execution: StatementExecution, node: SliceNode) -> bool:
    """Whether each call in the expressions of a comprehension that matter was made once in each of its rounds."""
    written = [part for expression in node.focus for part in ast.walk(expression)]
    inside: list[Sequence[ast.expr]] = []
    for start in past.executions.calls(execution.row):
        read = attribute_of(past, execution, start)
        made = [read] if read is not None else calls_of(past, execution, start)
        if not made or any(part in written for part in made):
            inside.append(made)
    return all(len(made) == 1 and not depends_on_value(made[0], *node.focus) for made in inside)


def _is_of_any_round(execution: StatementExecution, node: SliceNode) -> bool:
    """Whether it is not known which argument of a line is wanted, and a comprehension of it has passed many."""
    inner = [part for head in execution.statement.heads for part in ast.walk(head)]
    return node.aim == "argument" and not node.focus and any(isinstance(part, ast.comprehension) for part in inner)


def _is_continued(past: PastProcess, execution: StatementExecution, ending: Row) -> bool:
    """Whether a call that a line awaits was left only to wait, and was resumed: that is not how it has ended."""
    if not past.executions.is_waiting(ending):
        return False
    calls = past.executions.calls(execution.row)
    return any(later.subject == ending.subject and later.number > ending.number for later in calls)


def _makes(name: str, ending: Row) -> bool:
    """Whether a call has filled a new object: what it has written is found where that is read."""
    return ending.kind == rows.RETURN and name.rpartition(".")[2] in MAKERS


def _is_of_message(node: ast.AST, name: str) -> bool:
    """Whether a function was called for the message of an assertion that had failed by then."""
    calls = calls_in(node.msg) if isinstance(node, ast.Assert) else []
    return any(called(call) == name.rpartition(".")[2] for call in calls)


def _reads_attributes(focus: tuple[ast.expr, ...]) -> bool:
    """Whether a property or an operator may be called by expressions in which no call is written."""
    kinds = ast.Attribute | ast.Subscript | ast.BinOp | ast.Compare
    return any(isinstance(node, kinds) for expression in focus for node in ast.walk(expression))
