"""What is not launched: a core file with each debugger of machine code, and a program that a gdbserver runs."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trio

from tests.languages.cases import GO_BUILD
from tests.languages.conftest import at, core_of, installed, need, place
from tests.real.conftest import Connect
from tests.server.scene import failure
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.testing import ToolFailed


@pytest.fixture(scope="module")
def core_file(native_program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is left of the program when it crashes."""
    return core_of(tmp_path_factory.mktemp("crash"), native_program, "crash")


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_core_file_is_looked_at_as_a_crash_and_does_not_run(
    debugging: Connect, adapter: str, native_program: str, core_file: Path
) -> None:
    profile = profile_named(adapter)
    assert profile is not None
    need(adapter, profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    async with debugging() as client:
        start = {"adapter": adapter, "program": native_program, "core_file": str(core_file)}
        stop = await client.call("debug_attach", **start)
        assert (stop["state"], stop["reason"], stop["at"]) == ("Paused", "Exception", f"{place('crash')} in crash")
        assert "SIGSEGV" in stop["exception"]
        assert stop["stack"]
        for tool in ("debug_continue", "debug_step"):
            refused = await failure(client, tool)
            assert (refused.code, "core file does not run" in refused.message) == ("NOT_SUPPORTED", True)
        refused = await failure(client, "debug_run_to", **at("loop"))
        assert (refused.code, "core file does not run" in refused.message) == ("NOT_SUPPORTED", True)
        assert await client.call("debug_disconnect") == {"detached": True}
        bogus = await failure(client, "debug_attach", **{**start, "core_file": native_program}, timeout=10)
        assert bogus.code in {"ATTACH_FAILED", "TIMEOUT"}


async def test_a_minidump_is_opened_by_the_debugger_that_reads_it(
    debugging: Connect, native_program: str, tmp_path: Path
) -> None:
    adapter = installed("lldb-dap")
    found = Path(adapter).resolve().with_name("lldb")
    lldb = need("lldb", str(found) if found.exists() else shutil.which("lldb-19"), "apt-get install lldb-19")
    kept = tmp_path / "crash.dmp"
    save = f"process save-core --plugin-name=minidump {kept}"
    command = [lldb, "-b", "-o", "run crash", "-k", save, "-k", "quit", native_program]
    await trio.run_process(command, capture_stdout=True, capture_stderr=True)
    async with debugging() as client:
        stop = await client.call("debug_attach", program=native_program, core_file=str(kept))
        assert (stop["state"], stop["at"]) == ("Paused", f"{place('crash')} in crash")
        assert "SIGSEGV" in stop["exception"]
        assert (await failure(client, "debug_continue")).code == "NOT_SUPPORTED"


@contextmanager
def served(program: str) -> Iterator[tuple[int, int]]:
    """Have a gdbserver run the program, which waits at its first instruction; yield its port, and the program's id."""
    gdbserver = need("gdbserver", shutil.which("gdbserver"), "apt-get install gdbserver")
    command = [gdbserver, "--once", "127.0.0.1:0", program, "spin"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        pid = 0
        try:
            assert server.stderr is not None
            said = ""
            while "Listening on port" not in said:
                said = server.stderr.readline()
                if "pid = " in said:
                    pid = int(said.rpartition("pid = ")[2])
            yield int(said.split()[-1]), pid
        finally:
            server.kill()
            if pid:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


async def test_a_program_that_waits_behind_a_gdbserver_waits_on_until_it_has_breakpoints_if_it_is_to_stop(
    debugging: Connect, native_program: str
) -> None:
    installed("gdb")
    with served(native_program) as (port, _pid):
        async with debugging() as client:
            start = {"port": port, "program": native_program, "adapter": "gdb"}
            stop = await client.call("debug_attach", **start, stop=True)
            assert (stop["state"], stop["reason"], stop["at"]) == ("Paused", "Pause", "in _start")
            set_ = await client.call("breakpoint_set", **at("spin"))
            assert "pending" not in set_
            stop = await client.call("debug_continue")
            assert (stop["breakpoints"], stop["at"]) == ([set_["id"]], f"{place('spin')} in spin")
            await client.call("debug_disconnect")


async def test_a_program_that_a_gdbserver_runs_stops_at_breakpoints_and_runs_on_after_the_session(
    debugging: Connect, native_program: str
) -> None:
    installed("gdb")
    with served(native_program) as (port, pid):
        async with debugging() as client:
            set_ = await client.call("breakpoint_set", **at("spin"))
            attached = await client.call("debug_attach", port=port, program=native_program, adapter="gdb")
            assert attached["session"] == "s-1"
            stop = await client.call("debug_wait")
            assert (stop["reason"], stop["breakpoints"]) == ("Breakpoint", [set_["id"]])
            assert stop["at"] == f"{place('spin')} in spin"
            await client.call("debug_disconnect")
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            assert state not in "tTZ"  # neither traced nor stopped


@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_program_built_elsewhere_stops_at_breakpoints_in_the_sources_that_are_here(
    debugging: Connect, adapter: str, tmp_path: Path
) -> None:
    profile = profile_named(adapter)
    assert profile is not None
    need(adapter, profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    gcc = need("gcc", shutil.which("gcc"), "apt-get install gcc")
    there, here = tmp_path / "built there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    source = "int twice(int n) {\n    return 2 * n;\n}\nint main(void) {\n    return twice(4) - 8;\n}\n"
    (there / "twice.c").write_text(source)
    (here / "twice.c").write_text(source)
    program = str(here / "twice")
    command = [gcc, "-g", "-O0", str(there / "twice.c"), "-o", program]
    await trio.run_process(command)
    (there / "twice.c").unlink()
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            program=program,
            adapter=adapter,
            breakpoints=[{"file": str(here / "twice.c"), "line": 2}],
            path_mappings=[{"local": str(here), "remote": str(there)}],
        )
        assert (stop["reason"], stop["at"]) == ("Breakpoint", f"{here}/twice.c:2 in twice")
        assert "2>     return 2 * n;" in stop["source"]


async def test_a_package_of_go_built_elsewhere_stops_at_breakpoints_in_the_sources_that_are_here(
    debugging: Connect, tmp_path: Path
) -> None:
    profile = profile_named("delve")
    assert profile is not None
    need("delve", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    go = need("go", shutil.which("go"), "apt-get install golang-go")
    there, here = tmp_path / "there", tmp_path / "here"
    source = "package main\n\nfunc main() {\n\tprintln(4)\n}\n"
    for each in (there, here):
        each.mkdir()
        (each / "four.go").write_text(source)
    program = str(here / "four")
    await trio.run_process([go, *GO_BUILD, program, str(there / "four.go")])
    shutil.rmtree(there)
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            program=program,
            breakpoints=[{"file": str(here / "four.go"), "line": 4}],
            path_mappings=[{"local": str(here), "remote": str(there)}],
        )
        assert (stop["reason"], stop["at"]) == ("Breakpoint", f"{here}/four.go:4 in main.main")
        assert "4>" in stop["source"]


async def test_a_program_of_node_that_is_elsewhere_stops_at_breakpoints_in_one_directory_that_is_here(
    debugging: Connect, tmp_path: Path
) -> None:
    profile = profile_named("js-debug")
    assert profile is not None
    need("js-debug", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    there, here = tmp_path / "there", tmp_path / "here"
    for each in (there, here):
        each.mkdir()
        (each / "four.js").write_text("const n = 4;\nconsole.log(n);\n")
    mapping = {"local": str(here), "remote": str(there)}
    start = {"program": str(there / "four.js"), "breakpoints": [{"file": str(here / "four.js"), "line": 2}]}
    async with debugging() as client:
        with pytest.raises(ToolFailed, match="js-debug maps one directory"):
            await client.call("debug_launch", **start, path_mappings=[mapping, mapping])
        stop = await client.call("debug_launch", **start, path_mappings=[mapping])
        assert (stop["breakpoints"], stop["at"]) == (["bp-1"], f"{here}/four.js:2 in <anonymous>")


async def test_a_configuration_with_a_core_file_looks_at_it(
    debugging: Connect, native_program: str, core_file: Path, tmp_path: Path
) -> None:
    profile = profile_named("gdb")
    assert profile is not None
    need("gdb", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    core = {"name": "Core", "type": "cppdbg", "request": "launch", "cwd": "/", "MIMode": "gdb"}
    (tmp_path / ".vscode").mkdir()
    text = json.dumps({"configurations": [{**core, "program": native_program, "coreDumpPath": str(core_file)}]})
    (tmp_path / ".vscode" / "launch.json").write_text(text)
    async with debugging(
        "--root", str(tmp_path), "--root", str(Path(native_program).parent), "--root", str(core_file.parent)
    ) as client:
        stop = await client.call("debug_launch", configuration="Core")
        assert (stop["state"], stop["at"].endswith(f"{place('crash')} in crash")) == ("Paused", True)
