"""Why a program does not answer: each reason is seen before it is said (looking/from_outside)."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from tests.server.scene import failure, launch
from tests.session.looking.test_outside import KEPT, HereProfile, Seen
from tests.session.test_children import adopt
from trio_debugmcp.session.looking.by_probe.asked_by_expressions import INSTALL_SECONDS
from trio_debugmcp.session.looking.by_probe.live_threads import LiveThread
from trio_debugmcp.session.looking.by_probe.program_probe import PROBE_SECONDS
from trio_debugmcp.session.looking.from_outside.outside import KEPT_SECONDS
from trio_debugmcp.session.looking.from_outside.process_sample import FULL_TURN_SECONDS, GONE, ProcessSample
from trio_debugmcp.session.looking.from_outside.program_process import SAMPLE_SECONDS
from trio_debugmcp.session.looking.from_outside.py_spy import CannotLook
from trio_debugmcp.session.looking.from_outside.silence import LITTLE, Silence, Waited, silence_of
from trio_debugmcp.state.payloads import Location
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server

ASLEEP = ProcessSample("S", 1.0, ready=0, ran=1.0, turns=100, wanting=0, processors=2)
CROWDED = ProcessSample("S", 1.0, ready=1, ran=1.0, turns=100, wanting=6, processors=2)
WAITED = Waited(1.0, used=0.0)


# --- Pure -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("earlier", "now", "waited", "words"),
    [
        (ASLEEP, replace(ASLEEP, state="T"), WAITED, "process 7 is stopped by a signal; SIGCONT continues it"),
        (ASLEEP, replace(ASLEEP, state="t"), WAITED, "process 7 is stopped by a tracer, as another debugger is"),
        (ASLEEP, ProcessSample(GONE), WAITED, "the program has ended: there is no process 7 any more"),
        (ASLEEP, replace(ASLEEP, state="Z"), WAITED, "has ended: its parent has not collected process 7 yet"),
        (
            CROWDED,
            replace(CROWDED, ran=1.02, turns=103),
            Waited(1.0, used=0.05),
            "process 7 is ready to run, but has had 0.05 s of processor time in 1.0 s, while others use the processors",
        ),
        (ASLEEP, ASLEEP, WAITED, "process 7 sleeps, and has had 0.00 s of processor time in 1.0 s"),
        (
            replace(ASLEEP, state="R", ready=1),
            replace(ASLEEP, state="R", ready=1),
            Waited(2.0, used=1.98),
            "process 7 is ready to run, and has had 1.98 s of processor time in 2.0 s",
        ),
        (
            replace(ASLEEP, state="D"),
            replace(ASLEEP, state="D"),
            WAITED,
            "process 7 waits for a device, and has had 0.00",
        ),
        (None, None, WAITED, "the program does not answer"),
    ],
)
def test_a_reason_is_what_was_seen(
    earlier: ProcessSample | None, now: ProcessSample | None, waited: Waited, words: str
) -> None:
    assert words in silence_of(7, waited, earlier, now).words


@pytest.mark.parametrize(
    ("earlier", "now", "used"),
    [
        (CROWDED, CROWDED, LITTLE),  # it has had its share
        (replace(CROWDED, wanting=1), replace(CROWDED, wanting=1), 0.0),  # no other process wants the processors
        (replace(CROWDED, ready=0), CROWDED, 0.0),  # it has slept in between
        # What waits for the GIL wakes up again and again, and sleeps at once.
        (CROWDED, replace(CROWDED, ran=CROWDED.ran + 8 * FULL_TURN_SECONDS / 2, turns=CROWDED.turns + 8), 0.0),
    ],
)
def test_a_process_is_starved_only_if_it_wants_to_run_and_others_do(
    earlier: ProcessSample, now: ProcessSample, used: float
) -> None:
    found = silence_of(7, Waited(1.0, used), earlier, now)
    assert found.reason == "unknown"
    assert "others" not in found.words
    assert silence_of(7, Waited(1.0, 0.0), CROWDED, CROWDED).reason == "starved"


def test_what_is_still_being_installed_is_said_unless_something_else_was_seen() -> None:
    assert silence_of(None, WAITED, None, None, installing=True).reason == "installing"
    assert silence_of(7, WAITED, ASLEEP, ASLEEP, installing=True).reason == "installing"
    assert silence_of(7, WAITED, ASLEEP, replace(ASLEEP, state="T"), installing=True).reason == "stopped"


def test_the_thread_that_keeps_the_gil_is_named_with_its_place() -> None:
    keeper = LiveThread(5, "main", "running", Location("/a.py", 3, None, "f", None))
    assert Silence("gil", 7, keeper=keeper).words == (
        "the program does not answer: thread 5 main had the GIL at two looks, at /a.py:3 in f, which may be a call "
        "into C code that keeps it"
    )
    assert "a thread had the GIL at two looks and had not moved, which may be a call" in Silence("gil", 7).words


def test_each_reason_has_an_advice() -> None:
    assert Silence("stopped", 7).advice == "Continue it with `kill -CONT 7`, and ask again."
    assert "debug_restart" in Silence("gil", 7).advice
    assert Silence("ended", 7).advice == Silence("unreachable", 7).advice == "Look at debug_state."
    assert Silence("starved", 7).advice == Silence().advice
    assert Silence("unreachable", 7).words == "its connection to the debugger has ended, though process 7 has not"


# --- Scripted ---------------------------------------------------------------------------------------------------------


class Machine(Seen):
    """A machine on which processes are seen in these states, one after the other, and the last one from then on."""

    def __init__(self, *samples: ProcessSample, seen: bytes | None = None) -> None:
        super().__init__(CannotLook("py-spy is not here") if seen is None else seen)
        self.samples = list(samples)
        self.used = 0.0

    def processor_seconds(self, pid: int) -> float | None:
        """Return what was set."""
        return self.used

    def sample(self, pid: int) -> ProcessSample | None:
        """Return the next state."""
        return self.samples.pop(0) if len(self.samples) > 1 else self.samples[0]


@asynccontextmanager
async def silent(host: Seen, *, answered: bool = True) -> AsyncIterator[tuple[DebugClient, FakeAdapter]]:
    """A client of a program that was paused, runs, and answers no more. `answered`: it has answered before."""
    adapter = FakeAdapter()
    adapter.probe = {"threads": {"threads": [], "total": 0}}
    options = adapter.options()
    settings = replace(options.settings, host=host, profiles=(HereProfile(adapter),))
    async with open_server(replace(options, settings=settings)) as server, server.connect() as client:
        await launch(client, adapter)
        await trio.sleep(10)
        await adapter.event("process", {"name": "app.py", "systemProcessId": 77})
        if answered:
            await client.call("threads_list")
        adapter.withhold("evaluate")
        yield client, adapter


STOPPED = "the program does not answer: process 77 is stopped by a signal; SIGCONT continues it"


async def test_a_program_that_is_stopped_by_a_signal_is_said_to_be_by_all_that_ask_it(
    autojump_clock: MockClock,
) -> None:
    async with silent(Machine(replace(ASLEEP, state="T"))) as (client, adapter):
        adapter.withhold("pause")
        failed = await failure(client, "evaluate", expression="1 + 1")
        assert failed.code == "EVAL_TIMEOUT"
        assert failed.message == (
            f"It is not known what became of `1 + 1`: {STOPPED}. Continue it with `kill -CONT 77`, and ask again."
        )
        assert f"Its stack is not known: {STOPPED}" in (await failure(client, "stacktrace_get")).message
        assert f"are not known: {STOPPED}" in (await failure(client, "tasks_list")).message
        assert STOPPED in (await client.call("threads_list"))["notes"][0]
        assert (
            f"s-1: the stacks are not known: {STOPPED}"
            in (await client.call("stacktrace_get", thread_id="*"))["notes"][0]
        )
        assert STOPPED in (await client.call("debug_pause"))["notes"][0]
        assert STOPPED in (await client.call("debug_wait", timeout=1))["notes"][0]
        assert STOPPED in (await failure(client, "type_get", expression="int")).message
        assert STOPPED in (await client.call("modules_list"))["notes"][0]


async def test_a_program_that_is_stopped_at_a_stop_is_said_to_be(autojump_clock: MockClock) -> None:
    host = Machine(ASLEEP)
    async with silent(host) as (client, adapter):
        adapter.restore()
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        adapter.withhold("evaluate")
        host.samples = [replace(ASLEEP, state="T")]
        failed = await failure(client, "variables_get", path="order")
        assert failed.code == "TIMEOUT"
        assert failed.message == f"`order`: {STOPPED}. Continue it with `kill -CONT 77`, and ask again."


async def test_a_program_that_is_starved_is_said_to_be(autojump_clock: MockClock) -> None:
    async with silent(Machine(CROWDED)) as (client, _):
        start = trio.current_time()
        (note,) = (await client.call("threads_list"))["notes"]
        assert "is ready to run, but has had 0.00 s of processor time in 1.0 s, while others use the processors" in note
        assert trio.current_time() - start == pytest.approx(1 + SAMPLE_SECONDS)


async def test_a_program_of_which_nothing_is_established_is_not_said_to_be_in_c_code(autojump_clock: MockClock) -> None:
    async with silent(Machine(ASLEEP)) as (client, _):
        failed = await failure(client, "evaluate", expression="1 + 1")
        assert "the program does not answer: process 77 sleeps, and has had 0.00 s of processor time" in failed.message
        assert "GIL" not in failed.message


async def test_a_call_that_keeps_the_gil_is_looked_for_before_it_is_named(autojump_clock: MockClock) -> None:
    host = Machine(ASLEEP, seen=KEPT)
    async with silent(host) as (client, _):
        failed = await failure(client, "evaluate", expression="1 + 1")
        assert "the program does not answer: thread 4711 MainThread had the GIL at two looks" in failed.message
        assert (
            "at /src/app.py:5 in Job.run, which may be a call into C code that keeps it. If that is" in failed.message
        )
        assert host.asked == [77, 77]


async def test_one_that_was_seen_to_keep_the_gil_is_not_given_the_time_of_one_that_begins(
    autojump_clock: MockClock,
) -> None:
    """It runs, as one does that the probe is still being put into."""
    for sees_it_before in (False, True):
        async with silent(Machine(replace(ASLEEP, state="R", ready=1), seen=KEPT), answered=False) as (client, _):
            if sees_it_before:
                await client.call("threads_list")
            start = trio.current_time()
            assert "had the GIL at two looks" in (await failure(client, "stacktrace_get")).message
            seconds = PROBE_SECONDS + (0 if sees_it_before else INSTALL_SECONDS)
            assert trio.current_time() - start == pytest.approx(seconds, abs=0.6)


async def test_a_call_that_computes_on_a_busy_machine_is_named_once_it_has_had_some_turns(
    autojump_clock: MockClock,
) -> None:
    """Python code would have let others run by then. No single look may show that it has run for long."""
    turns = [replace(CROWDED, ran=CROWDED.ran + KEPT_SECONDS * part) for part in (0, 0.4, 0.8, 1.2)]
    async with silent(Machine(CROWDED, CROWDED, CROWDED, *turns, seen=KEPT)) as (client, _):
        failed = await failure(client, "evaluate", expression="1 + 1")
        assert "thread 4711 MainThread had the GIL at two looks, at /src/app.py:5 in Job.run" in failed.message


async def test_one_that_is_starved_is_not_said_to_keep_the_gil_whatever_py_spy_sees(autojump_clock: MockClock) -> None:
    async with silent(Machine(CROWDED, seen=KEPT)) as (client, _):
        failed = await failure(client, "evaluate", expression="1 + 1")
        assert "while others use the processors or its own share is limited" in failed.message
        assert "GIL" not in failed.message
        (note,) = (await client.call("threads_list"))["notes"]
        assert note.startswith(
            "seen from outside by py-spy, as the program does not answer: process 77 is ready to run"
        )


async def test_a_program_that_has_ended_or_lost_its_connection_is_said_to_have(autojump_clock: MockClock) -> None:
    for sample, words in (
        (ProcessSample(GONE), "the program has ended: there is no process 77 any more"),
        (ASLEEP, "its connection to the debugger has ended, though process 77 has not"),
    ):
        host = Machine(sample)
        async with silent(host) as (client, adapter):
            adapter.restore()
            plausible = adapter.answer_to("evaluate")

            async def crash(arguments: object, adapter: FakeAdapter = adapter, plausible: object = plausible) -> object:
                await adapter.crash()
                return {}

            adapter.answer("evaluate", crash)
            (note,) = (await client.call("stacktrace_get", thread_id="*"))["notes"]
            assert note == f"s-1: the stacks are not known: {words}"


async def test_what_py_spy_sees_of_a_program_that_is_stopped_is_not_said_to_wait_in_c_code(
    autojump_clock: MockClock,
) -> None:
    other = json.dumps([json.loads(KEPT)[1]]).encode()
    async with silent(Machine(replace(ASLEEP, state="T"), seen=other)) as (client, _):
        found = await client.call("threads_list")
        assert found["threads"] == ["4712 other /src/app.py:3 in doze"]
        assert found["notes"] == [f"seen from outside by py-spy, as {STOPPED}"]


# --- Many that begin --------------------------------------------------------------------------------------------------


@asynccontextmanager
async def workers(number: int) -> AsyncIterator[tuple[DebugClient, Sequence[FakeAdapter]]]:
    """Processes that have just begun, none of which has been asked anything."""
    processes = [FakeAdapter() for _ in range(number)]
    for each in processes:
        each.probe = {"stacks": {"stacks": [], "total": 0}}
    async with open_server(processes[0].options()) as server, server.connect() as client:
        await launch(client, processes[0])
        for each in processes[1:]:
            await adopt(processes[0], each)
        yield client, processes


async def test_forty_that_begin_are_counted_in_one_line_while_the_probe_is_put_into_them(
    autojump_clock: MockClock,
) -> None:
    async with workers(40) as (client, adapters):
        for each in adapters:
            plausible = each.answer_to("evaluate")

            async def installing(arguments: dict[str, str], plausible: object = plausible) -> object:
                if "probe.call" not in arguments["expression"]:
                    await trio.sleep(30)
                return await plausible(arguments)  # type: ignore[operator]

            each.answer("evaluate", installing)
        found = await client.call("stacktrace_get", thread_id="*")
        (note,) = found["notes"]
        installing_still = "the debugger's part is still being installed in the program"
        assert note == f"40 processes, s-1 to s-40: the stacks are not known: {installing_still}"
        await trio.sleep(40)
        assert "notes" not in await client.call("stacktrace_get", thread_id="*")


async def test_forty_that_begin_slowly_answer_with_their_stacks(autojump_clock: MockClock) -> None:
    async with workers(40) as (client, adapters):
        for each in adapters:
            plausible = each.answer_to("evaluate")

            async def slowly(arguments: dict[str, str], plausible: object = plausible) -> object:
                await trio.sleep(4 if "probe.call" not in arguments["expression"] else 0.5)
                return await plausible(arguments)  # type: ignore[operator]

            each.answer("evaluate", slowly)
        assert "notes" not in await client.call("stacktrace_get", thread_id="*")
