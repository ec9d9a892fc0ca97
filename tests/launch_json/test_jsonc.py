"""JSON with comments is read as an editor reads it, and a mistake in it is found where it is."""

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.files import read_launch_file
from trio_debugmcp.launch_json.jsonc import parse


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse(text, ".vscode/launch.json")
    assert caught.value.code == "INVALID_PARAMETER"
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('\ufeff{"a": 1, /* b, } */ "c": [2, 3,\n], // d\n}\n', {"a": 1, "c": [2, 3]}),
        ('{"url": "http://a//b /* c */ , }", "q": "\\"// ,]"}', {"url": "http://a//b /* c */ , }", "q": '"// ,]'}),
        ("[1 /* , */ , /* */\r\n ]", [1]),
        ("// nothing\n/* at\nall */", {}),
        ("", {}),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_comments_and_trailing_commas_are_passed_over(text: str, value: object) -> None:
    assert parse(text, "name") == value


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n    // a comment\n    "a": 1\n    "b": 2\n}', "line 4, column 5: expecting ',' delimiter"),
        ('{"a": /* one\ntwo */ nope}', "line 2, column 8: expecting value"),
        ('{"a": "// no end\n}', "line 1, column 17: invalid control character"),
        ('{"a": 1, /* no end }', "line 1, column 10: expecting property name enclosed in double quotes"),
        ("{'a': 1}", "line 1, column 2: expecting property name enclosed in double quotes"),
        ('{"a": 1}}', "line 1, column 9: extra data"),
        ('{"a": [1, 2}', "line 1, column 12: expecting ',' delimiter"),
        ('{"a": "b', "line 1, column 7: unterminated string starting"),
    ],
)
def test_a_mistake_has_a_line_and_a_column(text: str, where: str) -> None:
    message = refusal(text)
    assert message.startswith(f".vscode/launch.json, {where}"), message
    assert message.endswith(". Correct the file there.")


def test_what_no_editor_would_write_is_refused_all_the_same() -> None:
    assert refusal('{"a": NaN}') == ".vscode/launch.json cannot be read: NaN is not JSON."
    assert refusal("[" * 100_000).startswith(".vscode/launch.json cannot be read: maximum recursion depth exceeded")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "launch.json must hold an object: {…}."),
        ('{"configurations": {}}', "launch.json: `configurations` must be a list of objects."),
        ('{"configurations": ["a"]}', "launch.json: `configurations` must be a list of objects."),
        ('{"compounds": 1}', "launch.json: `compounds` must be a list of objects."),
        ('{"inputs": {"a": 1}}', "launch.json: `inputs` must be a list of objects."),
    ],
)
def test_a_file_of_another_shape_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_launch_file(text, "launch.json")
    assert caught.value.message == sentence
