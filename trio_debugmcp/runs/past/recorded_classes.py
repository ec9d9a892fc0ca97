"""The class of a recorded object, by the text that it had as a value."""

import re
from functools import lru_cache

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.word_search import last_value_of

_NEAR = 64
"""Rows before one about an object, in which most calls of its methods have it as their first argument."""

_WITH_VALUE = frozenset((rows.WRITE, rows.FIELD, rows.SEEN, rows.GAP, rows.SEEN_NAME, rows.RETURN, rows.RAISE))


_MOST_KEPT = 50_000


class RecordedClasses:
    """The classes of the objects of one record.

    Attributes:
        of: `_of`, of which the answers are kept: questions about many objects go through them twice.
    """

    def __init__(self, record: ProcessRecord) -> None:
        self._record = record
        self.of = lru_cache(_MOST_KEPT)(self._of)

    def _of(self, number: int, near: int = 0) -> str | None:
        """Return the name of the class of an object, from the text that it had as a value; None: it is not known.

        Of a class it is its own name: `Till.count` is stored in it, whatever a line calls it (`cls`, `type(self)`).
        `near`: a row about it: of thousands of objects only those that are not named there are looked for in the
        record.
        """
        record = self._record
        row = last_value_of(record.rows, number, near, _NEAR) if near else 0
        if not row or record.rows.word(row, 0) >> 60 not in _WITH_VALUE:
            row = record.forth_of(_WITH_VALUE, number, 0, by_value=True)
        return _class_in(record.text(row)) if row else None


@lru_cache(1000)
def _class_in(text: str) -> str | None:
    found = re.match(r"<?(?:class )?(\w+)", text)
    return None if found is None else found[1]
