"""Which options users may pass to an adapter, by its table."""

import pytest

from trio_debugmcp.dap.profiles import PROFILES, profile_named, read_tables
from trio_debugmcp.dap.profiles.tables.reserved_options import reserved_by

TABLE = """
[adapters.mdb]
language = "M"
find = ["mdb"]
command = ["{adapter}"]
launch = { main = "{program}", argv = "{args}", title = "m {program}", mode = "exec", just = "{just_my_code}" }
reserved-options = ["server"]
target-options = ["mainClass"]
code-options = ["commands"]
"""


def test_what_parameters_set_is_reserved_and_what_a_table_only_proposes_is_not() -> None:
    launch = {
        "main": "{program}",
        "argv": "{args}",
        "title": "m {program}",
        "mode": "exec",
        "deep": {"x": "{cwd}"},
        "class": "{stem}",
    }
    reserved = reserved_by(launch, {"server": ""})
    assert (reserved["main"], reserved["argv"], reserved["server"]) == ("program", "args", "")
    assert (reserved["stopOnEntry"], reserved["request"]) == ("stop_at_entry", "")
    assert not {"title", "mode", "deep", "class"} & reserved.keys()


def test_a_table_names_its_further_options() -> None:
    (mdb,) = read_tables(TABLE, "mine.toml")
    assert (mdb.reserved_options["just"], mdb.reserved_options["server"]) == ("just_my_code", "")
    assert mdb.target_options == {"mainClass"}
    assert mdb.code_options == {"mainClass", "commands"}, "what says what is run selects code"


@pytest.mark.parametrize(
    ("adapter", "option"),
    [("lldb-dap", "initCommands"), ("codelldb", "processCreateCommands"), ("delve", "buildFlags")],
)
def test_commands_of_our_adapters_are_options_that_select_code(adapter: str, option: str) -> None:
    profile = profile_named(adapter)
    assert profile is not None
    assert option in profile.code_options


def test_no_option_of_ours_is_both_reserved_and_offered() -> None:
    assert not [each.name for each in PROFILES if each.reserved_options.keys() & each.code_options]
