"""Stops of gdb and lldb-dap: their entry, signals and C++ exceptions, whose events say less than the DAP's words."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure
from tests.session.natives import PROGRAM, SOURCE, launched, scripted_type, without_symbols
from trio_debugmcp.server.answers.failures.printed import STOPPED_NOTE
from trio_debugmcp.testing import FakeAdapter, Refusal, ToolFailed

SYSTEM = "./nptl/pthread_kill.c"


def native(name: str) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.frames = [("check", SOURCE, 47), ("main", SOURCE, 87)]
    if name == "gdb":
        del adapter.capabilities["supportsExceptionInfoRequest"]
    return adapter


FORTRAN = [
    f"_gfortran_{name}" for name in ("error_stop_string", "error_stop_numeric", "runtime_error_at", "runtime_error")
]
ZIG = ["lang.returnError", "builtin.returnError"]

PANICS = {
    "gdb": ["rust_panic", "__rustc::rust_panic", *FORTRAN, "__gnat_unhandled_exception", *ZIG],
    "lldb-dap": ["rust_panic"],
}
"""The functions at which each stops for panics of Rust, and for errors of Fortran, Ada and Zig."""


def functions(adapter: FakeAdapter) -> list[list[str]]:
    """The names of the function breakpoints, each time that they were sent."""
    return [[each["name"] for each in sent["breakpoints"]] for sent in adapter.sent("setFunctionBreakpoints")]


# --- Entry ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gdb", "lldb-dap"])
async def test_a_launch_that_stops_at_the_entry_stops_in_main_by_a_breakpoint_that_no_list_has(
    autojump_clock: MockClock, name: str
) -> None:
    adapter = native(name)
    main = {"gdb": 1, "lldb-dap": 4}[name]  # this adapter has new ids each time, and is sent them one by one
    entry = ["main", f"{Path(PROGRAM).stem}::main"]  # of Rust, `main` is the runtime's
    others = ["MAIN__", f"_ada_{Path(PROGRAM).stem}", "_Dmain", f"{Path(PROGRAM).stem}.main", "main.main"]  # to Zig's
    entry += others * (name == "gdb")
    async with launched(name, adapter, stop_at_entry=True) as client:
        assert functions(adapter)[-1] == [*entry, *PANICS[name]]
        await adapter.stop("breakpoint", hit=[main])
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["at"], stop.get("breakpoints")) == ("Entry", "/work/orders.cpp:47 in check", None)
        assert functions(adapter)[-1] == PANICS[name]
        assert await client.call("breakpoint_list") == {"breakpoints": []}
        await client.call("debug_continue", wait=False)
        await adapter.stop("breakpoint", hit=[main])  # it was on its way when the breakpoint was taken back
        await trio.sleep(1)
        assert (await client.call("debug_state"))["state"] == "Running"


async def test_an_entry_without_source_is_left_for_the_next_and_a_breakpoint_of_the_users_there_is_theirs(
    autojump_clock: MockClock,
) -> None:
    adapter = native("gdb")
    frames = adapter.answer_to("stackTrace")

    async def without_source(arguments: dict[str, Any]) -> object:
        return {"stackFrames": [{"id": 1, "name": "main", "line": 0, "column": 0}], "totalFrames": 1}

    adapter.answer("stackTrace", without_source)
    async with launched("gdb", adapter, stop_at_entry=True, breakpoints=[{"function": "main"}]) as client:
        await adapter.stop("breakpoint", hit=[2])
        await trio.sleep(1)
        assert len(adapter.sent("continue")) == 1
        adapter.answer("stackTrace", frames)
        await adapter.stop("breakpoint", hit=[1, 2])
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["breakpoints"]) == ("FunctionBreakpoint", ["fn-1"])


async def test_the_entry_of_a_rust_program_is_its_own_main_where_a_debugger_shows_instructions_for_librarys_code(
    autojump_clock: MockClock,
) -> None:
    adapter = native("codelldb")
    frames: list[tuple[str, str]] = [("main", "@main"), ("_start", "@_start")]

    async def stack(arguments: dict[str, Any]) -> object:
        found = [
            {"id": number, "name": name, "line": 3, "column": 1, "source": {"path": path, "sourceReference": number}}
            for number, (name, path) in enumerate(frames, 1)
        ]
        return {"stackFrames": found, "totalFrames": len(found)}

    adapter.answer("stackTrace", stack)
    async with launched("codelldb", adapter, stop_at_entry=True) as client:
        await adapter.stop("breakpoint", hit=[1])
        await trio.sleep(1)
        assert len(adapter.sent("continue")) == 1
        frames[:] = [("alloc::Box::new", "@alloc::Box::new"), ("shop::main::h00330a5efbb668ba", SOURCE), *frames]
        await adapter.stop("breakpoint", hit=[2])
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["at"]) == ("Entry", "/work/orders.cpp:3 in shop::main")


async def test_a_breakpoint_that_codelldb_has_no_place_for_is_pending_and_what_is_routine_is_left_out(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    adapter = native("codelldb")

    async def nowhere(arguments: dict[str, Any]) -> object:
        return {"breakpoints": [{"id": 1, "verified": True, "message": "Resolved locations: 0"}]}

    adapter.answer("setFunctionBreakpoints", nowhere)
    places = [{"function": "add"}]
    async with launched("codelldb", adapter, program=without_symbols(tmp_path), breakpoints=places) as client:
        reason = "no code of what is loaded is there"
        assert (await client.call("breakpoint_list"))["breakpoints"] == [f"fn-1 add, pending, {reason}"]
        found = {"id": 1, "verified": True, "message": "Resolved locations: 1"}
        await adapter.event("breakpoint", {"reason": "changed", "breakpoint": found})
        await trio.sleep(1)
        assert (await client.call("breakpoint_list"))["breakpoints"] == ["fn-1 add"]


@pytest.mark.parametrize(("said", "reason"), [(None, "no code of what is loaded is there"), ("not yet", "not yet")])
async def test_a_breakpoint_that_lldb_has_no_place_for_says_why_it_is_pending_until_it_has_one(
    autojump_clock: MockClock, said: str | None, reason: str
) -> None:
    adapter = native("lldb-dap")

    async def nowhere(arguments: dict[str, Any]) -> object:
        return {"breakpoints": [{"id": 1, "verified": False, "line": 1, "message": said}]}

    adapter.answer("setBreakpoints", nowhere)
    async with launched("lldb-dap", adapter) as client:
        made = await client.call("breakpoint_set", file=__file__, line=1)
        assert (made["state"], made["message"]) == ("Pending", reason)
        await adapter.event("breakpoint", {"reason": "changed", "breakpoint": {"id": 1, "verified": True, "line": 1}})
        await trio.sleep(1)
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert "pending" not in listed
        assert reason not in listed


async def test_a_breakpoint_that_gdb_can_set_only_at_a_stop_is_set_at_the_next_one(autojump_clock: MockClock) -> None:
    adapter = native("gdb")
    running = (
        'Cannot execute this command while the target is running.\nUse the "interrupt" command to stop the target\n'
    )

    async def answer(arguments: dict[str, Any]) -> object:
        refused = {"id": 1, "verified": False, "line": 1, "message": running}
        return {"breakpoints": [{"id": 1, "verified": True, "line": 1} if paused else refused]}

    paused = False
    adapter.answer("setBreakpoints", answer)
    async with launched("gdb", adapter) as client:
        made = await client.call("breakpoint_set", file=__file__, line=1)
        assert made["state"] == "Pending"
        assert "debug_pause stops it, and then it is set" in made["message"]
        sent = len(adapter.sent("setBreakpoints"))
        await trio.sleep(60)
        assert len(adapter.sent("setBreakpoints")) == sent  # not while it runs
        paused = True
        await adapter.stop("pause")
        await client.call("debug_wait")
        await trio.sleep(1)
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert "pending" not in listed
        assert len(adapter.sent("setBreakpoints")) == sent + 1


async def test_a_launch_that_does_not_stop_at_the_entry_sends_no_breakpoint_for_it(autojump_clock: MockClock) -> None:
    adapter = native("gdb")
    async with launched("gdb", adapter):
        assert functions(adapter) == [PANICS["gdb"]]


async def test_panics_are_stopped_at_while_an_exception_breakpoint_or_the_launch_asks_for_exceptions(
    autojump_clock: MockClock,
) -> None:
    adapter = native("gdb")
    async with launched("gdb", adapter, stop_on_uncaught=False) as client:
        assert functions(adapter) == []
        asked = await client.call("breakpoint_set_exception", exception_type="panic")
        assert functions(adapter) == [PANICS["gdb"]]
        await client.call("breakpoint_remove", id=asked["id"])
        assert functions(adapter) == [PANICS["gdb"], []]


async def test_answers_about_functions_in_any_order_are_matched_by_their_ids(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    adapter = native("lldb-dap")
    ids: dict[str, int] = {}

    async def shuffled(arguments: dict[str, Any]) -> object:
        names = [each["name"] for each in arguments["breakpoints"]]
        for name in names:
            ids.setdefault(name, len(ids) + 1)
        return {"breakpoints": [{"id": ids[name], "verified": name != "gone"} for name in sorted(names)]}

    adapter.answer("setFunctionBreakpoints", shuffled)
    wanted = [{"function": "total"}, {"function": "gone"}, {"function": "add"}]
    async with launched("lldb-dap", adapter, program=without_symbols(tmp_path), breakpoints=wanted) as client:
        await adapter.stop("breakpoint", hit=[ids["add"]])
        assert (await client.call("debug_wait"))["breakpoints"] == ["fn-3"]


# --- Signals ----------------------------------------------------------------------------------------------------------


async def test_a_signal_of_gdb_is_an_exception_with_its_name_and_address(autojump_clock: MockClock) -> None:
    adapter = native("gdb")
    adapter.values = {"$_siginfo.si_signo": "11", "$_siginfo._sifields._sigfault.si_addr": "(void *) 0x18"}
    async with launched("gdb", adapter) as client:
        await adapter.stop("signal")
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["mode"]) == ("Exception", "unhandled")
        assert stop["exception"] == "SIGSEGV: Segmentation fault (address 0x18)"
        await client.call("debug_continue", wait=False)
        adapter.values = {}
        await adapter.stop("signal")
        unnamed = (await client.call("debug_wait"))["exception"]
        assert (
            unnamed == "signal: gdb does not know which; behind valgrind it is an error that its own output describes"
        )


async def test_the_signal_of_the_last_stop_is_known_after_the_end(autojump_clock: MockClock) -> None:
    adapter = native("gdb")
    adapter.values = {"$_siginfo.si_signo": "11", "$_siginfo._sifields._sigfault.si_addr": "(void *) 0x18"}
    adapter.frames = [*adapter.frames, ("_start", "", 0)]
    async with launched("gdb", adapter) as client:
        await adapter.stop("signal")
        stop = await client.call("debug_wait")
        await client.call("debug_continue", wait=False)
        await adapter.exit(-11)
        end = await client.call("debug_wait")
        assert end["signal"] == "SIGSEGV"
        state = await client.call("debug_state")
        assert (state["state"], state["signal"]) == ("Disconnected", "SIGSEGV")
        assert (state["exception"], state["at"]) == (stop["exception"], stop["at"])
        assert state["stack"] == stop["stack"]
        assert state["notes"] == [f"{STOPPED_NOTE}; its values are in stop 1: see stop_get"]
        found = await client.call("exception_get_context")
        assert found["exception"] == stop["exception"]
        assert found["frames"][0].startswith("check /work/orders.cpp:47")
        assert found["notes"] == [f"{STOPPED_NOTE}; its values are in stop 1: see stop_get"]


@pytest.mark.parametrize(
    ("code", "words"), [(-9, "was ended by SIGKILL"), (3, "has exited with 3"), (0, "has exited with 0")]
)
async def test_without_an_exception_at_its_last_stop_only_the_end_is_known(
    code: int, words: str, autojump_clock: MockClock
) -> None:
    adapter = native("gdb")
    async with launched("gdb", adapter) as client:
        adapter.values = {"$_siginfo.si_signo": "11", "$_siginfo._sifields._sigfault.si_addr": "(void *) 0x18"}
        await adapter.stop("signal")
        await client.call("debug_wait")
        await client.call("debug_continue", wait=False)
        if code == 3:  # it has survived that
            await adapter.stop("step")
            await client.call("debug_wait")
            await client.call("debug_continue", wait=False)
        await adapter.exit(code)
        await client.call("debug_wait")
        assert "exception" not in await client.call("debug_state")
        failed = await failure(client, "exception_get_context")
        assert failed.code == "NO_EXCEPTION"
        assert failed.message.startswith(f"The last program {words}. It has not stopped at")


@pytest.mark.parametrize(
    ("name", "stopped"),
    [
        ("gdb", {"reason": "signal"}),
        ("lldb-dap", {"reason": "exception", "description": "signal SIGSEGV: invalid address (fault address: 0x0)"}),
    ],
)
async def test_a_crash_stops_the_program_although_only_exceptions_of_another_type_are_wanted(
    autojump_clock: MockClock, name: str, stopped: dict[str, Any]
) -> None:
    adapter = native(name)
    adapter.values = {"$_siginfo.si_signo": "11"}
    async with launched(name, adapter, breakpoints=[{"exception": "OutOfStock"}]) as client:
        await adapter.stop(**stopped)
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["exception"].partition(":")[0]) == ("Exception", "SIGSEGV")
        assert "breakpoints" not in stop
        assert adapter.sent("continue") == []


async def test_a_crash_in_a_library_is_shown_where_the_users_code_called_it_and_says_in_which_function(
    autojump_clock: MockClock,
) -> None:
    adapter = native("lldb-dap")
    adapter.frames[:0] = [("__strlen_avx2", "../sysdeps/strlen.S", 76), ("puts", "/usr/include/stdio.h", 3)]
    async with launched("lldb-dap", adapter) as client:
        await adapter.stop("exception", description="signal SIGSEGV: invalid address (fault address: 0x0)")
        stop = await client.call("debug_wait")
        assert stop["at"] == "/work/orders.cpp:47 in check"
        assert stop["exception"].endswith("(fault address: 0x0), in __strlen_avx2")
        assert adapter.sent("scopes")[-1] == {"frameId": 1002}
        adapter.values["name"] = "null"
        await client.call("evaluate", expression="name")
        assert adapter.sent("evaluate")[-1]["frameId"] == 1002
        stack = await client.call("stacktrace_get")
        assert [each.split()[0] for each in stack["frames"]] == ["check", "main"]
        await client.call("evaluate", expression="name", frame_index=1)
        assert adapter.sent("evaluate")[-1]["frameId"] == 1003


@pytest.mark.parametrize(
    "library", ["/rustc/0a1b/library/std/src/thread/mod.rs", "<node_internals>/internal/modules/run_main"]
)
async def test_frames_of_a_runtime_below_the_program_are_left_out_of_a_stop_and_counted(
    autojump_clock: MockClock, library: str
) -> None:
    adapter = native("gdb")
    within = ("core::iter::for_each", library, 9)
    adapter.frames = [
        *adapter.frames[:1],
        within,
        *adapter.frames[1:],
        ("std::thread::spawn_unchecked", library, 91),
        ("start_thread", "./nptl/pthread_create.c", 442),
    ]
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        assert [each.split()[0] for each in stop["stack"]] == ["core::iter::for_each", "main"]
        assert stop["omitted"]["frames"] == 2


async def test_an_abort_is_described_by_what_the_program_has_written(autojump_clock: MockClock) -> None:
    adapter = native("gdb")
    adapter.values = {"$_siginfo.si_signo": "6"}
    adapter.frames = [("__pthread_kill", SYSTEM, 44), ("raise", SYSTEM, 26), *adapter.frames]
    async with launched("gdb", adapter) as client:
        text = "terminate called after throwing an instance of 'OutOfStock'\n  what():  no fig\n"
        await adapter.event("output", {"category": "stdout", "output": text})
        await adapter.stop("signal")
        stop = await client.call("debug_wait")
        assert (stop["exception"], stop["at"]) == ("OutOfStock: no fig", "/work/orders.cpp:47 in check")
        await client.call("debug_continue", wait=False)
        text = "orders: /work/orders.cpp:12: int main(): Assertion `x > 0' failed.\n"
        await adapter.event("output", {"category": "stderr", "output": text})
        await adapter.stop("signal")
        stop = await client.call("debug_wait")
        assert stop["exception"] == "SIGABRT: Assertion `x > 0' failed. (/work/orders.cpp:12)"


async def test_lldbs_stop_signal_after_a_pause_is_the_pause_and_without_one_it_is_a_signal(
    autojump_clock: MockClock,
) -> None:
    adapter = native("lldb-dap")

    async def stopped(arguments: object) -> object:
        await adapter.stop("exception", description="signal SIGSTOP", text="signal SIGSTOP")
        return {}

    adapter.answer("pause", stopped)
    async with launched("lldb-dap", adapter) as client:
        stop = await client.call("debug_pause")
        assert (stop["reason"], stop.get("exception"), stop.get("notes")) == ("Pause", None, None)
        await client.call("debug_continue", wait=False)
        await stopped(None)
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["exception"]) == ("Exception", "SIGSTOP")


@pytest.mark.parametrize("name", ["gdb", "lldb-dap"])
async def test_a_pause_in_a_library_is_shown_where_the_users_code_has_called_it(
    autojump_clock: MockClock, name: str
) -> None:
    adapter = native(name)
    adapter.threads = [(1, "orders"), (2, "orders")]
    adapter.frames = [("futex_wait", SYSTEM, 44), ("join", SYSTEM, 26), *adapter.frames]
    adapter.answer("pause", partial(stopped_by_signal, adapter))
    async with launched(name, adapter) as client:
        stop = await client.call("debug_pause", thread_id=2)
        assert (stop["reason"], stop["at"]) == ("Pause", "/work/orders.cpp:47 in check")
        assert stop["thread"] == "2 orders"  # the one that was asked for, whichever the adapter names
        assert stop["stack"] == ["main :87"]
        assert stop["notes"] == ["it is in futex_wait, 2 frames of libraries further in"]
        assert [each["threadId"] for each in adapter.sent("stackTrace")][:1] == [2]
        await client.call("debug_continue", wait=False)
        assert (await client.call("debug_pause"))["thread"] == "1 orders"


async def test_an_evaluation_in_a_frame_of_a_library_that_fails_says_where_it_was(autojump_clock: MockClock) -> None:
    adapter = native("gdb")

    async def refuse(arguments: object) -> object:
        raise Refusal('No symbol "total" in current context.')

    adapter.answer("evaluate", refuse)
    async with launched("gdb", adapter) as client:
        adapter.frames = [("check", SOURCE, 47), ("poll", SYSTEM, 44)]
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        assert (await failure(client, "evaluate", expression="total")).message.endswith("in current context.")
        failed = await failure(client, "evaluate", expression="total", frame_index=1)
        hint = "(in poll, a library's: pass the frame_index of a function of yours, see stacktrace_get)"
        assert failed.message.endswith(f'No symbol "total" in current context. {hint}')


async def stopped_by_signal(adapter: FakeAdapter, arguments: object) -> object:
    await adapter.stop("signal", text="SIGINT", description="signal SIGINT", allThreadsStopped=True)
    return {}


# --- Exceptions of C++ ------------------------------------------------------------------------------------------------


def throws(adapter: FakeAdapter, name: str, *lineage: str, message: str = "no fig") -> None:
    """Let the program be stopped in `__cxa_throw`."""
    adapter.frames = [("__cxa_throw", SYSTEM, 0), ("check", SOURCE, 47), ("main", SOURCE, 87)]
    thrown, kind = ("$_probe_arg0", "$_probe_arg1") if name == "gdb" else ("$arg1", "$arg2")
    values = {thrown: "500", kind: "1000", "*(char**)508": f'0x55 "{message}"'}
    scripted_type(values, 1000, *lineage)
    language = "/nat " if name == "codelldb" else ""  # it has several
    adapter.values = {f"{language}{each}": value for each, value in values.items()}


async def throw(adapter: FakeAdapter, name: str) -> None:
    if name != "lldb-dap":
        await adapter.stop("breakpoint", hit=[77])
    else:
        await adapter.stop("exception", description="C++ Throw")


@pytest.mark.parametrize("name", ["gdb", "lldb-dap", "codelldb"])
async def test_an_exception_of_cpp_has_its_type_its_message_and_the_place_that_throws_it(
    autojump_clock: MockClock, name: str
) -> None:
    adapter = native(name)

    async def filters(arguments: object) -> object:
        return {"breakpoints": [{"id": 77, "verified": True}]} if name == "gdb" else {}

    adapter.answer("setExceptionBreakpoints", filters)
    async with launched(name, adapter, breakpoints=[{"exception": "std::runtime_error"}]) as client:
        assert adapter.sent("setExceptionBreakpoints")[-1] == {"filters": ["throw" if name == "gdb" else "cpp_throw"]}
        throws(adapter, name, "St11logic_error", "St9exception")
        await throw(adapter, name)
        await trio.sleep(1)
        assert len(adapter.sent("continue")) == 1
        throws(adapter, name, "N4shop10OutOfStockE", "St13runtime_error", "St9exception")
        await throw(adapter, name)
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["breakpoints"]) == ("Exception", ["ex-1"])
        assert (stop["exception"], stop["at"]) == ("shop::OutOfStock: no fig", "/work/orders.cpp:47 in check")
        await client.call("breakpoint_set_exception", exception_type="shop::OutOfStock", break_on_first_chance=False)
        assert adapter.sent("setExceptionBreakpoints")[-1] == {"filters": ["throw" if name == "gdb" else "cpp_throw"]}
        await client.call("breakpoint_remove", id="ex-1")
        assert adapter.sent("setExceptionBreakpoints")[-1] == {"filters": []}


async def test_an_exception_that_is_only_passed_on_does_not_count_again(autojump_clock: MockClock) -> None:
    adapter = native("lldb-dap")
    async with launched("lldb-dap", adapter, breakpoints=[{"exception": "*"}]) as client:
        throws(adapter, "lldb-dap", "i")
        adapter.frames[0] = ("__cxa_rethrow", SYSTEM, 0)
        await throw(adapter, "lldb-dap")
        await trio.sleep(1)
        assert len(adapter.sent("continue")) == 1
        assert (await client.call("debug_state"))["state"] == "Running"


async def test_a_subtype_counts_only_if_that_is_wanted_and_a_type_that_cannot_be_read_always(
    autojump_clock: MockClock,
) -> None:
    adapter = native("lldb-dap")
    async with launched("lldb-dap", adapter, wait=False) as client:
        await client.call("breakpoint_set_exception", exception_type="runtime_error", include_subtypes=False)
        throws(adapter, "lldb-dap", "10OutOfStock", "St13runtime_error", "St9exception")
        await throw(adapter, "lldb-dap")
        await trio.sleep(1)
        assert len(adapter.sent("continue")) == 1
        throws(adapter, "lldb-dap", "St13runtime_error", "St9exception", message="no plum")
        await throw(adapter, "lldb-dap")
        assert (await client.call("debug_wait"))["exception"] == "std::runtime_error: no plum"
        await client.call("debug_continue", wait=False)
        adapter.values = {}
        await throw(adapter, "lldb-dap")
        assert (await client.call("debug_wait"))["reason"] == "Exception"


# --- Functions that evaluations call ----------------------------------------------------------------------------------


async def test_a_function_that_an_evaluation_calls_leaves_the_stop_and_the_frames_have_new_ids(
    autojump_clock: MockClock,
) -> None:
    adapter = native("gdb")
    first = [1]

    async def renumbered(arguments: dict[str, Any]) -> object:
        found = [{"id": first[0] + level, "name": "check", "line": 47, "column": 0} for level in range(2)]
        return {"stackFrames": found[arguments.get("startFrame", 0) :][: arguments["levels"]], "totalFrames": 2}

    async def call(arguments: dict[str, Any]) -> object:
        assert arguments["frameId"] == first[0]
        first[0] += 2
        for _ in range(2):
            await adapter.event("continued", {"threadId": 1, "allThreadsContinued": True})
        await adapter.stop("function call")
        return {"result": "true", "variablesReference": 0}

    adapter.answer("stackTrace", renumbered)
    adapter.answer("evaluate", call)
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint", hit=[77])
        before = await client.call("debug_wait")
        for _ in range(2):
            assert (await client.call("evaluate", expression="same(cart)"))["value"] == "true"
        assert (await client.call("debug_state"))["reason"] == before["reason"] == "Breakpoint"


async def test_a_function_that_stops_itself_while_an_evaluation_calls_it_is_a_stop(autojump_clock: MockClock) -> None:
    adapter = native("gdb")

    async def call(arguments: dict[str, Any]) -> object:
        adapter.answer("evaluate", nothing)
        await adapter.event("continued", {"threadId": 1, "allThreadsContinued": True})
        await adapter.stop("signal", text="SIGSEGV")
        raise Refusal("The program being debugged was signaled while in a function called from GDB.")

    async def nothing(arguments: dict[str, Any]) -> object:
        raise Refusal("No symbol")

    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint", hit=[77])
        await client.call("debug_wait")
        adapter.answer("evaluate", call)
        with pytest.raises(ToolFailed, match="was resumed in the meantime"):
            await client.call("evaluate", expression="same(cart)")
        assert (await client.call("debug_wait"))["reason"] == "Exception"


@pytest.mark.parametrize(("last", "code"), [("signal SIGSEGV: invalid address", -11), (None, 11)])
async def test_the_signal_that_the_program_last_stopped_at_is_what_ended_it(
    autojump_clock: MockClock, last: str | None, code: int
) -> None:
    adapter = native("codelldb")
    async with launched("codelldb", adapter) as client:
        await adapter.stop("exception", description="signal SIGSEGV: invalid address")
        await client.call("debug_wait")
        if last is None:  # the program has handled it
            await client.call("debug_continue", wait=False)
            await adapter.stop("breakpoint")
            await client.call("debug_wait")
        await client.call("debug_continue", wait=False)
        await adapter.exit(11)  # what CodeLLDB reports of a SIGSEGV, too
        assert (await client.call("debug_wait", timeout=5))["exitCode"] == code


async def test_a_main_that_begins_in_the_line_where_it_ends_is_entered_where_its_code_is(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    source = tmp_path / "words.cpp"
    source.write_text("int main() {\n  words();\n}\n")
    adapter = native("gdb")
    adapter.frames = [("main", str(source), 3)]
    async with launched("gdb", adapter, stop_at_entry=True) as client:

        async def step(arguments: object) -> dict[str, object]:
            adapter.frames = [("main", str(source), 2)]
            return {}

        adapter.answer("next", step, then=partial(adapter.stop, "step"))
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["at"]) == ("Entry", f"{source}:2 in main")
        assert adapter.sent("continue") == []
