"""One test for each fact of pydevd that the direct line believes in: a debugpy that changes one fails by name.

Programs are started as profiles/python/debugpy.py does, but there is no session: the test speaks to pydevd.
"""

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.patience import FACTOR
from tests.real.conftest import line_of, program
from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.dap.connection import Connection, EndOfStream, open_connection
from trio_debugmcp.dap.dial_in import DialIns, open_dial_ins
from trio_debugmcp.dap.incoming_connection import RELEASE_SECONDS, IncomingConnection, release
from trio_debugmcp.dap.listener import ListenerAddress
from trio_debugmcp.dap.messages import Exited, Initialized, Request, Stopped, Terminated
from trio_debugmcp.dap.profiles import Launch
from trio_debugmcp.dap.profiles.python.dialing_pydevd import debugpy_package, dial_arguments
from trio_debugmcp.dap.profiles.python.runnable import UNFROZEN, interpreter_command, target_words
from trio_debugmcp.dap.watchdog_process import signal_session
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.patience import MAX_FACTOR, Patience

PATIENT = Patience(FACTOR)
SECONDS = 400

FORKS = """
import os
pid = os.fork()
if not pid:
    print("child runs", flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print("parent ends", flush=True)
"""

CAPABILITIES = """
ConfigurationDoneRequest ConditionalBreakpoints HitConditionalBreakpoints LogPoints FunctionBreakpoints SetVariable
SetExpression GotoTargetsRequest StepInTargetsRequest ExceptionInfoRequest ExceptionOptions CompletionsRequest
ModulesRequest TerminateRequest
"""


class Line:
    """A running program and the door where it dials in."""

    def __init__(self, door: DialIns, process: trio.Process) -> None:
        self.door = door
        self.process = process
        self.children: list[IncomingConnection] = []

    async def said(self) -> str:
        """What the program has written when it has ended."""
        assert self.process.stdout is not None
        written = b"".join([bytes(data) async for data in self.process.stdout])
        await self.process.wait()
        return written.decode()

    async def child(self) -> IncomingConnection:
        """The next child that dials in."""
        while not self.children:
            await trio.sleep(0.01)
        child = self.children.pop(0)
        return await self.door.take(child.pid)


def command(address: ListenerAddress, code: str) -> list[str]:
    launch = Launch("-c", options={"code": code, "python": sys.executable})
    return [
        *interpreter_command(None, launch.options),
        *UNFROZEN,
        debugpy_package(),
        *dial_arguments(address, {}),
        *target_words(launch),
    ]


@asynccontextmanager
async def running(code: str) -> AsyncIterator[Line]:
    with trio.fail_after(SECONDS):
        async with open_dial_ins(PATIENT) as door:
            process = await trio.lowlevel.open_process(
                command(await door.listen(), code),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            assert process.stdout is not None
            async with process.stdout:
                try:
                    line = Line(door, process)
                    door.owners.own(process.pid, line.children.append)
                    yield line
                finally:
                    signal_session(process.pid, signal.SIGKILL)  # with a child that hangs
                    with trio.move_on_after(5, shield=True):
                        await process.wait()


async def refuse(request: Request) -> object:
    raise AdapterRefused(request.command, "not here")


@asynccontextmanager
async def speaking(caller: IncomingConnection) -> AsyncIterator[Connection]:
    async with open_connection(caller.stream, refuse) as connection:
        yield connection


async def ask(connection: Connection, command: str, arguments: object = None) -> Any:
    return await connection.request(command, arguments, dict[str, Any])


async def next_event(connection: Connection, *kinds: type[Any]) -> Any:
    while not isinstance(event := await connection.events.receive(), kinds):
        assert not isinstance(event, EndOfStream), event
    return event


async def configure(connection: Connection, command: str = "attach", **arguments: object) -> None:
    await connection.request("initialize", {"adapterID": "debugpy", "pathFormat": "path"})
    await connection.request(command, {"justMyCode": True, **arguments})
    await next_event(connection, Initialized)
    await connection.request("configurationDone")


# --- Dialing in -------------------------------------------------------------------------------------------------------


async def test_the_token_of_the_command_line_is_shown_on_request_and_there_is_none_without() -> None:
    with trio.fail_after(SECONDS):
        for token in ("the token", None):
            [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
            words = command(ListenerAddress("127.0.0.1", listener.socket.getsockname()[1], "the token"), "pass")
            if token is None:
                place = words.index("--adapter-access-token")
                del words[place : place + 2]
            process = await trio.lowlevel.open_process(words)
            async with listener, await listener.accept() as stream, open_connection(stream, refuse) as connection:
                body = await ask(connection, "pydevdAuthorize", {"debugServerAccessToken": None})
                assert body == {"clientAccessToken": token}
                process.kill()
                await process.wait()


async def test_a_program_says_which_process_and_which_python_it_is_and_whose_child() -> None:
    async with running(FORKS) as line:
        parent = await line.door.take(line.process.pid)
        async with speaking(parent) as connection:
            body = await ask(connection, "pydevdSystemInfo")
            assert body["process"]["pid"] == line.process.pid
            assert body["python"]["version"].startswith("{}.{}.{}".format(*sys.version_info))
            await configure(connection)
            child = await line.child()
            assert child.parent_pid == line.process.pid
            await release(child.stream, PATIENT)
            assert await line.said() == "child runs\nparent ends\n"


async def test_pydevd_can_do_what_its_adapter_passed_on() -> None:
    async with running("pass") as line, speaking(await line.door.take(line.process.pid)) as connection:
        capabilities = await ask(connection, "initialize", {"adapterID": "debugpy"})
        for name in CAPABILITIES.split():
            assert capabilities["supports" + name] is True


# --- Running ----------------------------------------------------------------------------------------------------------


async def test_a_launch_that_stops_at_the_entry_says_so_and_a_breakpoint_says_which() -> None:
    file = program("steps.py")
    code = f"exec(compile(open({file!r}).read(), {file!r}, 'exec'))"
    async with running(code) as line, speaking(await line.door.take(line.process.pid)) as connection:
        await ask(connection, "initialize", {"adapterID": "debugpy", "pathFormat": "path", "linesStartAt1": True})
        await ask(connection, "launch", {"stopOnEntry": True, "program": file})
        wanted = {"source": {"path": file}, "breakpoints": [{"line": line_of("steps.py", "tripled =")}]}
        placed = await ask(connection, "setBreakpoints", wanted)
        await ask(connection, "configurationDone")
        entry = await next_event(connection, Stopped)
        assert entry.reason == "entry"
        await ask(connection, "continue", {"threadId": entry.thread_id})
        stop = await next_event(connection, Stopped)
        assert stop.reason == "breakpoint"
        assert stop.hit_breakpoint_ids == [placed["breakpoints"][0]["id"]]
        await ask(connection, "disconnect", {"terminateDebuggee": True})
        await line.process.wait()


async def test_an_evaluation_without_a_frame_is_answered_before_the_start_and_while_every_thread_waits() -> None:
    code = "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()"
    async with running(code) as line, speaking(await line.door.take(line.process.pid)) as connection:
        question = {"expression": "__import__('sys').modules['__main__'].__name__", "context": "repl"}
        assert (await ask(connection, "evaluate", question))["result"] == "__main__"
        await configure(connection)
        await trio.sleep(0.3)
        assert (await ask(connection, "evaluate", question))["result"] == "__main__"


async def test_terminated_comes_before_the_end_and_no_exited() -> None:
    code = "import os; os.write(1, b'hello')"
    async with running(code) as line, speaking(await line.door.take(line.process.pid)) as connection:
        await configure(connection)
        event = await next_event(connection, Terminated, Exited)
        assert isinstance(event, Terminated)
        assert await line.said() == "hello"
        assert line.process.returncode == 0


async def test_before_an_exec_exited_says_that_the_process_is_replaced_and_it_dials_in_anew() -> None:
    code = "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print(7)'])"
    async with running(code) as line:
        first = await line.door.take(line.process.pid)
        stream = first.stream
        for number, command in enumerate(("attach", "configurationDone"), 1000):
            request = {"seq": number, "type": "request", "command": command, "arguments": {}}
            await stream.send_all(encode_frame(json.dumps(request).encode()))
        received = b"".join([bytes(data) async for data in stream])
        await stream.aclose()
        assert b'"pydevdReason": "processReplaced"' in received
        second = await line.child()
        assert second.pid == line.process.pid
        await release(second.stream, PATIENT)
        assert (await line.said()).endswith("7\n")


# --- Releasing --------------------------------------------------------------------------------------------------------


async def test_a_program_waits_until_it_is_configured_and_a_release_lets_it_run() -> None:
    async with running("print('hello')") as line:
        caller = await line.door.take(line.process.pid)
        await trio.sleep(0.3)
        assert line.process.poll() is None
        before = trio.current_time()
        await release(caller.stream, Patience(MAX_FACTOR))
        assert trio.current_time() - before < RELEASE_SECONDS * MAX_FACTOR, "pydevd has closed the connection"
        assert await line.said() == "hello\n"


@pytest.mark.parametrize("where", ["before it may run", "while it is stopped"])
async def test_a_program_whose_connection_ends_runs_on(where: str) -> None:
    """Before it may run, only a forked one does: for another one the shelter comes too late, so it is released."""
    async with running(FORKS) as line:
        parent = await line.door.take(line.process.pid)
        async with speaking(parent) as connection:
            await configure(connection, "launch", stopOnEntry=where == "while it is stopped", program="<string>")
            if where == "before it may run":
                await trio.aclose_forcefully((await line.child()).stream)
        assert await line.said() == "child runs\nparent ends\n"


async def test_children_of_a_program_that_was_detached_from_do_not_dial_in(tmp_path: Path) -> None:
    detached = tmp_path / "detached"
    code = f"import os, time\nwhile not os.path.exists({str(detached)!r}): time.sleep(0.01)\n" + FORKS
    code += "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'exit(9)']).returncode)"
    async with running(code) as line:
        async with speaking(await line.door.take(line.process.pid)) as connection:
            await configure(connection)
            await ask(connection, "disconnect", {"terminateDebuggee": False})
        detached.touch()
        assert await line.said() == "child runs\nparent ends\n9\n"
        assert line.children == []


async def test_a_dead_door_does_not_make_a_fork_raise() -> None:
    async with running(FORKS) as line:
        parent = await line.door.take(line.process.pid)
        async with speaking(parent) as connection:
            where = {"expression": "__import__('pydevd').SetupHolder.setup.update(port=1)", "context": "repl"}
            await ask(connection, "evaluate", where)
            await configure(connection)
            said = await line.said()
        assert said.endswith("child runs\nparent ends\n")
        assert "Could not connect" in said
