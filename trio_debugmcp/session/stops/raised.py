"""`Raised`: what is known of an exception at a stop, and how it is read from what adapters say. Pure."""

import os.path
import re
from collections.abc import Mapping, Sequence
from itertools import dropwhile

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.profiles.thrown import Thrown, ThrownDescription
from trio_debugmcp.session.looking.stop_questions import Findings
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import ExceptionInfo

_WHOLE = re.compile(r"(?:Uncaught (?:\(in promise\) )?)?([A-Za-z_$][\w$.]*): (.*)", re.DOTALL)
"""The type and the message of an exception."""

_SCOPE = re.compile(r"::|[.$\\]")
"""What stands between the name of a type and what it is in, in any language."""

TEST_FAILURE = "test failure"
"""The type of what stops a test whose runner raises nothing where it fails."""


_MOST_KINDS = 5
"""Types of exceptions that are named."""


class Raised(Struct, frozen=True):
    """An exception stop: what is known of it, which breakpoints asked for it, and whether it counts as a stop.

    `signal`: the name of the signal that it is, or ends in; `is_fault`: one that an instruction caused. `fails_test`: a
    test fails by it. `remarks`: what else is to be said of it.
    """

    info: ExceptionInfo
    wanted_by: tuple[str, ...] = ()
    counts: bool = True
    is_fault: bool = False
    fails_test: bool = False
    signal: str | None = None
    remarks: tuple[str, ...] = ()


class FailuresSeen:
    """How tests have failed, by their threads: a runner raises the failure again, further out."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[ExceptionInfo, int]] = {}

    def __repr__(self) -> str:
        return f"<FailuresSeen in {len(self._first)} threads>"

    def is_again(self, info: ExceptionInfo, found: Findings) -> bool:
        """Whether this is how the test of this thread has failed before."""
        depth = found.total or len(found.frames)
        first = self._first.get(found.thread_id)
        if first is not None and first[0] == info and depth < first[1]:
            return True
        self._first[found.thread_id] = info, depth
        return False


def test_failure(thrown: Thrown, found: Findings) -> Raised | None:
    """Return what a stop is in the function in which tests fail; None at another."""
    if thrown.fails_in is None or found.top is None or found.top.label != thrown.fails_in:
        return None
    again = len(found.frames) > 1 and found.frames[1].label == thrown.fails_in  # of the test that it is a part of
    runner = f"{thrown.fails_in.partition('.')[0]}."  # another handler, as of a library, may not raise it again
    outer = dropwhile(lambda frame: (frame.label or "").startswith(runner), found.frames)
    by_panic = next((frame.label == thrown.panics_in for frame in outer), False)  # reported next, with what it says
    return Raised(ExceptionInfo(TEST_FAILURE, None, None), counts=not (again or by_panic), fails_test=True)


def passed_over(passed: Mapping[str, int]) -> str | None:
    """Return how many exceptions were raised at which the program was not stopped, the most frequent types first."""
    if not passed:
        return None
    kinds = sorted(passed, key=lambda kind: -passed[kind])
    others = sum(passed[kind] for kind in kinds[_MOST_KINDS:])
    named = ", ".join(f"{kind} {passed[kind]}" for kind in kinds[:_MOST_KINDS]) + (
        f", others {others}" if others else ""
    )
    each = "1 exception" if sum(passed.values()) == 1 else f"{sum(passed.values())} exceptions"
    return f"passed over {each} that no breakpoint asks for: {named}"


def remarks_on(doubt: str | None, seen: ThrownDescription | None) -> tuple[str, ...]:
    """Return what is to be said of an exception: what is doubtful of it, and how many were passed over before."""
    return tuple(filter(None, (doubt, None if seen is None else passed_over(seen.passed))))


def is_of(thrown: Thrown, wanted: str, info: ExceptionInfo, lineage: tuple[str, ...] | None) -> bool:
    """Whether an exception is of a type; without a lineage its own type is unknown, and may be any."""
    if wanted == "*":
        return True
    if lineage is None:
        return thrown.may_be(wanted, info.type)
    return wanted in {name for kind in lineage for name in names_of(kind)}


def is_raised_in(file: str | None, found: Findings) -> bool:
    """Whether an exception is raised in a file: the innermost frame of the user's code is of it. In None all are.

    With a slash behind it it is a directory, with all that is below.
    """
    frame = next((each for each in found.frames if each.is_user_code), found.top)
    place = None if frame is None else frame.location.file
    if file is None or place is None:
        return file is None
    real, wanted = os.path.realpath(place), os.path.realpath(file)
    return real == wanted or (file.endswith("/") and real.startswith(f"{wanted.rstrip('/')}/"))


def is_skipped(thrown: Thrown, top: StackFrame | None) -> bool:
    """Whether an exception that something catches is raised in code that is passed over, unless all code is wanted."""
    return top is not None and not top.is_user_code and thrown.is_skipped(top.location.file or "")


def is_outermost(frames: Sequence[StackFrame]) -> bool:
    """Whether an exception leaves the frame of a module that nothing but the debugger has called."""
    names = [frame.label for frame in frames if not frame.label.startswith("[Chained Exc: ")]
    current = next((name for name in names if name.endswith(_CURRENT)), names[0] if names else "")
    return current.startswith("<module>") and current == names[-1]


_CURRENT = " (Current frame)"
"""Behind the name of the frame that an exception leaves, of those that it has passed."""


def divided(said: tuple[str, str] | None, info: ExceptionInfo) -> ExceptionInfo:
    """Return what is known of an exception, of which an adapter may have all in one: `TypeError: bad 2`.

    `said`: type and message, as the adapter says them in words of its own.
    """
    if said is not None:
        return replace(info, type=said[0], message=said[1])
    whole = _WHOLE.fullmatch(info.type)
    kind, message = info.type, info.message
    if whole is not None:
        kind, message = whole[1], info.message if info.message and not _WHOLE.fullmatch(info.message) else whole[2]
    # java-jdi has the type in the message, too, or in its place.
    return replace(info, type=kind, message=None if message == kind else message and message.removeprefix(f"{kind}: "))


def names_of(kind: str) -> tuple[str, ...]:
    """Return the names by which people know a type: `shop.Till$Bad` is `shop.Till.Bad`, `Till.Bad` and `Bad`, too."""
    full = (kind, kind.replace("$", "."))
    starts = [0, *(found.end() for found in _SCOPE.finditer(kind))]
    return tuple(name[start:] for start in starts for name in full)
