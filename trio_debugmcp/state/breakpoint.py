"""Breakpoints: what is wanted (`BreakpointSpec`), and what became of it, in each session (`Binding`) and in all.

    bp_1 = Breakpoint("bp-1", BreakpointSpec(file="/src/app.py", line=7, condition="total < 0"))

Adapters get two kinds of places: the user's breakpoints, and those that a run of the program needs. Only the first are
in payloads, and in lists of clients.
"""

from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.state.payloads import BreakpointType, DataAccess


class Binding(Struct, frozen=True):
    """A breakpoint in one session, as its adapter placed it.

    `hits` counts the hits in this session, `earlier` of which are those of earlier versions of the breakpoint.
    """

    session_id: str
    adapter_id: int | None = None
    verified: bool = False
    line: int | None = None
    column: int | None = None
    message: str | None = None
    hits: int = 0
    earlier: int = 0


class Watch(Struct, frozen=True):
    """What a data breakpoint watches: a place in memory, by the id that the adapter gave it.

    `reader` evaluates to its value in every frame, or, where `function` is set, in frames of that function. `address`
    is where it is, if that is known. `adapter`: where the id `persists`, every session of that adapter takes it.
    """

    expression: str
    access: DataAccess
    data_id: str
    description: str = ""
    adapter: str = ""
    persists: bool = False
    reader: str | None = None
    function: str | None = None
    address: str | None = None


Place = tuple[str | None, int | None, int | None, str | None, str | None]
"""The file, line and column, or the function, or the address."""


class BreakpointSpec(Struct, frozen=True, kw_only=True):
    """What is wanted of a breakpoint on a line, a function, an instruction (`address`) or data (`watch`).

    With a `log_message` it is a tracepoint, which notifies at every `hit_count_multiple`th hit, and `max_notifications`
    times; 0 means no limit. `text` is that of its line when it was set; with `by_text` the line is found by it again
    when the file was edited, and `occurrence` tells which of how many lines with that text it is. One that is `only_in`
    a session is about the memory of its program; one that has `sessions` is in these alone, the `group` that was named.
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
    sessions: tuple[str, ...] = ()
    group: str | None = None

    def is_for(self, session_id: str) -> bool:
        """Whether the program of a session is to have it, as far as it is limited to some."""
        return not self.sessions or session_id in self.sessions

    @property
    def is_for_later(self) -> bool:
        """Whether sessions that begin later have it, too."""
        return self.only_in is None and not self.sessions

    @property
    def type(self) -> BreakpointType:
        """One that writes a message is a tracepoint."""
        return "Breakpoint" if self.log_message is None else "Tracepoint"

    @property
    def place(self) -> Place:
        """Where it is to be."""
        return self.file, self.line, self.column, self.function, self.address

    @property
    def terms(self) -> tuple[str | None, str | None, str | None]:
        """The conditions and the message."""
        return self.condition, self.hit_condition, self.log_message

    @property
    def is_limited(self) -> bool:
        """Whether only some of the hits are notified, which the program judges itself."""
        return bool(self.hit_count_multiple or self.max_notifications)


class StopPlace(Struct, frozen=True):
    """What adapters are to have, a breakpoint or a place of a run, and what became of it in them.

    `version` differs from that of the place which had this id before, whose hits may still be reported. `enabled`: it
    is to be in force. `problem`: why its condition failed.
    """

    id: str
    spec: BreakpointSpec
    version: int = 0
    enabled: bool = True
    problem: str | None = None
    bindings: tuple[Binding, ...] = ()

    def with_spec(self, **changes: Any) -> Self:
        """Return it with another place or other conditions."""
        return replace(self, spec=replace(self.spec, **changes))

    def seen_by(self, program: str) -> Self | None:
        """Return it as that program is to have it; None: not at all. A program is named by its root session."""
        return self

    @property
    def observed(self) -> str | None:
        """The expressions that are evaluated there, in braces, if a run only looks at the place."""
        return None

    @property
    def is_active(self) -> bool:
        """Whether it is in force."""
        return self.enabled

    @property
    def is_held(self) -> bool:
        """Whether it is not to stop the run under way."""
        return False

    @property
    def is_sent(self) -> bool:
        """Whether adapters should have it."""
        return self.is_active and not self.is_held

    @property
    def counts_held(self) -> bool:
        """Whether hits are to be counted while it is held: a later one is to stop the program."""
        counts = self.spec.hit_condition is not None and self.spec.function is None
        return self.is_held and self.is_active and counts

    @property
    def hits_key(self) -> str:
        """By which a program counts its hits: another version is counted anew."""
        return f"{self.id}@{self.version}"

    @property
    def always_stops(self) -> bool:
        """Whether every hit is a stop: it is enabled, without a condition or a log message, and nothing judges it."""
        judged = self.spec.condition or self.spec.hit_condition or self.spec.log_message or self.observed is not None
        return self.enabled and not judged


class Breakpoint(StopPlace, frozen=True):
    """A breakpoint of the user's. It outlives sessions.

    It is `lost` when the session that it is `only_in` ends, or when its text is in no line; the text says why. `hits`
    counts the hits in all sessions since the last launch or attach, `notifications_sent` the messages. `refused` is why
    a session since then had not set it when it ended. `remark` is what it stands at, if that is not what its place
    says: the adapter has other words, or none. `set_by` are the names of the clients that have set it. One that
    is `held_for` a program is not to stop a run of it, so no adapter of that program has it until the run is over; it
    stops all others.
    """

    hits: int = 0
    notifications_sent: int = 0
    refused: str | None = None
    remark: str | None = None
    lost: str | None = None
    held_for: str | None = None
    set_by: tuple[str, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether it is in force: it is enabled, and has not sent all its notifications."""
        return self.enabled and not 0 < self.spec.max_notifications <= self.notifications_sent

    @property
    def is_held(self) -> bool:
        """Whether it is not to stop the run under way."""
        return self.held_for is not None

    def seen_by(self, program: str) -> Self:
        """Return it as that program is to have it: what is held for another one stops it."""
        return self if self.held_for in (None, program, EVERY_PROGRAM) else replace(self, held_for=None)


class RunPlace(StopPlace, frozen=True):
    """A place that a single run stops at, or with `observed` only looks at. No client sees it.

    `run_of`: the root session of the program that runs so, no other has it; None: any program.
    """

    observed: str | None = None
    run_of: str | None = None

    def seen_by(self, program: str) -> Self | None:
        """Return it if that program is to have it."""
        return self if self.run_of in (None, program) else None


EVERY_PROGRAM = "*"
"""A breakpoint is held for all programs."""


class ExceptionBreakpoint(Struct, frozen=True):
    """A stop when an exception is raised (`first_chance`), is not caught (`second_chance`), or leaves the user's code.

    `file`: the only one in which it stops, or a directory, with a slash behind it. `session_ids` are the sessions whose
    adapters watch for it, `unknown_in` those of them whose program has no such type yet.
    """

    id: str
    exception_type: str = "*"
    first_chance: bool = True
    second_chance: bool = True
    user_unhandled: bool = False
    include_subtypes: bool = True
    condition: str | None = None
    file: str | None = None
    enabled: bool = True
    hits: int = 0
    problem: str | None = None
    session_ids: tuple[str, ...] = ()
    unknown_in: tuple[str, ...] = ()
    set_by: tuple[str, ...] = ()
