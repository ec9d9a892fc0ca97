"""delve on a Go program: panics, goroutines, values and names, builds and tests, attaching by process and by port."""

import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests import shared
from tests.languages.cases import GO_BUILD
from tests.languages.conftest import TEST_SECONDS, need
from tests.real.conftest import Connect
from tests.real.test_tools import failure
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.testing import DebugClient, ToolFailed

SOURCES = Path(__file__).parent.parent / "programs" / "go"


class Module:
    """The directory of a Go module, and a program that was built of it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.source = directory / "shop.go"
        self.program = str(directory / "shop")

    def at(self, mark: str) -> dict[str, Any]:
        """The only line of its source that ends with this comment."""
        lines = self.source.read_text().splitlines()
        (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
        return {"file": str(self.source), "line": number}

    def place(self, mark: str, function: str) -> str:
        """The same, as a stop shows it."""
        return f"{self.source}:{self.at(mark)['line']} in {function}"


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    """A module with its program, built as delve would."""
    go = need("go", shutil.which("go"), "apt-get install golang-go")
    profile = profile_named("delve")
    assert profile is not None
    need("delve", profile.locate(), f"{profile.absence()}; {profile.install_hint}")

    def build(directory: Path) -> None:
        shutil.copytree(SOURCES, directory, dirs_exist_ok=True)
        command = [go, *GO_BUILD, Module(directory).program, "."]
        subprocess.run(command, check=True, timeout=TEST_SECONDS, cwd=directory)

    return Module(shared.made(shared.of_this_run(tmp_path_factory, "go"), build))


PANICS = {
    "panic": ("bad plum", "main.crash"),
    "type": ('main.Item({Name: "rotten", price: 1, tags: []string len: 0, cap: 0, nil})', "main.crash"),
    "index": ("runtime error: index out of range [5] with length 2", "main.crash"),
    "map": ("assignment to entry in nil map", "main.crash"),
    "library": ("in library", "main.crash.func1"),
    "fatal": ("all goroutines are asleep - deadlock!", "main.crash"),
    "throw": ("sync: unlock of unlocked mutex", "main.crash"),
}


async def test_what_ends_a_program_stops_it_in_the_users_code_and_recovered_panics_do_not(
    debugging: Connect, module: Module
) -> None:
    async with debugging() as client:
        for how, (message, function) in PANICS.items():
            stop = await client.call("debug_launch", program=module.program, args=[how], stop_at_entry=False)
            kind = "fatal error" if how in ("fatal", "throw") else "panic"
            assert (stop["reason"], stop["exception"], stop["mode"]) == ("Exception", f"{kind}: {message}", "unhandled")
            assert stop["at"] == module.place(how, function)
            assert not {"msgs", "~r0"} & stop["locals"].keys()
            end = await client.call("debug_continue")
            assert (end["state"], end["exitCode"]) == ("Disconnected", 2)
            assert end["stderr"].startswith(f"{kind}: ")
            assert "console" not in end
        after = await client.call("debug_state")
        assert after["exception"] == "fatal error: sync: unlock of unlocked mutex"
        end = await client.call("debug_launch", program=module.program, args=["recover"], stop_at_entry=False)
        assert (end["exitCode"], "recovered: soft plum" in end["stdout"]) == (7, True)
        await client.call("debug_launch", program=module.program, args=["recover"])
        code, message = await failure(client, "breakpoint_set_exception", exception_type="*")
        assert (code, "`runtime.gopanic` at every panic" in message) == ("NOT_SUPPORTED", True)
        await client.call("breakpoint_set", function="runtime.gopanic")
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["stack"][0].startswith("main.recovered ")) == ("FunctionBreakpoint", True)


async def test_values_have_paths_as_go_has_them_and_calls_are_made_only_where_they_are_asked_for(
    debugging: Connect, module: Module
) -> None:
    async with debugging() as client:
        stop = await client.call(
            "debug_launch", program=module.program, args=["sleep"], breakpoints=[module.at("totals")]
        )
        assert stop["stack"][0].endswith("(library)")
        assert stop["locals"]["total"] == "5"
        await values(client)
        await expressions(client)
        await names(client, module)
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["breakpoints"]) == ("FunctionBreakpoint", ["fn-3"])
        assert " in main.(*Shop).Total" in stop["at"]
        assert {"shop", "total", "err"} <= stop["locals"].keys()  # arguments and results


async def values(client: DebugClient) -> None:
    shown = (await client.call("variables_get", path="shop", depth=2))["variables"]
    assert shown["items[1]"] == 'main.Item {Name: "fig", price: 3, tags: []string len: 2, cap: 2, ["soft","sweet"]}'
    assert (shown['stock["fig"]'], shown["len(shop.stock)"]) == ("7", "1")
    assert (shown["first.Name"], shown["orders"]) == ('"pear"', "chan int 1/2")
    assert shown["best"].startswith("main.Priced(main.Item) {Name:")
    assert shown["best.(data)"].startswith('main.Item {Name: "fig"')
    assert (await client.call("variables_get", path="shop.best.(data)"))["variables"]["price"] == "3"
    for path, value in {
        "shop.items[1].tags[0]": '"soft"',
        'shop.stock["fig"]': "7",
        "shop.first.price": "2",
        "opened": "3",
        "uint8(shop.items[1].price)": "3",
        "len(shop.items)": "2",
    }.items():
        assert (await client.call("evaluate", expression=path))["value"] == value
    assert (await client.call("variable_set", path="shop.items[0].price", value="20"))["variable"] == {
        "shop.items[0].price": "20"
    }


async def expressions(client: DebugClient) -> None:
    call = "add(1, shop.items[1])"
    assert (await client.call("evaluate", expression=f"call {call}"))["value"] == "4"
    for expression, what in (
        ("nosuch", "`nosuch` failed: could not find symbol value for nosuch"),
        (call, "without using 'call'"),
    ):
        code, message = await failure(client, "evaluate", expression=expression)
        assert (code, what in message) == ("EVAL_FAILED", True)
    for expression, value in (("len(shop.items) == 2", "true"), ("shop.items[1].price * 2", "6")):
        assert (await client.call("evaluate_safe", expression=expression))["value"] == value
    for expression in (f"call {call}", call):
        assert (await failure(client, "evaluate_safe", expression=expression))[0] == "SAFE_EVAL_REJECTED"
    assert (await failure(client, "evaluate_safe", expression="nosuch"))[0] == "EVAL_FAILED"
    refused: dict[str, dict[str, Any]] = {
        "symbols_search": {"pattern": "add"},
        "type_get": {"expression": "shop"},
        "modules_list": {},
        "memory_read": {"expression": "total"},
        "debug_disconnect": {"terminate": False},
    }
    for tool, arguments in refused.items():
        code, message = await failure(client, tool, **arguments)
        assert (code, "delve" in message) == ("NOT_SUPPORTED", True)
    assert (await client.call("disassemble", count=3))["instructions"][0].startswith("> 0x")


async def names(client: DebugClient, module: Module) -> None:
    """Functions by the names that a user types; `add` is a name in several packages of Go's own, too."""
    set_ = [await client.call("breakpoint_set", function=name) for name in ("add", "(*Shop).Total", "nosuch")]
    assert ["state" in each for each in set_] == [False, False, True]
    assert "nosuch" in set_[2]["message"]
    listed = (await client.call("breakpoint_list"))["breakpoints"]
    assert f"fn-2 add {module.source}:" in listed[1] or "fn-2 add :" in listed[1]


async def test_goroutines_are_threads_each_with_its_stack_also_after_a_pause(
    debugging: Connect, module: Module
) -> None:
    async with debugging() as client:
        stop = await client.call("debug_launch", program=module.program, args=["sleep"], breakpoints=[module.at("job")])
        assert stop["thread"].endswith(" main.worker")
        assert stop["locals"]["job"] == "1"
        threads = (await client.call("threads_list"))["threads"]
        # Goroutines of the runtime itself are not listed; a program's own may wait in `sync.runtime_Semacquire`.
        assert not [each for each in threads if each.lstrip("*").partition(" ")[2].startswith("runtime.")]
        assert 2 <= len(threads) <= 4  # others may not have begun when the first one stops
        stacks = (await client.call("stacktrace_get", thread_id="*"))["stacks"]
        assert sum(each.get("count", 1) for each in stacks) == len(threads)
        main = (await client.call("stacktrace_get", thread_id=1))["frames"]
        assert any(each.startswith("main.main ") for each in main)
        step = await client.call("debug_step")
        assert (step["reason"], step["thread"]) == ("Step", stop["thread"])
        await client.call("breakpoint_remove", id="*")
        await client.call("debug_continue", wait=False)
        pause = await client.call("debug_pause")
        assert pause["reason"] == "Pause"
        assert any("main.crash" in each for each in pause["stack"])


async def test_a_package_is_built_by_a_launch_and_a_test_is_run_by_its_name(
    debugging: Connect, module: Module, tmp_path: Path
) -> None:
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(module.directory))
        assert (stop["reason"], stop["at"].startswith(f"{module.source}:")) == ("Entry", True)
        assert await client.call("debug_disconnect") == {"ended": True}
        test = f"{module.directory / 'shop_test.go'}::TestAdd"
        stop = await client.call("debug_launch", test=test, breakpoints=[{"function": "add"}])
        assert (stop["reason"], stop["locals"]["total"]) == ("FunctionBreakpoint", "1")
        assert "shop.TestAdd" in stop["stack"][0]
        end = await client.call("debug_continue")
        assert (end["exitCode"], "PASS: TestAdd" in end["stdout"], "TestOther" in end["stdout"]) == (0, True, False)
        broken = tmp_path / "broken.go"
        broken.write_text("package main\n\nfunc main() {\n\tprintln(nope)\n}\n")
        with pytest.raises(ToolFailed, match=r"line 4: undefined: nope|broken\.go:4: undefined: nope") as failed:
            await client.call("debug_launch", program=str(broken))
        assert (failed.value.code, failed.value.details["line"]) == ("LAUNCH_FAILED", 4)
        library = tmp_path / "library.go"
        library.write_text("package library\n")
        assert (await failure(client, "debug_launch", program=str(library)))[0] == "LAUNCH_FAILED"


@asynccontextmanager
async def running(command: list[str], module: Module) -> AsyncIterator[trio.Process]:
    """A process that writes nothing to the test, and is over at the end of the block."""
    process = await trio.lowlevel.open_process(
        command, cwd=module.directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        yield process
    finally:
        with trio.CancelScope(shield=True):
            process.terminate()
            await process.wait()


async def until(process: trio.Process, text: bytes) -> bytes:
    """What a process writes, up to a text."""
    assert process.stdout is not None
    written = b""
    while text not in written:
        data = await process.stdout.receive_some()
        assert data, written
        written += data
    return written


async def test_what_was_attached_to_lives_on_by_its_id_and_behind_a_headless_server(
    debugging: Connect, module: Module
) -> None:
    async with debugging() as client:
        async with running([module.program, "tick"], module) as program:
            await until(program, b"tick 1\n")
            attached = await client.call("debug_attach", pid=program.pid)
            assert attached["state"] == "Running"
            await look_at_ticks(client, module)
            await client.call("debug_disconnect")
            await until(program, b"tick")
            assert program.poll() is None
        headless = ["--headless", "--accept-multiclient", "--listen=127.0.0.1:0"]
        dlv = shutil.which("dlv")
        assert dlv is not None
        async with running([dlv, "exec", *headless, module.program, "--", "tick"], module) as server:
            said = await until(server, b"\n")
            port = int(said.rpartition(b":")[2])
            assert (await client.call("debug_attach", port=port, adapter="delve"))["state"] == "Running"
            await look_at_ticks(client, module)
            await client.call("debug_disconnect")
            await until(server, b"tick")
            await until(server, b"tick")


async def look_at_ticks(client: DebugClient, module: Module) -> None:
    """Stop the program at a breakpoint, which is left behind with it."""
    await client.call("breakpoint_set", **module.at("tick"))
    stop = await client.call("debug_wait")
    assert (stop["reason"], stop["at"]) == ("Breakpoint", module.place("tick", "main.crash"))


async def test_maps_are_counted_whole_and_a_tracepoint_writes_where_a_run_looks(
    debugging: Connect, module: Module
) -> None:
    source = SOURCES.parent / "go_quirks" / "main.go"
    (turn,) = [number for number, line in enumerate(source.read_text().splitlines(), 1) if line.endswith("// turn")]
    here = {"file": str(source), "line": turn}
    async with debugging() as client:
        await client.call("debug_launch", program=str(source))
        await client.call("tracepoint_set", **here, log_message="i={i}")
        stop = await client.call("debug_run_until", **here, expression="i == 2")
        assert (stop["locals"]["i"], stop["log"], stop["looks"]) == ("2", "i=0\ni=1\ni=2\n", 3)
        assert (await client.call("collection_summarize", expression="names"))["count"] == 100
        assert (await client.call("collection_summarize", expression="points"))["count"] == 3
        over = await client.call("debug_continue")
        assert (over["log"], over["exitCode"]) == ("i=3\n", 0)
