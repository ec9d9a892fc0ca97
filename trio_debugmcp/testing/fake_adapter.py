"""`FakeAdapter`: a debug adapter that does what a test says, on a memory stream.

It answers every request at once with something plausible, remembers the requests, and stops or ends its imaginary
program when the test says so. Any answer can be replaced, delayed or withheld.

    adapter = FakeAdapter()
    adapter.frames = [("work", "/src/app.py", 12), ("main", "/src/app.py", 30)]
    async with connect(options=adapter.options()) as client:
        await client.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await adapter.stop("breakpoint", hit=[1])
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import trio

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.profiles import Attach, Detect, Launch, Listen, Profile, Runtime
from trio_debugmcp.dap.sockets import SocketAddress
from trio_debugmcp.patience import USUAL, Patience
from trio_debugmcp.server_options import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES, Arguments, FakeAnswers, Refusal
from trio_debugmcp.testing.fake_connection import DapMessage, FakeConnection


class FakeAdapter(FakeAnswers):
    """The adapter and its imaginary program. One connection at a time; launching again starts the program anew.

    `frames`, `threads`, `locals` and `values` are what is found in the program; `requests` are those received, and
    `on_request` is called with each of them. `connection` is where it can misbehave.

    `probe`, set before `options()`, makes it a program with a probe: the answer to each question, by name, or the text
    of a reply. `probed` are the questions that it got; `probe_installed` is false until the first one and, if the test
    says so, again after an `exec`.
    """

    program = __file__
    """A file that exists, to launch."""

    def __init__(self, capabilities: Mapping[str, Any] = ALL_CAPABILITIES) -> None:
        super().__init__(capabilities)
        self.requests: list[tuple[str, Arguments]] = []
        self.on_request: Callable[[str, Arguments], None] | None = None
        self.sends_initialized = True
        self.connected = trio.Event()
        self.children: dict[int, FakeAdapter] = {}
        self.connection = FakeConnection(self._received, self._respond)

    def options(self, *, patience: Patience = USUAL, **changes: Any) -> Options:
        """Make server options whose only debug adapter is this one."""
        profile = FakeProfile(self) if self.probe is None else ProbedProfile(self)
        return Options(settings=Settings(directory="/", profiles=(profile,), patience=patience), **changes)

    def commands(self) -> list[str]:
        """Return the commands received, in order."""
        return [command for command, _ in self.requests]

    def sent(self, command: str) -> list[Arguments]:
        """Return the arguments of every request of that command."""
        return [arguments for name, arguments in self.requests if name == command]

    # --- The program --------------------------------------------------------------------------------------------------

    async def stop(self, reason: str = "step", *, thread: int = 1, hit: Sequence[int] = (), **more: Any) -> None:
        """Stop the program; `hit` are ids of the adapter's breakpoints, `more` is the rest of the event's body."""
        body = {"reason": reason, "threadId": thread, "allThreadsStopped": True, **more}
        if hit:
            body["hitBreakpointIds"] = list(hit)
        await self.event("stopped", body)

    async def exit(self, code: int = 0) -> None:
        """End the program."""
        await self.event("exited", {"exitCode": code})
        await self.event("terminated")

    # --- The connection -----------------------------------------------------------------------------------------------

    async def event(self, name: str, body: Any = None) -> None:
        """Send an event, by default with an empty body."""
        await self.connection.send({"type": "event", "event": name, "body": {} if body is None else body})

    async def reverse_request(self, command: str, arguments: Arguments) -> Arguments:
        """Send the client a request, and wait for its whole response."""
        return await self.connection.request(command, arguments)

    async def crash(self) -> None:
        """Break the connection off."""
        await self.connection.crash()

    async def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be DAP."""
        await self.connection.send_raw(data)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Adapter]:
        """Connect to this adapter for the length of the block."""
        self.configured = trio.Event()
        async with self.connection.open() as adapter:
            self.connected.set()
            yield adapter

    def _received(self, request: DapMessage) -> None:
        self.requests.append((request["command"], request.get("arguments") or {}))
        if self.on_request is not None:
            self.on_request(*self.requests[-1])

    async def _respond(self, request: DapMessage) -> None:
        command, arguments = request["command"], request.get("arguments") or {}
        answer = self.answer_to(command)
        response: DapMessage = {"type": "response", "request_seq": request["seq"], "command": command}
        try:
            response |= {"success": True, "body": await answer(arguments)}
        except Refusal as refusal:
            response |= {"success": False, "message": str(refusal)}
        await self.connection.send(response)
        if command == "initialize" and self.sends_initialized:
            await self.event("initialized")
        if command in self._afterwards:
            await self._afterwards[command]()


class FakeProfile(Profile):
    """The profile of a `FakeAdapter`, for files of any kind; `adapter` may be replaced between sessions."""

    name: str = "fake"
    language: str = "Fake"
    detect: Detect = Detect(suffixes=(".py",))
    install_hint: str = "nothing to install"

    def __init__(self, adapter: FakeAdapter) -> None:
        self.adapter = adapter

    def locate(self) -> str | None:
        return "in memory"

    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        return {"program": launch.program, "args": list(launch.args), "stopOnEntry": launch.stop_at_entry}

    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        return {"pid": attach.pid, "port": attach.port}

    def open(self, launch: Launch, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return self.adapter.open()

    def open_attached(self, attach: Attach, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return self.adapter.open()

    def open_listening(self, listen: Listen, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return self.adapter.open()

    def serves_child(self, configuration: Mapping[str, Any]) -> bool:
        return configuration.get("child") in self.adapter.children

    def child_outlives_parent(self, configuration: Mapping[str, Any]) -> bool:
        return bool(configuration.get("outlivesParent"))

    def open_child(
        self, configuration: Mapping[str, Any], runtime: Runtime, parent: SocketAddress | None
    ) -> AbstractAsyncContextManager[Adapter]:
        return self.adapter.children[configuration["child"]].open()


class ProbedProfile(FakeProfile):
    """The profile of a `FakeAdapter` whose program has a `probe`."""

    has_probe: bool = True
