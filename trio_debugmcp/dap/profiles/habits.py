"""`Habits`: where an adapter differs from what its messages would mean by the specification. Data, as a table has it.

Whatever is right for every adapter belongs to the core instead, which asks about a habit only where it must.
"""

from typing import Literal

from msgspec import Struct

Reason = Literal[
    "entry",
    "step",
    "breakpoint",
    "function breakpoint",
    "exception",
    "signal",
    "pause",
    "goto",
    "data breakpoint",
    "instruction breakpoint",
]
"""Why a program stops: the DAP's words, and `signal` for one that would end it."""


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a program begins, for an adapter whose own stop there is somewhere else, or none that can be asked for.

    Attributes:
        function: a function of the user's, which gets a breakpoint that no list has.
        line: the first statement of the program's file gets one.
        always: the adapter stops at the first line whatever is asked.
    """

    function: str | None = None
    line: Literal["first"] | None = None
    always: bool = False


class Habits(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """What differs between adapters that speak the same protocol.

    Attributes:
        entry: where a launch stops that is to stop at its entry.
        reasons: a reason of a stop in the adapter's words → in the DAP's.
        conditions: `ours`: judged by the server at each stop, although the adapter says that it can.
        hit_conditions: the same, for an adapter that means something else by `3` than the third hit.
        log_messages: the same, for one that writes them into the output of the program.
    """

    entry: Entry | None = None
    reasons: dict[str, Reason] = {}
    conditions: Literal["ours"] | None = None
    hit_conditions: Literal["ours"] | None = None
    log_messages: Literal["ours"] | None = None
