"""A launch of source that is built first: what runs, when it is built again, and when it is gone."""

import stat
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.dap.profiles.native.test_elf import elf
from tests.server.scene import failure
from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import Detect, Launch
from trio_debugmcp.dap.profiles.compilers import Build
from trio_debugmcp.dap.profiles.native.machine_code import NativeExpressions
from trio_debugmcp.server.tools.starting.building import built
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, Refusal, connect, open_server
from trio_debugmcp.testing.fake_adapter import FakeProfile

COMPILER = """#!/bin/sh
# What is built is the source; one that says so does not compile.
echo "compiled $1"
grep -n broken "$1" | sed "s|^\\([0-9]*\\).*|$1:\\1: error: it is broken|" >&2
grep -q broken "$1" && exit 1
cp "$1" "$2"
"""


class Scene:
    """A server whose one adapter runs `.m` files that a script has compiled."""

    def __init__(self, directory: Path, **settings: Any) -> None:
        self.directory, self.built = directory, directory / "tmp"
        self.built.mkdir()
        compiler = directory / "cc"
        compiler.write_text(COMPILER)
        compiler.chmod(stat.S_IRWXU)
        self.source = directory / "shop.m"
        self.source.write_text("first\n")
        self.adapter = FakeAdapter()
        self.profile = FakeProfile(self.adapter)
        self.profile.expressions = NativeExpressions()  # for which source is not a program
        self.profile.detect = Detect(suffixes=(".m",), files=("m.toml",), elf="native")
        self.profile.builds = (
            Build((str(compiler), "{program}", "{output}"), suffixes=(".m",)),
            Build((), files=("m.toml",)),
        )
        self.settings = Settings(directory=str(directory), profiles=(self.profile,), **settings)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[DebugClient]:
        async with connect(options=Options(settings=self.settings)) as client:
            yield client

    def launched(self) -> Path:
        """The program of the last launch."""
        return Path(self.adapter.sent("launch")[-1]["program"])

    def left(self) -> list[Path]:
        return list(self.built.iterdir())


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    scene = Scene(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(scene.built))
    return scene


async def run(client: DebugClient, **arguments: Any) -> dict[str, Any]:
    return await client.call("debug_launch", **{"program": "shop.m", "wait": False, **arguments})


@pytest.mark.real
async def test_source_is_built_runs_and_is_gone_with_its_session(scene: Scene) -> None:
    async with scene.client() as client:
        await run(client)
        assert scene.launched().read_text() == "first\n"
        assert scene.launched().is_relative_to(scene.built)
        output = await client.call("process_read_output")
        assert output["entries"][0] == {"console": f"compiled {scene.source}\n"}
        assert scene.directory.joinpath("shop.m").name in str(await client.call("sources_list"))
        await client.call("debug_disconnect")
    assert scene.left() == []


@pytest.mark.real
async def test_a_restart_builds_again_and_a_batch_too(scene: Scene) -> None:
    async with scene.client() as client:
        await run(client)
        first = scene.launched()
        scene.source.write_text("second\n")
        await client.call("debug_restart", timeout=120)
        assert (scene.launched().read_text(), scene.launched() != first) == ("second\n", True)
        await client.call("debug_disconnect")
        scene.source.write_text("third\n")
        experiments = [{"file": str(scene.source), "line": 1, "capture": ["1"]}]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(client.call, "batch_evaluate", experiments=experiments, timeout=600))
            while not (scene.launched().exists() and scene.launched().read_text() == "third\n"):
                await trio.sleep(0.02)
            nursery.cancel_scope.cancel()
        assert not first.exists()
    assert scene.left() == []


@pytest.mark.real
async def test_a_restart_that_cannot_be_built_ends_nothing(scene: Scene) -> None:
    async with scene.client() as client:
        await run(client)
        scene.source.write_text("a\nbroken\n")
        failed = await failure(client, "debug_restart")
        assert (failed.code, "cannot be built: line 2: it is broken." in failed.message) == ("LAUNCH_FAILED", True)
        assert (await client.call("debug_state"))["state"] == "Paused"
        assert scene.launched().exists()
        scene.source.unlink()
        assert (await failure(client, "debug_restart")).code == "INVALID_PATH"


@pytest.mark.real
async def test_a_launch_that_cannot_be_built_ends_nothing_and_sets_no_breakpoint(scene: Scene) -> None:
    async with scene.client() as client:
        await run(client)
        running = scene.launched()
        broken = scene.directory / "broken.m"
        broken.write_text("broken\n")
        breakpoints = [{"file": str(broken), "line": 1}]
        failed = await failure(client, "debug_launch", program="broken.m", replace=True, breakpoints=breakpoints)
        assert failed.code == "LAUNCH_FAILED"
        assert (await client.call("debug_state"))["state"] == "Paused"
        assert (await client.call("breakpoint_list")).get("breakpoints", []) == []
        assert scene.left() == [running.parent]


@pytest.mark.real
async def test_what_was_built_for_a_launch_that_fails_is_gone(scene: Scene) -> None:
    async def refuse(arguments: object) -> object:
        raise Refusal("no")

    scene.adapter.answer("launch", refuse)
    async with scene.client() as client:
        assert (await failure(client, "debug_launch", program="shop.m")).code == "LAUNCH_FAILED"
        assert scene.left() == []


@pytest.mark.real
async def test_what_was_built_lives_as_long_as_a_session_runs_it_whatever_becomes_of_the_call(scene: Scene) -> None:
    async with open_server(Options(settings=scene.settings)) as server:
        debugger = server.app.debugger
        launch = Launch(program=str(scene.source), cwd=str(scene.directory))
        with pytest.raises(KeyError):
            async with built(debugger, scene.profile, launch, trio.current_time() + 20) as start:
                raise KeyError("before it is started")
        assert scene.left() == []
        with pytest.raises(KeyError):
            async with built(debugger, scene.profile, launch, trio.current_time() + 20) as start:
                session = await debugger.start(scene.profile, start)
                raise KeyError("while somebody waits for its stop")
        assert Path(start.program).exists()
        await debugger.sessions.end(session, terminate=True, reason="done")
    assert scene.left() == []


@pytest.mark.real
async def test_a_build_that_outlasts_the_timeout_ends_and_nothing_is_started(scene: Scene) -> None:
    (scene.directory / "cc").write_text("#!/bin/sh\nsleep 60\n")
    async with scene.client() as client:
        failed = await failure(client, "debug_launch", program="shop.m", timeout=0.2)
        assert (failed.code, " was not built within 0" in failed.message) == ("TIMEOUT", True)
        assert (await client.call("debug_state"))["state"] == "Disconnected"
    assert scene.left() == []


@pytest.mark.real
@pytest.mark.parametrize("allowed", [False, True])
async def test_a_confined_server_builds_only_if_that_is_allowed(
    allowed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    scene = Scene(inside, roots=(str(inside),), allow_build=allowed)
    monkeypatch.setattr(tempfile, "tempdir", str(scene.built))
    (inside / "m.toml").touch()
    async with scene.client() as client:
        if allowed:
            await run(client)
            assert scene.launched().is_relative_to(scene.built)
            await run(client, program=".", replace=True)
            assert scene.launched() == inside, "which its adapter builds itself"
            return
        for program in ("shop.m", "."):
            failed = await failure(client, "debug_launch", program=program)
            assert (failed.code, "--allow-build" in failed.message) == ("PERMISSION_DENIED", True)


async def test_a_projects_file_above_the_root_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    scene = Scene(inside, roots=(str(inside),))
    scene.profile.builds = (Build(("cc",), suffixes=(".m",), files=("m.toml",)),)
    (tmp_path / "m.toml").touch()
    async with scene.client() as client:
        failed = await failure(client, "debug_launch", program="shop.m")
        assert (failed.code, "is not an executable" in failed.message) == ("LAUNCH_FAILED", True), "nothing builds it"


async def test_directories_are_launched_if_the_adapter_takes_them(scene: Scene) -> None:
    project = scene.directory / "project"
    project.mkdir()
    async with scene.client() as client:
        failed = await failure(client, "debug_launch", program="project", adapter="fake")
        assert (failed.code, failed.message.endswith("project' is a directory. Pass a file in it.")) == (
            "INVALID_PATH",
            True,
        )
        (project / "shop.m").touch()
        failed = await failure(client, "debug_launch", program="project", adapter="fake")
        assert failed.message.endswith("project' is a directory. Pass a file in it: shop.m.")
        failed = await failure(client, "debug_launch", program="project")
        assert (failed.code, "shop.m can be launched" in failed.message) == ("ADAPTER_NOT_FOUND", True)
        (project / "m.toml").touch()
        await run(client, program="project")
        assert scene.launched() == project
        await run(client, program="project", cwd=str(scene.directory), replace=True)
        await run(client, program=".", cwd="project", replace=True)
        assert scene.launched() == project


@pytest.mark.parametrize(
    ("sections", "how"),
    [
        ({".comment": b"GCC: 12\0"}, "build it with `-g`"),
        ({".comment": b"rustc version 1.95\0"}, "build it with `rustc -g`, or `cargo build` without --release"),
        ({".comment": b"GCC: 12\0", ".debug_info": b"?"}, None),
    ],
)
async def test_a_program_without_debug_information_runs_and_the_answer_says_what_that_means(
    sections: dict[str, bytes], how: str | None, scene: Scene
) -> None:
    program = scene.directory / "app"
    program.write_bytes(elf(sections))
    async with scene.client() as client:
        answer = await run(client, program="app")
        assert scene.launched() == program
        notes = [each for each in answer.get("notes", []) if "debug information" in each]
        said = f"app has no debug information: breakpoints on lines do not bind, and there are no locals; {how}"
        assert notes == ([] if how is None else [said])
