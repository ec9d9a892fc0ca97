"""Debug adapters that are described by a table: what it may say, how the adapter is found, and what it is sent."""

import stat
import sys
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles import Attach, Launch, ProgramFacts, TableProfile, choose, read_tables
from trio_debugmcp.dap.profiles.tables.placeholders import filled
from trio_debugmcp.errors import UsageError

TABLE = """
[adapters.mdb]
language = "M, N"
detect = { suffixes = [".m"], elf = "native" }
find = ["$MDB_PATH", "mdb"]
version = { command = ["{adapter}", "--version"], at-least = "2.10", why = "older ones cannot count" }
install = [{ apt = "mdb" }, { brew = "m-debugger" }]
command = ["{adapter}", "--dap"]
launch = { program = "{program}", args = "{args}", cwd = "{cwd}", env = "{env}", stop = false, title = "m {program}" }
attach = { pid = "{pid}", wait = "{port}", host = "at {host}" }
"""


@pytest.fixture
def mdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where MDB_PATH says that the adapter is; no other is on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("MDB_PATH", str(tmp_path / "mdb"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "mdb"


def profile(text: str = TABLE) -> TableProfile:
    (only,) = read_tables(text, "mine.toml")
    return only


def write_adapter(place: Path, version: str) -> None:
    place.write_text(f"#!/bin/sh\necho 'M debugger (build 7) {version}'\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)


@pytest.mark.real
def test_an_adapter_is_found_by_a_variable_or_on_path_and_says_its_version(mdb: Path) -> None:
    assert profile().locate() is None
    assert profile().absence() == "The debug adapter mdb is not installed (looked for $MDB_PATH, mdb on PATH)"
    write_adapter(mdb.parent / "bin" / "mdb", "2.10.3")
    assert profile().locate() == f"{mdb.parent}/bin/mdb (2.10.3)"
    write_adapter(mdb, "3.0")
    assert profile().locate() == f"{mdb} (3.0)"


@pytest.mark.real
def test_one_that_is_too_old_is_passed_over_and_if_there_is_no_other_that_is_said_with_the_reason(mdb: Path) -> None:
    write_adapter(mdb, "2.9")
    assert profile().locate() is None
    why = f"{mdb} is too old: it is version 2.9, and 2.10 or newer is needed: older ones cannot count"
    assert profile().absence() == why
    with pytest.raises(UsageError) as refused:
        choose("n", None, [profile()], lambda each: each.locate())
    install = "apt-get install mdb or brew install m-debugger"
    assert (refused.value.code, refused.value.message) == ("ADAPTER_NOT_FOUND", f"{why}. Install it with: {install}")
    write_adapter(mdb.parent / "bin" / "mdb", "2.10")
    assert profile().locate() == f"{mdb.parent}/bin/mdb (2.10)"
    write_adapter(mdb.parent / "bin" / "mdb", "")
    mdb.unlink()
    assert "it does not say its version" in profile().absence()


def test_of_several_adapters_that_fit_the_first_that_is_installed_is_taken(mdb: Path) -> None:
    other = profile(TABLE.replace("adapters.mdb", "adapters.odb").replace("MDB_PATH", "ODB_PATH"))
    mine = profile()

    def chosen(adapter: str | None, program: str | None, absent: str = "") -> str:
        def locate(each: object) -> str | None:
            return None if absent in repr(each) and absent else "here"

        return choose(
            adapter, program, [mine, other], locate, lambda path: ProgramFacts("file", is_elf=path == "app")
        ).name

    assert chosen("m", None) == chosen(None, "a.M") == "mdb"
    assert chosen("m", None, "mdb") == chosen(None, "a.m", "mdb") == "odb"
    assert chosen("odb", None) == chosen(None, "app", "mdb") == "odb"
    with pytest.raises(UsageError, match=r"mdb is not installed.*\. Or: The debug adapter odb is not installed"):
        choose("m", None, [mine, other], lambda _: None)


def test_a_placeholder_alone_becomes_the_thing_itself_and_inside_a_text_it_becomes_text() -> None:
    launch = Launch(program="/x/app", args=("one", "two"), cwd="/x", env={"A": "1"}, options={"title": "mine"})
    assert profile().launch_arguments(launch) == {
        "program": "/x/app",
        "args": ["one", "two"],
        "cwd": "/x",
        "env": {"A": "1"},
        "stop": False,
        "title": "mine",
    }
    assert filled("m {program}", {"program": "/x"}) == "m /x"
    assert filled(["{a}", {"b": ["{c}"]}], {"a": {"x": 1}, "c": None}) == [{"x": 1}, {"b": []}]
    assert filled(["run", "{args}", "{n}", None], {"args": ["a", "b c"], "n": 1}) == ["run", "a", "b c", 1, None]


def test_a_key_whose_placeholder_has_nothing_is_left_out() -> None:
    assert profile().attach_arguments(Attach(pid=7)) == {"pid": 7, "host": "at 127.0.0.1"}
    assert profile().attach_arguments(Attach(host="h", port=1)) == {"wait": 1, "host": "at h"}


@pytest.mark.real
def test_gdb_gets_the_whole_environment_which_it_would_otherwise_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    from trio_debugmcp.dap.profiles import profile_named

    monkeypatch.setenv("WHOLE", "yes")
    gdb = profile_named("gdb")
    assert gdb is not None
    arguments = gdb.launch_arguments(Launch(program="/x/app", env={"A": "1"}))
    assert (arguments["env"]["WHOLE"], arguments["env"]["A"]) == ("yes", "1")


def test_codelldb_has_time_for_the_values_of_a_busy_machine() -> None:
    from trio_debugmcp.dap.profiles import profile_named

    codelldb = profile_named("codelldb")
    assert codelldb is not None
    launch, attach = codelldb.launch_arguments(Launch(program="/x/app")), codelldb.attach_arguments(Attach(pid=1))
    core = codelldb.attach_arguments(Attach(core_file="/x/core", program="/x/app"))
    for arguments in (launch, attach, core):  # of its own accord it cuts a structure after 10 ms: `{name:"pear", ...}`
        assert arguments["_adapterSettings"]["summaryTimeout"] >= 5


def test_what_is_neither_machine_code_nor_its_source_is_refused() -> None:
    from trio_debugmcp.dap.profiles import profile_named

    for name in ("gdb", "lldb-dap"):
        native = profile_named(name)
        assert native is not None
        problem = native.expressions.program_problem
        assert problem(sys.executable, b"\x7fELF\x02") is None
        assert "built with -g, or its source" in (problem("/x/app", b"#!/bin/sh") or "")
