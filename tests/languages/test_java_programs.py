"""Java from its source: built by javac for the session, built again at a restart, and what is wrong in it."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.languages.conftest import TEST_SECONDS, need
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.installing import way_here
from trio_debugmcp.dap.profiles.tables.placeholders import filled
from trio_debugmcp.dap.profiles.tables.table import TableProfile
from trio_debugmcp.testing import ToolFailed

PROGRAM = Path(__file__).parent.parent / "programs" / "java" / "shop"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A directory with the sources of a package, of which nothing is built."""
    profile = profile_named("java")
    assert profile is not None
    need("java", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    need("javac", shutil.which("javac"), "apt-get install openjdk-17-jdk-headless")
    return Path(shutil.copytree(PROGRAM, tmp_path / "shop"))


def at(file: Path, mark: str) -> dict[str, Any]:
    lines = file.read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
    return {"file": str(file), "line": number}


async def test_a_class_of_a_package_is_built_with_what_it_uses_and_again_at_a_restart(
    debugging: Connect, package: Path
) -> None:
    program, item = package / "Shop.java", package / "Item.java"
    async with debugging() as client:
        entry = await client.call("debug_launch", program=str(program))
        place = f"{program}:{at(program, 'first')['line']} in shop.Shop.main"
        assert (entry["reason"], entry["at"], "stdout" in entry) == ("Entry", place, False)
        await client.call("breakpoint_set", **at(item, "price"))
        stop = await client.call("debug_continue")
        assert (stop["breakpoints"], stop["locals"]["price"]) == (["bp-1"], "0")
        assert "notes" not in stop  # its class was not loaded when it was set
        assert stop["stack"] == [f"shop.Shop.main {program}:10"]  # the user's code, although it was built elsewhere
        await client.call("breakpoint_remove", id="*")
        item.write_text(item.read_text().replace("price * 2", "price * 20"))
        await client.call("debug_restart")
        await client.call("debug_run_to", file=str(program), line=10)
        inside = await client.call("debug_step", mode="in")  # the adapter names the file by its package
        assert (inside["at"].partition(":")[0], "price * 20" in inside["source"]) == (str(item), True)
        over = await client.call("debug_continue")
        assert (over["stdout"], over["exitCode"]) == ("total 60\n", 0)
        assert {each.name for each in package.iterdir()} == {"Shop.java", "Item.java"}
        item.write_text("package shop;\nclass Item { int price = ; }\n")
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_launch", program=str(program))
        assert failed.value.code == "LAUNCH_FAILED"
        assert "Item.java:2: illegal start of expression" in failed.value.message
        with pytest.raises(ToolFailed, match=r"it has no method `public static void main"):
            await client.call("debug_launch", program=str(item))


SHELF = """import java.util.*;

public class Shelf {
    static class Box { int weight = 3; String name = "fig"; }

    static int look(String word, List<String> all, Integer n, Box box) {
        int length = word.length(); Map<String, Integer> counts = new HashMap<>(Map.of("fig", 2));
        return length + n;
    }

    public static void main(String[] args) {
        List<String> all = List.of("fig", "plum");
        for (String word : all) look(word, all, 7, new Box());
    }
}
"""


async def test_a_condition_with_a_call_stops_only_where_it_holds_and_calls_leave_the_stop_as_it_is(
    debugging: Connect, package: Path
) -> None:
    program = package.parent / "Shelf.java"
    program.write_text(SHELF)
    place = {"file": str(program), "line": 8}
    async with debugging() as client:
        breakpoint = {**place, "condition": 'word.equals("plum") && all != null'}
        stop = await client.call("debug_launch", program=str(program), breakpoints=[breakpoint])
        assert (stop["breakpoints"], stop["locals"]["word"].split()[0], stop.get("notes")) == (["bp-1"], '"plum"', None)
        assert stop["locals"]["box"] == 'Shelf$Box(weight=3, name="fig")'
        assert stop["locals"]["all"] == '["fig", "plum"] (java.util.List)'
        assert stop["locals"]["n"] == "7 (java.lang.Integer)"
        assert stop["locals"]["counts"] == '{"fig": 2} (java.util.Map)'
        assert (await client.call("evaluate", expression="counts"))["value"] == '{"fig": 2}'
        assert "console" not in stop
        assert (await client.call("evaluate", expression="n.intValue() + 1"))["value"] == "8"
        assert (await client.call("evaluate", expression="length"))["value"] == "4"
        assert (await client.call("evaluate", expression="word.length()"))["value"] == "4"
        assert (await client.call("variables_get", path="box"))["variables"]["weight"] == "3"
        with pytest.raises(ToolFailed, match="evaluate the parts alone"):
            await client.call("evaluate", expression="word.length() + length")
        assert (await client.call("debug_state"))["locals"]["word"].startswith('"plum"')


async def test_a_condition_that_cannot_be_judged_stops_and_says_so(debugging: Connect, package: Path) -> None:
    program = package.parent / "Shelf.java"
    program.write_text(SHELF)
    async with debugging() as client:
        breakpoint = {"file": str(program), "line": 8, "condition": "word.nosuch() || n == 8"}
        stop = await client.call("debug_launch", program=str(program), breakpoints=[breakpoint])
        assert stop["locals"]["word"].startswith('"fig"')
        assert "No method 'nosuch'" in f"{stop.get('description')} {stop.get('notes')}"


STEPS = """public class Steps {
    static class Box {
        String label;
        Box(String label) {
            this.label = label; // box
        }
    }

    public static void main(String[] args) {
        Box box = new Box(String.valueOf(3)); // first
        int length = "fig".length() + box.label.length();
        Object other = new Object(); // other
    } // end
}
"""


async def test_a_step_in_passes_over_what_is_not_the_programs(debugging: Connect, package: Path) -> None:
    program = package.parent / "Steps.java"
    program.write_text(STEPS)
    async with debugging() as client:
        await client.call("debug_launch", program=str(program))
        inside = await client.call("debug_step", mode="in")
        assert inside["at"] == f"{program}:{at(program, 'box')['line'] - 1} in Steps$Box.<init>"
        assert (await client.call("debug_step", mode="in"))["at"].startswith(f"{program}:{at(program, 'box')['line']} ")
        await client.call("debug_run_to", **at(program, "other"))
        stop = await client.call("debug_step", mode="in")
        assert stop["at"].startswith(f"{program}:{at(program, 'end')['line']} in ")
        assert (await client.call("debug_step", mode="in"))["state"] == "Disconnected"


THROWN = """import java.io.IOException;

public class Thrown {
    static class Box { String label; }

    static class Bad extends RuntimeException {
        Bad(String text, Throwable cause) { super(text, cause); }
    }

    static void load(Box box) {
        try {
            throw new IOException("disk"); // disk
        } catch (IOException error) {
            throw new Bad("no stock", error); // bad
        } finally {
            box.label = null;
        } // passed
    }

    public static void main(String[] args) {
        Box box = new Box();
        try {
            load(box);
        } catch (Bad bad) {
            try {
                if (args.length == 0) throw new IllegalStateException("late"); // late
            } finally {
                bad = null;
            } // end
        }
        box.label.trim(); // null
    }
}
"""


@pytest.fixture
def as_installed(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adapter as it is installed now: one that was installed before has no `$exception`."""
    profile = profile_named("java")
    assert isinstance(profile, TableProfile)
    place = profile.locate()
    assert place is not None
    shutil.copytree(Path(place).parent / "dist", tmp_path / "java" / "dist")
    for old in (tmp_path / "java").rglob("*.java.orig"):
        old.rename(old.with_suffix(""))
    way = way_here(profile.table)
    assert way is not None
    for command in filled(way.then, {"installed": str(tmp_path / "java")}):
        subprocess.run(command, check=True, timeout=TEST_SECONDS)
    monkeypatch.setenv("JDI_DAP_SERVER_PATH", str(tmp_path / "java" / "classes"))


@pytest.mark.usefixtures("as_installed")
async def test_what_is_thrown_has_its_causes_and_stops_once_where_a_finally_passes_it_on(
    debugging: Connect, package: Path
) -> None:
    program = package.parent / "Thrown.java"
    program.write_text(THROWN)
    places = {mark: f"{program}:{at(program, mark)['line']} in Thrown" for mark in ("disk", "bad", "late", "null")}
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(program), args=["1"], breakpoints=[{"exception": "*"}])
        assert (stop["exception"], stop["at"]) == ("java.io.IOException: disk", f"{places['disk']}.load")
        stop = await client.call("debug_continue")
        assert (stop["exception"], stop["at"]) == ("Thrown$Bad: no stock", f"{places['bad']}.load")
        (cause,) = (await client.call("exception_get_context"))["causes"]
        assert (cause["exception"], "Thrown.load" in cause["frames"][0]) == ("java.io.IOException: disk", True)
        assert (await client.call("evaluate", expression="$exception.cause"))["value"] == "IOException: disk"
        null = await client.call("debug_continue")  # not at the end of the `finally`
        assert null["at"] == f"{places['null']}.main"
        assert (null["exception"].partition(": ")[0], null["mode"]) == ("java.lang.NullPointerException", "unhandled")
        assert 'Cannot invoke "String.trim()" because ' in null["exception"]
        assert null["locals"]["box"] == "Thrown$Box(label=null)"  # the call has not spoilt the frames
        await client.call("breakpoint_remove", id="*")
        await client.call("debug_disconnect")
        passed_on = await client.call("debug_launch", program=str(program), stop_at_entry=False)
        line = at(program, "late")["line"]
        assert passed_on["at"] == f"{program}:{at(program, 'end')['line']} in Thrown.main"
        assert passed_on["notes"] == [
            f"the exception was made in Thrown.main (Thrown.java:{line}), and is passed on here"
        ]
