"""The class of a recorded object, by the text that it had as a value."""

import re

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord

_WITH_VALUE = frozenset((rows.WRITE, rows.FIELD, rows.SEEN, rows.GAP, rows.SEEN_NAME, rows.RETURN, rows.RAISE))


def class_of(record: ProcessRecord, number: int) -> str | None:
    """Return the name of the class of an object, from the text that it had as a value; None: it is not known.

    Of a class it is its own name: `Till.count` is stored in it, whatever a line calls it (`cls`, `type(self)`).
    """
    row = record.forth_of(_WITH_VALUE, number, 0, by_value=True)
    found = re.match(r"<?(?:class )?(\w+)", record.text(record.row(row))) if row else None
    return None if found is None else found[1]
