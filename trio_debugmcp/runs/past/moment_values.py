"""The variables of a recorded moment, and what is in their values: as trees that are opened one level at a time.

    variables, has_more = frame_variables(past, 913, 0)         # of the innermost frame before LINE row 913
    inside, is_part = value_children(past, variables[0].object, 913)
    text = value_at_moment(past, 913, 0, "cart.items[0]").text

What a value had in it is known as far as lines have named it, or as it was short enough to be watched.
"""

import ast

import msgspec

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.frame_moments import locals_in, newest_values, stack_at, value_in
from trio_debugmcp.runs.past.past_process import PastProcess, getter_of
from trio_debugmcp.runs.past.recorded_values import FIELDS
from trio_debugmcp.runs.source.read_paths import path_of

MOST_CHILDREN = 200
"""Of one value; of longer containers only the length and the items that lines name are recorded."""

NOT_A_PATH = "of a recorded moment there are names and paths, such as cart.items[0], and no code is run"

NOT_KNOWN = "the record has no value of it at this moment"


class NoValueError(Exception):
    """Why there is no value of an expression at a moment."""


class PastVariable(msgspec.Struct, frozen=True):
    """A variable, attribute or item; `object`: the number of its value, by which its content is found; 0: an atom."""

    name: str
    text: str
    object: int


def frame_variables(past: PastProcess, line: int, index: int) -> tuple[list[PastVariable], bool]:
    """Return the variables of a frame of the stack at a LINE row, and whether there are more."""
    frames = stack_at(past.record, line)
    if index >= len(frames):
        return [], False
    values, has_more = locals_in(past, frames[index].number, line)
    return [PastVariable(name, text, number) for name, (text, number) in values.items()], has_more


def value_children(past: PastProcess, number: int, before: int) -> tuple[list[PastVariable], bool]:
    """Return what an object had in it before a row, as far as it was recorded, and whether there may be more."""
    record = past.record
    newest, has_more = newest_values(past, frozenset(FIELDS), number, before, MOST_CHILDREN)
    size = record.back_of(frozenset((rows.SIZE,)), number, before)
    length = record.row(size).text if size else None
    found = []
    for label, (text, inner) in newest.items():
        index = label[1:-1] if label[:1] == "[" and label[1:-1].isdecimal() else None
        if not label or (index is not None and length is not None and int(index) >= length):
            continue  # it was there when the list was longer
        found.append(PastVariable(label.removeprefix(".") if label[:1] == "." else label, text, inner))
    found.sort(key=lambda child: _order(child.name))
    items = [child for child in found if child.name[:1] == "["]
    return found, has_more or (not found if length is None else len(items) < length)


def value_at_moment(past: PastProcess, line: int, index: int, expression: str) -> PastVariable:
    """Return what a name or path was before a line ran, as a frame of the stack saw it.

    Raises:
        NoValueError: it is not a path, or there is no value of it.
    """
    try:
        path = path_of(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        path = None
    if path is None:
        raise NoValueError(NOT_A_PATH)
    frames = stack_at(past.record, line)
    before = past.executions.settled(line)
    value = value_in(past, frames[index].number, path, before) if index < len(frames) else None
    if value is None or not value.text or value.text == "deleted":
        name = str(path.steps[-1])[1:] if path.steps else ""
        getter = getter_of(past, name) if name else None
        raise NoValueError(
            NOT_KNOWN if getter is None else f"{name} is a property: {getter} computes it when it is read"
        )
    return PastVariable(str(path), past.values.text_at(value, before), value.object)


def _order(name: str) -> tuple[int, int]:
    """Return the place of a child: attributes and keys as they were found, indexes by number."""
    return (1, int(name[1:-1])) if name[:1] == "[" and name[1:-1].isdecimal() else (0, 0)
