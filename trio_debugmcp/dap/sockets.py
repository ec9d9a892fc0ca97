"""Sockets on which debug adapters listen: an adapter's address, and connections that acknowledge at once."""

import socket
from contextlib import suppress

import trio
from msgspec import Struct


class TcpAddress(Struct, frozen=True):
    """A port on which an adapter listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class UnixAddress(Struct, frozen=True):
    """A socket in the file system on which an adapter listens."""

    path: str

    def __str__(self) -> str:
        return self.path


SocketAddress = TcpAddress | UnixAddress


class SocketConnection(trio.abc.Stream):
    """A connection whose every read is acknowledged at once: adapters write the parts of a message apart."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream

    def __repr__(self) -> str:
        return f"<SocketConnection {self._stream!r}>"

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._stream.receive_some(max_bytes)
        acknowledge_at_once(self._stream)
        return data

    async def aclose(self) -> None:
        await self._stream.aclose()


def acknowledge_at_once(stream: trio.abc.Stream) -> None:
    """Ask for a quick acknowledgement of what has been received; Linux only, and to be repeated after each read.

    pydevd and java-jdi write the head and the body of a message apart, with Nagle's algorithm on: the body waits for
    the acknowledgement of the head, which Linux delays by 40 ms.
    """
    if isinstance(stream, trio.SocketStream) and hasattr(socket, "TCP_QUICKACK"):
        with suppress(OSError):  # a socket of another family
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


async def connect(address: SocketAddress) -> SocketConnection:
    """Connect to an adapter.

    Raises:
        OSError: nothing answers there.
    """
    match address:
        case TcpAddress(host=host, port=port):
            return SocketConnection(await trio.open_tcp_stream(host, port))
        case UnixAddress(path=path):
            return SocketConnection(await trio.open_unix_socket(path))


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port on which nothing listens now. Another program may take it before the adapter does."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port
