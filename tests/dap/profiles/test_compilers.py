"""How source is built, by the tables of our adapters, and what compilers say of it."""

import json

import pytest

from trio_debugmcp.dap.profiles import ProgramFacts, profile_named
from trio_debugmcp.dap.profiles.compilers import (
    Build,
    BuildPlan,
    CompilerError,
    MadeProgram,
    first_error,
    made_programs,
    plan_of,
    without_reports,
)

BUILDS = (
    Build(("cargo", "build"), suffixes=(".rs",), files=("Cargo.toml",)),
    Build(("rustc", "-o", "{output}", "{program}"), suffixes=(".rs",)),
    Build(("cc", "{program}", "-o{output}"), suffixes=(".c",)),
    Build((), suffixes=(".go",), files=("go.mod",)),
)

FILE = ProgramFacts("file")
IN_CRATE = ProgramFacts("file", above=("/x/go.mod", "/x/crate/Cargo.toml"))


@pytest.mark.parametrize(
    ("program", "facts", "plan"),
    [
        ("/x/a.C", FILE, BuildPlan(BUILDS[2].command, "/x", "/x/a.C")),
        ("/x/a.rs", FILE, BuildPlan(BUILDS[1].command, "/x", "/x/a.rs")),
        ("/x/crate/src/a.rs", IN_CRATE, BuildPlan(("cargo", "build"), "/x/crate", "/x/crate/src/a.rs")),
        ("/x/crate/src/a.c", IN_CRATE, BuildPlan(BUILDS[2].command, "/x/crate/src", "/x/crate/src/a.c")),
        ("/x/crate/Cargo.toml", IN_CRATE, BuildPlan(("cargo", "build"), "/x/crate", "/x/crate")),
        ("/x/crate/README.md", IN_CRATE, None),
        ("/x/app", ProgramFacts("file", is_elf=True), None),
        ("/x/a.c", ProgramFacts(), None),
        ("/x/a.go", ProgramFacts("file", above=("/x/go.mod",)), BuildPlan((), "/x", "/x/a.go")),
        (
            "/x/crate",
            ProgramFacts("directory", files=("Cargo.toml",), above=("/x/crate/Cargo.toml",)),
            BuildPlan(("cargo", "build"), "/x/crate", "/x/crate"),
        ),
        ("/x/crate/src", ProgramFacts("directory", above=("/x/crate/Cargo.toml",), suffixes=(".rs",)), None),
    ],
)
def test_the_first_build_that_is_for_a_program_is_taken_a_projects_before_a_files(
    program: str, facts: ProgramFacts, plan: BuildPlan | None
) -> None:
    assert plan_of(BUILDS, program, facts) == plan


def test_a_command_names_what_is_made_or_reports_it() -> None:
    made = BuildPlan(("cc", "{program}", "-o{output}", "{other}"), "/x", "/x/a {output}.c")
    assert made.command_for("/t/a") == ["cc", "/x/a {output}.c", "-o/t/a", "{other}"]
    assert not made.reports_program
    assert BuildPlan(("cargo", "build"), "/x", "/x").reports_program


def test_our_tables_build_c_and_rust_with_debug_information() -> None:
    for name in ("gdb", "lldb-dap", "codelldb"):
        profile = profile_named(name)
        assert profile is not None
        for program, words in (("/x/a.c", "gcc -g -O0"), ("/x/a.cc", "g++ -g -O0"), ("/x/a.rs", "rustc -g")):
            plan = plan_of(profile.builds, program, FILE)
            assert plan is not None
            assert " ".join(plan.command_for("/t/a")).startswith(words)
        assert plan_of(profile.builds, "/x/a.h", FILE) is None
        plan = plan_of(profile.builds, "/x/crate/src/a.rs", IN_CRATE)
        assert plan is not None
        assert plan.command[:2] == ("cargo", "build")


def test_compilers_on_the_virtual_machine_do_not_take_their_time_to_make_their_own_code_faster() -> None:
    profile = profile_named("java")
    assert profile is not None
    assert {build.command[:2] for build in profile.builds} == {
        (name, "-J-XX:TieredStopAtLevel=1") for name in ("javac", "kotlinc", "scalac")
    }


GCC = """In file included from a.c:1:
a.c: In function 'main':
a.c:4:7: warning: unused variable 'y'
a.c:5:10: error: 'x' undeclared (first use in this function)
a.c:9:1: error: later
"""

RUSTC = """warning: unused
 --> src/main.rs:1:1
error[E0425]: cannot find value `y` in this scope
 --> src/main.rs:2:11
  |
error: aborting due to 1 previous error
"""

GFORTRAN = """shop.f90:3:12:

    3 |   total = none
      |            1
Error: Symbol 'none' at (1) has no IMPLICIT type
"""

LINKER = """/usr/bin/ld: /tmp/ccq.o: in function `main':
/x/a.c:6:(.text+0x9): undefined reference to `nothing'
/usr/bin/ld: /tmp/ccq.o: undefined reference to `nothing'
collect2: error: ld returned 1 exit status
"""


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (GCC, CompilerError("'x' undeclared (first use in this function)", "a.c", 5)),
        (
            "a.c:1:10: fatal error: no.h: No such file or directory\n",
            CompilerError("no.h: No such file or directory", "a.c", 1),
        ),
        (RUSTC + GCC, CompilerError("cannot find value `y` in this scope", "src/main.rs", 2)),
        (RUSTC, CompilerError("cannot find value `y` in this scope", "src/main.rs", 2)),
        (GFORTRAN, CompilerError("Symbol 'none' at (1) has no IMPLICIT type", "shop.f90", 3)),
        (
            'shop.adb:3:9: warning: variable "x" is not referenced\nshop.adb:17:14: error: "Nope" is undefined\n',
            CompilerError('"Nope" is undefined', "shop.adb", 17),
        ),
        (
            'Compiling shop.pas\nshop.pas(19,10) Error: Identifier not found "nope"\nshop.pas(56) Fatal: There were 1',
            CompilerError('Identifier not found "nope"', "shop.pas", 19),
        ),
        ("App.java:3: error: ';' expected\n", CompilerError("';' expected", "App.java", 3)),
        (LINKER, CompilerError("undefined reference to `nothing'")),
        ("error: failed to parse manifest\n\nCaused by: x\n", CompilerError("failed to parse manifest")),
        ("\n  make: *** no rule\nmore\n", CompilerError("make: *** no rule")),
        ("", CompilerError("")),
    ],
)
def test_the_first_error_is_found_with_its_place(output: str, error: CompilerError) -> None:
    assert first_error(output) == error


def test_of_what_cargo_reports_the_programs_are_read_and_people_are_spared_it() -> None:
    program = {"reason": "compiler-artifact", "executable": "/t/a", "target": {"src_path": "/x/a.rs", "kind": ["bin"]}}
    library = {"reason": "compiler-artifact", "executable": None, "target": {"src_path": "/x/lib.rs"}}
    lines = [json.dumps(library), "{broken", json.dumps(program), "hello", '{"executable": "/t/b"}']
    output = "\n".join(lines) + "\n"
    assert made_programs(output) == [MadeProgram("/t/a", "/x/a.rs"), MadeProgram("/t/b", None)]
    assert without_reports(output) == "{broken\nhello\n"
