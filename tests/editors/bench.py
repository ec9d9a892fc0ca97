"""An editor for tests: it speaks DAP to the door of a server in this process, and checks all that it receives.

async with open_bench(adapter) as bench, bench.editor() as editor:
    await editor.join()
    await editor.ask("threads")
    await editor.wait_event("stopped")
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import trio
from jsonschema import Draft4Validator  # type: ignore[import-untyped]

from trio_debugmcp.app import Options
from trio_debugmcp.dap.codec import FrameDecoder, encode_frame
from trio_debugmcp.listen import editor_door
from trio_debugmcp.server.auth import Tokens
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.testing.connect import Server
from trio_debugmcp.transports.admission import Admission, bounds
from trio_debugmcp.transports.in_memory import byte_stream_pair

SCHEMA = json.loads((Path(__file__).parent.parent / "data" / "debugAdapterProtocol.json").read_text(encoding="utf-8"))

TEST_SECONDS = 3600
"""Of virtual time: what waits for longer waits for ever."""

CONTROL, OBSERVE = "control-token", "observe-token"


class Refused(Exception):
    """A response with `success: false`; `message` is DAP's word or the sentence, which is the text."""

    def __init__(self, response: dict[str, Any]) -> None:
        super().__init__(response["body"]["error"]["format"])
        self.word = response.get("message")
        self.show = response["body"]["error"].get("showUser", False)


@cache
def _validator(name: str) -> Draft4Validator | None:
    if name not in SCHEMA["definitions"]:
        return None
    return Draft4Validator({"$ref": f"#/definitions/{name}", "definitions": SCHEMA["definitions"]})


def check_message(message: dict[str, Any]) -> None:
    """Check a message of ours against the protocol's schema."""
    if message["type"] == "event":
        name = f"{message['event'][0].upper()}{message['event'][1:]}Event"
    elif message["type"] == "request":
        name = f"{message['command'][0].upper()}{message['command'][1:]}Request"
    elif message["success"]:
        name = f"{message['command'][0].upper()}{message['command'][1:]}Response"
    else:
        name = "ErrorResponse"
    validator = _validator(name)
    if validator is None:
        assert message["type"] == "response", f"{name} is not in the protocol"
        return
    problems = [f"{list(each.absolute_path)}: {each.message}" for each in validator.iter_errors(message)]
    assert not problems, f"{json.dumps(message)[:500]}\n" + "\n".join(problems)


class EditorClient:
    """The editor's side of a connection. `events` are all that it has received; `sent` is a number."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.events: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.log: list[str] = []
        self.closed = False
        self._decoder = FrameDecoder()
        self.sent = 0
        self._waiting: dict[int, trio.MemorySendChannel[dict[str, Any]]] = {}
        self._news = trio.lowlevel.ParkingLot()

    def bodies_in(self, data: bytes) -> list[bytes]:
        """Return the messages that are complete with these bytes."""
        return self._decoder.feed(data)

    async def receive(self) -> None:
        """Receive until the connection is closed."""
        try:
            while data := await self.stream.receive_some(65536):
                for body in self.bodies_in(bytes(data)):
                    self._take(json.loads(body))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        self.closed = True
        self._news.unpark_all()
        for each in self._waiting.values():
            each.close()

    def _take(self, message: dict[str, Any]) -> None:
        check_message(message)
        match message["type"]:
            case "response":
                self.log.append(f"response {message['command']}")
                waiting = self._waiting.pop(message["request_seq"], None)
                if waiting is not None:
                    waiting.send_nowait(message)
            case "event":
                self.log.append(message["event"])
                self.events.append(message)
            case _:
                self.log.append(f"request {message['command']}")
                self.asked.append(message)
        self._news.unpark_all()

    async def send(self, command: str, arguments: Any = None) -> int:
        """Send a request, and do not wait for its response."""
        self.sent += 1
        message = {
            "seq": self.sent,
            "type": "request",
            "command": command,
            "arguments": {} if arguments is None else arguments,
        }
        await self.write(message)
        return self.sent

    async def write(self, message: dict[str, Any]) -> None:
        """Write a message."""
        await self.stream.send_all(encode_frame(json.dumps(message).encode()))

    async def answer(self, request: dict[str, Any], *, success: bool = True) -> None:
        """Answer a request of the server."""
        self.sent += 1
        message = {"seq": self.sent, "type": "response", "request_seq": request["seq"], "success": success}
        await self.write({**message, "command": request["command"]})

    async def response(self, command: str, arguments: Any) -> dict[str, Any]:
        """Send a request with any arguments, and return its response."""
        answer, answered = trio.open_memory_channel[dict[str, Any]](1)
        self._waiting[self.sent + 1] = answer
        await self.send(command, arguments)
        return await answered.receive()

    async def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request, and return the body of its response; raises `Refused` if it is refused."""
        response = await self.response(command, arguments)
        if not response["success"]:
            raise Refused(response)
        body: dict[str, Any] = response.get("body") or {}
        return body

    async def refused(self, command: str, **arguments: Any) -> Refused:
        """Send a request that must be refused, and return how it was."""
        try:
            body = await self.ask(command, **arguments)
        except Refused as refusal:
            return refusal
        raise AssertionError(f"{command} was not refused: {body}")

    def bodies(self, name: str) -> list[dict[str, Any]]:
        """Return the bodies of the events of that name."""
        return [each.get("body") or {} for each in self.events if each["event"] == name]

    async def wait_event(self, name: str, number: int = 1) -> dict[str, Any]:
        """Wait for so many events of that name, and return the body of the last of these."""
        await self.wait(lambda: len(self.bodies(name)) >= number)
        return self.bodies(name)[number - 1]

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until what was received fulfils a condition."""
        while not condition():
            assert not self.closed, f"the connection was closed; received: {self.log}"
            await self._news.park()

    async def wait_closed(self) -> None:
        """Wait until the server has closed the connection."""
        while not self.closed:
            await self._news.park()

    # --- Steps of a session -----------------------------------------------------------------------------------

    async def initialize(self, **more: Any) -> dict[str, Any]:
        """Say who this is."""
        hello = {"adapterID": "trio-debugmcp", "clientID": "test", "clientName": "Test Editor", **more}
        return await self.ask("initialize", **hello)

    async def join(self, token: str = CONTROL, hello: dict[str, Any] | None = None, **arguments: Any) -> None:
        """Initialize, attach, be configured, and ask for the threads, as editors do."""
        await self.initialize(**(hello or {}))
        await self.ask("attach", token=token, **arguments)
        await self.wait_event("initialized")
        await self.ask("configurationDone")
        await self.ask("threads")

    async def top_frame(self, thread: int = 1) -> dict[str, Any]:
        """Ask for the stack, and return its top frame."""
        frames = (await self.ask("stackTrace", threadId=thread, levels=20))["stackFrames"]
        frame: dict[str, Any] = frames[0]
        return frame

    async def locals(self) -> list[dict[str, Any]]:
        """Ask for the variables of the top frame's first scope."""
        frame = await self.top_frame()
        scope = (await self.ask("scopes", frameId=frame["id"]))["scopes"][0]
        found: list[dict[str, Any]] = (await self.ask("variables", variablesReference=scope["variablesReference"]))[
            "variables"
        ]
        return found


class Bench:
    """A server with a door for editors, and one agent."""

    def __init__(self, server: Server, agent: DebugClient) -> None:
        self.server, self.agent = server, agent
        self.door = editor_door(server.app, Tokens(CONTROL, OBSERVE))
        self.admission = Admission(bounds(1000))

    @asynccontextmanager
    async def editor(self) -> AsyncIterator[EditorClient]:
        """Connect an editor for the length of the block; its connection is closed at the end as by a crash."""
        async with trio.open_nursery() as nursery:
            ours, theirs = byte_stream_pair()
            # A memory stream keeps what is sent before it is read.
            nursery.start_soon(self.admission.serve, theirs, self.door.receive)  # noqa: ASYNC113
            editor = EditorClient(ours)
            nursery.start_soon(editor.receive)
            try:
                yield editor
            finally:
                with trio.CancelScope(shield=True):
                    await ours.send_stream.aclose()
                    with trio.move_on_after(5):
                        await editor.wait_closed()
                nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_bench(
    adapter: FakeAdapter, options: Options | None = None, seconds: float = TEST_SECONDS
) -> AsyncIterator[Bench]:
    """Run a server for the length of the block, with an agent, and no program yet."""
    with trio.fail_after(seconds):
        async with (
            open_server(options or adapter.options()) as server,
            server.connect() as agent,
            trio.open_nursery() as nursery,
        ):
            bench = Bench(server, agent)
            nursery.start_soon(bench.door.run)
            yield bench
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def paused(adapter: FakeAdapter | None = None, **stop: Any) -> AsyncIterator[tuple[Bench, FakeAdapter]]:
    """Run a server whose agent has launched a program that is paused at its entry."""
    adapter = adapter or FakeAdapter()
    adapter.locals = adapter.locals or {"count": "3"}
    async with open_bench(adapter) as bench:
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await adapter.stop("entry", **stop)
        await bench.agent.call("debug_wait")
        yield bench, adapter
