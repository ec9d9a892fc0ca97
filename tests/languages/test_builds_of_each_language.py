"""Source that is built with real compilers, and executables as these make them."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import trio

from tests.languages.conftest import TEST_SECONDS, installed, need
from tests.real.conftest import Connect
from tests.server.scene import failure
from trio_debugmcp.dap.profiles.native.elf import Executable, read_elf

C = """#include <stdio.h>

int doubled(int number) {
  int result = number * 2;
  return result;
}

int main(void) {
  printf("%d\\n", doubled(21));
  return 7;
}
"""

RUST = """fn main() {
    let number = 21;
    println!("{}", number * 2);
}
"""


async def test_c_is_built_stopped_in_built_again_and_gone_and_its_errors_are_the_compilers(
    debugging: Connect, native_adapter: str, tmp_path: Path
) -> None:
    need("gcc", shutil.which("gcc"), "apt-get install gcc")
    source = tmp_path / "shop.c"
    source.write_text(C)
    launch = {"program": str(source), "adapter": native_adapter}
    async with debugging("--root", str(tmp_path), "--allow-build") as client:
        stop = await client.call("debug_launch", **launch, breakpoints=[{"file": str(source), "line": 5}])
        assert (stop["at"], stop["locals"]) == ("shop.c:5 in doubled", {"number": "21", "result": "42"})
        source.write_text(C.replace("* 2", "* 3"))
        stop = await client.call("debug_restart")
        assert (stop["at"], stop["locals"]["result"]) == ("shop.c:5 in doubled", "63")
        executable = Path((await client.read("debugger://session"))["executablePath"])
        assert executable.is_relative_to(tempfile.gettempdir())
        assert executable.exists()
        source.write_text(C.replace("return 7", "return none"))
        failed = await failure(client, "debug_restart")
        assert f"'{source}' cannot be built: line 10: 'none' undeclared" in failed.message.translate(
            {8216: 39, 8217: 39}
        )
        assert (failed.code, failed.details["line"]) == ("LAUNCH_FAILED", 10)
        assert (await client.call("debug_state"))["state"] == "Paused"
        await client.call("debug_disconnect")
        assert not executable.exists()
        plain = tmp_path / "plain"
        source.write_text(C)
        await trio.run_process(["gcc", "-o", str(plain), str(source)])
        end = await client.call("debug_launch", program=str(plain), adapter=native_adapter, stop_at_entry=False)
        assert end["exitCode"] == 7
        assert any(each.startswith("plain has no debug information: ") for each in end["notes"])


CMAKE = """cmake_minimum_required(VERSION 3.10)
project(shop NONE)
set(compiler gcc)
add_custom_target(shop ALL COMMAND ${compiler} -g -o shop ${CMAKE_SOURCE_DIR}/shop.c)
"""
"""Without the languages of CMake's own, whose compilers it would try for seconds."""


async def test_a_project_of_cmake_is_built_again_and_what_configures_it_is_debugged_too(
    debugging: Connect, tmp_path: Path
) -> None:
    cmake = need("cmake", shutil.which("cmake"), "apt-get install cmake")
    need("gcc", shutil.which("gcc"), "apt-get install gcc")
    described, source = tmp_path / "CMakeLists.txt", tmp_path / "shop.c"
    described.write_text(CMAKE)
    source.write_text(C)
    async with debugging() as client:
        failed = await failure(client, "debug_launch", program=str(tmp_path))
        assert "cmake --build" in failed.message
        breakpoints = [{"file": str(described), "line": 4}]
        stop = await client.call(
            "debug_launch", program=str(tmp_path), adapter=installed("cmake"), breakpoints=breakpoints
        )
        assert stop["at"] == f"{described}:4 in add_custom_target"
        end = await client.call("debug_continue")
        assert end["exitCode"] == 0
        await trio.run_process([cmake, "--build", str(tmp_path / "build")], capture_stdout=True)
        source.write_text(C.replace("* 2", "* 3"))
        where = {"file": str(source), "line": 5}
        stop = await client.call(
            "debug_launch", program=str(tmp_path), adapter=installed("gdb"), breakpoints=[where], replace=True
        )
        assert (stop["at"], stop["locals"]["result"]) == (f"{source}:5 in doubled", "63")


async def test_a_crate_is_built_by_cargo_and_the_program_of_its_source_file_runs(
    debugging: Connect, native_adapter: str, tmp_path: Path
) -> None:
    need("cargo", shutil.which("cargo"), "apt-get install cargo")
    source = tmp_path / "src" / "main.rs"
    source.parent.mkdir()
    source.write_text(RUST)
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n')
    async with debugging() as client:
        breakpoints = [{"file": str(source), "line": 3}]
        stop = await client.call("debug_launch", program=str(tmp_path), adapter=native_adapter, breakpoints=breakpoints)
        assert "main.rs:3 in shop::main" in stop["at"]
        assert "21" in stop["locals"]["number"]
        source.write_text(RUST.replace("* 2", "* y"))
        failed = await failure(client, "debug_launch", program=str(source), adapter=native_adapter, replace=True)
        assert "src/main.rs:3: cannot find value `y` in this scope" in failed.message


def test_executables_say_which_compiler_has_made_them_and_whether_with_debug_information(tmp_path: Path) -> None:
    made = {
        ("gcc", "-g", "-o", "{}", "a.c"): ("c", True),
        ("gcc", "-g", "-gz", "-gdwarf-4", "-o", "{}", "a.c"): ("c", True),
        ("gcc", "-o", "{}", "a.c"): ("c", False),
        ("rustc", "-g", "-o", "{}", "a.rs"): ("rust", True),
        ("rustc", "-o", "{}", "a.rs"): ("rust", False),
        ("go", "build", "-o", "{}", "a.go"): ("go", True),
        ("go", "build", "-ldflags=-s -w", "-o", "{}", "a.go"): ("go", False),
    }
    (tmp_path / "a.c").write_text(C)
    (tmp_path / "a.rs").write_text(RUST)
    (tmp_path / "a.go").write_text('package main\n\nfunc main() { println("21") }\n')
    program = tmp_path / "program"
    env = {**os.environ, "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
    for command, (language, debug) in made.items():
        need(command[0], shutil.which(command[0]), f"install {command[0]}")
        line = [each.replace("{}", str(program)) for each in command]
        subprocess.run(line, check=True, timeout=TEST_SECONDS, cwd=tmp_path, env=env, capture_output=True)
        with program.open("rb") as file:
            found = read_elf(file)
        assert isinstance(found, Executable)
        assert (found.language, found.debug) == (language, debug), command
