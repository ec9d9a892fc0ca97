"""A function is looked for in the files of a project without holding up the other sessions."""

import threading
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.function_code import FunctionPlace
from trio_debugmcp.dap.profiles.javascript.javascript import JavaScriptCode
from trio_debugmcp.dap.profiles.native.native_code import NativeCode
from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.session.breakpoints.source_places import SourcePlaces
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.sources import Sources


def places_of(program: Path, *roots: str) -> SourcePlaces:
    profile = profile_named("js-debug")
    assert profile is not None
    return SourcePlaces(profile, Host(), Sources(roots), Launch(program=str(program), cwd=str(program.parent)))


async def test_the_files_of_a_project_are_read_in_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_in = []

    def function_place(self: JavaScriptCode, *_: object) -> None:
        read_in.append(threading.current_thread())

    def find_functions(self: JavaScriptCode, *_: object, alike: bool) -> tuple[()]:
        read_in.append(threading.current_thread())
        return ()

    monkeypatch.setattr(JavaScriptCode, "function_place", function_place)
    monkeypatch.setattr(JavaScriptCode, "find_functions", find_functions)
    places = places_of(tmp_path / "app.js")
    assert await places.function_place("add") is None
    assert await places.functions_alike("add") == ""
    assert len(read_in) == 2
    assert threading.main_thread() not in read_in


async def test_a_name_that_is_not_found_has_those_like_it_and_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text("function add() {\n  return 1;\n}\n")
    places = places_of(tmp_path / "app.js")
    assert await places.function_place("add") == FunctionPlace(str(tmp_path / "app.js"), 2)
    assert await places.functions_alike("ad") == "do you mean `add` (app.js)?"
    for number in range(500):
        (tmp_path / f"f{number:03}.js").touch()
    left_out = "only 500 files of the program were looked through, which has more"
    assert await places.functions_alike("ad") == f"{left_out}; do you mean `add` (app.js)?"


async def test_a_function_outside_of_what_the_server_is_confined_to_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / "own.js").write_text("function open_all() {\n  return 1;\n}\n")
    (tmp_path / "shop").mkdir()
    program = tmp_path / "shop" / "app.js"
    program.write_text("function open_one() {\n  return 1;\n}\n")
    confined, free = places_of(program, str(tmp_path / "shop")), places_of(program)
    assert await free.function_place("open_all") == FunctionPlace(str(tmp_path / "own.js"), 2)
    assert await confined.function_place("open_all") is None
    assert await confined.function_place("open_one") == FunctionPlace(str(program), 2)
    assert await free.functions_alike("open_al") == "do you mean `open_all` (own.js)?"
    assert await confined.functions_alike("open_al") == ""


async def test_a_function_outside_neither_hides_one_inside_nor_is_named(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / "own.js").write_text("function open() {\n  return 1;\n}\n")
    (tmp_path / "shop").mkdir()
    program = tmp_path / "shop" / "app.js"
    program.write_text("class Door {\n  open() {\n    return 1;\n  }\n}\nclass Till {\n  open() {}\n}\n")
    confined, free = places_of(program, str(tmp_path / "shop")), places_of(program)
    door, till, own = "Door.open (app.js:3)", "Till.open (app.js:7)", "open (own.js:2)"
    assert await free.function_place("open") == FunctionPlace(str(program), 3, None, (till, own))
    assert await confined.function_place("open") == FunctionPlace(str(program), 3, None, (till,))
    program.write_text("function shut() {}\n")
    (tmp_path / "shop" / "door.js").write_text("class Door {\n  open() {\n    return 1;\n  }\n}\n")
    assert (await free.function_place("open")) == FunctionPlace(
        str(tmp_path / "own.js"), 2, None, (door.replace("app", "door"),)
    )
    assert await confined.function_place("open") == FunctionPlace(str(tmp_path / "shop" / "door.js"), 3)


def test_rust_and_python_leave_out_what_may_not_be_read(tmp_path: Path) -> None:
    for folder in ("inner", "outer"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "shop.rs").write_text("fn take() {}\n")
        (tmp_path / folder / "shop.py").write_text("class Till:\n    def take(self):\n        return 1\n")
    both, inner = [str(tmp_path / "outer"), str(tmp_path / "inner")], str(tmp_path / "inner")

    def may_read(file: str) -> bool:
        return file.startswith(inner)

    rust = NativeCode()
    assert rust.function_place("take", [], both) is None, "which is not known"
    assert rust.function_place("take", [], both, may_read) == FunctionPlace(f"{inner}/shop.rs", 1)
    python = profile_named("debugpy")
    assert python is not None
    found = python.code.function_place("Till.take", [f"{each}/shop.py" for each in both], both, may_read)
    assert found == FunctionPlace(f"{inner}/shop.py", 3)
