"""`debug_listen`: wait for programs that dial in by themselves, from this machine or from others."""

import ipaddress
import socket
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import trio
from msgspec import Meta

from trio_debugmcp.dap.door_tls import DoorTls, given_tls, made_tls
from trio_debugmcp.dap.listener import new_token
from trio_debugmcp.dap.profiles import Listen
from trio_debugmcp.descriptors import WANTED_OPEN_FILES, reachable_open_files
from trio_debugmcp.engine.fetched import fetching_line
from trio_debugmcp.errors import CannotRun, UsageError
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.tools.paths import existing_file
from trio_debugmcp.server.tools.starting.checks import choose_profile
from trio_debugmcp.server.tools.starting.mappings import Mapping, checked_mappings
from trio_debugmcp.server.tools.tool import Params, Seconds, Tool
from trio_debugmcp.session.debugger import Debugger

_OWN_DESCRIPTORS, _FOR_EACH = 256, 2
"""What the server itself has open at most beside clients, and what a program needs: a connection, one for records."""

_EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})


class DebugListen(Params, frozen=True, kw_only=True):
    host: Annotated[
        str,
        Meta(
            min_length=1,
            description="The address to listen on; another than 127.0.0.1 opens it to the network.",
        ),
    ] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="The port to listen on; 0: a free one.")] = 0
    tls: Annotated[
        bool | None,
        Meta(
            description="Encrypt it, with a certificate that is made for it and pinned in the line; for CPython 3.12 "
            "and 3.13, and for `trio-debugmcp relay`. Default: if there is a certificate."
        ),
    ] = None
    tls_cert: Annotated[
        str | None, Meta(description="A certificate of yours for that, PEM; default: that of `serve --tls-cert`.")
    ] = None
    tls_key: Annotated[str | None, Meta(description="Its key.")] = None
    path_mappings: Annotated[
        list[Mapping],
        Meta(description="Where the programs have the files of this machine; the first that fits counts."),
    ] = []
    timeout: Annotated[
        Seconds, Meta(description="Seconds for the address to be had; programs may dial in at any time after.")
    ] = 30.0


class ListeningAnswer(Answer, frozen=True, kw_only=True):
    """Where to dial in. `python`: the line to run in each program; it returns once the breakpoints hold there.

    `pin`: the fingerprint of the certificate; `relay`: the command that brings in processes which run already.
    """

    address: str
    token: str
    python: str
    pin: str | None = None
    relay: str | None = None
    session: str
    notes: list[str] = []


async def _listen(debugger: Debugger, params: DebugListen) -> ListeningAnswer:
    debugger.programs.check_free()
    profile = await choose_profile(debugger, None, None)
    mappings = checked_mappings(debugger, params.path_mappings)
    tls = await _tls(debugger, params)
    start = Listen(params.host, params.port, new_token(), mappings, tls)
    session = None
    with trio.move_on_after(params.timeout):
        session = await debugger.start(profile, start)
    snapshot = None if session is None else session.snapshot
    if session is None or snapshot is None or snapshot.origin.process_name is None:
        raise UsageError("TIMEOUT", f"{params.host} was not to be had within {params.timeout:g} s. Pass another host.")
    address = snapshot.origin.process_name
    if not address.rpartition(":")[2].isdecimal():
        raise UsageError("NOT_SUPPORTED", f"Programs of {profile.name} do not dial in by themselves. Use debug_attach.")
    return await _answer(debugger, params, start, session.id, address)


async def _answer(
    debugger: Debugger, params: DebugListen, start: Listen, session: str, address: str
) -> ListeningAnswer:
    """Return where to dial in, and how."""
    host, tls = params.host, start.tls
    notes = _few_descriptors(debugger)
    if tls is None and not _is_loopback(host):
        notes.append(
            "Nothing is encrypted: who can read this network sees the token, and can then debug in your name. Use "
            "`tls`, a trusted network, or 127.0.0.1 behind an SSH tunnel."
        )
    if host in _EVERY_ADDRESS:
        host = debugger.host.query("host name", socket.gethostname)
        notes.append(f"If {host} does not lead here from the program's machine, put in an address that does.")
    port = int(address.rpartition(":")[2])
    if tls is not None:
        notes.append(
            "CPython 3.12 and 3.13 need nothing installed. Other versions do not speak TLS: have `relay` bring them "
            "in, on the machine where they run. FILE there holds the token, for your user alone; PID: one or several."
        )
        python = fetching_line(host, port, start.token, tls.pin)
        command = f"trio-debugmcp relay --to {host}:{port} --pin {tls.pin} --token-file FILE --pid PID"
        return ListeningAnswer(
            address=address, token=start.token, python=python, pin=tls.pin, relay=command, session=session, notes=notes
        )
    profile = await choose_profile(debugger, None, None)
    without_debugpy = _without_debugpy(await debugger.host.locate(profile, debugger.patience))
    if debugger.settings.engine != "pydevd":
        python = fetching_line(host, port, start.token)
        notes.append(f"Python 3.12 and 3.13 need nothing installed. {without_debugpy}")
    else:
        python = (
            f"import debugpy; debugpy.is_client_connected() or debugpy.connect(({host!r}, {port}), "
            f"access_token={start.token!r})"
        )
        notes.append(without_debugpy)
    return ListeningAnswer(address=address, token=start.token, python=python, session=session, notes=notes)


async def _tls(debugger: Debugger, params: DebugListen) -> DoorTls | None:
    """Return how the port speaks TLS; None if it does not.

    Raises:
        UsageError: `INVALID_PARAMETER`, `INVALID_PATH` or `NOT_SUPPORTED`.
    """
    if (params.tls_cert is None) != (params.tls_key is None):
        raise UsageError("INVALID_PARAMETER", "Pass `tls_cert` and `tls_key` together, or neither.")
    given = debugger.settings.certificate
    if params.tls_cert is not None and params.tls_key is not None:
        given = _file(debugger, params.tls_cert), _file(debugger, params.tls_key)
    if params.tls is False and params.tls_cert is not None:
        raise UsageError("INVALID_PARAMETER", "Leave out `tls_cert` and `tls_key`, or `tls`: false.")
    if params.tls is False or (given is None and not params.tls):
        return None
    try:
        if given is None:
            return await trio.to_thread.run_sync(made_tls, debugger.patience)
        return await trio.to_thread.run_sync(given_tls, *given)
    except CannotRun as error:
        raise UsageError("NOT_SUPPORTED", f"There is no TLS: {error.reason}.") from error


def _file(debugger: Debugger, path: str) -> str:
    found = existing_file(debugger, path)
    if found is None:
        raise UsageError("INVALID_PATH", f"There is no file '{path}'. Pass the path of one.", {"path": path})
    return found


def _few_descriptors(debugger: Debugger) -> list[str]:
    """Return how many programs can be debugged where the system gives descriptors for fewer than the server takes."""
    with suppress(UsageError):  # a recording of an earlier version has no answer
        limit = debugger.host.query("open files", reachable_open_files)
        room = max(0, limit - _OWN_DESCRIPTORS) // _FOR_EACH
        if room < debugger.settings.max_guests:
            problem = f"There is room for some {room} programs: this server may have {limit} files open."
            raised = "`ulimit -Hn`, systemd's LimitNOFILE, Docker's --ulimit nofile"
            return [f"{problem} For more, raise its hard limit ({raised}) to {WANTED_OPEN_FILES}, and start it again."]
    return []


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def _without_debugpy(located: str | None) -> str:
    folder, _, version = (located or "").rpartition(" (")
    line = f"import sys; sys.path.append({str(Path(folder).parent)!r})"
    return (
        f"A program without debugpy needs `pip install debugpy=={version.rstrip(')')}` in its environment, or, on this "
        f"machine, this line before the other: {line}"
    )


TOOLS = (
    Tool(
        name="debug_listen",
        title="Wait for programs that dial in",
        description=(
            "Open an address where Python programs dial in by themselves (workers of Dask, Ray or torchrun, "
            "containers, other machines). Answers at once with the line of Python to run in each; each becomes a "
            "session. Then use debug_wait or fleet_state. Ends with debug_disconnect."
        ),
        params=DebugListen,
        run=_listen,
        open_world=True,
        phrase="many processes",
    ),
)
