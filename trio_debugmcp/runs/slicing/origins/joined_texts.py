r"""Which of the texts that a statement put together has the place at which a text differs from what was expected.

The line and what it gave:

    return "".join(out)         # '<h1>2.ann': the second of out, '2', as 1 was expected there
    page += row(item)           # 'ann 2\nbob 3\n': the text of row(item), or what stood in page before
    return f"{name} {count}"    # 'ann 2': count

Where something is missing, it is the text that ended too early.
"""

import ast
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, call_of
from trio_debugmcp.runs.slicing.recorded_contents import UNSEEN, content_of, string_of
from trio_debugmcp.runs.slicing.slicing_nodes import SliceNode
from trio_debugmcp.runs.source.read_paths import path_of

_LEAST_PART = 3
"""Characters of a text that stands in another one by no accident."""

_MOST_RUNS = 200
"""Of statements that add to a variable, that are gone back."""


def of_joined(past: PastProcess, execution: StatementExecution, node: SliceNode) -> SliceNode:
    """Return a node of a statement that joins a container of texts, with the item that is wanted; else the node."""
    call = getattr(execution.statement.node, "value", None)
    if not node.wanted.text or node.focus or not isinstance(call, ast.Call) or len(call.args) != 1:
        return node
    glue = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "join" else None
    path = path_of(call.args[0])
    if path is None or not isinstance(glue, ast.Constant) or not isinstance(glue.value, str):
        return node
    value = past.values.value(execution, path)
    items = content_of(past, value, execution.row) if value is not None else None
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        return node
    place = _item_at(items, glue.value, _made(past, execution, node)[1])
    if place < 0:
        return node
    pieces = tuple(dict.fromkeys((repr(items[place]), *node.wanted.pieces)))
    wanted = node.wanted._replace(path=(f"[{place}]",), pieces=pieces)
    return node._replace(focus=(call.args[0],), wanted=wanted)


def wanted_texts(
    past: PastProcess, execution: StatementExecution, node: SliceNode
) -> tuple[StatementExecution, list[ast.expr]] | None:
    """Return those expressions whose text is wanted, of what a statement put together; None: it is not known.

    And the run of a statement in which they stand: of texts that were added to a variable, that which added them.
    """
    if not node.wanted.text or node.focus:
        return None
    text, offset = _made(past, execution, node)
    for _ in range(_MOST_RUNS if offset >= 0 else 0):
        parts = _parts(execution.statement.node)
        texts = [_text_of(past, execution, part) for part in parts]
        wanted = _inside(_spans(text, texts), offset, ends_early=node.wanted.ends_early)
        places = [place for span in wanted for place in range(span.first, span.last)]
        before = _run_before(past, execution) if places == [0] else None
        if before is None:
            expressions = [parts[place] for place in places if not isinstance(parts[place], ast.Constant)]
            is_known = len(expressions) < len(parts) or texts == [text]
            return (execution, expressions) if expressions and is_known else None
        execution, text = before, texts[0] or ""
    return None


def _run_before(past: PastProcess, execution: StatementExecution) -> StatementExecution | None:
    """Return the statement that added to the variable before one that adds to it, too; None: one gave it its value."""
    node = execution.statement.node
    path = path_of(node.target) if isinstance(node, ast.AugAssign) else None
    value = past.values.value(execution, path) if path is not None else None
    before = past.executions.at(value.owner) if value is not None and value.owner else None
    return before if before is not None and isinstance(before.statement.node, ast.AugAssign) else None


def _inside(spans: "list[_Span]", offset: int, *, ends_early: bool) -> "list[_Span]":
    """Return the spans of a text that have a place; where it has ended too early, what could have made it longer."""
    if not ends_early or not offset:
        return [span for span in spans if span.start <= offset < span.end]
    return [span for span in spans if span.start < offset <= span.end or span.start == span.end == offset]


class _Span(NamedTuple):
    """The place in a text of some of its parts: of one, or of several of which it is not known where they part."""

    start: int
    end: int
    first: int
    last: int


def _spans(text: str, texts: Sequence[str | None]) -> list[_Span]:
    """Return where each part is in a text; empty: they do not make it up."""
    unknown = [place for place, part in enumerate(texts) if part is None]
    first, last = (unknown[0], unknown[-1] + 1) if unknown else (len(texts), len(texts))
    before = list(accumulate((len(part or "") for part in texts[:first]), initial=0))
    after = list(accumulate((len(part or "") for part in reversed(texts[last:])), initial=0))
    begins = "".join(part or "" for part in texts[:first])
    ends = "".join(part or "" for part in texts[last:])
    if len(begins) + len(ends) > len(text) or not agree(text, begins) or not agree(text[len(text) - len(ends) :], ends):
        return []
    spans = [_Span(start, end, place, place + 1) for place, (start, end) in enumerate(pairwise(before))]
    spans += _within(_Span(len(begins), len(text) - len(ends), first, last), text, texts) if unknown else []
    spans += [
        _Span(len(text) - far, len(text) - near, len(texts) - place - 1, len(texts) - place)
        for place, (near, far) in enumerate(pairwise(after))
    ]
    return spans if unknown or len(begins) == len(text) else []


def agree(one: str, other: str) -> bool:
    """Whether two texts begin alike, as far as both are seen."""
    return all(UNSEEN in pair or pair[0] == pair[1] for pair in zip(one, other, strict=False))


def _within(span: _Span, text: str, texts: Sequence[str | None]) -> list[_Span]:
    """Return a span of parts of which some are not known, taken apart at a known one that occurs once in the text."""
    for place in range(span.first, span.last):
        part = texts[place]
        if part is not None and len(part) >= _LEAST_PART and text.count(part) == 1 and UNSEEN not in text:
            start = text.index(part)
            end = start + len(part)
            if not span.start <= start <= end <= span.end:
                continue
            before, after = span._replace(end=start, last=place), span._replace(start=end, first=place + 1)
            return [*_within(before, text, texts), _Span(start, end, place, place + 1), *_within(after, text, texts)]
    return [span] if span.first < span.last else []


def _parts(node: ast.AST) -> list[ast.expr]:
    """Return the expressions of which the text is made that a statement gives; empty: it makes none."""
    value = getattr(node, "value", None)
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return [node.target, *_summands(node.value)]
    return _summands(value) if isinstance(node, ast.Assign | ast.AnnAssign | ast.Return) and value is not None else []


def _summands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_summands(node.left), *_summands(node.right)]
    if isinstance(node, ast.JoinedStr):
        return [part for value in node.values for part in _summands(value)]
    is_plain = isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None
    return [node.value] if isinstance(node, ast.FormattedValue) and is_plain else [node]


def _text_of(past: PastProcess, execution: StatementExecution, node: ast.expr) -> str | None:
    """Return the text that an expression was when a statement ran; None: it is not known, or was something else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Call):
        starts = [start for start in past.executions.calls(execution.row) if call_of(past, execution, start) is node]
        ending = past.executions.outcome(starts[0].number) if len(starts) == 1 else None
        return string_of(past.record.text(ending)) if ending is not None else None
    path = path_of(node)
    value = past.values.value(execution, path) if path is not None else None
    return string_of(value.text) if value is not None else None


def _made(past: PastProcess, execution: StatementExecution, node: SliceNode) -> tuple[str, int]:
    """Return the text that a statement made, and at which place it differs; -1: it is not in the one that does."""
    made = [*past.executions.effects(execution.row)[-1:], past.executions.ending(execution.row)]
    texts = [string_of(past.record.text(row)) for row in made if row is not None]
    got, offset = node.wanted.text, node.wanted.offset
    text = texts[-1] if texts else None
    if text and text[-1:] == UNSEEN and agree(text[: len(got)], got[: len(text)]):
        return text, offset
    if not text or got.count(text) != 1:
        return "", -1
    return text, offset - got.index(text)


def _item_at(items: "list[str] | tuple[str, ...]", glue: str, offset: int) -> int:
    """Return the place of the item that has an offset of the joined text; -1: none has."""
    ends = accumulate(len(item) + len(glue) * (place < len(items) - 1) for place, item in enumerate(items))
    return next((place for place, end in enumerate(ends) if 0 <= offset < end), -1)
