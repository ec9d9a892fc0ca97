"""What a project runs that is launched by its directory, or by the file that describes it."""

import json
import shutil
import sys
import zipapp
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.project_programs import project_program
from trio_debugmcp.dap.profiles.projects.project_program import NoProgram, ProjectProgram
from trio_debugmcp.dap.profiles.python.debugpy import Debugpy
from trio_debugmcp.dap.profiles.python.expressions import PythonExpressions


def project(directory: Path, *files: str, **described: Any) -> str:
    """A project with these files, empty but for package.json."""
    for name in files:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).touch()
    if described:
        (directory / "package.json").write_text(json.dumps(described))
    return str(directory)


def test_a_package_is_run_as_a_module_where_it_can_be_imported_and_else_by_its_file(tmp_path: Path) -> None:
    package = project(tmp_path / "shop", "__init__.py", "__main__.py")
    assert project_program(package, str(tmp_path)) == ProjectProgram(
        module="shop", why="python -m shop, as it has a __main__.py"
    )
    main = ProjectProgram(program=f"{package}/__main__.py", why="its __main__.py")
    assert project_program(package, package) == main
    (tmp_path / "shop" / "__init__.py").unlink()
    assert project_program(package, str(tmp_path)) == main


def test_files_and_directories_that_describe_no_project_are_left_alone(tmp_path: Path) -> None:
    project(tmp_path, "a.py", "notes/x.txt")
    for name in ("a.py", "notes", "gone", "gone/package.json"):
        assert project_program(str(tmp_path / name), str(tmp_path)) is None


@pytest.mark.parametrize("interpreter", [None, "/usr/bin/env python3"])
def test_an_archive_of_python_is_run_by_python_itself(tmp_path: Path, interpreter: str | None) -> None:
    project(tmp_path / "made", "__main__.py")
    archive = tmp_path / "app.pyz"
    zipapp.create_archive(tmp_path / "made", archive, interpreter)
    found = project_program(str(archive), "/")
    assert found is not None
    assert (found.program, found.code) == (str(archive), None)
    assert "named like files below it" in found.why
    assert PythonExpressions().program_problem(str(archive), archive.read_bytes()) is None
    assert Debugpy().detect.fits_name(str(archive))


def test_a_file_that_only_has_the_name_of_an_archive_is_left_alone(tmp_path: Path) -> None:
    assert project_program(f"{project(tmp_path, 'app.pyz')}/app.pyz", str(tmp_path)) is None


def test_what_npm_would_run_before_and_after_is_said_to_be_left_out(tmp_path: Path) -> None:
    scripts = {"start": "node a.js", "prestart": "tsc", "poststart": "true"}
    home = project(tmp_path, "a.js", scripts=scripts)
    found = project_program(home, home)
    assert found is not None
    assert found.why == "`npm start` in package.json, without its prestart and poststart"


@pytest.mark.parametrize("name", ["shop", "till"])
def test_the_command_of_a_project_of_poetry_is_one_too(tmp_path: Path, name: str) -> None:
    scripts = f'[tool.poetry]\nname = "shop"\n[tool.poetry.scripts]\n{name} = "shop.cli:run"\n'
    (tmp_path / "pyproject.toml").write_text(scripts)
    found = project_program(str(tmp_path), str(tmp_path))
    assert found is not None
    assert found.why == f"the command {name} of [tool.poetry.scripts], shop.cli:run"


@pytest.mark.parametrize("name", ["", "package.json"])
def test_npm_start_is_launched_with_its_arguments_in_its_directory(tmp_path: Path, name: str) -> None:
    home = project(tmp_path, "src/server.js", scripts={"start": "node src/server.js --port '1 2'"}, main="none.js")
    assert project_program(str(tmp_path / name), "/") == ProjectProgram(
        program=f"{home}/src/server.js", args=("--port", "1 2"), directory=home, why="`npm start` in package.json"
    )


@pytest.mark.parametrize(
    ("described", "program"),
    [
        ({"bin": "cli.js", "name": "n"}, "cli.js"),
        ({"bin": {"n": "./cli.js"}, "main": "lib"}, "cli.js"),
        ({"main": "lib"}, "lib/index.js"),
        ({"main": "./cli"}, "cli.js"),
        ({"name": "n"}, "index.js"),
    ],
)
def test_without_it_the_command_or_the_module_is_launched(
    tmp_path: Path, described: dict[str, Any], program: str
) -> None:
    home = project(tmp_path, "cli.js", "lib/index.js", "index.js", **described)
    found = project_program(home, home)
    assert found is not None
    assert found.program == f"{home}/{program}"


@pytest.mark.parametrize(
    ("described", "says"),
    [
        ({"scripts": {"start": "vite"}}, r"`vite`, which is not a file that node runs.*dev_server="),
        ({"scripts": {"start": "node a.js && node b.js"}}, "is not a file that node runs"),
        ({"scripts": {"start": "node a.js & node b.js"}}, "is not a file that node runs"),
        ({"scripts": {"start": "node a.js `date`"}}, "is not a file that node runs"),
        ({"scripts": {"start": "node a.js *.txt"}}, "is not a file that node runs"),
        ({"scripts": {"start": "node 'a"}}, "is not a file that node runs"),
        ({"bin": {"a": "a.js", "b": "b.js"}}, r"several commands: a \(a.js\), b \(b.js\)"),
        ({"scripts": {"dev": "x"}}, "Its scripts are: dev. Pass its file"),
    ],
)
def test_a_package_of_node_that_names_no_program_is_refused_with_what_there_is(
    tmp_path: Path, described: dict[str, Any], says: str
) -> None:
    home = project(tmp_path, "a.js", "b.js", **described)
    with pytest.raises(NoProgram, match=says):
        project_program(home, home)


@pytest.mark.parametrize(
    ("name", "commands"), [("shop", 'a = "m:f"\nshop = "shop.cli:App.run"'), ("x", 'shop = "shop.cli:App.run"')]
)
def test_the_command_of_a_python_project_is_launched_that_has_its_name_or_is_the_only_one(
    tmp_path: Path, name: str, commands: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n[project.scripts]\n{commands}\n')
    found = project_program(str(tmp_path), str(tmp_path))
    assert found == ProjectProgram(
        command="shop",
        code="import sys\nfrom shop.cli import App\nsys.exit(App.run())\n",
        why="the command shop of [project.scripts], shop.cli:App.run",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[project]\n", r"no \[project.scripts\]"),
        ('[project.scripts]\na = "m:f"\nb = "m:g"\n', "Pass one as `program`: a, b"),
        ('[project.scripts]\na = "m"\n', "which is not module:function"),
        ("[project\n", "cannot be read"),
    ],
)
def test_a_python_project_that_names_no_command_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(NoProgram, match=says):
        project_program(str(tmp_path), str(tmp_path))


@pytest.mark.parametrize("source", ["src/shop/cli.py", "src/shop.py", "shop/cli.py"])
def test_a_command_that_is_not_installed_is_imported_from_where_its_project_has_it(tmp_path: Path, source: str) -> None:
    home = tmp_path / "one"
    project(home, source)
    (home / "pyproject.toml").write_text('[project.scripts]\nshop = "shop.cli:run"\n')
    found = project_program(str(home), str(tmp_path))
    assert found is not None
    place = home / "src" if source.startswith("src") else home
    assert found.code == f"import sys\nsys.path.insert(0, {str(place)!r})\nfrom shop.cli import run\nsys.exit(run())\n"


def test_of_a_project_of_both_languages_that_is_launched_which_names_a_program(tmp_path: Path) -> None:
    home = project(tmp_path, "a.js", scripts={"build": "vite"})
    (tmp_path / "pyproject.toml").write_text('[project.scripts]\nshop = "shop:run"\n')
    found = project_program(home, home)
    assert found is not None
    assert found.command == "shop"
    project(tmp_path, scripts={"start": "node a.js"})
    with pytest.raises(NoProgram, match=r"several programs: `npm start` in package.json and the command shop"):
        project_program(home, home)
    (tmp_path / "pyproject.toml").write_text("")
    found = project_program(home, home)
    assert found is not None
    assert found.program == f"{home}/a.js"


def test_a_package_json_that_begins_with_a_byte_order_mark_is_read_and_one_too_deep_is_refused(tmp_path: Path) -> None:
    home = project(tmp_path, "a.js")
    (tmp_path / "package.json").write_text('{"main": "a.js"}', encoding="utf-8-sig")
    assert project_program(home, home) is not None
    (tmp_path / "package.json").write_text("[" * 100_000)
    with pytest.raises(NoProgram, match="cannot be read"):
        project_program(home, home)


# --- Projects of compilers, and of others -----------------------------------------------------------------------------


def written(home: Path, files: Mapping[str, str]) -> str:
    """A project with these files, by their names."""
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return str(home)


def executable(file: Path) -> str:
    """What is machine code by its first bytes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(sys.executable, file)
    file.chmod(0o755)
    return str(file)


def refusal(path: str, cwd: str) -> str:
    with pytest.raises(NoProgram) as raised:
        project_program(path, cwd)
    return str(raised.value)


CMAKE = (
    "project(shop CXX)\nadd_executable(shop main.cpp)\nadd_executable(till till.cpp)\nadd_executable(x ALIAS shop)\n"
)


def test_a_project_of_cmake_that_is_not_built_is_refused_with_the_commands_and_its_programs(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    for path in (tmp_path, tmp_path / "CMakeLists.txt"):
        says = refusal(str(path), str(tmp_path))
        assert f"cmake -S {tmp_path} -B {tmp_path}/build -DCMAKE_BUILD_TYPE=Debug && cmake --build" in says
        assert "(shop, till)" in says


def test_the_command_that_builds_a_project_can_be_pasted_where_its_path_has_a_blank(tmp_path: Path) -> None:
    home = tmp_path / "my shop"
    written(home, {"CMakeLists.txt": CMAKE})
    assert f"cmake -S '{home}' -B '{home}/build' " in refusal(str(home), str(tmp_path))


def test_of_a_project_of_cmake_that_is_configured_the_one_program_is_built_again(tmp_path: Path) -> None:
    home, build = tmp_path / "shop", tmp_path / "shop" / "build"
    cache = f"CMAKE_HOME_DIRECTORY:INTERNAL={home}\n"
    written(home, {"CMakeLists.txt": CMAKE, "build/CMakeCache.txt": cache})
    assert f"Build it: cmake --build {build}" in refusal(str(home), "/")
    program = executable(build / "shop")
    executable(build / "libstock.so.1")
    (build / "CTestTestfile.cmake").write_text(f'add_test(stock "{executable(build / "stock_test")}")\n')
    found = project_program(str(home), "/")
    assert found is not None
    assert found.program == program
    assert found.build == BuildPlan(("cmake", "--build", str(build)), str(build), program, program=program)
    till = executable(build / "bin" / "till")
    assert f"Build and pass one as `program`: {program}, {till}." in refusal(str(home), "/")


SOURCES = "add_executable(shop src/main.cpp src/price.cpp)\nadd_executable(alone alone.cpp)\n"


def test_a_source_file_of_a_target_of_cmake_is_built_by_that_target(tmp_path: Path) -> None:
    home, build = tmp_path / "shop", tmp_path / "shop" / "build"
    cache = f"CMAKE_HOME_DIRECTORY:INTERNAL={home}\n"
    made = "build/CMakeFiles/shop.dir/src/main.cpp.o"
    written(home, {"CMakeLists.txt": SOURCES, "src/main.cpp": "", "build/CMakeCache.txt": cache, made: ""})
    program = executable(build / "bin" / "shop")
    executable(build / "other")
    found = project_program(f"{home}/src/main.cpp", "/")
    assert found is not None
    assert found.program == program
    command = ("cmake", "--build", str(build), "--target", "shop")
    assert found.build == BuildPlan(command, str(build), program, program=program)
    written(home, {"build/CMakeFiles/other.dir/src/main.cpp.o": ""})
    assert "is in several programs. Pass one as `program`: " in refusal(f"{home}/src/main.cpp", "/")


def test_a_source_file_of_a_target_of_cmake_that_is_not_built_is_refused_unless_it_is_all_of_it(tmp_path: Path) -> None:
    files = dict.fromkeys(("src/main.cpp", "src/price.cpp", "alone.cpp", "more/main.cpp"), "")
    written(tmp_path, {"CMakeLists.txt": SOURCES, **files})
    says = refusal(f"{tmp_path}/src/main.cpp", "/")
    assert "belongs to the program shop of the CMake project" in says
    assert f"cmake --build {tmp_path}/build --target shop; then pass the file again." in says
    for name in ("alone.cpp", "more/main.cpp"):
        assert project_program(f"{tmp_path}/{name}", "/") is None
    written(tmp_path, {"CMakeLists.txt": f"{SOURCES}target_link_libraries(alone stock)\n"})
    assert "the program alone" in refusal(f"{tmp_path}/alone.cpp", "/")


def test_an_executable_beside_a_makefile_is_run_as_it_is_and_without_one_the_refusal_makes_it(tmp_path: Path) -> None:
    home = written(tmp_path, {"Makefile": "shop:\n", "notes.sh": "#!/bin/sh\n"})
    assert "make CFLAGS='-g -O0'" in refusal(home, home)
    program = executable(tmp_path / "shop")
    found = project_program(home, home)
    assert found is not None
    assert (found.program, found.build) == (program, None)
    assert "not built again by Makefile" in found.why


def test_a_makefile_beside_a_project_of_another_language_says_nothing(tmp_path: Path) -> None:
    home = project(tmp_path, "Makefile", "index.js", name="n")
    found = project_program(home, home)
    assert found is not None
    assert found.program == f"{home}/index.js"


MAIN = "package main\n\nfunc main() {}\n"


@pytest.fixture
def module(tmp_path: Path) -> Path:
    described = "module example.org/till // the till\n\ngo 1.19\n"
    written(tmp_path, {"cmd/a/main.go": MAIN, "lib/lib.go": "package lib\n", "go.mod": described})
    return tmp_path


@pytest.mark.parametrize("name", ["", "go.mod", "...", "cmd/...", "example.org/till/cmd/a"])
def test_a_module_of_go_runs_its_only_program_however_it_is_named(module: Path, name: str) -> None:
    found = project_program(str(module / name), str(module))
    assert found is not None
    assert found.program == str(module / "cmd/a")


def test_go_programs_that_delve_builds_itself_are_left_to_it_and_other_packages_are_refused(module: Path) -> None:
    home = str(module)
    assert project_program(f"{home}/cmd/a", home) is None
    assert "has no package `main`. Pass a test of it" in refusal(f"{home}/lib", home)
    assert project_program(f"{home}/example.org/other", home) is None
    assert project_program("/elsewhere/...", "/elsewhere") is None
    (module / "cmd/b").mkdir()
    (module / "cmd/b/main.go").write_text(MAIN)
    assert f"Pass one as `program`: {home}/cmd/a, {home}/cmd/b." in refusal(f"{home}/...", home)
    (module / "main.go").write_text(MAIN)
    assert project_program(home, home) is None
    assert project_program(f"{home}/go.mod", home) is None


ZIG = """    const exe = b.addExecutable(.{
        .name = "till",
        .root_module = b.createModule(.{ .root_source_file = b.path("src/main.zig") }),
    });
"""


@pytest.mark.parametrize("name", ["", "/build.zig", "/src/main.zig"])
def test_a_project_of_zig_runs_its_only_executable_built_by_it(tmp_path: Path, name: str) -> None:
    home = written(tmp_path, {"build.zig": ZIG, "src/main.zig": "", "src/other.zig": ""})
    found = project_program(f"{home}{name}", "/")
    assert found is not None
    assert found.build is not None
    assert (found.build.command, found.build.directory) == (("zig", "build"), home)
    assert (found.program, found.build.program) == (f"{home}/build.zig", f"{home}/zig-out/bin/till")
    assert "`.use_llvm = true`" in found.why
    assert project_program(f"{home}/src/other.zig", "/") is None


def test_a_project_of_zig_with_several_programs_or_none_is_refused(tmp_path: Path) -> None:
    home = written(tmp_path, {"build.zig": ZIG + ZIG.replace("till", "shop")})
    assert f"{home}/zig-out/bin/till, {home}/zig-out/bin/shop" in refusal(home, "/")
    written(tmp_path, {"build.zig": '// addExecutable(.{ .name = "no" });'})
    assert "names no executable" in refusal(home, "/")


@pytest.mark.parametrize("name", ["pom.xml", "build.gradle", "build.gradle.kts"])
def test_a_project_of_java_runs_its_only_class_with_a_main(tmp_path: Path, name: str) -> None:
    main = "class Main { public static void main(String[] args) { } }"
    places = ("src/main/java/depot/Main.java", "src/test/java/Run.java", "build/Copy.java")
    written(tmp_path, {**dict.fromkeys(places, main), name: ""})
    found = project_program(str(tmp_path), "/")
    assert found is not None
    assert found.program == f"{tmp_path}/src/main/java/depot/Main.java"
    (tmp_path / "src/main/java/Other.java").write_text(main)
    assert "several classes with a `main`" in refusal(f"{tmp_path}/{name}", "/")


def test_a_project_of_the_jvm_without_a_main_in_java_is_refused_with_what_can_be_passed(tmp_path: Path) -> None:
    home = project(tmp_path, "pom.xml", "src/main/java/A.java")
    assert 'Pass a test of it: test="FILE.java::name", or a jar' in refusal(home, "/")
    project(tmp_path, "src/main/kotlin/A.kt")
    says = 'Build a jar and pass that (mvn package), or a test of it: test="FILE.kt::name"'
    assert says in refusal(home, "/")


def test_a_project_of_ruby_runs_its_only_command(tmp_path: Path) -> None:
    home = project(tmp_path, "Gemfile", "Rakefile", "shop.rb")
    assert refusal(home, "/").count(f"such as {home}/shop.rb.") == 1
    (tmp_path / "exe").mkdir()
    (tmp_path / "exe/shop").write_text("#!/usr/bin/env ruby\n")
    found = project_program(home, "/")
    assert found is not None
    assert found.program == f"{home}/exe/shop"
    (tmp_path / "exe/till.rb").touch()
    assert f"several commands. Pass one as `program`: {home}/exe/shop, {home}/exe/till.rb." in refusal(home, "/")


@pytest.mark.parametrize(("described", "says"), [("{}", "such as {}/public/index.php"), ("{", "cannot be read")])
def test_a_package_of_php_that_names_no_command_is_refused(tmp_path: Path, described: str, says: str) -> None:
    home = project(tmp_path, "public/index.php")
    (tmp_path / "composer.json").write_text(described)
    assert says.format(home) in refusal(home, "/")


def test_a_package_of_php_runs_its_only_command(tmp_path: Path) -> None:
    home = project(tmp_path, "bin/shop")
    (tmp_path / "composer.json").write_text('{"bin": ["bin/shop", "bin/gone"]}')
    found = project_program(home, "/")
    assert found is not None
    assert found.program == f"{home}/bin/shop"


def test_a_refusal_says_how_many_programs_it_left_out(tmp_path: Path) -> None:
    home = project(tmp_path, "Gemfile", *(f"bin/c{number:02}.rb" for number in range(11)))
    assert "c07.rb and 3 more." in refusal(home, "/")
