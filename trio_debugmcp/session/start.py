"""How a session starts: by a launch, by attaching, or as an adapter's child; and how that fails. Pure."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from msgspec.structs import replace

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.messages import BY_ENGINE, RunInTerminal
from trio_debugmcp.dap.profiles.profile import Profile, Runtime
from trio_debugmcp.dap.profiles.starts import (
    Attach,
    ChildStart,
    Launch,
    Listen,
    PathMapping,
    RootStart,
    Start,
    asked_for,
)
from trio_debugmcp.errors import AdapterGone, AdapterRefused, CannotRun, DebugError, ProtocolViolation, UsageError
from trio_debugmcp.state.model import Origin, State
from trio_debugmcp.state.payloads import UnixTime

CLIENT_CAPABILITIES = {
    "clientID": "trio-debugmcp",
    "clientName": "trio_debugmcp",
    "locale": "en",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
    "supportsVariableType": True,
    "supportsMemoryReferences": True,
    "supportsRunInTerminalRequest": True,
    "supportsProgressReporting": False,
    "supportsInvalidatedEvent": False,
    "supportsStartDebuggingRequest": True,
}
"""The arguments of `initialize`, to which the adapter's id is added."""


def directory_of(start: Start) -> str | None:
    """Return the directory that the program was launched in."""
    asked = asked_for(start)
    return asked.cwd if isinstance(asked, Launch) else None


def without_unset(start: Start, wanted: RunInTerminal) -> RunInTerminal:
    """Return what an adapter wants to run, without the variables that the program is not to get."""
    asked = asked_for(start)
    unset = asked.unset if isinstance(asked, Launch) else ()
    return replace(wanted, env={**dict.fromkeys(unset), **(wanted.env or {})}) if unset else wanted


def opened(profile: Profile, start: Start, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
    """Open the adapter of a session that starts so, for the length of the block."""
    match start:
        case Launch() as launch:
            return profile.open(launch, runtime)
        case Attach() as attach:
            return profile.open_attached(attach, runtime)
        case Listen() as listen:
            return profile.open_listening(listen, runtime)
        case ChildStart(configuration=configuration, parent_address=address):
            return profile.open_child(configuration, runtime, address)


def has_program(profile: Profile, start: Start) -> bool:
    """Whether a session has a program itself, whose threads stop at breakpoints."""
    return not isinstance(start, Listen) and (isinstance(start, ChildStart) or not profile.habits.launches_only)


def is_by_engine(start: Start) -> bool:
    """Whether a child is debugged by our engine."""
    return isinstance(start, ChildStart) and start.configuration.get(BY_ENGINE) is True


def path_mappings(start: Start) -> tuple[PathMapping, ...]:
    """Return where the program has the files of this machine, if that is elsewhere."""
    match start:
        case Launch(path_mappings=mappings) | Attach(path_mappings=mappings):
            return mappings
        case ChildStart(configuration={"pathMappings": [*mappings]}):
            return tuple(
                PathMapping(mapping["localRoot"], mapping["remoteRoot"])
                for mapping in mappings
                if isinstance(mapping, dict)
                and isinstance(mapping.get("localRoot"), str)
                and isinstance(mapping.get("remoteRoot"), str)
            )
        case _:
            return ()


def start_request(profile: Profile, start: Start) -> tuple[str, dict[str, Any]]:
    """Return the DAP request that starts the session, and its arguments."""
    match start:
        case Launch():
            return profile.start_request(start), profile.launch_arguments(start)
        case Attach():
            return profile.start_request(start), profile.attach_arguments(start)
        case Listen():
            return "attach", {}
        case ChildStart(request=command, configuration=arguments):
            return command, arguments


def origin_of(profile: Profile, start: Start, now: UnixTime, parent: Origin | None = None) -> Origin:
    """Return what is known of the session's process before it exists. What stops a program stops its children."""
    origin = Origin(adapter=profile.name, language=profile.language, launch_mode="Launch", attached_at=now)
    origin = origin if parent is None else _stopping_as(parent, origin)
    origin = replace(origin, launches=not isinstance(start, Listen) and not has_program(profile, start))
    match start:
        case Launch(args=args, cwd=cwd):
            # Classes that were built are in a directory of ours; the user knows the file.
            program = start.source if start.main is not None and start.source is not None else start.program
            return replace(
                origin,
                stop_at=start.stop_at,
                fails_with=start.fails_with,
                fails_below=start.fails_below,
                process_name=program.rpartition("/")[2],
                executable_path=program,
                command_line_args=args,
                working_directory=cwd,
            )
        case Attach(pid=pid, program=program, core_file=core_file, name=name):
            origin = replace(origin, process_name=name or (program and program.rpartition("/")[2]))
            return replace(origin, launch_mode="Attach", process_id=pid, executable_path=program, core_file=core_file)
        case Listen():
            return replace(origin, launch_mode="Attach", listens=True)
        case ChildStart(asked=Launch() | Attach() as asked, configuration=configuration):
            own = replace(origin_of(profile, asked, now), launches=False)
            return replace(own, process_id=profile.habits.child(configuration)[1] or own.process_id)
        case ChildStart(configuration=configuration):
            if "guest" in configuration:
                origin = replace(origin, launch_mode="Attach")
            child_pid, child_cwd = configuration.get("subProcessId"), configuration.get("cwd")
            name, named_pid = profile.habits.child(configuration)
            return replace(
                origin,
                process_id=child_pid if isinstance(child_pid, int) else named_pid,
                process_name=name,
                working_directory=child_cwd if isinstance(child_cwd, str) else None,
            )


def is_guest(start: Start) -> bool:
    """Whether it is that of a program which has dialed in by itself."""
    return isinstance(start, ChildStart) and "guest" in start.configuration


def outlives_parent(profile: Profile, start: Start) -> bool:
    """Whether it is that of a child which lives on when its parent has ended."""
    return isinstance(start, ChildStart) and profile.child_outlives_parent(start.configuration)


def _stopping_as(parent: Origin, child: Origin) -> Origin:
    """Return a child that stops where its parent does, and where a test fails in what that has started."""
    below = parent.fails_below and parent.launches  # the program is the only child of a session that launches it
    return replace(child, stop_at=parent.stop_at, fails_with=parent.fails_with, fails_below=below)


def session_active(state: State) -> UsageError:
    """Return the `SESSION_ACTIVE` error of a start while there is a session; it says what that session is."""
    root = state.root
    if root is None or root.origin.launch_mode == "Launch":
        what = "is already active"
        advice = (
            "Pass new_session=true to debug both (debug_launch also takes replace=true), end it with debug_disconnect, "
            "or use debug_restart"
        )
    elif root.origin.listens:
        what = f"already listens at {root.origin.process_name} for programs to dial in"
        advice = "Start programs yourself, with the line in them, or end it with debug_disconnect: they run on"
    else:
        what = "is already active"
        advice = "End it with debug_disconnect: the program runs on. Or pass new_session=true to debug both"
    return UsageError("SESSION_ACTIVE", f"A debug session {what}. {advice}.", {"session": state.focus})


_ENDED = {
    "replaced": "Another debug_launch with replace=true has ended this program",
    "restarted": "A debug_restart has ended this program",
    "disconnected": "A debug_disconnect has ended this program",
}
"""Why a client may end a session, in the words of the tools that end it."""


FAILURES = (AdapterRefused, CannotRun, AdapterGone, ProtocolViolation)
"""What `start_failure` puts in the user's terms."""


def start_failure(profile: Profile, start: RootStart, error: DebugError, output: str) -> UsageError:
    """Return the error of a failed start in the user's terms; `output` is the last that the program wrote."""
    if isinstance(start, Listen):
        again = "Pass another host or port (0: a free one), and call debug_listen again."
        return UsageError("ATTACH_FAILED", f"Programs cannot dial in: {str(error).rstrip('. ')}. {again}")
    launching = isinstance(start, Launch)
    again = f"call {'debug_launch' if launching else 'debug_attach'} again"
    details: dict[str, object] = {"output": output} if output else {}
    match error:
        case AdapterRefused(reason=reason):
            code = "LAUNCH_FAILED" if launching else "ATTACH_FAILED"
            sentence = f"{profile.name} refused: {reason.rstrip('. ')}. Correct what it names, and {again}."
            return UsageError(code, sentence, details)
        case CannotRun(reason=reason, program=program):
            sentence = (
                f"The debug adapter {profile.name} does not start: {reason} ({program}). Correct it, and {again}."
            )
            return UsageError("ADAPTER_FAILED", sentence)
        case AdapterGone(reason=reason) if reason in _ENDED:
            sentence = f"{_ENDED[reason]} while it was starting. Use debug_state, or {again}."
            return UsageError("LAUNCH_FAILED" if launching else "ATTACH_FAILED", sentence)
        case _:
            stderr = error.stderr_tail if isinstance(error, AdapterGone) else ""
            by_port = isinstance(start, Attach) and start.port is not None
            advice = "Start what listens there, or pass another port, and " if by_port else ""
            advice = "Look at the details, and " if stderr or details else advice
            advice = (advice + again)[0].upper() + (advice + again)[1:]
            if stderr:
                details = {"stderr": stderr, **details}
            return UsageError(
                "ADAPTER_FAILED" if launching else "ATTACH_FAILED",
                f"{profile.name} did not {'launch' if launching else 'attach'}: {str(error).rstrip('. ')}. {advice}.",
                details,
            )
