import re
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.python.engines import chosen_engine, usual_engine
from trio_debugmcp.errors import CannotRun
from trio_debugmcp.patience import USUAL

OWN = {"engine": "own"}


def interpreter(folder: Path, words: str) -> str:
    """A command that answers as a Python of that implementation and version does."""
    file = folder / "python"
    file.write_text(f"#!/bin/sh\necho {words}\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.real
@pytest.mark.parametrize("words", ["cpython 3 12", "cpython 3 14"])
async def test_a_new_cpython_can_have_the_engine(tmp_path: Path, words: str) -> None:
    python = interpreter(tmp_path, words)
    assert await chosen_engine([python], OWN, "pydevd", USUAL) == "own"
    assert await chosen_engine([python, "-u"], {}, "own", USUAL) == "own"
    tried = words != "cpython 3 14"
    assert await chosen_engine([python], {}, "auto", USUAL) == ("own" if tried else "pydevd")
    assert await chosen_engine([python], {}, "pydevd", USUAL) == "pydevd"
    assert await chosen_engine([python], {"engine": "pydevd"}, "own", USUAL) == "pydevd"


@pytest.mark.real
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("cpython 3 11", "this is cpython 3.11"),
        ("pypy 3 12", "this is pypy 3.12"),
        ("", "this is an interpreter that does not say its version"),
    ],
)
async def test_another_interpreter_gets_pydevd_unless_the_engine_was_asked_for(
    tmp_path: Path, words: str, reason: str
) -> None:
    python = interpreter(tmp_path, words)
    assert await chosen_engine([python], {}, "own", USUAL) == "pydevd"
    with pytest.raises(CannotRun, match=reason):
        await chosen_engine([python], OWN, "pydevd", USUAL)


async def test_where_no_sitecustomize_is_looked_for_the_engine_cannot_be(tmp_path: Path) -> None:
    for option in ("-I", "-E", "-S", "-uS", "-sE"):
        command = [str(tmp_path / "python"), option]
        assert await chosen_engine(command, {}, "own", USUAL) == "pydevd"
        with pytest.raises(CannotRun, match=re.escape(f"with the interpreter's option {option}")):
            await chosen_engine(command, OWN, "own", USUAL)


@pytest.mark.real
async def test_an_interpreter_that_is_not_there_gets_pydevd(tmp_path: Path) -> None:
    assert await chosen_engine([str(tmp_path / "python")], {}, "own", USUAL) == "pydevd"


def test_the_usual_engine_is_ours_where_it_was_tried() -> None:
    versions = ["CPython 3.8.18", "CPython 3.11.7", "CPython 3.12.1", "CPython 3.13.0", "CPython 3.14.0", "PyPy 3.12.1"]
    assert [version for version in versions if usual_engine(version) == "own"] == ["CPython 3.12.1", "CPython 3.13.0"]
