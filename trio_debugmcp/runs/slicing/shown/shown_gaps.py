"""How a gap is said: a value that changed, and no line that was recorded has done it."""

from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.shown.because_lines import because_line
from trio_debugmcp.runs.slicing.slicing_nodes import ValueGap


def shown_gap(past: PastProcess, gap: ValueGap) -> str:
    """Return a gap in words."""
    line = because_line(past, gap.row)
    is_between = gap.before and gap.before != gap.row
    since = f" since #{gap.before}" if is_between else ", while that ran" if gap.before else ""
    place = f"{line.at} ({line.file.rpartition('/')[2]}:{line.line})"
    if gap.opaque:
        return (
            f"what is in {gap.what} ({gap.opaque}) is not recorded: the lines shown may have changed it{since}, "
            "and so may a view of it"
        )
    if gap.is_alike:
        return (
            f"{gap.what} may have been written again before {place}{since}, by a line that does not say where it writes"
        )
    other = "through another view of its memory, or " if gap.is_shared else ""
    return f"{gap.what} was found changed at {place}{since}, {other}by something that was not recorded"
