"""A conversation with a kept server: an answer is found, or an error that says why there is none."""

import json
import socket
from typing import Any

import pytest

from trio_debugmcp.kept.calling import CallRefused, Conversation


def conversation(answer: dict[str, Any]) -> tuple[Conversation, socket.socket]:
    ours, servers = socket.socketpair()
    servers.sendall(json.dumps(answer).encode() + b"\n")
    return Conversation(ours, "log"), servers


def test_a_request_that_the_server_cannot_read_is_refused_and_not_waited_for() -> None:
    talk, servers = conversation({"jsonrpc": "2.0", "id": "", "error": {"message": "The request cannot be read: x."}})
    with talk, servers, pytest.raises(CallRefused, match="cannot be read"):
        talk.request("tools/list", {})


def test_what_was_typed_in_a_locale_of_ascii_is_sent_as_its_bytes() -> None:
    talk, servers = conversation({"jsonrpc": "2.0", "id": 1, "result": {}})
    with talk, servers:
        assert talk.request("tools/list", {"name": "Bü".encode().decode("ascii", "surrogateescape")}) == {}
        assert json.loads(servers.recv(4096))["params"]["name"] == "Bü"
