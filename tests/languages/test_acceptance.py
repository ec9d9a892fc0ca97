"""What every debug adapter must do, with the real one: one scenario for each, from the entry to the last process.

`cases` has the adapters and their programs, and for each what it cannot do. A newly supported adapter is a row there.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.languages.cases import CASES, PROGRAMS
from tests.languages.conftest import need
from tests.real.conftest import Connect
from trio_debugmcp.dap.pids import executable_of, is_alive
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.recording.format import read_recording
from trio_debugmcp.testing import DebugClient, ToolFailed


@pytest.fixture(params=CASES)
def adapter(request: pytest.FixtureRequest) -> str:
    """The name of each case whose adapter is installed."""
    case = str(request.param)
    name = case.partition(",")[0]
    profile = profile_named(name)
    assert profile is not None
    need(name, profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    return case


@pytest.fixture
def program(adapter: str, tmp_path: Path) -> str:
    """The adapter's program, in a directory of its own."""
    case = CASES[adapter]
    if case.compiler:
        need(case.compiler, shutil.which(case.compiler), f"apt-get install {case.package}")
    source = tmp_path / case.source
    source.write_bytes((PROGRAMS / case.source).read_bytes())
    return str(source if case.build is None else case.build(source, tmp_path))


class Scenario:
    """One adapter's session, and what is expected of it."""

    def __init__(self, client: DebugClient, adapter: str, program: str) -> None:
        self.client = client
        self.case = CASES[adapter]
        self.source = str(Path(program).with_name(self.case.source))
        self.executable = str(Path(program).resolve())
        self.launch = {"program": program, "adapter": adapter.partition(",")[0], "cwd": str(Path(program).parent)}

    def at(self, mark: str) -> dict[str, Any]:
        return {"file": self.source, "line": self.case.line(mark)}

    def is_at(self, stop: dict[str, Any], mark: str) -> bool:
        return str(stop["at"]).startswith(f"{self.source}:{self.case.line(mark)} ")

    def local(self, stop: dict[str, Any], name: str) -> str:
        return str(stop["locals"][self.case.local(name)]).partition(" (")[0]  # without its type

    async def refused(self, tool: str, **arguments: object) -> None:
        """Expect that the adapter cannot do that."""
        with pytest.raises(ToolFailed) as failed:
            await self.client.call(tool, **arguments)
        assert failed.value.code == "NOT_SUPPORTED"

    def can(self, what: str) -> bool:
        return what not in self.case.cannot

    async def entry(self) -> None:
        """A launch that nothing else would stop stops at the program's entry, at a real line."""
        stop = await self.client.call("debug_launch", **self.launch)
        assert (stop["state"], stop["reason"]) == ("Paused", "Entry")
        assert stop["at"].startswith(f"{self.source}:")
        assert "breakpoints" not in stop
        assert is_alive(stop["pid"])
        if self.case.build is not None:
            assert executable_of(stop["pid"]) == self.executable

    async def loop(self) -> None:
        """Tracepoint, hit condition, locals, paths, evaluation, its failure, and steps."""
        case, client = self.case, self.client
        await client.call("tracepoint_set", **self.at("print"), log_message=f"total={{{case.local('total')}}}")
        await client.call("breakpoint_set", **self.at("loop"), hit_condition="2")
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["breakpoints"], stop["log"]) == ("Breakpoint", ["bp-2"], "total=2\n")
        assert self.is_at(stop, "loop")
        assert (self.local(stop, "i"), self.local(stop, "total")) == ("1", "2")
        assert (await client.call("evaluate", expression=case.price))["value"] == "3"
        if self.can("structures"):
            found = await client.call("variables_get", path=case.path, depth=2)
            assert "3" in str(found["variables"])
        with pytest.raises(ToolFailed) as failed:
            await client.call("evaluate", expression=case.unknown)
        assert failed.value.code == "EVAL_FAILED"
        into = await client.call("debug_step", mode="in")
        while not self.is_at(into, "add"):  # some stop at the head of a function first
            assert "add" in into["at"]
            into = await client.call("debug_step")
        assert into["reason"] == "Step"
        assert {case.local("total"), case.local("item")} <= into["locals"].keys()
        assert into["stack"][0].split()[-1] in (f":{case.line('loop')}", f"{self.source}:{case.line('loop')}")
        over = await client.call("debug_step")
        assert self.is_at(over, "return")
        assert self.local(over, "sum") == "5"
        if not self.can("step out"):
            await self.refused("debug_step", mode="out")
            await client.call("breakpoint_remove", id="bp-2")
            return
        out = await client.call("debug_step", mode="out")
        if not self.can("step out to the caller"):
            out = await client.call("debug_step")
        assert (out["reason"], self.local(out, "i")) == ("Step", "1")
        await client.call("breakpoint_remove", id="bp-2")

    async def function(self) -> None:
        """A condition, and a breakpoint on a function."""
        case, client = self.case, self.client
        await client.call("breakpoint_set", **self.at("loop"), condition=case.condition)
        stop = await client.call("debug_continue")
        assert (stop["breakpoints"], self.local(stop, "i")) == (["bp-3"], "2")
        if not self.can("function breakpoints"):
            return
        await client.call("breakpoint_set", function=case.function)
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["breakpoints"]) == ("FunctionBreakpoint", ["fn-4"])
        assert "add" in stop["at"].partition(" in ")[2]

    async def looking(self) -> None:
        """Source, threads, modules and the stack."""
        client = self.client
        text = await client.call("source_get", file=self.source, start_line=1, end_line=2)
        assert "shop" in str(text["lines"])
        assert (await client.call("threads_list"))["threads"]
        frames = (await client.call("stacktrace_get"))["frames"]
        assert any("main" in each for each in frames)

    async def end(self) -> None:
        """Input, output by stream, and the exit code."""
        client = self.client
        await client.call("breakpoint_remove", id="*")
        if not self.can("input"):
            over = await client.call("debug_continue", timeout=2)  # it reads nothing, or waits for ever
            assert over.get("exitCode", 1) in (0, 1)
            return
        await client.call("process_write_input", data="hello\n")
        over = await client.call("debug_continue")
        assert (over["state"], over["exitCode"]) == ("Disconnected", 7)
        written = (await client.call("process_read_output"))["entries"]
        text = {stream: "".join(each.get(stream, "") for each in written) for stream in ("stdout", "stderr")}
        assert "item 0 2\nitem 1 5\nitem 2 9\n" in text["stdout"]
        assert "read hello\n" in text["stderr"]
        assert "read hello" not in text["stdout"]

    async def crash(self) -> None:
        """A crash stops where it happens; from there the session is left."""
        if not self.can("exceptions"):
            await self.client.call("debug_launch", **self.launch, replace=True)
            assert await self.client.call("debug_disconnect") == {"ended": True}
            return
        start = {
            **self.launch,
            "args": self.case.arguments.get("crash", ["crash"]),
            "breakpoints": [*self.case.asked],
            "replace": True,
        }
        start["stop_at_entry"] = False
        stop = await self.client.call("debug_launch", **start)
        assert (stop["reason"], stop["exception"].startswith(self.case.crash)) == ("Exception", True)
        assert self.is_at(stop, "crash")
        assert await self.client.call("debug_disconnect") == {"ended": True}

    async def leave(self) -> None:
        """A running program is left, too."""
        launch = {
            **self.launch,
            "args": self.case.arguments.get("sleep", ["sleep"]),
            "stop_at_entry": False,
            "wait": False,
        }
        await self.client.call("debug_launch", **launch)
        while "item 2 9" not in str((await self.client.call("process_read_output"))["entries"]):
            await trio.sleep(0.05)
        assert await self.client.call("debug_disconnect") == {"ended": True}


async def test_an_adapter_debugs_a_program_from_its_entry_to_its_end_and_leaves_nothing_behind(
    debugging: Connect, adapter: str, program: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    recording = tmp_path_factory.mktemp("recording") / "acceptance.jsonl"  # not beside what must leave no process
    async with debugging("--record", str(recording)) as client:
        scenario = Scenario(client, adapter, program)
        for part in ("entry", "loop", "function", "looking", "end", "crash", "leave"):
            await getattr(scenario, part)()
        while processes_of(program):  # noqa: ASYNC110 (the system has no event for it)
            await trio.sleep(0.05)
    assert read_recording(recording).complete


def processes_of(program: str) -> list[str]:
    """The processes whose command line names the program or its directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(Path(program).parent).encode() in command:
                found.append(command.replace(b"\0", b" ").decode(errors="replace"))
    return found
