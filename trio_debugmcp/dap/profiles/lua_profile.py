"""`LuaProfile`: programs of Lua, by our own adapter, which runs them with the interpreter that they ask for."""

from contextlib import AbstractAsyncContextManager

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.lua.lua_adapter import open_lua
from trio_debugmcp.dap.profiles.profile import Runtime
from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.dap.profiles.tables.table import TableProfile
from trio_debugmcp.dap.profiles.tables.table_format import Table


class LuaProfile(TableProfile):
    """The table of the interpreters, with what no table can say."""

    def __init__(self, name: str, table: Table) -> None:
        super().__init__(name, table)
        self.attaches_by_pid = False

    def open(self, launch: Launch, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return open_lua([self._place()], runtime.watchdog)
