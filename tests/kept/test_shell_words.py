from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.kept.shell_words import absolute_paths, split_words, typed

SCHEMA = {
    "properties": {
        "expression": {"type": "string"},
        "line": {"type": "integer"},
        "stop_at_entry": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "breakpoints": {"type": "array"},
        "args": {"anyOf": [{"type": "array"}, {"type": "string"}]},
    }
}

FILES = {
    "given.txt": "from a file",
    "-": "from standard input",
    "all.json": '{"line": 3, "expression": "n"}',
    "deep.json": '{"a": ' + "[" * 100_000,
}


def read(name: str) -> str:
    if name not in FILES:
        raise FileNotFoundError(2, "No such file or directory", name)
    return FILES[name]


def test_a_word_is_a_key_and_its_value_which_may_have_signs_of_equality() -> None:
    assert split_words(["expression=a == b", "empty="], read) == {"expression": "a == b", "empty": ""}


def test_a_key_that_comes_again_makes_a_list() -> None:
    words = ["breakpoints=a.py:3", "breakpoints=b.py:5", "breakpoints=c.py:7"]
    assert split_words(words, read) == {"breakpoints": ["a.py:3", "b.py:5", "c.py:7"]}


def test_values_come_from_files_and_from_standard_input() -> None:
    assert split_words(["a=@given.txt", "b=-"], read) == {"a": "from a file", "b": "from standard input"}


@pytest.mark.parametrize("word", ["@all.json", '{"line": 3, "expression": "n"}'])
def test_one_word_may_have_all_arguments(word: str) -> None:
    assert split_words([word, "expression=m"], read) == {"line": 3, "expression": "m"}


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("alone", "'alone' is not an argument: write KEY=VALUE"),
        ("=3", "'=3' is not an argument"),
        ("a=@nowhere", "nowhere cannot be read: No such file or directory."),
        ("{not json", "The arguments cannot be read as JSON"),
        ("-", "The arguments cannot be read as JSON"),
        ("@deep.json", "The arguments are nested too deep to be read."),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_write(word: str, sentence: str) -> None:
    with pytest.raises(UsageError, match="^" + sentence.replace("(", "\\(")):
        split_words([word], read)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"expression": "1"}, {"expression": "1"}),
        ({"expression": "[1, 2]"}, {"expression": "[1, 2]"}),
        ({"line": "12"}, {"line": 12}),
        ({"line": "twelve"}, {"line": "twelve"}),
        ({"stop_at_entry": "false"}, {"stop_at_entry": False}),
        ({"breakpoints": '[{"file": "a.py"}]'}, {"breakpoints": [{"file": "a.py"}]}),
        ({"breakpoints": "a.py:3"}, {"breakpoints": ["a.py:3"]}),
        ({"breakpoints": ["a.py:3", '{"file": "b.py"}']}, {"breakpoints": ["a.py:3", {"file": "b.py"}]}),
        ({"args": "-k total"}, {"args": "-k total"}),
        ({"unlisted": "3"}, {"unlisted": 3}),
        ({"unlisted": "three"}, {"unlisted": "three"}),
    ],
)
def test_values_get_the_types_that_the_tool_takes(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert typed(given, SCHEMA) == expected


def test_paths_are_those_that_the_shell_sees(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    given = {
        "program": "src/a.py",
        "test": "src/a.py::test_b",
        "cwd": "src",
        "file": "src/a.py",
        "expression": "src/a.py",
        "breakpoints": ["src/a.py:12", {"file": "src/a.py", "line": 3}, "pkg.function"],
    }
    here = str(tmp_path)
    assert absolute_paths(given, here) == {
        "program": f"{here}/src/a.py",
        "test": f"{here}/src/a.py::test_b",
        "cwd": f"{here}/src",
        "file": f"{here}/src/a.py",
        "expression": "src/a.py",
        "breakpoints": [f"{here}/src/a.py:12", {"file": f"{here}/src/a.py", "line": 3}, "pkg.function"],
    }


def test_what_is_not_there_is_left_for_the_server_to_find(tmp_path: Path) -> None:
    given = {"program": "nowhere.py", "test": "test_total", "file": "/etc/passwd"}
    assert absolute_paths(given, str(tmp_path)) == given


@pytest.mark.parametrize("wanted", [{"type": "array"}, {}])
def test_a_value_that_is_nested_too_deep_is_refused_in_words(wanted: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="nested too deep"):
        typed({"breakpoints": "[" * 100_000}, {"properties": {"breakpoints": wanted}})
