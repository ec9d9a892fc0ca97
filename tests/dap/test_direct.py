"""The direct line as a session sees it: an adapter's stream, whatever becomes of the program and of its connection.

The program's debugger is the fake one of test_dial_in. Its process is this one where it has to live, else a real one.
"""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair, wait_all_tasks_blocked

from tests.dap.test_dial_in import NOBODY, Owner, Pydevd, frame, gone, open_street
from tests.faults.leftovers import descriptors, tasks
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.connection import Connection, EndOfStream, open_connection
from trio_debugmcp.dap.dial_in import DialIns, open_dial_ins
from trio_debugmcp.dap.direct import open_caller, open_injected, open_launched
from trio_debugmcp.dap.messages import BreakpointsBody, OutputEvent, ProgramLost, Request, RunInTerminal, Terminated
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.errors import AdapterGone, AdapterRefused, CannotRun, ProtocolViolation

ME = os.getpid()
WANTED = RunInTerminal(args=["python", "x.py"], cwd="/")
CHILD = {"type": "python"}


class Session:
    """The other end: it runs programs, and remembers the children that are announced to it."""

    def __init__(self, pid: int = ME) -> None:
        self.pid = pid
        self.children: list[dict[str, Any]] = []
        self.refuses: Exception | None = None

    async def serve(self, request: Request) -> object:
        if self.refuses is not None:
            raise self.refuses
        if request.command == "runInTerminal":
            return {"processId": self.pid}
        self.children.append(json.loads(bytes(request.arguments))["configuration"])
        return {}


class Program(Pydevd):
    """A debugger that has dialed in, with all that it is asked."""

    async def event(self, name: str, **body: object) -> None:
        await self.stream.send_all(frame({"type": "event", "seq": 0, "event": name, "body": body}))


def dial(door: DialIns, nursery: trio.Nursery, pid: int = ME, parent: int = 1) -> Program:
    ours, theirs = memory_stream_pair()
    program = Program(theirs, door.token, pid, parent)
    nursery.start_soon(program.run)
    nursery.start_soon(door.door.admit, ours)
    return program


@asynccontextmanager
async def open_line(
    door: DialIns, session: Session, nursery: trio.Nursery, *, launched: bool = True
) -> AsyncIterator[tuple[Connection, Program, Adapter]]:
    """A line over which `initialize` has been answered."""
    line = open_launched(WANTED, door, CHILD) if launched else open_caller(session.pid, door, CHILD)
    if not launched:
        door.owners.own(1, Owner().announce)
        program = dial(door, nursery, session.pid)
        await wait_all_tasks_blocked()
    async with line as adapter, open_connection(adapter.stream, session.serve) as connection:
        if launched:
            nursery.start_soon(connection.request, "initialize")
            await wait_all_tasks_blocked()
            program = dial(door, nursery, session.pid)
            await wait_all_tasks_blocked()
        else:
            await connection.request("initialize")
        assert "initialize" in program.commands
        yield connection, program, adapter


# --- In order ---------------------------------------------------------------------------------------------------------


async def test_the_session_runs_the_program_and_what_it_asked_before_is_passed_on_in_order(
    autojump_clock: MockClock,
) -> None:
    async with open_street() as (nursery, door):
        session = Session()
        async with (
            open_launched(WANTED, door, CHILD) as adapter,
            open_connection(adapter.stream, session.serve) as connection,
            trio.open_nursery() as asking,
        ):
            assert repr(adapter.stream) == "<DirectStream, waiting for pid None>"
            for command in ("initialize", "launch", "threads"):
                asking.start_soon(connection.request, command)
                await wait_all_tasks_blocked()
            assert repr(adapter.stream) == f"<DirectStream, waiting for pid {ME}>"
            program = dial(door, nursery)
            await wait_all_tasks_blocked()
            assert program.commands[3:] == ["initialize", "launch", "threads"]
            await program.event("output", output="hello")
            event = await connection.events.receive()
            assert isinstance(event, OutputEvent)
            assert event.output == "hello"
            assert door.statistics().owners == 1
        assert door.statistics() == type(door.statistics())(0, 0, 0, 0)


async def test_a_program_that_dials_in_before_the_session_has_said_which_it_is_is_debugged(
    autojump_clock: MockClock,
) -> None:
    async with open_street() as (nursery, door), open_launched(WANTED, door, CHILD) as adapter:
        await adapter.stream.send_all(frame({"seq": 1, "type": "request", "command": "initialize"}))
        await adapter.stream.receive_some()
        program = dial(door, nursery, ME, ME)
        await wait_all_tasks_blocked()
        answer = {"seq": 2, "type": "response", "request_seq": 2_000_000_000, "success": True}
        await adapter.stream.send_all(frame({**answer, "command": "runInTerminal", "body": {"processId": ME}}))
        await wait_all_tasks_blocked()
        assert "initialize" in program.commands


async def test_a_program_that_cannot_be_run_ends_the_line(autojump_clock: MockClock) -> None:
    async with open_street() as (_, door):
        session = Session()
        session.refuses = CannotRun("python", "no such file")
        async with (
            open_launched(WANTED, door, CHILD) as adapter,
            open_connection(adapter.stream, session.serve) as connection,
        ):
            with pytest.raises(AdapterGone):
                await connection.request("initialize")


async def test_children_are_announced_also_to_a_session_that_reads_late(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        session = Session()
        async with open_line(door, session, nursery) as (_, _, _):
            for each in range(100):
                dial(door, nursery, NOBODY + each, ME)
            await wait_all_tasks_blocked()
            assert sorted(each["subProcessId"] for each in session.children) == [*range(NOBODY, NOBODY + 100)]
            assert session.children[0] == {
                "type": "python", "subProcessId": session.children[0]["subProcessId"], "parentProcessId": ME,
                "dialedIn": True,
            }  # fmt: skip
            assert door.statistics().waiting == 100


async def test_a_child_that_the_session_refuses_runs_on(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        session = Session()
        async with open_line(door, session, nursery):
            session.refuses = AdapterRefused("startDebugging", "the session is over")
            child = dial(door, nursery, NOBODY, ME)
            await wait_all_tasks_blocked()
            assert child.was_released


async def test_a_child_that_is_announced_while_the_line_closes_runs_on(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        session = Session()
        async with open_launched(WANTED, door, CHILD) as adapter:
            await adapter.stream.send_all(frame({"seq": 1, "type": "request", "command": "initialize"}))
            await adapter.stream.receive_some()
            answer = {"seq": 2, "type": "response", "request_seq": 2_000_000_000, "success": True}
            await adapter.stream.send_all(frame({**answer, "command": "runInTerminal", "body": {"processId": ME}}))
            dial(door, nursery)
            await wait_all_tasks_blocked()
            children = [dial(door, nursery, NOBODY + each, ME) for each in range(100)]
            await wait_all_tasks_blocked()
            assert not any(child.was_released for child in children)
        await wait_all_tasks_blocked()
        assert all(child.was_released for child in children)
        assert session.children == []


# --- The end of the connection, and of the process --------------------------------------------------------------------


def silent(request: object) -> bytes:
    return b""


async def test_a_program_that_was_asked_to_end_has_ended_once_its_connection_has(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        session = Session()
        async with open_line(door, session, nursery) as (connection, program, _):
            program.answer = silent  # type: ignore[method-assign] # it has no time for an answer
            nursery.start_soon(connection.request, "disconnect", {"terminateDebuggee": True})
            await wait_all_tasks_blocked()
            await trio.aclose_forcefully(program.stream)
            await trio.sleep(1)
            with pytest.raises(AdapterRefused, match="the program has ended"):
                await connection.request("scopes", {"frameId": 1})


async def test_a_program_that_replaces_itself_keeps_its_session_and_is_announced_as_its_child(
    autojump_clock: MockClock,
) -> None:
    async with open_street() as (nursery, door):
        session = Session()
        async with open_line(door, session, nursery) as (connection, program, adapter):
            program.answer = silent  # type: ignore[method-assign] # it has no time for an answer
            refusals: list[str] = []

            async def ask() -> None:
                with pytest.raises(AdapterRefused) as refused:
                    await connection.request("stackTrace", {"threadId": 1})
                refusals.append(refused.value.reason)

            nursery.start_soon(ask)
            await wait_all_tasks_blocked()
            await program.event("exited", exitCode=-1, pydevdReason="processReplaced")
            await trio.aclose_forcefully(program.stream)
            await trio.sleep(1)
            assert refusals[0].startswith("the program has left the debugger")
            await ask()
            assert (await connection.request("threads", None, dict[str, Any])) == {"threads": []}
            body = {"source": {"path": "/x.py"}, "breakpoints": [{"line": 1}, {"line": 2}]}
            placed = await connection.request("setBreakpoints", body, BreakpointsBody)
            assert [each.verified for each in placed.breakpoints or ()] == [False, False]
            assert "has left" in repr(adapter.stream)
            again = dial(door, nursery, ME, ME)
            await wait_all_tasks_blocked()
            assert [each["subProcessId"] for each in session.children] == [ME]
            async with (
                open_caller(ME, door, CHILD) as child,
                open_connection(child.stream, session.serve) as child_connection,
            ):
                await child_connection.request("initialize")
                dial(door, nursery, NOBODY, ME)
                await wait_all_tasks_blocked()
                assert session.children[-1]["subProcessId"] == NOBODY
            assert "initialize" in again.commands
            await connection.request("disconnect", {"terminateDebuggee": True})
            lost = await connection.events.receive()
            assert isinstance(lost, ProgramLost)
            assert lost.reason == refusals[0]
            assert connection.events.statistics().current_buffer_used == 0, "it has not ended"


async def test_a_program_that_leaves_without_a_word_is_reported_on_the_console(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        session = Session()
        async with open_line(door, session, nursery) as (connection, program, _):
            await trio.aclose_forcefully(program.stream)  # os.closerange, for example; the process lives
            told = await connection.events.receive()
            assert isinstance(told, OutputEvent)
            assert told.category == "console"
            assert told.output.startswith("the program has left the debugger")
            assert "tracepoints have no effect" in told.output
            with pytest.raises(AdapterRefused, match="has left"):
                await connection.request("stackTrace", {"threadId": 1})
            await connection.request("disconnect", {"terminateDebuggee": True})


async def killed(process: trio.Process) -> None:
    process.kill()
    await process.wait()


@pytest.mark.real
@pytest.mark.parametrize("how", ["killed", "closed first", "terminated"])
async def test_the_end_of_a_process_is_reported_once_and_when_it_has_ended(how: str) -> None:
    """Its socket may stay open for longer: a forked child has it as well. A real process, and a real clock."""
    process = await trio.lowlevel.open_process(["sleep", "60"])
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery, open_dial_ins() as door:
            session = Session(process.pid)
            async with open_line(door, session, nursery) as (connection, program, _):
                match how:
                    case "killed":
                        await killed(process)
                    case "closed first":
                        await trio.aclose_forcefully(program.stream)
                        await trio.sleep(0.1)
                        assert connection.events.statistics().current_buffer_used == 0
                        await killed(process)
                    case _:
                        await program.event("terminated", restart=False)
                        await wait_all_tasks_blocked()
                        assert connection.events.statistics().current_buffer_used == 0, "it has not ended yet"
                        await killed(process)
                assert isinstance(await connection.events.receive(), Terminated)
                assert isinstance(await connection.events.receive(), EndOfStream)
            nursery.cancel_scope.cancel()


@pytest.mark.real
async def test_a_program_that_ends_before_it_dials_in_refuses_the_start() -> None:
    with trio.fail_after(120):
        process = await trio.lowlevel.open_process(["true"])
        await process.wait()
        async with open_dial_ins() as door:
            session = Session(process.pid)
            async with (
                open_launched(WANTED, door, CHILD) as adapter,
                open_connection(adapter.stream, session.serve) as connection,
            ):
                with pytest.raises(AdapterRefused, match="ended before the debugger inside it had connected"):
                    await connection.request("initialize")


async def test_garbage_of_the_program_is_a_violation_and_what_preceded_it_is_delivered(
    autojump_clock: MockClock,
) -> None:
    async with open_street() as (nursery, door):
        async with open_line(door, Session(), nursery) as (connection, program, _):
            await program.event("output", output="hello")
            await program.stream.send_all(b"Fatal Python error: Segmentation fault\n")
            assert isinstance(await connection.events.receive(), OutputEvent)
            end = await connection.events.receive()
            assert isinstance(end, EndOfStream)
            assert isinstance(end.violation, ProtocolViolation)
        assert await gone(program)


# --- Detaching and closing --------------------------------------------------------------------------------------------


async def test_after_a_detach_the_connection_is_closed_and_children_run_on(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        session = Session()
        async with open_line(door, session, nursery) as (connection, program, _):
            await connection.request("configurationDone")
            await connection.request("disconnect", {"terminateDebuggee": False})
            await wait_all_tasks_blocked()
            assert await gone(program)
            late = dial(door, nursery, NOBODY, ME)
            await wait_all_tasks_blocked()
            assert late.was_released
            assert session.children == []


@pytest.mark.parametrize("configured", [True, False])
@pytest.mark.parametrize("launched", [True, False])
@pytest.mark.parametrize("goodbye", [True, False])
async def test_a_process_that_is_not_ours_is_never_left_waiting(
    launched: bool, configured: bool, goodbye: bool, autojump_clock: MockClock
) -> None:
    """A launched one must not run: its session is about to kill it."""
    async with open_street() as (nursery, door):
        async with open_line(door, Session(), nursery, launched=launched) as (connection, program, _):
            if configured:
                await connection.request("configurationDone")
            if goodbye:
                await connection.request("disconnect", {"terminateDebuggee": launched})
        await wait_all_tasks_blocked()
        assert ("configurationDone" in program.commands) == (configured or not launched)
        assert await gone(program)


async def test_closing_twice_is_closing_once(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        async with open_line(door, Session(), nursery) as (_, _, adapter):
            for _ in range(3):
                await adapter.stream.aclose()
            with pytest.raises(trio.ClosedResourceError):
                await adapter.stream.send_all(b"")
            with pytest.raises(trio.ClosedResourceError):
                await adapter.stream.receive_some()
        await adapter.stream.aclose()


@pytest.mark.parametrize("phase", ["nothing", "asked", "dialing in", "dialed in", "configured", "lost"])
async def test_a_line_that_is_cancelled_in_any_phase_leaves_no_task_and_no_owner(
    phase: str, autojump_clock: MockClock
) -> None:
    async with open_street() as (nursery, door):
        await wait_all_tasks_blocked()
        before = tasks()
        with trio.CancelScope() as scope:
            async with (
                open_launched(WANTED, door, CHILD) as adapter,
                open_connection(adapter.stream, Session().serve) as connection,
                trio.open_nursery() as asking,
            ):
                if phase != "nothing":
                    asking.start_soon(connection.request, "initialize")
                    await wait_all_tasks_blocked()
                if phase not in ("nothing", "asked"):
                    program = dial(door, nursery)
                if phase in ("dialed in", "configured", "lost"):
                    await wait_all_tasks_blocked()
                if phase == "configured":
                    await connection.request("configurationDone")
                if phase == "lost":
                    await trio.aclose_forcefully(program.stream)
                    await trio.sleep(1)
                scope.cancel()
                await trio.sleep(1)
        await trio.sleep(60)
        assert tasks() == before
        assert door.statistics() == type(door.statistics())(0, 0, 0, 0)


# --- Injecting --------------------------------------------------------------------------------------------------------


@pytest.mark.real
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo one >&2; echo the reason >&2; exit 3", "the reason"),
        ("exit 3", r"the debugger could not be put into the process \(exit code 3\)"),
        (
            "echo subprocess.CalledProcessError: Command gdb with a token >&2; exit 3",
            r"the debugger could not be put into the process \(exit code 3\)",
        ),
        ('echo "gdb: $0" >&2; exit 3', r"the debugger could not be put into the process \(exit code 3\)"),
    ],
)
async def test_an_injector_that_fails_refuses_the_start_with_its_last_line(script: str, reason: str) -> None:
    watchdog = Watchdog()
    with trio.fail_after(120):
        async with (
            open_dial_ins() as door,
            open_injected(ME, ["sh", "-c", script, "a-token-of-the-door"], door, watchdog, CHILD) as adapter,
            open_connection(adapter.stream, Session().serve) as connection,
        ):
            with pytest.raises(AdapterRefused, match=reason):
                await connection.request("initialize")
    watchdog.close()


@pytest.mark.real
async def test_an_injector_that_cannot_be_run_or_is_cancelled_leaves_no_descriptor() -> None:
    watchdog = Watchdog()

    async def attempt(door: DialIns, *command: str) -> None:
        with trio.move_on_after(0.2):
            async with (
                open_injected(ME, command, door, watchdog, CHILD) as adapter,
                open_connection(adapter.stream, Session().serve) as connection,
            ):
                with pytest.raises(AdapterRefused, match="No such file"):
                    await connection.request("initialize")

    with trio.fail_after(120):
        async with open_dial_ins() as door:
            await attempt(door, "sleep", "60")
            before = descriptors()
            await attempt(door, "/nowhere/python")
            await attempt(door, "sleep", "60")
            assert descriptors() == before
    watchdog.close()
