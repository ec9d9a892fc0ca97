"""Our adapter for Lua with real programs, each under every interpreter of this machine; the test is its session."""

import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from trio_debugmcp.dap.codec import decode_body
from trio_debugmcp.dap.connection import Connection, EndOfStream, open_connection
from trio_debugmcp.dap.lua.lua_adapter import open_lua
from trio_debugmcp.dap.messages import Capabilities, OutputEvent, Request, RunInTerminal, Stopped, Terminated
from trio_debugmcp.dap.process import Watchdog, environment, open_process

INTERPRETERS = ("lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit")

TEST_SECONDS = 120


class LuaSession:
    """What a session does with the adapter, for tests."""

    def __init__(self, connection: Connection, program: Path) -> None:
        self.connection = connection
        self.program = program
        self.output = bytearray()
        self.errors = bytearray()
        self.exit_code: int | None = None
        self.pid = -1
        self.runs = trio.Event()
        self.said: list[str] = []
        self.functions: list[str] = []
        self.function_answers: list[dict[str, Any]] = []

    async def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return await self.connection.request(command, arguments, dict[str, Any])

    async def launch(
        self, *lines: int, entry: bool = False, filters: tuple[str, ...] = ("uncaught",), args: tuple[str, ...] = ()
    ) -> Stopped | None:
        """Start the program with breakpoints on these lines; return the first stop, None if it ends without one."""
        await self.connection.request("initialize", {}, Capabilities)
        async with trio.open_nursery() as nursery:
            wanted = {"program": str(self.program), "cwd": str(self.program.parent), "args": args, "stopOnEntry": entry}
            nursery.start_soon(lambda: self.ask("launch", **wanted))
            await self.set(*lines)
            await self.ask("setExceptionBreakpoints", filters=filters)
            names = [{"name": name} for name in self.functions]
            self.function_answers = (await self.ask("setFunctionBreakpoints", breakpoints=names))["breakpoints"]
            await self.ask("configurationDone")
        stop = await self.stop()
        await self.runs.wait()  # the program may have stopped before its id is known here
        return stop

    async def set(self, *lines: int, **more: Any) -> list[dict[str, Any]]:
        places = [{"line": line, **more} for line in lines]
        answer = await self.ask("setBreakpoints", source={"path": str(self.program)}, breakpoints=places)
        return list(answer["breakpoints"])

    async def stop(self) -> Stopped | None:
        async for event in self.connection.events:
            if isinstance(event, Stopped):
                return event
            if isinstance(event, OutputEvent):
                self.said.append(event.output)
            if isinstance(event, Terminated | EndOfStream):
                return None
        return None

    async def go(self, command: str = "continue") -> Stopped | None:
        await self.ask(command, threadId=1)
        return await self.stop()

    async def stack(self) -> list[tuple[str, int]]:
        answer = await self.ask("stackTrace", threadId=1)
        return [(frame["name"], frame["line"]) for frame in answer["stackFrames"]]

    async def line(self) -> int:
        return (await self.stack())[0][1]

    async def scope(self, name: str = "Locals", frame: int = 1) -> dict[str, dict[str, Any]]:
        scopes = (await self.ask("scopes", frameId=frame))["scopes"]
        (reference,) = [scope["variablesReference"] for scope in scopes if scope["name"] == name]
        return await self.inside(reference)

    async def inside(self, reference: int) -> dict[str, dict[str, Any]]:
        answer = await self.ask("variables", variablesReference=reference)
        return {each["name"]: each for each in answer["variables"]}

    async def values(self, name: str = "Locals", frame: int = 1) -> dict[str, str]:
        return {name: each["value"] for name, each in (await self.scope(name, frame)).items()}

    async def evaluate(self, expression: str, frame: int = 1) -> str:
        return str((await self.ask("evaluate", expression=expression, frameId=frame))["result"])


OpenLua = Callable[[str], AbstractAsyncContextManager[LuaSession]]


@pytest.fixture(params=INTERPRETERS)
def lua(request: pytest.FixtureRequest, tmp_path: Path) -> OpenLua:
    """`async with lua(text) as session:` a program of this text, with each interpreter that is installed."""
    interpreter = shutil.which(request.param)
    if interpreter is None and request.param != "lua5.4" and any(map(shutil.which, INTERPRETERS)):
        pytest.skip(f"{request.param} is not installed")
    if interpreter is None:
        reason = "lua5.4 is not installed: apt-get install lua5.4"
        pytest.fail(reason) if os.environ.get("REQUIRE_ADAPTERS") else pytest.skip(reason)
    return lambda text: opened(interpreter, tmp_path, text)


@asynccontextmanager
async def opened(interpreter: str, directory: Path, text: str) -> AsyncIterator[LuaSession]:
    program = directory / "program.lua"
    program.write_text(text)
    watchdog = Watchdog()
    session: LuaSession | None = None

    async def serve(request: Request) -> object:
        assert session is not None
        wanted = decode_body(request.arguments, RunInTerminal)
        session.pid = await nursery.start(run, session, wanted)
        session.runs.set()
        return {"processId": session.pid}

    async def run(session: LuaSession, wanted: RunInTerminal, *, task_status: trio.TaskStatus[int]) -> None:
        async with open_process(wanted.args, watchdog, cwd=wanted.cwd, env=environment(wanted.env or {})) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            task_status.started(process.pid)
            async with trio.open_nursery() as readers:
                readers.start_soon(read, process.stdout, session.output)
                readers.start_soon(read, process.stderr, session.errors)
            session.exit_code = await process.wait()

    with trio.fail_after(TEST_SECONDS):
        try:
            async with (
                trio.open_nursery() as nursery,
                open_lua([interpreter], watchdog) as adapter,
                open_connection(adapter.stream, serve) as connection,
            ):
                session = LuaSession(connection, program)
                yield session
                nursery.cancel_scope.cancel(reason="the test is over")
        finally:
            watchdog.close()


async def read(pipe: trio.abc.ReceiveStream, into: bytearray) -> None:
    async for data in pipe:
        into += data
