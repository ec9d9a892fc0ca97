"""The door for programs that dial in: who is admitted, who gets whom, and that no caller keeps others out or hangs.

Fake callers on memory streams and a virtual clock; on real sockets where the listening socket itself is the matter.
Facts of pydevd, which the fake here only repeats, are tested with the real one in tests/real/test_direct_line.py.
"""

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair, wait_all_tasks_blocked

from tests.faults.leftovers import descriptors, tasks
from trio_debugmcp.dap import dial_in
from trio_debugmcp.dap import listener as door_module
from trio_debugmcp.dap.codec import FrameDecoder, encode_frame
from trio_debugmcp.dap.dial_in import DialIns, open_dial_ins
from trio_debugmcp.dap.incoming_connection import MAX_ADMISSION_BYTES, IncomingConnection

NOBODY = 4_000_000
"""More than any process id of this machine."""


class Pydevd:
    """The debugger inside a program, at its end of the connection: it answers as pydevd does.

    Attributes:
        with_token: what it says together with the token, as our engine says which process it is.
    """

    def __init__(self, stream: trio.abc.Stream, token: str | None, pid: object = NOBODY, parent: object = 1) -> None:
        self.stream = stream
        self.commands: list[str] = []
        self.more = b""
        self.with_token: dict[str, Any] = {}
        self._token = token
        self._process = {"pid": pid, "ppid": parent}

    async def run(self) -> None:
        """Answer until the other side has closed the connection, and close it then."""
        decoder = FrameDecoder()
        try:
            while data := await self.stream.receive_some():
                for body in decoder.feed(bytes(data)):
                    await self.stream.send_all(self.answer(json.loads(body)))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            await trio.aclose_forcefully(self.stream)

    def answer(self, request: dict[str, Any]) -> bytes:
        self.commands.append(request["command"])
        answer = {"type": "response", "seq": 0, "request_seq": request["seq"], "command": request["command"]}
        body: dict[str, Any] = {}
        match request["command"]:
            case "pydevdAuthorize":
                body = {"clientAccessToken": self._token, **self.with_token}
            case "pydevdSystemInfo":
                body = {"process": self._process}
            case "evaluate":
                return frame({**answer, "success": True, "body": body}) + self.more
            case _:
                pass
        return frame({**answer, "success": True, "body": body})

    @property
    def was_released(self) -> bool:
        return self.commands[-2:] == ["configurationDone", "disconnect"]


def frame(message: object) -> bytes:
    return encode_frame(json.dumps(message).encode())


def knock(door: DialIns, nursery: trio.Nursery, token: str | None = None, **process: object) -> Pydevd:
    """A debugger that dials in; it knows the token, unless it is given another one."""
    ours, theirs = memory_stream_pair()
    pydevd = Pydevd(theirs, door.token if token is None else token, **process)
    nursery.start_soon(pydevd.run)
    nursery.start_soon(door.door.admit, ours)
    return pydevd


@asynccontextmanager
async def open_street() -> AsyncIterator[tuple[trio.Nursery, DialIns]]:
    """A door, and a nursery for programs, which end with the block."""
    with trio.fail_after(1000):
        async with trio.open_nursery() as nursery:
            async with open_dial_ins() as door:
                yield nursery, door
            nursery.cancel_scope.cancel()


async def is_closed(stream: trio.abc.Stream) -> bool:
    """Whether the door has closed the connection, without a word."""
    try:
        return not await stream.receive_some()
    except trio.BrokenResourceError:
        return True


# --- Admission --------------------------------------------------------------------------------------------------------


async def test_a_debugger_that_knows_the_token_is_handed_to_who_waits_for_its_process(
    autojump_clock: MockClock,
) -> None:
    async with open_street() as (nursery, door):
        pydevd = knock(door, nursery, pid=7, parent=6)
        await wait_all_tasks_blocked()
        assert pydevd.was_released, "nobody waited for it"
        with trio.fail_after(1):
            nursery.start_soon(later, lambda: knock(door, nursery, pid=7, parent=6))
            caller = await door.take(7)
        assert (caller.pid, caller.parent_pid, caller.received) == (7, 6, b"")
        assert repr(caller) == "<Caller pid=7 parent=6>"
        await trio.aclose_forcefully(caller.stream)


async def test_our_engine_which_says_who_it_is_with_the_token_is_asked_nothing_else(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        ours, theirs = memory_stream_pair()
        engine = Pydevd(theirs, door.token)
        engine.with_token = {"process": {"pid": 7, "ppid": 6}}
        nursery.start_soon(engine.run)
        nursery.start_soon(door.door.admit, ours)
        caller = await door.take(7)
        assert (caller.pid, caller.parent_pid, engine.commands) == (7, 6, ["pydevdAuthorize"])
        await trio.aclose_forcefully(caller.stream)
        strange = knock(door, nursery)
        strange.with_token = {"process": {"pid": "7"}}
        await wait_all_tasks_blocked()
        assert await gone(strange)


async def test_our_engine_says_who_it_is_before_it_is_asked(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        ours, theirs = memory_stream_pair()
        body = {"clientAccessToken": door.token, "process": {"pid": 7, "ppid": 6}}
        answer = {"type": "response", "request_seq": 1, "command": "pydevdAuthorize", "success": True, "body": body}
        await theirs.send_all(frame({**answer, "seq": 1}))
        nursery.start_soon(door.door.admit, ours)
        caller = await door.take(7)
        assert (caller.pid, caller.parent_pid, caller.received, caller.is_engine) == (7, 6, b"", True)
        await trio.aclose_forcefully(caller.stream)


async def later(action: Callable[[], object]) -> None:
    await trio.sleep(0.1)
    action()


async def test_what_comes_together_with_the_answers_is_kept_in_order(autojump_clock: MockClock) -> None:
    events = [{"type": "event", "seq": each, "event": "output"} for each in range(3)]
    async with open_street() as (nursery, door):
        ours, theirs = memory_stream_pair()
        pydevd = Pydevd(theirs, door.token, 7)
        half = frame(events[2])[:30]
        pydevd.more = frame(events[0]) + frame(events[1]) + half
        nursery.start_soon(pydevd.run)
        nursery.start_soon(door.door.admit, ours)
        caller = await door.take(7)
        decoder = FrameDecoder()
        bodies = decoder.feed(caller.received) + decoder.feed(frame(events[2])[30:])
        assert [json.loads(body) for body in bodies] == events
        await trio.aclose_forcefully(caller.stream)


@pytest.mark.parametrize("token", ["", "wrong", "\ud800", "ÿ" * 32])
async def test_a_wrong_token_is_disconnected(token: str, autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        pydevd = knock(door, nursery, token=token)
        await wait_all_tasks_blocked()
        assert pydevd.commands == ["pydevdAuthorize"], "it is told nothing else"
        assert await gone(pydevd)
        assert door.statistics().at_the_door == 0


async def gone(pydevd: Pydevd) -> bool:
    try:
        await pydevd.stream.send_all(b"?")
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return True
    return False


def response(number: int, **more: object) -> bytes:
    return frame({"type": "response", "seq": 0, "request_seq": number, "command": "x", "success": True, **more})


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00" * 1000,
        frame([]),
        encode_frame(b"not json"),
        encode_frame(b'{"type": "response", "request_seq": 1, "success": true, "body": "\\ud800"}'),
        response(1, success=False),
        response(1, body=None),
        response(1, body={"clientAccessToken": 7}),
        b"Content-Length: %d\r\n\r\n" % (MAX_ADMISSION_BYTES + 1),
        frame({"type": "event", "seq": 0, "event": "x" * 1000}) * (MAX_ADMISSION_BYTES // 1000 + 1),
    ],
    ids=["http", "tls", "no message", "no json", "surrogate", "refused", "no body", "no text", "long", "endless"],
)
async def test_garbage_is_disconnected(data: bytes, autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        ours, theirs = memory_stream_pair()
        nursery.start_soon(door.door.admit, ours)
        await theirs.receive_some()
        await theirs.send_all(data)
        assert await is_closed(theirs)
        assert trio.current_time() < 1, "at once"
        assert knock(door, nursery, pid=7) is not None
        assert (await door.take(7)).pid == 7


@pytest.mark.parametrize("pid", [None, "7", True, 0, -1, 2**31, 10**30, 1.5])
async def test_a_caller_that_is_not_a_process_is_disconnected(pid: object, autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        pydevd = knock(door, nursery, pid=pid)
        await wait_all_tasks_blocked()
        assert await gone(pydevd)


@pytest.mark.parametrize("answers", [0, 1, 2, 3])
async def test_one_that_hangs_up_or_falls_silent_in_any_phase_is_forgotten(
    answers: int, autojump_clock: MockClock
) -> None:
    async with open_street() as (nursery, door):
        for hangs_up in (True, False):
            ours, theirs = memory_stream_pair()
            nursery.start_soon(door.door.admit, ours)
            pydevd, decoder, taken = Pydevd(theirs, door.token), FrameDecoder(), 0
            before = trio.current_time()
            while taken < answers:
                for body in decoder.feed(bytes(await theirs.receive_some())):
                    if taken < answers:
                        await theirs.send_all(pydevd.answer(json.loads(body)))
                    taken += 1
            if hangs_up:
                await trio.aclose_forcefully(theirs)
            await trio.sleep(door_module.ADMISSION_SECONDS + 1)
            assert door.statistics() == dial_in.DialInStatistics(0, 0, 0, 0)
            if not hangs_up:
                while not await is_closed(theirs):
                    pass
            assert trio.current_time() - before < door_module.ADMISSION_SECONDS + 3


async def test_a_program_of_which_the_shelter_fails_is_debugged_all_the_same(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        ours, theirs = memory_stream_pair()
        pydevd = Pydevd(theirs, door.token, 7)
        answer = pydevd.answer
        pydevd.answer = lambda request: (  # type: ignore[method-assign]
            response(request["seq"], success=False) if request["command"] == "evaluate" else answer(request)
        )
        nursery.start_soon(pydevd.run)
        nursery.start_soon(door.door.admit, ours)
        assert (await door.take(7)).pid == 7


# --- A crowd ----------------------------------------------------------------------------------------------------------


@pytest.mark.real
async def test_silent_strangers_keep_no_program_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real sockets and a real clock: the queue is the system's."""
    monkeypatch.setattr(door_module, "ADMISSION_SECONDS", 1000)  # it is the crowd that costs them their places
    with trio.fail_after(120):
        async with open_street() as (nursery, door):
            address = await door.listen()
            assert await door.listen() == address, "it listens once"
            strangers = [await trio.open_tcp_stream(*address[:2]) for _ in range(door_module.MAX_AT_THE_DOOR + 6)]
            stream = await trio.open_tcp_stream(*address[:2])
            nursery.start_soon(Pydevd(stream, address.token, 7).run)
            caller = await door.take(7)
            assert door.statistics().at_the_door <= door_module.MAX_AT_THE_DOOR
            for each in (caller.stream, *strangers):
                await trio.aclose_forcefully(each)


@pytest.mark.real
async def test_a_hundred_programs_at_once_are_all_admitted_behind_strangers() -> None:
    with trio.fail_after(120):
        async with open_street() as (nursery, door):
            address = await door.listen()
            strangers = [await trio.open_tcp_stream(*address[:2]) for _ in range(door_module.MAX_AT_THE_DOOR)]
            taken: list[int] = []

            async def take(pid: int) -> None:
                caller = await door.take(pid)
                taken.append(caller.pid)
                await trio.aclose_forcefully(caller.stream)

            async with trio.open_nursery() as programs:
                for pid in range(NOBODY, NOBODY + 100):
                    stream = await trio.open_tcp_stream(*address[:2])
                    nursery.start_soon(Pydevd(stream, address.token, pid).run)
                    programs.start_soon(take, pid)
            assert len(taken) == 100
            for each in strangers:
                await trio.aclose_forcefully(each)


# --- Whose child it is ------------------------------------------------------------------------------------------------


class Owner:
    """A session that owns a process: it remembers who was announced."""

    def __init__(self) -> None:
        self.announced: list[IncomingConnection] = []

    def announce(self, caller: IncomingConnection) -> None:
        self.announced.append(caller)


async def test_a_child_is_announced_to_the_owner_of_its_nearest_ancestor(autojump_clock: MockClock) -> None:
    me, parent = os.getpid(), os.getppid()
    async with open_street() as (nursery, door):
        near, far = Owner(), Owner()
        door.owners.own(parent, far.announce)
        knock(door, nursery, pid=NOBODY, parent=me)  # of which only /proc knows the parent
        await wait_all_tasks_blocked()
        assert [each.pid for each in far.announced] == [NOBODY]
        door.owners.own(me, near.announce)
        knock(door, nursery, pid=NOBODY + 1, parent=me)
        await wait_all_tasks_blocked()
        assert [each.pid for each in near.announced] == [NOBODY + 1]
        knock(door, nursery, pid=NOBODY + 2, parent=NOBODY + 3)  # its parent has ended
        await wait_all_tasks_blocked()
        assert [each.pid for each in far.announced] == [NOBODY, NOBODY + 2]
        assert door.statistics() == dial_in.DialInStatistics(at_the_door=0, waiting=3, expected=0, owners=2)
        door.owners.disown(me, far.announce)  # it is not far's
        assert door.statistics().owners == 2


async def test_a_program_that_dials_in_before_its_process_id_is_known_waits_for_its_own_launch(
    autojump_clock: MockClock,
) -> None:
    async with open_street() as (nursery, door):
        other = Owner()
        door.owners.own(1, other.announce)
        with door.owners.launching():
            early = knock(door, nursery, pid=NOBODY, parent=os.getpid())
            stranger = knock(door, nursery, pid=NOBODY + 1, parent=NOBODY + 2)
            await wait_all_tasks_blocked()
            assert not early.was_released
            assert [each.pid for each in other.announced] == [NOBODY + 1]
            assert (await door.take(NOBODY)).pid == NOBODY
        assert not stranger.was_released
        door.owners.disown(1, other.announce)
        late = knock(door, nursery, pid=NOBODY, parent=os.getpid())
        await wait_all_tasks_blocked()
        assert late.was_released


async def test_a_process_that_replaced_itself_is_announced_to_its_own_session(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        nursery.start_soon(later, lambda: knock(door, nursery, pid=7, parent=6))
        first = await door.take(7)
        owner = Owner()
        door.owners.own(7, owner.announce)
        await trio.aclose_forcefully(first.stream)
        knock(door, nursery, pid=7, parent=6)
        await wait_all_tasks_blocked()
        assert [each.pid for each in owner.announced] == [7]
        assert await door.take(7) is owner.announced[0]


async def test_of_one_that_dials_in_twice_before_it_is_taken_the_second_connection_counts(
    autojump_clock: MockClock,
) -> None:
    async with open_street() as (nursery, door):
        owner = Owner()
        door.owners.own(1, owner.announce)
        first = knock(door, nursery, pid=7)
        await wait_all_tasks_blocked()
        second = knock(door, nursery, pid=7)
        await wait_all_tasks_blocked()
        assert first.was_released
        assert not second.was_released
        assert await door.take(7) is owner.announced[1]


async def test_a_child_that_is_not_taken_or_is_dismissed_runs_on(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        door.owners.own(1, Owner().announce)
        forgotten, dismissed = knock(door, nursery, pid=7), knock(door, nursery, pid=8)
        await wait_all_tasks_blocked()
        door.dismiss(8)
        door.dismiss(9)  # which is not there
        await trio.sleep(1)
        assert (dismissed.was_released, forgotten.was_released) == (True, False)
        await trio.sleep(dial_in.TAKE_SECONDS)
        assert forgotten.was_released
        assert door.statistics().waiting == 0


async def test_children_that_wait_when_the_door_closes_run_on(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        async with open_dial_ins() as door:
            door.owners.own(1, Owner().announce)
            callers = [knock(door, nursery, pid=each) for each in range(7, 20)]
            deaf, theirs = memory_stream_pair()
            nursery.start_soon(door.door.admit, deaf)  # noqa: ASYNC111 (admission outlives the door here, on purpose)
            await wait_all_tasks_blocked()
        assert all(each.was_released for each in callers)
        assert await theirs.receive_some()
        while not await is_closed(theirs):
            pass


@pytest.mark.parametrize("why", ["the door closes", "it is too slow"])
async def test_a_debugger_that_had_no_time_to_say_who_it_is_runs_on(why: str, autojump_clock: MockClock) -> None:
    async with open_street() as (_, door):
        ours, theirs = memory_stream_pair()
        async with trio.open_nursery() as admitting:
            admitting.start_soon(door.door.admit, ours)
            await wait_all_tasks_blocked()
            if why == "the door closes":
                admitting.cancel_scope.cancel()
        said = b""
        while data := await theirs.receive_some():
            said += bytes(data)
        commands = [json.loads(body)["command"] for body in FrameDecoder().feed(said)]
        assert commands[-3:] == ["attach", "configurationDone", "disconnect"]


async def test_a_released_debugger_that_does_not_listen_is_given_up_in_time(autojump_clock: MockClock) -> None:
    async with open_street() as (_, door):
        ours, theirs = memory_stream_pair()
        door.release(IncomingConnection(ours, 7, 6))
        await trio.sleep(2)
        while not await is_closed(theirs):
            pass


# --- Cancellation, and what is left -----------------------------------------------------------------------------------


async def test_a_wait_that_was_cancelled_leaves_nothing_and_its_program_runs_on(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        for _ in range(2):
            with trio.move_on_after(1):
                await door.take(7)
        assert door.statistics().expected == 0
        pydevd = knock(door, nursery, pid=7)
        await wait_all_tasks_blocked()
        assert pydevd.was_released


async def test_two_that_wait_for_one_process_get_one_call_each(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        taken: list[IncomingConnection] = []

        async def take() -> None:
            taken.append(await door.take(7))

        nursery.start_soon(take)
        nursery.start_soon(take)
        await wait_all_tasks_blocked()
        for number in (1, 2):
            knock(door, nursery, pid=7)
            await wait_all_tasks_blocked()
            assert len(taken) == number


@pytest.mark.real
async def test_after_a_door_was_open_no_task_and_no_descriptor_is_left() -> None:
    with trio.fail_after(120):
        async with open_dial_ins() as door:
            await door.listen()  # the first use of a socket opens a descriptor or two for good
        tasks_before, descriptors_before = tasks(), descriptors()
        for phase in ("nobody", "stranger", "waiting", "taken", "cancelled"):
            with trio.CancelScope() as scope:
                async with open_street() as (nursery, door):
                    address = await door.listen()
                    door.owners.own(1, Owner().announce)
                    if phase != "nobody":
                        stream = await trio.open_tcp_stream(*address[:2])
                        if phase == "stranger":
                            nursery.start_soon(is_closed, stream)
                        else:
                            nursery.start_soon(Pydevd(stream, address.token, 7).run)
                        while not (door.statistics().at_the_door or door.statistics().waiting):
                            await trio.sleep(0.01)
                        if phase == "taken":
                            await trio.aclose_forcefully((await door.take(7)).stream)
                    if phase == "cancelled":
                        scope.cancel()
                        await trio.sleep(1)
            if phase == "stranger":
                await trio.aclose_forcefully(stream)
        assert tasks() == tasks_before
        assert descriptors() == descriptors_before
