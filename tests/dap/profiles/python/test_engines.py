from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.python.engines import chosen_engine

OWN = {"engine": "own"}


def interpreter(folder: Path, words: str) -> str:
    """A command that answers as a Python of that implementation and version does."""
    file = folder / "python"
    file.write_text(f"#!/bin/sh\necho {words}\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.real
@pytest.mark.parametrize(
    ("words", "engine"),
    [
        ("cpython 3 12", "own"),
        ("cpython 3 14", "own"),
        ("cpython 3 11", "pydevd"),
        ("pypy 3 12", "pydevd"),
        ("", "pydevd"),
    ],
)
async def test_the_engine_needs_a_new_cpython(tmp_path: Path, words: str, engine: str) -> None:
    assert await chosen_engine([interpreter(tmp_path, words)], OWN) == engine


@pytest.mark.real
async def test_who_asks_for_nothing_gets_pydevd(tmp_path: Path) -> None:
    python = interpreter(tmp_path, "cpython 3 13")
    assert await chosen_engine([python], {}) == "pydevd"
    assert await chosen_engine([python, "-u"], OWN) == "own"


async def test_where_no_sitecustomize_is_looked_for_the_engine_cannot_be(tmp_path: Path) -> None:
    for option in ("-I", "-E", "-S", "-uS", "-sE"):
        assert await chosen_engine([str(tmp_path / "python"), option], OWN) == "pydevd"


@pytest.mark.real
async def test_an_interpreter_that_is_not_there_gets_pydevd(tmp_path: Path) -> None:
    assert await chosen_engine([str(tmp_path / "python")], OWN) == "pydevd"
