"""debug_configurations, and debug_launch by the name of a configuration, with an adapter in memory."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.launch_json.projects import PROJECTS
from tests.server.scene import failure
from trio_debugmcp.app import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect
from trio_debugmcp.testing.fake_adapter import FakeProfile


class Absent(FakeProfile):
    """An adapter that is not installed."""

    name = "absent"
    types = frozenset({"go"})
    install_hint = "get go"

    def locate(self) -> str | None:
        return None


class Scene:
    """A server in the directory of a project, or in one of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.adapter = FakeAdapter()
        self.profile = FakeProfile(self.adapter)
        self.profile.types = frozenset({"debugpy", "python"})
        self.profile.target_options = frozenset({"module"})
        self.profile.code_options = frozenset({"module", "code"})

    def project(self, name: str) -> Path:
        shutil.copytree(PROJECTS / name, self.directory / name)
        return self.directory / name

    def write(self, *configurations: dict[str, Any], **others: Any) -> None:
        """Write a launch.json of Python's configurations with names a, b, …"""
        defaults = {"type": "debugpy", "request": "launch", "program": "${workspaceFolder}/app.py"}
        found = [{"name": chr(ord("a") + at), **defaults, **each} for at, each in enumerate(configurations)]
        (self.directory / ".vscode").mkdir(exist_ok=True)
        (self.directory / ".vscode/launch.json").write_text(json.dumps({"configurations": found, **others}))
        (self.directory / "app.py").write_text("import os\n")

    def options(self, directory: Path | None = None, **others: Any) -> Options:
        profiles = (self.profile, Absent(self.adapter))
        return Options(settings=Settings(directory=str(directory or self.directory), profiles=profiles, **others))

    def launched(self) -> dict[str, Any]:
        """The arguments of the last launch."""
        return self.adapter.sent("launch")[-1]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def run(client: DebugClient, **arguments: Any) -> dict[str, Any]:
    return await client.call("debug_launch", **{"configuration": "a", "wait": False, **arguments})


# --- The list ---------------------------------------------------------------------------------------------------------


async def test_the_list_has_what_each_needs_and_why_it_cannot_run(scene: Scene) -> None:
    async with connect(options=scene.options(scene.project("pytest-library"))) as client:
        listed = await client.call("debug_configurations")
    first, second, tests, attach, waits = listed["configurations"]
    assert first == {"name": "Python Debugger: Current File", "adapter": "fake", "needs": ["file"]}
    assert second["problem"].endswith("uses ${command:pickArgs}: the program's arguments. Pass `args`.")
    assert tests == {
        "name": "pytest: this file",
        "adapter": "fake",
        "needs": ["file"],
        "inputs": {"which": "one of slow, quick, slow or quick"},
    }
    assert attach == {"name": "Attach by process", "adapter": "fake", "request": "attach", "needs": ["pid"]}
    assert "debug_listen" in waits["problem"]


async def test_the_list_says_what_is_not_installed_not_known_or_runs_tasks(scene: Scene) -> None:
    scene.write(
        {"type": "go"},
        {"type": "extensionHost"},
        {"preLaunchTask": "build", "postDebugTask": {"type": "npm", "script": "x"}},
        compounds=[{"name": "both", "configurations": ["a", "b"]}, {"name": "odd", "configurations": ["z"]}],
    )
    async with connect(options=scene.options()) as client:
        listed = await client.call("debug_configurations")
    absent, unknown, tasks = listed["configurations"]
    assert absent == {"name": "a", "problem": "The debug adapter absent is not installed. Install it with: get go"}
    assert unknown["problem"] == (
        "The configuration 'b' is of the type 'extensionHost', for which there is no debug adapter. Types: debugpy, "
        "go, python."
    )
    assert tasks["problem"] == "There is no task 'build' in .vscode/tasks.json. Tasks: none."
    assert tasks["before"] == "build"
    both, odd = listed["compounds"]
    assert both == {"name": "both", "configurations": ["a", "b"]}
    assert odd["problem"].startswith("The compound 'odd' of .vscode/launch.json names 'z', which is not there.")


async def test_without_a_file_the_list_says_where_it_would_be(scene: Scene) -> None:
    async with connect(options=scene.options()) as client:
        listed = await client.call("debug_configurations")
        assert listed == {"notes": [f"there is no .vscode/launch.json below {scene.directory}"]}
        failed = await failure(client, "debug_launch", configuration="a")
        assert (failed.code, failed.message) == (
            "INVALID_PARAMETER",
            f"The configuration 'a' is not found: there is no .vscode/launch.json below {scene.directory}.",
        )


async def test_a_broken_file_is_an_error_with_line_and_column(scene: Scene) -> None:
    scene.write({})
    (scene.directory / ".vscode/launch.json").write_text('{\n  "configurations": [\n    {"name" "a"}]}')
    async with connect(options=scene.options()) as client:
        listing = await failure(client, "debug_configurations")
        launching = await failure(client, "debug_launch", configuration="a")
        for each in (listing, launching):
            assert (each.code, each.message) == (
                "INVALID_PARAMETER",
                ".vscode/launch.json, line 3, column 13: expecting ':' delimiter. Correct the file there.",
            )


# --- The launch -------------------------------------------------------------------------------------------------------


async def test_a_configuration_says_what_runs_and_the_caller_what_is_else(scene: Scene) -> None:
    scene.write({"args": ["${fileBasename}", "${input:one}"], "stopOnEntry": True}, inputs=[{"id": "one"}])
    app, other = scene.directory / "app.py", scene.directory / "other.py"
    other.write_text("1\n")
    async with connect(options=scene.options()) as client:
        await run(client, file="app.py", inputs={"one": 1})
        assert scene.launched() == {"program": str(app), "args": ["app.py", "1"], "stopOnEntry": True}
        answer = await run(client, program="other.py", inputs={"one": "x"}, replace=True, stop_at_entry=False)
        # A program stands for the file; the configuration is in place of it.
        assert scene.launched() == {"program": str(app), "args": ["other.py", "x"], "stopOnEntry": False}
        assert answer["notes"] == ["`program` is passed over: the configuration says what runs"]
        await run(client, args=["mine"], replace=True)
        assert scene.launched()["args"] == ["mine"]
        failed = await failure(client, "debug_launch", configuration="a", args=["mine"])
        assert failed.code == "SESSION_ACTIVE"


async def test_a_module_is_run_and_a_configuration_that_says_nothing_is_refused(scene: Scene) -> None:
    scene.write({"program": None, "module": "shop"}, {"program": None}, {"program": "none.py"})
    async with connect(options=scene.options()) as client:
        await run(client)
        assert scene.launched()["program"] == "shop"
        nothing = await failure(client, "debug_launch", configuration="b", replace=True)
        assert nothing.message == (
            "The configuration 'b' does not say what to run: it has no `program`, and fake knows no other way."
        )
        missing = await failure(client, "debug_launch", configuration="c", replace=True)
        assert (missing.code, missing.details["path"]) == ("INVALID_PATH", str(scene.directory / "none.py"))


async def test_a_configuration_that_attaches_does(scene: Scene) -> None:
    scene.write({"request": "attach", "program": None, "connect": {"host": "localhost", "port": 5678}})
    async with connect(options=scene.options()) as client:
        failed = await failure(client, "debug_launch", configuration="a", show=["1"])
        assert "`show` is for launches" in failed.message
        answer = await client.call("debug_launch", configuration="a")
        assert answer == {"state": "Running", "session": answer["session"], "pid": 4242}
        assert scene.adapter.sent("attach")[-1] == {"pid": None, "port": 5678}


async def test_what_belongs_to_a_configuration_is_refused_without_one(scene: Scene) -> None:
    scene.write({})
    async with connect(options=scene.options()) as client:
        for given in ({"file": "a.py"}, {"inputs": {"a": 1}}, {"pid": 1}):
            failed = await failure(client, "debug_launch", program="app.py", **given)
            assert f"`{next(iter(given))}` is for the variables of a `configuration`" in failed.message
        wrong = await failure(client, "debug_launch", configuration="a", file="none.py")
        assert (wrong.code, wrong.message) == (
            "INVALID_PATH",
            "There is no file 'none.py'. Pass `file` as an absolute path.",
        )


async def test_a_confined_server_runs_no_tasks_and_reads_nothing_outside(scene: Scene, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    inside = Scene(root)
    inside.write({"preLaunchTask": "build"}, {"envFile": "${workspaceFolder}/../secret.env"}, {"program": "../app.py"})
    (tmp_path / "secret.env").write_text("A=1\n")
    (root / ".vscode/tasks.json").write_text(
        '{"tasks": [{"label": "build", "type": "shell", "command": "touch built"}]}'
    )
    roots = (str(root),)
    async with connect(options=inside.options(roots=roots)) as client:
        refused = await failure(client, "debug_launch", configuration="a")
        assert (refused.code, refused.message) == (
            "PERMISSION_DENIED",
            (
                f"The configuration 'a' runs the task 'build', which a server that is confined to {root} does only "
                "with --allow-build. Build the program, and launch that."
            ),
        )
        for name in ("b", "c"):
            assert (await failure(client, "debug_launch", configuration=name)).code == "PERMISSION_DENIED"
    assert not (root / "built").exists()


async def test_two_roots_are_two_folders(scene: Scene) -> None:
    roots = []
    for name in ("api", "web"):
        folder = scene.directory / name
        folder.mkdir()
        Scene(folder).write({"args": ["${workspaceFolder:web}"]}, {"name": f"only {name}"})
        roots.append(str(folder))
    options = scene.options(scene.directory / "api", roots=tuple(roots))
    async with connect(options=options) as client:
        listed = await client.call("debug_configurations")
        assert [each["name"] for each in listed["configurations"]] == [
            "a (api)", "only api (api)", "a (web)", "only web (web)",
        ]  # fmt: skip
        await run(client, configuration="a (web)")
        assert scene.launched() == {
            "program": str(scene.directory / "web/app.py"),
            "args": [str(scene.directory / "web")],
            "stopOnEntry": True,
        }
        await run(client, configuration="only web", replace=True)
        assert scene.launched()["program"] == str(scene.directory / "web/app.py")


async def test_of_a_compound_all_are_started_or_none(scene: Scene) -> None:
    compounds = [{"name": "both", "configurations": ["a", "b"]}, {"name": "odd", "configurations": ["a", "z"]}]
    scene.write({}, {"type": "extensionHost"}, compounds=compounds)
    async with connect(options=scene.options()) as client:
        refused = await failure(client, "debug_launch", configuration="both", args=["1"])
        assert refused.message == (
            "'both' is a compound of 2 configurations, and `args` is about one program. Leave it out, or launch "
            "them one by one, with new_session=true."
        )
        failed = await failure(client, "debug_launch", configuration="both")
        assert failed.code == "ADAPTER_NOT_FOUND"
        assert scene.launched(), "the first was started"
        assert (await client.call("debug_state"))["state"] == "Disconnected"
        odd = await failure(client, "debug_launch", configuration="odd")
        assert "names 'z', which is not there" in odd.message
