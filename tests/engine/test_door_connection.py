"""The engine's connection in a program that has closed or replaced all descriptors that it does not know: a daemon."""

import os
import socket
from collections.abc import Callable, Iterator

import pytest

from trio_debugmcp.engine.inside.door_connection import DoorConnection, connect

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
