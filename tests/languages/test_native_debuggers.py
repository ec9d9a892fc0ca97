"""gdb, lldb-dap and CodeLLDB on a C++ program: from the launch to the exit."""

import shutil
import subprocess
from pathlib import Path

import pytest
import trio

from tests.languages.conftest import at, installed, need, place
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import ptrace_problem
from trio_debugmcp.testing import ToolFailed

TRACEABLE = ptrace_problem(Path("/proc")) is None


async def test_a_program_stops_at_a_breakpoint_with_locals_and_source_is_stepped_evaluated_in_and_ends(
    debugging: Connect, machine_debugger: str, native_program: str
) -> None:
    async with debugging() as client:
        stop = await client.call(
            "debug_launch", program=native_program, adapter=machine_debugger, breakpoints=[at("loop")]
        )
        assert (stop["state"], stop["reason"], stop["breakpoints"]) == ("Paused", "Breakpoint", ["bp-1"])
        assert stop["at"].startswith(f"{place('loop')} in total_of")
        assert (stop["locals"]["total"], stop["locals"]["i"]) == ("0", "0")
        assert ">     total = add(total, item);  // loop" in stop["source"]
        into = await client.call("debug_step", mode="in")
        assert (into["reason"], into["at"].startswith(f"{place('add')} in add")) == ("Step", True)
        assert (await client.call("evaluate", expression="total + item.price"))["value"] == "2"
        assert (await client.call("evaluate_safe", expression="i", frame_index=1))["value"] == "0"
        assert (await client.call("evaluate_safe", expression="item.price"))["value"] == "2"
        with pytest.raises(ToolFailed, match=r"`nosuch` failed: .*nosuch") as failed:
            await client.call("evaluate", expression="nosuch")
        assert failed.value.code == "EVAL_FAILED"
        await client.call("breakpoint_remove", id="*")
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 7)
        session = await client.call("debug_state")
        assert (session["exitCode"], session["reason"]) == (7, "Exited")


async def test_a_program_that_is_not_to_stop_elsewhere_stops_in_main_and_shows_structures(
    debugging: Connect, machine_debugger: str, native_program: str
) -> None:
    async with debugging() as client:
        stop = await client.call("debug_launch", program=native_program, adapter=machine_debugger)
        assert (stop["reason"], stop.get("breakpoints")) == ("Entry", None)
        assert stop["at"].endswith(" in main")
        stop = await client.call("debug_run_to", **at("loop"))
        summary = machine_debugger == "codelldb"  # it shows structures in its own way
        shown = '{name:"pear", price:2}' if summary else 'Item(name="pear", price=2, weights=[2 items])'
        assert stop["locals"]["item"] == f"{shown} (const Item &)"
        deep = (await client.call("variables_get", depth=3, names=["order"]))["variables"]
        assert summary or deep["order.first.weights"].startswith("[0, 0]")
        assert summary or deep["order.items[1]"] == 'Item(name="fig", price=3, weights=[2 items])'
        for path, value in (("order.items[1].price", "3"), ("order.first.name", '"kiwi"'), ("values[0]", "1")):
            frame = 1 if path == "values[0]" else 0
            found = await client.call("evaluate", expression=path, frame_index=frame)
            assert found["value"].endswith(value)


async def test_an_exception_of_cpp_stops_where_it_is_thrown_if_its_type_is_wanted_and_a_crash_always(
    debugging: Connect, machine_debugger: str, native_program: str
) -> None:
    async with debugging() as client:
        start = {"program": native_program, "adapter": machine_debugger}
        wanted = [{"exception": "std::logic_error"}]
        thrown = await client.call("debug_launch", **start, args=["throw"], breakpoints=wanted)
        assert (thrown["reason"], thrown["breakpoints"]) == ("Exception", ["ex-1"])
        assert thrown["exception"] == "std::logic_error: bad plum"
        assert thrown["at"] == f"{place('throw another')} in check"
        assert '"plum"' in thrown["locals"]["name"]
        context = await client.call("exception_get_context")
        assert context["exception"] == "std::logic_error: bad plum"
        assert context["frames"][0].startswith(f"check {place('throw another')}")
        crashed = await client.call("debug_launch", **start, args=["crash"], replace=True)
        assert (crashed["reason"], crashed["at"]) == ("Exception", f"{place('crash')} in crash")
        assert crashed["exception"].startswith("SIGSEGV: ")
        uncaught = await client.call("debug_launch", **start, args=["uncaught"], replace=True)
        assert (uncaught["exception"], uncaught["at"]) == ("OutOfStock: no fig", f"{place('throw')} in check")


@pytest.mark.skipif(not TRACEABLE, reason="attaching by pid needs the right to trace")
async def test_a_running_program_is_attached_to_runs_on_is_paused_and_runs_on_after_the_session(
    debugging: Connect, machine_debugger: str, native_program: str
) -> None:
    async with debugging() as client:
        with subprocess.Popen([native_program, "spin"], stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                process.stdout.readline()
                attached = await client.call("debug_attach", pid=process.pid, adapter=machine_debugger)
                assert (attached["pid"], attached["state"]) == (process.pid, "Running")
                set_ = await client.call("breakpoint_set", **at("spin"))
                stop = await client.call("debug_wait")
                assert "breakpoints" in stop, stop
                assert (stop["reason"], stop["breakpoints"], stop["at"]) == (
                    "Breakpoint",
                    [set_["id"]],
                    f"{place('spin')} in spin",
                )
                await client.call("breakpoint_remove", id="*")
                await client.call("debug_continue", wait=False)
                paused = await client.call("debug_pause")
                assert (paused["reason"], paused.get("exception")) == ("Pause", None)
                assert await client.call("debug_disconnect") == {"detached": True}
                assert process.poll() is None
                state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
                assert state not in "tTZ"  # neither traced nor stopped
            finally:
                process.kill()


async def test_hits_are_counted_messages_written_and_a_crash_is_how_the_program_ended(
    debugging: Connect, machine_debugger: str, native_program: str
) -> None:
    async with debugging() as client:
        wanted = [{**at("loop"), "hit_condition": "2"}, {**at("after the loop"), "log_message": "total={total}"}]
        start = {"program": native_program, "adapter": machine_debugger, "args": ["crash"]}
        second = await client.call("debug_launch", **start, breakpoints=wanted)
        assert (second["breakpoints"], second["locals"]["i"]) == (["bp-1"], "1")
        crashed = await client.call("debug_continue")
        assert (crashed["reason"], crashed["log"]) == ("Exception", "total=9\n")
        end = await client.call("debug_continue")
        assert (end["exitCode"], end.get("signal")) == (-11, "SIGSEGV")
        listed = (await client.call("breakpoint_list"))["breakpoints"]
        assert [each.rpartition(", ")[2] for each in listed] == ["3 hits", "1 hit"]


async def test_a_variable_that_gdb_finds_in_another_file_is_said_to_be_from_there(
    debugging: Connect, tmp_path: Path
) -> None:
    compiler = need("gcc", shutil.which("gcc"), "apt-get install gcc")
    installed("gdb")
    (tmp_path / "store.c").write_text("static int calls = 2;\nint take(void) {\n    return ++calls;\n}\n")
    main = tmp_path / "main.c"
    main.write_text("int take(void);\nstatic int rounds = 1;\nint main(void) {\n    return take() - 3 * rounds;\n}\n")
    program = tmp_path / "stock"
    command = [compiler, "-g", "-O0", "-o", str(program), str(main), str(tmp_path / "store.c")]
    await trio.run_process(command)
    async with debugging() as client:
        await client.call("debug_launch", program=str(program), adapter="gdb")
        found = await client.call("evaluate", expression="calls + 1")
        assert (found["value"], found["notes"]) == ("3", ["`calls` is a variable of store.c:1, not of this file"])
        assert "notes" not in await client.call("evaluate", expression="rounds")
