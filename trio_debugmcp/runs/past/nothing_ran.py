"""Runs in which no code of the project was called: a runner has found no test, or a library has failed before."""

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.files.row_search import each_of_code_back

_BESIDE = ("class", "module")
"""What runs when a module is imported, as that of tests is, of which none need be called."""


def nothing_ran(record: ProcessRecord) -> str:
    """Return that nothing of the recorded code was called in a process, nor failed; empty: something was."""
    if any(code.module == "__main__" or code.kind not in _BESIDE for code in record.codes):
        return ""
    if next(each_of_code_back(record, (rows.RAISE, rows.UNWIND), record.last + 1), 0):
        return ""
    what = "function" if record.codes else "line"
    return f"no {what} of the code below {record.facts.root} ran"
