"""The modes in which any exception stops a session, and what adapters are to stop at for these and for breakpoints."""

from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.dap.profiles.exception_filters import TypedException
from trio_debugmcp.session.looking.by_probe.own_questions import evaluated
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint
from trio_debugmcp.state.model import Snapshot

LEAVES_USER_CODE = "userUnhandled"
"""The break mode of an exception that leaves the user's code, caught elsewhere or not."""

LEAVES_CODE = "leavesCode"
"""A mode of a session whose program is given as code: uncaught exceptions stop where they leave the outermost frame.

From Python 3.12 on pydevd does not see that nothing catches these: it looks for the frame that its own runner calls.
"""

_TRUE = frozenset({"true", "1"})


def stopped_by(snapshot: Snapshot | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what stops a session though no breakpoint asks for it: break modes of exceptions, and types."""
    return ((), ()) if snapshot is None else (snapshot.origin.stop_at, snapshot.origin.fails_here)


def wanted_exceptions(mine: Sequence[ExceptionBreakpoint], snapshot: Snapshot | None) -> list[TypedException]:
    """Return what an adapter has to stop at for these breakpoints, and for the session itself."""
    wanted = [
        TypedException(e.exception_type, e.first_chance, e.second_chance, e.user_unhandled, e.condition) for e in mine
    ]
    modes, failures = stopped_by(snapshot)
    if modes:
        is_test = LEAVES_USER_CODE in modes
        leaves = is_test or LEAVES_CODE in modes
        wanted.append(TypedException("*", False, "unhandled" in modes, leaves, fails_test=is_test))
    return [*wanted, *(TypedException(name, True, False) for name in failures)]


async def with_session_modes(requests: Requests, mine: Sequence[ExceptionBreakpoint]) -> list[TypedException]:
    """Return what an adapter has to stop at, with a mode for code only where the program's language needs it."""
    snapshot = requests.snapshot
    if snapshot is not None and LEAVES_CODE in snapshot.origin.stop_at:
        question = requests.profile.dialect.misses_uncaught_in_code()
        value = await evaluated(requests, question, None) if question is not None else None
        if value is None or value.lower() not in _TRUE:
            modes = tuple(mode for mode in snapshot.origin.stop_at if mode != LEAVES_CODE)
            snapshot = replace(snapshot, origin=replace(snapshot.origin, stop_at=modes))
    return wanted_exceptions(mine, snapshot)
