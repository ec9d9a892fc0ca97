"""Requests to a kept server: MCP of 2026-07-28, whose requests need no handshake, over a Unix socket. Blocking.

    with connect(place) as conversation:
        conversation.request("tools/call", {"name": "debug_state", "arguments": {}})

Only the standard library is imported, so that a call costs hardly more than Python's start.
"""

import json
import os
import select
import socket
import struct
import sys
from collections.abc import Mapping
from typing import Any, Self

from trio_debugmcp import __version__
from trio_debugmcp.errors import DebugError
from trio_debugmcp.kept.place import Place

MODERN_VERSION = "2026-07-28"

CLIENT_NAME = "trio-debugmcp call"
"""By which the server knows whom it serves without the SDK: `server/shell_requests.py`."""

META = {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": CLIENT_NAME, "version": __version__},
    "io.modelcontextprotocol/clientCapabilities": {},
}

CHUNK_BYTES = 64 * 1024

_SO_PEERCRED = 17
"""Of Linux, for Python builds that do not name it."""


class ServerLost(DebugError):
    """The server has ended before it answered: what was asked may have been done."""


class ServerElsewhere(DebugError):
    """The server is a process that has no id in this PID namespace: the id that it writes is another process's here."""


class Conversation:
    """A connection to a kept server: one request after the other. Use it as a context manager, which closes it."""

    def __init__(self, connected: socket.socket, log: str) -> None:
        self._socket = connected
        self._log = log
        self._buffer = b""
        self._id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def __repr__(self) -> str:
        return f"<Conversation, {self._id} requests>"

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Make a request, and wait for its answer. Closing the connection, as Ctrl-C does, cancels it.

        Raises:
            ServerLost: there is no answer.
            CallRefused: the answer is an error of the protocol, or an argument cannot be sent.
        """
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": {**params, "_meta": META}}
        # In a locale of ASCII a typed ü is two bytes that Python could not read: they are sent as they are.
        data = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogateescape")
        try:
            data.decode()
        except UnicodeDecodeError:
            sentence = "The arguments have bytes that are not UTF-8. Rename the file or directory that has them."
            raise CallRefused(sentence) from None
        try:
            self._socket.sendall(data + b"\n")
            while True:
                answer = json.loads(self._line())
                is_refused = "error" in answer and not answer.get("id")  # the server could not read even its number
                if "method" not in answer and (is_refused or answer.get("id") == self._id):
                    break
        except (OSError, ValueError) as error:
            where = f"; its log is {self._log}" if os.path.exists(self._log) else ""
            sentence = f"The kept server has ended before it answered ({error}){where}."
            raise ServerLost(sentence) from error
        if "error" in answer:
            raise CallRefused(str(answer["error"].get("message", "")))
        result: dict[str, Any] = answer["result"]
        return result

    def wait_closed(self, seconds: float) -> bool:
        """Wait until the server has closed the connection, for so long at most; returns whether it has."""
        self._socket.settimeout(seconds)
        try:
            while self._socket.recv(CHUNK_BYTES):
                pass
        except TimeoutError:
            return False
        except OSError:
            pass
        return True

    def server_pid(self) -> int | None:
        """Return the process that serves, as the system knows it; None where it does not say.

        Raises:
            ServerElsewhere: it has no id here.
        """
        if sys.platform != "linux":
            return None
        credentials = self._socket.getsockopt(socket.SOL_SOCKET, _SO_PEERCRED, struct.calcsize("3i"))
        pid: int = struct.unpack("3i", credentials)[0]
        if pid == 0:
            raise ServerElsewhere("The kept server runs in another PID namespace, such as a container: end it there.")
        return pid

    def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            data = self._socket.recv(CHUNK_BYTES)
            if not data:
                raise ConnectionResetError("it has closed the connection")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


class CallRefused(DebugError):
    """The server has answered with an error of the protocol."""


def connect(place: Place) -> Conversation | None:
    """Connect to the project's server; None if there is none.

    Raises:
        PlaceRefused: it may be the server of another user.
        OSError: it cannot be reached.
    """
    place.check()
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connected.connect(place.socket)
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
        connected.close()
        return None
    except OSError:
        connected.close()
        raise
    return Conversation(connected, place.log)


def process_ended(pid: int) -> bool:
    """Whether a process has ended; one that its parent, the first of a container perhaps, never waits for has, too."""
    try:
        if hasattr(os, "pidfd_open"):
            descriptor = os.pidfd_open(pid)
            try:
                return bool(select.select([descriptor], [], [], 0)[0])
            finally:
                os.close(descriptor)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # a kernel without it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False
