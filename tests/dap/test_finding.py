"""Where the adapter of a table is found, and how it is asked for its version: beside other tasks, once, and in time."""

import os
from pathlib import Path

import pytest
import trio

from trio_debugmcp.dap.profiles import TableProfile, finding, read_tables
from trio_debugmcp.patience import USUAL

pytestmark = pytest.mark.real

TABLE = """
[adapters.mdb]
language = "M"
find = ["mdb"]
version = { command = ["{adapter}", "--version"], at-least = "2.10", why = "older ones cannot count" }
command = ["{adapter}"]
launch = {}
"""


class Machine:
    """Programs on a PATH of their own, which count how often they are run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.runs = directory / "runs"

    def has(self, name: str, does: str, changed: int = 1) -> Path:
        place = self.directory / name
        place.write_text(f"#!/bin/sh\necho x >> {self.runs}\n{does}\n")
        place.chmod(0o755)
        os.utime(place, (changed, changed))
        return place

    def times_run(self) -> int:
        return len(self.runs.read_text().split()) if self.runs.exists() else 0


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("TRIO_DEBUGMCP_ADAPTERS_DIR", str(tmp_path / "installed"))
    return Machine(tmp_path)


def profile(*changes: tuple[str, str]) -> TableProfile:
    text = TABLE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (only,) = read_tables(text, "mine.toml")
    return only


# --- Versions ---------------------------------------------------------------------------------------------------------


async def test_other_tasks_run_while_an_adapter_is_asked_and_then_it_is_found_at_once(machine: Machine) -> None:
    fifo = machine.directory / "fifo"
    os.mkfifo(fifo)
    machine.has("mdb", f"read version < {fifo}; echo $version")
    mdb = profile()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(mdb.learn_version, USUAL)
        await trio.to_thread.run_sync(fifo.write_text, "M 3.1\n")  # returns once the adapter reads
    assert mdb.locate() == f"{machine.directory}/mdb (3.1)"
    assert machine.times_run() == 1


async def test_an_adapter_is_asked_again_only_when_it_has_changed(machine: Machine) -> None:
    machine.has("mdb", "echo 2.11")
    for _ in range(3):
        await profile().learn_version(USUAL)
        assert profile().locate() == f"{machine.directory}/mdb (2.11)"
    assert machine.times_run() == 1
    machine.has("mdb", "echo 2.12", changed=2)
    assert profile().locate() == f"{machine.directory}/mdb (2.12)"
    assert machine.times_run() == 2


async def test_one_that_says_no_version_is_asked_again_but_not_for_the_error_about_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.has("mdb", "echo 'no M::Server here' >&2; echo 2.11; exit 1")
    await profile().learn_version(USUAL)
    place = machine.directory / "mdb"
    assert profile().absence() == f"{place} cannot be used: it does not say its version (no M::Server here)"
    assert (profile().locate(), machine.times_run()) == (None, 1)
    monkeypatch.setattr(finding, "_RETRY_SECONDS", 0.0)
    assert (profile().locate(), machine.times_run()) == (None, 2)


async def test_one_that_does_not_answer_is_killed_in_time(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "_VERSION_SECONDS", 0.2)
    machine.has("mdb", "exec /bin/sleep 60")
    with trio.fail_after(120):
        await profile().learn_version(USUAL)
    assert profile().absence().endswith("cannot be used: it does not say its version (no answer within 0.2 s)")
    machine.has("mdb", "exec /bin/sleep 60", changed=2)
    assert "timed out" in profile().absence()


def test_a_version_may_come_on_standard_error_or_stand_in_a_file(machine: Machine) -> None:
    machine.has("mdb", "echo 'M version 17.0.2' >&2")
    assert profile().locate() == f"{machine.directory}/mdb (17.0.2)"
    in_file = profile(('command = ["{adapter}", "--version"]', 'file = "{directory}/version.json"'))
    assert "cannot be used: it does not say its version ([Errno 2]" in in_file.absence()
    (machine.directory / "version.json").write_text('{"name": "m", "version": "v2.10.1", "was": "v2.9.0"}')
    assert in_file.locate() == f"{machine.directory}/mdb (2.10.1)"


async def test_of_several_places_the_first_that_works_is_taken_and_those_after_it_are_not_asked(
    machine: Machine,
) -> None:
    several = ('["mdb"]', '["mdb", "mdb-2", "mdb-3"]')
    machine.has("mdb", "echo 2.1")
    machine.has("mdb-2", "echo 2.2")
    await profile(several).learn_version(USUAL)
    assert profile(several).absence().startswith(f"{machine.directory}/mdb is too old: it is version 2.1, ")
    assert machine.times_run() == 2
    machine.has("mdb-2", "echo 2.20", changed=2)
    machine.has("mdb-3", "echo 3.0")
    await profile(several).learn_version(USUAL)
    assert profile(several).locate() == f"{machine.directory}/mdb-2 (2.20)"
    assert machine.times_run() == 3


def test_without_an_oldest_version_a_start_asks_for_none(machine: Machine) -> None:
    machine.has("mdb", "exit 1")
    assert profile((', at-least = "2.10", why = "older ones cannot count"', "")).locate() == f"{machine.directory}/mdb"
    assert machine.times_run() == 0


# --- Places -----------------------------------------------------------------------------------------------------------


def test_what_else_an_adapter_needs_must_be_on_path(machine: Machine) -> None:
    machine.has("mdb", "echo 3.0")
    needs = profile(('language = "M"', 'language = "M"\nneeds = ["m-runtime", "m-tool"]'))
    assert needs.absence() == (
        f"{machine.directory}/mdb cannot be used: it needs m-runtime and m-tool, which is not on PATH"
    )
    machine.has("m-runtime", "")
    machine.has("m-tool", "")
    assert needs.locate() == f"{machine.directory}/mdb (3.0)"


def test_a_place_may_be_a_file_or_directory_below_what_is_installed_but_on_path_only_a_program(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = profile(("version =", "# "), ('["mdb"]', '["$MDB", "{installed}/classes", "m.js"]'))
    (machine.directory / "m.js").write_text("")
    assert below.locate() is None
    (machine.directory / "installed" / "mdb" / "classes").mkdir(parents=True)
    assert below.locate() == f"{machine.directory}/installed/mdb/classes"
    monkeypatch.setenv("MDB", str(machine.directory / "{installed}"))
    (machine.directory / "{installed}").mkdir()
    assert below.locate() == f"{machine.directory}/{{installed}}"
    monkeypatch.setenv("MDB", str(machine.directory / "gone"))
    assert below.locate() == f"{machine.directory}/installed/mdb/classes"


def test_adapters_are_installed_below_the_users_data_unless_a_variable_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TRIO_DEBUGMCP_ADAPTERS_DIR", "~/mine")
    assert finding.adapters_directory() == tmp_path / "mine"
    monkeypatch.delenv("TRIO_DEBUGMCP_ADAPTERS_DIR")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert finding.adapters_directory() == tmp_path / ".local/share/trio-debugmcp/adapters"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert finding.adapters_directory() == Path("/data/trio-debugmcp/adapters")


def test_what_lacked_something_is_asked_anew_once_that_has_been_installed(tmp_path: Path) -> None:
    adapter, library = tmp_path / "mdb", tmp_path / "library"
    adapter.write_text(f'#!/bin/sh\ntest -e "{library}" && echo 3.0\n')
    adapter.chmod(0o755)
    (profile,) = read_tables(
        f'[adapters.mdb]\nlanguage = "M"\nfind = ["{adapter}"]\ncommand = ["m"]\nlaunch = {{}}\n'
        'version = { command = ["{adapter}"], at-least = "2", why = "older ones cannot" }\n',
        "test",
    )
    finder = profile.finder
    found = finder.find()
    assert found is not None
    assert found.problem is not None
    library.touch()
    finding.forget_versions()
    found = finder.find()
    assert found is not None
    assert (found.version, found.problem) == ("3.0", None)
