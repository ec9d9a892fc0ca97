"""`trio-debugmcp adapters`: what it says of each adapter, and that their versions are asked for side by side."""

import json
import os
from pathlib import Path

import pytest

from trio_debugmcp.cli import adapters, main
from trio_debugmcp.cli._install import sample_for
from trio_debugmcp.dap.profiles import PROFILES, read_tables

pytestmark = pytest.mark.real

TABLE = """
[adapters.NAME]
language = "M"
types = ["m", "M"]
detect = { suffixes = [".m", ".M"] }
find = ["NAME"]
version = { command = ["{adapter}"], at-least = "2.10", why = "older ones cannot count" }
install = { brew = "NAME" }
command = ["{adapter}"]
launch = {}
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory on PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    return directory


def write(programs: Path, name: str, does: str) -> None:
    (programs / name).write_text(f"#!/bin/sh\n{does}\n")
    (programs / name).chmod(0o755)


def tables(programs: Path, *names: str) -> str:
    file = programs.parent / "mine.toml"
    file.write_text("".join(TABLE.replace("NAME", name) for name in names))
    return f"--adapters={file}"


def test_each_adapter_has_a_line_and_one_that_cannot_be_used_another_with_what_to_do(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(programs, "new", "echo M 3.1")
    write(programs, "old", "echo M 2.9")
    write(programs, "silent", "echo 'no M here' >&2; exit 1")
    write(programs, "any", "echo M 1.0")
    option = tables(programs, "new", "old", "gone", "silent")
    with (programs.parent / "mine.toml").open("a") as file:
        file.write("[adapters.untried]\nlanguage = 'U'\ntested = false\nfind = ['any']\ncommand = ['x']\nlaunch = {}\n")
        file.write("version = { command = ['{adapter}'] }\n")  # of which any will do
    assert main(["adapters", option]) == 0
    lines, why = capsys.readouterr().out.splitlines(), "older ones cannot count"
    assert lines[:8] == [
        f"ok      new 3.1: M, {programs}/new",
        f"missing old: M. {programs}/old is too old: it is version 2.9, and 2.10 or newer is needed: {why}",
        "        → brew install old",
        "missing gone: M. The debug adapter gone is not installed (looked for gone on PATH)",
        "        → brew install gone",
        f"missing silent: M. {programs}/silent cannot be used: it does not say its version (no M here)",
        "        → brew install silent",
        f"ok      untried 1.0: U, {programs}/any; its table is not covered by our tests",
    ]
    assert lines[8].startswith("ok      debugpy 1.8.")
    assert lines[8].endswith("; our own engine debugs CPython 3.12 and 3.13, debugpy all others")


def test_as_json_place_version_and_problem_are_apart(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(programs, "new", "echo M 3.1")
    write(programs, "old", "echo M 2.9")
    assert main(["adapters", "--json", tables(programs, "new", "old")]) == 0
    new, old, debugpy, *_ = json.loads(capsys.readouterr().out)
    assert new == {
        "name": "new",
        "language": "M",
        "fileTypes": [".M", ".m"],
        "types": ["M", "m"],
        "location": f"{programs}/new",
        "version": "3.1",
        "problem": None,
        "install": "brew install new",
        "tested": True,
        "newerThan": None,
        "olderThan": None,
        "renewed": False,
        "engine": None,
        "check": None,
    }
    assert debugpy["engine"] == "our own engine debugs CPython 3.12 and 3.13, debugpy all others"
    assert (old["location"], old["version"]) == (f"{programs}/old", "2.9")
    assert old["problem"].startswith(f"{programs}/old is too old")
    assert Path(debugpy["location"]).name == "debugpy"
    assert debugpy["version"][0].isdigit()


@pytest.mark.parametrize(
    ("tested", "said"),
    [("3", ""), ("3.1", ""), ("3.0", "newer than 3.0"), ("2.11", "newer than 2.11"), ("3.2", "older than 3.2")],
)
def test_one_that_is_newer_or_older_than_what_is_tested_says_so(
    programs: Path, capsys: pytest.CaptureFixture[str], tested: str, said: str
) -> None:
    write(programs, "new", "echo M 3.1.4")
    option = tables(programs, "new")
    file = programs.parent / "mine.toml"
    file.write_text(file.read_text().replace("at-least", f'tested = "{tested}", at-least'))
    assert main(["adapters", option]) == 0
    said = f"; {said}, with which our tests debug" if said else ""
    assert capsys.readouterr().out.splitlines()[0] == f"ok      new 3.1.4: M, {programs}/new{said}"


def test_versions_are_asked_for_side_by_side(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there, back = programs.parent / "there", programs.parent / "back"
    os.mkfifo(there)
    os.mkfifo(back)
    write(programs, "one", f"echo > {there}; read x < {back}; echo 3.1")
    write(programs, "two", f"read x < {there}; echo > {back}; echo 3.2")
    assert main(["adapters", tables(programs, "one", "two")]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        f"ok      one 3.1: M, {programs}/one",
        f"ok      two 3.2: M, {programs}/two",
    ]


def test_what_cannot_be_checked_is_named_with_the_reason(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(programs, "new", "echo M 3.1")
    option = tables(programs, "new", "gone")
    assert main(["adapters", option, "--check", "klingon"]) == 2
    assert capsys.readouterr().err.startswith("trio-debugmcp adapters: klingon is none of: new, gone, debugpy, gdb, ")
    assert main(["adapters", option, "--check", "new", "gone"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "failed  new 3.1: sample: there is no sample program for M",
        "missing gone: M. The debug adapter gone is not installed (looked for gone on PATH)",
        "        → brew install gone",
    ]


def test_without_names_one_that_is_here_and_cannot_be_used_is_listed_with_its_reason_and_not_checked(
    programs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(programs, "old", "echo M 2.9")
    write(programs, "silent", "echo 'no M here' >&2; exit 1")
    mine = read_tables(Path(tables(programs, "old", "silent", "gone").partition("=")[2]).read_text(), "mine.toml")
    monkeypatch.setattr(adapters, "known_profiles", lambda _: mine)
    assert main(["adapters", "--check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == ["missing old", "missing silent"]
    assert "older ones cannot count" in lines[0]


def test_every_adapter_that_is_tested_has_a_program_to_check_it_with() -> None:
    tested = [each for each in PROFILES if getattr(each, "table", None) is None or each.table.tested]  # type: ignore[attr-defined]
    assert [each.name for each in tested if sample_for(each) is None] == []
