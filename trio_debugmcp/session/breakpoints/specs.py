"""What a breakpoint should be, and how that compares with those that there are. Pure, but for links of files."""

from collections.abc import Iterable
from os.path import realpath

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.state.model import Breakpoint, Watch
from trio_debugmcp.state.payloads import BreakpointType


class BreakpointSpec(Struct, frozen=True, kw_only=True):
    """What a breakpoint on a line, a function, an instruction or data should be. With a `log_message`: a tracepoint.

    `text`: that of its line; with `by_text` the line is found by it again when the file was edited, and
    `occurrence` tells which of how many lines with that text it is.
    """

    file: str | None = None
    line: int | None = None
    column: int | None = None
    function: str | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    hit_count_multiple: int = 0
    max_notifications: int = 0
    text: str | None = None
    by_text: bool = False
    occurrence: tuple[int, int] | None = None
    address: str | None = None
    watch: Watch | None = None
    only_in: str | None = None


def type_of(spec: BreakpointSpec) -> BreakpointType:
    """Return the type of a breakpoint; one that writes a message is a tracepoint."""
    return "Breakpoint" if spec.log_message is None else "Tracepoint"


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
    files = {each.file: None for each in known if each.file is not None}
    if file in files:
        return file
    real = realpath(file)
    return next((each for each in files if realpath(each) == real), file)


def same_place(one: Breakpoint, other: BreakpointSpec) -> bool:
    """Return whether a breakpoint is where another one is to be."""
    if one.watch is not None and other.watch is not None:
        # An id of a session that has ended means nothing: the breakpoint is known by what it was to watch.
        if one.lost:
            return one.watch.expression == other.watch.expression
        return (one.watch.data_id, one.only_in) == (other.watch.data_id, other.only_in)
    places = ((each.file, each.line, each.column, each.function, each.address) for each in (one, other))
    return one.watch is other.watch and len({*places}) == 1


def is_same(one: Breakpoint, other: BreakpointSpec) -> bool:
    """Return whether a breakpoint at that place stops, or writes, in just the same cases. One that is off does not."""
    return one.enabled and all(getattr(one, name) == getattr(other, name) for name in _CASES)


_CASES = ("condition", "hit_condition", "log_message", "hit_count_multiple", "max_notifications")
