"""Attaching with gdb and lldb-dap, and what the server takes for granted of no language."""

import os

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure
from tests.session.natives import PROGRAM, SOURCE, launched, options_like
from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import Debugpy, Detect
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import FakeAdapter, FakeProfile, connect


async def test_a_stop_that_only_attaching_makes_is_left_and_the_program_runs_on(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with connect(options=options_like("gdb", adapter)) as client:
        await client.call("debug_attach", pid=os.getpid())
        await adapter.stop("attach")
        await trio.sleep(1)
        assert len(adapter.sent("continue")) == 1
        assert (await client.call("debug_state"))["state"] == "Running"


@pytest.mark.parametrize(("table", "reason", "pauses"), [("gdb", "attach", 0), ("lldb-dap", "pause", 1)])
async def test_a_program_that_is_to_be_stopped_stays_where_attaching_stops_it_or_is_paused(
    autojump_clock: MockClock, table: str, reason: str, pauses: int
) -> None:
    adapter = FakeAdapter()
    async with connect(options=options_like(table, adapter)) as client, trio.open_nursery() as nursery:
        answers = list[dict[str, object]]()

        async def attach() -> None:
            answers.append(await client.call("debug_attach", pid=os.getpid(), stop=True))

        nursery.start_soon(attach)
        await trio.sleep(0.1)
        await adapter.stop(reason)
        await trio.sleep(1)
        assert (answers[0]["state"], answers[0]["reason"], answers[0]["session"]) == ("Paused", "Pause", "s-1")
        assert (len(adapter.sent("pause")), len(adapter.sent("continue"))) == (pauses, 0)
        await client.call("debug_continue", wait=False)
        assert len(adapter.sent("continue")) == 1


async def test_a_pause_that_is_asked_for_while_attaching_keeps_the_program_stopped(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("pause")
    async with connect(options=options_like("gdb", adapter)) as client, trio.open_nursery() as nursery:
        await client.call("debug_attach", pid=os.getpid())
        nursery.start_soon(lambda: client.call("debug_pause"))
        await trio.sleep(1)
        await adapter.stop("attach")
        assert (await client.call("debug_wait"))["reason"] == "Pause"
        assert adapter.sent("continue") == []


async def test_conditions_of_a_launch_are_judged_by_the_language_of_what_is_launched(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    (profile,) = options_like("gdb", adapter).settings.profiles
    options = Options(settings=Settings(directory="/", profiles=(Debugpy(), profile)))
    async with connect(options=options) as client:
        condition = "item == 2 && total > 0"
        launch = {"program": PROGRAM, "adapter": "fake", "wait": False}
        wanted = [{"function": "add", "condition": condition}, {"exception": "*", "condition": condition}]
        await client.call("debug_launch", **launch, breakpoints=wanted)
        sent = adapter.sent("setFunctionBreakpoints")[-1]["breakpoints"]
        assert sent[0] == {"name": "add", "condition": condition}
        await client.call("debug_disconnect")
        await client.call("breakpoint_set", function="total", condition=condition)  # after a session of that language
        again = {"code": "pass", "adapter": "Python", "breakpoints": wanted[:1]}
        assert (await failure(client, "debug_launch", **again)).code == "INVALID_CONDITION"


@pytest.mark.parametrize("reason", ["breakpoint", "function breakpoint"])
async def test_a_function_that_is_stopped_in_names_its_breakpoint_although_the_adapter_does_not(
    autojump_clock: MockClock, reason: str
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("shop::add", SOURCE, 33)]
    async with launched("gdb", adapter, breakpoints=[{"function": "add"}, {"function": "dd"}]) as client:
        await adapter.stop(reason)
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["breakpoints"]) == ("FunctionBreakpoint", ["fn-1"])


@pytest.mark.parametrize("frame", ["Shelf->put", r"App\Shelf->put", "Shelf::put", "Main$Shelf::put"])
async def test_a_method_is_the_one_of_its_breakpoint_however_its_frame_writes_it(
    autojump_clock: MockClock, frame: str
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [(frame, SOURCE, 33)]
    async with launched("gdb", adapter, breakpoints=[{"function": "Shelf::put"}, {"function": "elf::put"}]) as client:
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["breakpoints"]) == ("FunctionBreakpoint", ["fn-1"])


async def test_a_function_may_have_been_stopped_in_if_a_stop_names_no_breakpoint(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("{closure}", SOURCE, 33)]
    async with launched("gdb", adapter, breakpoints=[{"function": "total"}]) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        await client.call("debug_continue", wait=False)
        await adapter.exit()
        assert (await client.call("debug_wait"))["notes"][-2:] == [
            "no stop at fn-1 total",
            "the adapter did not say at which breakpoint 1 stop happened: this may have been at a function",
        ]


async def test_a_process_is_attached_to_by_the_adapter_for_what_it_runs(autojump_clock: MockClock) -> None:
    """This process, which is only looked at."""
    adapter = FakeAdapter()
    (native,) = options_like("gdb", adapter).settings.profiles
    assert isinstance(native, FakeProfile)
    native.detect = Detect(elf="native")
    other = FakeProfile(FakeAdapter())
    other.name, other.language = "other", "Other"
    options = Options(settings=Settings(directory="/", profiles=(other, native)))
    async with connect(options=options) as client:
        await client.call("debug_attach", pid=os.getpid())
        assert (await client.read("debugger://session"))["adapter"] == "fake"
