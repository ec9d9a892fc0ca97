"""A conversation with a kept server: an answer is found, or an error that says why there is none."""

import json
import os
import socket
import subprocess
import sys
from typing import Any

import pytest

from trio_debugmcp.kept.calling import CallRefused, Conversation, process_ended


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


def test_bytes_that_are_not_utf_8_are_not_sent_and_the_error_says_what_to_do() -> None:
    talk, servers = conversation({"jsonrpc": "2.0", "id": 1, "result": {}})
    with talk, servers:
        with pytest.raises(CallRefused, match=r"bytes that are not UTF-8\. Rename the file or directory"):
            talk.request("tools/list", {"program": b"sh\xf6p.py".decode("utf-8", "surrogateescape")})
        servers.setblocking(False)
        with pytest.raises(BlockingIOError):
            servers.recv(1)


@pytest.mark.real
@pytest.mark.skipif(not hasattr(os, "waitid"), reason="the system cannot tell of an end without taking note of it")
def test_a_process_whose_parent_has_not_waited_for_it_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert not process_ended(process.pid)
        process.terminate()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert process_ended(process.pid)
