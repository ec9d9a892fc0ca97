"""Secrets that a recording must not contain."""

import json
from typing import Any

import pytest

from tests.recording.secrets import SECRETS, places, readings
from trio_debugmcp.engine.fetched import fetching_line
from trio_debugmcp.recording.redact import MARK, Redactor


def clean(message: Any, *secrets: str) -> Any:
    return json.loads(Redactor(secrets).message(json.dumps(message).encode()))


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ({"env": {"A": "1", "B": None}}, {"env": {"A": MARK, "B": None}}),
        ({"arguments": {"env": {"A": 1}}}, {"arguments": {"env": {"A": MARK}}}),
        ({"environment": ["A=1", "B"]}, {"environment": [f"A={MARK}", f"B={MARK}"]}),
        ({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "value": MARK}]}),
        ({"headers": {"Authorization": "Bearer abc"}}, {"headers": {"Authorization": MARK}}),
        ({"text": "Authorization: Bearer abc.d-e x"}, {"text": f"Authorization: Bearer {MARK} x"}),
        ({"protocol": "mcp, bearer.abc"}, {"protocol": f"mcp, bearer.{MARK}"}),
        ({"args": ["x", "--token", "abc", "y"]}, {"args": ["x", "--token", MARK, "y"]}),
        ({"list": ["Bearer abc", 5, "--token", "abc"]}, {"list": [f"Bearer {MARK}", 5, "--token", MARK]}),
        ({"args": ["--access-token=abc"]}, {"args": [f"--access-token={MARK}"]}),
        ({"url": "x", "qr": "1101/0011"}, {"url": "x", "qr": MARK}),
        ({"text": '{"url":"x","qr":"1101/0011"}'}, {"text": f'{{"url":"x","qr":"{MARK}"}}'}),
        ({"type": "event", "body": {"output": "the environment"}}, None),
        ({"properties": {"env": {"type": "object", "additionalProperties": {"type": "string"}}}}, None),
        ({"variables": [{"name": "token", "value": "'abc'"}]}, None),
    ],
)  # fmt: skip
def test_tokens_and_the_values_of_environments_are_marked_and_names_are_kept(message: Any, kept: Any) -> None:
    assert clean(message) == (message if kept is None else kept)


def test_a_known_secret_is_marked_wherever_it_appears() -> None:
    assert clean({"output": 'it is s3cr"et!'}, 's3cr"et!') == {"output": f"it is {MARK}"}


def test_the_value_of_a_variable_with_a_secret_name_is_marked_from_then_on() -> None:
    redactor = Redactor()
    redactor.message(json.dumps({"env": {"API_TOKEN": "gehe/im-ü", "HOME": "/home/ada"}}).encode())
    said = redactor.line(json.dumps({"text": "gehe/im-ü in /home/ada"}, ensure_ascii=False).encode())
    assert json.loads(said)["text"] == f"{MARK} in /home/ada"
    assert MARK in redactor.line(json.dumps({"text": "gehe/im-ü"}).encode()).decode()


def test_a_short_secret_is_not_searched_for() -> None:
    assert clean({"text": "a table"}, "a") == {"text": "a table"}


def test_a_command_line_keeps_its_options() -> None:
    line = ["serve", "--ws", "8765", "--token", "abc", "--observe-token=def", "--record", "x"]
    kept = ["serve", "--ws", "8765", "--token", MARK, f"--observe-token={MARK}", "--record", "x"]
    assert Redactor().arguments(line) == kept


def test_a_message_without_a_suspect_word_is_returned_unchanged() -> None:
    text = b'{"seq": 1,  "type":"event"}'
    assert Redactor().message(text) is text


def test_the_token_with_which_a_program_fetches_the_engine_is_marked_wherever_the_line_is_shown() -> None:
    line = fetching_line("127.0.0.1", 5678, "abc-def")
    answer = {"address": "127.0.0.1:5678", "token": "abc-def", "python": line}
    redacted = json.loads(Redactor().message(json.dumps(answer).encode()))
    assert redacted == {**answer, "token": MARK, "python": line.replace("abc-def", MARK)}
    assert json.loads(Redactor().line(json.dumps({"text": line}).encode())) == {"text": line.replace("abc-def", MARK)}


def test_the_token_of_an_address_where_programs_dial_in_is_marked_also_in_the_line_that_shows_it() -> None:
    answer = {"address": "127.0.0.1:5678", "token": "abc-def", "python": "connect(…, access_token='abc-def')"}
    redactor = Redactor()
    redacted = json.loads(redactor.message(json.dumps({"structuredContent": answer}).encode()))["structuredContent"]
    assert redacted == {**answer, "token": MARK, "python": f"connect(…, access_token='{MARK}')"}
    source = json.dumps({"text": "connect(5, access_token='of-yesterday')"})
    assert json.loads(Redactor().line(source.encode())) == {"text": f"connect(5, access_token='{MARK}')"}
    assert redactor.line(b'{"text": "abc-def"}') == f'{{"text": "{MARK}"}}'.encode()


# --- The corpus -------------------------------------------------------------------------------------------------------

PART = 20
"""Characters of a secret that must not be readable in a recording."""


@pytest.mark.parametrize("secret", SECRETS, ids=range(len(SECRETS)))
def test_a_secret_is_nowhere_in_a_recording_in_any_spelling_whole_or_in_part(secret: str) -> None:
    redactor = Redactor()
    parts = {secret, *(secret[at : at + PART] for at in range(len(secret) - PART + 1) if not _begins_a_key(secret, at))}
    for line in places(secret):
        clean_line = redactor.line(redactor.message(line))
        json.loads(clean_line)
        seen = [part for reading in readings(clean_line) for part in parts if part in reading]
        assert not seen, (seen[:1], clean_line[:500])


def _begins_a_key(secret: str, at: int) -> bool:
    return "-----" in secret[max(0, at - 5) : at + PART + 5]


def test_the_corpus_has_fifty_secrets_and_shows_each_of_them() -> None:
    assert len(set(SECRETS)) >= 50
    for secret in SECRETS:
        seen = [line for line in places(secret) if any(secret in reading for reading in readings(line))]
        assert len(seen) >= 40, secret
