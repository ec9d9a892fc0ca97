"""`Words`: what is in an adapter's texts, which are written for people. The defaults suit most adapters."""

import re
from typing import Any, ClassVar, Literal

from trio_debugmcp.dap.messages import DapBreakpoint, Stopped

ProgramStream = Literal["stdout", "stderr", "console"]

_DRAWN = re.compile(r"\s*\d*\s*\||[\s^~]*$")
"""A line that shows the expression, or points into it: `1 | nosuch` and `  | ^`."""


class EventReport:
    """What is to be said of a session's events that are not in DAP; kept for the length of the session."""

    def text_of(self, event: str, body: object) -> str | None:
        """Return what a person is to read of an event, as the program's standard error; None: nothing."""
        return None


class Words:
    """What one adapter's texts mean."""

    exit_signal: ClassVar[str | None] = None
    """An expression for the signal that ended the program, where the adapter then reports 0 for its exit code."""

    waiting: ClassVar[str | None] = None
    """Why a program may not stop at a pause for a while, where that is a matter of its runtime."""

    def stream(self, category: str, text: str = "") -> ProgramStream:
        """Where output belongs, by its category: in the program's `stdout` or `stderr`, or in `console`."""
        return "stdout" if category == "stdout" else "stderr" if category == "stderr" else "console"

    def is_beginning(self, text: str) -> bool:
        """Whether the next output, too, is the adapter's own, because this one of it only begins what it says."""
        return False

    def is_routine(self, text: str) -> bool:
        """Whether output is the adapter's own and repeats what answers have anyway, so that it is not kept."""
        return False

    def about_breakpoint(self, answer: DapBreakpoint) -> DapBreakpoint:
        """What the adapter says of a breakpoint, without what repeats that it is set, and not set if it is nowhere."""
        return answer

    def why_never(self, file: str) -> str | None:
        """Why the adapter may have set no breakpoint in a source file, though it has said nothing of it."""
        return None

    def why(self, stopped: Stopped) -> str | None:
        """What a stop says of itself beside its reason."""
        return stopped.text or stopped.description

    def doubt(self, stopped: Stopped, mode: str | None) -> str | None:
        """What remains open of an exception that an adapter calls one of this break mode."""
        return None

    def thread_name(self, name: str) -> str:
        """A thread's name, without what is known of the thread anyway."""
        return name

    def other_name(self, function: str, problem: str) -> tuple[str, str | None] | None:
        """The name by which to try again to set a breakpoint on a function, of which the adapter says this.

        And what is to be said if it is set by that: which other functions may be meant.
        """
        return None

    def plain_error(self, error: str) -> str:
        """What an evaluation failed with, without what only says that it failed."""
        return error

    no_message: ClassVar[str] = ""
    """What the adapter says of an exception that has no message."""

    def exception_message(self, kind: str) -> str | None:
        """The message of an exception, where what the adapter says of its type has that, too; empty if it has none."""
        return None

    def telling_line(self, error: str) -> int:
        """Which line of an error's text says what is wrong: the last that is not a drawing of the expression."""
        lines = error.splitlines()
        return max((number for number, line in enumerate(lines) if not _DRAWN.match(line)), default=-1)

    idle_when: ClassVar[str | None] = None
    """An expression whose value says where a running program is that only waits for its user, as a page does."""

    def idle_notes(self, where: str) -> list[str]:
        """What is to be said of a program that has begun and waits; `where`: the value of `idle_when`."""
        return []

    def standing_request(self) -> tuple[str, dict[str, Any]] | None:
        """A request outside the DAP to a session with a program, whose answer may only come when that runs."""
        return None

    def event_report(self) -> EventReport | None:
        """What reports on the adapter's own events in one session, if anything does."""
        return None
