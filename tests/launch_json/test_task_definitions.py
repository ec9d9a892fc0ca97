"""Tasks become command lines, as the editor would run them."""

import re
from typing import Any

import pytest

from tests.launch_json.projects import context, shown, tasks_file
from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.files import read_tasks_file
from trio_debugmcp.launch_json.task_definitions import Task, TaskCommand, resolve_task


def task(project: str, wanted: Any, **known: Any) -> Task:
    return resolve_task(tasks_file(project), wanted, context(project, **known))


def refusal(project: str, wanted: Any) -> str:
    with pytest.raises(UsageError) as caught:
        task(project, wanted)
    return f"{caught.value.code}: {caught.value.message}"


def of(text: str, **known: Any) -> Task:
    """The task `a` of a file."""
    file = read_tasks_file(text, ".vscode/tasks.json")
    return resolve_task(file, "a", context("none", **known))


def test_a_task_of_the_cpp_extension_is_a_process() -> None:
    assert shown(task("cpp-active-file", "C/C++: g++ build active file", file="src/main.cpp")) == {
        "label": "C/C++: g++ build active file",
        "command": TaskCommand(
            (
                *("/usr/bin/g++", "-fdiagnostics-color=always", "-g", "/src/cpp-active-file/src/main.cpp"),
                *("-o", "/src/cpp-active-file/src/main"),
            ),
            "/src/cpp-active-file/src",
        ),
    }


def test_dependencies_and_quotes_are_as_the_file_says() -> None:
    whole = task("cpp-cmake", "build all")
    assert (whole.command, whole.order) == (None, "sequence")
    compiled, check = whole.needs
    assert compiled.command == TaskCommand(
        ("/bin/sh", "-e", "-c", "cmake --build build -j $(nproc) && echo ${DONE:-done}"),
        "/src/cpp-cmake",
        {"CC": "gcc", "VERBOSE": "1"},
    )
    assert compiled.order == "parallel"
    configure, assets = compiled.needs
    assert configure.command is not None
    assert configure.command.argv == (
        *("/bin/sh", "-c"),
        (
            "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug '-DNAME=my engine' \"-DHOME=$HOME\" -DLIST=a\\;b "
            "'-DTITLE=an engine'"
        ),
    )
    assert assets.command == TaskCommand(("python3", "tools/pack.py", "cpp-cmake"), "/src/cpp-cmake", {"CC": "gcc"})
    assert check.command is not None
    assert check.command.argv[-1] == "test -x /src/cpp-cmake/build/engine"


def test_a_task_that_stays_says_when_it_is_ready() -> None:
    services = task("full-stack", "services")
    assert services.background
    assert services.ready == "database system is ready"
    watch = task("typescript-api", "${defaultBuildTask}")
    assert (watch.label, watch.background) == ("watch", True)
    assert watch.ready is not None
    assert re.search(watch.ready, "12:00:01 - Found 0 errors. Watching for file changes.")
    assert of('{"tasks": [{"label": "a", "command": "b", "isBackground": true}]}').ready is None


@pytest.mark.parametrize(
    ("wanted", "label", "argv", "directory"),
    [
        ("tsc: build - tsconfig.json", "tsc: build - tsconfig.json", "npx tsc -p tsconfig.json", ""),
        (
            "tsc: watch - web/tsconfig.json",
            "tsc: watch - web/tsconfig.json",
            "npx tsc -p web/tsconfig.json --watch",
            "",
        ),
        ("npm: test", "npm: test", "npm run test", ""),
        ({"type": "npm", "script": "clean"}, "npm: clean - packages/api", "npm run clean", "/packages/api"),
        ({"type": "npm", "script": "new"}, "npm: new", "npm run new", ""),
    ],
)
def test_tasks_that_an_editor_finds_by_itself(wanted: Any, label: str, argv: str, directory: str) -> None:
    found = task("typescript-api", wanted)
    assert found.command is not None
    assert (found.label, " ".join(found.command.argv)) == (label, argv)
    assert found.command.cwd == f"/src/typescript-api{directory}"
    assert found.background is ("watch" in label)


def test_other_types_and_older_files() -> None:
    built = task("rust-tool", "rust: cargo build")
    assert built.command == TaskCommand(
        ("cargo", "build", "--message-format", "short"), "/src/rust-tool", {"CARGO_TERM_COLOR": "never"}
    )
    older = task("java-maven", "mvn: compile")
    assert older.command == TaskCommand(("/bin/sh", "-c", "mvn -q compile"), "/src/java-maven")


def test_inputs_and_sections_of_systems() -> None:
    asked = task("full-stack", "ask", inputs={"word": "two words"}, shell="/bin/bash")
    assert asked.command is not None
    assert asked.command.argv == ("/bin/bash", "-c", "echo two words")
    text = """{
        "options": {"cwd": "all"}, "osx": {"options": {"cwd": "mac"}},
        "tasks": [{"label": "a", "command": "make", "args": [1, "b c"], "osx": {"command": "gmake"}}],
    }"""
    on_linux, on_mac = of(text).command, of(text, platform="osx").command
    assert on_linux == TaskCommand(("make", "1", "b c"), "/src/none/all")
    assert on_mac == TaskCommand(("gmake", "1", "b c"), "/src/none/mac")


def test_what_cannot_be_run_is_an_error_that_names_it() -> None:
    assert refusal("cpp-cmake", "nope") == (
        "INVALID_PARAMETER: There is no task 'nope' in .vscode/tasks.json. Tasks: configure, assets, compile, "
        "build all, check, clean up."
    )
    assert refusal("full-stack", "round") == (
        "INVALID_PARAMETER: The task 'round' of .vscode/tasks.json depends on itself: round → trip → round."
    )
    assert refusal("full-stack", "gulp") == (
        "NOT_SUPPORTED: The task 'gulp' of .vscode/tasks.json is of the type 'gulp', which an extension of the editor "
        "runs. Make it a `shell` task."
    )
    assert refusal("full-stack", "empty") == (
        "INVALID_PARAMETER: The task 'empty' of .vscode/tasks.json has neither a `command` nor `dependsOn`."
    )
    with pytest.raises(UsageError, match=r"the endsPattern '\(' is not a pattern: missing \), unterminated subpattern"):
        of('{"tasks": [{"label": "a", "command": "b", "problemMatcher": {"background": {"endsPattern": "("}}}]}')
    with pytest.raises(UsageError, match="`args` must be a list of strings, not the string 'b c'"):
        of('{"tasks": [{"label": "a", "command": "b", "args": "b c"}]}')
