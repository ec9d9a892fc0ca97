"""launch.json, as it is, with real debuggers: Python with tasks, an envFile and inputs, and C++ by cppdbg."""

import shutil
from pathlib import Path

import pytest
import trio

from tests.languages.conftest import need
from tests.real.conftest import Connect
from trio_debugmcp.testing import ToolFailed

LAUNCH = """
{
    // What an editor writes, and what is added by hand.
    "configurations": [
        {
            "name": "Shop",
            "type": "debugpy",
            "request": "launch",
            "program": "${workspaceFolder}/shop/app.py",
            "args": ["${input:who}", "a b"],
            "cwd": "${workspaceFolder}/shop",
            "envFile": "${workspaceFolder}/dev.env",
            "env": { "TONE": "loud" },
            "preLaunchTask": "prepare",
            "postDebugTask": "tidy", /* both are in tasks.json */
            "console": "integratedTerminal",
            "serverReadyAction": { "action": "openExternally" },
        },
        { "name": "One", "type": "debugpy", "request": "launch", "program": "shop/one.py", "preLaunchTask": "one" },
        { "name": "Two", "type": "debugpy", "request": "launch", "program": "shop/two.py", "stopOnEntry": false },
        {
            "name": "C++",
            "type": "cppdbg",
            "request": "launch",
            "program": "${fileDirname}/${fileBasenameNoExtension}",
            "args": ["x y"],
            "stopAtEntry": true,
            "cwd": "${fileDirname}",
            "environment": [{ "name": "NAME", "value": "${workspaceFolderBasename}" }],
            "MIMode": "gdb",
            "miDebuggerPath": "/usr/bin/gdb",
            "setupCommands": [{ "text": "-enable-pretty-printing" }],
            "preLaunchTask": "build"
        },
        {
            "name": "Rust",
            "type": "lldb",
            "request": "launch",
            "cargo": { "args": ["build", "--bin=tool"], "filter": { "kind": "bin" }, "cwd": "${workspaceFolder}/tool" },
            "args": "--name 'a b'",
            "cwd": "${workspaceFolder}"
        },
        {
            "name": "C++ by lldb",
            "type": "cppdbg",
            "request": "launch",
            "program": "shop/hello",
            "environment": [{ "name": "NAME", "value": "long name" }],
            "MIMode": "lldb"
        },
    ],
    "compounds": [{ "name": "Both", "configurations": ["One", "Two"], "stopAll": true, "preLaunchTask": "services" }],
    "inputs": [{ "id": "who", "type": "promptString", "description": "Who?" }]
}
"""

TASKS = """
{
    "version": "2.0.0",
    "tasks": [
        { "label": "prepare", "type": "shell", "command": "echo done | tee -a made.txt", "dependsOn": "server" },
        {
            "label": "server",
            "type": "shell",
            "command": "echo $$ > server.pid; echo ready; exec sleep 600",
            "isBackground": true,
            "problemMatcher": { "background": { "endsPattern": "ready" } }
        },
        { "label": "tidy", "type": "process", "command": "sh", "args": ["-c", "echo tidied | tee -a made.txt"] },
        { "label": "services", "type": "shell", "command": "echo services >> tasks.txt" },
        { "label": "one", "type": "shell", "command": "echo one >> tasks.txt" },
        {
            "label": "build",
            "type": "cppbuild",
            "command": "g++",
            "args": ["-g", "-O0", "${file}", "-o", "${fileDirname}/${fileBasenameNoExtension}"]
        }
    ]
}
"""

APP = """
import os, sys
greeting = os.environ["GREETING"]
print(greeting, os.environ["TONE"], sys.argv[1:], open("../made.txt").read())
"""

HELLO = """
#include <cstdlib>
#include <string>
int main(int argc, char **argv) {
    std::string name = getenv("NAME");
    int length = name.size() + argc;
    return length;
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode/launch.json").write_text(LAUNCH)
    (tmp_path / ".vscode/tasks.json").write_text(TASKS)
    (tmp_path / "dev.env").write_text("WORD=hello\nGREETING='${WORD} there'\nTONE=low\nDATABASE=not-in-a-recording\n")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/app.py").write_text(APP.lstrip())
    (tmp_path / "shop/hello.cpp").write_text(HELLO.lstrip())
    return tmp_path


async def test_python_by_a_configuration_with_tasks_an_env_file_and_inputs(debugging: Connect, project: Path) -> None:
    arguments = ("--root", str(project), "--allow-build", "--record", str(project / "all.jsonl"))
    async with debugging("legacy", *arguments) as client:
        listed = await client.call("debug_configurations")
        assert listed["configurations"][0] == {
            "name": "Shop",
            "adapter": "debugpy",
            "inputs": {"who": None},
            "before": "prepare",
            "after": "tidy",
        }
        with pytest.raises(ToolFailed, match=r"uses \$\{input:who\} \(Who\?\), which has no default"):
            await client.call("debug_launch", configuration="Shop")
        stop = await client.call(
            "debug_launch",
            configuration="Shop",
            inputs={"who": "ann"},
            breakpoints=[{"file": "shop/app.py", "line": 3}],
            show=["greeting"],
        )
        assert stop["at"] == "shop/app.py:3 in <module>"
        assert stop["show"] == {"greeting": "'hello there'"}
        assert stop["console"] == "ready\ndone\n"
        server = int((project / "server.pid").read_text())
        again = await client.call("debug_restart")
        assert again["at"] == stop["at"]
        assert int((project / "server.pid").read_text()) != server, "the tasks ran again"
        assert not is_running(server)
        await client.call("debug_launch", configuration="Shop", inputs={"who": "ben"}, replace=True)
        end = await client.call("debug_continue")
        # What comes after a session comes before what is before the next.
        written = "done\ntidied\ndone\ntidied\ndone\n"
        assert end["stdout"] == f"hello there loud ['ben', 'a b'] {written}\n"
        assert end["exitCode"] == 0
        server = int((project / "server.pid").read_text())
        while (project / "made.txt").read_text() != f"{written}tidied\n":  # noqa: ASYNC110 (a file)
            await trio.sleep(0.05)
    assert not is_running(server)
    assert "tidied" in (recording := (project / "all.jsonl").read_text())
    assert "not-in-a-recording" not in recording


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}/exe").exists()


async def test_cpp_by_a_configuration_of_microsofts_extension(debugging: Connect, project: Path) -> None:
    need("g++", shutil.which("g++"), "apt-get install g++")
    async with debugging("legacy", "--root", str(project)) as client:
        with pytest.raises(ToolFailed, match="only with --allow-build"):
            await client.call("debug_launch", configuration="C++", file="shop/hello.cpp")
        assert not (project / "shop/hello").exists()
    async with debugging("legacy", "--root", str(project), "--allow-build") as client:
        stop = await client.call("debug_launch", configuration="C++", file="shop/hello.cpp")
        assert (stop["reason"], stop["at"]) == ("Entry", "shop/hello.cpp:4 in main")
        assert "notes" not in stop
        step = await client.call("debug_step", show=["name"])
        assert project.name in step["show"]["name"]
        end = await client.call("debug_continue")
        assert end["exitCode"] == len(project.name) + 2
        if shutil.which("lldb-dap") or shutil.which("lldb-dap-19"):
            end = await client.call("debug_launch", configuration="C++ by lldb", stop_at_entry=False)
            assert end["exitCode"] == len("long name") + 1
        (project / "shop/hello.cpp").write_text("int main() { return nothing; }\n")
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_launch", configuration="C++", file="shop/hello.cpp")
        assert failed.value.code == "LAUNCH_FAILED"
        assert "The task 'build' ended with exit code 1: " in failed.value.message
        assert "hello.cpp:1: " in failed.value.message
        assert "was not declared in this scope" in failed.value.message


async def test_rust_by_a_configuration_that_leaves_its_build_to_cargo(debugging: Connect, project: Path) -> None:
    need("cargo", shutil.which("cargo"), "apt-get install cargo")
    need("lldb-dap", shutil.which("lldb-dap") or shutil.which("lldb-dap-19"), "apt-get install lldb-19")
    (project / "tool/src").mkdir(parents=True)
    (project / "tool/Cargo.toml").write_text('[package]\nname = "tool"\nversion = "0.1.0"\n')
    main = project / "tool/src/main.rs"
    main.write_text('fn main() {\n    println!("{:?}", std::env::args().last());\n}\n')
    async with debugging("legacy", "--root", str(project), "--allow-build") as client:
        end = await client.call("debug_launch", configuration="Rust", stop_at_entry=False)
        assert (end["stdout"], end.get("exitCode", 0)) == ('Some("a b")\n', 0)
        main.write_text("fn main() { nothing }\n")
        with pytest.raises(ToolFailed, match=r"src/main\.rs:1: cannot find value `nothing`"):
            await client.call("debug_launch", configuration="Rust")


async def test_a_compound_starts_its_programs_together_and_ends_them_together(
    debugging: Connect, project: Path
) -> None:
    (project / "shop/one.py").write_text("import os\nprint(os.getpid())\n")
    (project / "shop/two.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    async with debugging("legacy", "--root", str(project), "--allow-build") as client:
        listed = await client.call("debug_configurations")
        assert listed["compounds"] == [{"name": "Both", "configurations": ["One", "Two"]}]
        stop = await client.call("debug_launch", configuration="Both", breakpoints=[{"file": "shop/one.py", "line": 2}])
        assert stop["at"] == "shop/one.py:2 in <module>"
        assert len(stop["sessions"]) == 2
        assert (project / "tasks.txt").read_text() == "services\none\n"
        with pytest.raises(ToolFailed, match="already active"):
            await client.call("debug_launch", configuration="Both")
        await client.call("debug_disconnect", session_id=stop["session"])
        assert (await client.call("debug_state"))["state"] == "Disconnected"
