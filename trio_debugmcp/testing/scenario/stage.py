"""`open_run`: sets up what a scenario is played with: the real server, its adapter, and the setting's files."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from trio_debugmcp.dap.profiles import PROFILES, Profile, profile_named
from trio_debugmcp.patience import Patience
from trio_debugmcp.server_options import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing.connect import open_server
from trio_debugmcp.testing.fake_adapter import FakeAdapter, FakeProfile
from trio_debugmcp.testing.scenario.run import ScenarioRun
from trio_debugmcp.testing.scenario.script_lines import BadScenario, Era, Setting
from trio_debugmcp.testing.scenario.script_text import filled

PROGRAM_FILE = "app.py"
"""Written even if the setting has no files: there must be something to launch."""


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
        yield await stack.enter_async_context(
            ScenarioRun(server.app.serve_connection, adapter, setting, era, directory).open()
        )


def _adapter_for(setting: Setting) -> FakeAdapter:
    adapter = FakeAdapter() if setting.capabilities is None else FakeAdapter(setting.capabilities)
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
        names = ", ".join(f"`{candidate.name}`" for candidate in PROFILES)
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
