"""`Habits`: where an adapter differs from what its messages would mean by the specification. Data, as a table has it.

Whatever is right for every adapter belongs to the core instead, which asks about a habit only where it must.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import fields, replace

from trio_debugmcp.dap.messages import Capabilities, Stopped
from trio_debugmcp.dap.profiles.tables.patterns import check_pattern

CAPABILITY_FIELDS = {field.encode_name: field.name for field in fields(Capabilities)}
"""The name of a capability in DAP → our field."""

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


class EntryHabit(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a program begins, for an adapter whose own stop there is somewhere else, or none that can be asked for.

    Attributes:
        function: a function of the user's, or several, which get breakpoints that no list has.
        line: the first statement of the program's file gets one.
        always: the adapter stops at the first line whatever is asked.
    """

    function: str | tuple[str, ...] | None = None
    line: Literal["first"] | None = None
    always: bool = False


class Habits(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """What differs between adapters that speak the same protocol.

    Attributes:
        entry: where a launch stops that is to stop at its entry.
        reasons: a reason of a stop in the adapter's words → in the DAP's.
        exception_types: the adapter reports the type of an exception, if it declares `exceptionInfo`.
        conditions: `ours`: judged by the server at each stop, although the adapter says that it can; `doubted`: judged
            again at the stops that the adapter makes, as it also stops where it cannot judge one; `guessed`: the same,
            but by the server alone where it cannot be repeated, as the adapter does not say that it could not judge.
        calls_end_frames: an evaluation that calls something of the program ends what the adapter knows of the thread's
            frames, and a `stackTrace` renews that; their ids stay.
        steps_into_libraries: it steps into functions of libraries, too, and has no option against that.
        hit_conditions: the same, for an adapter that means something else by `3` than the third hit.
        log_messages: the same, for one that writes them into the output of the program.
        one_per_line: it refuses a second breakpoint in a line; the server judges those that are there.
        numbers_anew: the ids of breakpoints that it gets once it has the program begin at 1 again, one for each sent.
        log_prefix: a pattern of what it writes before a log message; without groups.
        errors: a pattern of values that are errors, of evaluations that have failed; its first group is the error.
        unjudged: a pattern of what a stop says that it calls an exception, where a breakpoint's condition could not be
            judged; its first group is why.
        refused_condition: a pattern of what it says of a breakpoint that it refuses for its condition.
        exit_code: a pattern of output, whose first group is the exit code, for an adapter that reports it in words.
        truth: an expression that is `true` or `1` where a `{condition}` holds, and `false` or `0` where it does not.
        unlisted: a pattern of values, whose first group is how many of their children the adapter does not list; or,
            in groups `listed` and `all`, how many it lists of how many.
        made_up: a pattern of names that the adapter gives to children that stand for no element and no field.
        locals_in: the group of a scope that has the program's variables; those beside it are the adapter's.
        exception_filters: those of the adapter's filters that are for exceptions; all, if it is empty.
        lacks: capabilities that it declares and does not have, in the DAP's spelling.
        pages: it answers with a page of a value's children only to a client that declares `supportsVariablePaging`.
        step_out: why a step out is not asked of it, although the DAP has no capability for that.
        exception: a pattern of how a stop names an exception, with groups `type` and `message`.
        learns_sources: the adapter only knows where a source file is if it has got breakpoints there, even none.
        crlf: the program writes to a terminal of the adapter's, which ends its lines with a carriage return, too.
        functions_in_order: what is answered about breakpoints on functions is in the order in which they were sent.
        keeps_steps: a step that a breakpoint has cut short still ends some time, with a stop.
        keeps_breakpoints: a pattern of what a stop at a breakpoint on a line says, for an adapter that takes none back.
        ends_launched: a program that it has launched ends with the session, whatever is asked.
        stops_attached: it leaves a program stopped that it has attached to, with a stop whose reason is `attach`.
        halts_when_left: a program that was attached to keeps its breakpoints when the session ends, and stays stopped.
        detach: a command without which it ends what a server at a port has started for it, evaluated as `repl`.
        ends_by_closing: the adapter just closes the connection when the program has ended.
        launches_only: the session that was started has no threads; its first child is the program.
        child_name: a pattern for the name of a child's configuration, with groups `name` and `pid`.
        repeats_output: it reports what the program writes, although the program's streams are ours.
        program_command: a pattern of the command line of the process that it starts for the program, for an adapter
            that does not trace it; only where it does not report the process.
        own_lines: how lines begin that the adapter or the runtime writes into the program's streams for the debugger.
    """

    entry: EntryHabit | None = None
    reasons: dict[str, Reason] = {}
    exception_types: bool = True
    conditions: Literal["ours", "doubted", "guessed"] | None = None
    calls_end_frames: bool = False
    steps_into_libraries: bool = False
    hit_conditions: Literal["ours"] | None = None
    one_per_line: bool = False
    numbers_anew: bool = False
    log_messages: Literal["ours"] | None = None
    log_prefix: str | None = None
    errors: str | None = None
    unjudged: str | None = None
    refused_condition: str | None = None
    exit_code: str | None = None
    ends_launched: bool = False
    stops_attached: bool = False
    halts_when_left: bool = False
    detach: str | None = None
    ends_by_closing: bool = False
    functions_in_order: bool = True
    keeps_steps: bool = False
    keeps_breakpoints: str | None = None
    exception: str | None = None
    learns_sources: bool = False
    crlf: bool = False
    truth: str | None = None
    unlisted: str | None = None
    made_up: str | None = None
    locals_in: str | None = None
    exception_filters: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    pages: bool = False
    step_out: str | None = None
    launches_only: bool = False
    child_name: str | None = None
    repeats_output: bool = False
    program_command: str | None = None
    own_lines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_pattern("log-prefix", self.log_prefix, groups=False)
        unknown = next((lack for lack in self.lacks if lack not in CAPABILITY_FIELDS), None)
        if unknown is not None:
            raise ValueError(f"`lacks` names no capability of the DAP that is used here: {unknown!r}")
        check_pattern("program-command", self.program_command)
        check_pattern("unlisted", self.unlisted, group="number")
        check_pattern("made-up", self.made_up)
        check_pattern("exception", self.exception, named=("type", "message"))
        check_pattern("errors", self.errors)
        check_pattern("unjudged", self.unjudged, group="reason")
        check_pattern("refused-condition", self.refused_condition)
        check_pattern("exit-code", self.exit_code, group="exit code")
        check_pattern("keeps-breakpoints", self.keeps_breakpoints)

    def true_capabilities(self, declared: Capabilities) -> Capabilities:
        """Return what the adapter can do, from what it declares."""
        known = replace(declared, **{CAPABILITY_FIELDS[lack]: None for lack in self.lacks})
        if not self.exception_filters:
            return known
        filters = [
            breakpoint_filter
            for breakpoint_filter in known.exception_breakpoint_filters or ()
            if breakpoint_filter.filter in self.exception_filters
        ]
        return replace(known, exception_breakpoint_filters=filters)

    def error_in(self, value: str) -> str | None:
        """Return the error that a value is in truth, with which an adapter says that an evaluation has failed."""
        found = re.search(self.errors, value) if self.errors is not None else None
        if found is None:
            return None
        return (found[1] or "" if found.re.groups else value).strip() or "it has no value here"

    def unlisted_in(self, value: str) -> int:
        """Return how many children of a value the adapter does not list."""
        found = re.search(self.unlisted, value) if self.unlisted is not None else None
        if found is None:
            return 0
        named = found.groupdict()
        if named.get("listed") and named.get("all"):
            return max(0, int(named["all"]) - int(named["listed"]))
        number = next((group for group in found.groups() if group is not None), "")
        return int(number) if number.isdigit() else 0

    def child(self, configuration: Mapping[str, Any]) -> tuple[str | None, int | None]:
        """Return name and process id of a child, where the adapter's configuration for it is named after them."""
        pattern, name = self.child_name, configuration.get("name")
        if pattern is None or not isinstance(name, str):
            return None, None
        found = re.fullmatch(pattern, name)
        return (found["name"], int(found["pid"])) if found is not None else (name, None)

    def makes_up(self, name: str) -> bool:
        """Whether a child of that name is none of the value's."""
        return self.made_up is not None and re.fullmatch(self.made_up, name) is not None

    def exception_in(self, text: str) -> tuple[str, str] | None:
        """Return the type and the message of an exception that a stop names so."""
        found = re.search(self.exception, text) if self.exception is not None else None
        return None if found is None else (found["type"], found["message"])

    def may_be_taken_back(self, stopped: Stopped) -> bool:
        """Whether a stop is at a breakpoint on a line, which the adapter keeps even if the user has removed it."""
        said = stopped.text or stopped.description or ""
        return self.keeps_breakpoints is not None and re.search(self.keeps_breakpoints, said) is not None

    def unjudged_at(self, stopped: Stopped) -> str | None:
        """Return why a condition could not be judged, at a stop that is for that."""
        found = re.search(self.unjudged, stopped.text or "") if self.unjudged is not None else None
        return found[1] if found is not None and stopped.reason in ("exception", "breakpoint") else None

    def refuses_condition(self, problem: str) -> bool:
        """Whether what the adapter says of a breakpoint is about its condition, which it does not name."""
        return self.refused_condition is not None and re.search(self.refused_condition, problem) is not None

    def exit_code_in(self, text: str) -> int | None:
        """Return the program's exit code, if the adapter says it in this output."""
        found = re.search(self.exit_code, text) if self.exit_code is not None else None
        return int(found[1]) if found is not None and found[1].lstrip("-").isdigit() else None
