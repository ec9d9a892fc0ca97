"""`TableProfile`: a debug adapter that is described by a table of a TOML file, and needs no code of its own.

    [adapters.gdb]
    language = "C, C++, Rust"
    find = ["$GDB_PATH", "gdb"]
    command = ["{adapter}", "--interpreter=dap"]
    launch = { program = "{program}", args = "{args}" }

    profile = TableProfile("gdb", table)

A text that is one placeholder becomes the thing itself (a list, a table, a number), and its key is left out where there
is none; inside a longer text it becomes text. docs/adapters.md describes the keys.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal

from trio_debugmcp.dap.adapter import Adapter, open_socket_adapter
from trio_debugmcp.dap.profiles.finding import Finder
from trio_debugmcp.dap.profiles.installing import command_for
from trio_debugmcp.dap.profiles.opening import (
    MAPPED,
    MAPPED_ROOT,
    attach_values,
    launch_values,
    open_adapter,
    open_inspected,
    open_node_child,
)
from trio_debugmcp.dap.profiles.profile import Profile, Runtime
from trio_debugmcp.dap.profiles.starts import Attach, Launch
from trio_debugmcp.dap.profiles.tables.placeholders import filled, mentions, placeholders
from trio_debugmcp.dap.profiles.tables.reserved_options import reserved_by
from trio_debugmcp.dap.profiles.tables.table_format import Table
from trio_debugmcp.dap.profiles.tables.table_languages import learn_language
from trio_debugmcp.dap.sockets import SocketAddress, TcpAddress
from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.patience import Patience


class TableProfile(Profile):
    """One debug adapter of a table."""

    def __init__(self, name: str, table: Table) -> None:
        self.name = name
        self.table = table
        self.language = table.language
        self.detect = table.detect
        self.types = frozenset(table.types)
        self.habits = table
        self.builds = table.build
        self.reserved_options = reserved_by(table.launch, dict.fromkeys(table.reserved_options, ""))
        self.target_options = frozenset(table.target_options)
        self.code_options = frozenset((*table.code_options, *table.target_options))
        self.attaches_by_pid = table.inspector or mentions(table.attach, "pid")
        mapped = MAPPED.intersection(placeholders((table.launch, table.command)))
        self.maps_paths, self.maps_one_path = bool(mapped), bool(mapped & MAPPED_ROOT)
        self.reads_cores = bool(table.core)
        self.reads_minidumps = table.minidumps
        self.takes_input = table.program_streams != "events"  # which are those of the adapter's, or of none
        self.traces = table.detect.elf is not None
        self.renew = table.renew
        self.finder = Finder(name, table)
        self.symbols = table.symbols
        learn_language(self, table)

    def __repr__(self) -> str:
        return f"<TableProfile {self.name}>"

    # --- Finding ---------------------------------------------------------------------------------------------

    @property
    def install_hint(self) -> str:
        return command_for(self.name, self.table)

    async def learn_version(self, patience: Patience) -> None:
        await self.finder.learn(patience)

    def locate(self) -> str | None:
        found = self.finder.find()
        if found is None or found.problem is not None:
            return None
        return f"{found.place} ({found.version})" if found.version else found.place

    def absence(self) -> str:
        found = self.finder.find()
        if found is None or found.problem is None:
            return f"{super().absence()} (looked for {', '.join(self.finder.places())})"
        return f"{found.place} {found.problem}"

    # --- Launch and attach -----------------------------------------------------------------------------------

    def open(self, launch: Launch, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return open_adapter(
            self.table, self._place(), launch_values(launch), runtime.watchdog, env=dict.fromkeys(launch.unset)
        )

    def open_attached(self, attach: Attach, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        # A port that the adapter is given is the program's: node's inspector, a gdbserver, a JVM's.
        if attach.port is not None and not mentions(_attach_of(self.table, attach), "port"):
            return open_socket_adapter(TcpAddress(attach.host or "127.0.0.1", attach.port), runtime.patience)
        if self.table.inspector and attach.pid is not None:
            return open_inspected(self.table, self._place(), attach, runtime.watchdog)
        return open_adapter(self.table, self._place(), attach_values(attach), runtime.watchdog)

    def start_request(self, start: Launch | Attach) -> Literal["launch", "attach"]:
        return "attach" if isinstance(start, Attach) else self.table.request

    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        only_mine = self.table.just_my_code if launch.just_my_code else {}
        return {**filled({**self.table.launch, **only_mine}, self._around(launch_values(launch))), **launch.options}

    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        return {**filled(_attach_of(self.table, attach), self._around(attach_values(attach))), **attach.options}

    def _around(self, values: Mapping[str, Any]) -> dict[str, Any]:
        place = self._place()
        return {**values, "adapter": place, "adapter_directory": os.path.dirname(place)}

    def _place(self) -> str:
        found = self.finder.find()
        return found.place if found else self.name

    # --- Child sessions --------------------------------------------------------------------------------------

    def serves_child(self, configuration: Mapping[str, Any]) -> bool:
        return self.table.children is not None

    def open_child(
        self, configuration: Mapping[str, Any], runtime: Runtime, parent: SocketAddress | None
    ) -> AbstractAsyncContextManager[Adapter]:
        if parent is None:
            raise AdapterGone(f"the address of {self.name} is not known")
        if self.table.hooks == "javascript":
            _, pid = self.habits.child(configuration)
            return open_node_child(parent, runtime.patience, self._place(), pid)
        return open_socket_adapter(parent, runtime.patience)


def _attach_of(table: Table, attach: Attach) -> Mapping[str, Any]:
    """Return the arguments of `attach` for what is attached to."""
    if attach.core_file is not None:
        return table.core
    remote = table.attach_remote
    return table.attach if attach.port is None or remote is None else remote
