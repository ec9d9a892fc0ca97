"""Places as strings: short, without what the line before says, and accepted back by the tools."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.probe.answers import ProbePlace
from trio_debugmcp.server.answers.lines import thread_line
from trio_debugmcp.server.answers.places import LIBRARY, Places
from trio_debugmcp.server.answers.stop_answer import ThreadNow
from trio_debugmcp.session.looking.by_probe.live_threads import live_frame
from trio_debugmcp.session.workspace import Workspace
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import Location, name_of

READ_AS_WRITTEN = st.characters(exclude_characters="/\N{ZERO WIDTH NO-BREAK SPACE}", exclude_categories=["C", "Z"])

names = st.lists(st.text(READ_AS_WRITTEN, min_size=1), min_size=1)


@pytest.mark.parametrize(
    ("directory", "path", "name"),
    [
        ("/shop", "/shop/till.py", "till.py"),
        ("/shop", "/shop/lib/till.py", "lib/till.py"),
        ("/shop/", "/shop/till.py", "till.py"),
        ("/shop", "/shopping/till.py", "/shopping/till.py"),
        ("/shop", "/till.py", "/till.py"),
        ("/shop", "/shop/", "/shop/"),
        ("/", "/src/till.py", "/src/till.py"),
        ("/shop", "<string>", "<string>"),
    ],
)
def test_a_file_below_the_directory_is_relative_to_it_and_any_other_as_it_is(
    directory: str, path: str, name: str
) -> None:
    assert Places(directory).file(path) == name


@given(names, st.sampled_from(["/", "/shop", "/a/b"]))
def test_the_name_of_a_file_leads_back_to_it(parts: list[str], directory: str) -> None:
    path = os.path.join("/shop", *(part for part in parts if part not in (".", "..")), "x.py")
    assert Workspace(directory).resolve(Places(directory).file(path)) == path


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nnotes: x", "a\\nnotes: x"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("pay\u202egpj.py", "pay\\u202egpj.py"),
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("a\u2028b", "a\\u2028b"),
        ("über 日本 \N{GRINNING FACE}", "über 日本 \N{GRINNING FACE}"),
    ],
)
def test_a_name_never_makes_another_line_and_reads_as_it_is_written(name: str, shown: str) -> None:
    places = Places("/shop")
    assert places.at(f"/shop/{name}", 3, name) == f"{shown}:3 in {shown}"
    assert places.stack([(name, f"/shop/{name}", 3, True)]) == [f"{shown} {shown}:3"]
    thread = ThreadNow(2, name_of(name), "Running", False, None, None)
    assert thread_line(places, thread) == f"2 {shown}, running"


def test_a_path_of_a_megabyte_is_cut_and_says_so() -> None:
    assert Places("/shop").file("/" + 1_000_000 * "x").endswith("x… (+995905 characters)")


def test_the_directory_may_be_relative() -> None:
    assert Places(".").file(os.path.abspath("till.py")) == "till.py"
    assert repr(Places("/shop")) == "<Places below /shop/>"


@pytest.mark.parametrize(
    ("file", "line", "function", "text"),
    [
        ("/shop/till.py", 24, "visit", "till.py:24 in visit"),
        ("/shop/till.py", 24, None, "till.py:24"),
        ("/shop/till.py", None, "visit", "till.py in visit"),
        (None, None, "visit", "in visit"),
        (None, 24, None, ":24"),
        (None, None, None, ""),
    ],
)
def test_a_place_is_without_what_is_not_known(
    file: str | None, line: int | None, function: str | None, text: str
) -> None:
    places = Places("/shop")
    assert places.at(file, line, function) == text
    assert places.at_location(Location(file, line, None, function, None)) == (text or None)
    assert places.at_location(None) is None


def test_a_frame_names_its_file_where_it_is_not_that_of_the_frame_before() -> None:
    def frame(name: str, file: str | None, line: int, *, mine: bool = True) -> StackFrame:
        return StackFrame(1, name, Location(file, line, None, name, None), is_user_code=mine)

    found = [
        frame("visit", "/shop/till.py", 24),
        frame("main", "/shop/till.py", 31),
        frame("run", "/lib/run.py", 3, mine=False),
        frame("call", "/lib/run.py", 9, mine=False),
        frame("<module>", "/shop/till.py", 38),
        frame("native", None, 0),
    ]
    shown = Places("/shop").frames(found)
    assert shown == [
        "visit till.py:24",
        "main :31",
        f"run /lib/run.py:3{LIBRARY}",
        f"call :9{LIBRARY}",
        "<module> till.py:38",
        "native :0",
    ]
    assert Places("/shop").frames(found[1:], before="/shop/till.py") == shown[1:]


def test_a_frame_that_the_probe_has_seen_has_its_qualified_name() -> None:
    found = [ProbePlace("/a.py", 3, "run", "Job.run"), ProbePlace("/lib/b.py", 4, "wait", library=True)]
    assert Places("/").frames(map(live_frame, found)) == ["Job.run /a.py:3", "wait /lib/b.py:4 (library)"]
