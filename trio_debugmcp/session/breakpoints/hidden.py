"""`HiddenBreakpoints`: what an adapter has of ours that is not among the user's breakpoints.

Three kinds: one on the function or the line where a program begins, for a launch that is to stop there and an adapter
whose own entry stop is somewhere else; those on functions of a runtime that raise what the adapter has no filter for,
as Rust's panics are; and the adapter's ids of its exception filters, as some report a hit of these as `breakpoint`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapBreakpoint, Stopped
from trio_debugmcp.dap.profiles.opening import launch_values
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import Attach, Launch, Start, asked_for
from trio_debugmcp.dap.profiles.tables.placeholders import filled

_NONE = frozenset[int]()
"""Kept in place of other empty ones: Python makes each anew, with 216 bytes, and a session has three."""


class EntryPlace(Struct, frozen=True):
    """Where hidden breakpoints are: on functions, or one in a file on the line of its first statement."""

    functions: tuple[str, ...] = ()
    file: str | None = None


class HiddenBreakpoints:
    """Those of one session.

    Attributes:
        launched: this session began with the program, so that its first stop may be where that begins.
        wanted: the program is to stop where it begins.
        kept: it is to stay where attaching stops it.
        place: where, if the adapter is not relied on for it.
        entry: the same, until it has stopped there.
        raising: the functions that raise exceptions, while the program is to stop at these.
        class_path: where its classes are, of a program that is made of some.
        named: the program's file, of which the adapter only knows where it is if it has got breakpoints.
    """

    def __init__(self, profile: Profile, start: Start, source_of_built: Callable[[str], str]) -> None:
        start = asked_for(start)
        self.launched = isinstance(start, Launch)
        self.wanted = isinstance(start, Launch) and start.stop_at_entry
        self.kept = isinstance(start, Attach) and start.stop
        named = isinstance(start, Launch) and profile.habits.learns_sources
        self.named = {start.source or start.program} if named and isinstance(start, Launch) else set()
        self.class_path = _class_path(start) if isinstance(start, Launch) else ""
        self.place = _place(profile, start, source_of_built) if isinstance(start, Launch) and self.wanted else None
        self.entry = self.place
        self.raising: tuple[str, ...] = ()
        self._thrown = profile.thrown
        self._entry_ids = self._raising_ids = self._exception_ids = _NONE

    def __repr__(self) -> str:
        return f"<HiddenBreakpoints entry={self.entry!r}>"

    def functions(self) -> list[dict[str, Any]]:
        """Return those to send behind the user's function breakpoints."""
        conditions = self._thrown.raised_if
        raising = [
            {"name": name, **({"condition": conditions[name]} if name in conditions else {})} for name in self.raising
        ]
        return [*({"name": function} for function in self._entry_functions()), *raising]

    def files(self) -> set[str]:
        """Return the file that has one in a line."""
        return set() if self.entry is None or self.entry.file is None else {self.entry.file}

    def lines(self, file: str, first_statement: Callable[[], int]) -> list[dict[str, Any]]:
        """Return those to send behind the user's breakpoints in a file."""
        return [{"line": first_statement()}] if file in self.files() else []

    def entry_bound(self, answers: Sequence[DapBreakpoint], users: int) -> None:
        """Keep what the adapter has answered for `functions` or `lines`, behind so many breakpoints of the user's.

        js-debug gives an id again once its breakpoint is taken back: then it is the user's.
        """
        self._entry_ids = (self._entry_ids - _ids(answers[:users])) | _ids(answers[users:]) or _NONE

    def functions_bound(self, answers: Sequence[DapBreakpoint], users: int) -> None:
        """Keep what the adapter has answered for `functions`, behind so many breakpoints of the user's."""
        behind_entry = users + len(self._entry_functions())
        users_own = _ids(answers[:users])  # which may have the same name
        self._raising_ids = _ids(answers[behind_entry:]) - users_own or _NONE
        self.entry_bound(answers[:behind_entry], users)

    def raises(self, wanted: bool, tests: bool) -> bool:
        """Have the functions that raise exceptions among `functions`, or not; return whether that has changed them.

        `tests`: also the one in which tests fail.
        """
        failing = (self._thrown.fails_in,) if tests and self._thrown.fails_in is not None else ()
        before, self.raising = self.raising, (*self._thrown.raised_in, *failing) if wanted else ()
        return self.raising != before

    def exceptions_bound(self, answers: Iterable[DapBreakpoint]) -> None:
        """Keep what the adapter has answered for its exception filters, if it has."""
        self._exception_ids = self._exception_ids | _ids(answers) or _NONE

    def interpreted(self, stopped: Stopped) -> Stopped:
        """Return a stop with what it means as its reason, and without the ids of what is hidden."""
        hit = stopped.hit_breakpoint_ids
        if not hit:
            return stopped
        adapter_ids = [
            adapter_id
            for adapter_id in hit
            if adapter_id not in self._entry_ids | self._raising_ids | self._exception_ids
        ]
        if adapter_ids or len(adapter_ids) == len(hit):
            return replace(stopped, hit_breakpoint_ids=adapter_ids)
        reason = "entry" if self._entry_ids.issuperset(hit) else "exception"
        return replace(stopped, reason=reason, hit_breakpoint_ids=None)

    def _entry_functions(self) -> tuple[str, ...]:
        return () if self.entry is None else self.entry.functions


def _class_path(start: Launch) -> str:
    return str(start.options.get("classpath") or launch_values(start)["class_path"])


def _place(profile: Profile, start: Launch, source_of_built: Callable[[str], str]) -> EntryPlace | None:
    habit = profile.habits.entry
    if habit is None or (habit.function is None and habit.line is None):
        return None
    named = (habit.function,) if isinstance(habit.function, str) else habit.function or ()
    functions = tuple(str(filled(function, launch_values(start))) for function in named)
    # js-debug shows a built file, and not its source, after a stop at a breakpoint in the built file.
    return EntryPlace(functions, source_of_built(start.program) if habit.line is not None else None)


def _ids(answers: Iterable[DapBreakpoint]) -> frozenset[int]:
    return frozenset(answer.id for answer in answers if answer.id is not None)
