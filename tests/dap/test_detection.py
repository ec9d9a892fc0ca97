"""Which adapters fit a program: what its file shows, and the order in which that counts."""

import os
import stat
import struct
from pathlib import Path

import pytest

from tests.dap.profiles.native.test_elf import elf
from trio_debugmcp.dap.profiles import (
    PROFILES,
    Detect,
    ProgramFacts,
    TableProfile,
    candidates,
    choose,
    for_process,
    program_facts,
    read_facts,
    read_tables,
)
from trio_debugmcp.dap.profiles.detection import fitting
from trio_debugmcp.errors import UsageError

KNOWN = [
    ("mine", Detect(suffixes=(".rs",), elf="rust")),
    ("delve", Detect(suffixes=(".go",), files=("go.mod",), elf="go")),
    ("perl", Detect(suffixes=(".pl",), interpreters=("perl",))),
    ("gdb", Detect(suffixes=(".c", ".rs"), elf="native")),
    ("js", Detect(suffixes=(".js",), files=("package.json",), interpreters=("node",))),
]


def fits(program: str, facts: ProgramFacts | None = None) -> list[str]:
    return fitting(KNOWN, program, facts)


def test_a_name_counts_before_anything_that_the_file_shows() -> None:
    machine = ProgramFacts("file", is_elf=True, language="go", interpreter="perl")
    assert fits("/x/main.RS", machine) == fits("main.rs") == ["mine", "gdb"]
    assert fits("/x/go.mod", machine) == ["delve"]
    assert fits("/x/app", machine) == ["perl"], "then the first line"
    assert fits("/x/app") == []


@pytest.mark.parametrize(
    ("language", "expected"),
    [("go", ["delve"]), ("rust", ["mine", "gdb"]), ("c", ["gdb"]), (None, ["gdb"])],
)
def test_an_executable_fits_by_its_language_and_one_of_go_only_its_own_debugger(
    language: str | None, expected: list[str]
) -> None:
    assert fits("/x/app.bin", ProgramFacts("file", is_elf=True, language=language)) == expected


def test_a_directory_fits_by_a_file_in_it_or_by_sources_in_it_and_a_file_above() -> None:
    assert fits("/x/shop", ProgramFacts("directory", files=("package.json",))) == ["js"]
    assert fits("/x/cmd/shop", ProgramFacts("directory", above=("/x/go.mod",), suffixes=(".go", ".md"))) == ["delve"]
    assert fits("/x/docs", ProgramFacts("directory", above=("/x/go.mod",), suffixes=(".md",))) == []
    assert fits("/x/src", ProgramFacts("directory", suffixes=(".go", ".js"))) == []
    assert fits("/x/app", ProgramFacts("file", files=("package.json",))) == [], "a file is not what is beside it"


# --- What a file shows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "interpreter"),
    [
        ("#!/usr/bin/perl -w\n", "perl"),
        ("#! /usr/bin/env node\n", "node"),
        ("#!/usr/bin/env -S -i A=1 perl5.36 -w\n", "perl5.36"),
        ("#!/usr/bin/env\n", None),
        ("#!\n", None),
        ("#!/bin/sh\n'''exec' \"/a long/bin/python3.11\" \"$0\"\n", "python3.11"),
        ("#!/bin/sh\necho\n", "sh"),
        ("# !/bin/sh\n", None),
        ("", None),
    ],
)
def test_the_interpreter_is_the_one_that_the_first_line_names(
    tmp_path: Path, head: str, interpreter: str | None
) -> None:
    script = tmp_path / "tool"
    script.write_text(head)
    assert read_facts(str(script), ()) == ProgramFacts("file", interpreter=interpreter)


@pytest.mark.parametrize(
    ("name", "fit"),
    [
        ("perl", True),
        ("perl5.36.0", True),
        ("perldoc", False),
        ("xperl", False),
        (None, False),
    ],
)
def test_an_interpreter_is_known_with_its_version(name: str | None, fit: bool) -> None:
    assert Detect(interpreters=("perl",)).fits_interpreter(name) is fit


def test_files_are_looked_for_in_a_directory_and_above_it_and_suffixes_are_collected(tmp_path: Path) -> None:
    package = tmp_path / "cmd" / "shop"
    package.mkdir(parents=True)
    (tmp_path / "go.mod").touch()
    (tmp_path / "cmd" / "package.json").mkdir()  # not a file
    for name in ("main.go", "README.MD", "LICENSE"):
        (package / name).touch()
    (package / "old.go").mkdir()
    names = ["go.mod", "package.json", "Cargo.toml"]
    above = (str(tmp_path / "go.mod"),)
    assert read_facts(str(package), names) == ProgramFacts(
        "directory", above=above, suffixes=(".go", ".md"), names=("README.MD", "main.go")
    )
    (package / "Cargo.toml").touch()
    both = (*above, str(package / "Cargo.toml"))
    assert read_facts(str(package), names).files == ("Cargo.toml",)
    assert read_facts(str(package), names).above == both
    assert read_facts(str(package / "main.go"), names) == ProgramFacts("file", above=both)


def test_what_is_not_there_or_cannot_be_read_shows_nothing(tmp_path: Path) -> None:
    assert read_facts(str(tmp_path / "nothing"), ["x"]) == read_facts("a\0b", ()) == ProgramFacts()
    os.mkfifo(tmp_path / "pipe")
    assert read_facts(str(tmp_path / "pipe"), ()) == ProgramFacts(), "which would never end"


def test_debug_information_that_is_kept_elsewhere_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "app"
    program.write_bytes(elf({".comment": b"GCC: 12", ".gnu_debuglink": b"app.debug\0"}))
    assert read_facts(str(program), ()) == ProgramFacts("file", is_elf=True, language="c", debug=False)
    (tmp_path / ".debug").mkdir()
    (tmp_path / ".debug" / "app.debug").touch()
    assert read_facts(str(program), ()).debug
    note = struct.pack("<III", 4, 4, 3) + b"GNU\0" + bytes.fromhex("abcdef12")
    program.write_bytes(elf({".note.gnu.build-id": note}))
    assert not read_facts(str(program), ()).debug
    monkeypatch.setattr(program_facts, "_DEBUG", tmp_path)
    (tmp_path / ".build-id" / "ab").mkdir(parents=True)
    (tmp_path / ".build-id" / "ab" / "cdef12.debug").touch()
    assert read_facts(str(program), ()).debug


# --- The choice -------------------------------------------------------------------------------------------------------

TABLES = """
[adapters.one]
language = "M"
types = ["m", "both"]
detect = { suffixes = [".m"], interpreters = ["em"] }
find = ["$ONE_PATH"]
command = ["{adapter}"]
launch = {}
install = { apt = "one" }

[adapters.two]
language = "M, N"
types = ["both"]
detect = { suffixes = [".m"], files = ["m.toml"], elf = "native" }
find = ["$TWO_PATH"]
command = ["{adapter}"]
launch = {}
install = { pip = "two" }
"""


@pytest.fixture
def adapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory where both adapters of the tables are; what is removed is not installed."""
    for name in ("one", "two"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(stat.S_IRWXU)
        monkeypatch.setenv(f"{name.upper()}_PATH", str(tmp_path / name))
    return tmp_path


def chosen(adapter: str | None = None, program: str | None = None, kind: str | None = None) -> str:
    def facts(path: str) -> ProgramFacts:
        return read_facts(path, ["m.toml"])

    return choose(adapter, program, _profiles(), lambda each: each.locate(), facts, kind=kind).name


def _profiles() -> tuple[TableProfile, ...]:
    return read_tables(TABLES, "mine.toml")


def test_what_is_named_counts_before_a_configurations_type_and_that_before_the_program(adapters: Path) -> None:
    project = adapters / "project"
    project.mkdir()
    (project / "m.toml").touch()
    script = adapters / "tool"
    script.write_text("#!/usr/bin/env em\n")
    assert chosen("two", "a.m", "m") == chosen("N", "a.m") == "two"
    assert chosen(None, str(project), "m") == chosen(None, "a.m") == chosen(None, str(script)) == "one"
    assert chosen(None, str(project)) == chosen(None, str(project / "m.toml")) == "two"


def test_of_several_that_fit_the_first_that_is_installed_is_taken_else_all_are_named_with_their_commands(
    adapters: Path,
) -> None:
    assert chosen(kind="both") == "one"
    (adapters / "one").unlink()
    assert chosen(kind="both") == chosen(program="a.m") == chosen("m") == "two"
    (adapters / "two").unlink()
    with pytest.raises(UsageError) as missing:
        chosen(program="a.m")
    assert missing.value.code == "ADAPTER_NOT_FOUND"
    assert (
        "one is not installed (looked for $ONE_PATH). Install it with: apt-get install one. Or: "
        in missing.value.message
    )
    assert missing.value.message.endswith("trio-debugmcp adapters --install two")
    with pytest.raises(UsageError, match=r"for the type 'go'. Pass `adapter`, one of: one \(M\); two \(M, N\)"):
        chosen(kind="go", program="a.m")


def test_a_process_is_debugged_by_what_knows_its_interpreter_and_else_its_machine_code() -> None:
    one, two = _profiles()
    machine = ProgramFacts("file", is_elf=True, language="c")
    assert for_process("/usr/bin/em2.1", machine, [two, one]) == [one]
    assert for_process("/usr/bin/app", machine, [one, two]) == [two]
    assert for_process("/usr/bin/app", ProgramFacts("file", is_elf=True, language="go"), [one, two]) == []


@pytest.mark.parametrize(
    ("program", "facts", "expected"),
    [
        ("/x/main.go", ProgramFacts(), ["delve"]),
        ("/x/shop", ProgramFacts("file", is_elf=True, language="go"), ["delve"]),
        ("/x/shop", ProgramFacts("file", is_elf=True, language="rust"), ["gdb", "lldb-dap", "codelldb"]),
        ("/x/shop", ProgramFacts("file", interpreter="node"), ["js-debug"]),
        ("/x/shop", ProgramFacts("file", interpreter="ruby3.1"), ["rdbg"]),
        ("/x/shop", ProgramFacts("file", interpreter="sh"), ["bash-dap"]),
        ("/x/shop", ProgramFacts("file", interpreter="python3"), ["debugpy"]),
        ("/x/shop", ProgramFacts("directory", files=("CMakeLists.txt",)), ["cmake"]),
        ("/x/CMakeLists.txt", ProgramFacts("file"), ["cmake"]),
        ("/x/shop", ProgramFacts("directory", files=("package.json",)), ["js-debug"]),
        ("/x/Shop.jar", ProgramFacts(), ["java"]),
        ("/x/README.md", ProgramFacts("file"), []),
    ],
)
def test_our_own_adapters_fit_what_they_debug(program: str, facts: ProgramFacts, expected: list[str]) -> None:
    known = [(each.name, each.detect) for each in PROFILES if getattr(getattr(each, "table", None), "tested", True)]
    assert fitting(known, program, facts) == expected


def test_a_program_that_is_not_there_or_is_a_directory_without_one_is_said_to_be_that() -> None:
    for facts, code, words in (
        (ProgramFacts(), "INVALID_PATH", "The program '/src/app.txt' does not exist. Pass the path of a file."),
        (ProgramFacts("directory"), "ADAPTER_NOT_FOUND", "'/src/app.txt' is a directory without a program that an"),
        (ProgramFacts("file"), "ADAPTER_NOT_FOUND", "There is no debug adapter for '/src/app.txt'. Pass `adapter`"),
    ):
        with pytest.raises(UsageError) as refused:
            candidates(None, "/src/app.txt", PROFILES, lambda _, facts=facts: facts)  # type: ignore[misc]
        assert (refused.value.code, refused.value.message.startswith(words)) == (code, True), refused.value.message


@pytest.mark.parametrize(
    ("name", "way"), [("a.nim", "launch the executable"), ("A.kts", "Build a jar and launch that")]
)
def test_source_that_nothing_builds_is_refused_with_what_can_be_launched(name: str, way: str) -> None:
    with pytest.raises(UsageError, match=way):
        candidates(None, f"/src/{name}", PROFILES, lambda _: ProgramFacts("file"))


def test_a_directory_without_a_project_says_which_of_its_files_can_be_launched() -> None:
    def refused(*names: str) -> str:
        facts = ProgramFacts("directory", suffixes=(".c", ".py"), names=names)
        with pytest.raises(UsageError) as caught:
            candidates(None, "/src/app", PROFILES, lambda _: facts)
        return caught.value.message.partition("knows. ")[2]

    assert refused("a.py", "b.c", "b.h", "notes.md") == "a.py, b.c can be launched: pass one as `program`."
    many = refused(*(f"{number}.py" for number in range(10)))
    assert many == "0.py, 1.py, 2.py, 3.py, 4.py, 5.py, 6.py, 7.py and 2 more can be launched: pass one as `program`."
    assert refused("b.h", "notes.md").startswith("Pass a file in it. Pass `adapter`, one of: ")


def test_a_directory_of_sources_without_a_project_says_what_it_lacks() -> None:
    facts = ProgramFacts("directory", suffixes=(".go",))
    with pytest.raises(
        UsageError, match=r"It has sources of Go, and no go\.mod in it or above: make one, or pass a file"
    ):
        candidates(None, "/src/app", PROFILES, lambda _: facts)
