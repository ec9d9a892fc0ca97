"""Which of many objects one is, in few words: its type, and the first attribute that it was given.

    short_name(past, value, before)     # "<Job name='configure'>"

What is shown is as it was at the moment that is meant; of a container it is what was in it then.
"""

import re

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import DELETED
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import RecordedValue
from trio_debugmcp.runs.slicing.recorded_contents import container_kind, content_of

_TYPED = re.compile(r"<(?!class )(\w+)(?: \w+=.*)?>")

_FIELDS = frozenset({rows.FIELD, rows.SEEN})

_MOST_LOOKED_AT = 8
"""Attributes: the first ones."""

_MOST_TEXT, _MOST_NAME = 24, 60


def short_name(past: PastProcess, value: RecordedValue, before: int) -> str:
    """Return the text of a value as it was before a row; of an object its type, and an attribute that it had."""
    text = past.values.text_at(value, before)
    typed = _TYPED.fullmatch(text) if value.object else None
    number = past.record.forth_of(_FIELDS, value.object, 0) if typed is not None else 0
    for _ in range(_MOST_LOOKED_AT):
        if typed is None or not number or number >= before:
            break
        label = past.record.label(past.record.row(number).key)
        field = past.values.field(value.object, label, before) if label[:1] == "." else None
        is_known = field is not None and not field.object and past.record.row(field.row).text != DELETED
        if field is not None and is_known and field.kind != rows.GAP and field.text not in ("", "None"):
            return f"<{typed[1]} {label[1:]}={masked_beginning(field.text, _MOST_TEXT)}>"
        number = past.record.forth_of(_FIELDS, value.object, number)
    content = content_of(past, value, before) if value.object and container_kind(value.text) else None
    known = repr(content) if isinstance(content, list | tuple | dict | set) else text
    return masked_beginning(known, _MOST_NAME)
