"""Where a scenario is played: the real server, fake adapters, clients in memory, a directory with files, and a log."""

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
from trio_debugmcp.server.auth import Role
from trio_debugmcp.session.debugger import Settings
from trio_debugmcp.testing.connect import Server, open_server
from trio_debugmcp.testing.debug_client import Notice
from trio_debugmcp.testing.fake_adapter import ALL_CAPABILITIES, Arguments, FakeAdapter, FakeProfile
from trio_debugmcp.testing.scenario.answers import Answers
from trio_debugmcp.testing.scenario.client import Conversation, Failure, Guest, Told, open_guest
from trio_debugmcp.testing.scenario.lines import AGENT, DIRECTORY, ROOT, BadScenario, Era, Setting
from trio_debugmcp.testing.scenario.report import Entry, answered_prefix, told_text
from trio_debugmcp.testing.scenario.text import filled

PROGRAM_FILE = "app.py"
"""Is there even if the setting has no files: there must be something to launch."""

SETTLED_SECONDS = 10.0
"""Virtual time before the story begins, when it begins with a running program: nothing is pending then."""


class Difference(Exception):
    """What is not as a line says; the line is done with."""

    def __init__(self, *sentences: str) -> None:
        super().__init__(*sentences)
        self.sentences = sentences


class Stage:
    """Made by `open_stage`."""

    def __init__(self, server: Server, adapter: FakeAdapter, setting: Setting, era: Era, directory: str) -> None:
        self.setting = setting
        self.era = era
        self.directory = directory
        self.adapters = {ROOT: adapter}
        self.guests: dict[str, Guest] = {}
        self.entries: list[Entry] = []
        self.zero = trio.current_time()
        self._server = server
        self._answers: dict[tuple[str, str], Answers] = {}
        self._departures: dict[str, trio.Event] = {}
        self._nursery: trio.Nursery | None = None
        adapter.on_request = partial(self._asked, ROOT)

    # --- Time and log -------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Virtual seconds since the beginning, to the microsecond."""
        return self.since_zero(trio.current_time())

    def since_zero(self, time: float) -> float:
        """A time by trio's clock as time since the beginning."""
        return round(time - self.zero, 6)

    async def settle(self) -> None:
        """Everything that can happen at this instant has happened."""
        await trio.testing.wait_all_tasks_blocked()

    def log(self, who: str, text: str, line: int | None = None, *differences: str) -> int:
        """Something happened; returns the entry's number. The name of the directory, which changes, is not shown."""
        shown = [each.replace(self.directory, DIRECTORY) for each in (text, *differences)]
        self.entries.append(Entry(self.now, who, shown[0], line, tuple(shown[1:])))
        return len(self.entries) - 1

    def object_to(self, entry: int, sentence: str) -> None:
        """What happened there should not have."""
        old = self.entries[entry]
        shown = sentence.replace(self.directory, DIRECTORY)
        self.entries[entry] = replace(old, differences=(*old.differences, shown))

    def begin_here(self) -> None:
        """The clock is at 0 and nothing has happened yet."""
        self.zero = trio.current_time()
        self.entries.clear()
        for adapter in self.adapters.values():
            adapter.requests.clear()
        for guest in self.guests.values():
            guest.forget()

    def _asked(self, who: str, command: str, arguments: Arguments) -> None:
        last = self.entries[-1] if self.entries else None
        if last is not None and (last.at, last.who, last.line) == (self.now, who, None):
            self.entries[-1] = replace(last, text=f"{last.text}, {command}")
        else:
            self.log(who, f"← {command}")

    def _noticed(self, guest: Guest, notice: Notice) -> None:
        entry = self.log(guest.name, told_text(notice.what))
        told = Told(len(guest.client.notices), notice.what, self.since_zero(notice.at), entry)
        guest.unexpected.append(told)

    def _answered(self, guest: Guest, call: Conversation) -> None:
        match call.failure:
            case Failure(code=code, message=message):
                outcome = f"failed: {code}: {message}"
            case _:
                outcome = "called off" if call.scope.cancelled_caught else "answered"
        call.entry = self.log(guest.name, f"{answered_prefix(call.what, call.line)} {outcome}")

    # --- Who is there -------------------------------------------------------------------------------------------------

    async def arrive(self, name: str, era: Era | None = None, role: Role = "control") -> None:
        """A client connects."""
        if name in self._departures:
            raise Difference(f"{name} is connected already")
        if self._nursery is None:
            raise AssertionError("the stage is not open")
        self._departures[name] = trio.Event()
        await self._nursery.start(self._attend, name, era or self.era, role)

    async def depart(self, name: str) -> None:
        """A client leaves. One that does not read has to be cut off."""
        guest = self.guest(name)
        guest.valve.open()
        self._departures.pop(name).set()
        del self.guests[name]
        await self.settle()

    def guest(self, name: str) -> Guest:
        """A client that is connected."""
        if name not in self.guests:
            raise Difference(f"{name} is not connected")
        return self.guests[name]

    def call(self, who: str, name: str | None) -> Conversation:
        """A call that a client has begun, by its name, or else its last one."""
        calls = self.guest(who).calls
        if name not in calls:
            raise Difference(f"{who} has begun no such call")
        return calls[name]

    def adapter(self, name: str) -> FakeAdapter:
        """An adapter, by its name. A child may be spoken of before it is announced."""
        if name not in self.adapters:
            self.adapters[name] = child = FakeAdapter()
            child.says_initialized = self.setting.initialized
            child.on_request = partial(self._asked, name)
        return self.adapters[name]

    def answers_of(self, name: str, command: str) -> Answers:
        """How that adapter answers that command."""
        if (name, command) not in self._answers:
            self._answers[name, command] = Answers(self.adapter(name), command)
        return self._answers[name, command]

    def add_child(self, name: str) -> int:
        """An adapter that the root can announce; returns the number to announce it by."""
        children = self.adapters[ROOT].children
        number = len(children)
        children[number] = self.adapter(name)
        return number

    async def _attend(self, name: str, era: Era, role: Role, *, task_status: trio.TaskStatus[None]) -> None:
        departure = self._departures[name]
        async with open_guest(self._server, name, era, role) as guest:
            self.guests[name] = guest
            guest.client.on_notice = partial(self._noticed, guest)
            guest.on_answer = partial(self._answered, guest)
            task_status.started()
            await departure.wait()

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Stage"]:
        """The agent is there for the length of the block, and everyone leaves at its end."""
        async with trio.open_nursery() as self._nursery:
            await self.arrive(AGENT)
            yield self
            for name in list(self.guests):
                await self.depart(name)


@asynccontextmanager
async def open_stage(setting: Setting, era: Era) -> AsyncIterator[Stage]:
    """The stage for the length of the block. The setting comes back with its placeholders filled."""
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="scenario-"))
        setting = filled(setting, DIR=directory)
        _write_files(Path(directory), setting.files)
        adapter = _adapter_for(setting)
        chosen: dict[str, Any] = {"quiet": setting.quiet, "max_wait": setting.max_wait, "linger": setting.linger}
        options = Options(
            settings=Settings(directory=directory, profiles=(_profile_for(setting, adapter),)),
            core_tools_only=setting.tools == "core",
            **{name: value for name, value in chosen.items() if value is not None},
        )
        server = await stack.enter_async_context(open_server(options))
        yield await stack.enter_async_context(Stage(server, adapter, setting, era, directory).open())


def _adapter_for(setting: Setting) -> FakeAdapter:
    adapter = FakeAdapter(ALL_CAPABILITIES if setting.capabilities is None else setting.capabilities)
    adapter.frames, adapter.threads = list(setting.frames), list(setting.threads)
    adapter.says_initialized = setting.initialized
    adapter.locals, adapter.values = dict(setting.locals), dict(setting.values)
    return adapter


def _profile_for(setting: Setting, adapter: FakeAdapter) -> Profile:
    """The fake one's own, or a real one's: what it asks of its adapter, but for how that is reached."""
    if setting.profile is None:
        return FakeProfile(adapter)
    real = profile_named(setting.profile)
    if real is None:
        names = ", ".join(f"`{each.name}`" for each in PROFILES)
        raise BadScenario(f"there is no adapter profile `{setting.profile}`; there are {names}")
    reached = ("__init__", "locate", "open", "open_attached", "serves_child", "open_child", "attach_problem")
    disguise = type(f"Fake{type(real).__name__}", (type(real),), {name: getattr(FakeProfile, name) for name in reached})
    profile: Profile = disguise(adapter)
    return profile


def _write_files(directory: Path, files: dict[str, str]) -> None:
    for name, text in {PROGRAM_FILE: "print('hello')\n", **files}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
