"""A patient server waits for a peer that is late, and gives up one that does not answer at all.

Each kind of wait has its test: requests, questions to the probe, the start, the goodbye, a program that dials in, a
client that should read. And every constant of seconds belongs to one of two kinds: waits for peers, and policy.
"""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, lockstep_stream_pair, memory_stream_pair

import trio_debugmcp
from tests.dap.test_dial_in import Pydevd
from tests.server.scene import failure, launch
from tests.session.looking.test_program_probe import ONE, started
from tests.transports.scene import open_scene, upgrade
from trio_debugmcp.dap.dial_in import open_dial_ins
from trio_debugmcp.dap.listener import ADMISSION_SECONDS
from trio_debugmcp.editors.channel import STALLED_SECONDS, open_channel
from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.probe.answers import ProbeThreads
from trio_debugmcp.session.goodbye import GOODBYE_SECONDS
from trio_debugmcp.session.handshake import HANDSHAKE_SECONDS
from trio_debugmcp.session.looking.by_probe.program_probe import PROBE_SECONDS
from trio_debugmcp.session.looking.from_outside.silence import NoProbeAnswer
from trio_debugmcp.session.requests import REQUEST_SECONDS
from trio_debugmcp.testing import FakeAdapter, connect, open_server
from trio_debugmcp.transports.websocket import CLOSE_SECONDS, PING_SECONDS, PONG_SECONDS

PATIENT = Patience(4)
LATE = 3
"""How many times as long as usual the peers of these tests take."""


def hesitate(adapter: FakeAdapter, command: str, seconds: float) -> None:
    """Have an adapter answer a command so much later."""
    plausible = adapter.answer_to(command)

    async def answer(arguments: dict[str, Any]) -> object:
        await trio.sleep(seconds)
        return await plausible(arguments)

    adapter.answer(command, answer)


async def test_a_late_answer_of_the_adapter_is_waited_for(autojump_clock: MockClock) -> None:
    for patience in (USUAL, PATIENT):
        adapter = FakeAdapter()
        async with connect(options=adapter.options(patience=patience)) as client:
            await launch(client, adapter)
            await trio.sleep(10)
            hesitate(adapter, "setBreakpoints", LATE * REQUEST_SECONDS)
            call = partial(client.call, "breakpoint_set", file=adapter.program, line=1)
            if patience is PATIENT:
                assert (await call())["id"] == "bp-1"
            else:
                failed = await failure(client, "breakpoint_set", file=adapter.program, line=1)
                assert (failed.code, "within 10 s" in failed.message) == ("TIMEOUT", True)
            adapter.restore()


async def test_a_late_answer_of_the_probe_is_waited_for_and_the_program_knows(autojump_clock: MockClock) -> None:
    for patience in (USUAL, PATIENT):
        adapter = FakeAdapter()
        adapter.probe = {"threads": ONE}
        async with open_server(adapter.options(patience=patience)) as server, server.connect() as client:
            probe = (await started(server, adapter, client)).looking.ways.probe
            await probe.ask("threads", ProbeThreads)  # which puts it into the program
            hesitate(adapter, "evaluate", LATE * PROBE_SECONDS)
            if patience is PATIENT:
                assert (await probe.ask("threads", ProbeThreads)).total == 1
            else:
                with pytest.raises(NoProbeAnswer, match="the program does not answer"):
                    await probe.ask("threads", ProbeThreads)
            asked = adapter.sent("evaluate")[-1]["expression"]
            assert ('"patience": 4' in asked) == (patience is PATIENT), "what it may take there is no less"
            adapter.restore()


async def test_a_late_start_is_waited_for(autojump_clock: MockClock) -> None:
    for patience in (USUAL, PATIENT):
        adapter = FakeAdapter()
        hesitate(adapter, "launch", LATE * HANDSHAKE_SECONDS)
        async with connect(options=adapter.options(patience=patience)) as client:
            arguments = {"program": adapter.program, "stop_at_entry": True, "timeout": 1000}
            if patience is PATIENT:
                assert (await client.call("debug_launch", **arguments))["reason"] == "Entry"
            else:
                assert (await failure(client, "debug_launch", **arguments)).code == "TIMEOUT"


async def test_a_late_goodbye_is_waited_for(autojump_clock: MockClock) -> None:
    for patience, seconds in ((USUAL, GOODBYE_SECONDS), (PATIENT, LATE * GOODBYE_SECONDS)):
        adapter = FakeAdapter()
        async with connect(options=adapter.options(patience=patience)) as client:
            await launch(client, adapter)
            await trio.sleep(10)
            hesitate(adapter, "disconnect", LATE * GOODBYE_SECONDS)
            start = trio.current_time()
            assert await client.call("debug_disconnect") == {"ended": True}
            assert trio.current_time() - start == pytest.approx(seconds)


async def test_a_program_that_is_late_to_say_who_it_is_is_let_in(autojump_clock: MockClock) -> None:
    for patience in (USUAL, PATIENT):
        async with open_dial_ins(patience) as dial_ins, trio.open_nursery() as nursery:
            ours, theirs = memory_stream_pair()
            nursery.start_soon(dial_ins.door.admit, ours)
            await trio.sleep(LATE * ADMISSION_SECONDS)
            assert dial_ins.statistics().at_the_door == (1 if patience is PATIENT else 0)
            nursery.start_soon(Pydevd(theirs, dial_ins.token, 7).run)
            with trio.move_on_after(1):
                assert (await dial_ins.take(7)).pid == 7
                assert patience is PATIENT
            nursery.cancel_scope.cancel()


async def test_a_client_that_is_late_to_read_stays_connected(autojump_clock: MockClock) -> None:
    for patience in (USUAL, PATIENT):
        async with open_scene(patience=patience) as scene:
            stream, start = scene.dial(), trio.current_time()
            await stream.send_all(upgrade())
            while await stream.receive_some():
                pass
            silent = patience.seconds(PONG_SECONDS) + patience.seconds(CLOSE_SECONDS)
            assert trio.current_time() - start == pytest.approx(PING_SECONDS + silent, abs=2)


async def test_an_editor_that_is_late_to_read_stays_connected(autojump_clock: MockClock) -> None:
    for patience in (USUAL, PATIENT):
        ours, _ = lockstep_stream_pair()
        start = trio.current_time()
        async with open_channel(ours, 1000, patience) as channel:
            channel.event("terminated")
            await trio.Event().wait()
        assert trio.current_time() - start == patience.seconds(STALLED_SECONDS)


# --- The constants ----------------------------------------------------------------------------------------------------

ROOMS = ("dap", "session", "server", "editors", "probe", "replay", "transports")
"""Those with the peers of a server. Clients have options of their own."""

POLICY = {
    "how often one looks, or tries again": """
        dap.adapter._POLL_SECONDS dap.daemons._POLL_SECONDS dap.direct._POLL_SECONDS
        dap.direct._SHORT_LIFE_SECONDS
        dap.listener._FULL_SECONDS dap.pids._POLL_SECONDS dap.process._POLL_SECONDS dap.profiles.finding._RETRY_SECONDS
        dap.profiles.browser_profile._POLL_SECONDS server.tools.starting.first_stop._ASK_SECONDS
        session.before.task_processes._POLL_SECONDS
        dap.profiles.javascript.node_inspector._POLL_SECONDS dap.watchdog_process._SWEEP_SECONDS
        dap.process._SHORT_LIFE_SECONDS dap.process._LIFE_POLL_SECONDS
        editors.values.renewing._LOOK_SECONDS probe.inside.bounds._REPEATS_SECONDS probe.inside.questions._SOON_SECONDS
        probe.inside.debugger.pydevd_loans.AFTER_SECONDS
        probe.inside.debugger.pydevd_loans._LOOK_SECONDS
        probe.inside.evaluation._JOIN_SECONDS session.breakpoints.breakpoint_sync.AGAIN_SECONDS
        session.looking.user_evaluation.FIRST_POLL_SECONDS session.looking.user_evaluation.MAX_POLL_SECONDS
        session.looking.by_adapter.adapter_evaluation.INTERRUPT_AGAIN_SECONDS
        session.looking.by_probe.call_trace._LOOK_SECONDS
        session.looking.from_outside.program_process.SAMPLE_SECONDS session.hunting.try_keeper.BETWEEN_SECONDS
        session.hunting.cluster_worker.LOOK_SECONDS session.block_indexing.LOOK_SECONDS
        transports.accept.FULL_SECONDS transports.head.PIECE_SECONDS transports.pages.LOOK_SECONDS
        transports.websocket.PING_SECONDS dap.channels.PING_SECONDS
    """,
    "a pace, and how long it must be quiet": """
        editors.rounds.ROUND_SECONDS editors.rounds.BETWEEN_SECONDS
        editors.rounds.ACTING_SECONDS session.output.console.ANNOUNCE_SECONDS
        session.stops.other_threads.LOCATING_AFTER_SECONDS session.stops.other_threads.LOCATING_SECONDS
        replay.recorded_adapter.PROMPT_SECONDS session.hunting.hunt_plan.CALM_SECONDS
    """,
    "a grace for persons and their hosts": """
        server.clients.LINGER_SECONDS server.known_clients.ABSENT_SECONDS server.people.hold.HELD_SECONDS
        server.people.presence.GRACE_SECONDS server.people.turns.LEAST_SECONDS server.tools.card_tools.RUN_SECONDS
        server.tools.tool.MAX_SECONDS transports.http.IDLE_SECONDS transports.http11.KEEP_ALIVE_SECONDS
    """,
    "a limit on strangers, and on what a client may cost others": """
        transports.admission.STRANGER_SECONDS transports.admission.CROWDED_SECONDS
        transports.websocket_frames.MESSAGE_SECONDS transports.head.HEAD_SECONDS transports.head.DRAIN_SECONDS
        transports.http.STALL_SECONDS transports.http11.BODY_SECONDS transports.http11.REFUSED_SECONDS
        transports.port.IDLE_SECONDS transports.port.KEPT_SECONDS
    """,
    "of a client's own": """
        transports.line_pipes.FLUSH_SECONDS transports.command.EXIT_SECONDS transports.command.TERM_SECONDS
        transports.command.REAP_SECONDS transports.command.LAST_STDERR_SECONDS transports.websocket.CONNECT_SECONDS
    """,
    "the end of a hang, or no wait": """
        session.looking.from_outside.outside.KEPT_SECONDS session.looking.from_outside.process_sample.FULL_TURN_SECONDS
        session.looking.fleet_looks.COMPUTING_SECONDS session.looking.from_outside.kernel_log._NEAR_SECONDS
        session.merger.MERGE_SECONDS server.answers.call_lines._SHORTEST_SECONDS
        replay.recorded_clients.GOODBYE_SECONDS replay.recorded_clients.AT_ONCE_SECONDS probe.loader._LOCK_SECONDS
        probe.packing.PART_SECONDS session.hunting.cluster_worker.KEEPER_SECONDS
        session.hunting.cluster_client.CONNECT_SECONDS probe.inside.threads.unix_sockets._SECONDS
    """,
}
"""What is not multiplied, and why."""


def multiplied(name: str, text: str) -> bool:
    """Whether a constant is, somewhere in a text: by the patience, a request, a question, or a budget of the probe."""
    by = r"(?:seconds|patient|Budget)\((?:[^()]|\([^()]*\))*"
    passed = r"(?<!\w)(?:seconds|within)(?:(?:: float)? = |=)(?:min\(seconds, |\w+ if .* else )?"
    return re.search(rf"(?:{by}|{passed})(?:\w+\.)?\b{name}\b", text) is not None


def users(module: str, name: str, texts: dict[str, str]) -> list[str]:
    """Return the texts that use a constant of a module: its own, and those that import it or the module."""
    imported, attribute = re.compile(rf"\b{module}\b"), f"{module.rpartition('.')[2]}.{name}"
    return [
        text
        for other, text in texts.items()
        if name in text and (other == module or attribute in text or imported.search(text))
    ]


def test_every_wait_is_for_a_peer_or_policy() -> None:
    home = Path(trio_debugmcp.__file__).parent
    texts = {
        ".".join(file.relative_to(home).with_suffix("").parts): file.read_text("utf-8") for file in home.rglob("*.py")
    }
    policy = {name for names in POLICY.values() for name in names.split()}
    constants = {
        (module, name)
        for module, text in texts.items()
        if module.startswith(ROOMS)
        for name in re.findall(r"^(\w*(?<!MILLI)SECONDS) = ", text, re.MULTILINE)
    }
    undecided = [
        f"{module}.{name}"
        for module, name in sorted(constants)
        if any(multiplied(name, each) for each in users(module, name, texts)) == (f"{module}.{name}" in policy)
    ]
    assert not undecided, "multiplied by the patience or named in POLICY, and not both"
    assert policy <= {".".join(each) for each in constants}
