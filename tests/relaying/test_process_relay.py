"""A relay in front of a listening session: what it carries, and what is left when one of the two is gone.

The programs are the fake ones of test_dial_in, which dial in at the relay's port by real sockets of loopback.
"""

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import memory_stream_pair

from tests.dap.test_dial_in import Pydevd, frame
from tests.faults.leftovers import descriptors, tasks
from tests.patience import FACTOR
from trio_debugmcp.dap.incoming_connection import RECORDS, IncomingConnection, release
from trio_debugmcp.dap.profiles.processes import Process
from trio_debugmcp.dap.records import RecordTakers
from trio_debugmcp.dap.relayed_programs import Relays
from trio_debugmcp.patience import Patience
from trio_debugmcp.relaying import bringing_in
from trio_debugmcp.relaying.process_relay import Relay, open_relay

pytestmark = pytest.mark.real

TEST_SECONDS = 60 * FACTOR

PATIENCE = Patience(FACTOR)


class Scene:
    """A relay, the port that it is connected to, and who was delivered there."""

    def __init__(self, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nursery = nursery
        self.monkeypatch = monkeypatch
        self.said: list[str] = []
        self.records = RecordTakers()
        self.arrived, self.callers = trio.open_memory_channel[IncomingConnection](100)
        self.relays = Relays(self.arrived.send_nowait, self.records, "secret", PATIENCE)
        self.here, self.there = memory_stream_pair()
        self.programs: dict[int, Pydevd] = {}
        self.address = ("", 0, "")

    async def brought_in(self, pid: int, carrier: object, address: tuple[str, int, str], patience: Patience) -> None:
        """In place of a native debugger: the process dials in."""
        self.address = address
        stream = await trio.open_tcp_stream(address[0], address[1])
        program = self.programs[pid] = Pydevd(stream, address[2], pid)
        self.nursery.start_soon(program.run)


@asynccontextmanager
async def open_scene(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Scene, Relay]]:
    with trio.fail_after(TEST_SECONDS):
        async with trio.open_nursery() as nursery:
            scene = Scene(nursery, monkeypatch)
            monkeypatch.setattr("trio_debugmcp.relaying.process_relay.brought_in", scene.brought_in)
            monkeypatch.setattr("trio_debugmcp.relaying.process_relay.problem_of", lambda _: None)
            nursery.start_soon(scene.relays.serve, scene.there, b"", "127.0.0.2")  # noqa: ASYNC113 (what is sent waits)
            async with open_relay(scene.here, b"", scene.said.append, PATIENCE) as relay:
                yield scene, relay
            nursery.cancel_scope.cancel()


async def test_a_process_that_is_brought_in_is_at_the_port_as_if_it_had_dialed_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_scene(monkeypatch) as (scene, relay):
        assert await relay.bring_in([7, 8]) == 0
        callers = [await scene.callers.receive() for _ in range(2)]
        assert sorted(caller.pid for caller in callers) == [7, 8]
        assert re.fullmatch(r"\S+ \(by the relay at 127\.0\.0\.2\)", callers[0].place)
        caller = callers[0]
        await caller.stream.send_all(frame({"seq": 9, "type": "request", "command": "threads"}))
        answer = b""
        while b'"request_seq": 9' not in answer:
            answer += await caller.stream.receive_some()
        assert scene.programs[caller.pid].commands[-1] == "threads"
        assert set(scene.said) == {"process 7 is brought in", "process 8 is brought in"}
        await scene.programs[caller.pid].stream.aclose()
        while await caller.stream.receive_some():
            pass
        assert "secret" not in repr(scene.address), "programs know the token of the relay's own port only"


@pytest.mark.parametrize("gone", ["server", "relay", "network"])
async def test_if_one_of_them_goes_the_processes_run_on_and_nothing_is_left(
    gone: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = descriptors(), tasks()
    async with open_scene(monkeypatch) as (scene, relay):
        await relay.bring_in([7])
        caller = await scene.callers.receive()
        if gone == "server":
            await release(caller.stream, PATIENCE)
            scene.relays.end()
        elif gone == "network":
            await trio.aclose_forcefully(scene.there)
        if gone != "relay":
            await relay.wait_over()
    assert scene.programs[7].was_released
    assert (descriptors(), tasks()) == before
    assert list(tmp_path.iterdir()) == [], "the directory with the engine is gone"


async def test_hits_are_recorded_by_way_of_the_relay_and_by_no_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_scene(monkeypatch) as (scene, relay):
        taken, connections = trio.open_memory_channel[tuple[trio.abc.Stream, bytes]](10)
        key = scene.records.expect(lambda stream, received: taken.send_nowait((stream, received)))
        await relay.bring_in([7])
        host, port, token = scene.address
        for shown in ("yesterday", "secret"):
            async with await trio.open_tcp_stream(host, port) as stranger:
                await stranger.send_all(RECORDS + f"{shown} {key}\n".encode())
                while await stranger.receive_some():
                    pass
        async with await trio.open_tcp_stream(host, port) as program:
            await program.send_all(RECORDS + f"{token} {key}\nfirst ".encode())
            stream, received = await connections.receive()
            while len(received) < len(b"first "):
                received += await stream.receive_some()
            assert received == b"first "
            await stream.send_all(b"\0")
            while not bytes(await program.receive_some()).endswith(b"\0"):
                pass
            await program.send_all(b"second")
            assert await stream.receive_some() == b"second"
        assert await stream.receive_some() == b""


async def test_a_process_that_cannot_be_brought_in_is_named_and_the_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_scene(monkeypatch) as (scene, relay):
        problems = {8: "process 8 is the kernel's"}
        monkeypatch.setattr("trio_debugmcp.relaying.process_relay.problem_of", problems.get)
        assert await relay.bring_in([7, 8]) == 1
        assert "process 8: process 8 is the kernel's" in scene.said


def test_the_processes_below_one_are_all_its_descendants_that_run_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bringing_in, "_PROC", Path("/nowhere"))
    processes = [
        Process(pid, parent, "x", (command,))
        for pid, parent, command in (
            *((1, 0, "init"), (5, 1, "python"), (6, 5, "python3.12"), (7, 6, "/usr/bin/python")),
            *((8, 5, "sh"), (9, 8, "python"), (10, 1, "python")),
        )
    ]
    assert bringing_in.below(5, processes) == [6, 7, 9]


def test_the_reason_why_a_process_cannot_be_brought_in_advises_what_a_relay_can_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bringing_in, "_PROC", tmp_path)
    monkeypatch.setattr("shutil.which", lambda _: None)
    for pid, executable in ((51, "/usr/bin/sleep"), (52, "/usr/bin/python3.12"), (53, "/usr/bin/python3.12")):
        place = tmp_path / str(pid)
        place.mkdir()
        (place / "status").write_text("Name:\tx\nState:\tS (sleeping)\nTracerPid:\t0\nVmSize:\t1 kB\n")
        (place / "cmdline").write_text("x")
        (place / "maps").write_text("")
        (place / "exe").symlink_to(executable)
    (tmp_path / "53" / "root").mkdir()
    assert (bringing_in.problem_of(51) or "").endswith(
        "which is not Python: a relay brings in Python processes. A server on this machine attaches to others, with "
        "debug_attach and the pid"
    )
    assert "or put the line of Python that debug_listen answers with into the program" in (
        bringing_in.problem_of(52) or ""
    )
    assert "Run the relay where the process is" in (bringing_in.problem_of(53) or "")
    (tmp_path / str(os.getpid())).mkdir()
    assert "the relay itself" in (bringing_in.problem_of(os.getpid()) or "")
