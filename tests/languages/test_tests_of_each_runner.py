"""One test of a project is launched by its name, with each language's own runner: it stops where it fails."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import trio
from msgspec import Struct

from tests.languages.cases import zig
from tests.languages.conftest import need
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import test_runners
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.testing import DebugClient, ToolFailed

PROJECTS = Path(__file__).parent / "projects"

PACKAGES = Path(__file__).parents[1] / "javascript" / "node_modules"


class Runner(Struct, frozen=True):
    """A project, the program that its tests need, a test that fails and one that passes.

    `at`: where the one that fails stops. `shows`: of its locals. `raises`: how the exception begins.
    """

    project: str
    needs: str
    fails: str
    passes: str
    at: str
    raises: str
    shows: tuple[str, str]
    near: str


BARN = "src/test/java/barn"
CROFT = "src/test/kotlin/croft"
LOFT = "src/test/scala"

JARS = (
    *("junit-jupiter-api", "junit-jupiter-params", "junit-jupiter-engine", "junit-platform-commons"),
    *("junit-platform-engine", "junit-platform-launcher", "opentest4j", "apiguardian-api", "junit4", "hamcrest"),
)

INSTALLED = {
    "javac": "openjdk-17-jdk-headless",
    "rspec": "ruby-rspec",
    "kotlinc": "kotlin",
    "scalac": "scala",
    "/usr/include/gtest": "libgtest-dev cmake",
    "/usr/include/catch2": "catch2 cmake",
}
"""What a directory of headers comes with."""

RUNNERS = {
    "cargo": Runner(
        *("ledger", "cargo", "src/lib.rs::tests::a_transfer_keeps_the_sum", "tests/whole.rs::it_works_from_outside"),
        *("src/lib.rs:24", "panic: ", ("sum", "996"), "a_small_one_is_free"),
    ),
    "go test": Runner(
        *("till", "go", "price/price_test.go::TestTotal", "./price::TestOne/a few"),
        *("price/price_test.go:9", "test failure", ("got", "5"), "TestOne"),
    ),
    "minitest": Runner(
        *("shelf", "ruby", "test/shelf_test.rb::ShelfTest#test_counts_add_up", "test/shelf_test.rb::test_empty"),
        *("test/shelf_test.rb:9", "Minitest::Assertion: ", ("shelf", "tea"), "test_empty"),
    ),
    "RSpec": Runner(
        *("attic", "rspec", "spec/trunk_spec.rb::adds counts up", "spec/trunk_spec.rb::Trunk is empty at first"),
        *("spec/trunk_spec.rb:6", "RSpec::Expectations::ExpectationNotMetError: ", ("trunk", "3"), "adds counts up"),
    ),
    "gtest": Runner(
        *("depot", "/usr/include/gtest", "tests/stock_test.cpp::Stock.CountsAddUp", "tests/stock_test.cpp:10"),
        *("tests/stock_test.cpp:7", "SIGTRAP: ", ("got", "6"), "Stock.EmptyIsZero"),
    ),
    "ctest": Runner(
        *("depot", "/usr/include/gtest", "tests/whole.cpp", "tests/stock_test.cpp::EmptyIsZero"),
        *("tests/whole.cpp:8", "SIGABRT: Assertion `got == 3 + count' failed.", ("count", "2"), "whole"),
    ),
    "Catch2": Runner(
        *("shed", "/usr/include/catch2", "tests/shed_test.cpp::counts add up", "tests/shed_test.cpp::empty is zero"),
        *("tests/shed_test.cpp:7", "SIGTRAP: ", ("got", "6"), "empty is zero"),
    ),
    "JUnit 5": Runner(
        *("barn", "javac", f"{BARN}/ShelfTest.java::countsAddUp", f"{BARN}/ShelfTest.java::namesAreShort"),
        *(f"{BARN}/ShelfTest.java:13", "org.opentest4j.AssertionFailedError: ", ("got", "6"), "emptyIsZero"),
    ),
    "JUnit 4": Runner(
        *("barn", "javac", f"{BARN}/OldShelfTest.java:11", f"{BARN}/OldShelfTest.java::OldShelfTest#refuses"),
        *(f"{BARN}/OldShelfTest.java:11", "java.lang.AssertionError: ", ("got", "6"), "emptyIsZero"),
    ),
    "JUnit 5, Kotlin": Runner(
        *("croft", "kotlinc", f"{CROFT}/shelves.kt::counts add up", f"{CROFT}/shelves.kt:15"),
        *(f"{CROFT}/shelves.kt:10", "org.opentest4j.AssertionFailedError: ", ("got", "6"), "emptyIsZero"),
    ),
    "JUnit 4, Scala": Runner(
        *("loft", "scalac", f"{LOFT}/Shelves.scala::countsAddUp", f"{LOFT}/Shelves.scala::ShelfTest.emptyIsZero"),
        *(f"{LOFT}/Shelves.scala:10", "java.lang.AssertionError: ", ("got", "6"), "emptyIsZero"),
    ),
    "zig test": Runner(
        *("pantry", "zig", "shelf.zig::counts add up", "shelf.zig:15"),
        *("shelf.zig:12", "error.TestUnexpectedResult: ", ("got", "6"), "empty is zero"),
    ),
    "node:test": Runner(
        *("web", "node", "test/sum.test.mjs::adds up", "test/sum.test.mjs::a basket > is cheap"),
        *("test/sum.test.mjs:8", "AssertionError: ", ("total", "5"), "is cheap"),
    ),
    "vitest": Runner(
        *("web-vitest", "node", "sum.test.mjs::a basket > adds up", "sum.test.mjs::nothing is zero"),
        *("sum.test.mjs:8", "AssertionError: ", ("total", "5"), "nothing is zero"),
    ),
    "jest": Runner(
        *("web-jest", "node", "sum.test.js:7", "sum.test.js::nothing is zero"),
        *("sum.test.js:7", "JestAssertionError: ", ("total", "5"), "nothing is zero"),
    ),
    "mocha": Runner(
        *("web-mocha", "node", "sum.test.mjs::adds up", "sum.test.mjs::is free"),
        *("sum.test.mjs:6", "AssertionError: ", ("total", "5"), "is free"),
    ),
}


async def build_as_refused(client: DebugClient, test: str) -> None:
    """Run the commands that the refusal of a test names which is not built."""
    with pytest.raises(ToolFailed, match="are not built") as refused:
        await client.call("debug_launch", test=test)
    commands = re.search(r"Build them with: (.*)\.$", str(refused.value))
    assert commands is not None
    for command in commands[1].split(" && "):
        await trio.to_thread.run_sync(
            lambda words: subprocess.run(words, check=True, stdout=subprocess.DEVNULL), shlex.split(command)
        )


def link_jars(project: Path) -> None:
    """Link the libraries of JUnit into a project."""
    (project / "lib").mkdir()
    for library in JARS:
        jar = next(Path("/usr/share/java").glob(f"{library}-[0-9]*.jar"), None)
        need(library, None if jar is None else str(jar), "apt-get install junit4 junit5")
        if jar is not None:
            (project / "lib" / jar.name).symlink_to(jar)


SLOW_COMPILER = pytest.mark.nightly(
    "a launch takes 4 s of processor time, as all is compiled; JUnit of Java is tried at every change"
)

SLOW_RUNNER = pytest.mark.nightly(
    "2 s of processor time more; what fails, which shows the same command, is tried at every change"
)

MARKS = {("croft", "both"): SLOW_COMPILER, ("loft", "both"): SLOW_COMPILER, ("web-jest", "passes"): SLOW_RUNNER}

PARTS = {"web-jest": ("fails", "passes")}
"""Of what is tried in two tests; of others both in one."""

PROJECT_PARTS = [
    pytest.param(name, part, marks=MARKS.get((name, part), ()), id=name if part == "both" else f"{name}-{part}")
    for name in dict.fromkeys(runner.project for runner in RUNNERS.values())
    for part in PARTS.get(name, ("both",))
]


@pytest.mark.parametrize(("name", "part"), PROJECT_PARTS)
async def test_a_test_that_fails_stops_at_its_line_and_one_that_passes_runs_to_its_end(
    debugging: Connect, tmp_path: Path, name: str, part: str
) -> None:
    runners = [runner for runner in RUNNERS.values() if runner.project == name]  # which share what is built
    needs = runners[0].needs
    needed = zig() if needs == "zig" else shutil.which(needs) or (needs if Path(needs).is_dir() else None)
    need(needs, needed, f"apt-get install {INSTALLED.get(needs, needs)}")
    project = Path(shutil.copytree(PROJECTS / name, tmp_path / name))
    if needs == "node":
        need("npm packages", str(PACKAGES) if PACKAGES.is_dir() else None, "scripts/npm-install")
        (project / "node_modules").symlink_to(PACKAGES)
    if needs in ("javac", "kotlinc", "scalac"):
        link_jars(project)
    async with debugging() as client:
        if (project / "CMakeLists.txt").exists():
            await build_as_refused(client, str(project / runners[0].fails))
        for runner in runners:
            if part != "passes":
                await try_failing(client, project, runner)
            if part != "fails":
                end = await client.call("debug_launch", test=str(project / runner.passes))
                assert (end["state"], end["exitCode"]) == ("Disconnected", 0), end


async def try_failing(client: DebugClient, project: Path, runner: Runner) -> None:
    """Launch the test that fails, and one that is not there."""
    stop = await client.call("debug_launch", test=str(project / runner.fails))
    assert (stop["reason"], stop["at"].split(" in ")[0]) == ("Exception", str(project / runner.at)), stop
    assert stop["exception"].startswith(runner.raises)
    local, value = runner.shows
    assert value in stop["locals"][local]
    await client.call("debug_disconnect")
    with pytest.raises(ToolFailed, match=runner.near) as failed:
        await client.call("debug_launch", test=f"{project / runner.fails.partition(':')[0]}::{runner.near}s")
    assert failed.value.code == "INVALID_PATH"


async def test_an_exception_fails_a_test_of_java_only_where_nothing_handles_it(
    debugging: Connect, tmp_path: Path
) -> None:
    need("javac", shutil.which("javac"), "apt-get install openjdk-17-jdk-headless")
    project = Path(shutil.copytree(PROJECTS / "barn", tmp_path / "barn"))
    link_jars(project)
    test = project / BARN / "SpoiltTest.java"
    async with debugging() as client:
        stop = await client.call("debug_launch", test=f"{test}::firstOfNone")
        assert (stop["reason"], stop["exception"]) == ("Exception", "java.util.NoSuchElementException"), stop
        assert stop["at"].split(" in ")[0] == f"{test}:21"
        assert [frame.rpartition(":")[2] for frame in stop["stack"][:1]] == ["45"]  # those before it are handled
        assert stop["locals"]["counts"].startswith("[]")


async def test_a_file_of_perl_runs_as_prove_runs_it(debugging: Connect, tmp_path: Path) -> None:
    need("perl", shutil.which("perl"), "apt-get install perl")
    project = Path(shutil.copytree(PROJECTS / "stock", tmp_path / "stock"))
    test = project / "t" / "stock.t"
    async with debugging() as client:  # where it fails stops a breakpoint only, as Test::More raises nothing
        stop = await client.call("debug_launch", test=str(test), breakpoints=[{"file": str(test), "line": 7}])
        assert (stop["reason"], stop["at"].split(" in ")[0]) == ("Breakpoint", f"{test}:7")
        assert "count=>3" in stop["locals"]["$stock"]
        end = await client.call("debug_continue")
        assert (end["exitCode"], "not ok 1 - counts add up" in end["stdout"]) == (1, True)
        end = await client.call("debug_launch", test=str(project / "t" / "empty.t"))
        assert (end["state"], end["exitCode"]) == ("Disconnected", 0)
        for wrong, remedy in (
            (f"{project}/t/stok.t", r"there are: stock\.t"),
            (f"{test}::counts add up", "by the file"),
        ):
            with pytest.raises(ToolFailed, match=remedy) as failed:
                await client.call("debug_launch", test=wrong)
            assert failed.value.code == "INVALID_PATH"


def test_phpunit_takes_the_command_of_a_test_and_its_words_are_understood(tmp_path: Path) -> None:
    # The adapter of PHP is in no registry: what it would debug runs without it here.
    need("phpunit", shutil.which("phpunit"), "apt-get install phpunit")
    file = Path(shutil.copytree(PROJECTS / "cellar", tmp_path / "cellar")) / "tests" / "RackTest.php"

    def ran(name: str) -> tuple[test_runners.TestRun, int, str]:
        run = test_runners.test_run(f"{file}::{name}", [str(tmp_path)])
        command = [run.program, *run.args]
        done = subprocess.run(command, cwd=run.directory, capture_output=True, text=True, check=False)
        return run, done.returncode, done.stdout

    run, code, words = ran("testCountsAddUp")
    assert (code, f"{file}:14" in words, re.search(run.raised or "", words)) == (1, True, None)
    run, code, words = ran("RackTest::testIsEmptyAtFirst")
    assert (code, re.search(run.ran_none or "", words)) == (0, None)
    run, code, words = ran("testRefuses")
    raised = re.search(run.raised or "", words)
    assert (code, raised and raised["kind"]) == (2, "DomainException")
    run, code, words = ran("testRefuses with data set #1")
    assert (code, re.search(run.ran_none or "", words) is not None) == (0, True)
    with pytest.raises(NoSuchTest, match="testCountsAddUp"):
        ran("testCountsAddUps")


async def test_a_test_that_its_own_code_ended_names_the_breakpoint_that_stops_there(
    debugging: Connect, tmp_path: Path
) -> None:
    need("node", shutil.which("node"), "apt-get install nodejs")
    project = Path(shutil.copytree(PROJECTS / "web", tmp_path / "web"))
    file = project / "test" / "sum.test.mjs"
    raising = 'class Torn extends Error { name = "Torn"; }\ntest("is torn", () => { throw new Torn("bag"); });\n'
    text = file.read_text()
    file.write_text(text + raising)
    async with debugging() as client:
        wanted = [{"exception": "Torn"}]
        stop = await client.call("debug_launch", test=f"{file}::is torn", breakpoints=wanted)
        assert stop["at"].startswith(f"{file}:{len(text.splitlines()) + 2}")
        await client.call("debug_disconnect")
        await client.call("breakpoint_remove", id="*")
        stop = await client.call("debug_launch", test=str(file))
        assert stop["exception"].startswith("AssertionError")
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 1)
        said = "Torn ended the test without a stop"
        assert any(note.startswith(said) and json.dumps(wanted) in note for note in end["notes"])
        with pytest.raises(ToolFailed, match=said):
            await client.call("exception_get_context")


async def test_a_runner_that_ran_nothing_has_not_passed(debugging: Connect, tmp_path: Path) -> None:
    need("node", shutil.which("node"), "apt-get install nodejs")
    project = Path(shutil.copytree(PROJECTS / "web", tmp_path / "web"))
    file = project / "test" / "sum.test.mjs"
    file.write_text(file.read_text() + "for (const n of [1]) test(`is ${n}`, () => {});\n")
    async with debugging() as client:
        end = await client.call("debug_launch", test=f"{file}::is 2")
        assert (end["exitCode"], end["notes"][0].partition(":")[0]) == (0, "no test ran")
        end = await client.call("debug_launch", test=f"{file}::is 1")
        assert (end["exitCode"], end.get("notes")) == (0, None)
