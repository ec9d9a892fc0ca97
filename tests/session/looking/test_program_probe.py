"""`ProgramProbe`: the questions to the probe of a scripted program, and what they pass."""

from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import launch
from tests.session.answers import refuse
from trio_debugmcp.dap.messages import EvaluateBody
from trio_debugmcp.dap.profiles import PathMapping
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import (
    LockHolder,
    ProbeFrame,
    ProbePlace,
    ProbeStacks,
    ProbeThread,
    ProbeThreadPlace,
    ProbeThreads,
    ThreadWait,
)
from trio_debugmcp.session.looking.by_probe.asked_by_expressions import INSTALL_SECONDS
from trio_debugmcp.session.looking.by_probe.live_threads import live_thread, thread_in_words
from trio_debugmcp.session.looking.by_probe.program_probe import (
    MAX_SIZE,
    MAX_THREADS,
    PROBE_SECONDS,
    ProgramProbe,
)
from trio_debugmcp.session.looking.from_outside.silence import NoProbeAnswer
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.testing import FakeAdapter, Server, open_server

ONE = {"threads": [{"id": 1, "name": "MainThread", "state": "running"}], "total": 1}


async def started(server: Server, adapter: FakeAdapter, client: Any) -> DebugSession:
    """Launch the adapter's program, which runs."""
    await launch(client, adapter)
    await trio.sleep(10)
    return server.app.debugger.session()


async def test_places_in_answers_are_those_of_this_machine(autojump_clock: MockClock) -> None:
    there, elsewhere, here = "/app/shop/till.py", "/application/till.py", "/home/me/shop/till.py"
    adapter = FakeAdapter()
    adapter.probe = {
        "stacks": {
            "stacks": [
                {
                    "id": 1,
                    "name": "MainThread",
                    "state": "waiting",
                    "at": {"file": elsewhere, "line": 3, "function": "wait",
                           "from": {"file": there, "line": 7, "function": "sell"}},
                    "waits": {"kind": "lock",
                              "holder": {"thread": 2, "at": {"file": there, "line": 9, "function": "f"}}},
                    "frames": [{"file": there, "line": 7, "function": "sell"}],
                    "total": 1,
                }
            ],
            "total": 1,
        }
    }  # fmt: skip
    async with open_server(adapter.options()) as server, server.connect() as client:
        session = await started(server, adapter, client)
        process = session.looking.ways.probe.process
        mappings = [PathMapping("/home/me/", "/app/"), PathMapping("/wrong", "/app/shop")]
        probe = ProgramProbe(session.requests, process, mappings)
        (stack,) = (await probe.ask("stacks", ProbeStacks)).stacks
        assert stack.frames[0] == ProbeFrame(here, 7, "sell")
        assert stack.at == ProbeThreadPlace(elsewhere, 3, "wait", from_=ProbePlace(here, 7, "sell"))
        assert stack.waits is not None
        assert stack.waits.holder == LockHolder(2, at=ProbePlace(here, 9, "f"))
        (stack,) = (await ProgramProbe(session.requests, process).ask("stacks", ProbeStacks)).stacks
        assert stack.frames[0].file == there


def after(seconds: float, adapter: FakeAdapter) -> Any:
    """An answer to evaluations that comes so much later."""
    plausible = adapter.answer_to("evaluate")

    async def late(arguments: dict[str, Any]) -> object:
        await trio.sleep(seconds)
        return await plausible(arguments)

    return late


# --- Asking -----------------------------------------------------------------------------------------------------------


async def test_the_probe_is_installed_with_the_first_question_and_again_after_an_exec(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.probe = {"threads": ONE}
    async with open_server(adapter.options()) as server, server.connect() as client:
        probe = (await started(server, adapter, client)).looking.ways.probe
        for asked in (3, 1, 1):  # the question, the probe and the question again; then the question
            before = len(adapter.sent("evaluate"))
            assert (await probe.ask("threads", ProbeThreads)).threads[0].name == "MainThread"
            assert len(adapter.sent("evaluate")) - before == asked
        adapter.probe_installed = False
        assert (await probe.ask("threads", ProbeThreads)).total == 1
        assert adapter.probe_installed
        assert repr(probe) == "<ProgramProbe of s-1>"


async def test_questions_carry_their_parameters(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.probe = {
        "threads": ONE,
        "frames": {"thread": 3, "frames": [], "total": 0},
        "stacks": {"stacks": [], "total": 0},
        "tasks": {"tasks": [], "total": 0},
    }
    async with open_server(adapter.options()) as server, server.connect() as client:
        threads = (await started(server, adapter, client)).looking.threads
        assert (await threads.threads()).source == "probe"
        await threads.stack(3, 5, 7)
        await threads.stack(None, 0, 1, with_locals=True)
        await threads.stacks(20)
        await threads.stacks(20, with_locals=True)
        await threads.tasks(10, 200)
        all_threads = ("threads", {"count": MAX_THREADS, "size": MAX_SIZE})
        assert adapter.probed == [
            all_threads,
            all_threads,
            ("frames", {"thread": 3, "start": 5, "count": 7, "locals": False}),
            all_threads,
            ("frames", {"start": 0, "count": 1, "locals": True}),
            ("stacks", {"count": MAX_THREADS, "frames": 20, "locals": False, "size": MAX_SIZE}),
            ("stacks", {"count": MAX_THREADS, "frames": 20, "locals": True}),
            ("tasks", {"start": 10, "count": 200}),
        ]


async def test_a_program_without_a_probe_is_not_asked(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as client:
        probe = (await started(server, adapter, client)).looking.ways.probe
        with pytest.raises(NoProbeAnswer, match="fake has nothing within the program that answers this") as caught:
            await probe.ask("threads", ProbeThreads)
        assert caught.value.failure.kind == "none"
        assert adapter.sent("evaluate") == []


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        ('{"answer": {"threads"', "invalid", "cannot be read"),
        ('{"answer": {"threads": "many", "total": 1}}', "invalid", "cannot be read"),
        ("<module 'threading'>", "invalid", "cannot be read"),
        ("[" * 100_000, "invalid", "cannot be read"),
        ("x" * 4_000_001, "invalid", "has 4000001 characters"),
        ("{}", "invalid", "empty"),
        ("", "absent", "not in the program"),
        ('{"error": {"kind": "thread", "message": "There is no thread 7."}}', "thread", "no thread 7"),
        ('{"error": {"kind": "slow", "message": "It took too long."}}', "slow", "too long"),
    ],
)
async def test_a_reply_that_is_not_an_answer_says_why(
    reply: str, kind: str, message: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    adapter.probe = {"threads": reply}
    async with open_server(adapter.options()) as server, server.connect() as client:
        probe = (await started(server, adapter, client)).looking.ways.probe
        with pytest.raises(NoProbeAnswer, match=message) as caught:
            await probe.ask("threads", ProbeThreads)
        assert caught.value.failure.kind == kind


async def test_a_refusal_and_a_body_of_another_form_are_errors_of_the_probe(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.probe = {}
    async with open_server(adapter.options()) as server, server.connect() as client:
        probe = (await started(server, adapter, client)).looking.ways.probe
        adapter.answer("evaluate", partial(refuse, "SyntaxError"))
        with pytest.raises(NoProbeAnswer, match="SyntaxError"):
            await probe.ask("threads", ProbeThreads)
        for body in ([1, 2], {"result": 7}, None):

            async def answer(arguments: object, body: object = body) -> object:
                return body

            adapter.answer("evaluate", answer)
            with pytest.raises(NoProbeAnswer) as caught:
                await probe.ask("threads", ProbeThreads)
            assert caught.value.failure.kind in {"invalid", "absent"}


async def test_no_answer_within_a_second_is_slow_and_a_late_one_disturbs_nothing(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.probe = {"threads": ONE}
    async with open_server(adapter.options()) as server, server.connect() as client:
        probe = (await started(server, adapter, client)).looking.ways.probe
        await probe.ask("threads", ProbeThreads)
        adapter.answer("evaluate", after(5, adapter))
        start = trio.current_time()
        with pytest.raises(NoProbeAnswer, match="the program does not answer") as caught:
            await probe.ask("threads", ProbeThreads)
        assert caught.value.failure.kind == "silent"
        assert trio.current_time() - start == pytest.approx(PROBE_SECONDS)
        adapter.restore()
        assert (await probe.ask("threads", ProbeThreads)).total == 1
        await trio.sleep(10)
        assert (await probe.ask("threads", ProbeThreads)).total == 1


async def test_a_program_that_has_not_answered_yet_has_longer_for_it(autojump_clock: MockClock) -> None:
    """Many that begin at once have little of a processor each, and the first question puts the probe into them."""
    adapter = FakeAdapter()
    adapter.probe = {"threads": ONE}
    async with open_server(adapter.options()) as server, server.connect() as client:
        probe = (await started(server, adapter, client)).looking.ways.probe
        adapter.answer("evaluate", after(0.9, adapter))
        assert (await probe.ask("threads", ProbeThreads)).total == 1
        adapter.probe_installed = False
        adapter.answer("evaluate", after(INSTALL_SECONDS + 1, adapter))
        with pytest.raises(NoProbeAnswer, match="the program does not answer"):
            await probe.ask("threads", ProbeThreads)


async def test_an_installation_that_takes_long_is_named_and_not_begun_again(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.probe = {"threads": ONE}
    async with open_server(adapter.options()) as server, server.connect() as client:
        probe = (await started(server, adapter, client)).looking.ways.probe
        plausible = adapter.answer_to("evaluate")
        free = trio.Lock()

        async def installing(arguments: dict[str, Any]) -> object:
            async with free:  # one evaluation after the other
                if "probe.call" not in arguments["expression"]:
                    await trio.sleep(INSTALL_SECONDS + 2)
                return await plausible(arguments)

        adapter.answer("evaluate", installing)
        start = trio.current_time()
        with pytest.raises(NoProbeAnswer, match="debugger's part is still being installed"):
            await probe.ask("threads", ProbeThreads)
        assert trio.current_time() - start == pytest.approx(INSTALL_SECONDS)
        assert (await probe.ask("threads", ProbeThreads)).total == 1
        sent = [each["expression"] for each in adapter.sent("evaluate")]
        assert sum("probe.call" not in each for each in sent) == 1


# --- The stop gate ----------------------------------------------------------------------------------------------------


async def test_only_an_evaluation_without_a_frame_passes_while_the_program_runs(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.values = {"x": "1"}
    async with open_server(adapter.options()) as server, server.connect() as client:
        requests = (await started(server, adapter, client)).requests
        assert (await requests.request("evaluate", {"expression": "x"}, EvaluateBody)).result == "1"
        with pytest.raises(UsageError, match="resumed in the meantime") as caught:
            await requests.request("evaluate", {"expression": "x", "frameId": 1000}, EvaluateBody)
        assert caught.value.code == "NOT_PAUSED"
        assert adapter.sent("evaluate") == [{"expression": "x"}]
        await adapter.stop("step")
        await trio.sleep(10)
        assert (await requests.request("evaluate", {"expression": "x", "frameId": 1000}, EvaluateBody)).result == "1"


# --- Words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("waits", "words"),
    [
        (None, None),
        (ThreadWait("sleep", "time.sleep(1000)"), "time.sleep(1000)"),
        (ThreadWait("lock", "self.lock", holder=LockHolder(2, "payer")), "self.lock, probably held by thread 2 payer"),
        (
            ThreadWait("lock", "self.lock", holder=LockHolder(2, "payer", sure=True)),
            "self.lock, held by thread 2 payer",
        ),
        (ThreadWait("lock", holder=LockHolder(2)), "a lock, probably held by thread 2"),
        (ThreadWait("queue", "jobs.get", "0 items"), "jobs.get, 0 items"),
        (ThreadWait("process", "child.wait", "pid 7"), "child.wait, pid 7"),
        (ThreadWait("join", "t.join", "t", LockHolder(2, "t", sure=True)), "t.join, the end of thread 2 t"),
        (ThreadWait("future", holder=LockHolder(2, "pool_0", sure=True)), "a future, run by thread 2 pool_0"),
        (ThreadWait("asyncio", detail="idle event loop"), "the events of its asyncio loop"),
        (ThreadWait("trio"), "the events of its Trio run"),
        (ThreadWait("worker"), "work: it is idle"),
        (ThreadWait("exit"), "the other threads to end"),
        (ThreadWait("of a later version"), "of a later version"),
    ],
)
def test_what_a_thread_waits_for_in_words(waits: ThreadWait | None, words: str | None) -> None:
    assert live_thread(ProbeThread(1, "MainThread", "waiting", waits=waits)).waits == words


def test_a_thread_in_one_line_shows_the_users_place() -> None:
    at = ProbeThreadPlace("/lib/queue.py", 171, "get", from_=ProbePlace("/app/a.py", 3, "work", "Pool.work"))
    waiting = ProbeThread(7, "worker", "waiting", at=at, waits=ThreadWait("queue", "jobs.get"))
    assert thread_in_words(live_thread(waiting)) == "thread 7 worker waits for jobs.get, at /app/a.py:3 in Pool.work"
    assert thread_in_words(live_thread(ProbeThread(8, "other", "waiting"))) == "thread 8 other waits"
    running = ProbeThread(9, "third", "running", at=ProbeThreadPlace("/app/a.py", 5, "spin"))
    assert thread_in_words(live_thread(running)) == "thread 9 third is running, at /app/a.py:5 in spin"
