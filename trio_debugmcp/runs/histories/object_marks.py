"""Which of several objects a row of a history is about: where it was made, and the first thing that it was given.

    mark_of(past, 12, ".attempts")      # "the one made at #26 (name='ann')"

An object that has no short attribute is known by its place alone.
"""

from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS

_MOST_FIELDS = 5
"""The first ones of an object, among which one is looked for that is short."""

_MOST_TEXT = 30


def mark_of(past: PastProcess, subject: int, label: str) -> str:
    """Return what is said of an object beside a row about the attribute of a label; empty: nothing is known of it."""
    made = past.values.birth(subject, past.record.last + 1)
    first = _first_attribute(past, subject, label)
    said = f"the one made at #{made}" if made else "the one" if first else ""
    return f"{said} ({first})" if first else said


def _first_attribute(past: PastProcess, subject: int, label: str) -> str:
    record, number = past.record, 0
    for _ in range(_MOST_FIELDS):
        number = record.forth_of(FIELDS, subject, number)
        if not number:
            return ""
        row = record.row(number)
        name, text = record.label(row.key), record.text(row)
        if name[:1] == "." and name != label and not row.object and 0 < len(text) <= _MOST_TEXT:
            return f"{name[1:]}={text}"
    return ""
