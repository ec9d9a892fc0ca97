"""`ScenarioRun`: the state of a scenario while it is played.

Owns the real server, fake adapters, clients in memory, a directory with the setting's files, and the log from which the
report is made.

    async with open_run(scenario.setting, "legacy") as run:
        await run.connect("observer", role="observe")
        await run.adapter(ROOT).stop("breakpoint")
"""

import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import trio
import trio.testing
from msgspec.structs import replace

from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import PROFILES, Profile, profile_named
from trio_debugmcp.patience import Patience
from trio_debugmcp.server.auth import Role
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing.connect import Server, open_server
from trio_debugmcp.testing.debug_client import Notice
from trio_debugmcp.testing.fake_adapter import FakeAdapter, FakeProfile
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES, Arguments
from trio_debugmcp.testing.scenario.report import Entry, answered_prefix, notice_text
from trio_debugmcp.testing.scenario.scenario_client import (
    CallFailure,
    LoggedNotice,
    ScenarioCall,
    ScenarioClient,
    open_client,
)
from trio_debugmcp.testing.scenario.script_lines import AGENT, DIRECTORY, ROOT, BadScenario, Era, Setting
from trio_debugmcp.testing.scenario.script_text import filled
from trio_debugmcp.testing.scenario.scripted_answers import ScriptedAnswers

PROGRAM_FILE = "app.py"
"""Written even if the setting has no files: there must be something to launch."""

SETTLED_SECONDS = 10.0
"""Virtual time before the first step, when the scenario begins with a running program: nothing is pending after it."""


class LineDiffers(Exception):
    """Raised by a line that differs from what happened: in each sentence one difference."""

    def __init__(self, *sentences: str) -> None:
        super().__init__(*sentences)
        self.sentences = sentences


class ScenarioRun:
    """Made by `open_run`. `entries` is the log, `zero` the time on Trio's clock from which times are counted."""

    def __init__(self, server: Server, adapter: FakeAdapter, setting: Setting, era: Era, directory: str) -> None:
        self.setting = setting
        self.era = era
        self.directory = directory
        self.adapters = {ROOT: adapter}
        self.clients: dict[str, ScenarioClient] = {}
        self.entries: list[Entry] = []
        self.zero = trio.current_time()
        self._server = server
        self._answers: dict[tuple[str, str], ScriptedAnswers] = {}
        self._departures: dict[str, trio.Event] = {}
        self._nursery: trio.Nursery | None = None
        adapter.on_request = partial(self._log_request, ROOT)

    def __repr__(self) -> str:
        return f"<ScenarioRun at {self.now} s>"

    # --- Time and log -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Virtual seconds since the beginning, to the microsecond."""
        return self.since_zero(trio.current_time())

    def since_zero(self, time: float) -> float:
        """Convert a time of Trio's clock to the time since the beginning."""
        return round(time - self.zero, 6)

    async def settle(self) -> None:
        """Wait until everything that can happen at this instant has happened."""
        await trio.testing.wait_all_tasks_blocked()

    def log(self, who: str, text: str, line: int | None = None, *differences: str) -> int:
        """Add an entry to the log and return its number. The directory's name, which changes, is not shown."""
        shown = [each.replace(self.directory, DIRECTORY) for each in (text, *differences)]
        self.entries.append(Entry(self.now, who, shown[0], line, tuple(shown[1:])))
        return len(self.entries) - 1

    def object_to(self, entry: int, sentence: str) -> None:
        """Add a difference to an entry of the log."""
        old = self.entries[entry]
        shown = sentence.replace(self.directory, DIRECTORY)
        self.entries[entry] = replace(old, differences=(*old.differences, shown))

    def begin_here(self) -> None:
        """Set the clock to 0 and forget everything that has happened."""
        self.zero = trio.current_time()
        self.entries.clear()
        for adapter in self.adapters.values():
            adapter.requests.clear()
        for client in self.clients.values():
            client.forget()

    def _log_request(self, who: str, command: str, arguments: Arguments) -> None:
        last = self.entries[-1] if self.entries else None
        if last is not None and (last.at, last.who, last.line) == (self.now, who, None):
            self.entries[-1] = replace(last, text=f"{last.text}, {command}")
        else:
            self.log(who, f"← {command}")

    def _log_notice(self, client: ScenarioClient, notice: Notice) -> None:
        entry = self.log(client.name, notice_text(notice.what))
        number = len(client.mcp.notices)
        client.unclaimed.append(LoggedNotice(number, notice.what, self.since_zero(notice.at), entry))

    def _log_answer(self, client: ScenarioClient, call: ScenarioCall) -> None:
        match call.failure:
            case CallFailure(code=code, message=message):
                outcome = f"failed: {code}: {message}"
            case _:
                outcome = "cancelled" if call.scope.cancelled_caught else "answered"
        call.entry = self.log(client.name, f"{answered_prefix(call.what, call.line)} {outcome}")

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
        async with open_client(self._server, name, era, role) as client:
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
            child.on_request = partial(self._log_request, name)
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


@asynccontextmanager
async def open_run(setting: Setting, era: Era) -> AsyncIterator[ScenarioRun]:
    """Run the server, its adapter and the agent for the length of the block. The setting's placeholders are filled."""
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="scenario-"))
        setting = filled(setting, DIR=directory)
        _write_files(Path(directory), setting.files)
        adapter = _adapter_for(setting)
        chosen: dict[str, Any] = {"quiet": setting.quiet, "max_wait": setting.max_wait, "linger": setting.linger}
        profiles = (_profile_for(setting, adapter),)
        options = Options(
            settings=Settings(directory=directory, profiles=profiles, patience=Patience(setting.patience)),
            core_tools_only=setting.tools == "core",
            **{name: value for name, value in chosen.items() if value is not None},
        )
        server = await stack.enter_async_context(open_server(options))
        yield await stack.enter_async_context(ScenarioRun(server, adapter, setting, era, directory).open())


def _adapter_for(setting: Setting) -> FakeAdapter:
    adapter = FakeAdapter(ALL_CAPABILITIES if setting.capabilities is None else setting.capabilities)
    adapter.frames, adapter.threads = list(setting.frames), list(setting.threads)
    adapter.sends_initialized = setting.initialized
    adapter.locals, adapter.values = dict(setting.locals), dict(setting.values)
    return adapter


def _profile_for(setting: Setting, adapter: FakeAdapter) -> Profile:
    """Return the fake adapter's own profile, or a real one that asks for what it asks, and reaches the fake adapter."""
    if setting.profile is None:
        return FakeProfile(adapter)
    real = profile_named(setting.profile)
    if real is None:
        names = ", ".join(f"`{each.name}`" for each in PROFILES)
        raise BadScenario(f"there is no adapter profile `{setting.profile}`; there are {names}")
    reached = (
        "__init__",
        "learn_version",
        "locate",
        "open",
        "open_attached",
        "serves_child",
        "open_child",
        "attach_problem",
    )
    own = {name: getattr(FakeProfile, name) for name in reached} | {"has_probe": real.has_probe and setting.probe}
    disguise = type(f"Fake{type(real).__name__}", (type(real),), own)
    profile: Profile = disguise(adapter)
    return profile


def _write_files(directory: Path, files: dict[str, str]) -> None:
    for name, text in {PROGRAM_FILE: "print('hello')\n", **files}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
