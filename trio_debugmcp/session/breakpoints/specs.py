"""How what is wanted of a breakpoint compares with those that there are. Pure, but for links of files."""

from collections.abc import Iterable
from os.path import realpath

from msgspec.structs import replace

from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec


def prefix(spec: BreakpointSpec) -> str:
    """Return how the id of a breakpoint begins."""
    return "dp" if spec.watch else "fn" if spec.function else "tp" if spec.log_message else "bp"


def spelled(spec: BreakpointSpec, known: Iterable[Breakpoint]) -> BreakpointSpec:
    """Return a breakpoint with its file spelled as that of the known ones is, if that is the same file."""
    return spec if spec.file is None else replace(spec, file=spelling(spec.file, known))


def spelling(file: str, known: Iterable[Breakpoint]) -> str:
    """Return how the known breakpoints spell a file, as it is given if they have none in it.

    A link has two spellings for one file. An adapter that got both would replace the breakpoints of one by those of
    the other, and continue to call all of them verified.
    """
    files = {breakpoint.spec.file: None for breakpoint in known if breakpoint.spec.file is not None}
    if file in files:
        return file
    real = realpath(file)
    return next((other for other in files if realpath(other) == real), file)


def same_place(one: Breakpoint, other: BreakpointSpec) -> bool:
    """Return whether a breakpoint is where another one is to be."""
    if one.spec.watch is not None and other.watch is not None:
        # An id of a session that has ended means nothing: the breakpoint is known by what it was to watch.
        if one.lost:
            return one.spec.watch.expression == other.watch.expression
        return (one.spec.watch.data_id, one.spec.only_in) == (other.watch.data_id, other.only_in)
    return one.spec.watch is other.watch and one.spec.place == other.place


def is_same(one: Breakpoint, other: BreakpointSpec) -> bool:
    """Return whether a breakpoint at that place stops, or writes, in just the same cases. One that is off does not."""
    return one.enabled and all(getattr(one.spec, name) == getattr(other, name) for name in _CASES)


_CASES = ("condition", "hit_condition", "log_message", "hit_count_multiple", "max_notifications", "sessions")


def addressed_in(breakpoints: Iterable[Breakpoint], session_id: str, adapter: str) -> list[Breakpoint]:
    """Return the breakpoints on data and on instructions of a session."""

    def is_mine(spec: BreakpointSpec) -> bool:
        if spec.only_in is not None:
            return spec.only_in == session_id
        return spec.watch is not None and spec.watch.adapter == adapter

    return [breakpoint for breakpoint in breakpoints if is_mine(breakpoint.spec)]
