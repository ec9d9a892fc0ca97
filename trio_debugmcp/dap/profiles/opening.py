"""Opening the adapter of a table: on its standard streams, or on a socket that it announces or is given.

    async with open_adapter(table, place, launch_values(launch), runtime.watchdog) as adapter: ...

Which way it is, and how the command line names it, the table says. What must be free, a port or a path, is chosen here.
"""

import os
import re
import shlex
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.adapter import (
    Adapter,
    ListeningAdapter,
    ProgramPart,
    open_listening_adapter,
    open_socket_adapter,
    open_stdio_adapter,
)
from trio_debugmcp.dap.process import Watchdog, environment
from trio_debugmcp.dap.profiles.javascript.node_inspector import answer_at_once, inspector_port
from trio_debugmcp.dap.profiles.native.rust_printers import gdb_arguments, lldb_commands
from trio_debugmcp.dap.profiles.starts import Attach, Launch, MainClass, PathMapping
from trio_debugmcp.dap.profiles.tables.placeholders import filled
from trio_debugmcp.dap.profiles.tables.table_format import Table, Transport
from trio_debugmcp.dap.sockets import SocketAddress, TcpAddress, UnixAddress, free_port
from trio_debugmcp.owned_directory import OwnedDirectory
from trio_debugmcp.patience import Patience

_HOST = "127.0.0.1"

_GDB_ZIG = [
    "-iex", f"source {Path(__file__).with_name('native') / 'zig_values.py'}",
    "-iex", "python import gdb.printing; register(gdb)",
    "-iex", f"source {Path(__file__).with_name('native') / 'zig_errors.py'}",
    "-iex", "python register(gdb)",
]  # fmt: skip
"""The arguments with which gdb shows values of Zig, and knows its errors."""

_GDB_TEXTS = [
    "-iex", f"source {Path(__file__).with_name('native') / 'd_pascal_values.py'}",
    "-iex", "python register(gdb)",
]  # fmt: skip
"""The arguments with which gdb shows texts of D and Pascal, and slices of D."""

_GDB_CONDITIONS = [
    "-iex", f"source {Path(__file__).with_name('native') / 'gdb_conditions.py'}",
    "-iex", "python register(gdb)",
    "-iex", f"source {Path(__file__).with_name('native') / 'gdb_items.py'}",
    "-iex", "python register(gdb)",
]  # fmt: skip
"""The arguments with which gdb says which conditions it does not understand, and has items of containers."""


def launch_values(launch: Launch) -> dict[str, Any]:
    """Return what the placeholders stand for at a launch."""
    program = Path(launch.program)
    directory = str(program if program.is_dir() else program.parent)
    main = launch.main or MainClass(program.stem or launch.options.get("mainClass", ""), directory)
    return {
        "program": launch.program or None,
        "directory": directory,
        "stem": program.stem,
        "main_class": main.name,
        "entry_class": main.entry or main.name,
        "class_path": os.pathsep.join(filter(None, [*main.class_path, environment(launch.env).get("CLASSPATH", "")])),
        "crate": program.stem.replace("-", "_"),  # as Rust calls a program in the names of its functions
        "args": list(launch.args),
        "args_line": shlex.join(launch.args) or None,
        "cwd": launch.cwd,
        "env": dict(launch.env),
        "env_list": [f"{name}={value}" for name, value in launch.env.items()],
        "environment": environment({**dict.fromkeys(launch.unset), **launch.env}),
        "just_my_code": launch.just_my_code,
        "stop_at_entry": launch.stop_at_entry,
        "gdb_conditions": _GDB_CONDITIONS,
        "gdb_rust": gdb_arguments(),
        "gdb_zig": _GDB_ZIG,
        "gdb_texts": _GDB_TEXTS,
        "lldb_rust": lldb_commands(),
        "lldb_rust_quiet": _quiet(lldb_commands()),
        "cmake_run": _cmake_run(program, launch.args),
        **_mapped(launch.path_mappings),
    }


def _quiet(commands: Sequence[str]) -> list[str]:
    """Return commands of which lldb-dap writes nothing unless they fail."""
    return [f"?{command}" for command in commands]


def _cmake_run(program: Path, args: Sequence[str]) -> list[str]:
    """Return the arguments by which CMake runs a script, or configures a project: in `build` by default."""
    if program.name != "CMakeLists.txt":
        return ["-P", str(program)]
    home = str(program.parent)
    return ["-S", home, *([] if any(word.startswith("-B") for word in args) else ["-B", str(Path(home, "build"))])]


def attach_values(attach: Attach) -> dict[str, Any]:
    """Return what the placeholders stand for at an attachment."""
    return {
        "pid": attach.pid,
        "host": attach.host or _HOST,
        "port": attach.port,
        "program": attach.program,
        "core_file": attach.core_file,
        "gdb_conditions": _GDB_CONDITIONS,
        "gdb_rust": gdb_arguments(),
        "gdb_zig": _GDB_ZIG,
        "gdb_texts": _GDB_TEXTS,
        "lldb_rust": lldb_commands(),
        "lldb_rust_quiet": _quiet(lldb_commands()),
        "cwd": attach.cwd,
        **_mapped(attach.path_mappings),
    }


MAPPED_ROOT = frozenset({"local_root", "remote_root"})
"""The placeholders for where the program has the files of one directory of this machine."""

MAPPED = frozenset({"source_map", "source_pairs", "substitute_path", "gdb_substitutes"}) | MAPPED_ROOT
"""Those, and the placeholders for several directories."""


def _mapped(mappings: Sequence[PathMapping]) -> dict[str, Any]:
    """Return the directories of the program and of this machine, in the forms that adapters have for them."""
    pairs = [(mapping.remote, mapping.local) for mapping in mappings]
    return {
        "local_root": mappings[0].local if mappings else None,
        "remote_root": mappings[0].remote if mappings else None,
        "source_map": dict(pairs) or None,
        "source_pairs": [list(pair) for pair in pairs] or None,
        "substitute_path": [{"from": local, "to": remote} for remote, local in pairs] or None,
        "gdb_substitutes": [
            part for pair in pairs for part in ("-iex", "set substitute-path " + " ".join(map(_quoted, pair)))
        ],
    }


def _quoted(path: str) -> str:
    """Return a path as a word of a command of gdb's."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


@asynccontextmanager
async def open_adapter(
    table: Table,
    place: str,
    values: Mapping[str, Any],
    watchdog: Watchdog,
    *,
    env: Mapping[str, str | None] | None = None,
) -> AsyncIterator[Adapter]:
    """Run the adapter that is at this place, and connect to it.

    `env`: variables that it gets, as programs inherit its environment; None removes one.

    Raises:
        CannotRun: it could not be started.
        AdapterGone: it ended before it listened, or did not listen in time.
    """
    known = {**values, "adapter": place}
    whole = environment(env) if env else None
    if not isinstance(table.transport, Transport):
        async with open_stdio_adapter(_argv(table, known), watchdog, env=whole) as adapter:
            yield adapter
        return
    with _endpoint(table, table.transport) as (listening, given):
        known |= given
        async with open_listening_adapter(
            _argv(table, known),
            listening,
            watchdog,
            cwd=None if table.command_cwd is None else filled(table.command_cwd, known),
            env=known.get("environment") if table.is_program else whole,
        ) as adapter:
            yield adapter


def _argv(table: Table, values: Mapping[str, Any]) -> list[str]:
    return [str(word) for word in filled(table.command, values)]


@asynccontextmanager
async def open_inspected(table: Table, place: str, attach: Attach, watchdog: Watchdog) -> AsyncIterator[Adapter]:
    """Run the adapter for a process that is debugged through its inspector.

    Raises:
        UsageError: `ATTACH_FAILED`: it has no inspector, and opens none.
    """
    port = await inspector_port(attach.pid or 0, watchdog.patience)
    async with open_adapter(table, place, {**attach_values(attach), "port": port}, watchdog) as adapter:
        adapter.program_port = port
        yield adapter


@asynccontextmanager
async def open_node_child(
    parent: SocketAddress, patience: Patience, place: str, pid: int | None
) -> AsyncIterator[Adapter]:
    """Connect to js-debug for a program of node, whose inspector is then not slowed down while it is stopped."""
    async with open_socket_adapter(parent, patience) as adapter:
        if pid is not None:
            # In a thread, as it looks through all processes.
            await trio.to_thread.run_sync(answer_at_once, pid, os.path.join(os.path.dirname(place), "watchdog.js"))
        yield adapter


@contextmanager
def _endpoint(table: Table, transport: Transport) -> Iterator[tuple[ListeningAdapter, dict[str, Any]]]:
    """Return how the adapter is reached, and what its command line tells it about that."""
    part: ProgramPart = "none"
    if table.is_program:
        part = "program"
    elif table.program_streams == "adapter":
        part = "streams"
    listening = ListeningAdapter(part=part, own_lines=table.own_lines)
    if transport.announced is not None:
        yield replace(listening, announced=re.compile(transport.announced.encode())), {}
    elif transport.given is not None:
        given = {"port": free_port(_HOST)}
        yield replace(listening, address=TcpAddress(_HOST, int(filled(transport.given, given)))), given
    else:
        with OwnedDirectory("trio-debugmcp-adapter-") as directory:
            path = filled(transport.socket, {"socket": f"{directory.path}/adapter"})
            yield replace(listening, address=UnixAddress(path)), {"socket": path}
