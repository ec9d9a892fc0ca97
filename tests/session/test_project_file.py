"""Tests of what a server keeps of a project: the file, and what of a launch is in it."""

import logging
import os
from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp.session.earlier_server import kept_launch
from trio_debugmcp.session.project_file import (
    MAX_BYTES,
    MAX_FILES,
    KeptBreakpoint,
    KeptLaunch,
    LastUse,
    ProjectFile,
    path_for,
)
from trio_debugmcp.state.breakpoint import BreakpointSpec

PROJECT = LastUse(
    directory="/src/shop",
    launch=KeptLaunch({"program": "shop.py", "args": ["-v"]}, 1.5, ("env TOKEN",)),
    breakpoints=(KeptBreakpoint(BreakpointSpec(file="/src/shop/shop.py", line=7, condition="total < 0")),),
)


def test_what_was_written_is_read_by_the_next_server_and_by_this_user_only(tmp_path: Path) -> None:
    path = tmp_path / "state" / "shop.json"
    ProjectFile(str(path)).write(PROJECT)
    assert ProjectFile(str(path)).read() == PROJECT
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["shop.json"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"directory": "/", "format": 99}', b'{"directory": 3}', b"x" * (MAX_BYTES + 1), b"\xff"],
)
def test_a_file_that_cannot_be_read_is_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    path = tmp_path / "shop.json"
    path.write_bytes(content)
    assert ProjectFile(str(path)).read() is None
    (record,) = caplog.records
    assert str(path) in record.getMessage()


def test_a_place_that_cannot_be_written_ends_it_without_an_error(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.INFO, logger=ProjectFile.__module__)
    (tmp_path / "state").write_text("a file in the place of the directory")
    file = ProjectFile(str(tmp_path / "state" / "projects" / "shop.json"))
    file.write(PROJECT)
    file.write(PROJECT)
    assert file.path is None
    assert [record.name for record in caplog.records].count(ProjectFile.__module__) == 1


def test_projects_that_were_debugged_longest_ago_are_forgotten(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 3):
        other = tmp_path / f"{number}.json"
        other.write_text("{}")
        os.utime(other, (number, number))
    ProjectFile(str(tmp_path / "new.json")).write(PROJECT)
    assert len(list(tmp_path.iterdir())) == MAX_FILES
    assert not (tmp_path / "3.json").exists()
    assert (tmp_path / "new.json").exists()


def test_each_project_has_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert path_for("/src/a") != path_for("/src/b")
    assert path_for("/src/a") == path_for("/src/./a")
    assert Path(path_for("/src/a")).is_relative_to(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", "state")  # relative: that would be in the project
    monkeypatch.setenv("HOME", "/home/eva")
    assert path_for("/src/a").startswith("/home/eva/.local/state/trio-debugmcp/projects/")


@pytest.mark.parametrize(
    ("arguments", "kept", "without", "is_whole"),
    [
        ({"breakpoints": ["a.py:3"], "timeout": 3, "show": ["x"]}, {}, (), True),
        ({"test": "t.py::test_password"}, {"test": "t.py::test_password"}, (), True),
        ({"args": ["-k", "x"]}, {"args": ["-k", "x"]}, (), True),
        ({"env": {"PYTHONPATH": ".", "DB": "x"}}, {"env": {"PYTHONPATH": "."}}, ("env DB",), True),
        ({"env": {"TOKEN": None}}, {"env": {"TOKEN": None}}, (), True),
        ({"stdin": "hunter2"}, {}, ("stdin",), True),
        ({"args": ["--password", "hunter2"]}, {}, ("args",), False),
        ({"args": ["--password=hunter2"]}, {}, ("args",), False),
        ({"args": ["postgres://eva:pw@host/db"]}, {}, ("args",), False),
        ({"adapter_options": {"env": ["API_KEY=x"]}}, {}, ("adapter_options",), False),
    ],
)
def test_of_a_launch_nothing_is_kept_that_may_be_secret(
    arguments: dict[str, Any], kept: dict[str, Any], without: tuple[str, ...], is_whole: bool
) -> None:
    found = kept_launch({"program": "a.py", **arguments}, 2.0)
    assert found == KeptLaunch({"program": "a.py", **kept}, 2.0, without, is_whole)
