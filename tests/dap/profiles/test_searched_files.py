"""A search of a project reads regular files alone: a pipe that has no writer would hold it for good."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.javascript.function_files import functions_named
from trio_debugmcp.dap.profiles.language import NoSuchTest
from trio_debugmcp.dap.profiles.native.rust_functions import places
from trio_debugmcp.dap.profiles.projects.project_program import beginning
from trio_debugmcp.dap.profiles.searched_files import bytes_of, text_of
from trio_debugmcp.dap.profiles.test_runners.named_test import source_of

_LONG = 30.0
"""Seconds: what is looked for is found at once, unless it is held."""


def test_a_file_is_read_as_far_as_is_asked_and_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.js"
    file.write_bytes(b"caf\xe9 and more")
    assert bytes_of(file, 4) == b"caf\xe9"
    assert text_of(str(file), 8) == "caf� and"
    for other in (tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match="not a regular file"):
            bytes_of(other, 4)


def refused(folder: Path) -> str:
    with pytest.raises(NoSuchTest) as raised:
        source_of(folder / "pipe.js")
    return str(raised.value).rpartition(": ")[2]


SEARCHES: dict[str, tuple[Callable[[Path], object], object]] = {
    "javascript": (lambda folder: [each.name for _, each in functions_named("add", [], [str(folder)])], ["add"]),
    "rust": (lambda folder: [name for name, *_ in places("add", [str(folder)])], ["add"]),
    "test": (refused, "not a regular file."),
    "project": (lambda folder: beginning(folder / "pipe.js"), ""),
}


@pytest.mark.parametrize("kind", [*SEARCHES])
def test_a_pipe_among_the_files_holds_no_search(tmp_path: Path, kind: str) -> None:
    pipes = [tmp_path / "pipe.js", tmp_path / "pipe.rs"]
    for pipe in pipes:
        os.mkfifo(pipe)
    (tmp_path / "sums.js").write_text("function add() {\n  return 1;\n}\n")
    (tmp_path / "sums.rs").write_text("fn add() {\n}\n")
    search, wanted = SEARCHES[kind]
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(search(tmp_path)), daemon=True)
    thread.start()
    thread.join(_LONG)
    ended = not thread.is_alive()
    for pipe in pipes:
        os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))  # which lets one go that waits
    assert ended
    assert found == [wanted]
