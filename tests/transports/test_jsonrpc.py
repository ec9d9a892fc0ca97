"""JSON-RPC as text: what is a message, and the response to what is not one."""

import json

import pytest

from trio_debugmcp.transports.jsonrpc import complaint_about, message_text, parse_message


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        '{"jsonrpc":"2.0","method":"notifications/x","params":{"a":[null]}}',
        '{"jsonrpc":"2.0","id":"a","result":{}}',
        '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}',
    ],
)
def test_a_message_is_written_as_it_was_read(text: str) -> None:
    message = parse_message(text)
    assert message is not None
    assert json.loads(message_text(message)) == json.loads(text)
    assert "\n" not in message_text(message)


@pytest.mark.parametrize(
    ("text", "request_id", "code"),
    [
        ("hello", None, -32700),
        (b"\xff", None, -32700),
        ("[" * 100_000, None, -32700),
        ("[]", None, -32600),
        ('{"id": 5}', 5, -32600),
        ('{"id": "a"}', "a", -32600),
        ('{"id": true}', None, -32600),
        ('{"id": 1.5}', None, -32600),
        ('{"id": null}', None, -32600),
        ('{"jsonrpc":"2.0","id":NaN,"method":"ping"}', None, -32600),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        ('{"id": "\\ud800"}', None, -32600),
        ('{"id": "\\ud83d\\ude00"}', "\U0001f600", -32600),
    ],
)
def test_malformed_text_is_answered_with_its_id_if_it_has_a_usable_one(
    text: str | bytes, request_id: int | str | None, code: int
) -> None:
    assert parse_message(text) is None
    complaint = json.loads(message_text(complaint_about(text)).encode())
    assert (complaint["id"], complaint["error"]["code"]) == (request_id, code)
    assert type(complaint["id"]) is type(request_id)
