"""JSON data without secrets: its values are masked by their form, and by the names beside them."""

from typing import Any

import pytest

from tests.masking.samples import GITHUB, HEX, pem, word
from trio_debugmcp.masking.masked_answers import masked_json, masked_lines

VALUE = word(32, HEX)
MASK = "<secret, 32 characters>"
TOKEN_MASK = "<GitHub token, 40 characters>"


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ({"name": "api_key", "value": repr(VALUE)}, {"name": "api_key", "value": f"'{MASK}'"}),
        ({"path": "d['token']", "value": VALUE, "type": "str"}, {"path": "d['token']", "value": MASK, "type": "str"}),
        ({"locals": {"token": VALUE, "n": "1"}}, {"locals": {"token": MASK, "n": "1"}}),
        ({"a": [{"b": [GITHUB, 1, None, True, 2.5]}]}, {"a": [{"b": [TOKEN_MASK, 1, None, True, 2.5]}]}),
        ({"name": "commit", "value": VALUE}, {"name": "commit", "value": VALUE}),
        ({"password": 123456789012345678901}, {"password": 123456789012345678901}),
        ([], []),
        ({}, {}),
    ],
)
def test_values_are_masked_at_any_depth_by_the_names_beside_them(given: Any, clean: Any) -> None:
    assert masked_json(given) == clean


def test_a_value_without_a_name_has_that_of_the_question() -> None:
    assert masked_json({"value": VALUE}, "self.token") == {"value": MASK}
    assert masked_json({"value": "1", "printed": VALUE}, "print(token)") == {"value": "1", "printed": MASK}
    assert masked_json({"value": VALUE, "printed": VALUE}, "self.total") == {"value": VALUE, "printed": VALUE}


@pytest.mark.parametrize("key", ["before", "after", "error", "message"])
def test_a_changed_value_and_the_error_of_a_missing_key_have_the_name_of_the_expression(key: str) -> None:
    assert masked_json({"expression": "d[api_key]", key: VALUE}) == {"expression": "d[api_key]", key: MASK}
    assert masked_json({"expression": "commit", key: VALUE}) == {"expression": "commit", key: VALUE}


def test_a_value_at_the_end_of_a_way_has_its_name() -> None:
    assert masked_json({"way": ".api_key", "value": VALUE}) == {"way": ".api_key", "value": MASK}


def test_the_items_and_the_error_of_a_question_have_its_name() -> None:
    asked = {"first": [VALUE], "last": [VALUE], "error": {"code": "EVAL_FAILED", "message": f"KeyError: {VALUE}"}}
    clean = {"first": [MASK], "last": [MASK], "error": {"code": "EVAL_FAILED", "message": f"KeyError: {MASK}"}}
    assert masked_json(asked, "d[api_key]") == clean
    assert masked_json(asked, "d[commit]") == asked


def test_keys_are_masked_and_none_is_lost() -> None:
    other = "ghp_" + word(36)
    assert masked_json({GITHUB: 1, other: 2}) == {TOKEN_MASK: 1, f"{TOKEN_MASK} 2": 2}


def test_a_key_over_several_lines_of_source_is_masked_in_all_of_them() -> None:
    lines = [{"line": at, "text": text, "current": at == 2} for at, text in enumerate(["x", *pem().split("\n"), "y"])]
    clean = masked_json({"lines": lines})["lines"]
    assert [each["line"] for each in clean] == list(range(len(lines)))
    assert (clean[0]["text"], clean[-1]["text"]) == ("x", "y")
    assert not any(dirty["text"] in new["text"] for dirty, new in zip(lines[1:-1], clean[1:-1], strict=True))
    assert masked_lines(["x", *pem().split("\n"), "y\n"])[2:-1] == [""] * (len(lines) - 3)


def test_what_is_given_is_not_changed() -> None:
    given = {"locals": {"token": VALUE}, "lines": [GITHUB]}
    masked_json(given)
    assert given == {"locals": {"token": VALUE}, "lines": [GITHUB]}


def test_what_is_a_secret_by_its_name_is_one_wherever_it_stands_in_the_answer() -> None:
    key = "9f86d081884c7d659a2feaa0c55ad015"
    mask = "<secret, 32 characters>"
    answer = {
        "exception": f"ValueError: {key} was refused",
        "locals": {"pair": f"('a', '{key}')", "api_key": f"'{key}'"},
    }
    assert masked_json({**answer, key: [f"x {key}", 5]}) == {
        "exception": f"ValueError: {mask} was refused",
        "locals": {"pair": f"('a', '{mask}')", "api_key": f"'{mask}'"},
        mask: [f"x {mask}", 5],
    }
    assert masked_json({"pair": f"('a', '{key}')"}) == {"pair": f"('a', '{key}')"}, "without that name it may be a hash"


@pytest.mark.parametrize("kind", ["str", "bytes", "bytearray"])
def test_a_secret_that_is_summarized_is_not_shown_in_pieces(kind: str) -> None:
    answer = {"count": 40, "kind": kind, "first": ["'g'", "'h'", "'p'"], "last": ["'7'", "'x'"]}
    shown = masked_json(answer, "os.environ['SERVICE_TOKEN']")
    assert shown["first"] == shown["last"] == ["<secret, 40 characters>"]
    assert masked_json(answer, "words") == answer
    numbers = {"count": 3, "kind": "list", "first": ["1", "2"], "last": ["3"]}
    assert masked_json(numbers, "token_counts") == numbers


def test_a_command_line_as_a_list_shows_no_value_of_a_secret_option() -> None:
    words = {"commandLineArgs": ["--api-token", word(32, HEX), "--verbose", "--name", "ada"]}
    assert masked_json(words) == {"commandLineArgs": ["--api-token", MASK, "--verbose", "--name", "ada"]}
