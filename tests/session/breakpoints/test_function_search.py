"""A function is looked for in the files of a project without holding up the other sessions."""

import threading
from pathlib import Path
from typing import Any, cast

import pytest

from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.function_code import FunctionPlace
from trio_debugmcp.dap.profiles.javascript.javascript import JavaScriptCode
from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.session.breakpoints.source_places import SourcePlaces
from trio_debugmcp.session.host import Host


class NoSources:
    def known(self) -> list[str]:
        return []


def places_of(program: Path) -> SourcePlaces:
    profile = profile_named("js-debug")
    assert profile is not None
    return SourcePlaces(
        profile, Host(), cast("Any", NoSources()), Launch(program=str(program), cwd=str(program.parent))
    )


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
