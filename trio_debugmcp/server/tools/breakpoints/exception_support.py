"""What an exception breakpoint asks for, checked before it is set: also by what the adapter at hand knows of them."""

from collections.abc import Callable

from trio_debugmcp.dap.profiles import Listen, Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.breakpoints.conditions import check_condition
from trio_debugmcp.server.tools.paths import code_file, existing_file, existing_folder, no_file
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec
from trio_debugmcp.session.breakpoints.exception_sync import exception_problem
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.payloads import shortened


def exception_spec(
    debugger: Debugger,
    exception_type: str,
    condition: str | None,
    file: str | None,
    launched: Profile | None = None,
    cwd: str | None = None,
    near: str | None = None,
) -> ExceptionSpec:
    """Check the condition and the file of an exception breakpoint, and return what to set; `cwd` as `breakpoint_spec`.

    Raises:
        UsageError: `INVALID_PARAMETER`, `INVALID_PATH`, `PERMISSION_DENIED` or `INVALID_CONDITION`.
    """
    check_name(debugger, exception_type, lambda profile, name: profile.code.exception_type_problem(name), launched)
    check_condition(condition, launched or debugger.language_of(None))
    check_support(debugger, exception_type, launched)
    path = None if file is None else _place(debugger, file, cwd, near)
    return ExceptionSpec(exception_type=exception_type, condition=condition, file=path)


def _place(debugger: Debugger, file: str, cwd: str | None, near: str | None) -> str:
    """Return the path of a file, or of a directory with a slash behind it.

    Raises:
        UsageError: `INVALID_PATH` or `PERMISSION_DENIED`.
    """
    path = existing_file(debugger, file, cwd, near) or code_file(debugger, file)
    if path is None:
        directory = existing_folder(debugger, file, cwd, near)
        path = None if directory is None else f"{directory.rstrip('/')}/"
    if path is None:
        raise no_file(debugger, file, cwd, "file or directory")
    return path


def check_name(
    debugger: Debugger, name: str, problem_in: Callable[[Profile, str], str | None], launched: Profile | None
) -> None:
    """Refuse what cannot be a name in the program's language; before a session, in any language that is known.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    living = [each.profile for each in debugger.programs.living()]
    profiles = living or debugger.settings.profiles
    profiles = profiles if launched is None else [launched]
    problems = [problem_in(profile, name) for profile in profiles]
    if all(problems):
        raise UsageError("INVALID_PARAMETER", f"{shortened(name)!r} {problems[0]}.", {"name": shortened(name)})


def check_support(debugger: Debugger, exception_type: str, launched: Profile | None) -> None:
    """Refuse exceptions that the adapter at hand cannot stop at.

    Raises:
        UsageError: `NOT_SUPPORTED`.
    """
    profile, able, name = launched, None, "" if launched is None else launched.name
    if launched is None:
        session = _session(debugger)
        # What listens has no program: those that dial in are asked.
        if session is None or not session.requests.started or isinstance(session.start, Listen):
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
    profile = None if session is None else session.profile
    if profile is None or profile.thrown.reads_types or profile.thrown.knows_handlers:
        return
    if profile.expressions.tells_lineage:
        return
    name = profile.name
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
