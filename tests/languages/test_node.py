"""js-debug with real programs of node: exceptions, children, modules of ECMAScript, TypeScript, and attaching."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.languages.conftest import need
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.testing import ToolFailed

PROGRAMS = Path(__file__).parent.parent / "programs" / "node"


@pytest.fixture(autouse=True)
def _js_debug() -> None:
    profile = profile_named("js-debug")
    assert profile is not None
    need("js-debug", profile.locate(), f"{profile.absence()}; {profile.install_hint}")


def at(name: str, line: int) -> dict[str, object]:
    return {"file": str(PROGRAMS / name), "line": line}


async def test_exceptions_have_their_class_and_causes_and_a_rejected_promise_is_one_that_nothing_catches(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        wanted = [{"exception": "OutOfStock"}]
        program = str(PROGRAMS / "errors.js")
        stop = await client.call("debug_launch", program=program, breakpoints=wanted)
        assert (stop["exception"], stop["breakpoints"]) == ("Sold: 0 left", ["ex-1"])
        assert stop["at"].endswith("errors.js:5 in take")
        assert stop["locals"] == {"count": "0"}
        (cause,) = (await client.call("exception_get_context"))["causes"]
        assert (cause["way"], cause["exception"]) == ("cause", "RangeError: too few")
        stop = await client.call("debug_continue")
        assert (stop["exception"], stop["mode"]) == ("TypeError: not handled", "unhandled")
        assert stop["stderr"] == "caught 0 left\n"  # once, although js-debug repeats it
        over = await client.call("debug_continue")
        assert (over["state"], over["exitCode"]) == ("Disconnected", 1)
        crash = await client.call("debug_state")
        assert (crash["exception"], crash["at"].rpartition("/")[2]) == (
            "TypeError: not handled",
            "errors.js:13 in <anonymous>",
        )


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("const assert = require('assert');", "assert.strictEqual(number, 7);"),
        ("const fs = require('fs');", "fs.readFileSync(`/nowhere/${number}`);"),
        ("const { Buffer } = require('buffer');", "Buffer.alloc(-number);"),
    ],
)
async def test_what_nodes_own_code_raises_stops_in_the_users_frame(
    imports: str, call: str, debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "till.js"
    file.write_text(f"{imports}\nfunction total(number) {{\n  {call}\n}}\ntotal(6);\n")
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(file), stop_at_entry=False)
        assert (stop["reason"], stop["at"]) == ("Exception", f"{file}:3 in total")
        assert stop["locals"] == {"number": "6"}
        assert (await client.call("evaluate", expression="number + 1"))["value"] == "7"
        assert (await client.call("stacktrace_get"))["frames"][0].startswith("total ")


ASSERTS = 'import assert from "node:assert";\nconst number = await 6;\nassert.strictEqual(number, 7);\n'

THROWS = "async function load(number) {\n  await null;\n  throw new RangeError(`late ${number}`);\n}\nawait load(3);\n"


@pytest.mark.parametrize(("text", "kind"), [(ASSERTS, "AssertionError"), (THROWS, "RangeError")])
async def test_what_a_module_of_ecmascript_raises_below_its_own_await_stops_by_its_type_and_is_noted_without(
    debugging: Connect, tmp_path: Path, text: str, kind: str
) -> None:
    file = tmp_path / "till.mjs"
    file.write_text(text)
    async with debugging() as client:
        end = await client.call("debug_launch", program=str(file), stop_at_entry=False)
        assert end["exitCode"] == 1
        assert any(each.startswith(f"{kind} ended the program without a stop") for each in end["notes"])
        wanted = [{"exception": kind}]
        stop = await client.call("debug_launch", program=str(file), breakpoints=wanted)
        assert (stop["reason"], stop["at"].rpartition(" in ")[0]) == ("Exception", f"{file}:3")
        end = await client.call("debug_continue")
        assert not any("without a stop" in each for each in end.get("notes", []))


async def test_a_worker_thread_and_a_fork_are_children_of_the_program(debugging: Connect) -> None:
    async with debugging() as client:
        places = [at("worker.js", 3), at("child.js", 2)]
        program = {"program": str(PROGRAMS / "starts.js"), "cwd": str(PROGRAMS)}
        stop = await client.call("debug_launch", **program, breakpoints=places)
        assert (stop["breakpoints"], stop["locals"]["q"]) == (["bp-1"], "1")
        sessions = (await client.call("debug_state"))["sessions"]
        assert [each.split()[1] for each in sessions] == ["starts.js", "[worker"]
        stop = await client.call("debug_continue")
        assert (stop["breakpoints"], stop["locals"]) == (["bp-2"], {"z": "5"})
        assert (await client.read("debugger://session"))["processName"] == "child.js"
        over = await client.call("debug_continue")
        assert over["exitCode"] == 3
        written = (await client.call("process_read_output"))["entries"]
        assert written == [{"stdout": "worker says 2\nin child 5\nchild 4\n"}]


async def test_a_module_of_ecmascript_and_typescript_stop_at_their_first_statement(debugging: Connect) -> None:
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(PROGRAMS / "half.mjs"))
        assert (stop["reason"], stop["at"].rpartition("/")[2]) == ("Entry", "half.mjs:5 in <anonymous>")
        into = await client.call("debug_step", mode="in")
        assert (into["at"].rpartition("/")[2], into["locals"]) == ("half.mjs:3 in half", {"n": "8"})
        source = str(PROGRAMS / "src" / "app.ts")
        stop = await client.call("debug_launch", program=source, cwd=str(PROGRAMS), replace=True)
        assert (stop["reason"], stop["at"].rpartition("/")[2]) == ("Entry", "app.ts:14 in <anonymous>")
        await client.call("breakpoint_set", **at("src/app.ts", 9), condition="item.price === 3")
        stop = await client.call("debug_continue")
        assert (stop["at"].rpartition("/")[2], stop["locals"]["total"]) == ("app.ts:9 in sum", "2")
        assert await client.call("debug_disconnect") == {"ended": True}


async def test_a_breakpoint_on_a_function_stops_in_its_source_and_one_that_is_nowhere_is_said_with_those_like_it(
    debugging: Connect, tmp_path: Path
) -> None:
    shutil.copytree(PROGRAMS / "src", tmp_path / "src")
    shutil.copytree(PROGRAMS / "out", tmp_path / "out")
    (tmp_path / "shop.mjs").write_text(
        'import { twice } from "./lib/sums.mjs";\nclass Till {\n  take(n) { return twice(n); }\n}\nnew Till().take(3)\n'
    )
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sums.mjs").write_text("export const twice = (n) => n * 2;\n")
    async with debugging("--root", str(tmp_path)) as client:
        stop = await client.call("debug_launch", program="out/app.js", breakpoints=[{"function": "sum"}])
        assert (stop["breakpoints"], stop["at"].rpartition("/")[2]) == (["fn-1"], "app.ts:7 in sum")
        await client.call("breakpoint_remove", id="*")
        wanted = [{"function": "Till.take"}, {"file": "lib/sums.mjs", "function": "twice"}, {"function": "thrice"}]
        stop = await client.call("debug_launch", program="shop.mjs", breakpoints=wanted, replace=True)
        assert (stop["breakpoints"], stop["at"].rpartition("/")[2]) == (["fn-2"], "shop.mjs:3 in Till.take")
        assert any("fn-4 is pending: " in note and "`twice` (sums.mjs)" in note for note in stop["notes"])
        stop = await client.call("debug_continue")
        assert (stop["at"].rpartition("/")[2], stop["locals"]) == ("sums.mjs:1 in twice", {"n": "3"})
        assert (await client.call("debug_continue"))["notes"] == ["no stop at fn-4 thrice"]
        await client.call("breakpoint_remove", id="*")
        end = await client.call("debug_launch", program="shop.mjs", breakpoints=[{"function": "thrice"}])
        assert (
            "fn-5 was refused: " in end["notes"][0]
        )  # at once, although the program has ended before it could be asked


async def test_a_run_goes_to_a_line_of_a_module_that_is_loaded_on_the_way(debugging: Connect, tmp_path: Path) -> None:
    (tmp_path / "shop.mjs").write_text('const { twice } = await import("./sums.mjs");\ntwice(3);\n')
    (tmp_path / "sums.mjs").write_text("export function twice(n) {\n  return n * 2;\n}\n")
    async with debugging("--root", str(tmp_path)) as client:
        await client.call("debug_launch", program="shop.mjs", stop_at_entry=True)
        with pytest.raises(ToolFailed, match="no code follows line 9 of the file, which has 3 lines"):
            await client.call("debug_run_to", file="sums.mjs", line=9)
        stop = await client.call("debug_run_to", file="sums.mjs", line=2)
        assert (stop["reason"], stop["at"].rpartition("/")[2]) == ("Step", "sums.mjs:2 in twice")
        assert stop["locals"] == {"n": "3"}


async def test_a_built_file_that_is_launched_shows_its_source_from_the_entry_on(debugging: Connect) -> None:
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(PROGRAMS / "out" / "app.js"), stop_at_entry=True)
        assert (stop["reason"], stop["at"].rpartition("/")[2]) == ("Entry", "app.ts:14 in <anonymous>")
        assert (await client.call("debug_step"))["at"].rpartition("/")[2] == "app.ts:15 in <anonymous>"


async def test_exceptions_of_other_types_are_counted_and_a_rejection_may_still_be_handled(
    debugging: Connect, tmp_path: Path
) -> None:
    lines = [
        "class Sold extends Error {}",
        "for (let i = 0; i < 4; i++) try { if (i) null.x; else [].length = -1; } catch {}",
        "try { throw new Sold('none left'); } catch {}",
        "async function main() {",
        "  await Promise.reject(new RangeError('late')).then(0, (error) => console.log('handled', error.message));",
        "}",
        "main();",
    ]
    (tmp_path / "till.js").write_text("\n".join(lines))
    async with debugging("--root", str(tmp_path)) as client:
        stop = await client.call("debug_launch", program="till.js", breakpoints=[{"exception": "Sold"}])
        said = "passed over 4 exceptions that no breakpoint asks for: TypeError 3, RangeError 1"
        assert (stop["exception"], said in stop["notes"]) == ("Sold: none left", True)
        stop = await client.call("debug_continue")
        assert (stop["mode"], stop["at"].rpartition("/")[2]) == ("unhandled", "till.js:5 in main")
        (doubt,) = (note for note in stop["notes"] if note.startswith("nothing handles this rejection yet: "))
        assert doubt in (await client.call("exception_get_context"))["notes"]
        end = await client.call("debug_continue")
        assert (end["exitCode"], end["stdout"]) == (0, "handled late\n")


async def test_breakpoints_that_are_added_behind_those_of_the_launch_are_hit_each_by_its_own_id(
    debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "twice.js").write_text("function work(n) {\n  n += 1;\n  n += 2;\n  return n;\n}\nwork(work(0));\n")
    async with debugging("--root", str(tmp_path)) as client:
        await client.call("debug_launch", program="twice.js", breakpoints=[{"file": "twice.js", "line": 2}])
        await client.call("breakpoint_set", file="twice.js", line=4)
        listed = (await client.call("breakpoint_list"))["breakpoints"]
        assert [each.partition("twice.js")[2] for each in listed] == [":2, 1 hit", ":4"]
        stops = [await client.call("debug_continue") for _ in range(2)]
        stops.append(await client.call("debug_run_to", file="twice.js", line=3))
        told = [(stop["at"].rpartition("/")[2], stop.get("breakpoints", [])) for stop in stops]
        assert told == [
            ("twice.js:4 in work", ["bp-2"]),
            ("twice.js:2 in work", ["bp-1"]),
            ("twice.js:3 in work", []),
        ]


@pytest.mark.parametrize("option", ["--inspect=127.0.0.1:0", "--inspect-port=127.0.0.1:0"])
async def test_a_program_is_attached_to_by_its_inspector_which_is_opened_if_need_be_and_lives_on(
    debugging: Connect, option: str
) -> None:
    node = need("node", shutil.which("node"), "apt-get install nodejs")
    command = [node, option, str(PROGRAMS / "ticking.js")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            await _attached(debugging, process, by_port=option.startswith("--inspect="))
        finally:
            process.kill()


async def _attached(debugging: Connect, process: subprocess.Popen[bytes], *, by_port: bool) -> None:
    assert process.stderr is not None
    assert process.stdout is not None
    process.stdout.readline()  # it runs, and takes a signal
    async with debugging() as client:
        where = {"pid": process.pid}
        if by_port:
            listening = process.stderr.readline().decode()  # Debugger listening on ws://127.0.0.1:40123/...
            where = {"port": int(listening.split("/")[2].rpartition(":")[2])}
        await client.call("debug_attach", **where, adapter="js-debug")
        await client.call("breakpoint_set", **at("ticking.js", 4))
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["at"].rpartition("/")[2]) == ("Breakpoint", "ticking.js:4 in tick")
        assert int((await client.call("evaluate", expression="n"))["value"]) > 0
        assert await client.call("debug_disconnect") == {"detached": True}
        assert process.poll() is None
        assert (await client.call("debug_state"))["notes"] == ["disconnected"]  # it has not ended


async def test_a_compound_of_which_one_cannot_start_leaves_no_program_running(
    debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / "app.js").write_text("setInterval(() => {}, 100);\n")
    node = {"type": "node", "request": "launch"}
    both = [{**node, "name": "one", "program": "app.js"}, {**node, "name": "other", "program": "none.js"}]
    compounds = [{"name": "both", "configurations": ["one", "other"]}]
    text = json.dumps({"configurations": both, "compounds": compounds})
    (tmp_path / ".vscode" / "launch.json").write_text(text)
    async with debugging("--root", str(tmp_path)) as client:
        with pytest.raises(ToolFailed, match=r"none\.js"):
            await client.call("debug_launch", configuration="both", stop_at_entry=False)
        assert (await client.call("debug_state"))["state"] == "Disconnected"


async def test_a_condition_that_fails_stops_the_program_and_one_that_does_not_parse_is_named(
    debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "twice.js").write_text("function work(n) {\n  n += 1;\n  n += 2;\n  return n;\n}\nwork(work(0));\n")
    async with debugging("--root", str(tmp_path)) as client:
        wanted = [
            {"file": "twice.js", "line": 2, "condition": "n >"},
            {"file": "twice.js", "line": 3, "condition": "nn > 2"},
        ]
        stop = await client.call("debug_launch", program="twice.js", breakpoints=wanted)
        failed = "the condition `nn > 2` failed: ReferenceError: nn is not defined"
        assert (stop["breakpoints"], stop["at"].rpartition("/")[2]) == (["bp-2"], "twice.js:3 in work")
        assert failed in stop["notes"]
        assert any("`n >` failed: it does not parse: it ends too early" in note for note in stop["notes"])
        with pytest.raises(ToolFailed, match=r"`n \+ \)` is refused: it does not parse: .*'\)'"):
            await client.call("breakpoint_set", file="twice.js", line=4, condition="n + )")
        nowhere = await client.call("breakpoint_set", file="twice.js", line=300)
        assert nowhere["message"] == "no code follows line 300 of the file, which has 6 lines"
        assert failed in (await client.call("debug_continue"))["notes"]
        assert (await client.call("debug_continue"))["exitCode"] == 0
        assert (await client.call("process_read_output"))["entries"] == []
