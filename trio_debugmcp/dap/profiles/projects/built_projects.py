"""What projects of C and C++ run: the executables in the build directory of a CMake project, or beside a Makefile.

Nothing is configured: a refusal has the commands that make what can be launched.
"""

import os
import re
from pathlib import Path

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.native.elf import read_elf
from trio_debugmcp.dap.profiles.projects.project_program import (
    NoProgram,
    ProjectProgram,
    beginning,
    files_below,
    listed,
)
from trio_debugmcp.dap.profiles.test_runners.cmake_builds import CMakeBuild, builds_of, configured_and_built, project_of

_EXECUTABLE = re.compile(r"^[ \t]*add_executable\s*\(\s*(?P<name>[\w.+-]+)\s+(?!IMPORTED|ALIAS)", re.MULTILINE)

_MADE_BY = {"meson.build": "meson setup build --buildtype=debug && meson compile -C build"}
"""File of a build system → the commands that build there."""

_LIBRARY = re.compile(r"\.so(\.|$)|\.o$")


def of_cmake(file: Path, _: str) -> ProjectProgram:
    """Return the program of a CMake project that is built, to be built again.

    Raises:
        NoProgram: there is none, or there are several.
    """
    home = file.parent
    builds = builds_of(file)
    if not builds:
        lists = files_below(home, file.name)
        named = dict.fromkeys(found["name"] for one in lists for found in _EXECUTABLE.finditer(beginning(one)))
        made = f"its programs ({listed(named)})" if named else "its programs"
        raise NoProgram(
            f"'{home}' is not built. Build it: {configured_and_built(home)}"
            f'; pass one of {made} there as `program`. adapter="cmake" debugs what CMake itself does.'
        )
    build = builds[0]
    programs = _programs_of(build, home)
    if len(programs) == 1:
        plan = BuildPlan(("cmake", "--build", build.directory), build.directory, programs[0], program=programs[0])
        return ProjectProgram(program=programs[0], why=f"the program in {build.directory}, built again", build=plan)
    if not programs:
        raise NoProgram(
            f"'{home}' is configured in {build.directory}, where no program is built. Build it: cmake --build "
            f"{build.directory}; then pass the executable as `program`."
        )
    raise NoProgram(f"'{home}' has several programs. Build and pass one as `program`: {listed(programs)}.")


def _programs_of(build: CMakeBuild, home: Path) -> list[str]:
    """Return the executables of a build, without those that are tests if there are others.

    Of a directory of the project they are those in its part of the build.
    """
    inner = Path(build.directory)
    part = home.relative_to(build.project) if home.is_relative_to(build.project) else Path()
    place = inner / part if (inner / part).is_dir() else inner
    found = _executables(place)
    tests = {test.program for test in build.tests}
    return [program for program in found if program not in tests] or found


def of_source(file: Path) -> ProjectProgram | None:
    """Return the program of a CMake project that has a source file, to be built again; None of one by itself.

    Raises:
        NoProgram: several have it, or the one that does is not built.
    """
    for build in builds_of(file):
        targets = _targets_with(file, build)
        programs = [each for each in _executables(Path(build.directory)) if Path(each).name in targets]
        if len(programs) > 1:
            raise NoProgram(f"'{file}' is in several programs. Pass one as `program`: {listed(programs)}.")
        if programs:
            name = Path(programs[0]).name
            command = ("cmake", "--build", build.directory, "--target", name)
            plan = BuildPlan(command, build.directory, programs[0], program=programs[0])
            return ProjectProgram(program=programs[0], why=f"the target {name} that has it, built again", build=plan)
    named = _named_with(file)
    if named is None:
        return None
    home, name = named
    project = project_of(file) or home
    raise NoProgram(
        f"'{file}' belongs to the program {name} of the CMake project '{project}', which is not built. Build it: "
        f"{configured_and_built(project)} --target {name}; then pass the file again."
    )


def _targets_with(file: Path, build: CMakeBuild) -> set[str]:
    """Return the targets of a build that have compiled a file, by where CMake puts what the compiler makes of it."""
    found = set[str]()
    for folder in file.parents:
        if folder.is_relative_to(build.project):
            part = Path(build.directory, folder.relative_to(build.project), "CMakeFiles")
            made = f"{file.relative_to(folder)}.o"
            found |= {each.name.removesuffix(".dir") for each in part.glob("*.dir") if (each / made).is_file()}
    return found


def _named_with(file: Path) -> tuple[Path, str] | None:
    """Return the program that a CMakeLists.txt names the file for, with more than that; None if it is built alone."""
    for folder in file.parents:
        text = beginning(folder / "CMakeLists.txt")
        for found in _EXECUTABLE.finditer(text):
            words = text[found.end() :].partition(")")[0].replace('"', " ").split()
            links = re.search(rf"^[ \t]*target_link_libraries\s*\(\s*{re.escape(found['name'])}\s", text, re.MULTILINE)
            if any(folder / word == file for word in words) and (len(words) > 1 or links):
                return folder, found["name"]
    return None


def of_commands(file: Path, _: str) -> ProjectProgram:
    """Return the program that is built beside the file of another build system, a Makefile.

    Raises:
        NoProgram: there is none, or there are several.
    """
    home = file.parent
    programs = _executables(home / "build" if file.name in _MADE_BY else home)
    if len(programs) == 1:
        return ProjectProgram(program=programs[0], why=f"the executable that is there, not built again by {file.name}")
    if programs:
        raise NoProgram(f"'{home}' has several executables. Pass one as `program`: {listed(programs)}.")
    command = _MADE_BY.get(file.name, "make CFLAGS='-g -O0' CXXFLAGS='-g -O0'")
    raise NoProgram(f"'{home}' has no executable yet. Build it: {command}; then pass the executable as `program`.")


def _executables(home: Path) -> list[str]:
    return [str(file) for file in files_below(home) if _is_executable(file)]


def _is_executable(file: Path) -> bool:
    if _LIBRARY.search(file.name) or not os.access(file, os.X_OK):
        return False
    try:
        with file.open("rb", buffering=0) as opened:
            return read_elf(opened) is not None
    except (OSError, ValueError):
        return False
