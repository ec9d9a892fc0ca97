"""How a session begins: by launching, by attaching, or as the child that an adapter announced. Pure."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Attach, Launch, Profile
from trio_debugmcp.state.model import Origin
from trio_debugmcp.state.payloads import UnixTime

CLIENT_CAPABILITIES = {
    "clientID": "trio-debugmcp",
    "clientName": "trio_debugmcp",
    "locale": "en",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
    "supportsVariableType": True,
    "supportsRunInTerminalRequest": True,
    "supportsProgressReporting": False,
    "supportsInvalidatedEvent": False,
    "supportsStartDebuggingRequest": True,
}
"""What `initialize` says of us; the adapter's id is added."""


class ChildStart(Struct, frozen=True):
    """A child session that the adapter announced: the request to make, and its arguments."""

    request: str
    configuration: dict[str, Any]


Start = Launch | Attach | ChildStart


def start_request(profile: Profile, start: Start) -> tuple[str, dict[str, Any]]:
    """The DAP request that starts the session, and its arguments."""
    match start:
        case Launch():
            return "launch", profile.launch_arguments(start)
        case Attach():
            return "attach", profile.attach_arguments(start)
        case ChildStart(request=command, configuration=arguments):
            return command, arguments


def origin_of(profile: Profile, start: Start, now: UnixTime) -> Origin:
    """What is known of the session's process before it exists."""
    origin = Origin(adapter=profile.name, language=profile.language, launch_mode="Launch", attached_at=now)
    match start:
        case Launch(program=program, args=args, cwd=cwd):
            return replace(
                origin,
                process_name=program.rpartition("/")[2],
                executable_path=program,
                command_line_args=args,
                working_directory=cwd,
            )
        case Attach(pid=pid):
            return replace(origin, launch_mode="Attach", process_id=pid)
        case ChildStart(configuration=configuration):
            child_pid, child_cwd = configuration.get("subProcessId"), configuration.get("cwd")
            return replace(
                origin,
                process_id=child_pid if isinstance(child_pid, int) else None,
                working_directory=child_cwd if isinstance(child_cwd, str) else None,
            )
