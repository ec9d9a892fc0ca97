"""Hit conditions where the adapter means something else by them, and signals that end a program unreported."""

import pytest
import trio
from trio.testing import MockClock

from tests.session.natives import SOURCE, launched
from trio_debugmcp.dap.profiles.native.machine_code import NativeWords
from trio_debugmcp.dap.profiles.python.pydevd_messages import PythonWords
from trio_debugmcp.session.process_facts import true_exit_code
from trio_debugmcp.state.hit_conditions import meets_hit_condition
from trio_debugmcp.testing import DebugClient, FakeAdapter


async def hits_that_stop(adapter: FakeAdapter, client: DebugClient, hits: int, id_: int = 1) -> list[int]:
    """Let the program reach a breakpoint of the adapter's so many times; return the hits at which it stayed stopped."""
    stopped = []
    for number in range(1, hits + 1):
        await adapter.stop("breakpoint", hit=[id_])
        await trio.sleep(1)
        if (await client.call("debug_state"))["state"] == "Paused":
            stopped.append(number)
            await client.call("debug_continue", wait=False)
    return stopped


@pytest.mark.parametrize(
    ("condition", "stops"),
    [("3", [3]), ("== 2", [2]), (">= 4", [4, 5]), ("> 4", [5]), ("<= 1", [1]), ("< 3", [1, 2]), ("% 2", [2, 4])],
)
async def test_a_hit_condition_means_the_same_with_every_adapter_and_every_hit_is_counted(
    autojump_clock: MockClock, condition: str, stops: list[int]
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", SOURCE, 33)]
    wanted = {"file": __file__, "line": 1, "hit_condition": condition}
    async with launched("gdb", adapter, breakpoints=[wanted]) as client:
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1}]
        assert await hits_that_stop(adapter, client, 5) == stops
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert ", 5 hits" in listed
        await client.call("breakpoint_set", **{**wanted, "hit_condition": "2"})
        # 2 to 10 are where a panic of Rust, or an error of the runtimes of Fortran, Ada and Zig, would stop.
        assert await hits_that_stop(adapter, client, 3, id_=11) == [2]


@pytest.mark.parametrize("hit", [[1, 2], []])
async def test_a_breakpoint_that_waits_for_another_hit_does_not_hide_one_that_stops_there(
    autojump_clock: MockClock, hit: list[int]
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", __file__, 1)]
    wanted = [{"file": __file__, "line": 1, "hit_condition": "2"}, {"function": "add"}]
    async with launched("gdb", adapter, breakpoints=wanted) as client:
        for expected in (["fn-2"], ["bp-1", "fn-2"]):
            await adapter.stop("breakpoint", hit=hit)
            stop = await client.call("debug_wait")
            assert sorted(stop["breakpoints"]) == expected
            await client.call("debug_continue", wait=False)


def test_a_text_that_is_not_a_hit_condition_holds_always() -> None:
    assert meets_hit_condition("soon", 1)


# --- Words of the adapter ---------------------------------------------------------------------------------------------


async def test_gdbs_own_words_are_not_in_the_programs_output_and_messages_end_their_line(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    wanted = {"file": __file__, "line": 1, "log_message": "i={i}"}
    async with launched("gdb", adapter, breakpoints=[wanted]) as client:
        for text in ("Breakpoint 1 (-source a.c -line 1) pending.\n", "[New Thread 0x7f (LWP 3)]\n", "total 9\n"):
            await adapter.event("output", {"category": "stdout", "output": text})
        for number in range(2):
            text = adapter.sent("setBreakpoints")[-1]["breakpoints"][0]["logMessage"].replace("{i}", str(number))
            await adapter.event("output", {"category": "console", "output": text})
        await adapter.stop("pause")
        stop = await client.call("debug_wait")
        assert (stop["stdout"], stop["log"]) == ("total 9\n", "i=0\ni=1\n")


def test_a_line_of_the_program_between_gdbs_keeps_them_together() -> None:
    words = NativeWords(own_streams=False)
    both = "[Thread 0x7f (LWP 3) exited]\n[Inferior 1 (process 3) exited normally]\n"
    assert words.stream("stdout", both) == "console"
    assert words.stream("stdout", "[Thread 0x7f (LWP 3) exited]\nmine\n") == "stdout"
    assert words.stream("stdout", "") == "stdout"


def test_what_gdb_writes_about_every_breakpoint_and_thread_is_routine_and_nothing_else() -> None:
    words = NativeWords(own_streams=False)
    missing = '❌\ufe0f No symbol table is loaded.  Use the "file" command.\nBreakpoint 2 (-function check) pending.\n'
    of_threads = ("[New Thread 0x7f (LWP 3)]\n", "[Switching to thread 2 (Thread 0x7f (LWP 3))]\n")
    for routine in (missing, "Breakpoint 1 at 0x12\n", '❌ Function "f" not defined.\n', *of_threads):
        assert words.is_routine(routine)
        assert words.stream("stdout", routine) == "console"
    for news in (
        "",
        "mine\n",
        f"{missing}mine\n",
        "❌\ufe0f Cannot access memory\n",
        "[Inferior 1 (process 3) exited]\n",
    ):
        assert not words.is_routine(news)
    assert words.stream("stdout", "❌\ufe0f Cannot access memory\n") == "console"
    assert not NativeWords(own_streams=True).is_routine(missing)


def test_what_pydevd_writes_about_a_slow_evaluation_is_routine_and_nothing_else() -> None:
    slow = (
        "Evaluating: (lambda probe:\n probe.here(1)) did not finish after 3.00 seconds.\nThis may mean a number:\n- x\n"
    )
    assert PythonWords().is_routine(slow)
    for news in ("", "Evaluating: the model\n", f"mine\n{slow}", "it did not finish after 3.00 seconds.\n"):
        assert not PythonWords().is_routine(news)


async def test_routine_of_gdb_is_not_shown(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched("gdb", adapter) as client:
        for text in ("Breakpoint 1 at 0x12\n", "[Inferior 1 (process 3) exited]\n"):
            await adapter.event("output", {"category": "console", "output": text})
        await adapter.stop("pause")
        assert (await client.call("debug_wait"))["console"] == "[Inferior 1 (process 3) exited]\n"


async def test_a_program_that_a_signal_has_ended_has_that_signal_although_gdb_reports_0(
    autojump_clock: MockClock,
) -> None:
    for value, code in (("11", -11), ("void", None)):
        adapter = FakeAdapter()
        adapter.values["$_exitsignal"] = value
        async with launched("gdb", adapter) as client:
            await adapter.exit(0)
            await trio.sleep(5)
            assert (await client.call("debug_state")).get("exitCode") in (code, 0 if code is None else code)
            assert (await client.call("debug_state")).get("signal") == ("SIGSEGV" if code else None)


async def test_an_adapter_that_does_not_answer_what_ended_the_program_holds_up_the_end_for_a_second(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.withhold("evaluate")
    async with launched("gdb", adapter) as client:
        await adapter.exit(0)
        await trio.sleep(2)
        assert (await client.call("debug_state"))["state"] == "Disconnected"


def test_a_process_of_ours_knows_better_than_its_adapter_that_a_signal_ended_it() -> None:
    assert true_exit_code(11, -11) == -11
    assert true_exit_code(11, 11) == 11
    assert true_exit_code(7, -9) == 7
    assert [true_exit_code(0, own) for own in (255, -11, 0)] == [255, -11, 0], "an adapter that knows of none reports 0"
    assert (true_exit_code(None, 3), true_exit_code(0, None), true_exit_code(None, None)) == (3, 0, None)
