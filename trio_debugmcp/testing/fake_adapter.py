"""`FakeAdapter`: a debug adapter that does as a test tells it, on a memory stream.

It answers every request at once with something plausible, remembers what it was asked, and stops or ends its
imaginary program when the test says so. Any answer can be replaced, delayed or withheld.

    adapter = FakeAdapter()
    adapter.frames = [("work", "/src/app.py", 12), ("main", "/src/app.py", 30)]
    async with connect(options=adapter.options()) as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await adapter.stop("breakpoint", hit=[1])
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import count
from typing import Any, ClassVar

import trio
import trio.testing

from trio_debugmcp.app import Options
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.framing import FrameDecoder, encode_frame
from trio_debugmcp.dap.profiles import Attach, Launch, Profile
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.session.debugger import Settings

Arguments = dict[str, Any]
Answer = Callable[[Arguments], Awaitable[Any]]
Say = Callable[[dict[str, Any]], Awaitable[None]]
Twist = Callable[[dict[str, Any], Say], Awaitable[None]]
"""Gets each message that an adapter is about to say, and a way to say it: late, twice, changed, or not at all."""
Wrap = Callable[[trio.abc.Stream], trio.abc.Stream]

ALL_CAPABILITIES: dict[str, Any] = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsExceptionInfoRequest": True,
    "exceptionBreakpointFilters": [
        {"filter": "raised", "label": "Raised"},
        {"filter": "uncaught", "label": "Uncaught"},
    ],
}


class Refusal(Exception):
    """Raised by an answer: the request fails with this text."""


class FakeAdapter:
    """The adapter and its imaginary program. One connection at a time; launching again starts the program anew."""

    program = __file__
    """A file that exists, to launch."""

    def __init__(self, capabilities: Mapping[str, Any] = ALL_CAPABILITIES) -> None:
        self.capabilities = dict(capabilities)
        self.requests: list[tuple[str, Arguments]] = []
        self.on_request: Callable[[str, Arguments], None] | None = None
        self.threads: list[tuple[int, str]] = [(1, "MainThread")]
        self.frames: list[tuple[str, str, int]] = [("main", "/src/app.py", 1)]
        self.locals: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self.says_initialized = True
        self.connected = trio.Event()
        self.children: dict[int, FakeAdapter] = {}
        self.deaf = False
        self._say: Say = self._write
        self._wraps: list[Wrap] = []
        self._adapter: Adapter | None = None
        self._answers: dict[str, Answer] = {}
        self._afterwards: dict[str, Callable[[], Awaitable[None]]] = {}
        self._seq = count(1)
        self._breakpoint_ids = count(1)
        self._stream: trio.abc.Stream | None = None
        self._configured = trio.Event()
        self._writing = trio.Lock()
        self._reverse: dict[int, trio.MemorySendChannel[Arguments]] = {}

    def options(self, **changes: Any) -> Options:
        """Server options whose only debug adapter is this one."""
        return Options(settings=Settings(directory="/", profiles=(FakeProfile(self),)), **changes)

    def commands(self) -> list[str]:
        """The commands received, in order."""
        return [command for command, _ in self.requests]

    def sent(self, command: str) -> list[Arguments]:
        """The arguments of every request of that command."""
        return [arguments for name, arguments in self.requests if name == command]

    # --- Script -------------------------------------------------------------------------------------------------------

    def answer(self, command: str, answer: Answer, then: Callable[[], Awaitable[None]] | None = None) -> None:
        """Answer that command with what the coroutine function returns, or refuse if it raises `Refusal`.

        `then` is awaited once the answer is sent.
        """
        self._answers[command] = answer
        self._afterwards.pop(command, None)
        if then is not None:
            self._afterwards[command] = then

    def withhold(self, command: str) -> None:
        """Never answer that command."""
        self._answers[command] = _never

    def answer_to(self, command: str) -> Answer:
        """How it answers that command now, for an answer that begins or ends with it."""
        own: Answer = getattr(self, f"_on_{command}", self._on_anything)
        return self._answers.get(command, own)

    def twist(self, twist: Twist) -> None:
        """From now on whatever it says, but for raw bytes, goes through this."""
        say = self._say
        self._say = lambda message: twist(message, say)

    def wrap(self, wrap: Wrap) -> None:
        """Put a wrapper around its end of the connection: of the one that is open, and of later ones."""
        self._wraps.append(wrap)
        if self._stream is not None:
            self._stream = wrap(self._stream)

    def complain(self, text: str) -> None:
        """Write to its standard error."""
        if self._adapter is not None:
            self._adapter.keep_stderr(text.encode())

    async def event(self, name: str, body: Any = None) -> None:
        """Send an event."""
        await self._send({"type": "event", "event": name, "body": {} if body is None else body})

    async def stop(self, reason: str = "step", *, thread: int = 1, hit: Sequence[int] = (), **more: Any) -> None:
        """The program stops."""
        body = {"reason": reason, "threadId": thread, "allThreadsStopped": True, **more}
        if hit:
            body["hitBreakpointIds"] = list(hit)
        await self.event("stopped", body)

    async def exit(self, code: int = 0) -> None:
        """The program ends."""
        await self.event("exited", {"exitCode": code})
        await self.event("terminated")

    async def reverse_request(self, command: str, arguments: Arguments) -> Arguments:
        """Ask the client for something and wait for its answer, as the whole message."""
        seq = next(self._seq)
        answer, answered = trio.open_memory_channel[Arguments](1)
        self._reverse[seq] = answer
        await self._write({"seq": seq, "type": "request", "command": command, "arguments": arguments})
        return await answered.receive()

    async def crash(self) -> None:
        """The connection breaks off."""
        if self._stream is not None:
            await trio.aclose_forcefully(self._stream)

    async def mute(self) -> None:
        """Its half of the connection ends; it still listens."""
        if isinstance(self._stream, trio.abc.HalfCloseableStream):
            await self._stream.send_eof()

    async def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be DAP."""
        stream = self._stream
        if stream is not None:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                async with self._writing:
                    await stream.send_all(data)

    # --- Serving ------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Adapter]:
        """A connection to this adapter, for as long as the block."""
        ours, theirs = trio.testing.memory_stream_pair()
        self._stream, self._configured = theirs, trio.Event()
        for wrap in self._wraps:
            self._stream = wrap(self._stream)
        self._adapter = Adapter(ours)
        # A real adapter is not cancelled with its session either: it hears the goodbye and answers it.
        serving = trio.CancelScope(shield=True)

        async def serve(*, task_status: trio.TaskStatus[None]) -> None:
            with serving:
                async with trio.open_nursery() as nursery:
                    task_status.started()
                    await self._serve(nursery)

        async with trio.open_nursery() as outer:
            await outer.start(serve)
            self.connected.set()
            try:
                yield self._adapter
            finally:
                serving.cancel(reason="the fake adapter is closed")

    async def _serve(self, nursery: trio.Nursery) -> None:
        decoder = FrameDecoder()
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while self._stream is not None and (data := await self._stream.receive_some()):
                if self.deaf:
                    await trio.sleep_forever()
                for body in decoder.feed(bytes(data)):
                    message = json.loads(body)
                    if message["type"] == "response":
                        if (asker := self._reverse.pop(message["request_seq"], None)) is not None:
                            asker.send_nowait(message)
                        continue
                    self.requests.append((message["command"], message.get("arguments") or {}))
                    if self.on_request is not None:
                        self.on_request(*self.requests[-1])
                    nursery.start_soon(self._respond, message)

    async def _respond(self, request: dict[str, Any]) -> None:
        command, arguments = request["command"], request.get("arguments") or {}
        answer = self.answer_to(command)
        response: dict[str, Any] = {"type": "response", "request_seq": request["seq"], "command": command}
        try:
            response |= {"success": True, "body": await answer(arguments)}
        except Refusal as refusal:
            response |= {"success": False, "message": str(refusal)}
        await self._send(response)
        if command == "initialize" and self.says_initialized:
            await self.event("initialized")
        if command in self._afterwards:
            await self._afterwards[command]()

    async def _send(self, message: dict[str, Any]) -> None:
        await self._say({"seq": next(self._seq), **message})

    async def _write(self, message: dict[str, Any]) -> None:
        await self.send_raw(encode_frame(json.dumps(message).encode()))

    # --- Answers ------------------------------------------------------------------------------------------------------

    async def _on_anything(self, arguments: Arguments) -> Any:
        return {}

    async def _on_initialize(self, arguments: Arguments) -> Any:
        return self.capabilities

    async def _on_launch(self, arguments: Arguments) -> Any:
        await self._configured.wait()
        await self.event("process", {"name": self.program, "systemProcessId": 4242, "startMethod": "launch"})
        await self.event("thread", {"reason": "started", "threadId": 1})
        if arguments.get("stopOnEntry"):
            await self.stop("entry")
        return {}

    _on_attach = _on_launch

    async def _on_configurationDone(self, arguments: Arguments) -> Any:  # noqa: N802
        self._configured.set()
        return {}

    async def _on_setBreakpoints(self, arguments: Arguments) -> Any:  # noqa: N802
        wanted = arguments.get("breakpoints") or []
        return {
            "breakpoints": [
                {"id": next(self._breakpoint_ids), "verified": True, "line": each["line"]} for each in wanted
            ]
        }

    async def _on_setFunctionBreakpoints(self, arguments: Arguments) -> Any:  # noqa: N802
        wanted = arguments.get("breakpoints") or []
        return {"breakpoints": [{"id": next(self._breakpoint_ids), "verified": True} for _ in wanted]}

    async def _on_threads(self, arguments: Arguments) -> Any:
        return {"threads": [{"id": number, "name": name} for number, name in self.threads]}

    async def _on_stackTrace(self, arguments: Arguments) -> Any:  # noqa: N802
        start = arguments.get("startFrame") or 0
        frames = [
            {"id": 1000 + index, "name": name, "line": line, "column": 1, "source": {"path": path}}
            for index, (name, path, line) in enumerate(self.frames)
        ]
        return {
            "stackFrames": frames[start : start + (arguments.get("levels") or 1000)],
            "totalFrames": len(frames),
        }

    async def _on_scopes(self, arguments: Arguments) -> Any:
        return {"scopes": [{"name": "Locals", "variablesReference": 7, "presentationHint": "locals"}]}

    async def _on_variables(self, arguments: Arguments) -> Any:
        return {
            "variables": [
                {"name": name, "value": value, "type": "int", "evaluateName": name, "variablesReference": 0}
                for name, value in self.locals.items()
            ]
        }

    async def _on_evaluate(self, arguments: Arguments) -> Any:
        expression = arguments["expression"]
        if expression not in self.values:
            raise Refusal(f"NameError: name '{expression}' is not defined")
        return {"result": self.values[expression], "type": "int", "variablesReference": 0}

    async def _on_exceptionInfo(self, arguments: Arguments) -> Any:  # noqa: N802
        return {"exceptionId": "ValueError", "description": "bad", "breakMode": "always"}

    async def _on_disconnect(self, arguments: Arguments) -> Any:
        return {}


class FakeProfile(Profile):
    """The profile of a `FakeAdapter`, for files of any kind; `adapter` may be replaced between sessions."""

    name: ClassVar[str] = "fake"
    language: ClassVar[str] = "Fake"
    file_suffixes: ClassVar[frozenset[str]] = frozenset({".py"})
    install_hint: ClassVar[str] = "nothing to install"

    def __init__(self, adapter: FakeAdapter) -> None:
        self.adapter = adapter

    def locate(self) -> str | None:
        """In this process."""
        return "in memory"

    def command(self) -> Sequence[str]:
        """It has none."""
        raise AdapterGone("a fake adapter has no command")

    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        """What a test may want to see arrive."""
        return {"program": launch.program, "args": list(launch.args), "stopOnEntry": launch.stop_at_entry}

    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        """What a test may want to see arrive."""
        return {"pid": attach.pid, "port": attach.port}

    def open(self, watchdog: Watchdog) -> AbstractAsyncContextManager[Adapter]:
        """Connect to the adapter."""
        return self.adapter.open()

    def open_attached(self, attach: Attach, watchdog: Watchdog) -> AbstractAsyncContextManager[Adapter]:
        """Connect to the adapter."""
        return self.adapter.open()

    def serves_child(self, configuration: Mapping[str, Any]) -> bool:
        """Whether the adapter has a child with the number in the configuration."""
        return configuration.get("child") in self.adapter.children

    def open_child(self, configuration: Mapping[str, Any]) -> AbstractAsyncContextManager[Adapter]:
        """Connect to that child."""
        return self.adapter.children[configuration["child"]].open()


async def _never(arguments: Arguments) -> Any:
    await trio.sleep_forever()
