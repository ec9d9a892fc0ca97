"""The engine's connection, where signal handlers raise meanwhile, and in a program that has closed or replaced all
descriptors that it does not know: a daemon.
"""

import json
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engine.test_catching import INTERPRETERS, ROOT
from trio_debugmcp.dap import door_tls
from trio_debugmcp.engine.inside import door_connection
from trio_debugmcp.engine.inside.door_connection import DoorConnection, connect
from trio_debugmcp.probe.inside.encoding import encoded

pytestmark = pytest.mark.real


@pytest.fixture
def door() -> Iterator[socket.socket]:
    """Where the debugger listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def open_descriptors() -> set[int]:
    return {number for number in map(int, os.listdir("/dev/fd")) if os.path.exists(f"/dev/fd/{number}")}


def close(descriptor: int) -> None:
    os.close(descriptor)


def replace(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    os.close(null)


def connected(door: socket.socket, lose: Callable[[int], None]) -> DoorConnection:
    """Return a connection whose descriptors the program has lost."""
    before = open_descriptors()
    connection = connect(*door.getsockname())
    assert connection is not None
    own = open_descriptors() - before
    assert len(own) >= 3
    for descriptor in own:
        lose(descriptor)
    return connection


@pytest.mark.parametrize("lose", [close, replace])
def test_a_goodbye_without_descriptors_raises_nothing_in_the_program(
    lose: Callable[[int], None], door: socket.socket
) -> None:
    connection = connected(door, lose)
    connection.close()
    connection.close()
    assert not connection.is_open


@pytest.mark.parametrize("lose", [close, replace])
def test_what_the_engine_does_before_it_knows_raises_nothing_either(
    lose: Callable[[int], None], door: socket.socket
) -> None:
    connection = connected(door, lose)
    connection.wake()  # before a fork
    connection.rouse()
    connection.send({"type": "event", "event": "terminated"})
    assert connection.receive() is None
    assert not connection.is_open
    connection.close()


def test_what_a_signal_handler_says_while_a_message_is_made_is_sent_with_it_whatever_another_one_raises(
    door: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(*door.getsockname())
    assert connection is not None
    plainly, made = encoded, []

    def interrupted(message: dict[str, object]) -> str:
        made.append(message)
        if len(made) == 1:
            connection.send({"number": 2})  # one handler
            raise InterruptedError("another one")
        return plainly(message)

    monkeypatch.setattr(door_connection, "encoded", interrupted)
    with pytest.raises(InterruptedError):
        connection.send({"number": 1})
    connection.close()
    peer, _ = door.accept()
    with peer:
        stream = b"".join(iter(lambda: peer.recv(1 << 20), b""))
    assert [(message["number"], message["seq"]) for message in messages(stream)] == [(1, 1), (2, 2)]


class Channel:
    """In place of a connected socket: each send waits until it is let through."""

    def __init__(self) -> None:
        self.sent: list[object] = []
        self.begun = threading.Semaphore(0)
        self.goes_on = threading.Semaphore(0)

    def send(self, data: bytes, _: int) -> int:
        self.begun.release()
        assert self.goes_on.acquire(timeout=60)
        self.sent += [next(messages(data))["kind"]]
        return len(data)


def test_an_answer_waits_for_one_message_of_output_however_many_follow(
    door: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, channel = connect(*door.getsockname()), Channel()
    assert connection is not None
    monkeypatch.setattr(connection, "_socket", channel)

    def print_on() -> None:
        for _ in range(30):
            connection.send({"kind": "output"}, is_last=True)

    printing = threading.Thread(target=print_on)
    printing.start()
    assert channel.begun.acquire(timeout=60)
    answering = threading.Thread(target=lambda: connection.send({"kind": "answer"}))
    answering.start()
    while not connection.is_sending(answering.ident or 0):
        os.sched_yield()
    channel.goes_on.release(31)
    for each in (printing, answering):
        each.join()
    assert channel.sent == ["output", "answer", *["output"] * 29]


SENDS = """\
import signal
import sys

from trio_debugmcp.engine.inside.door_connection import connect
from trio_debugmcp.engine.inside.interruptions import completed

PORT, PIN, COUNT, SIZE = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

class Late(Exception):
    pass

def late(*_):
    pause[0] *= 1.01  # so that it comes to its end on any machine
    signal.setitimer(signal.ITIMER_REAL, pause[0])
    raise Late

connection = connect("127.0.0.1", PORT, PIN)
raised, sent, pause = [], [], [0.0002]

def work():
    signal.setitimer(signal.ITIMER_REAL, pause[0])
    while len(sent) < COUNT:
        connection.send({"number": len(sent), "text": "x" * SIZE}, sent=sent)
    signal.setitimer(signal.ITIMER_REAL, 0)

signal.signal(signal.SIGALRM, late)
completed(raised, work)
connection.close()
print(sum(isinstance(error, Late) for error in raised))
"""

SENDS_IN_HANDLERS = """\
import itertools
import signal
import sys

from trio_debugmcp.engine.inside.door_connection import connect

PORT, COUNT, SIZE = (int(text) for text in sys.argv[1:])

def aside(*_):
    pause[0] *= 1.01  # so that it comes to its end on any machine
    signal.setitimer(signal.ITIMER_REAL, pause[0])
    number, sent = next(numbers), []
    connection.send({"aside": number}, sent=sent)
    asides[number] = sent

connection = connect("127.0.0.1", PORT)
asides, numbers, pause = {}, itertools.count(), [0.0002]
signal.signal(signal.SIGALRM, aside)
signal.setitimer(signal.ITIMER_REAL, pause[0])
for number in range(COUNT):
    connection.send({"number": number, "text": "x" * SIZE})
signal.setitimer(signal.ITIMER_REAL, 0)
connection.close()
print(len(asides) if all(sent == [True] for sent in asides.values()) else 0)
"""

COUNT = 60
SIZE = 100_000
"""Several records of TLS."""


def messages(stream: bytes) -> Iterator[dict[str, object]]:
    while stream:
        head, _, rest = stream.partition(b"\r\n\r\n")
        size = int(head.removeprefix(b"Content-Length: "))
        yield json.loads(rest[:size])
        stream = rest[size:]


@pytest.mark.parametrize("version", INTERPRETERS)
def test_what_a_signal_handler_sends_in_the_midst_of_a_message_comes_whole_behind_it(
    version: str, door: socket.socket
) -> None:
    """As log points in it do, and what it prints."""
    argv = [INTERPRETERS[version], "-c", SENDS_IN_HANDLERS, str(door.getsockname()[1]), str(COUNT), str(SIZE)]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as sender:
        door.settimeout(60)
        peer, _ = door.accept()
        peer.settimeout(60)
        with peer:
            stream = b"".join(iter(lambda: peer.recv(1 << 20), b""))
        assert sender.stdout is not None
        asides = int(sender.stdout.read())
    found = list(messages(stream))
    assert [message["number"] for message in found if "number" in message] == list(range(COUNT))
    numbers = [message["aside"] for message in found if "aside" in message]
    assert len(numbers) == asides > 0
    assert {*numbers} == {*range(asides)}  # handlers interrupt each other, so they may come in another order


@pytest.mark.parametrize("version", INTERPRETERS)
@pytest.mark.parametrize("has_tls", [False, True], ids=["plain", "TLS"])
def test_each_message_is_sent_once_and_whole_whatever_signal_handlers_raise_meanwhile(
    has_tls: bool, version: str, door: socket.socket, tmp_path: Path
) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    pin = ""
    if has_tls:
        door_tls._make(certificate, key)
        pin = door_tls.given_tls(str(certificate), str(key)).pin
    argv = [INTERPRETERS[version], "-c", SENDS, str(door.getsockname()[1]), pin, str(COUNT), str(SIZE)]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as sender:
        door.settimeout(60)
        peer, _ = door.accept()
        peer.settimeout(60)
        if has_tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            context.num_tickets = 0  # where such are unread at the close, the connection is reset, and its end is lost
            peer = context.wrap_socket(peer, server_side=True, suppress_ragged_eofs=True)
        with peer:
            stream = b"".join(iter(lambda: peer.recv(1 << 20), b""))
        assert [message["number"] for message in messages(stream)] == list(range(COUNT))
        assert sender.stdout is not None
        assert int(sender.stdout.read()) > 0
