"""What the adapter at hand knows of exceptions, checked before a breakpoint is set that would never stop."""

from trio_debugmcp.dap.profiles import Listen, Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.breakpoints.exception_sync import exception_problem
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.session import DebugSession


def check_support(debugger: Debugger, exception_type: str, launched: Profile | None) -> None:
    """Refuse exceptions that the adapter at hand cannot stop at.

    Raises:
        UsageError: `NOT_SUPPORTED`.
    """
    profile, able, name = launched, None, "" if launched is None else launched.name
    if launched is None:
        session = _session(debugger)
        # What listens has no program: those that dial in are asked.
        if session is None or not session.started or isinstance(session.start, Listen):
            return
        profile, able, name = session.profile, session.requests.capabilities, session.requests.debugger_name
    problem = exception_problem(profile, able, exception_type) if profile is not None else None
    if problem is not None and profile is not None:
        raise UsageError("NOT_SUPPORTED", f"{name} {problem}.", {"adapter": profile.name})


def check_lineage(debugger: Debugger) -> None:
    """Refuse to stop for derived types where the adapter at hand does not know them.

    Raises:
        UsageError: `NOT_SUPPORTED`.
    """
    session = _session(debugger)
    if session is None or session.profile.thrown.reads_types or session.profile.expressions.lineage() is not None:
        return
    name = session.profile.name
    raise UsageError(
        "NOT_SUPPORTED",
        f"{name} does not tell what the type of an exception is derived from. Leave out `include_subtypes`, and name "
        "each type, or use `*`.",
        {"adapter": name},
    )


def _session(debugger: Debugger) -> DebugSession | None:
    focused = debugger.state.focused
    # Of several languages at once the breakpoint is for the program that has such exceptions.
    if focused is None or debugger.programs.are_of_several_languages():
        return None
    return debugger.session(focused.id)
