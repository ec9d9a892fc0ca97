"""`trio-debugmcp doctor`: is everything there, can a program be debugged, and what will a host see?"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, to_builtins

from trio_debugmcp.cli._adapters import add_adapters_option, known_profiles
from trio_debugmcp.cli._output import failed, innermost
from trio_debugmcp.cli._patience import add_patience_option
from trio_debugmcp.cli._status_lines import looking, status_line
from trio_debugmcp.installation import with_package
from trio_debugmcp.patience import Patience

if TYPE_CHECKING:
    from trio_debugmcp.dap.profiles import Profile

DEBUG_SECONDS = 30.0
"""For starting a server, and debugging a program of five lines with it: a second on an idle machine."""

PROGRAM = """\
def look():
    answer = 6 * 7
    return answer


look()
"""
LINE = 3


class DoctorFinding(Struct, frozen=True):
    """One finding. `missing`: something that most do not need is not there; `hint` says what to do."""

    name: str
    status: Literal["ok", "missing", "failed"]
    detail: str
    hint: str | None = None


class ListSize(Struct, frozen=True, rename="camel"):
    """A list of tools in bytes: what a host shows to its model (names, descriptions, input schemas), and all of it."""

    tools: int
    model_bytes: int
    wire_bytes: int


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `doctor` and its options to the command line."""
    parser = commands.add_parser(
        "doctor",
        help="check that everything is there and a program can be debugged, and show what a host will see",
        description="Checks this installation, debugs a tiny program through a server started as a host starts it, "
        "and shows how large the lists are that a host gets. The exit code is 1 if something is wrong; what is only "
        "missing for some uses does not count.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    add_adapters_option(parser)
    add_patience_option(parser, "adapters and the program")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print each finding as it is known; 0 if nothing is wrong."""
    from trio_debugmcp.errors import UsageError

    try:
        os.getcwd()
        profiles = known_profiles(arguments)
    except UsageError as error:
        return failed("doctor", error.message)
    except FileNotFoundError:
        return failed("doctor", "the directory that it is called in is gone: change to another one")
    checks = []
    for check in _checks(profiles, arguments.patience, quiet=arguments.json):
        checks.append(check)
        if not arguments.json:
            print(status_line(check.status, f"{check.name}: {check.detail}", check.hint), flush=True)
    sizes, instructions = list_sizes()
    healthy = all(check.status != "failed" for check in checks)
    if arguments.json:
        hosts = {**to_builtins(sizes), "instructionsBytes": instructions}
        print(json.dumps({"ok": healthy, "checks": to_builtins(checks), "hosts": hosts}))
        return 0 if healthy else 1
    print("\nWhat a host sees:")
    for name, size in sizes.items():
        print(
            f"{'':8}serve --tools {name}: {size.tools} tools, {size.model_bytes:,} bytes for the model, "
            f"{size.wire_bytes:,} on the wire"
        )
    print(f"{'':8}instructions: {instructions:,} bytes")
    return 0 if healthy else 1


def _checks(profiles: "Sequence[Profile]", patience: Patience, *, quiet: bool) -> Iterator[DoctorFinding]:
    import trio

    from trio_debugmcp.own_command import own_command

    yield _python()
    yield _recording()
    with looking("looking for debug adapters", quiet=quiet):
        adapters = _adapters(profiles, patience)
    yield from adapters
    yield _attach(profiles)
    yield _py_spy()
    with looking("debugging a program of five lines", quiet=quiet):
        debugged = trio.run(check_debugging, own_command("serve", "--no-state"), os.getcwd(), patience)
    yield debugged


# --- What is there ----------------------------------------------------------------------------------------------------


def _python() -> DoctorFinding:
    from trio_debugmcp import __version__

    return DoctorFinding(
        "server", "ok", f"trio-debugmcp {__version__} on Python {platform.python_version()}, {sys.executable}"
    )


def _recording() -> DoctorFinding:
    """Say whether runs of programs without an environment of their own can be recorded, to be asked why."""
    from trio_debugmcp.engine import OLDEST

    oldest = ".".join(map(str, OLDEST))
    if sys.version_info >= OLDEST:
        return DoctorFinding("recording", "ok", f"runs on CPython {oldest} and newer are recorded, and asked why")
    detail = f"runs on this Python cannot be recorded; those of environments with CPython {oldest} and newer can"
    hint = f"install this with Python {oldest} or newer: `pipx install --python {oldest} …`"
    return DoctorFinding("recording", "missing", detail, hint)


def _adapters(profiles: "Sequence[Profile]", patience: Patience) -> list[DoctorFinding]:
    """Look for every debug adapter. One of them is enough, and those that are not there are one finding."""
    from trio_debugmcp.cli.adapters import statuses

    adapters = statuses(profiles, patience)
    checks = [
        DoctorFinding(
            f"adapter {status.name}",
            "ok",
            f"{status.language}, {status.location}"
            + (f" ({status.version})" if status.version else "")
            + (f"; {status.engine}" if status.engine else ""),
        )
        for status in adapters
        if status.problem is None
    ]
    absent = [adapter for adapter in adapters if adapter.problem is not None]
    if absent:
        names = ", ".join(f"{adapter.name} ({adapter.language})" for adapter in absent)
        hint = "`trio-debugmcp adapters` says why, and what installs each"
        checks.append(DoctorFinding("other adapters", "missing" if checks else "failed", names, hint))
    return checks


def _attach(profiles: "Sequence[Profile]") -> DoctorFinding:
    """Look for what attaching to a running program by its process id needs."""
    from trio_debugmcp.dap.profiles import Attach, ptrace_problem

    here = Attach(pid=os.getpid())
    python = (profile for profile in profiles if profile.has_probe)
    problem = next(filter(None, (profile.attach_problem(here) for profile in python)), None)
    if problem is None:
        problem = ptrace_problem(Path("/proc"))
    name = "attach by process id"
    if problem is None:
        return DoctorFinding(name, "ok", "a native debugger is there, and may trace processes of this user")
    return DoctorFinding(name, "missing", "not possible on this machine", problem)


def _py_spy() -> DoctorFinding:
    from trio_debugmcp.session.looking.from_outside.py_spy import find_py_spy

    place = find_py_spy()
    if place is not None:
        return DoctorFinding("py-spy", "ok", place)
    return DoctorFinding(
        "py-spy",
        "missing",
        "programs that do not let Python run cannot be looked into",
        with_package("py-spy"),
    )


# --- Whether it works -------------------------------------------------------------------------------------------------


async def check_debugging(
    command: Sequence[str], project: str, patience: Patience, seconds: float = DEBUG_SECONDS
) -> DoctorFinding:
    """Start a server as a host does, and have it stop a program at a breakpoint and read a local variable there.

    The program runs with the Python that programs in the directory `project` get.

    Error handling: whatever goes wrong is the finding.
    """
    import tempfile

    import trio
    from mcp.shared.exceptions import MCPError

    from trio_debugmcp.dap.profiles.python.interpreters import interpreter_for

    name, python = "debugging", interpreter_for(project)
    seconds = patience.seconds(seconds)
    start = trio.current_time()
    with tempfile.TemporaryDirectory(prefix="trio-debugmcp-doctor-") as directory:
        program = Path(directory) / "program.py"
        program.write_text(PROGRAM)
        try:
            with trio.fail_after(seconds):
                problem = await _debug([*command, f"--patience={patience.factor:g}"], str(program), python)
        except trio.TooSlowError:
            problem = f"no answer within {seconds:g} s"
        except (OSError, MCPError, trio.BrokenResourceError, trio.ClosedResourceError, ExceptionGroup) as error:
            problem = f"the server does not work: {innermost(error)}"
    if problem is None:
        took = trio.current_time() - start
        return DoctorFinding(
            name, "ok", f"{python} ran a program, which stopped at a breakpoint and was read, in {took:.1f} s"
        )
    hint = "`trio-debugmcp serve --log-level debug --log-file debug.log` logs what happens; attach it to a report"
    return DoctorFinding(name, "failed", problem, hint)


async def _debug(command: Sequence[str], program: str, python: str) -> str | None:
    """Return what went wrong, None if nothing did."""
    from mcp import Client, StdioServerParameters

    server = StdioServerParameters(command=command[0], args=[*command[1:]], env=dict(os.environ))
    async with Client(server) as client:
        launch = {
            "program": program,
            "adapter": "debugpy",  # whatever tables of the user there are
            "stop_at_entry": False,
            "breakpoints": [{"file": program, "line": LINE}],
            "adapter_options": {"python": [python]},
        }
        for tool, arguments, expected in (
            ("debug_launch", launch, '"Breakpoint"'),
            ("evaluate", {"expression": "answer"}, '"42"'),
            ("debug_disconnect", {}, ""),
        ):
            result = await client.call_tool(tool, arguments)
            text = "".join(getattr(part, "text", "") for part in result.content)
            if result.is_error or expected not in text:
                return f"with {python}, {tool} answered {text[:1000]}"
    return None


# --- What a host sees -------------------------------------------------------------------------------------------------


def list_sizes() -> tuple[dict[str, ListSize], int]:
    """Return the sizes of `tools/list`, as `serve --tools full` and `core` answer it, and that of the instructions."""
    from trio_debugmcp.server.instructions import INSTRUCTIONS
    from trio_debugmcp.server.tools import open_toolbox

    sizes = {name: _size(open_toolbox(core_only=name == "core").listed()) for name in ("full", "core")}
    return sizes, len(INSTRUCTIONS.encode())


def _size(tools: Sequence[Any]) -> ListSize:
    on_wire = [tool.wire for tool in tools]
    to_model = [{key: tool.get(key) for key in ("name", "description", "inputSchema")} for tool in on_wire]
    return ListSize(tools=len(on_wire), model_bytes=_bytes(to_model), wire_bytes=_bytes({"tools": on_wire}))


def _bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
