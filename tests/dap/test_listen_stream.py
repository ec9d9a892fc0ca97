"""The door of `debug_listen` as a session sees it: an adapter without a program, which announces who has dialed in.

The programs' debugger is the fake one of test_dial_in.
"""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock, lockstep_stream_pair, memory_stream_pair, wait_all_tasks_blocked

from tests.dap.test_dial_in import NOBODY, Owner, is_closed, knock, open_street
from tests.dap.test_direct import CHILD, ME, Program, Session, silent
from tests.faults.leftovers import descriptors, tasks
from trio_debugmcp.dap.connection import Connection, EndOfStream, open_connection
from trio_debugmcp.dap.dial_in import TAKE_SECONDS, DialIns
from trio_debugmcp.dap.direct import open_guest
from trio_debugmcp.dap.direct_stream import PROGRAM_ENDED
from trio_debugmcp.dap.listen_stream import MAX_REFUSALS_REPORTED, NO_PROGRAM, ListeningStream, open_listening
from trio_debugmcp.dap.listener import ADMISSION_SECONDS, FETCH_SECONDS, Door, ListenerAddress
from trio_debugmcp.dap.messages import Initialized, OutputEvent, ProcessEvent, Terminated
from trio_debugmcp.engine import FETCHES
from trio_debugmcp.engine.fetched import fetched_code
from trio_debugmcp.errors import AdapterGone, AdapterRefused


class Scene:
    """A session that listens, with its door, and the street before it."""

    def __init__(self, nursery: trio.Nursery, dial_ins: DialIns, stream: ListeningStream, session: Session) -> None:
        self.nursery = nursery
        self.dial_ins = dial_ins
        self.stream = stream
        self.session = session
        self.door = Door(nursery, stream.welcome, stream.report_refusal)
        self.connection: Connection

    def dial(self, pid: int = NOBODY, token: str | None = None) -> Program:
        ours, theirs = memory_stream_pair()
        program = Program(theirs, self.door.token if token is None else token, pid)
        self.nursery.start_soon(program.run)
        self.nursery.start_soon(self.door.admit, ours)
        return program

    async def said(self) -> list[str]:
        """The lines of output since the last time."""
        await wait_all_tasks_blocked()
        lines: list[str] = []
        while True:
            try:
                event = self.connection.events.receive_nowait()
            except trio.WouldBlock:
                return lines
            if isinstance(event, OutputEvent):
                lines.append(event.output)


@asynccontextmanager
async def open_scene() -> AsyncIterator[Scene]:
    async with open_street() as (nursery, dial_ins):
        stream, session = ListeningStream(nursery, dial_ins, CHILD), Session()
        stream.address = ListenerAddress("::1", 5678, "secret")
        scene = Scene(nursery, dial_ins, stream, session)
        async with open_connection(stream, session.serve) as scene.connection:
            yield scene


async def test_the_handshake_is_answered_and_names_the_address(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        for command in ("initialize", "attach"):
            await scene.connection.request(command)
        process, initialized = [await scene.connection.events.receive() for _ in range(2)]
        assert (process, type(initialized)) == (ProcessEvent("[::1]:5678", None, "attach"), Initialized)
        for command in ("configurationDone", "threads", "disconnect"):
            await scene.connection.request(command)
        with pytest.raises(AdapterRefused, match=NO_PROGRAM):
            await scene.connection.request("evaluate")
        assert repr(scene.stream) == "<ListeningStream at [::1]:5678>"
    assert "secret" not in repr(scene.stream)


async def test_who_dials_in_is_announced_and_taken_by_the_number_in_the_announcement(
    autojump_clock: MockClock,
) -> None:
    async with open_scene() as scene:
        program = scene.dial(pid=ME)
        assert await scene.said() == [f"process {ME} at another place has dialed in\n"]
        (announced,) = scene.session.children
        guest = announced.pop("guest")
        assert announced == {"type": "python", "subProcessId": ME, "parentProcessId": 1, "dialedIn": True}
        async with (
            open_guest(guest, scene.dial_ins, {}) as adapter,
            open_connection(adapter.stream, Session().serve) as connection,
        ):
            await connection.request("initialize")
            assert program.commands[-1] == "initialize"
            assert scene.dial_ins.statistics().owners == 0, "its children come in at its own door"


async def test_two_processes_of_two_machines_may_have_the_same_id(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        first, second = scene.dial(pid=7), scene.dial(pid=7)
        await wait_all_tasks_blocked()
        assert not first.was_released
        assert not second.was_released
        assert len({each["guest"] for each in scene.session.children}) == 2


async def test_a_process_of_ours_with_the_id_of_a_guest_is_not_mistaken_for_it(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        owner = Owner()
        scene.dial_ins.owners.own(7, owner.announce)
        scene.dial(pid=7)
        knock(scene.dial_ins, scene.nursery, pid=8, parent=7)
        await wait_all_tasks_blocked()
        assert [caller.pid for caller in owner.announced] == [8]
        assert [each["subProcessId"] for each in scene.session.children] == [7]


async def test_a_guest_lives_as_long_as_its_connection_whatever_its_process_id(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        program = scene.dial(pid=NOBODY)  # there is no such process on this machine
        await wait_all_tasks_blocked()
        async with (
            open_guest(scene.session.children[0]["guest"], scene.dial_ins, {}) as adapter,
            open_connection(adapter.stream, Session().serve) as connection,
        ):
            await connection.request("initialize")
            await trio.sleep(100)
            await connection.request("threads")
            program.answer = silent  # type: ignore[method-assign]
            with trio.fail_after(1):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(refused, connection, "evaluate", PROGRAM_ENDED)
                    await wait_all_tasks_blocked()
                    await program.stream.aclose()
                assert [type(await connection.events.receive()) for _ in range(2)] == [Terminated, EndOfStream]


async def refused(connection: Connection, command: str, why: str) -> None:
    with pytest.raises(AdapterRefused, match=why):
        await connection.request(command)


async def test_another_token_is_refused_and_its_program_runs_on(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        program = scene.dial(token="yesterday")
        assert await scene.said() == ["a caller from another place was not let in: it does not know the token\n"]
        assert program.commands == ["pydevdAuthorize", "attach", "configurationDone", "disconnect"]
        assert scene.session.children == []
        assert scene.door.at_the_door == 0


async def test_one_that_does_not_say_in_time_who_it_is_is_reported(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        ours, theirs = memory_stream_pair()
        scene.nursery.start_soon(scene.door.admit, ours)
        await trio.sleep(ADMISSION_SECONDS + 5)
        assert await scene.said() == ["a caller from another place was not let in: it did not say in time who it is\n"]
        assert scene.door.at_the_door == 0
        await theirs.aclose()


async def test_a_program_that_reads_the_engine_slowly_takes_no_place_from_others_and_gets_it_whole() -> None:
    async with open_scene() as scene:  # on the real clock: what is sent is made in a thread
        ours, theirs = lockstep_stream_pair()
        scene.nursery.start_soon(scene.door.admit, ours)
        question = await theirs.receive_some()
        await theirs.send_all(FETCHES + scene.door.token.encode() + b"\n")
        await wait_all_tasks_blocked()
        assert scene.door.at_the_door == 0
        received = bytearray(question)
        while data := await theirs.receive_some(100_000):
            received += data
        assert received.endswith(fetched_code(scene.door.token))
        assert await scene.said() == []


async def test_a_program_that_does_not_read_the_engine_in_time_is_reported(mock_clock: MockClock) -> None:
    async with open_scene() as scene:
        ours, theirs = lockstep_stream_pair()
        scene.nursery.start_soon(scene.door.admit, ours)
        await theirs.receive_some()
        await theirs.send_all(FETCHES + scene.door.token.encode() + b"\n")
        await theirs.receive_some(1)  # the engine, which a thread has made
        mock_clock.jump(FETCH_SECONDS + 5)
        assert await scene.said() == [
            "a caller from another place was not let in: it did not read the engine in time\n"
        ]


async def test_a_stranger_is_disconnected_without_a_word_more(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        ours, theirs = memory_stream_pair()
        scene.nursery.start_soon(scene.door.admit, ours)
        await theirs.send_all(b"GET / HTTP/1.1\r\n\r\n")
        await theirs.receive_some()  # the question for the token
        assert await is_closed(theirs)
        (said,) = await scene.said()
        assert said.startswith("a caller from another place was not let in: ")


async def test_refusals_are_reported_twenty_times(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        for _ in range(3 * MAX_REFUSALS_REPORTED):
            scene.dial(token="yesterday")
            await wait_all_tasks_blocked()
        said = await scene.said()
        assert len(said) == MAX_REFUSALS_REPORTED == 20
        assert said[-1].endswith("; further ones are not reported\n")


async def test_one_that_the_session_does_not_want_runs_on(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        scene.session.refuses = AdapterRefused("startDebugging", "256 programs are being debugged already")
        program = scene.dial()
        said = await scene.said()
        assert program.was_released
        assert said[0].endswith("has dialed in\n")
        assert said[1].startswith(f"process {NOBODY} at another place dialed in and runs on without a debugger: ")
        assert said[1].endswith(": 256 programs are being debugged already\n")


async def test_one_that_is_not_taken_in_time_runs_on(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        program = scene.dial()
        await trio.sleep(TAKE_SECONDS - 1)
        assert program.commands[-1] == "evaluate", "it waits"
        await trio.sleep(2)
        assert program.was_released
        assert scene.dial_ins.statistics().waiting == 0


async def test_those_that_are_announced_while_the_session_ends_run_on(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, dial_ins):
        stream = ListeningStream(nursery, dial_ins, CHILD)
        scene = Scene(nursery, dial_ins, stream, Session())
        programs = [scene.dial(NOBODY + each) for each in range(100)]
        await wait_all_tasks_blocked()
        assert not any(each.was_released for each in programs)
        await stream.aclose()
        await wait_all_tasks_blocked()
        assert all(each.was_released for each in programs)


@pytest.mark.real
async def test_an_address_that_is_not_to_be_had_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with open_street() as (_, dial_ins):
            with pytest.raises(AdapterGone, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
                async with open_listening("127.0.0.1", port, "token", dial_ins, {}):
                    pass


@pytest.mark.real
async def test_nothing_is_left_at_the_end() -> None:
    before = descriptors(), tasks()
    async with open_street() as (_, dial_ins):
        async with open_listening("127.0.0.1", 0, "token", dial_ins, {}) as adapter:
            name = repr(adapter.stream).rpartition(" ")[2].strip(">")
            host, _, port = name.partition(":")
            stream = await trio.open_tcp_stream(host, int(port))
            assert await stream.receive_some(), "it asks for the token"
        while not await is_closed(stream):  # it is released first
            pass
        with pytest.raises(OSError, match=name):
            await trio.open_tcp_stream(host, int(port))
        await stream.aclose()
    assert (descriptors(), tasks()) == before
