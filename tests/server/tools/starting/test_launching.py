"""What a launch runs, which breakpoints it brings, where relative paths start, and what others did meanwhile."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure
from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.language import LanguagePrograms
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame, PrintedExceptions
from trio_debugmcp.dap.profiles.python.code_files import PythonCode
from trio_debugmcp.dap.profiles.python.expressions import PythonExpressions
from trio_debugmcp.dap.profiles.python.runnable import PythonPrograms
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect
from trio_debugmcp.testing.connect import open_server
from trio_debugmcp.testing.fake_adapter import FakeProfile

TEXT = "import os\n\n\ndef pay():\n    due = 3\n    return due\n"


class Scene:
    """A server in the directory `server`, a program in the directory `shop`, and files of the same names in both."""

    def __init__(self, directory: Path) -> None:
        self.server, self.shop = directory / "server", directory / "shop"
        for folder, names in ((self.server, ["both.py", "here.py"]), (self.shop, ["both.py", "there.py"])):
            folder.mkdir()
            for name in names:
                (folder / name).write_text(TEXT)
        self.adapter = FakeAdapter()
        self.profile = FakeProfile(self.adapter)
        self.options = Options(settings=Settings(directory=str(self.server), profiles=(self.profile,)))

    def launched(self) -> dict[str, Any]:
        """The arguments of the last launch."""
        return self.adapter.sent("launch")[-1]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def run(client: DebugClient, **arguments: Any) -> dict[str, Any]:
    """Launch, unless the arguments say otherwise, what runs on."""
    return await client.call("debug_launch", **{"program": "here.py", "wait": False, **arguments})


# --- What is run ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"program": "here.py", "module": "shop"}, {"code": "1", "test": "a.py::b"}])
async def test_exactly_one_thing_is_run(arguments: dict[str, Any], scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        failed = await failure(client, "debug_launch", **arguments)
        assert failed.code == "INVALID_PARAMETER"
        assert "one of `program`, `module`, `code` and `test`" in failed.message


@pytest.mark.parametrize(
    ("args", "several"),
    [
        (["src --size 10m"], ["src", "--size", "10m"]),
        (["-n 'two words' x"], ["-n", "two words", "x"]),
        (["-n 'it"], ["-n", "'it"]),
        (["add milk - and tea"], None),
        (["--name=two", "-v -q"], None),
        (["--verbose"], None),
    ],
)
async def test_a_command_line_that_came_as_one_argument_is_noted(
    args: list[str], several: list[str] | None, scene: Scene
) -> None:
    async with connect(options=scene.options) as client:
        notes = (await run(client, args=args)).get("notes", [])
        assert scene.launched()["args"] == args
        wanted = f"the program got one argument, with blanks in it; several are args={json.dumps(several)}"
        assert [note for note in notes if "argument" in note] == ([] if several is None else [wanted])


@pytest.mark.parametrize("what", ["module", "code", "test"])
async def test_an_adapter_that_runs_files_only_says_so(what: str, scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        failed = await failure(client, "debug_launch", **{what: "shop"})
        assert (failed.code, f"fake has no `{what}`" in failed.message) == ("NOT_SUPPORTED", True)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("gdb", "Pass adapter='lldb-dap', which does, or have the program read a file."),
        ("codelldb", "Pass adapter='lldb-dap', which does, or have the program read a file."),
        ("perl-ls", "Have the program read a file."),
        ("java", "Have the program read a file."),
        ("lldb-dap", None),
        ("delve", None),
        ("rdbg", None),
        ("js-debug", None),
        ("bash-dap", None),
        ("lua", None),
        ("vscode-php-debug", None),
    ],
)
async def test_input_is_refused_for_an_adapter_that_does_not_give_it_to_its_program(
    autojump_clock: MockClock, name: str, instead: str | None
) -> None:
    known, native = profile_named(name), profile_named("lldb-dap")
    assert known is not None
    assert native is not None
    adapter = FakeAdapter()
    profile = FakeProfile(adapter)
    profile.takes_input, profile.language = known.takes_input, known.language
    settings = Options(settings=Settings(directory="/", profiles=(profile, native)))
    async with connect(options=settings) as client:
        start = {"program": adapter.program, "adapter": "fake", "stdin": "a line", "wait": False}
        if instead is None:
            assert (await client.call("debug_launch", **start))["session"] == "s-1"
            return
        failed = await failure(client, "debug_launch", **start)
        said = f"fake gives its program no input, so `stdin` would be lost. {instead}"
        assert (failed.code, failed.message) == ("NOT_SUPPORTED", said)


async def test_a_command_line_is_a_module_and_its_arguments(scene: Scene) -> None:
    class Modules(FakeProfile):
        code_options: frozenset[str] = frozenset({"module", "python"})

        def launch_arguments(self, launch: Any) -> dict[str, Any]:
            return {**launch.options, "args": list(launch.args)}

    options = Options(settings=Settings(directory=str(scene.server), profiles=(Modules(scene.adapter),)))
    async with connect(options=options) as client:
        await run(client, program="python3 -m pytest -k 'a b'", args=["tests"])
        assert scene.launched() == {"module": "pytest", "args": ["-k", "a b", "tests"]}
        await run(client, program="-m http.server", replace=True)
        assert scene.launched() == {"module": "http.server", "args": []}
        await run(client, program=".venv/bin/python -m pytest", replace=True)
        python = [str(scene.server / ".venv/bin/python")]
        assert scene.launched() == {"module": "pytest", "args": [], "python": python}
        failed = await failure(client, "debug_launch", program="-m pytest -k 'a", replace=True)
        assert (failed.code, "No closing quotation" in failed.message) == ("INVALID_PARAMETER", True)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"program": "here.py", "cwd": "nowhere"}, "INVALID_PATH", "nowhere' does not exist"),
        ({"program": "nowhere.py"}, "INVALID_PATH", "nowhere.py' does not exist"),
        ({"program": "nowhere.txt"}, "INVALID_PATH", "nowhere.txt' does not exist"),
        ({"program": "command"}, "INVALID_PATH", "pass `module`"),
        ({"program": "bin/command"}, "INVALID_PATH", "There is no file 'bin/command'"),
        (
            {"program": "here.py", "adapter_options": {"cwd": "/"}},
            "INVALID_PARAMETER",
            "pass the parameter cwd instead",
        ),
    ],
)
async def test_what_cannot_run_is_refused_with_what_to_do(
    arguments: dict[str, Any], code: str, words: str, scene: Scene
) -> None:
    async with connect(options=scene.options) as client:
        failed = await failure(client, "debug_launch", **arguments)
        assert (failed.code, words in failed.message) == (code, True), failed.message


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("tests/test_nope.py::test_y", "There is no file 'tests/test_nope.py' in "),
        ("tests/test_nope.py", "There are: tests/test_note.py."),
        ("none/test_nope.py", "Do you mean tests/test_note.py?"),
        ("none/till.py", "Pass its path, and the `cwd`"),
    ],
)
async def test_a_test_in_a_file_that_is_not_there_is_not_run(test: str, words: str, scene: Scene) -> None:
    (scene.server / "tests").mkdir()
    (scene.server / "tests" / "test_note.py").write_text("def test_y(): pass\n")
    scene.profile.programs = PythonPrograms()
    async with connect(options=scene.options) as client:
        failed = await failure(client, "debug_launch", test=test)
        assert (failed.code, words in failed.message) == ("INVALID_PATH", True), failed.message
        assert scene.adapter.sent("launch") == []


async def test_a_breakpoint_of_a_launch_may_be_a_place_as_answers_have_it_or_a_function(scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        await run(client, breakpoints=["here.py:5 in pay", "module.pay"], timeout="3")
        lines = (await client.call("breakpoint_list"))["breakpoints"]
        assert [line.split(" ")[1:] for line in lines] == [["here.py:5"], ["module.pay"]]
        again = await client.call("breakpoint_set", file=f"{scene.server}/here.py", line="5")
        assert (again["id"], again["at"]) == ("bp-1", "here.py:5")


async def test_a_breakpoint_may_be_in_an_archive(scene: Scene) -> None:
    with zipfile.ZipFile(scene.server / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", TEXT)
    async with connect(options=scene.options) as client:
        await run(client, breakpoints=["app.pyz/__main__.py:5"])
        lines = (await client.call("breakpoint_list"))["breakpoints"]
        assert [line.split(" ")[1] for line in lines] == ["app.pyz/__main__.py:5"]
        failed = await failure(client, "breakpoint_set", file="app.pyz/gone.py", line=5)
        assert "There is no file" in failed.message


async def test_breakpoints_of_a_launch_are_also_sought_above_its_program(scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        for number, file in enumerate(("there.py", "shop/there.py"), 1):
            await run(client, program=str(scene.shop / "there.py"), breakpoints=[f"{file}:5"], replace=number > 1)
            lines = (await client.call("breakpoint_list"))["breakpoints"]
            assert [line.split(" ")[1] for line in lines] == [f"{scene.shop}/there.py:5"]


async def test_a_file_that_is_not_there_is_answered_with_one_that_may_be_meant(scene: Scene) -> None:
    (scene.server / "src").mkdir()
    (scene.server / "src" / "deep.py").write_text(TEXT)
    async with connect(options=scene.options) as client:
        failed = await failure(client, "debug_launch", program="here.py", breakpoints=["deep.py:5"])
        assert failed.message == f"There is no file '{scene.server}/deep.py'. Do you mean src/deep.py?"
        failed = await failure(client, "debug_launch", program="deep.py")
        assert failed.message == f"The program '{scene.server}/deep.py' does not exist. Do you mean src/deep.py?"
        failed = await failure(client, "debug_launch", program="hree.py")
        assert failed.message.endswith("Do you mean here.py?")
        failed = await failure(client, "debug_launch", program=str(scene.server / "nowhere" / "dep.py"), cwd="src")
        assert failed.message.endswith("Do you mean src/deep.py?"), "the path leads out of `cwd`"
        failed = await failure(client, "debug_launch", program="here.py", cwd="srcs")
        assert failed.message == f"The working directory '{scene.server}/srcs' does not exist. Do you mean src?"
        failed = await failure(client, "breakpoint_set", file="hree.py", line=5)
        assert failed.message.endswith("Do you mean here.py?")
        failed = await failure(client, "breakpoint_set", file="xyz.py", line=5)
        assert failed.message.endswith("Pass the path of a source file.")


async def test_a_pipe_is_not_named_as_the_file_that_is_meant_by_its_own_path(scene: Scene) -> None:
    os.mkfifo(scene.server / "feed.py")
    async with connect(options=scene.options) as client:
        failed = await failure(client, "breakpoint_set", file="feed.py", line=1)
        assert failed.message == f"There is no file '{scene.server}/feed.py'. Pass the path of a source file."


async def test_a_command_line_may_stand_for_a_file_and_its_arguments_or_a_test(scene: Scene) -> None:
    (scene.server / "test_here.py").write_text("def test_pay():\n    assert 0\n")
    scene.profile.programs = PythonPrograms()
    async with connect(options=scene.options) as client:
        await run(client, program="here.py --loud 'a b'", args=["c"])
        assert scene.launched()["args"] == ["--loud", "a b", "c"]
        await run(client, program="python here.py x", replace=True)
        assert (scene.launched()["program"], scene.launched()["args"]) == (f"{scene.server}/here.py", ["x"])
        failed = await failure(client, "debug_launch", program="test_here.py::test_pay", replace=True)
        assert "fake has no `test` to launch" in failed.message, "it was taken for a test"


async def test_a_project_is_launched_by_what_it_names_and_the_answer_says_what_that_was(scene: Scene) -> None:
    package = scene.server / "package.json"
    package.write_text('{"scripts": {"start": "node here.py --loud"}}')
    async with connect(options=scene.options) as client:
        answer = await run(client, program=".", args=["c"])
        assert (scene.launched()["program"], scene.launched()["args"]) == (f"{scene.server}/here.py", ["--loud", "c"])
        assert f"'{scene.server}' names a project; started {scene.server}/here.py" in answer["notes"][0]
        for line in ("node .", "npm start"):
            await run(client, program=f"{line} a", replace=True)
            assert scene.launched()["args"] == ["--loud", "a"]
        package.write_text("{}")
        failed = await failure(client, "debug_launch", program="package.json", replace=True)
        assert (failed.code, "names no program that is there" in failed.message) == ("INVALID_PATH", True)
        package.unlink()
        (scene.server / "shop").mkdir()
        (scene.server / "shop" / "__main__.py").write_text(TEXT)
        for program in ("shop", "go run ./shop"):
            await run(client, program=program, replace=True)
            assert scene.launched()["program"] == f"{scene.server}/shop/__main__.py"


@pytest.mark.parametrize(
    "line", ["unit", "npx unit", "poetry run unit", "bundle exec unit", "cargo run --", "go run ."]
)
async def test_a_command_is_launched_that_the_project_has_installed_or_what_a_runner_runs(
    scene: Scene, line: str
) -> None:
    unit = scene.server / "node_modules" / ".bin" / "unit"
    unit.parent.mkdir(parents=True)
    unit.write_text(TEXT)
    unit.chmod(0o755)
    (scene.server / "package.json").write_text('{"main": "./node_modules/.bin/unit"}')
    async with connect(options=scene.options) as client:
        await run(client, program=f"{line} a", adapter="fake")
        assert (scene.launched()["program"], scene.launched()["args"]) == (str(unit), ["a"])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("cargo build", 'program="."'),
        ("make", "pass the executable"),
        ("vitest run", "node_modules/.bin or vendor/bin"),
    ],
)
async def test_a_command_that_is_none_of_the_project_is_refused_with_what_is_launched_instead(
    scene: Scene, line: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    async with connect(options=scene.options) as client:
        failed = await failure(client, "debug_launch", program=line)
        assert (failed.code, says in failed.message) == ("INVALID_PATH", True), failed.message


async def test_a_launch_says_what_its_breakpoints_drop_of_earlier_ones(scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        wanted = {"file": "here.py", "line": 5}
        first = await run(client, breakpoints=[{**wanted, "condition": "due > 2"}])
        assert "notes" not in first
        again = await run(client, breakpoints=[wanted], replace=True)
        assert "bp-1: the update has dropped its condition `due > 2`" in again["notes"]
        assert "notes" not in await run(client, breakpoints=[wanted], replace=True)


async def test_a_second_launch_replaces_the_first_only_if_it_says_so(scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        assert (await run(client))["session"] == "s-1"
        failed = await failure(client, "debug_launch", program="here.py")
        assert (failed.code, "replace=true" in failed.message) == ("SESSION_ACTIVE", True)
        refused = await failure(client, "debug_launch", program="nowhere.py", replace=True)
        assert refused.code == "INVALID_PATH"
        assert (await client.call("debug_state"))["state"] == "Paused"  # a launch that cannot be ends nothing
        assert (await run(client, replace=True))["session"] == "s-2"


# --- Breakpoints ------------------------------------------------------------------------------------------------------

ON_LINE = {"file": "here.py", "line": 5}
ON_ERROR = {"exception": "ValueError"}


@pytest.mark.parametrize(
    ("brought", "asked", "stops"),
    [
        ([], None, True),
        ([ON_LINE], None, False),
        ([ON_ERROR], None, False),
        ([ON_LINE], True, True),
        ([], False, False),
    ],
)
async def test_a_program_stops_at_its_entry_if_nothing_else_would_stop_it(
    brought: list[Any], asked: bool | None, stops: bool, scene: Scene
) -> None:
    async with connect(options=scene.options) as client:
        await run(client, breakpoints=brought, **({} if asked is None else {"stop_at_entry": asked}))
        assert scene.launched()["stopOnEntry"] is stops


async def test_a_breakpoint_that_is_off_does_not_stop_it(scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        made = await client.call("breakpoint_set", **ON_LINE)
        await client.call("breakpoint_enable", id=made["id"], enabled=False)
        await run(client)
        assert scene.launched()["stopOnEntry"] is True


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        ({"file": "nowhere.py", "line": 1}, "INVALID_PATH"),
        ({"file": "here.py"}, "INVALID_PARAMETER"),
        ({"file": "here.py", "statement": "no such line"}, "INVALID_PARAMETER"),
        ({"exception": "ValueError", "line": 3}, "INVALID_PARAMETER"),
        ({"file": "here.py", "line": 5, "hit_condition": "often"}, "INVALID_CONDITION"),
    ],
)
async def test_the_breakpoints_of_a_launch_are_set_all_or_none(
    refused: dict[str, Any], code: str, scene: Scene
) -> None:
    async with connect(options=scene.options) as client:
        failed = await failure(client, "debug_launch", program="here.py", breakpoints=[ON_LINE, ON_ERROR, refused])
        assert failed.code == code
        assert (await client.call("breakpoint_list")).get("breakpoints", []) == []
        assert scene.adapter.commands() == []


async def test_only_breakpoints_of_an_earlier_session_are_in_force_from_before(scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        await client.call("breakpoint_set", **ON_LINE)
        first = await run(client, breakpoints=[ON_ERROR])
        assert "notes" not in first  # what it has just set itself is nothing new
        second = await run(client, breakpoints=[ON_ERROR], replace=True)
        assert second["notes"] == ["in force from before: bp-1 here.py:5"]
        for line in range(1, 7):
            await client.call("breakpoint_set", file="both.py", line=line, condition="due > 2")
        third = await run(client, replace=True)
        (note,) = third["notes"]
        assert note.startswith("in force from before: bp-1 here.py:5; bp-3 both.py:1 if due > 2; ")
        assert note.endswith("; 3 more")


# --- The end ----------------------------------------------------------------------------------------------------------


class Crashes(LanguagePrograms):
    """A language whose programs print how they crash: the exception, and a number of frames."""

    def printed_in(self, stderr: str) -> PrintedExceptions:
        exception, _, depth = stderr.partition(" x ")
        frames = tuple(CrashFrame(f"f{n}", "/a.py", n) for n in range(int(depth or 0)))
        return PrintedExceptions(Crash(exception, frames) if depth else None)


@pytest.mark.parametrize(
    ("code", "printed", "shown"),
    [
        (1, "Closed: at night x 9", ("Closed: at night", "/a.py:0 in f0", [f"f{n} :{n}" for n in range(1, 6)], 3)),
        (1, "Closed x 6", ("Closed", "/a.py:0 in f0", [f"f{n} :{n}" for n in range(1, 6)], None)),
        (1, "Closed x 0", ("Closed", None, None, None)),
        (1, "no crash", (None, None, None, None)),
        (0, "Closed x 2", (None, None, None, None)),
        (-9, "Closed x 2", (None, None, None, None)),
    ],
)
async def test_the_exception_that_ended_a_program_is_known_afterwards(
    code: int, printed: str, shown: tuple[Any, ...], scene: Scene, autojump_clock: MockClock
) -> None:
    class Crashing(FakeProfile):
        programs: LanguagePrograms = Crashes()

    options = Options(settings=Settings(directory=str(scene.server), profiles=(Crashing(scene.adapter),)))
    async with connect(options=options) as client:
        await run(client)
        await scene.adapter.event("output", {"category": "stdout", "output": "paid"})
        await scene.adapter.event("output", {"category": "stderr", "output": printed})
        await scene.adapter.exit(code)
        await trio.sleep(10)
        state = await client.call("debug_state")
        assert (state["state"], state["exitCode"]) == ("Disconnected", code)
        left_out = state.get("omitted", {}).get("frames")
        assert (state.get("exception"), state.get("at"), state.get("stack"), left_out) == shown
        assert ("notes" in state) == (shown[0] is not None)


# --- Paths ------------------------------------------------------------------------------------------------------------


async def test_a_launch_looks_for_relative_paths_in_its_own_directory_first(scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        for program, found in (("both.py", scene.shop), ("there.py", scene.shop), ("here.py", scene.server)):
            await run(
                client, program=program, cwd="../shop", breakpoints=[{"file": "both.py", "line": 5}], replace=True
            )
            assert scene.launched()["program"] == str(found / program)
        assert (await client.call("breakpoint_list"))["breakpoints"] == [f"bp-1 {scene.shop}/both.py:5"]


async def test_other_paths_start_from_the_server_and_else_from_the_program_that_runs_or_ran(scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        assert (await failure(client, "breakpoint_set", file="there.py", line=5)).code == "INVALID_PATH"
        await run(client, program="there.py", cwd=str(scene.shop))
        assert (await client.call("breakpoint_set", file="there.py", line=5))["at"] == f"{scene.shop}/there.py:5"
        assert (await client.call("breakpoint_set", file="both.py", line=5))["at"] == "both.py:5"  # as answers name it
        await client.call("debug_disconnect")
        assert (await client.call("breakpoint_set", file="there.py", line=6))["at"] == f"{scene.shop}/there.py:6"


async def test_names_in_answers_are_accepted_back(scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        for file in ("here.py", str(scene.server / "both.py"), str(scene.shop / "there.py")):
            made = await client.call("breakpoint_set", file=file, statement="due = 3")
            name, _, line = made["at"].rpartition(":")
            assert await client.call("breakpoint_set", file=name, line=int(line)) == made
        assert [each.split()[1] for each in (await client.call("breakpoint_list"))["breakpoints"]] == [
            "here.py:5",
            "both.py:5",
            f"{scene.shop}/there.py:5",
        ]


async def test_a_server_with_roots_reads_nothing_outside_them(scene: Scene) -> None:
    settings = Settings(directory=str(scene.server), roots=(str(scene.server),), profiles=(scene.profile,))
    async with connect(options=Options(settings=settings)) as client:
        for tool, arguments in (
            ("debug_launch", {"program": str(scene.shop / "there.py")}),
            ("breakpoint_set", {"file": "../shop/there.py", "line": 1}),
        ):
            assert (await failure(client, tool, **arguments)).code == "PERMISSION_DENIED"


async def test_a_server_with_roots_runs_no_installed_command_outside_them(scene: Scene) -> None:
    class Commands(LanguagePrograms):
        def find_command(self, name: str, directory: str) -> str | None:
            return str(scene.shop / "there.py")

    class Profile(FakeProfile):
        programs: LanguagePrograms = Commands()

    settings = Settings(directory=str(scene.server), roots=(str(scene.server),), profiles=(Profile(scene.adapter),))
    async with connect(options=Options(settings=settings)) as client:
        assert (await failure(client, "debug_launch", program="pip")).code == "PERMISSION_DENIED"


@pytest.mark.parametrize("beside", [{"line": 5}, {"statement": "return due"}])
async def test_a_breakpoint_on_a_function_has_no_other_place(beside: dict[str, Any], scene: Scene) -> None:
    async with connect(options=scene.options) as client:
        failed = await failure(client, "breakpoint_set", function="pay", **beside)
        assert (failed.code, "`module.name`" in failed.message) == ("INVALID_PARAMETER", True)


# --- Others -----------------------------------------------------------------------------------------------------------


class Caller:
    """A client, which calls the tools under a name."""

    def __init__(self, tools: Toolbox, debugger: Debugger, name: str) -> None:
        self._tools, self._debugger, self.name = tools, debugger, name

    async def __call__(self, tool: str, **arguments: Any) -> list[str]:
        """Call a tool, and return the notes of its answer."""
        result = await self._tools.call(self._debugger, tool, arguments, client=self.name, reader=self)
        assert result.structured_content is not None, result.content
        notes: list[str] = result.structured_content.get("notes", [])
        return notes


async def test_what_another_client_did_is_noted_once(scene: Scene) -> None:
    async with open_server(scene.options) as server:
        tools = open_toolbox()
        agent, person = (Caller(tools, server.app.debugger, name) for name in ("agent", "person"))
        await agent("debug_launch", program="here.py", stop_at_entry=True)
        await person("breakpoint_set", **ON_LINE)
        await person("breakpoint_set", **ON_LINE)
        await person("debug_step", wait=False)
        await person("breakpoint_list")  # changes nothing
        assert await agent("debug_state") == ["person called breakpoint_set 2 times", "person called debug_step"]
        assert await agent("debug_state") == []
        await agent("breakpoint_remove", id="*")
        assert await agent("debug_state") == []  # what it did itself
        assert await person("debug_state") == ["agent called breakpoint_remove"]


async def test_who_has_ended_a_session_is_said_to_the_others(scene: Scene) -> None:
    async with (
        open_server(scene.options) as server,
        server.connect(name="Ann") as ann,
        server.connect(name="Ben") as ben,
    ):
        await run(ann)
        await ann.call("debug_disconnect")  # of the session before
        await run(ann)
        await ben.call("debug_disconnect")
        assert "disconnected by Ben" in (await ann.call("debug_state"))["notes"]
        assert "disconnected" in (await ben.call("debug_state"))["notes"]
        await run(ann)
        await ann.call("debug_disconnect")
        assert "disconnected by Ann" in (await ben.call("debug_state"))["notes"]
        assert "disconnected" in (await ann.call("debug_state"))["notes"]


async def test_another_client_of_the_same_name_is_another_one(scene: Scene) -> None:
    async with open_server(scene.options) as server:
        tools = open_toolbox()
        agent, twin = (Caller(tools, server.app.debugger, "agent") for _ in range(2))
        await agent("debug_launch", program="here.py", stop_at_entry=True)
        await twin("debug_state")
        await twin("breakpoint_set", **ON_LINE)
        failed = await tools.call(server.app.debugger, "breakpoint_set", {"line": 1}, client="agent", reader=twin)
        assert failed.is_error
        assert await agent("debug_state") == ["another agent called breakpoint_set"]
        assert await twin("debug_state") == []


async def test_of_many_calls_of_others_a_few_are_named(scene: Scene) -> None:
    async with open_server(scene.options) as server:
        tools = open_toolbox()
        callers = [Caller(tools, server.app.debugger, f"person-{number}") for number in range(7)]
        agent = Caller(tools, server.app.debugger, "agent")
        await agent("debug_launch", program="here.py", stop_at_entry=True)
        for caller in callers:
            await caller("breakpoint_set", **ON_LINE)
        await trio.sleep(1)
        notes = await agent("debug_state")
        assert (len(notes), notes[-1]) == (6, "2 other calls: see timeline_query")


@pytest.mark.parametrize("value", [5, {"a": 1}, ["/usr/bin/python", 3], None])
async def test_options_that_name_an_interpreter_are_checked(autojump_clock: MockClock, value: object) -> None:
    async with connect(options=Options()) as client:
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_launch", program=__file__, adapter_options={"python": value})
        assert failed.value.code == "INVALID_PARAMETER"
        assert "'python' must be a string or a list of strings" in failed.value.message


async def test_an_option_that_says_what_is_run_chooses_its_adapter_and_stands_for_the_program(scene: Scene) -> None:
    class Classes(FakeProfile):
        name: str = "classes"
        target_options: frozenset[str] = frozenset({"mainClass"})
        code_options: frozenset[str] = frozenset({"mainClass"})

        def launch_arguments(self, launch: Any) -> dict[str, Any]:
            return dict(launch.options)

    classes = Classes(FakeAdapter())
    options = Options(settings=Settings(directory=str(scene.server), profiles=(scene.profile, classes)))
    async with connect(options=options) as client:
        await client.call("debug_launch", adapter_options={"mainClass": "App"}, wait=False)
        assert classes.adapter.sent("launch") == [{"mainClass": "App"}]
        await client.call("debug_restart", timeout=1)  # nothing stops it
        assert len(classes.adapter.sent("launch")) == 2
        both = {"program": "here.py", "adapter": "fake", "replace": True, "wait": False}
        failed = await failure(client, "debug_launch", **both, module="x")
        assert failed.code == "INVALID_PARAMETER"
    confined = Settings(directory=str(scene.server), roots=(str(scene.server),), profiles=(classes,))
    async with connect(options=Options(settings=confined)) as client:
        failed = await failure(client, "debug_launch", adapter_options={"mainClass": "App"})
        assert (failed.code, "'mainClass' may not be chosen" in failed.message) == ("PERMISSION_DENIED", True)


async def test_of_a_very_large_source_file_the_syntax_is_not_checked(scene: Scene) -> None:
    scene.profile.code, scene.profile.expressions = PythonCode(), PythonExpressions()
    large = scene.server / "large.py"
    large.write_text(f'text = """{"x" * 5_000_000}"""\n')
    async with connect(options=scene.options) as client:
        await run(client, program="large.py")
        large.write_text("text = (")
        assert (await failure(client, "debug_launch", program="large.py", replace=True)).code == "LAUNCH_FAILED"
