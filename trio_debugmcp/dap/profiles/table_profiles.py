"""The profiles of adapters that tables describe: of most the table alone, of some with a class of their own."""

from trio_debugmcp.dap.profiles.browser_profile import BrowserProfile
from trio_debugmcp.dap.profiles.lua_profile import LuaProfile
from trio_debugmcp.dap.profiles.tables.table import TableProfile
from trio_debugmcp.dap.profiles.tables.table_format import Table
from trio_debugmcp.dap.profiles.tables.tables_file import raw_tables, table_of


def profile_of_table(name: str, table: Table) -> TableProfile:
    """Return the profile of an adapter that a table describes."""
    match table.hooks:
        case "browser":
            return BrowserProfile(name, table)
        case "lua":
            return LuaProfile(name, table)
        case _:
            return TableProfile(name, table)


def read_tables(text: str, name: str) -> tuple[TableProfile, ...]:
    """Return the adapters of a TOML file, in its order.

    Raises:
        UsageError: `INVALID_PARAMETER`: the file is not TOML, or something in a table is wrong.
    """
    raw = raw_tables(text, name)
    return tuple(profile_of_table(adapter, table_of(table, adapter, name)) for adapter, table in raw.items())
