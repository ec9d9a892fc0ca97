"""Lines at which a name may have a value, from a row backward: all that are near, and of others those that wrote it."""

from collections.abc import Iterable, Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import each_back
from trio_debugmcp.runs.past.past_process import PastProcess

MOST_NEAR = 20_000
"""Rows that are gone through one by one."""

_MOST_WRITES = 50
"""Of one name that are further away: the last ones. The line `result = main()` is before all that it has called."""


def lines_back(past: PastProcess, names: Iterable[str], begin: int) -> Iterator[int]:
    """Yield the rows from one backward, and then the LINE rows of the writes of some names."""
    end = max(past.record.first, begin + 1 - MOST_NEAR)
    yield from range(begin, end - 1, -1)
    places = [place for name in names for place in ((rows.WRITE, name), (rows.FIELD, f".{name}"))]  # of modules: fields
    known = ((kind, past.record.key_of(label)) for kind, label in places)
    owners = {
        past.record.row(number).owner
        for kind, key in known
        for number in (islice(each_back(past.record, kind, key, begin + 1), _MOST_WRITES) if key else ())
    }
    yield from sorted((owner for owner in owners if 0 < owner < end), reverse=True)
