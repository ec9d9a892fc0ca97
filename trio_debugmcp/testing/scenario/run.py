"""`ScenarioRun`: the state of a scenario while it is played.

Owns the fake adapters, the clients in memory, and the log from which the report is made.

    async with open_run(scenario.setting, "legacy") as run:
        await run.connect("observer", role="observe")
        await run.adapter(ROOT).stop("breakpoint")
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import trio
import trio.testing

from trio_debugmcp.server.auth import Role
from trio_debugmcp.testing.debug_client import Notice
from trio_debugmcp.testing.fake_adapter import FakeAdapter
from trio_debugmcp.testing.scenario.report import answered_prefix, notice_text
from trio_debugmcp.testing.scenario.scenario_client import (
    CallFailure,
    LoggedNotice,
    ScenarioCall,
    ScenarioClient,
    ServeConnection,
    open_client,
)
from trio_debugmcp.testing.scenario.scenario_log import ScenarioLog
from trio_debugmcp.testing.scenario.script_lines import AGENT, ROOT, Era, Setting
from trio_debugmcp.testing.scenario.scripted_answers import ScriptedAnswers


class LineDiffers(Exception):
    """Raised by a line that differs from what happened: in each sentence one difference."""

    def __init__(self, *sentences: str) -> None:
        super().__init__(*sentences)
        self.sentences = sentences


class ScenarioRun:
    """Made by `open_run`."""

    def __init__(
        self, serve: ServeConnection, adapter: FakeAdapter, setting: Setting, era: Era, directory: str
    ) -> None:
        self.setting = setting
        self.era = era
        self.directory = directory
        self.adapters = {ROOT: adapter}
        self.clients: dict[str, ScenarioClient] = {}
        self.log = ScenarioLog(directory)
        self._serve = serve
        self._answers: dict[tuple[str, str], ScriptedAnswers] = {}
        self._departures: dict[str, trio.Event] = {}
        self._nursery: trio.Nursery | None = None
        adapter.on_request = partial(self.log.add_request, ROOT)

    def __repr__(self) -> str:
        return f"<ScenarioRun at {self.log.now} s>"

    async def settle(self) -> None:
        """Wait until everything that can happen at this instant has happened."""
        await trio.testing.wait_all_tasks_blocked()

    def begin_here(self) -> None:
        """Set the clock to 0 and forget everything that has happened."""
        self.log.begin_here()
        for adapter in self.adapters.values():
            adapter.requests.clear()
        for client in self.clients.values():
            client.forget()

    def _log_notice(self, client: ScenarioClient, notice: Notice) -> None:
        entry = self.log.add(client.name, notice_text(notice.what))
        number = len(client.mcp.notices)
        client.unclaimed.append(LoggedNotice(number, notice.what, self.log.since_zero(notice.at), entry))

    def _log_answer(self, client: ScenarioClient, call: ScenarioCall) -> None:
        match call.failure:
            case CallFailure(code=code, message=message):
                outcome = f"failed: {code}: {message}"
            case _:
                outcome = "cancelled" if call.scope.cancelled_caught else "answered"
        call.entry = self.log.add(client.name, f"{answered_prefix(call.what, call.line)} {outcome}")

    # --- Clients ------------------------------------------------------------------------------------------------------

    async def connect(self, name: str, era: Era | None = None, role: Role = "control") -> None:
        """Connect a further client, by default of the run's own era."""
        if name in self._departures:
            raise LineDiffers(f"{name} is connected already")
        if self._nursery is None:
            raise AssertionError("the run is not open")
        self._departures[name] = trio.Event()
        await self._nursery.start(self._keep_connected, name, era or self.era, role)

    async def disconnect(self, name: str) -> None:
        """Disconnect a client, and wait until the server has noticed."""
        client = self.client(name)
        client.valve.open()  # or the end of the connection would not reach a client that does not read
        self._departures.pop(name).set()
        del self.clients[name]
        await self.settle()

    def client(self, name: str) -> ScenarioClient:
        """Return a connected client."""
        if name not in self.clients:
            raise LineDiffers(f"{name} is not connected")
        return self.clients[name]

    def call(self, who: str, name: str | None) -> ScenarioCall:
        """Return a call that a client has begun, by its name, or else the client's last one."""
        calls = self.client(who).calls_by_name
        if name not in calls:
            raise LineDiffers(f"{who} has begun no such call")
        return calls[name]

    async def _keep_connected(self, name: str, era: Era, role: Role, *, task_status: trio.TaskStatus[None]) -> None:
        departure = self._departures[name]
        async with open_client(self._serve, name, era, role) as client:
            self.clients[name] = client
            client.mcp.on_notice = partial(self._log_notice, client)
            client.on_answer = partial(self._log_answer, client)
            task_status.started()
            await departure.wait()

    # --- Adapters -----------------------------------------------------------------------------------------------------

    def adapter(self, name: str) -> FakeAdapter:
        """Return an adapter by its name. A child's is made at its first mention, which may precede its announcement."""
        if name not in self.adapters:
            self.adapters[name] = child = FakeAdapter()
            child.sends_initialized = self.setting.initialized
            child.on_request = partial(self.log.add_request, name)
        return self.adapters[name]

    def answers_of(self, name: str, command: str) -> ScriptedAnswers:
        """Return the script by which that adapter answers that command."""
        if (name, command) not in self._answers:
            self._answers[name, command] = ScriptedAnswers(self.adapter(name), command)
        return self._answers[name, command]

    def add_child(self, name: str) -> int:
        """Make an adapter known to the root as a child; returns the number by which to announce it."""
        children = self.adapters[ROOT].children
        number = len(children)
        children[number] = self.adapter(name)
        return number

    @asynccontextmanager
    async def open(self) -> AsyncIterator["ScenarioRun"]:
        """Connect the agent for the length of the block. At its end all clients disconnect."""
        async with trio.open_nursery() as self._nursery:
            await self.connect(AGENT)
            yield self
            for name in list(self.clients):
                await self.disconnect(name)
