"""Names that a recorded process has written: what can be asked where a name is none of them."""

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import counts
from trio_debugmcp.runs.source.read_paths import ValuePath

_MOST_NAMES = 8


def written_instead(record: ProcessRecord, path: ValuePath) -> str:
    """Return a sentence with names that look like the last of a path; if there are no such names, with others."""
    wanted = str(path.steps[-1] if path.steps else path.name).strip(".[]'").lower()
    labels = {record.label(key) for kind in (rows.WRITE, rows.FIELD) for key in counts(record, kind)}
    names = {name for label in labels if (name := label.removeprefix(".")).isidentifier()}
    near = sorted(name for name in names if name.lower()[:3] == wanted[:3] or wanted in name.lower())
    shown = near or sorted(names)
    more = f" and {len(shown) - _MOST_NAMES} more" if len(shown) > _MOST_NAMES else ""
    return f"Written were: {', '.join(shown[:_MOST_NAMES])}{more}." if shown else "No name was written."
