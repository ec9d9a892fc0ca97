"""Our table in a TOML file: set and removed, with every other character as it was."""

import tomllib

import pytest

from trio_debugmcp.hosts.toml_edits import with_table, without_table

PATH = ("mcp_servers", "debugger")

TABLE = {"command": "/opt/a b", "args": ["serve"]}

WRITTEN = '[mcp_servers.debugger]\ncommand = "/opt/a b"\nargs = ["serve"]\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", WRITTEN),
        ("a = 1", f"a = 1\n\n{WRITTEN}"),
        ('[mcp_servers.debugger]\ncommand = "old"\n\n# of b\n[b]\n', f"{WRITTEN}\n# of b\n[b]\n"),
        (
            '[ mcp_servers . "debugger" ] # mine\ncommand = "old"\n[mcp_servers.debugger.env]\nA = "1"\n[b]\n',
            f"{WRITTEN}\n[b]\n",
        ),
        ('[b]\nt = """\n[mcp_servers.debugger]\n"""\n', f'[b]\nt = """\n[mcp_servers.debugger]\n"""\n\n{WRITTEN}'),
        ("a = 1\r\n", "a = 1\r\n\r\n" + WRITTEN.replace("\n", "\r\n")),
    ],
)
def test_a_table_is_set_where_it_was_or_at_the_end(before: str, after: str) -> None:
    assert with_table(before, PATH, TABLE) == after
    assert tomllib.loads(after)["mcp_servers"]["debugger"] == TABLE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"a = 1\n\n{WRITTEN}", "a = 1\n"),
        (f"{WRITTEN}\n# of b\n[b]\n", "\n# of b\n[b]\n"),
        (f'{WRITTEN}[mcp_servers.debugger.env]\nA = "1"\n', ""),
        ("[mcp_servers.debugger2]\n", "[mcp_servers.debugger2]\n"),
    ],
)
def test_a_table_is_removed_with_those_below_it(before: str, after: str) -> None:
    assert without_table(before, PATH) == after
