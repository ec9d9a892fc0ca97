"""`trio-debugmcp relay`: processes of this machine, brought to a debugger on another one."""

import argparse
import sys
from pathlib import Path

from trio_debugmcp.cli._output import failed
from trio_debugmcp.cli._patience import add_patience_option
from trio_debugmcp.cli._tokens import given_token
from trio_debugmcp.patience import Patience

_VARIABLE = "TRIO_DEBUGMCP_RELAY_TOKEN"

_PIN_DIGITS = 64


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `relay` and its options to the command line."""
    parser = commands.add_parser(
        "relay",
        help="bring running processes of this machine to a debugger elsewhere",
        description="Put the debugger into running Python processes of this machine, with no line in them, and carry "
        "them over one encrypted connection to the port that debug_listen has opened with tls: true. Ctrl-C ends it; "
        "the processes run on.",
    )
    parser.add_argument(
        "--to", type=_address, required=True, metavar="HOST:PORT", help="where the server listens for programs"
    )
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"read the token that debug_listen answered with from a file (default: the variable {_VARIABLE})",
    )
    parser.add_argument("--pin", type=_pin, metavar="SHA256", help="the fingerprint of the server's certificate")
    which = parser.add_argument_group("which processes")
    which.add_argument("--pid", type=int, nargs="+", action="extend", default=[], metavar="PID", help="these")
    which.add_argument("--process", metavar="NAME", help="all of that name, or with a script of that name")
    which.add_argument(
        "--children-of", type=int, metavar="PID", help="all Python processes that this one has started, and theirs"
    )
    add_patience_option(parser, "processes and the server, which owe an answer")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry processes until the connection ends, or the last of them has ended; return the exit code."""
    import trio

    from trio_debugmcp.errors import AdapterGone, leaf
    from trio_debugmcp.relaying.bringing_in import below, named

    try:
        token, warning = given_token("--token", None, arguments.token_file, _VARIABLE)
    except ValueError as error:
        return failed("relay", error)
    if token is None:
        return failed("relay", f"--token-file FILE is missing, or the token in {_VARIABLE}")
    if warning is not None:
        _report(warning)
    pids = list(arguments.pid)
    pids += [] if arguments.process is None else named(arguments.process)
    pids += [] if arguments.children_of is None else below(arguments.children_of)
    pids = list(dict.fromkeys(pids))
    if not pids:
        return failed("relay", f"there is no process to bring in: {_none_of(arguments)}")
    host, port = arguments.to
    code = 1
    try:
        code = trio.run(_relay, host, port, token, arguments.pin, pids, arguments.patience)
    except* AdapterGone as group:
        failed("relay", leaf(group))
    return code


async def _relay(host: str, port: int, token: str, pin: str | None, pids: list[int], patience: Patience) -> int:
    import trio

    from trio_debugmcp.ending_signals import cancel_at_signal
    from trio_debugmcp.relaying.process_relay import open_relay
    from trio_debugmcp.relaying.relay_connection import connected

    code, how = 0, "ended by a signal; the processes run on"
    async with trio.open_nursery() as nursery:
        await nursery.start(cancel_at_signal, nursery.cancel_scope)
        stream, received = await connected(host, port, token, pin, patience)
        _report(f"connected to {host}:{port}")
        async with open_relay(stream, received, _report, patience) as relay:
            failures = await relay.bring_in(pids)
            if failures < len(pids):
                await relay.wait_over()
            if relay.link.over.is_set():
                code = 1 if relay.link.why else 0
                how = f"{relay.link.why or 'the server has ended the connection'}; the processes run on"
            elif failures == len(pids):
                code, how = 1, "no process was brought in"
            else:
                code, how = 0, "no process is with the debugger any more; those that have not ended run on"
        nursery.cancel_scope.cancel(reason="the relay has ended")
    _report(how)
    return code


def _none_of(arguments: argparse.Namespace) -> str:
    """Return what was looked for, or what to pass."""
    none = [] if arguments.process is None else [f"none is called {arguments.process!r}"]
    none += [] if arguments.children_of is None else [f"{arguments.children_of} has started no Python"]
    return ", and ".join(none) or "pass --pid, --process or --children-of"


def _report(line: str) -> None:
    """Print a line for the person who has started the relay."""
    print(f"trio-debugmcp relay: {line}", file=sys.stderr, flush=True)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) <= 65535:
        raise argparse.ArgumentTypeError("HOST:PORT, with a port between 1 and 65535")
    return host.strip("[]"), int(port)


def _pin(text: str) -> str:
    digits = text.removeprefix("sha256:").replace(":", "").lower()
    if len(digits) != _PIN_DIGITS or set(digits) - set("0123456789abcdef"):
        raise argparse.ArgumentTypeError("the SHA-256 of a certificate, 64 hexadecimal digits")
    return digits
